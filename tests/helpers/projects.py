"""A project that has nothing but suites and baselines, and the real pytest to run it with, as users do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from places import PLUGINS

SCRATCH = ".iogate-scratch-*"
OTHERS = (
    "allure_pytest",
    "html",
    "html_fixtures",
    "hypothesispytest",
    "metadata",
    "pytest_cov",
    "pytest_jsonreport",
    "random_order",
    "randomly",
    "rerunfailures",
    "reverse",
)
"""Plugins of others that are installed for tests beside them, or for our own; `-p NAME` turns one on. That of
Hypothesis alone is a third of the time in which a small suite is collected.
"""
WITHOUT_OTHERS = " ".join(f"-p no:{name}" for name in OTHERS)
"""What PYTEST_ADDOPTS is where the plugins that users have are loaded, and no others."""
_PATIENCE = 180.0  # against what hangs, however busy the machine is

RATE_LIMITED = ", fio: {rate_iops: 500}, gate: {read.iops: 90%}"
"""Options of readers that have the same figures however busy the machine is, and keep no core busy."""
BRIEF = ", runtime: 30, fio: {rate_iops: 500, io_size: 200k}, gate: {read.iops: 90%}"
"""Those of readers of a tenth of a second in several repetitions: they end by their size, as a busy machine
may let a run of that time begin as it ends.
"""

Wrapper = Callable[[Sequence[str]], list[str]]
"""What a command becomes, so that it runs elsewhere: in a cgroup."""


@dataclass(frozen=True)
class Result:
    """How a run of pytest ended: exit status, all that it said, and the results file if it wrote one."""

    status: int
    text: str
    results: dict[str, Any]
    seconds: float

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each workload."""
        return {item["workload"]: item["verdict"] for item in self.results.get("workloads", ())}

    def workload(self, name: str) -> dict[str, Any]:
        """What the results say of a workload."""
        return next(item for item in self.results["workloads"] if item["workload"] == name)


def plain(text: str) -> None:
    """What a user is told is no traceback."""
    assert "Traceback" not in text, text
    assert "INTERNALERROR" not in text, text


def refused(result: Result | pytest.RunResult, *words: str, status: int | None = None) -> None:
    """A run of pytest failed, with this status, and said these words in a plain message."""
    if not isinstance(result, Result):
        result = Result(int(result.ret), f"{result.stdout}\n{result.stderr}", {}, result.duration)
    assert result.status == status if status is not None else result.status, result.text
    for word in words:
        assert word in result.text, result.text
    plain(result.text)


everywhere = pytest.mark.parametrize("project", ["", "popen"], indirect=True, ids=["here", "there"])
"""A test of the fixture `project` that is run with its device here, and at a host."""


class Project:
    """A project in a folder of its own; locks of disks are its own, too, unless projects share `locks`."""

    def __init__(self, path: Path, python: str = sys.executable, locks: Path | None = None) -> None:
        self.path = path
        self.python = python
        # without cached byte code every start takes seconds
        strange = ("PYTEST_", "GITHUB_", "PYTHONDONTWRITEBYTECODE")
        self.environment = {key: text for key, text in os.environ.items() if not key.startswith(strange)}
        # a third of the time that a run takes to begin; tests of the plugin have both
        self.environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        self.environment["PYTEST_ADDOPTS"] = "--assert=plain"
        self.environment["PYTHONPATH"] = str(PLUGINS)
        self.environment.setdefault("XDG_STATE_HOME", str(path.parent / f"{path.name}-state"))
        self.environment["TMPDIR"] = str(locks or path / "tmp")
        self.plugin: tuple[str, ...] = ("-p", "iogate.plugin")
        self.host = ""
        """Where its device is; empty if that is here."""
        (path / "suites").mkdir(parents=True)
        (path / "tmp").mkdir()
        (path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")

    def suite(self, text: str, name: str = "demo") -> Path:
        """Write a suite."""
        file = self.path / "suites" / f"{name}.yaml"
        file.write_text(text)
        return file

    def device(self, name: str, text: str) -> Path:
        """Write a device's profile."""
        file = self.path / "baselines" / name / "device.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def baseline(self, device: str = "local", suite: str = "demo") -> Path:
        """Where the baseline of a suite is."""
        return self.path / "baselines" / device / f"{suite}.yaml"

    def conftest(self, text: str) -> None:
        """Write a conftest.py."""
        (self.path / "conftest.py").write_text(text)

    def record_at_once(self) -> None:
        """Make a baseline of one repetition, where no figure is looked at: several are none where others
        make them differ a hundredfold.
        """
        self.conftest("from iogate.judge import enough\nassert enough.ENOUGH > 1\nenough.ENOUGH = 1\n")

    def lose_patience(self) -> None:
        """Give fio up after a second instead of a minute, and kill what does not end at once."""
        self.conftest(
            "from iogate.engines.fio import engine\nfrom iogate.host import process\n"
            "assert engine._PATIENCE > 1 < process._GRACE_SECONDS\n"
            "engine._PATIENCE = 1.0\nprocess._GRACE_SECONDS = 0.5\n"
            "from iogate.host import meter\nassert meter.PATIENCE > 1\nmeter.PATIENCE = 1.0\n"
            "from iogate.target import flushing, home, layout\n"
            "assert flushing.PATIENCE > 1 < layout.PATIENCE\n"
            "assert home.PATIENCE > 1 < process._DYING_SECONDS\n"
            "process._DYING_SECONDS = home.PATIENCE = flushing.PATIENCE = layout.PATIENCE = 1.0\n"
        )

    def argv(self, *arguments: str) -> list[str]:
        """The command that runs pytest here."""
        plain = ("-p", "no:cacheprovider", "--io-json=results.json")
        host = [f"--io-host={self.host}"] if self.host else []
        return [self.python, "-m", "pytest", *self.plugin, *plain, *host, *arguments]

    def start(self, *arguments: str, wrapper: Wrapper = list) -> subprocess.Popen[str]:
        """Run pytest in a process group of its own, as a terminal does, and do not wait for it."""
        (self.path / "results.json").unlink(missing_ok=True)
        return subprocess.Popen(
            wrapper(self.argv(*arguments)),
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish(self, process: subprocess.Popen[str], patience: float = _PATIENCE) -> Result:
        """Wait for a run. It is killed, and the test fails, if it does not end in time."""
        started = time.monotonic()
        try:
            text, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
            raise AssertionError(f"pytest did not end:\n{text}") from None
        file = self.path / "results.json"
        results = json.loads(file.read_text()) if file.exists() else {}
        return Result(process.returncode, text, results, time.monotonic() - started)

    def run(self, *arguments: str, wrapper: Wrapper = list) -> Result:
        """Run pytest to its end."""
        return self.finish(self.start(*(arguments or ("suites",)), wrapper=wrapper))

    @property
    def leftovers(self) -> list[Path]:
        """Scratch folders that are there now."""
        return sorted(self.path.rglob(SCRATCH))

    def processes(self) -> list[str]:
        """Command lines of the processes that work in this project's folder, but for this one."""
        return working_in(self.path)


def working_in(folder: Path) -> list[str]:
    """Command lines of the processes whose working directory lies in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(process / "cwd")).is_relative_to(folder):
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if line:  # a zombie has none
                    found.append(f"{process.name} {line}")
        except OSError:
            continue
    return found


def need_fio() -> None:
    """Skip the test where there is no fio."""
    if not shutil.which("fio"):
        pytest.skip("needs fio")
