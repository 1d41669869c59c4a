"""What a run measures, and by what: the project, its suites, and the device with its profile."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iogate.declare.project import Project, find_project, folders_of, is_baseline
from iogate.errors import InputError
from iogate.model import Device
from iogate.plugin.benches import is_elsewhere
from iogate.units import printable

if TYPE_CHECKING:
    from iogate.declare.overrides import Overrides
    from iogate.measure.settings import Settings


class Subject:
    """What is declared, on the command line, in the project and in the device's profile, before anything is
    measured.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings

    @cached_property
    def device(self) -> Device:
        """The device under test. Raises InputError if there is none of that name, or its profile is wrong, or
        forbids to record what comes first.
        """
        from iogate.declare.device import load_device

        device = load_device(self._settings.device, self._settings.baselines)
        if device.accepts == "model" and self._settings.missing == "record":
            raise InputError(
                f"--io-missing=record makes a baseline of whichever machine comes first, and {device.name} "
                "has accepts: model: all others are held against it",
                remedy="leave it out, and record a good one by --update-baselines",
            )
        return device

    @property
    def own_baselines(self) -> Path:
        """The folder of the device's baselines. Raises InputError as `device` does."""
        return self._settings.baselines / self.device.name

    @property
    def elsewhere(self) -> bool:
        """True for a device that is not this machine. Raises InputError as `device` does."""
        return is_elsewhere(self._settings, self.device)

    @property
    def missing(self) -> str:
        """What a workload without a baseline means: the command line says it, or the device's profile."""
        missing = self._settings.missing or self.device.missing
        return "fail" if self._settings.strict and missing == "record" else missing

    @property
    def header(self) -> str | None:
        """Which baselines are used, if there are any, or suites that could have some."""
        folder, suites = self._settings.baselines, (self._settings.root / name for name in self._folders)
        there = os.path.isdir(folder)  # False, too, where this user may not look, which is told later
        if not there and not any(map(os.path.isdir, suites)):
            return None
        return printable(f"iogate: baselines in {folder}" + ("" if there else " (new)"))

    def suite_of(self, file: Path) -> str:
        """Return what a suite is called. Raises InputError if another one has that name, or if it is of
        another project than this run.
        """
        root = self._settings.root
        own = find_project(file, self._config.rootpath, self._folders)
        if own.root != root:
            raise InputError(
                printable(f"{file} belongs to the project {own.root}, and this run to {root}"),
                remedy="run it alone: whose baselines it is held against would depend on where it is run",
            )
        return own.name(file)

    @property
    def project(self) -> Project:
        """The project that the suites belong to."""
        return Project(self._settings.root, self._folders)

    def is_baseline(self, file: Path) -> bool:
        """Return whether a file lies among the project's baselines, or those that are used: no suite does."""
        folders = {self.project.baselines, self._settings.baselines}
        return any(is_baseline(file, Path(os.path.abspath(folder))) for folder in folders)

    @property
    def _folders(self) -> tuple[str, ...]:
        return folders_of(self._config.getini("io_suites"))

    def overrides(self, suite: str) -> Overrides:
        """Return the engine options that the device's profile sets for a suite."""
        from iogate.declare.overrides import overrides_of

        return overrides_of(self.device, suite)

    @property
    def cli_overrides(self) -> dict[str, Any]:
        """The engine options that the command line sets."""
        given = {"size": self._settings.size, "runtime": self._settings.runtime}
        return {key: value for key, value in given.items() if value is not None}
