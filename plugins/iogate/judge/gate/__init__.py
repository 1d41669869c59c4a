"""Is this still as fast as its baseline? Verdicts with stated error rates. Pure functions of the values.

`decide` judges, `sensitivity` says beforehand what a baseline can resolve, `repetition_length` how long one
repetition should be. docs/gate.md explains the procedure.
"""

from iogate.judge.borrowed import Borrowed
from iogate.judge.gate.borrowing import borrow
from iogate.judge.gate.decision import Decision, DecisionVerdict, decide
from iogate.judge.gate.length import RepetitionLength, repetition_length
from iogate.judge.gate.sensitivity import Sensitivity, sensitivity

__all__ = [
    "Borrowed",
    "Decision",
    "DecisionVerdict",
    "RepetitionLength",
    "Sensitivity",
    "borrow",
    "decide",
    "repetition_length",
    "sensitivity",
]
