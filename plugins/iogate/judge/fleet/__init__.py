"""Many devices of one model: how they differ, and which of them is slower than the others."""

from iogate.judge.fleet.spread import Spread, spread_of
from iogate.judge.fleet.standing import FEWEST, Standing, beyond_chance, standings

__all__ = ["FEWEST", "Spread", "Standing", "beyond_chance", "spread_of", "standings"]
