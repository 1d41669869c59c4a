"""The project: the folder with suites and baselines, found from a suite and not from where one stands.

A suite is called what its path below the suites' folder is, without its suffix: `quick`, `nightly/quick`.
Its baseline has the same path below the device's folder, so that no two suites share one.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iogate.errors import InputError, IogateError
from iogate.formats.reading import Held, is_hidden, read_at_once
from iogate.units import printable

BASELINES = "baselines"
SUITES = "suites"
SUFFIXES = (".yaml", ".yml")
_MARKS = (
    *(".git", "pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
_LARGEST_MODULE = 2**24
_LOCAL = "local"  # the device that needs no profile
_PROFILE = "device"  # of baselines/<device>/device.yaml


@dataclass(frozen=True)
class Project:
    """Where suites and baselines lie: `root`, and the `folders` below it that hold its suites, as do those of
    their names further below: several services of a repository may have their baselines at its top.
    """

    root: Path
    folders: tuple[str, ...] = (SUITES,)

    @property
    def baselines(self) -> Path:
        """Where baselines lie, unless the user says otherwise."""
        return self.root / BASELINES

    def has(self, name: str) -> bool:
        """Return whether there is a suite or a module of tests of that name."""
        return self.suite(name) is not None or self.module(name) is not None

    def suite(self, name: str) -> Path | None:
        """Return the suite of that name, if there is one."""
        return next(self._called(name), None)

    def module(self, name: str) -> Path | None:
        """Return the module of tests of that name, if there is one."""
        return next(self._modules(name), None)

    def suites(self, patterns: Iterable[str]) -> set[str]:
        """Return the names of the suites that match these patterns, which begin at the root. Raises
        InputError.
        """
        return {self._name(path) for path in self._matching(patterns) if path.is_file()}

    def leading_nowhere(self, patterns: Iterable[str]) -> list[Path]:
        """Return what matches these patterns and is a link to what is not there. Raises InputError."""
        return sorted(path for path in self._matching(patterns) if path.is_symlink() and not path.exists())

    def _matching(self, patterns: Iterable[str]) -> list[Path]:
        try:
            return [path for pattern in patterns for path in self.root.glob(pattern)]
        except OSError as error:  # a folder is gone by now
            raise InputError(printable(f"cannot look for suites in {self.root}: {error.strerror}")) from error

    def holds(self, suite: Path) -> bool:
        """Return whether a file, or a folder, lies in one of the folders of suites, or is one. Baselines do
        not, which lie in folders of the same names.
        """
        path = _absolute(suite)
        within = path.is_relative_to(self.root) and not is_baseline(path, self.baselines)
        return within and self._is_below_suites(f"{path.relative_to(self.root).as_posix()}/")

    def name(self, file: Path) -> str:
        """Return what a suite, or a module of tests, is called: `nightly/quick` of
        `suites/nightly/quick.yaml`.

        Raises InputError where another file has the same name, where it would be a device's profile, or if
        the file lies outside the project.
        """
        path = _absolute(file)
        name = self._name(path)
        if path.stem == _PROFILE:
            raise InputError(
                f"{printable(str(path))}: a suite cannot be called {_PROFILE!r}: its baseline would take the "
                "place of a device's profile",
                remedy="rename the suite",
            )
        modules = filter(may_measure, self._modules(name)) if path.suffix == ".py" else ()
        rival = next((file for file in (*self._called(name), *modules) if file != path), None)
        if rival:
            raise InputError(
                printable(f"{path} and {rival} are both called {name!r}, and would share a baseline"),
                remedy="rename one of them",
            )
        return name

    def _name(self, path: Path) -> str:
        for folder in self._folders():
            if path.is_relative_to(folder):
                return path.relative_to(folder).with_suffix("").as_posix()
        raise InputError(
            printable(f"{path} lies outside the project {self.root}, so its baselines have no place there"),
            remedy="run it from its own project, or say --rootdir",
        )

    def _folders(self) -> Iterator[Path]:
        """Yield the folders of suites, those within others first; the root comes last."""
        yield from sorted((self.root / folder for folder in self.folders), key=lambda one: -len(one.parts))
        yield self.root

    def _called(self, name: str) -> Iterator[Path]:
        """Yield every file that is a suite of that name."""
        holders = [self.root / folder for folder in self.folders]
        for holder in [*holders, self.root] if self._is_below_suites(name) else holders:
            for file in (holder / f"{name}{suffix}" for suffix in SUFFIXES):
                if file.is_file() and self._name(file) == name:
                    yield file

    def _modules(self, name: str) -> Iterator[Path]:
        """Yield every file that, as a module of tests, has that name."""
        for file in (folder / f"{name}.py" for folder in self._folders()):
            if file.is_file() and self._name(file) == name:
                yield file

    def _is_below_suites(self, path: str) -> bool:
        """Return whether a path that begins at the root goes through a folder of suites."""
        return any(f"/{folder}/" in f"/{path}" for folder in self.folders)


def is_baseline(path: Path, baselines: Path) -> bool:
    """Return whether a file, or a folder, lies among those of a device in a folder of `baselines`, which may
    be one that has suites, too. What is kept of `svc/suites/s.yaml` lies in folders of the same names.
    """
    if not path.is_relative_to(baselines) or path == baselines:
        return False
    device = baselines / path.relative_to(baselines).parts[0]
    return device.name == _LOCAL or os.path.isfile(device / f"{_PROFILE}.yaml")


def may_measure(module: Path) -> bool:
    """Return whether tests of a module may measure: others have no baseline that could be another's."""
    try:
        return b"measure" in read_at_once(module, _LARGEST_MODULE)
    except OSError:
        return True


def has_all_of(module: Path, tests: Iterable[str]) -> bool:
    """Return whether functions or classes of all these names stand in a module."""
    try:
        text = read_at_once(module, _LARGEST_MODULE)
    except OSError:
        return True
    return all(re.search(rb"\b(?:def|class)\s+%b\b" % re.escape(test).encode(), text) for test in tests)


def require_within(place: Path, root: Path) -> None:
    """Raise InputError if symbolic links lead a place in a project out of it, as those of a stranger's
    repository may.
    """
    try:
        real = os.path.realpath(place)
    except OSError as error:  # a link that is a folder by now
        raise InputError(printable(f"somebody changes the way to {place}: nothing is made there")) from error
    if not Path(real).is_relative_to(os.path.realpath(root)):
        raise InputError(
            printable(f"a symbolic link leads {place} out of the project, to {real}: nothing is made there"),
            remedy="remove the link, or make the project where it leads to",
        )


@contextlib.contextmanager
def hide_what_lies_elsewhere(root: Path, suite: Path, file: Held, shown: str) -> Iterator[None]:
    """Tell mistakes of a suite without its text if a link, as in a stranger's repository, leads it out of the
    project, or to what is hidden there (`.env`, `.git/config`). Raises InputError instead of what is raised
    within.
    """
    try:
        yield
    except IogateError:
        if _may_be_shown(root, suite, file):
            raise
        raise InputError(
            printable(
                f"{shown}: a link leads to {file.real}, and that is no suite without mistakes; what it says "
                "is not shown"
            ),
            remedy="put the file itself there; run where it lies, its mistakes are shown",
        ) from None


def _may_be_shown(root: Path, suite: Path, file: Held) -> bool:
    """Return whether a suite lies in its project: where that is, is told by the folder that is held, as its
    name may lead elsewhere by now.
    """
    if not _absolute(suite).is_relative_to(_absolute(root)):
        return False
    below = _absolute(suite).parent.relative_to(_absolute(root)).parts
    real = file.folder.parts[: len(file.folder.parts) - len(below)]
    if (*real, *below) != file.folder.parts or not file.real.is_relative_to(Path(*real)):
        return False
    return file.real == file.folder / suite.name or not is_hidden(file.real.relative_to(Path(*real)))


def folders_of(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the folders with which patterns of suites begin: `suites` of `suites/**/*.yaml`."""
    found = []
    for pattern in patterns:
        *folders, _ = Path(pattern).parts or ("",)
        wild = [index for index, part in enumerate(folders) if any(char in part for char in "*?[")]
        found.append("/".join(folders[: wild[0]] if wild else folders))
    return tuple(dict.fromkeys(folder for folder in found if folder)) or (SUITES,)


def find_project(start: Path, root: Path, folders: Sequence[str] = (SUITES,)) -> Project:
    """Return the project of a suite, of a folder with suites, or of a module of tests.

    It is the folder that holds the suites' folder, if baselines lie there; else the nearest one above that
    holds a device's baselines, as far as the repository or what pytest's ini file marks; else `root`, if all
    of that lies below it; else the folder that holds the suites' folder. Raises InputError if its baselines
    may be another user's, put where all may put something.
    """
    path = _absolute(start)
    found = _folder_of(path, root, folders)
    _require_own_baselines(found, path)
    return Project(found, tuple(folders))


def _folder_of(path: Path, root: Path, folders: Sequence[str]) -> Path:
    holder = _holder(path, folders)
    if holder and _is_folder(holder / BASELINES):
        return holder
    place = holder or path
    above = next((one for one in _within(place, root) if _holds_baselines(one)), None)
    if above is None:
        above = place if holder and not holder.is_relative_to(root) else root
    return above


def _require_own_baselines(project: Path, start: Path) -> None:
    """Raise InputError if a folder in which all may make something (/tmp) has baselines that are neither
    root's, nor this user's, nor of whose suites they are for: profiles there would say what is run.
    """
    try:
        if not project.stat().st_mode & stat.S_IWOTH:
            return
        owner = (project / BASELINES).lstat().st_uid
    except OSError:  # nothing is there
        return
    known = {0, os.geteuid()}
    if start != project:
        with contextlib.suppress(OSError):  # what is to be run need not be there
            known.add(start.stat().st_uid)
    if owner not in known:
        raise InputError(
            printable(f"{project / BASELINES} belongs to user {owner}, in a folder where all may write: ")
            + "it is not taken for the baselines of this project",
            remedy="move the project into a folder of its own, with its baselines/ beside its suites/",
        )


def _is_folder(path: Path) -> bool:
    """Return whether there is a folder, or a link to where nobody can look now (a dead mount), or not this
    user, which is told later.
    """
    try:
        return path.is_dir()
    except OSError:
        return True


def _holder(path: Path, folders: Sequence[str]) -> Path | None:
    """Return the nearest folder at or above a path that has it in one of its folders of suites, or has one if
    it is the path itself.
    """
    for above in (path, *path.parents):
        for folder in folders:
            suites = above / folder
            if path.is_relative_to(suites) or (above == path and suites.is_dir()):
                return above
    return None


def _within(place: Path, root: Path) -> list[Path]:
    """Return the folders from a place to the top of what it is part of: beyond lie the things of others."""
    folders = [place, *place.parents]
    for index, folder in enumerate(folders):
        if any((folder / mark).exists() for mark in _MARKS):
            return folders[: index + 1]
    return folders[: folders.index(root) + 1] if place.is_relative_to(root) else [place]


def _holds_baselines(folder: Path) -> bool:
    """Return whether a folder has baselines of iogate: a device's profile, or those of `local`."""
    baselines = folder / BASELINES
    try:
        return (baselines / _LOCAL).is_dir() or any(baselines.glob(f"*/{_PROFILE}.yaml"))
    except OSError:
        return False


def _absolute(path: Path) -> Path:
    """Return a path as it is written, from the root; links stay what they are."""
    return Path(os.path.abspath(path))
