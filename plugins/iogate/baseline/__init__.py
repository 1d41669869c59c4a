"""Baselines: what is known of each workload on a device, `<baselines>/<device>/<suite>.yaml`.

The file is written by `--update-baselines` and read by people in a git diff.
"""

from iogate.baseline.file import definition_changes, find, load_baselines
from iogate.baseline.table import Change, changes_table
from iogate.baseline.update import MAXIMUM_SESSIONS, Measured, update

__all__ = [
    "MAXIMUM_SESSIONS",
    "Change",
    "Measured",
    "changes_table",
    "definition_changes",
    "find",
    "load_baselines",
    "update",
]
