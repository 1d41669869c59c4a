"""Baselines: what is known of each workload on a device, `<baselines>/<device>/<suite>.yaml`.

The file is written by `--update-baselines` and read by people in a git diff.
"""

from iogate.judge.baseline.file import definition_changes, find, load_baselines, load_sessions
from iogate.judge.baseline.fleet import DeviceSession, require_room, store_fleet
from iogate.judge.baseline.identity import foreign, not_here
from iogate.judge.baseline.places import Exists, known_definitions, known_elsewhere
from iogate.judge.baseline.storage import require_writable
from iogate.judge.baseline.table import Change, changes_table
from iogate.judge.baseline.update import MAXIMUM_SESSIONS, SessionValues, update

__all__ = [
    "MAXIMUM_SESSIONS",
    "Change",
    "DeviceSession",
    "Exists",
    "SessionValues",
    "changes_table",
    "definition_changes",
    "find",
    "foreign",
    "known_definitions",
    "known_elsewhere",
    "load_baselines",
    "load_sessions",
    "not_here",
    "require_room",
    "require_writable",
    "store_fleet",
    "update",
]
