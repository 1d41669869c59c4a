"""`iogate device`: profiles are begun, listed, and held against the machine."""

from iogate.offline.devices.checking import check
from iogate.offline.devices.initial import init
from iogate.offline.devices.listing import listing

__all__ = ["check", "init", "listing"]
