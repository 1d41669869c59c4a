"""A project to begin with: suites and profiles that ship, and what pytest and git need to know."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import iogate
from iogate.declare.device import LOCAL, check_name, load_device
from iogate.declare.project import BASELINES, SUITES, require_within
from iogate.errors import IogateError
from iogate.formats import yamlio
from iogate.formats.held import held_folder, make_within
from iogate.formats.reading import read_at_once
from iogate.formats.words import nearest
from iogate.units import no_commands, printable

USUAL = ("quick", "acceptance")
"""The suites of a project for which none was named."""

_LARGEST = 2**20
_CONFIGURED = {
    "pytest.toml": "",
    ".pytest.toml": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
"""Files that configure pytest, if this is in them: a pytest.ini beside them would put them out of force."""

_PYTEST_INI = """\
[pytest]
testpaths = suites
required_plugins = iogate
"""
_GITIGNORE = """\
# raw outputs and results, scratch files, what tools keep
.iogate/
.iogate-scratch-*/
.pytest_cache/
.benchmarks/
__pycache__/
# what one machine measured of itself says nothing about another one
/baselines/local/*
!/baselines/local/device.yaml
"""
_LOCAL = """\
description: this machine, whichever it is
target: "."               # the directory, of this project, that the I/O goes to
suites: [{suites}]{space}# which apply: add yours, or leave the line out for all
missing: record           # what has no baseline yet is recorded
learn: true               # and sessions are added until the baseline can judge
"""
_README = """\
# Storage suites

Judged by iogate, a storage performance gate that plugs into pytest. It needs fio; its own engines need gcc.

```
pip install path/to/iogate     # a wheel, or a checkout
pytest suites/{device}
```

`--io-plan` shows what would run, for how long and what would be written, and runs nothing.
A run without a baseline records one; `--update-baselines` makes a new one, and says what changed.
`pytest suites/` runs the suites that the device's profile in baselines/ lists; one whose file is named is run
all the same: `pytest suites/{example}.yaml`. Your own suites lie beside them.

| suite | what it is for |
| --- | --- |
{suites}
"""


def init(folder: Path, suites: Sequence[str], device: str) -> str:
    """Make a project in a folder, or add what it lacks, and return what was done.

    `suites` are copied, and those of the profile if `device` is one that ships; of neither, `USUAL` are.
    What is there already stays as it is. Raises IogateError for what does not ship, or cannot be written, and
    for a folder among the suites of another project.
    """
    check_name(device)
    _require_apart(folder)
    files = _files(_chosen(suites, device), suites, device)
    lines = []
    for name in files:
        if not os.path.lexists(folder / name):
            require_within((folder / name).parent, folder)
    for name, text in files.items():
        other = _configured(folder) if name == "pytest.ini" else ""
        if other:
            lines.append(f"kept {other}, which configures pytest: no pytest.ini is needed")
        elif _make(folder / name, text):
            lines.append(f"made {folder / name}")
        elif _read(folder / name) != text:
            lines.append(f"kept {folder / name} as it is{_lacks(folder, name, text, suites)}")
    lines = lines or [f"nothing to do: {folder} has all of it"]
    place = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    command = f"{place}pytest {SUITES}/{_device_option(device)}"
    return no_commands("\n".join([*lines, "", f"measure and judge: {command}"]))


def _require_apart(folder: Path) -> None:
    """Raise IogateError for a folder among the suites of a project: they would be of two."""
    place = folder.resolve()
    for one in (place, *place.parents):
        other = one.parent
        if one.name == SUITES and (other / BASELINES).is_dir():
            raise IogateError(
                printable(f"{place} is among the suites of the project {other}: no project is made there"),
                remedy=printable(f"say iogate init {shlex.quote(str(other))}, or name a folder elsewhere"),
            )


def shipped(kind: str) -> Path:
    """Return the folder of the `suites` or `baselines` that ship: in the package, or in a checkout."""
    package = Path(iogate.__file__).parent
    return package / kind if (package / kind).is_dir() else package.parents[1] / kind


def shipped_suites() -> list[str]:
    """Return the names of the suites that ship."""
    return sorted(file.stem for file in shipped(SUITES).glob("*.yaml"))


def _chosen(suites: Sequence[str], device: str) -> tuple[str, ...]:
    """Return the suites of a project. Raises IogateError for those, and devices, that do not ship."""
    known = shipped_suites()
    for suite in suites:
        if suite not in known:
            raise IogateError(
                f"no suite {printable(suite)!r} ships{nearest(suite, known)}",
                remedy=f"these do: {', '.join(known)}",
            )
    if device == LOCAL:
        return tuple(dict.fromkeys([*USUAL, *suites]))
    devices = sorted(file.parent.name for file in shipped(BASELINES).glob("*/device.yaml"))
    if device not in devices:
        raise IogateError(
            f"no profile of {device!r} ships{nearest(device, devices)}",
            remedy=f"these do: {', '.join(devices)}. Make a project without --device, and describe yours in "
            f"{BASELINES}/{device}/device.yaml",
        )
    return tuple(dict.fromkeys([*load_device(device, shipped(BASELINES)).suites, *suites]))


def _files(chosen: Sequence[str], named: Sequence[str], device: str) -> Mapping[str, str]:
    """Return the texts of all files of a project."""
    sources = {suite: (shipped(SUITES) / f"{suite}.yaml").read_text(encoding="utf-8") for suite in chosen}
    rows = "\n".join(f"| `{suite}` | {_purpose(text)} |" for suite, text in sources.items())
    files = {f"{SUITES}/{suite}.yaml": text for suite, text in sources.items()}
    files.update(_profile(named, device))
    files["pytest.ini"] = _PYTEST_INI
    files[".gitignore"] = _GITIGNORE
    files["README.md"] = _README.format(device=_device_option(device), example=chosen[-1], suites=rows)
    return files


def _profile(named: Sequence[str], device: str) -> Iterator[tuple[str, str]]:
    """Yield the profile of the device, and the published figures of one that ships."""
    if device == LOCAL:
        suites = ", ".join(dict.fromkeys(["quick", *named]))
        yield (
            f"{BASELINES}/{LOCAL}/device.yaml",
            _LOCAL.format(suites=suites, space=" " * max(1, 16 - len(suites))),
        )
        return
    for file in sorted((shipped(BASELINES) / device).glob("*.yaml")):
        yield f"{BASELINES}/{device}/{file.name}", file.read_text(encoding="utf-8")


def _purpose(text: str) -> str:
    """Return the first sentence of a suite's description."""
    description = " ".join(str(yamlio.loads(text, "suite").data.get("description", "")).split())
    return f"{description.split('. ')[0].split(': ')[0].rstrip('.')}."


def _device_option(device: str) -> str:
    return "" if device == LOCAL else f" --device={device}"


def _configured(folder: Path) -> str:
    """Return the file by which pytest is configured in a folder, if it is not pytest.ini."""
    for name, mark in _CONFIGURED.items():
        if (folder / name).is_file() and mark in _read(folder / name):
            return str(folder / name)
    return ""


def _make(path: Path, text: str) -> bool:
    """Write a new file, and return whether there was none. Raises IogateError if it cannot be written."""
    try:
        with held_folder(path.parent, make=True) as folder:
            make_within(folder, path.name, text)
    except FileExistsError:
        return False
    except OSError as error:
        raise IogateError(printable(f"cannot write {path}: {error.strerror}")) from error
    return True


def _lacks(folder: Path, name: str, text: str, suites: Sequence[str]) -> str:
    """Return what a file that was there before lacks, if that is easily told."""
    if name == ".gitignore":
        known = set(_read(folder / name).splitlines())
        lines = [line for line in text.splitlines() if line not in known and not line.startswith("#")]
        return f"; these lines would do it good: {' '.join(lines)}" if lines else ""
    if name == f"{BASELINES}/{LOCAL}/device.yaml":
        applying = load_device(LOCAL, folder / BASELINES).suites
        others = [suite for suite in suites if applying and suite not in applying]
        return f"; add to its suites, so that they are run: {', '.join(others)}" if others else ""
    return ""


def _read(path: Path) -> str:
    try:
        return read_at_once(path, _LARGEST).decode().replace("\r\n", "\n") if path.is_file() else ""
    except (OSError, UnicodeError):
        return ""
