"""Packages as pip installs them: our own, and those of others by hand, as no build backend need be there."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from places import ROOT


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


def build(folder: Path) -> Path:
    """Build iogate's own wheel of this checkout, without network."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel"]
    argv = [*pip, "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}", str(ROOT)]
    subprocess.run(argv, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(folder: Path, wheel: Path) -> Path:
    """Make an environment with a wheel in it, and return its programs; ours lends what the wheel needs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib"))
    programs = folder / "bin"
    for name in ("pip", "pytest"):
        (programs / name).write_text(f'#!/bin/sh\nexec "{programs}/python" -m {name} "$@"\n')
        (programs / name).chmod(0o755)
    install = ["install", "--quiet", "--ignore-installed", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([programs / "pip", *install], check=True)
    return programs
