"""A project of its own for each test, with a fake engine."""

from pathlib import Path

import numpy  # noqa: F401  # pytester forgets what a run imports, and numpy cannot be imported twice
import pytest
import yaml  # noqa: F401  # its C loader, imported twice, knows no tags

ENGINES = str(Path(__file__).parent / "engines")

SUITE = """\
defaults: {engine: fake}
workloads:
  alpha: {value: 1000}
  beta: {value: 2000, markers: [slow]}
"""


class Project:
    """A project that has nothing but suites and baselines, and pytest to run it with."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self._monkeypatch = monkeypatch
        (self.path / "pytest.ini").write_text("[pytest]\n")
        self.suite(SUITE)

    def suite(self, text: str, name: str = "demo") -> Path:
        """Write a suite."""
        path = self.path / "suites" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def device(self, name: str, text: str) -> Path:
        """Write a device's profile."""
        path = self.path / "baselines" / name / "device.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *arguments: str, factor: float = 1.0) -> pytest.RunResult:
        """Run pytest in this process, on a device `factor` times as fast as its baseline."""
        self._monkeypatch.setenv("IOGATE_FAKE_FACTOR", str(factor))
        return self.pytester.runpytest_inprocess("-p", "iogate.plugin", *arguments)

    def baseline(self, device: str = "local", suite: str = "demo") -> Path:
        """Where the baseline of a suite is."""
        return self.path / "baselines" / device / f"{suite}.yaml"


@pytest.fixture(autouse=True)
def _fake_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package of engines: its entry points lie beside its modules."""
    monkeypatch.syspath_prepend(ENGINES)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(pytester, monkeypatch)
