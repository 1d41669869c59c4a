"""What the engine `memory` has to know of the machine: its caches, its CPUs, and how much memory is free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from iogate.engines.common.cpus import allowed_cpus, check_pinned, numbers_of
from iogate.errors import EngineError
from iogate.host import sysfs
from iogate.host.control_group import memory_limit
from iogate.units import parse_size

_LINE = 64


def cache_size(root: Path = Path("/")) -> int:
    """Return bytes of all caches from the second level on, each counted once; 0 if the machine does not say.

    All of them, for where the last level is not inclusive the levels add up, and each part of a large
    processor has a last level of its own.
    """
    found: dict[tuple[str, str, str], int] = {}
    for folder in root.glob("sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*"):
        level, kind, shared, size = map(sysfs.text, (folder / name for name in _CACHE_FILES))
        if level.isdecimal() and int(level) > 1 and kind != "Instruction" and re.fullmatch(r"\d+[KMG]", size):
            found[level, kind, shared] = parse_size(size)
    return sum(found.values())


_CACHE_FILES = ("level", "type", "shared_cpu_list", "size")


def cache_line(root: Path = Path("/")) -> int:
    """Return bytes of a cache line: 64 where the machine does not say."""
    text = sysfs.text(root / "sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size")
    return int(text) if text.isdecimal() and int(text) >= _LINE else _LINE


def choose_cpus(pin: str | None, threads: int | None, root: Path = Path("/")) -> list[int]:
    """Return the CPU that measures the latency and, behind it, those of the load.

    Unless `pin` names them, the load runs on all CPUs but the first one's core. Raises EngineError if there
    are too few.
    """
    if pin is not None:
        chosen = numbers_of(pin)
        check_pinned(chosen)
    else:
        allowed = allowed_cpus()
        core = _core(allowed[0], root)
        chosen = [allowed[0], *(cpu for cpu in allowed if cpu not in core)]
    wanted = len(chosen) - 1 if threads is None else threads
    if not 1 <= wanted < len(chosen):
        raise EngineError(
            f"latency under load takes one CPU for the latency and {max(wanted, 1)} for the load; there are "
            f"{len(chosen)} to choose from",
            remedy="fewer threads, other CPUs (pin), or a machine of more cores",
        )
    return chosen[: wanted + 1]


def _core(cpu: int, root: Path) -> set[int]:
    """Return the CPUs of the core that this one belongs to: hardware threads share its caches and its
    width.
    """
    try:
        siblings = sysfs.text(root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        return {cpu, *numbers_of(siblings)}
    except ValueError:
        return {cpu}


def free_memory(root: Path = Path("/")) -> int | None:
    """Return bytes that a program may allocate: what is available, within the limits of its control groups;
    None if not known.
    """
    return min(_limits(root), default=None)


def _limits(root: Path) -> Iterator[int]:
    match = re.search(r"^MemAvailable:\s+(\d+) kB", sysfs.text(root / "proc/meminfo"), re.MULTILINE)
    if match:
        yield int(match[1]) * 1024
    limit = memory_limit(root)
    if limit is not None:
        yield limit


def has_huge_pages(size: int, root: Path = Path("/")) -> bool:
    """Return whether `size` bytes of huge pages can be had: transparent ones, or as many reserved ones."""
    transparent = sysfs.text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    if transparent and "[never]" not in transparent:
        return True
    meminfo = dict(re.findall(r"^(\w+):\s+(\d+)", sysfs.text(root / "proc/meminfo"), re.MULTILINE))
    return int(meminfo.get("HugePages_Free", 0)) * int(meminfo.get("Hugepagesize", 0)) * 1024 >= size > 0
