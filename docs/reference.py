"""Makes docs/reference.md of the code: `python docs/reference.py`, in a checkout with iogate.

Commands and options are those of the parsers, keys those of the JSON Schemas, metrics those that the engines
read from the recorded outputs in tests/data, and checks those of the audit.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from iogate import engines
from iogate.audit import RULES
from iogate.cli import parser as command_parser
from iogate.declare.device import DeviceFile
from iogate.declare.suite import SuiteFile
from iogate.declare.workload import WorkloadEntry
from iogate.errors import IogateError
from iogate.model import metric
from iogate.plugin.options import add_options

PAGE = Path(__file__).with_suffix(".md")
RECORDED = Path(__file__).parents[1] / "tests" / "data"

MORE = {
    "--update-baselines": "Tells what changed, and how strong the baseline is now.",
    "--update-baselines=append": "It is judged by the baseline first, and kept out if it regressed, or "
    "gained beyond doubt.",
    "--device": "Several are parted by commas, and [measured side by side](fleet.md), a process each.",
    "--io-against": "[Pairs](paired.md) are measured and judged otherwise.",
    "--io-budget": "What cannot become whole in it is not begun; first comes what has no baseline, "
    "then what has the oldest; the rest is shared out by need.",
    "--io-destroy": "[More is needed for that](targets.md).",
    "--io-json": "Each run keeps them as `results.json` beside its raw outputs anyway. A pipe, a "
    "terminal, `/dev/null` and `/dev/stdout` are written into, once, at the end; a "
    "file that is no results document is not overwritten, and a link stays one.",
    "--io-keep": "With `--io-results`, and where a link leads, all are kept, unless this is said. A session "
    "in which somebody put something stays.",
    "--io-markdown": "At most 65,536 bytes; nothing from suites is more than text in it. A file that is no "
    "summary of iogate is not overwritten. Where `$GITHUB_STEP_SUMMARY` names a file, as in a job on "
    "GitHub, each run appends its summary there, up to 1 MiB in all; a line says why where it cannot.",
    "--io-plan": "Nothing is compiled either. Of a block device to be written, `wipefs --no-act` "
    "tells what it holds. Mistakes in options that only fio itself knows are not "
    "found. With `-v`: all commands, job files, and the many points of a matrix one "
    "by one.",
    "--io-report": "At the end of the run, also of [one that was interrupted](report.md); what is no "
    "report of iogate is not overwritten.",
    "--io-strict": "That is: no `--device`, no folder of baselines, a suite of the profile (or of its "
    "`overrides`) that does not exist, a stored baseline without its workload, test or suite, a suite where "
    "none is looked for, a suite or tests with baselines that pytest passes over for a name, what "
    "pytest-testmon may leave out; nothing is recorded. Without it these are warnings in the summary. "
    "`--io-missing=skip` skips nothing that has a baseline of another definition.",
    "--io-wait": "It is said who has it. `--io-wait` alone stands behind the paths.",
}
"""What the reference says beyond the help of an option."""

KINDS = {
    "iops": "I/Os per second",
    "bandwidth": "bytes per second",
    "slat": "latency of submission",
    "clat": "latency from submission to completion",
    "lat": "total latency (TLAT in some reports)",
    "latency": "time of an access",
    "wall_time": "from the first I/O to the last, with the flush",
    "completed": "share of the work that was done when the first process was done",
    "filled": "share of blocks that held data among what is read of a block device, as a sample tells",
    "speedup": "wall time of one thread over that of N; the rate of N clients over that of one",
    "efficiency": "speedup over N",
    "serial_fraction": "Amdahl's: the share of work that more threads or clients do not speed up; no gate",
}
"""What each kind of metric is."""

_CLIENTS = (
    "- of several clients at once, of each of them: "
    "`client_N.{read,write}.{iops,bandwidth,lat.mean,clat.p50,clat.p99,clat.p99.9}`",
    "- of a list of numbers of clients all of these behind `clients_N.`, with "
    "`clients_N.{efficiency,speedup}` and `serial_fraction`",
)
_ONLY = "On the command line only."
_KEY = ("key", "meaning", "default")
_HEAD = """\
# Reference

<!-- Made of the code by `python docs/reference.py`; a test holds that it is. -->

What iogate can be told, and what it tells: options of pytest, the command `iogate`, keys of suites and
profiles, metrics, and checks.

## Options of pytest

Most can be set in an ini file (`pytest.ini`, `pyproject.toml`), too, under the same name with underscores:
`device`, `io_tolerance`, `io_strict = true`. The command line wins. An empty value is refused in both places,
and `--io-destroy` in a file.
"""
_INI = """
`io_suites` stands in an ini file only, and says which files are suites; by default
`suites/**/*.yaml suites/**/*.yml`.
"""
_COMMANDS = """
## The command `iogate`

Exit statuses: 0; 1 where something regressed, was refused or is in conflict; 2 for wrong use; 3 inconclusive.
"""
_KEYS = """
## Keys of a suite

[How to write one](suites.md) shows them in use. Sizes are as fio writes them (`4k` is 4096 bytes, `16G` is
16 GiB), times are seconds or `90s`, `10m`, `2h`. `iogate schema suite` prints the JSON Schema.
"""
_DEVICE = """
## Keys of a device's profile

Of `baselines/<device>/device.yaml`; [Devices and baselines](devices.md) explains them. `iogate schema device`
prints the JSON Schema.
"""
_METRICS = """
## Metrics

Names are made of parts with points between. Any of them can stand in a workload's `gate`; one of a spread
(`stddev`) is better when it is lower. In files they are in the units given here; tables scale them.

"""
_OF_ENGINES = """
Each engine gives, by what it is asked to do (`N` is a number, `{a,b}` one of several):
"""
_CHECKS = """
## Checks of the audit

[What the audit looks for](audit.md) tells what each of them means, what to do, and how to waive it.
"""


def page() -> str:
    """Return the page."""
    parts = [
        _HEAD, *_options(), _INI, _COMMANDS, *_commands(command_parser(), "###"), _KEYS, *_suite_keys(),
        _DEVICE, *_table(_KEY, _keys(DeviceFile.model_json_schema())), _METRICS, *_kinds(), _OF_ENGINES,
        *_metrics(), _CHECKS, *_checks(),
    ]  # fmt: skip
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    columns = list(head)
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _sentence(text: str) -> str:
    return text and f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _text(text: str) -> str:
    """Return words of a help as Markdown: what is no code is meant literally."""
    parts = text.replace("%%", "%").split("`")
    parts[::2] = [re.sub(r"([*<])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


# ---------------------------------------------------------------- options and commands


def options() -> dict[str, tuple[str, str, str]]:
    """Return each option of the plugin by its flag: how it is written, its name in an ini file, its help."""
    parser = pytest.Parser(_ispytest=True)
    add_options(parser)
    (group,) = (group for group in parser._groups if group.name == "iogate")
    found = {}
    for option in group.options:
        shape = option.attrs()
        flag = max(option.names(), key=len)
        metavar = str(shape.get("metavar") or "")
        value = (f"[={metavar}]" if shape.get("nargs") == "?" else f"={metavar}") if metavar else ""
        ini = flag.lstrip("-").replace("-", "_")
        found[flag] = (flag + value, ini if ini in parser._inidict else "", str(shape.get("help", "")))
    return dict(sorted(found.items()))


def _options() -> Iterator[str]:
    rows = (
        (f"`{written}`", _joined(_sentence(_text(help_)), MORE.get(flag, ""), "" if ini else _ONLY))
        for flag, (written, ini, help_) in options().items()
    )
    yield from _table(("option", "meaning"), rows)


def _commands(parser: argparse.ArgumentParser, level: str) -> Iterator[str]:
    """Yield what each command does and takes; those below one come behind it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, command in action.choices.items():
                yield f"{level} `{command.prog}`\n"
                yield from _command(command, helps.get(name, ""))
                yield from _commands(command, f"{level}#")


def _command(command: argparse.ArgumentParser, help_: str) -> Iterator[str]:
    yield f"{_text(command.description or _sentence(help_))}\n"
    examples, _, statuses = (command.epilog or "").rpartition("exit status: ")
    if lines := re.sub(r"^examples?:", "", examples).strip(" ;\n").splitlines():
        yield "\n".join(["```", *map(str.strip, lines), "```\n"])
    if statuses:
        yield f"Exit status: {_text(_sentence(statuses))}\n"
    rows = [
        (f"`{_written(action)}`", _sentence(_text(action.help or "")))
        for action in command._actions
        if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
    ]
    if rows:
        yield from _table(("argument", "meaning"), rows)
        yield ""


def _written(action: argparse.Action) -> str:
    """Return how an argument is written."""
    value = action.metavar or "|".join(map(str, action.choices or ()))
    if isinstance(value, tuple):
        value = " ".join(value)
    if action.option_strings:
        flag = max(action.option_strings, key=len)
        return f"{flag} {value}" if value and action.nargs != 0 else flag
    if action.nargs in ("?", "*"):
        return f"[{value}]"
    return f"{value}..." if action.nargs == "+" else value


# ---------------------------------------------------------------- keys


def _suite_keys() -> Iterator[str]:
    yield from _table(_KEY, _keys(SuiteFile.model_json_schema()))
    yield "\n### Keys of every workload\n\nThey can stand in `defaults`, too.\n"
    yield from _table(_KEY, _keys(WorkloadEntry.model_json_schema()))
    for name in engines.names():
        yield f"\n### Options of the engine `{name}`\n"
        yield from _table(_KEY, _keys(engines.load(name).schema()))


def _keys(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield key, meaning and default of each property of a JSON Schema, and of the mappings below it."""
    definitions = schema.get("$defs", {})
    required = schema.get("required", ())
    for key, shape in schema["properties"].items():
        default = shape.get("default")
        shown = "" if isinstance(default, dict) or default in (None, "", []) else f"`{_yaml(default)}`"
        yield f"`{prefix}{key}`", _meaning(shape), "needed" if key in required else shown
        for below in _below(shape, definitions):
            yield from _keys({**below, "$defs": definitions}, f"{prefix}{key}.")


def _meaning(shape: Mapping[str, Any]) -> str:
    """Return what a schema says of a value: the description, its own or of a choice, and the values."""
    choices = [shape, *shape.get("anyOf", ())]
    text = next((choice["description"] for choice in choices if "description" in choice), "")
    values = next((choice["enum"] for choice in choices if "enum" in choice), ())
    listed = ", ".join(f"`{_yaml(value)}`" for value in values)
    return _joined(_sentence(_text(text)), _sentence(listed and f"One of {listed}"))


def _below(shape: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings with keys of their own that a value can be."""
    if "$ref" in shape:
        yield from _below(definitions[shape["$ref"].rpartition("/")[2]], definitions)
    elif "properties" in shape:
        yield shape
    for choice in shape.get("anyOf", ()):
        yield from _below(choice, definitions)


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


# ---------------------------------------------------------------- metrics and checks


def _kinds() -> Iterator[str]:
    rows = ((f"`{kind}`", text, metric(kind).unit, metric(kind).direction) for kind, text in KINDS.items())
    yield from _table(("part", "what it is", "unit", "better"), rows)


def _metrics() -> Iterator[str]:
    for name in engines.names():
        patterns = _patterns(recorded(name))
        if patterns:
            yield f"\n### Metrics of `{name}`\n"
            yield from (f"- `{pattern}`" for pattern in patterns)
        if patterns and isinstance(engines.load(name), engines.RunsOnClients):
            yield from _CLIENTS


def recorded(name: str) -> set[str]:
    """Return the metrics that an engine reads from the outputs in tests/data."""
    engine = engines.load(name)
    found: set[str] = set()
    for file in sorted(path for path in RECORDED.rglob("*") if path.suffix in (".json", ".txt", ".out")):
        try:
            text = file.read_text(encoding="utf-8")
            if engine.recognises(text):
                found.update(engine.parse(text, name=file.name).metrics)
        except (IogateError, UnicodeError):
            continue  # tests keep damaged ones, too
    return found


def _patterns(names: Iterable[str]) -> list[str]:
    """Return metrics as patterns: those that differ in one part only are one, numbers and sizes are N."""
    parts = {tuple(_general(part) for part in re.split(r"\.(?!\d)", name)) for name in names}
    for position in (0, -1):
        groups: dict[tuple[str, ...], set[str]] = {}
        for one in parts:
            rest = (*one[:position], "", *one[position + 1 :]) if position == 0 else (*one[:-1], "")
            groups.setdefault(rest if len(one) > 1 else one, set()).add(one[position])
        parts = {_united(rest, choices, position) for rest, choices in groups.items()}
    return sorted(".".join(one) for one in parts)


def _united(rest: tuple[str, ...], choices: set[str], position: int) -> tuple[str, ...]:
    if len(rest) == 1:
        return rest
    ordered = sorted(
        choices, key=lambda text: ([float(number) for number in re.findall(r"[\d.]*\d", text)], text)
    )
    one = ordered[0] if len(ordered) == 1 else f"{{{','.join(ordered)}}}"
    return (one, *rest[1:]) if position == 0 else (*rest[:-1], one)


def _general(part: str) -> str:
    """Return a part of a name with N for its numbers; percentiles stay what they are."""
    if re.fullmatch(r"p[\d.]+", part):
        return part
    return re.sub(r"\d+[kMG]?/\d+[kMG]?", "SIZE/RECORD", re.sub(r"(?<=_)\d+", "N", part))


def _checks() -> Iterator[str]:
    for rules in RULES:
        title = (inspect.getdoc(rules) or "").partition(" of ")[2].partition(": ")[0].capitalize()
        yield f"\n### {title}\n"
        yield from _table(("check", "what it sees"), map(_check, rules.CHECKS))


def _check(check: Callable[..., Any]) -> tuple[str, str]:
    sees = " ".join((inspect.getdoc(check) or "").split("\n\n")[0].split())
    return f"[`{check.__name__}`](audit.md#{check.__name__})", sees


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
