"""The target: the directory or block device that the I/O goes to, and whether it may.

`resolve` and `refusals` only look; `open_target` takes it, one run at a time, and leaves it as it was.
"""

from iogate.target.flushing import ReadAhead, drop, flush
from iogate.target.locks import Fellows
from iogate.target.opening import disks_under, open_target
from iogate.target.refusals import refusals
from iogate.target.resolve import Target, check_unchanged, leads_elsewhere, resolve
from iogate.target.scratch import Scratch

__all__ = [
    "Fellows",
    "ReadAhead",
    "Scratch",
    "Target",
    "check_unchanged",
    "disks_under",
    "drop",
    "flush",
    "leads_elsewhere",
    "open_target",
    "refusals",
    "resolve",
]
