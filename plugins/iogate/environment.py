"""Where a session runs: what the machine is, what runs on it, and in which state it is.

Everything is read from small files of the kernel: sysfs (Documentation/ABI in the kernel's sources), proc(5)
and the device tree. What cannot be read is left out. Nothing is started and nothing is written.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from iogate.model import Environment
from iogate.units import format_duration, printable
from iogate.yamlio import nearest

IDENTITY = (
    *("machine", "board", "serial", "cpu", "cores", "memory"),
    *("disk", "disk_serial", "disk_wwid", "disk_capacity"),
)
"""The names that a device's profile can match."""

_PLACEHOLDERS = re.compile(
    r"to be filled.*|default string|system (serial number|product name|manufacturer)"
    r"|not (specified|applicable)|none|unknown|n/?a|x*|[0-]*",
    re.IGNORECASE,
)
_LONGEST = 200
_MATERIAL: Mapping[str, tuple[float, float]] = {
    # name: (absolute, relative) change that explains something; anything else differs if its text does
    "memory": (0.0, 0.10),  # what the kernel keeps for itself moves the rounded total
    "cpu_frequency": (0.0, 0.10),
    "load": (1.0, 0.0),
    "temperature": (10.0, 0.0),
    "disk_temperature": (10.0, 0.0),
    "free_space": (10.0, 0.0),
    "uptime": (float("inf"), 0.0),
}


def observe(target_number: str | None, target_path: Path, root: Path = Path("/")) -> Environment:
    """The environment of a session whose I/O goes to `target_path`.

    `target_number` is the `major:minor` of its block device; None: that of the file system which
    `target_path` is on. A target that is a block device has no file system. `root` is where /sys, /proc
    and /etc are looked for.
    """
    mount = {} if target_path.is_block_device() else _mount(target_path, root)
    disk = _disk(target_number or mount.get("number", ""), mount.get("source", ""), root)
    space = _free_space(target_path) if mount else ""
    return Environment(
        identity=_known({**_machine(root), **_disk_identity(disk)}),
        subject=_known({**_software(root), **_file_system(mount), **_disk_subject(disk)}),
        state=_known({**_state(root), **_disk_state(disk), "free_space": space}),
    )


def identity_mismatch(expected_patterns: Mapping[str, str], observed: Mapping[str, str]) -> list[str]:
    """What of an observed identity does not match the patterns (fnmatch(3), case counts); empty if all does.

    A name that was not observed does not match.
    """
    messages = []
    for name, pattern in expected_patterns.items():
        value = observed.get(name)
        if value is None:
            hint = "" if name in IDENTITY else nearest(name, IDENTITY) or f" (known: {', '.join(IDENTITY)})"
            messages.append(f"{name} is not known here, and must match {pattern!r}{hint}")
        elif value != pattern and not fnmatchcase(value, pattern):
            messages.append(f"{name} is {value!r}, and must match {pattern!r}")
    return [printable(message) for message in messages]


def identity_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """How the machine differs from the one of a baseline; empty if it is the same, as far as both know.

    A name that only one of them knows says nothing: serial numbers can often be read by root only.
    """
    return _changes({name: old[name] for name in old if name in new}, new)


def differences(old: Environment, new: Environment) -> list[str]:
    """What differs between two environments: the first suspects where a performance does.

    Machine first, then software, then state, where only changes count that can explain something.
    """
    return [
        *identity_changes(old.identity, new.identity),
        *_changes(old.subject, new.subject),
        *_changes(old.state, new.state),
    ]


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    messages = []
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before is None:
            message = "" if name in _MATERIAL else f"{name} was not known, is {after}"
        elif after is None:
            message = "" if name in _MATERIAL else f"{name} was {before}, is not known"
        else:
            message = f"{name} was {before}, is {after}" if _material(name, before, after) else ""
        if message:
            messages.append(printable(message))
    return messages


def _material(name: str, before: str, after: str) -> bool:
    if before == after or name not in _MATERIAL:
        return before != after
    absolute, relative = _MATERIAL[name]
    numbers = [re.match(r"-?\d+(\.\d+)?", text) for text in (before, after)]
    if not (numbers[0] and numbers[1]):
        return absolute != float("inf")
    old, new = float(numbers[0][0]), float(numbers[1][0])
    return abs(new - old) > max(absolute, relative * abs(old))


# --- the machine


def _machine(root: Path) -> dict[str, str]:
    tree, dmi = root / "proc/device-tree", root / "sys/class/dmi/id"
    return {
        "machine": _read(tree / "model") or _words(dmi / "sys_vendor", dmi / "product_name"),
        "board": _words(dmi / "board_vendor", dmi / "board_name"),
        "serial": _read(tree / "serial-number")
        or _words(dmi / "product_serial")
        or _words(dmi / "board_serial"),
        "cpu": _cpu(root),
        "cores": _cores(root / "sys/devices/system/cpu/present"),
        "memory": _memory(root),
    }


def _cpu(root: Path) -> str:
    """The processor's name; Arm has it in the device tree, and only numbers in /proc/cpuinfo."""
    facts = _fields(root / "proc/cpuinfo")
    if "model name" in facts:
        return facts["model name"]
    for node in _listing(root / "proc/device-tree/cpus", "cpu@*"):
        if name := _read(node / "compatible"):
            return name
    parts = [f"{key} {facts[key]}" for key in ("CPU implementer", "CPU part") if key in facts]
    return ", ".join(parts)


def _cores(file: Path) -> str:
    """How many processors a list such as `0-3,6-7` names."""
    count = 0
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", _read(file)):
        count += int(last or first) - int(first) + 1
    return str(count) if count else ""


def _memory(root: Path) -> str:
    kibibytes = re.match(r"\d+", _fields(root / "proc/meminfo").get("MemTotal", ""))
    return f"{max(1, round(int(kibibytes[0]) / 2**20))} GiB" if kibibytes else ""


def _software(root: Path) -> dict[str, str]:
    release = {
        key: value.strip("\"'")
        for key, _, value in (line.partition("=") for line in _lines(root / "etc/os-release"))
    }
    image = (release.get("IMAGE_ID", ""), release.get("IMAGE_VERSION", "") or release.get("BUILD_ID", ""))
    return {
        "kernel": _read(root / "proc/sys/kernel/osrelease"),
        "kernel_build": _read(root / "proc/sys/kernel/version"),
        "os": release.get("PRETTY_NAME", ""),
        "image": " ".join(filter(None, image)),
        "jetson_linux": _read(root / "etc/nv_tegra_release").split("\n")[0].lstrip("# "),
    }


def _state(root: Path) -> dict[str, str]:
    policies = _listing(root / "sys/devices/system/cpu/cpufreq", "policy*")
    uptime = _read(root / "proc/uptime").split()
    return {
        "governor": ", ".join(sorted({_read(policy / "scaling_governor") for policy in policies} - {""})),
        "cpu_frequency": _megahertz(policies[:1], "scaling_cur_freq"),
        "cpu_frequency_limit": _megahertz(policies, "scaling_max_freq"),
        "cores_online": _cores(root / "sys/devices/system/cpu/online"),
        "power_mode": _power_mode(root),
        "load": " ".join(_read(root / "proc/loadavg").split()[:1]),
        "temperature": _hottest(_listing(root / "sys/class/thermal", "thermal_zone*/temp")),
        "uptime": format_duration(float(uptime[0])) if uptime and _number(uptime[0]) else "",
    }


def _megahertz(policies: Iterable[Path], name: str) -> str:
    """The highest of the policies' frequencies. Only one is asked where the kernel has to measure it."""
    values = [int(text) for policy in policies if (text := _read(policy / name)).isdigit()]
    return f"{max(values) / 1000:.0f} MHz" if values else ""


def _hottest(files: Iterable[Path]) -> str:
    values = [float(text) / 1000 for file in files if _number(text := _read(file))]
    plausible = [value for value in values if -40 < value < 150]
    return f"{max(plausible):.0f} °C" if plausible else ""


def _power_mode(root: Path) -> str:
    """NVIDIA's power model (nvpmodel) on a Jetson, elsewhere ACPI's platform profile."""
    mode = re.search(r"pmode:0*(\d+)", _read(root / "var/lib/nvpmodel/status"))
    if not mode:
        return _read(root / "sys/firmware/acpi/platform_profile")
    pattern = rf"POWER_MODEL\s+ID={mode[1]}\s+NAME=(\S+)"
    name = next((m[1] for line in _lines(root / "etc/nvpmodel.conf") if (m := re.search(pattern, line))), "")
    return " ".join(filter(None, (mode[1], name)))


# --- the disk and its file system


def _mount(path: Path, root: Path) -> dict[str, str]:
    """The mount that `path` is in: the last one of the longest mount point (proc_pid_mountinfo(5))."""
    best: dict[str, str] = {}
    target = Path(os.path.abspath(path))
    with contextlib.suppress(OSError, RuntimeError):
        target = target.resolve()
    for line in _lines(root / "proc/self/mountinfo"):
        left, separator, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        if not separator or len(before) < 6 or len(after) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), before[4])
        if len(point) >= len(best.get("point", "")) and target.is_relative_to(point):
            options = dict.fromkeys((*before[5].split(","), *after[2].split(",")))
            best = {
                "point": point, "number": before[2], "type": after[0], "source": after[1],
                "options": ",".join(options),
            }  # fmt: skip
    return best


def _file_system(mount: Mapping[str, str]) -> dict[str, str]:
    return {"file_system": mount.get("type", ""), "mount_options": mount.get("options", "")}


def _free_space(path: Path) -> str:
    try:
        space = os.statvfs(path)
    except OSError:
        return ""
    return f"{space.f_bavail / space.f_blocks:.0%}" if space.f_blocks else ""


def _disk(number: str, source: str, root: Path) -> list[Path]:
    """The /sys folders of the whole disks behind a block device: through partitions, device mapper and md.

    A file system such as btrfs has a number that is no block device: its source is one.
    """
    node = root / "sys/dev/block" / number
    if not number or not node.exists():
        if not source.startswith("/"):
            return []
        node = root / "sys/class/block" / Path(os.path.realpath(root / source.lstrip("/"))).name
        if not node.exists():
            return []
    return _whole_disks(Path(os.path.realpath(node)), 0)


def _whole_disks(node: Path, depth: int) -> list[Path]:
    if (node / "partition").exists():
        node = node.parent
    slaves = _listing(node / "slaves", "*") if depth < 8 else []
    found = [disk for slave in slaves for disk in _whole_disks(Path(os.path.realpath(slave)), depth + 1)]
    return list(dict.fromkeys(found)) or [node]


def _each(disks: Iterable[Path], *names: str) -> str:
    """The first of the named files that each disk has, or all of them where there are several disks."""
    values = [next(filter(None, (_read(disk / name) for name in names)), "") for disk in disks]
    return ", ".join(filter(None, values))


def _disk_identity(disks: list[Path]) -> dict[str, str]:
    models = [
        " ".join(filter(None, (_read(disk / "device/vendor"), _read(disk / "device/model"))))
        if _read(disk / "device/model")
        else _read(disk / "device/name")
        for disk in disks
    ]
    return {
        "disk": ", ".join(filter(None, models)),
        "disk_serial": _each(disks, "device/serial", "serial"),
        "disk_wwid": _each(disks, "wwid", "device/wwid", "device/cid"),
        "disk_capacity": ", ".join(filter(None, (_capacity(_read(disk / "size")) for disk in disks))),
    }


def _capacity(sectors: str) -> str:
    """Sectors of 512 bytes (whatever the disk's own are) in decimal units, as disks are sold."""
    size = int(sectors) * 512 if sectors.isdigit() else 0
    if not size:
        return ""
    return f"{size / 1e9:.0f} GB" if size >= 10e9 else f"{size / 1e6:.0f} MB"


def _disk_subject(disks: list[Path]) -> dict[str, str]:
    drivers = [_driver(disk) for disk in disks]
    schedulers = [_read(disk / "queue/scheduler") for disk in disks]
    chosen = [re.search(r"\[(\S+)\]", text) for text in schedulers]
    read_ahead = _each(disks, "queue/read_ahead_kb")
    return {
        "disk_firmware": _each(disks, "device/firmware_rev", "device/rev", "device/fwrev"),
        "driver": ", ".join(filter(None, drivers)),
        "scheduler": ", ".join(match[1] for match in chosen if match),
        "write_cache": _each(disks, "queue/write_cache"),
        "read_ahead": f"{read_ahead} KiB" if read_ahead else "",
    }


def _driver(disk: Path) -> str:
    """The kernel driver of a disk; an NVMe namespace's is that of its controller's PCI function."""
    for link in (disk / "device/driver", disk / "device/device/driver"):
        if link.exists():
            return Path(os.path.realpath(link)).name
    return ""


def _disk_state(disks: list[Path]) -> dict[str, str]:
    speeds = [_each([disk], "device/device/current_link_speed") for disk in disks]
    widths = [_each([disk], "device/device/current_link_width") for disk in disks]
    links = [f"{speed} x{width}" for speed, width in zip(speeds, widths, strict=True) if speed and width]
    sensors = [
        file
        for disk in disks
        for pattern in ("device/hwmon*/temp1_input", "device/hwmon/hwmon*/temp1_input")
        for file in _listing(disk, pattern)
    ]
    return {"disk_link": ", ".join(links), "disk_temperature": _hottest(sensors)}


# --- small files


def _read(file: Path) -> str:
    """A small text file, stripped, to its first NUL (the device tree ends text so); empty if unreadable."""
    try:
        with file.open("rb") as stream:
            data = stream.read(65536)
    except (OSError, ValueError):
        return ""
    return data.split(b"\0")[0].decode("utf-8", errors="replace").strip()


def _lines(file: Path) -> list[str]:
    return _read(file).splitlines()


def _fields(file: Path) -> dict[str, str]:
    """The first value of each `name : value` in a file."""
    found: dict[str, str] = {}
    for line in _lines(file):
        name, separator, value = line.partition(":")
        if separator:
            found.setdefault(name.strip(), value.strip())
    return found


def _words(*files: Path) -> str:
    """What the firmware says, without what its maker forgot to fill in."""
    words = [text for file in files if not _PLACEHOLDERS.fullmatch(text := _read(file))]
    return " ".join(words)


def _listing(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _known(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts that are known, each as one line that can be shown."""
    cleaned = {name: printable(" ".join(text.split()))[:_LONGEST] for name, text in facts.items()}
    return {name: text for name, text in cleaned.items() if text}
