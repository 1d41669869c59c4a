"""A clock that is set in the middle of a run: the real-time clock of some processes, and of nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def clock_of(folder: Path) -> dict[str, str]:
    """The variables of processes whose real-time clock is ahead by as many seconds as the file says that
    CLOCK_FILE names, once it is there. Skips the test where there is no compiler.
    """
    library, file = folder / "clock.so", folder / "clock"
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("needs a C compiler")
    source = Path(__file__).with_name("clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "CLOCK_FILE": str(file)}
