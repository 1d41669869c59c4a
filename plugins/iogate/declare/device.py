"""Devices: the profiles that people write, `<baselines>/<device>/device.yaml`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema

from iogate.errors import InputError
from iogate.formats import yamlio
from iogate.formats.reading import held_input, hidden_behind_a_link, is_hidden
from iogate.formats.schema import Rate, Schema, check_document
from iogate.formats.words import nearest, value_text
from iogate.model import Device
from iogate.units import parse_size, printable

LOCAL = "local"
"""The device that every machine is, unless it is told which one."""

_NAME = re.compile(r"\w[\w.+-]*")
_WEAR = re.compile(r"([^/]+)/\s*(day|session)\s*")


def _require_text(value: Any) -> Any:
    """Refuse numbers where text is meant: YAML has already lost the zeros of a serial number 0042."""
    if isinstance(value, str):
        return value
    raise ValueError("must be text: put it in quotes" if isinstance(value, (int, float)) else "must be text")


def _wear_limits(value: Any) -> Any:
    """Read limits of wear: bytes by `day` and `session`."""
    if value == {}:
        raise ValueError("must not be empty: give a limit, or leave the key out")
    match = _WEAR.fullmatch(value) if isinstance(value, str) else None
    limits = {match[2]: match[1]} if match else value
    if not isinstance(limits, dict) or not limits.keys() <= {"day", "session"}:
        shown = value_text(value)
        raise ValueError(f"{shown} is not a limit such as 1T/day, or a mapping of day and session to sizes")
    return {period: parse_size(size) for period, size in limits.items()}


def _require_path(value: Any) -> Any:
    """Refuse what cannot be the name of a file, or would steer a terminal."""
    text = _require_text(value)
    if printable(text) != text or "\n" in text:
        raise ValueError(f"{text!r} is not a path")
    return text


def _require_value(value: Any) -> Any:
    """Refuse a key without a value, as of a template whose variable is not set: it is not left out."""
    if value is None:
        raise ValueError("must not be empty: give a value, or leave the key out")
    return value


Text = Annotated[str, BeforeValidator(_require_text)]
Word = Annotated[Text, Field(min_length=1)]
PathText = Annotated[str, BeforeValidator(_require_path), Field(min_length=1)]
Names = Annotated[tuple[Text, ...], Field(min_length=1)]


class LinkProfile(Schema):
    """The limit of what connects the target: nothing is faster than its `bandwidth` in bytes/s."""

    bandwidth: Annotated[Rate, Field(gt=0)]
    description: str = ""

    @model_validator(mode="before")
    @classmethod
    def _plain_rate(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"bandwidth": value}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        rate = {"type": "string", "description": "7.88 GB/s, or 3700 MiB/s"}
        return {"anyOf": [rate, handler.resolve_ref_schema(handler(schema))]}


class TargetId(Schema):
    """What names a block device for good; one of them is enough, and each that is said must lead to it."""

    by_id: PathText | None = Field(None, description="its link below /dev/disk/by-id")
    serial: Word | None = Field(None, description="its serial number or world-wide name")
    backing_file: PathText | None = Field(None, description="the file behind a loop device")

    _said = field_validator("*", mode="before")(_require_value)


class DeviceFile(Schema):
    """A device's profile."""

    description: str = Field("", description="what it is, in a sentence")
    identity: dict[str, Text] = Field(
        default_factory=dict, description="patterns that the machine must match, such as machine: '*Orin*'"
    )
    accepts: Literal["machine", "model"] = Field(
        "machine",
        description="which machines may be held against its baselines: this one alone, or any of its model",
    )
    host: Word = Field("", description="where it is, as execnet has it: ssh=root@orin.lab; here if left out")
    hosts: Names | None = Field(
        None, description="where the clients of its storage are, for workloads with `clients`; each as `host`"
    )
    target: PathText = Field(description="a directory or a block device")
    target_id: TargetId = Field(TargetId(), description="what names the block device that may be written to")
    link: LinkProfile | None = Field(None, description="the limit of the target's link, such as 7.88 GB/s")
    suites: Names | None = Field(None, description="the suites that apply; all of them if left out")
    overrides: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="engine options by suite name, or * for all suites"
    )
    missing: Literal["fail", "skip", "record"] = Field(
        "fail", description="what a workload without a baseline means"
    )
    learn: bool = Field(
        False, description="whether sessions are added to a baseline that cannot resolve its tolerance yet"
    )
    wear: Annotated[
        dict[str, int],
        BeforeValidator(_wear_limits),
        WithJsonSchema({"type": ["string", "object"], "description": "1T/day, or {day: 1T, session: 100G}"}),
    ] = Field(default_factory=dict, description="the most bytes to write to the target")

    _said = field_validator("*", mode="before")(_require_value)

    @field_validator("hosts")
    @classmethod
    def _different_hosts(cls, hosts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        twice = next((host for host in hosts or () if hosts and hosts.count(host) > 1), None)
        if twice is not None:
            raise ValueError(f"{printable(twice)!r} comes twice: each client is a machine of its own")
        return hosts

    @model_validator(mode="after")
    def _here_or_there(self) -> DeviceFile:
        if self.host and self.hosts:
            raise ValueError("host is where the device is, hosts where its clients are: say one of them")
        return self

    @model_validator(mode="after")
    def _appoints_the_good_one(self) -> DeviceFile:
        if self.accepts == "machine":
            return self
        if self.learn:
            raise ValueError(
                "learn adds what a machine measures to its baseline, and with accepts: model that stays the "
                "good one's, to which --update-baselines=append adds: leave learn out"
            )
        if self.missing == "record":
            raise ValueError(
                "missing: record makes a baseline of whichever machine comes first, and with accepts: model "
                "all others are held against it: say missing: skip, and --update-baselines on a good one"
            )
        return self

    @model_validator(mode="after")
    def _overrides_apply(self) -> DeviceFile:
        for suite in self.overrides:
            if suite != "*" and self.suites is not None and suite not in self.suites:
                hint = nearest(suite, self.suites)
                raise ValueError(f"overrides are for the suite {suite!r}, which does not apply here{hint}")
        return self


def check_name(name: str, what: str = "device") -> str:
    """Return `name` itself if it can be the name of a file in its folder and nothing else. Raises
    InputError.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{printable(name)!r} cannot be the name of a {what}",
            remedy=f"a {what}'s name has letters, digits and _ . + - only, and begins with a letter or digit",
        )
    return name


def known_devices(baselines: Path) -> list[str]:
    """Return the names of the devices that have a profile, `local` always among them."""
    profiles = _quietly(lambda: list(baselines.glob("*/device.yaml")))
    return sorted({LOCAL, *(file.parent.name for file in profiles)})


def load_device(name: str, baselines: Path) -> Device:
    """Return the profile of a device.

    `local` fits any machine where no file says otherwise. Raises InputError, with file:line:column where
    a file is at fault, and with the known devices where there is none of that name.
    """
    check_name(name)
    file = baselines / name / "device.yaml"
    if not _is_file(file):
        if os.path.isdir(file):
            raise InputError(f"{file} is a folder, and no profile", remedy="put the profile itself there")
        if name == LOCAL and not file.is_symlink():
            return Device(LOCAL, target=".", description="this machine", missing="record", learn=True)
        raise _unknown_device(name, baselines)
    with held_input(file, str(file)) as opened, hidden_behind_a_link(baselines, file):
        within = opened.folder.parent, Path(os.path.realpath(baselines))  # which may be another place by now
        if not all(opened.real.is_relative_to(folder) for folder in within):
            raise InputError(f"{file} leads out of {baselines}", remedy="put the file itself there")
        if any(is_hidden(opened.real.relative_to(folder)) for folder in within):
            raise InputError(f"{file} leads to what is hidden", remedy="put the file itself there")
        document = yamlio.load(opened.path, str(file))
        profile = check_document(DeviceFile, document)
    if name == LOCAL and (profile.host or profile.hosts):
        message = f"the device {LOCAL} is this machine: one with a host needs a name of its own"
        key = "host" if profile.host else "hosts"
        raise InputError(message, position=document.position((key,)), remedy="pytest --device=NAME")
    return Device(
        name=name,
        target=profile.target,
        host=profile.host,
        hosts=profile.hosts or (),
        target_id=profile.target_id.model_dump(exclude_none=True),
        description=printable(profile.description),
        identity=profile.identity,
        accepts=profile.accepts,
        link=profile.link.bandwidth if profile.link else None,
        suites=profile.suites or (),
        overrides=profile.overrides,
        missing=profile.missing,
        learn=profile.learn,
        wear=profile.wear,
        position=document.position(()),
        places={path[1:]: place for path, place in document.keys.items() if path[:1] == ("overrides",)},
    )


def _is_file(file: Path) -> bool:
    """Return whether a profile is there. Raises InputError where this user may not look."""
    try:
        return file.is_file()
    except OSError as error:
        raise InputError(
            printable(f"cannot look at {file}: {error.strerror}"),
            remedy="let this user read the baselines, or name others: --io-baselines=DIR",
        ) from error


def _unknown_device(name: str, baselines: Path) -> InputError:
    known = known_devices(baselines)
    return InputError(
        f"unknown device {name!r}{nearest(name, known)}",
        remedy=f"known devices: {', '.join(known)}. A new one is described in "
        f"{baselines / name / 'device.yaml'}",
    )


def _quietly(listing: Callable[[], list[Path]]) -> list[Path]:
    try:
        return listing()
    except OSError:
        return []
