"""Packages of others, as pip installs them: a wheel by hand, since no build backend need be there."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest


def install(folder: Path, name: str, modules: Mapping[str, str], entry_points: str) -> Path:
    """Install a package of these modules (file names to code) and return the folder for PYTHONPATH."""
    if subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, check=False
    ).returncode:
        pytest.skip("needs pip")
    module = name.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    files = {
        **modules,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points,
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    folder.mkdir()
    wheel = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    where = folder / "site"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--no-deps", "--no-index", f"--target={where}", str(wheel)], check=True)
    return where
