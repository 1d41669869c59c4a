"""Benchmarks print tables that the documentation quotes: each can be begun."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BEGIN = "import runpy, sys; sys.path[0] = 'benchmarks'; runpy.run_path(sys.argv[1], run_name='imported')"


@pytest.mark.parametrize("file", sorted(path.name for path in (ROOT / "benchmarks").glob("*.py")))
def test_a_benchmark_finds_what_it_imports(file):
    command = [sys.executable, "-c", BEGIN, f"benchmarks/{file}"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
