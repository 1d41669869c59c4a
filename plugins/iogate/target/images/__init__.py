"""Images of file systems as targets: what a user names, what is in it, and two slots in which two of them are
mounted and change places.
"""

from iogate.target.images.copying import required_space
from iogate.target.images.image import Image, Stamp, is_image
from iogate.target.images.slots import Slots, open_slots, slot_refusals

__all__ = ["Image", "Slots", "Stamp", "is_image", "open_slots", "required_space", "slot_refusals"]
