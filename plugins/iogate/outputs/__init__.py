"""Engine outputs that exist already: the engine that made each, the jobs in it, what is wrong with them."""

from __future__ import annotations

from iogate.outputs.findings import findings
from iogate.outputs.fit import contradictions, unstated
from iogate.outputs.jobs import Job, OutputFile, job_of, parse_output, read_output, refuse_twice
from iogate.outputs.text import Understood, read_bytes, text_of, understood

__all__ = [
    "Job",
    "OutputFile",
    "Understood",
    "contradictions",
    "findings",
    "job_of",
    "parse_output",
    "read_bytes",
    "read_output",
    "refuse_twice",
    "text_of",
    "understood",
    "unstated",
]
