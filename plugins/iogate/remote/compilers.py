"""Compiling here what runs elsewhere: for the same kind of machine, or with a cross compiler."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from iogate import engines
from iogate.errors import EngineError
from iogate.host.native import FLAGS, compiled_by
from iogate.units import printable

_COMPILERS = {
    "aarch64": ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    "armv7l": ("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"),
    "riscv64": ("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"),
    "x86_64": ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"),
}


def compiled_for(machine: str, name: str) -> bytes:
    """Return the program that the C file of an engine (`reader/reader.c`) makes for a kind of machine, on its
    own: it needs no libraries there. Raises EngineError.
    """
    folder = Path(engines.__file__).parent
    source = folder / name
    if source not in folder.glob("*/*.c"):
        raise EngineError(f"{printable(name)} is no program of an engine")
    return compiled_by(_compiler(machine), source, (*FLAGS, "-static"))


def _compiler(machine: str) -> str:
    compiler, package = _COMPILERS.get(machine, ("", ""))
    if machine == platform.machine() and shutil.which("cc"):
        return "cc"
    if compiler and shutil.which(compiler):
        return compiler
    raise EngineError(
        f"there is no C compiler there, and none here for {printable(machine)}",
        remedy=f"install one there (gcc, libc6-dev), or {package or 'a cross compiler'} here",
    )
