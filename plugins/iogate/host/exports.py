"""What the kernel itself serves to others from block devices, for which no process has one open.

By configfs: NVMe over fabrics (drivers/nvme/target/configfs.c), SCSI targets (LIO,
drivers/target/target_core_configfs.c), and mass storage that a board is for a host
(Documentation/ABI/testing/configfs-usb-gadget-mass-storage).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iogate.host import sysfs
from iogate.host.blockdevice import SYS
from iogate.host.mounts import block_number

_SERVED = {
    "NVMe over fabrics": "nvmet/subsystems/*/namespaces/*/device_path",
    "a SCSI target": "target/core/*/*/udev_path",
    "a USB gadget": "usb_gadget/*/functions/mass_storage.*/lun.*/file",
}


def exports(sys: Path = SYS) -> Iterator[tuple[str, str]]:
    """Yield the block devices that are set up to be served, by `major:minor`, each with what serves it: `NVMe
    over fabrics, as nvmet/subsystems/...`.
    """
    config = sys / "kernel/config"
    for kind, pattern in _SERVED.items():
        for file in sysfs.paths(config, pattern):
            number = block_number(Path(sysfs.text(file, errors="surrogateescape")))
            if number:
                yield number, f"{kind}, as {file.parent.relative_to(config)}"
