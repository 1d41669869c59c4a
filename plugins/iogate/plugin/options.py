"""The options: one table, from which the command line and the ini file are made."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from iogate.declare.project import BASELINES, Project, find_project, folders_of
from iogate.errors import InputError
from iogate.measure.settings import Settings
from iogate.units import parse_duration, parse_share, parse_size, size_text

_OVERRIDES = ("-o", "--override-ini")
_SAID = {"io_update": "--update-baselines", "io_plan": "--io-plan", "io_resume": "--io-resume"}
"""What a file does not choose for all runs: they would store, or pass, what nobody asked for."""
_SAID_WHERE_STRICT = {
    "--io-against": "no stored baseline would be read",
    "--io-target": "the device would not be where its profile says",
    "--io-host": "the device would not be where its profile says",
}
"""What a file does not choose where coverage must not be lost in silence, and why."""


@dataclass(frozen=True)
class _Option:
    flag: str
    help: str
    metavar: str = ""
    parse: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    bare: str | None = None
    """What the flag means without a value; None: it has one always."""

    @property
    def name(self) -> str:
        """Its name in an ini file."""
        return self.flag.lstrip("-").replace("-", "_")

    def read(self, text: str) -> Any:
        """Return the value that a text means. Raises argparse.ArgumentTypeError."""
        if not text.strip():
            raise argparse.ArgumentTypeError(
                "is empty: give a value (is a variable not set?), or leave it out"
            )
        if self.choices and text not in self.choices:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(self.choices)}")
        try:
            return self.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    value = parse_duration(text)
    if value <= 0:
        raise ValueError(f"{text!r} is no time at all")
    return value


def _waiting(text: str) -> float:
    try:
        return _seconds(text)
    except ValueError as error:
        raise ValueError(f"{error}; write --io-wait=TIME, or put --io-wait behind the paths") from None


def _kept(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise ValueError(f"{text!r} is not a number from 1 on")
    return int(text)


def _repetitions(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 1000:
        raise ValueError(f"{text!r} is not a number from 2 to 1000")
    return int(text)


def _rate(text: str) -> float:
    value = parse_share(text)
    if value >= 0.5:
        raise ValueError(f"{text!r} is no error rate: below 50% is")
    return value


OPTIONS = (
    _Option("--device", "whose profile and baselines (default: local); NAME,NAME measures each", "NAME"),
    _Option("--io-host", "where the device is, instead of the profile's host: ssh=root@orin.lab", "SPEC"),
    _Option("--io-reason", "why, kept in the baseline", "TEXT"),
    _Option("--io-baselines", "where baselines live (default: baselines/ of the project)", "DIR"),
    _Option("--io-results", "where raw outputs are kept (default: .iogate/results/ of the project)", "DIR"),
    _Option("--io-target", "a directory or block device instead of the profile's", "PATH"),
    _Option(
        "--io-against",
        "instead of a baseline, measured by turns: a directory, a block device, an image, or `same` for a "
        "second copy of the data",
        "BASE",
    ),
    _Option("--io-max-blocks", "the most blocks of a pair (default: 60)", "N", _repetitions),
    _Option(
        "--io-slice",
        "length of a slice of a pair (default: 64ms, 200ms where data move in bursts that those cut)",
        "TIME",
        _seconds,
    ),
    _Option(
        "--io-missing",
        "a workload without a baseline (default: fail)",
        "fail|skip|record",
        str,
        ("fail", "skip", "record"),
    ),
    _Option("--io-inconclusive", "an undecided workload (default: fail)", "fail|skip", str, ("fail", "skip")),
    _Option("--io-tolerance", "the smallest change that matters, for every gating metric", "5%", parse_share),
    _Option("--io-alpha", "rate of false alarms (default: 1%%)", "1%", _rate),
    _Option("--io-beta", "rate of losses that pass (default: 5%%)", "5%", _rate),
    _Option(
        "--io-max-repetitions",
        "the most repetitions of a workload (default: 12; 48 of noisy ones); of pairs see --io-max-blocks",
        "N",
        _repetitions,
    ),
    _Option(
        "--io-runtime",
        "length of a repetition, and of a rest before it at most, instead of the suites'",
        "TIME",
        _seconds,
    ),
    _Option(
        "--io-size",
        "size of the data instead of the suites'",
        "SIZE",
        lambda text: size_text(parse_size(text)),
    ),
    _Option("--io-budget", "device time for the whole session", "10m", _seconds),
    _Option(
        "--io-wait",
        "wait for a target that another run has, instead of failing (without TIME: 1h)",
        "TIME",
        _waiting,
        bare="1h",
    ),
    _Option("--io-keep", "sessions kept in .iogate/results, the newest (default: 50)", "N", _kept),
    _Option("--io-json", "write the results as JSON", "FILE"),
    _Option("--io-report", "write a report for people: a page that needs no network", "FILE.html"),
    _Option("--io-markdown", "write a summary as Markdown, for a pull request", "FILE"),
    _Option("--io-destroy", "consent to write to exactly this block device", "DEVICE"),
)
_ALLOW_EXEC = "let suites run commands, load code and write beside the target: only for suites that you trust"
_STRICT = (
    "refuse what would lose coverage in silence: an implicit device, recording, baselines without workloads"
)
_RESUME = "go on with the last session of these workloads, if it was cut off; what was decided stays decided"
_PLAN = "run nothing: show what would run, how long, bytes written, what would be refused"


def add_options(parser: pytest.Parser) -> None:
    """Declare every option, for the command line and for ini files."""
    group = parser.getgroup("iogate", "storage performance gate (iogate)")
    for option in OPTIONS:
        dest = f"io_{option.name.removeprefix('io_')}"
        more = {"nargs": "?", "const": option.read(option.bare)} if option.bare else {}
        group.addoption(
            option.flag, dest=dest, metavar=option.metavar, type=option.read, help=option.help, **more
        )
        parser.addini(option.name, option.help.replace("%%", "%"), default=None)
    # Three flags, as an optional value would swallow the path in `--update-baselines suites/`.
    group.addoption(
        "--update-baselines",
        dest="io_update",
        action="store_const",
        const="replace",
        help="store this session as the new baseline",
    )
    group.addoption(
        "--update-baselines=append",
        dest="io_update",
        action="store_const",
        const="append",
        help="add this session to the baseline",
    )
    group.addoption("--io-strict", dest="io_strict", action="store_true", default=False, help=_STRICT)
    parser.addini("io_strict", _STRICT, type="bool", default=False)
    group.addoption("--io-resume", dest="io_resume", action="store_true", default=False, help=_RESUME)
    group.addoption(
        "--update-baselines=force",
        dest="io_update",
        action="store_const",
        const="force",
        help="add this session although it regressed, changed beyond doubt, or is of another machine",
    )
    group.addoption("--io-plan", dest="io_plan", action="store_true", default=False, help=_PLAN)
    group.addoption(
        "--io-allow-exec", dest="io_allow_exec", action="store_true", default=False, help=_ALLOW_EXEC
    )
    parser.addini(
        "io_suites", "which files are suites", type="args", default=["suites/**/*.yaml", "suites/**/*.yml"]
    )


def value_of(config: pytest.Config, flag: str) -> Any:
    """Return an option's value: of the command line, else of the ini file, else None. Raises UsageError."""
    option = next(option for option in OPTIONS if option.flag == flag)
    given = config.getoption(f"io_{option.name.removeprefix('io_')}")
    if given == []:  # as argparse makes of `--`
        raise pytest.UsageError(f"{flag}: '--' is no value")
    if given is not None:
        return given
    written = config.getini(option.name)
    if written is None:
        return None
    try:
        return option.read(str(written))
    except argparse.ArgumentTypeError as error:
        raise pytest.UsageError(f"{config.inipath}: {option.name}: {error}") from None


def consent_of(config: pytest.Config) -> str | None:
    """Return the block device that the command line agrees to destroy. Raises UsageError if it is a file that
    agrees, as a checkout brings it along: a profile of the same checkout is the other one of two who must.
    """
    named = value_of(config, "--io-destroy")
    if named is None:
        return None
    _require_said(config, "--io-destroy")
    return str(named)


def _require_said(config: pytest.Config, *spellings: str, why: str = "") -> None:
    """Raise UsageError if a file says a flag, and neither the command line nor the environment does."""
    words = [*map(str, config.invocation_params.args), *_split(os.environ.get("PYTEST_ADDOPTS", ""))]
    if not any(_says(words, flag) for flag in spellings):
        file = next((word[1:] for word in words if word.startswith("@")), config.inipath or "a file")
        raise pytest.UsageError(f"{file}: {spellings[0]} is said on the command line, and nowhere else{why}")


def _says(words: Iterable[str], flag: str) -> bool:
    """Return whether a flag is one of these words, or in those of `-o addopts=...` among them."""
    before = ""
    for word in words:
        apart = before in _OVERRIDES  # a word of its own, or not
        whole = f"-o{word}" if apart else re.sub(f"^{_OVERRIDES[1]}=", "-o", word)
        named, _, value = whole.partition("=")
        if flag in (word.partition("=")[0], named) or (named == "-oaddopts" and _says(_split(value), flag)):
            return True
        before = word
    return False


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # pytest says what is wrong with it
        return []


def _allows_exec(config: pytest.Config) -> bool:
    """Return whether the command line agrees that suites run commands. Raises UsageError if a file does."""
    if not config.getoption("io_allow_exec"):
        return False
    _require_said(config, "--io-allow-exec")
    return True


def path_of(config: pytest.Config, flag: str, default: str | None = None) -> Path | None:
    """Return a path: of the command line against the current folder, of the ini file or by default against
    the project's root.
    """
    value = value_of(config, flag)
    if value is None:
        return project_of(config).root / default if default else None
    return _folder_of(config, flag) / str(value)


def _folder_of(config: pytest.Config, flag: str) -> Path:
    """Return the folder against which an option's path is meant."""
    given = config.getoption(f"io_{flag.lstrip('-').replace('-', '_').removeprefix('io_')}") is not None
    return config.invocation_params.dir if given else config.rootpath


def project_of(config: pytest.Config) -> Project:
    """Return the project of the first place that pytest was pointed at; suites of another one are refused as
    they are collected. Raises UsageError if its baselines may be another user's.
    """
    place = config.invocation_params.dir / config.args[0].split("::")[0] if config.args else config.rootpath
    try:
        return find_project(place, config.rootpath, folders_of(config.getini("io_suites")))
    except InputError as error:
        raise pytest.UsageError(f"iogate: {error}") from None


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings of this run. Raises UsageError for what an ini file says wrongly."""
    from iogate.judge.judge import GateOptions

    usual = GateOptions()
    gate_options = GateOptions(
        alpha=value_of(config, "--io-alpha") or usual.alpha,
        beta=value_of(config, "--io-beta") or usual.beta,
        max_repetitions=value_of(config, "--io-max-repetitions") or usual.max_repetitions,
        extend=not value_of(config, "--io-max-repetitions"),
        max_blocks=value_of(config, "--io-max-blocks") or usual.max_blocks,
        tolerance=value_of(config, "--io-tolerance"),
    )
    target = path_of(config, "--io-target")
    strict = config.getoption("io_strict") or config.getini("io_strict")
    update, missing = config.getoption("io_update"), value_of(config, "--io-missing")
    for name, flag in _SAID.items():
        if config.getoption(name):
            _require_said(config, flag)
    for flag, why in _SAID_WHERE_STRICT.items() if strict else ():
        if value_of(config, flag):
            ini = flag.lstrip("-").replace("-", "_")
            _require_said(config, flag, f"-o{ini}", why=f" where --io-strict is: {why}")
    if strict and config.option.collectonly:
        flags = ("--collect-only", "--collectonly", "--co")
        _require_said(config, *flags, why=" where --io-strict is: nothing would be measured")
    if strict and (update or missing == "record"):
        asked = "--update-baselines" if update else "--io-missing=record"
        raise pytest.UsageError(
            f"--io-strict records nothing, {asked} does: leave out one of them (or add -o io_strict=false)"
        )
    return Settings(
        root=project_of(config).root,
        device=value_of(config, "--device") or "local",
        baselines=path_of(config, "--io-baselines", BASELINES) or Path(),
        results=path_of(config, "--io-results", ".iogate/results") or Path(),
        host=value_of(config, "--io-host"),
        target=str(target) if target else None,
        against=_against(config),
        slice=value_of(config, "--io-slice"),
        update=update,
        reason=value_of(config, "--io-reason") or "",
        missing=missing,
        inconclusive=value_of(config, "--io-inconclusive") or "fail",
        gate_options=gate_options,
        runtime=value_of(config, "--io-runtime"),
        size=value_of(config, "--io-size"),
        budget=value_of(config, "--io-budget"),
        destroy=consent_of(config),
        allow_exec=_allows_exec(config),
        strict=strict,
        resume=config.getoption("io_resume"),
        wait=value_of(config, "--io-wait") or 0.0,
        keep=value_of(config, "--io-keep"),
    )


def _against(config: pytest.Config) -> str | None:
    """Return what `--io-against` names: `same`, or a path (after `place:` if so said). Raises UsageError."""
    value: str | None = value_of(config, "--io-against")
    if value and config.getoption("io_update"):
        raise pytest.UsageError("--io-against measures its base now: there is no baseline to update")
    if value is None or value == "same":
        return value
    prefix, path = ("place:", value[6:]) if value.startswith("place:") else ("", value)
    if not path:
        raise pytest.UsageError(f"--io-against={value} names no place: put a directory or a device behind it")
    return f"{prefix}{_folder_of(config, '--io-against') / path}"
