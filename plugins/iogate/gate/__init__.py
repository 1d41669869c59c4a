"""Is this still as fast as its baseline? Verdicts with stated error rates. Pure functions of the values.

`decide` judges, `strength` says beforehand what a baseline can resolve, `repetition_length` how long one
repetition should be. docs/gate.md explains the procedure.
"""

from iogate.gate.decision import Decision, Verdict, decide
from iogate.gate.length import RepetitionLength, repetition_length
from iogate.gate.strength import Strength, strength

__all__ = [
    "Decision",
    "RepetitionLength",
    "Strength",
    "Verdict",
    "decide",
    "repetition_length",
    "strength",
]
