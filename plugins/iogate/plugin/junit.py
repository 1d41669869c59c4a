"""What pytest's JUnit file has of a session beyond the properties of its tests: the device and its
environment as properties of the whole, and the raw outputs of what failed as attachments.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import pytest
from _pytest.junitxml import xml_key

from iogate.units import one_line, printable

if TYPE_CHECKING:
    from iogate.report.results import Results, WorkloadRecord

_ATTACHMENTS = "iogate_attachments"


def note_attachments(report: pytest.TestReport, records: list[WorkloadRecord]) -> None:
    """Note in the report of a failed test the raw outputs of its last repetitions."""
    if report.failed:
        folders = [Path(record.folders[-1]) for record in records if record.folders]
        setattr(report, _ATTACHMENTS, [str(file) for folder in folders for file in _files(folder)])


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(file for file in folder.iterdir() if file.is_file() and file.stat().st_size)
    except OSError:
        return []


class JUnitNotes:
    """Writes into pytest's JUnit file, if there is to be one."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name attachments as GitLab and Jenkins' JUnit Attachments look for them: each in a line of
        `system-out`.
        """
        files = getattr(report, _ATTACHMENTS, ())
        xml = self._config.stash.get(xml_key, None)
        if xml is not None and report.failed and files:
            node = Element("system-out")
            node.text = "\n".join(one_line(f"[[ATTACHMENT|{_path(Path(file))}]]") for file in files)
            xml.node_reporter(report).append(node)

    def describe(self, results: Results | None) -> None:
        """Say what was measured with, as properties of the test suite."""
        xml = self._config.stash.get(xml_key, None)
        if xml is None or results is None:
            return
        known = {"device": results.device, "session": results.session, **results.versions}
        known |= {**results.environment.identity, **results.environment.subject}
        for name, value in known.items():
            xml.add_global_property(printable(name), printable(value))


def _path(file: Path) -> str:
    """Return a path as who shows it wants it: GitLab from the project's folder, Jenkins from the root."""
    project = os.environ.get("CI_PROJECT_DIR", "")
    return os.path.relpath(file, project) if project and file.is_relative_to(project) else str(file)
