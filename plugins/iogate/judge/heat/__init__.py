"""What work makes of a device, as heat does, or a cache that is full; and what can be held against what.

A repetition is held against those that came behind as much work (`Likeness`), of the same places in their
session where these differ (`Places`). Where it came behind other work, `OutOfPlace` asks what the
baselines of the device tell of that (`heat_of`), and the session itself (`Heat`): by how much repetitions
differ for their place in a session, how sessions that began at rest differ from those soon behind another
one (`at_rest`), what all workloads of a session add up to (`along`), and where rates fell (`fall`). A
verdict holds if it would be the same whatever that made of the device.
docs/heat.md explains it.
"""

from iogate.judge.heat.known import KnownHeat, heat_of
from iogate.judge.heat.likeness import Beginnings, Likeness
from iogate.judge.heat.out_of_place import OutOfPlace
from iogate.judge.heat.places import Places
from iogate.judge.heat.session import Heat

__all__ = ["Beginnings", "Heat", "KnownHeat", "Likeness", "OutOfPlace", "Places", "heat_of"]
