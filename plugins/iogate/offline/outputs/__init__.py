"""Engine outputs that exist already: the engine that made each, the jobs in it, what is wrong with them."""

from __future__ import annotations

from iogate.offline.outputs.findings import findings
from iogate.offline.outputs.fit import contradictions, flags_of, runs_several, unstated_options
from iogate.offline.outputs.jobs import OutputFile, OutputJob, job_of, parse_output, refuse_twice
from iogate.offline.outputs.text import (
    Understood,
    blocks,
    locate_run,
    read_bytes,
    runs,
    text_of,
    understood,
    understood_by,
)

__all__ = [
    "OutputFile",
    "OutputJob",
    "Understood",
    "blocks",
    "contradictions",
    "findings",
    "flags_of",
    "job_of",
    "locate_run",
    "parse_output",
    "read_bytes",
    "refuse_twice",
    "runs",
    "runs_several",
    "text_of",
    "understood",
    "understood_by",
    "unstated_options",
]
