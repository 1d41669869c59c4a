"""What fio itself would refuse, asked of `fio --parse-only` before anything runs.

fio looks at one option after another there (names, words, most ranges; fio 3.33 lets negative counts pass)
and at no combination of options: that is left to the run. So it is asked about each distinct setting once,
whatever the number of workloads that share it, in one process of about 80 ms, and one more for each setting
that it refuses and for each ioengine. It is not asked about the options that iogate knows itself: their shape
has been checked already.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from iogate.engines.fio.job_file import assignments
from iogate.engines.fio.jobs import jobs
from iogate.errors import EngineError, InputError
from iogate.host.exposure import safe_temporary_folder
from iogate.host.process import Completed, run
from iogate.host.tools import tool_path
from iogate.model import Workload
from iogate.units import printable

_SECONDS = 30.0
_ALWAYS_THERE = "libaio"
_PERCENTILE = re.compile(r"(read|write|trim|mixed)\.(s?lat)\.(p[\d.]+)")
_MOST_REFUSALS = 100
_DROPPED = re.compile(r"^fio: job s(\d+) dropped$", re.MULTILINE)
_VALID = re.compile(r"^\s+(?:valid values)?: (\S+)", re.MULTILINE)
_AT_ONCE = "[global]\nclocksource=clock_gettime\n"
"""Without this fio measures the processor's clock first, which takes as long as everything else together."""
_NOISE = re.compile(r"^fio: (job \S+ dropped|failed parsing .*)$|^\s*$")


class _Setting(NamedTuple):
    """A line of a job file, under the ioengine that it is meant for (ioengines have options of their own)."""

    ioengine: str
    line: str

    @property
    def key(self) -> str:
        return self.line.partition("=")[0]


def check(workloads: Sequence[Workload]) -> list[InputError]:
    """Return the settings that fio refuses, each once for each declaration that has it, if there is a fio;
    and the gates on what it would not measure.
    """
    return [*_unmeasured(workloads), *_refused(workloads)]


def _unmeasured(workloads: Sequence[Workload]) -> Iterator[InputError]:
    """Yield an error for each percentile in a gate that fio is not asked for."""
    for workload in workloads:
        asked = {key for job in jobs(workload.options).values() for key in job.get("fio", {})}
        for name in workload.gate:
            found = _PERCENTILE.fullmatch(name)
            if found and f"{found[2]}_percentiles" not in asked:
                yield InputError(
                    f"{name} decides on {workload.name}, and fio measures it only if it is asked to",
                    position=workload.position,
                    remedy=f"fio: {{{found[2]}_percentiles: 1}}, or decide on {found[1]}.clat.{found[3]}",
                )


def _refused(workloads: Sequence[Workload]) -> list[InputError]:
    program = shutil.which("fio", path=tool_path())
    if program is None or not workloads:
        return []
    users: dict[_Setting, list[Workload]] = {}
    for workload in workloads:
        for setting in _settings(workload.options):
            users.setdefault(setting, []).append(workload)
    if not users:
        return []
    try:
        around = safe_temporary_folder()  # what fio reads there may name a library to load
    except OSError as error:
        return [InputError(str(error))]
    with tempfile.TemporaryDirectory(prefix="iogate-", dir=around) as folder:
        fio = _Fio(program, Path(folder))
        try:
            refused = {**fio.missing_ioengines(users), **fio.refusals(list(users))}
        except EngineError as error:
            return [InputError(error.message, remedy=error.remedy)]
    found: dict[tuple[Any, str], InputError] = {}
    for setting, reason in refused.items():
        for workload in users[setting]:
            message = f"fio refuses {printable(setting.line)!r}: {printable(reason)}"
            place = (workload.position, message)
            found.setdefault(place, InputError(message, position=workload.position))
    return list(found.values())


def _settings(options: Mapping[str, Any]) -> Iterator[_Setting]:
    """Yield the settings that only fio can judge: those passed through, and an ioengine that it may lack."""
    for job in jobs(options).values():
        ioengine = job["ioengine"]
        if ioengine != _ALWAYS_THERE:
            yield _Setting(ioengine, f"ioengine={ioengine}")
        for line in assignments({"fio": job.get("fio", {})}):
            yield _Setting(ioengine, line)


class _Fio:
    """fio, asked in a folder of its own."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def ask(self, *arguments: str) -> Completed:
        return run([self.program, *arguments], folder=self.folder, timeout=_SECONDS)

    def missing_ioengines(self, settings: Mapping[_Setting, Any]) -> dict[_Setting, str]:
        """Return the ioengines that this fio has neither built in nor as a plugin."""
        chosen = [setting for setting in settings if setting.key == "ioengine"]
        return {
            setting: "this fio was built without that ioengine"
            for setting in chosen
            if "not found" in self.ask(f"--enghelp={setting.ioengine}").stdout
        }

    def refusals(self, settings: Sequence[_Setting]) -> dict[_Setting, str]:
        """Return what fio says against each of the settings. It stops at the first that it cannot parse, so
        it is asked again about those behind. Raises EngineError if it fails for another reason.
        """
        found: dict[_Setting, str] = {}
        left = list(settings)
        for _ in range(_MOST_REFUSALS):
            done = self.parse_only(left)
            if not done.status:
                break
            dropped = _DROPPED.search(done.stderr)
            if not dropped:
                raise EngineError(f"fio --parse-only failed: {printable(done.stderr.strip())[:400]}")
            index = int(dropped[1])
            found[left[index]] = _reason(done)
            left = left[index + 1 :]
        return found

    def parse_only(self, settings: Sequence[_Setting]) -> Completed:
        sections = (
            f"[s{index}]\nioengine={setting.ioengine}\n{setting.line}\n"
            for index, setting in enumerate(settings)
        )
        (self.folder / "check.fio").write_text(_AT_ONCE + "".join(sections))
        return self.ask("--parse-only", "check.fio")


def _reason(done: Completed) -> str:
    """Return what fio said against the section that it dropped."""
    words = [line.strip() for line in done.stderr.splitlines() if not _NOISE.match(line)]
    valid = _VALID.findall(done.stdout)
    if valid:
        words.append(f"valid values: {', '.join(valid)}")
    return "; ".join(words) or "the value does not parse"
