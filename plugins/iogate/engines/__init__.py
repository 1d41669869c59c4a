"""The engines: the programs that do the I/O, one folder each.

An engine is two pure functions around one impure call: `command` says what to run, `iogate.host.process` runs
it, `parse` turns what it said into metrics. What must be made ready before is in `prepare`. docs/engines.md
tells how a package of its own adds one.
"""

from iogate.engines.protocol import (
    Alternates,
    BringsToRest,
    Conversation,
    Engine,
    GatesOutputs,
    PreparesProgram,
    PrintsWholeNumbers,
    ReadsJobFiles,
    ReadsReports,
    RunsCommands,
    RunsOnClients,
    StatesOptions,
    TakesFiles,
    TellsJobsApart,
    TellsPlaces,
)
from iogate.engines.registry import DEFAULT, known_options, load, names, preconditioner, recognise

__all__ = [
    "DEFAULT",
    "Alternates",
    "BringsToRest",
    "Conversation",
    "Engine",
    "GatesOutputs",
    "PreparesProgram",
    "PrintsWholeNumbers",
    "ReadsJobFiles",
    "ReadsReports",
    "RunsCommands",
    "RunsOnClients",
    "StatesOptions",
    "TakesFiles",
    "TellsJobsApart",
    "TellsPlaces",
    "known_options",
    "load",
    "names",
    "preconditioner",
    "recognise",
]
