"""Is the candidate as fast as the base, both measured now, in turns? Verdicts with stated error rates.

Pure functions of one ratio per block. docs/paired.md explains the procedure.
"""

from iogate.judge.pair.decision import PairDecision, decide
from iogate.judge.pair.looks import fewest_blocks

__all__ = ["PairDecision", "decide", "fewest_blocks"]
