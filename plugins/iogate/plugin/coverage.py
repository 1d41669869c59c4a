"""What a run would leave out, or make up, in silence: warnings in its summary, errors with `--io-strict`."""

from __future__ import annotations

import os
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from iogate.declare.project import SUFFIXES
from iogate.formats.reading import read_at_once
from iogate.host.git import repository_of
from iogate.model import Device, Verdict, Workload
from iogate.plugin.items import is_suite
from iogate.units import no_commands, one_line, plural, some_of

_LOOKS = re.compile(r"^workloads\s*:", re.MULTILINE)
_IS_NOT = re.compile(r"^(schema|suite|device)\s*:", re.MULTILINE)
_OWN_PATTERN = "{arch}"  # of pytest's own norecursedirs: nobody else would write that
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta/history")  # what pytest knows a virtual environment by
_PASSED_OVER = {
    "suite": ("a suite", "its", "norecursedirs"),
    "module": ("tests", "their file or of its", "python_files or norecursedirs"),
}
_HEAD = 65536  # bytes of a file that are looked at
_WIDTH = 100
_NAMED = 5  # tests of many
_OF_OTHERS = (".#", "._")  # what editors, and systems of files, put beside a file

UNCHANGED = (
    "pytest-testmon leaves out what passed as long as no Python code changes, whatever the device does by "
    "now: measure without it, or say --testmon-noselect"
)
"""What is said where it would leave out workloads, or tests in Python that measure."""

NO_BENCHMARKS = (
    "--benchmark-skip, which may stand in an ini file's addopts, skips all workloads: leave it away, or say "
    "-o addopts="
)
"""What is said where pytest-benchmark skips workloads."""


def no_benchmarks_text(ids: Sequence[str]) -> str:
    """Return which tests in Python pytest-benchmark skips that would measure."""
    options = "--benchmark-skip, or --benchmark-only of what is no benchmark,"
    return f"{options} skips what measures: {some_of(ids, _NAMED)}"


NOT_GONE_ON = (
    "--io-resume: nobody knew that these tests measure, as they ask for it when they run: all are measured"
)
"""What is said of tests in Python that measure as they like, and of none of which there is a baseline."""


def looks_like_suite(path: Path) -> bool:
    """Return True for a YAML file with a key `workloads` that is no baseline."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    try:
        text = read_at_once(path, _HEAD).decode("utf-8", errors="replace")
    except OSError:
        return False
    return bool(_LOOKS.search(text)) and not _IS_NOT.search(text)


def deselected_text(device: Device, left_out: Sequence[Workload], root: Path) -> str:
    """Return why pytest says `deselected`: how many workloads of which suites are not the device's."""
    counts = Counter(workload.suite for workload in left_out)
    suites = ", ".join(f"{suite} ({count})" for suite, count in counts.items())
    profile = shown(Path(device.position.file), root) if device.position else device.name
    return _filled(
        f"{len(left_out)} deselected by {profile}, which does not list {suites}; "
        "a suite whose file is named runs all the same"
    )


def taken_out_text(ids: Sequence[str]) -> str:
    """Return which tests that measure were taken out of a run by somebody who told nobody."""
    were = "was" if len(ids) == 1 else "were"
    return (
        f"{plural(len(ids), 'test')} that would measure {were} taken out of this run by a conftest.py or a "
        f"plugin that told nobody (as pytest_deselected does): {some_of(ids, _NAMED)}"
    )


def never_run_text(ids: Sequence[str]) -> str:
    """Return which tests that measure somebody kept from being run, and told nobody."""
    were = "was" if len(ids) == 1 else "were"
    return (
        f"{plural(len(ids), 'test')} that would measure {were} not run, though nothing ended the run before: "
        "a conftest.py or a plugin saw to that (by pytest_runtest_protocol, pytest_runtestloop, or "
        f"pytest.exit(returncode=0)): {some_of(ids, _NAMED)}"
    )


def turned_text(ids: Sequence[str]) -> str:
    """Return which tests failed, and were reported as something else."""
    return (
        f"{plural(len(ids), 'test')} failed by {'its verdict' if len(ids) == 1 else 'their verdicts'}, and "
        "went on, or a conftest.py or a plugin reported a pass, or a skip (by pytest_runtest_call, or "
        f"pytest_runtest_makereport): {some_of(ids, _NAMED)}"
    )


def copies_text(count: int) -> str:
    """Return why pytest says `deselected` of tests that are there once more."""
    copies = "1 copy" if count == 1 else f"{count} copies"
    return f"{copies} of workloads deselected: each is measured once, and what it decided stays decided"


def shown(path: Path, root: Path) -> str:
    """Return what messages call a path: as it is below the root, if it is there."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def missing_suites(device: Device, exists: Callable[[str], bool]) -> Iterator[str]:
    """Yield sentences if the profile lists suites, or overrides options of suites, that do not exist."""
    overridden = device.overrides.keys() - {"*"}
    for does, names in (("lists", device.suites), ("overrides options of", sorted(overridden))):
        missing = [name for name in names if not exists(name)]
        if missing:
            yield f"the profile of {device.name} {does} suites that do not exist: {', '.join(missing)}"


def leading_nowhere(links: Iterable[Path], root: Path) -> Iterator[str]:
    """Yield a sentence for each suite that is a link to what is not there."""
    for link in links:
        yield (
            f"{shown(link, root)} is a link that leads nowhere, and no suite: is a submodule missing "
            "(git submodule update --init)?"
        )


def without_workload(
    folder: Path, root: Path, declared: Mapping[str, Collection[str]], stored: Mapping[str, Collection[str]]
) -> Iterator[str]:
    """Yield a sentence for each baseline file in a device's folder that has workloads which their suite,
    which was collected, does not declare.
    """
    for suite, names in declared.items():
        missing = [name for name in stored.get(suite, ()) if name not in names]
        if missing:
            file = shown(folder / f"{suite}.yaml", root)
            yield f"{file}: stored baselines whose workloads the suite does not declare: {', '.join(missing)}"


def unread(
    folder: Path, root: Path, paired: Mapping[str, Collection[str]], stored: Mapping[str, Collection[str]]
) -> Iterator[str]:
    """Yield a sentence for each baseline file in a device's folder that has workloads which are judged
    `against` other options of theirs, by their suite, and not by it.
    """
    for suite, names in paired.items():
        if held := [name for name in stored.get(suite, ()) if name in names]:
            file = shown(folder / f"{suite}.yaml", root)
            yield f"{file}: stored baselines that `against` leaves unread: {', '.join(held)}"


def without_test(folder: Path, root: Path, lost: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a sentence for each baseline file in a device's folder that has workloads of tests in Python that
    are no longer there, or no longer measure.
    """
    for module, names in lost.items():
        file = shown(folder / f"{module}.yaml", root)
        yield f"{file}: stored baselines that no test in Python measures: {', '.join(names)}"


def why_passed_over(folder: Path, patterns: Collection[str], *, environments: bool) -> str | None:
    """Return why pytest enters a folder only by name; empty if somebody has set that it does, None if nothing
    of the folder tells. It takes virtual `environments` for tests, or does not.
    """
    if folder.name == "__pycache__":
        return "enters no folder of that name: rename it"
    if any(fnmatch(folder.name, pattern) for pattern in patterns):
        own = _OWN_PATTERN in patterns
        return "enters no folder of that name: rename it, or set norecursedirs in an ini file" if own else ""
    marks = () if environments else (mark for mark in _ENVIRONMENT if (folder / mark).is_file())
    if mark := next(iter(marks), ""):
        return (
            f"takes it for a virtual environment, as {mark} lies there: remove that, or say "
            "--collect-in-virtualenv"
        )
    return None


def is_plain(name: str) -> bool:
    """Return whether the name of a file or folder may stand in the log of a job, where pytest prints it."""
    return one_line(name) == name


def not_plain_text(path: Path) -> str:
    """Return why suites of such a name are refused."""
    return one_line(f"{path}: this name is not plain text in UTF-8, or steers who runs a job: rename it")


def has_suites(folder: Path, root: Path, suites: list[str]) -> bool:
    """Return whether there are suites in a folder, or in one that a link in it leads to within the repository
    of the project at `root`.
    """
    files = _files_below(folder, (repository_of(root) or root, folder))
    return any(path.suffix in SUFFIXES and is_suite(path, suites) for path in files)


def _files_below(folder: Path, within: Collection[Path]) -> Iterator[Path]:
    """Yield the files below a folder, through links to others `within` these, each folder once; none of what
    is installed, as iogate itself brings suites.

    A link that leads out, as a stranger's may, is not followed: it would name files of anybody, for hours.
    """
    seen: set[str] = set()
    ours = [os.path.realpath(place) for place in within]
    for place, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        leads_out = not any(Path(real).is_relative_to(each) for each in ours)
        if leads_out or real in seen or os.path.basename(place) == "site-packages":
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        yield from (Path(place, name) for name in sorted(files))


def passed_over(folder: Path, root: Path, why: str) -> str:
    """Return a sentence for a folder of suites that pytest passes over."""
    return f"{shown(folder, root)} has suites, and pytest {why}"


def without_collection(folder: Path, root: Path, name: str, kind: str, *, hidden: bool) -> str:
    """Return a sentence for the baselines of a suite, or of a module of tests, as `kind` says, that pytest
    did not take for one, or that somebody has `hidden` from it.
    """
    file = shown(folder / f"{name}.yaml", root)
    what, whose, options = _PASSED_OVER[kind]
    if hidden:
        return (
            f"{file}: stored baselines of {what} that a conftest.py or a plugin leaves out without a word "
            "(collect_ignore, pytest_ignore_collect): say --ignore where they are not wanted"
        )
    return (
        f"{file}: stored baselines of {what} that pytest passes over, for the name of {whose} folder: "
        f"rename it, or set {options} in an ini file (or a pyvenv.cfg lies there)"
    )


def unmeasured(folder: Path, root: Path, suite: str, names: Sequence[str]) -> str:
    """Return a sentence for the baselines of a test in Python that passed without them."""
    file = shown(folder / f"{suite}.yaml", root)
    what = "what its test did not measure, or holds `against` others"
    return f"{file}: stored baselines of {what}: {', '.join(names)}"


def skipped_text(id: str, verdict: Verdict) -> str:
    """Return a sentence for a workload that was decided, and whose test was skipped then."""
    reason = verdict.reason.partition("\n")[0]
    return (
        f"{id}: {verdict.verdict}, and its test was skipped once it was measured, so nothing failed: {reason}"
    )


def not_run_text(id: str, verdict: Verdict) -> str:
    """Return a sentence for a workload that was decided, and whose test was not run."""
    reason = verdict.reason.partition("\n")[0]
    return f"{id}: {verdict.verdict}, and a hook (pytest_runtest_protocol) did not run its test: {reason}"


def not_kept_text(names: Sequence[str]) -> str:
    """Return which workloads became no baseline, as their tests were not set up."""
    return _filled(
        f"not kept as a baseline, as the set-up of their tests failed or skipped them: {', '.join(names)}"
    )


def without_suite(folder: Path, root: Path, exists: Callable[[str], bool]) -> Iterator[str]:
    """Yield a sentence for each baseline file in a device's folder of which there is neither a suite nor a
    test module, as `exists` tells of a name.
    """
    for suite in stored_suites(folder, root):
        if not exists(suite):
            file = shown(folder / f"{suite}.yaml", root)
            yield f"{file}: stored baselines of a suite that does not exist"


def misnamed(folder: Path, root: Path) -> Iterator[str]:
    """Yield a sentence for each file in a device's folder that nothing reads for its name alone."""
    for path in sorted(_files_below(folder, (repository_of(root) or root, folder.parent))):
        if path.suffix == ".yml" and not path.name.startswith(_OF_OTHERS):
            right = path.with_suffix(".yaml").name
            yield f"{shown(path, root)}: nothing reads it, as baselines end in .yaml: rename it to {right}"


def stored_suites(folder: Path, root: Path) -> Iterator[str]:
    """Yield what the suites and modules of tests are called that have baselines in a device's folder: in the
    project at `root`, or where else all baselines lie.
    """
    for path in sorted(_files_below(folder, (repository_of(root) or root, folder.parent))):
        if path.suffix != ".yaml":
            continue
        suite = path.relative_to(folder).with_suffix("").as_posix()
        if suite != "device" and not path.name.startswith(_OF_OTHERS):
            yield suite


def implicit(named: bool, baselines: Path, ini: Path | None) -> Iterator[str]:
    """Yield what nobody has said, and is assumed: the device unless it is `named`, the project's root."""
    if not named:
        yield "no --device is named: this machine is taken as local"
    if not baselines.is_dir():
        root = f"the root is that of {ini.name}" if ini else "no ini file says where the root is"
        yield f"there is no folder {baselines} yet ({root})"


def recorded_text(count: int) -> Iterator[str]:
    """Yield how many workloads were recorded for want of a baseline."""
    yield f"{plural(count, 'workload')} had no baseline and {'was' if count == 1 else 'were'} recorded"


def warnings_text(gaps: Sequence[str]) -> str:
    """Return warnings for the end of a run."""
    lines = [_filled(f"warning: {gap}") for gap in gaps]
    return "\n".join([*lines, "(--io-strict makes errors of these warnings)"])


def refusal_text(gaps: Sequence[str]) -> str:
    """Return why a strict run is not begun."""
    return no_commands("\n  ".join(["--io-strict refuses this run:", *gaps]))


def _filled(text: str) -> str:
    """Return a sentence on lines that people can read; paths stay whole."""
    lines = textwrap.wrap(
        one_line(text), _WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )
    return "\n".join(lines)
