"""What the user asked for: the options of the command line and the ini file, in plain types."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from iogate.judge.judge import GateOptions
from iogate.model import UpdateMode

Missing = Literal["fail", "skip", "record"]


@dataclass(frozen=True)
class Settings:
    """The options of one run; docs/reference.md names them.

    `host` says where the device is (an execnet spec; None: the profile does, or it is this machine).
    `against` is the target of arm A (`same`: a second copy of the data; None: workloads have baselines),
    `slice` the length of a slice in seconds. `missing` None leaves it to the device's profile. `budget` is
    device time in seconds. `runtime` (seconds) and `size` replace those of the suites. `destroy` is the block
    device that may be written to, `allow_exec` lets suites run commands. `strict` refuses what would lose
    coverage in silence, `resume` goes on with a session that was cut off. `wait` is how many seconds to wait
    for a target that another run has; `keep` is how many sessions are kept (None: not said). `session` is
    the name of the session once that has begun.
    """

    root: Path
    device: str = "local"
    baselines: Path = Path("baselines")
    results: Path = Path(".iogate/results")
    host: str | None = None
    target: str | None = None
    against: str | None = None
    update: UpdateMode | None = None
    reason: str = ""
    missing: Missing | None = None
    inconclusive: Literal["fail", "skip"] = "fail"
    gate_options: GateOptions = field(default_factory=GateOptions)
    runtime: float | None = None
    size: str | None = None
    budget: float | None = None
    destroy: str | None = None
    allow_exec: bool = False
    slice: float | None = None
    strict: bool = False
    resume: bool = False
    wait: float = 0.0
    keep: int | None = None
    session: str = ""
