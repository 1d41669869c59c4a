"""The machine beside the disk: CPU time, frequency governor, heat, power."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from iogate.host import sysfs
from iogate.host.control_group import CpuLimit, cpu_limit

# What cpufreq_cooling.c calls a processor's: thermal-cpufreq-0 before Linux 5.13, then cpufreq-cpu0.
_COOLING = re.compile(r"(thermal-)?cpufreq-|Processor|cpu-|.*throttle", re.IGNORECASE)


@dataclass(frozen=True)
class System:
    """One reading of the machine.

    `busy`, `stolen` and `ticks` are CPU time of all cores in ticks (stolen: given by the hypervisor to
    others). `governors` and `drivers` are those in use; `capped` is the lowest allowed share of the top
    frequency. `throttles` counts thermal events so far; `cooling` names what is being slowed right now; `hot`
    the sensors at their passive trip point, with °C and that point. `power` lists whatever limits the
    machine's power. `memory` is in bytes (0: not known). `limit` is what control groups allow of the
    processor (None: all of it).
    """

    busy: int = 0
    stolen: int = 0
    ticks: int = 0
    governors: frozenset[str] = frozenset()
    drivers: frozenset[str] = frozenset()
    capped: float = 1.0
    throttles: int = 0
    cooling: tuple[str, ...] = ()
    hot: tuple[tuple[str, float, float], ...] = ()
    power: tuple[str, ...] = ()
    memory: int = 0
    limit: CpuLimit | None = None


def system(root: Path = Path("/")) -> System:
    """Read the machine below `root`; what is missing keeps its default."""
    busy, stolen, ticks = _cpu_times(root)
    policies = root / "sys/devices/system/cpu/cpufreq"
    folders = [policies / name for name in sysfs.names(policies) if name.startswith("policy")]
    return System(
        busy=busy,
        stolen=stolen,
        ticks=ticks,
        governors=frozenset(filter(None, (sysfs.text(folder / "scaling_governor") for folder in folders))),
        drivers=frozenset(filter(None, (sysfs.text(folder / "scaling_driver") for folder in folders))),
        capped=min((_share(folder) for folder in folders), default=1.0),
        throttles=_throttles(root),
        cooling=_cooling(root),
        hot=_hot(root),
        power=tuple(filter(None, (_nvpmodel(root), _profile(root), _battery(root)))),
        memory=_memory(root),
        limit=cpu_limit(root),
    )


def _cpu_times(root: Path) -> tuple[int, int, int]:
    """Return Busy, stolen and all ticks: the first line of /proc/stat, proc_stat(5). Guest time is within
    user.
    """
    fields = sysfs.text(root / "proc/stat").split("\n", 1)[0].split()
    if len(fields) < 9 or fields[0] != "cpu" or not all(part.isdecimal() for part in fields[1:9]):
        return 0, 0, 0
    user, nice, kernel, idle, waiting, hard, soft, stolen = map(int, fields[1:9])
    busy = user + nice + kernel + hard + soft
    return busy, stolen, busy + stolen + idle + waiting


def _memory(root: Path) -> int:
    """Return what the kernel can use: MemTotal of /proc/meminfo, proc_meminfo(5)."""
    match = re.search(r"^MemTotal:\s*(\d+) kB$", sysfs.text(root / "proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def _share(policy: Path) -> float:
    """Return the allowed share of a core's top frequency."""
    allowed, top = sysfs.number(policy / "scaling_max_freq"), sysfs.number(policy / "cpuinfo_max_freq")
    return allowed / top if allowed and top else 1.0


def _throttles(root: Path) -> int:
    """Return thermal events of all x86 cores and of the first package."""
    cpus = root / "sys/devices/system/cpu"
    if not (cpus / "cpu0/thermal_throttle").exists():
        return 0
    cores = [cpus / name for name in sysfs.names(cpus) if re.fullmatch(r"cpu\d+", name)]
    events = [sysfs.number(core / "thermal_throttle/core_throttle_count") for core in cores]
    return sum(filter(None, [*events, sysfs.number(cpus / "cpu0/thermal_throttle/package_throttle_count")]))


def _cooling(root: Path) -> tuple[str, ...]:
    """Return the cooling devices that slow the processor right now."""
    thermal = root / "sys/class/thermal"
    found = []
    for name in sysfs.names(thermal):
        if name.startswith("cooling_device"):
            kind = sysfs.text(thermal / name / "type")
            if _COOLING.match(kind) and (sysfs.number(thermal / name / "cur_state") or 0) > 0:
                found.append(kind)
    return tuple(found)


def _hot(root: Path) -> tuple[tuple[str, float, float], ...]:
    """Return the thermal zones at or above the point where the kernel begins to slow the machine (passive,
    hot).
    """
    thermal = root / "sys/class/thermal"
    found = []
    for name in sysfs.names(thermal):
        if name.startswith("thermal_zone"):
            zone = thermal / name
            trips = [trip for trip in (_trip(zone, file) for file in sysfs.names(zone)) if trip]
            now = sysfs.number(zone / "temp") if trips else None
            if now is not None and now >= min(trips):
                found.append((sysfs.text(zone / "type") or name, now / 1000, min(trips) / 1000))
    return tuple(found)


def _trip(zone: Path, file: str) -> int | None:
    match = re.fullmatch(r"trip_point_(\d+)_type", file)
    if not match or sysfs.text(zone / file) not in {"passive", "hot"}:
        return None
    point = sysfs.number(zone / f"trip_point_{match[1]}_temp")
    return point if point and point > 0 else None


def _nvpmodel(root: Path) -> str:
    """Return the power mode of a Jetson, unless it is the unlimited one (MAXN is 0 on all but the oldest)."""
    match = re.search(r"pmode:0*(\d+)", sysfs.text(root / "var/lib/nvpmodel/status"))
    if not match or match[1] == "0":
        return ""
    known = sysfs.text(root / "etc/nvpmodel.conf")
    name = re.search(rf"<\s*POWER_MODEL\s+ID={match[1]}\s+NAME=(\S+?)\s*>", known)
    if name and name[1].upper().startswith("MAXN"):
        return ""
    return f"nvpmodel mode {match[1]}" + (f" ({name[1]})" if name else "")


def _profile(root: Path) -> str:
    profile = sysfs.text(root / "sys/firmware/acpi/platform_profile")
    return f"platform profile {profile}" if profile in {"low-power", "quiet", "cool"} else ""


def _battery(root: Path) -> str:
    supplies = root / "sys/class/power_supply"
    folders = [supplies / name for name in sysfs.names(supplies)]
    discharging = any(
        sysfs.text(folder / "type") == "Battery"
        and sysfs.text(folder / "scope") != "Device"
        and sysfs.text(folder / "status") == "Discharging"
        for folder in folders
    )
    return "on battery" if discharging else ""
