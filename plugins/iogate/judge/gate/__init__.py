"""Is this still as fast as its baseline? Verdicts with stated error rates. Pure functions of the values.

`decide` judges, `sensitivity` says beforehand what a baseline can resolve, `repetition_length` how long one
repetition should be for what variance it may have, `allowed_variance`, and `effort` how many there should be.
`course_of` is how speed goes within sessions, and `level` takes it out; `step_of` is one within
a session.
docs/gate.md explains the procedure.
"""

from iogate.judge.borrowed import Borrowed
from iogate.judge.gate.borrowing import as_assumed, borrow
from iogate.judge.gate.case import Decision, DecisionVerdict
from iogate.judge.gate.course import (
    NOTHING_KNOWN,
    Course,
    SpreadWithin,
    Step,
    course_of,
    level,
    spread_within,
    step_of,
    undisturbed,
)
from iogate.judge.gate.decision import decide
from iogate.judge.gate.effort import MOST_EFFORT, effort
from iogate.judge.gate.length import RepetitionLength, allowed_variance, repetition_length
from iogate.judge.gate.looks import SMALLEST_TOLERANCE
from iogate.judge.gate.noise import NOISE_FLOOR
from iogate.judge.gate.sensitivity import Sensitivity, sensitivity

__all__ = [
    "MOST_EFFORT",
    "NOISE_FLOOR",
    "NOTHING_KNOWN",
    "SMALLEST_TOLERANCE",
    "Borrowed",
    "Course",
    "Decision",
    "DecisionVerdict",
    "RepetitionLength",
    "Sensitivity",
    "SpreadWithin",
    "Step",
    "allowed_variance",
    "as_assumed",
    "borrow",
    "course_of",
    "decide",
    "effort",
    "level",
    "repetition_length",
    "sensitivity",
    "spread_within",
    "step_of",
    "undisturbed",
]
