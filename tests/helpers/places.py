"""Where things lie: the project, its package, and the data of the tests."""

from pathlib import Path

import iogate

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
PLUGINS = Path(iogate.__file__).parents[1]
"""The folder that must be on Python's path."""
