"""Where a series of sessions changed: pure functions on values with their errors."""

from iogate.judge.history.change_points import CHANCE, find_levels
from iogate.judge.history.levels import Level, Levels
from iogate.judge.history.scan import SHORTEST

__all__ = ["CHANCE", "SHORTEST", "Level", "Levels", "find_levels"]
