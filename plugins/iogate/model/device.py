"""Where it was measured, and what is known of a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from iogate.errors import Position


@dataclass(frozen=True)
class Environment:
    """Where a session ran, in three parts of flat names and values.

    `identity` must match or there is no verdict; `subject` (kernel, image, firmware) is what the gate is
    there to judge; `state` (governor, load, temperature) explains. `boot` is another text once the machine
    was started anew.
    """

    identity: Mapping[str, str] = field(default_factory=dict)
    subject: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)
    boot: str = ""


@dataclass(frozen=True)
class Device:
    """A named machine under test with its profile.

    `identity` maps names of the environment's identity to patterns of fnmatch(3); its baselines are of one
    machine, and it `accepts` that one alone, or any of the model. `target` is a directory or a block device,
    `host` where the machine is, as execnet has it (empty: here), `hosts` where the clients of the target are,
    if it has several. `link` is the limit of its link in B/s. `suites` are the names of the suites that apply
    (empty: all). `overrides` are engine options by suite name (`*`: all suites). `missing` says what a
    workload without a baseline means; with `learn` a session is added to a baseline that cannot judge yet.
    `places` are where the keys below `overrides` stand, by their path.
    """

    name: str
    target: str
    description: str = ""
    identity: Mapping[str, str] = field(default_factory=dict)
    accepts: Literal["machine", "model"] = "machine"
    link: float | None = None
    suites: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: Literal["fail", "skip", "record"] = "fail"
    target_id: Mapping[str, str] = field(default_factory=dict)
    wear: Mapping[str, Any] = field(default_factory=dict)
    learn: bool = False
    host: str = ""
    hosts: tuple[str, ...] = ()
    position: Position | None = None
    places: Mapping[tuple[str | int, ...], Position] = field(default_factory=dict)
