"""The machine: what it is, what runs on it, and in which state it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from iogate.host import sysfs
from iogate.host.control_group import cpu_limit, memory_limit
from iogate.host.environment.files import fields, hottest, lines, number, words
from iogate.units import format_duration


def identity(root: Path) -> dict[str, str]:
    """Return what it is, by its device tree (Arm) or its firmware (DMI). Serial numbers may be for root
    only.
    """
    tree, dmi = root / "proc/device-tree", root / "sys/class/dmi/id"
    return {
        "machine": sysfs.text(tree / "model") or words(dmi / "sys_vendor", dmi / "product_name"),
        "board": words(dmi / "board_vendor", dmi / "board_name"),
        "serial": words(tree / "serial-number")
        or words(dmi / "product_serial")
        or words(dmi / "board_serial"),
        "cpu": _cpu(root),
        "cores": _cores(root / "sys/devices/system/cpu/present"),
        "memory": _memory(root),
    }


def _cpu(root: Path) -> str:
    """Return the processor's name; Arm has it in the device tree, and only numbers in /proc/cpuinfo."""
    facts = fields(root / "proc/cpuinfo")
    if "model name" in facts:
        return facts["model name"]
    for node in sysfs.paths(root / "proc/device-tree/cpus", "cpu@*"):
        if name := sysfs.text(node / "compatible"):
            return name
    parts = [f"{key} {facts[key]}" for key in ("CPU implementer", "CPU part") if key in facts]
    return ", ".join(parts)


def _cores(file: Path) -> str:
    """Return how many processors a list such as `0-3,6-7` names."""
    count = 0
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", sysfs.text(file)):
        count += int(last or first) - int(first) + 1
    return str(count) if count else ""


def _memory(root: Path) -> str:
    kibibytes = re.match(r"\d+", fields(root / "proc/meminfo").get("MemTotal", ""))
    return f"{max(1, round(int(kibibytes[0]) / 2**20))} GiB" if kibibytes else ""


def subject(root: Path) -> dict[str, str]:
    """Return what runs on it: kernel and image (os-release(5), NVIDIA's nv_tegra_release)."""
    release = {
        key: value.strip("\"'")
        for key, _, value in (line.partition("=") for line in lines(root / "etc/os-release"))
    }
    image = (release.get("IMAGE_ID", ""), release.get("IMAGE_VERSION", "") or release.get("BUILD_ID", ""))
    return {
        "kernel": sysfs.text(root / "proc/sys/kernel/osrelease"),
        "kernel_build": sysfs.text(root / "proc/sys/kernel/version"),
        "os": release.get("PRETTY_NAME", ""),
        "image": " ".join(filter(None, image)),
        "jetson_linux": sysfs.text(root / "etc/nv_tegra_release").split("\n")[0].lstrip("# "),
    }


def state(root: Path) -> dict[str, str]:
    """Return what may explain its speed: frequencies, temperature, load, what control groups allow."""
    policies = sysfs.paths(root / "sys/devices/system/cpu/cpufreq", "policy*")
    uptime = sysfs.text(root / "proc/uptime").split()
    return {
        "governor": ", ".join(
            sorted({sysfs.text(policy / "scaling_governor") for policy in policies} - {""})
        ),
        "cpu_frequency": _megahertz(policies[:1], "scaling_cur_freq"),
        "cpu_frequency_limit": _megahertz(policies, "scaling_max_freq"),
        "cores_online": _cores(root / "sys/devices/system/cpu/online"),
        **_limits(root),
        "power_mode": _power_mode(root),
        "load": " ".join(sysfs.text(root / "proc/loadavg").split()[:1]),
        "temperature": hottest(sysfs.paths(root / "sys/class/thermal", "thermal_zone*/temp")),
        "uptime": format_duration(float(uptime[0])) if uptime and number(uptime[0]) else "",
    }


def _limits(root: Path) -> dict[str, str]:
    """Return what control groups allow of processors and memory; nothing on a kernel without them."""
    if not sysfs.text(root / "proc/self/cgroup"):
        return {}
    cpus, memory = cpu_limit(root), memory_limit(root)
    return {
        "cpu_limit": f"{cpus.cpus:.3g} CPUs" if cpus else "none",
        "memory_limit": f"{memory / 2**30:.3g} GiB" if memory else "none",
    }


def boot(root: Path) -> str:
    """Return what changes when it is started anew: a digest, as the kernel's own id is a secret to others
    (`iogate.report.origin`).
    """
    known = sysfs.text(root / "proc/sys/kernel/random/boot_id")
    return sha256(known.encode()).hexdigest()[:12] if known else ""


def _megahertz(policies: Iterable[Path], name: str) -> str:
    """Return the highest of the policies' frequencies. Only one is asked where the kernel has to measure
    it.
    """
    values = [int(text) for policy in policies if (text := sysfs.text(policy / name)).isdecimal()]
    return f"{max(values) / 1000:.0f} MHz" if values else ""


def _power_mode(root: Path) -> str:
    """Return NVIDIA's power model (nvpmodel) on a Jetson, elsewhere ACPI's platform profile."""
    mode = re.search(r"pmode:0*(\d+)", sysfs.text(root / "var/lib/nvpmodel/status"))
    if not mode:
        return sysfs.text(root / "sys/firmware/acpi/platform_profile")
    pattern = rf"POWER_MODEL\s+ID={mode[1]}\s+NAME=(\S+)"
    name = next((m[1] for line in lines(root / "etc/nvpmodel.conf") if (m := re.search(pattern, line))), "")
    return " ".join(filter(None, (mode[1], name)))
