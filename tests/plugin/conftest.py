"""A project of its own for each test, with a fake engine."""

import importlib
import importlib.metadata
import os
import pkgutil
import shutil
from functools import cache
from pathlib import Path

import numpy  # noqa: F401  # pytester forgets what a run imports, and numpy cannot be imported twice
import pytest
import rich.cells  # noqa: F401  # what each run would import again
import tabulate  # noqa: F401  # likewise
import yaml  # noqa: F401  # its C loader, imported twice, knows no tags

import iogate
from places import PLUGINS
from projects import WITHOUT_OTHERS, Project
from silence import LAB

ENGINES = str(Path(__file__).parent / "engines")

# Else each run imports them again, which is half of its time.
for module in pkgutil.walk_packages(iogate.__path__, "iogate."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

_read_installed = importlib.metadata.PathDistribution.read_text


@cache
def _installed(path: str, name: str) -> str | None:
    return _read_installed(importlib.metadata.PathDistribution(Path(path)), name)


# Each run asks what is installed for plugins, and for what they consist of: a quarter of its time.
importlib.metadata.PathDistribution.read_text = lambda self, name: _installed(str(self._path), str(name))

SUITE = """\
defaults: {engine: fake}
workloads:
  alpha: {value: 1000}
  beta: {value: 2000, markers: [slow]}
"""


class InProcess(Project):
    """A project whose tests run in this process: it starts with a suite of two workloads."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(pytester.path)
        self.pytester = pytester
        self._monkeypatch = monkeypatch
        for variable in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
            monkeypatch.delenv(variable)  # pytest-benchmark does nothing where they are
        monkeypatch.setenv("PYTEST_ADDOPTS", WITHOUT_OTHERS)
        self.suite(SUITE)

    def run(self, *arguments: str, factor: float = 1.0) -> pytest.RunResult:
        """Run pytest on a device `factor` times as fast as its baseline."""
        self._monkeypatch.setenv("IOGATE_FAKE_FACTOR", str(factor))
        return self.pytester.runpytest_inprocess("-p", "iogate.plugin", *arguments)

    def run_apart(self, *arguments: str, factor: float = 1.0) -> pytest.RunResult:
        """Run pytest in a process of its own, for plugins that leave something behind in theirs."""
        self._monkeypatch.setenv("IOGATE_FAKE_FACTOR", str(factor))
        self._monkeypatch.setenv("PYTHONPATH", os.pathsep.join([ENGINES, str(PLUGINS)]))
        return self.pytester.runpytest_subprocess("-p", "iogate.plugin", *arguments)


@pytest.fixture(autouse=True)
def _fake_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package of engines: its entry points lie beside its modules."""
    monkeypatch.syspath_prepend(ENGINES)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> InProcess:
    (tmp_path / "locks").mkdir()  # its own: other runs on this disk are not to be waited for
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "locks"))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)  # where these tests may run
    monkeypatch.setattr("iogate.target.rest._noted", list)  # devices rest between runs
    return InProcess(pytester, monkeypatch)


@pytest.fixture
def lab(project: InProcess, tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    """A project with the baseline of a device, which each process of the tests records once."""
    recorded = tmp_path_factory.getbasetemp() / "recorded"
    if recorded.is_dir():
        shutil.copytree(recorded, project.path, symlinks=True, dirs_exist_ok=True)
        return project
    project.device("lab", LAB)
    project.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=2)
    shutil.copytree(project.path, recorded, symlinks=True)
    return project
