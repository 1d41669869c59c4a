"""Whether a block device held as much data as when its baseline was recorded: what is read of blocks that
were never written, or trimmed, is answered without a look at the medium, and hides a loss.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from iogate.model import BACKING, FILLED, Baseline, Repetition, Workload
from iogate.units import format_share

_APART = 0.025
"""Of what is read, in which blocks may be other than in the baseline: six of a sample of 256. An eighth of
empty blocks, which hides 12%, is seen by all but one in 10^9 samples.
"""
_SAMPLE, _DEVIATIONS = 192, 4
"""On another machine other blocks are looked at, so many at the least but for the edges of what is read:
shares differ by chance, by so many standard deviations at the most.
"""
_UNTOLD = 0.95
"""What is filled by this was so in a baseline that does not tell, as one of before is."""
_CHECK = "blank_blocks"


def filled_otherwise(
    workload: Workload, baseline: Baseline, repetitions: Sequence[Repetition], *, another: bool = False
) -> str:
    """Return why repetitions cannot be held against a baseline, as other parts of what they read held data;
    empty if they can. It may be that of `another` machine.
    """
    if _CHECK in workload.waive:
        return ""
    names = dict.fromkeys(name for item in repetitions for name in item.metrics if tells_filling(name))
    for name in names:
        if (held := _of_file(name)) in baseline.metrics and held not in names:
            return (
                f"what is on the disk of the device's file cannot be told by now, and the baseline has it: "
                f"record it again with --update-baselines, or waive {_CHECK}"
            )
        by_chance = another and held != name  # extents are no sample
        values = [item.metrics[name] for item in repetitions if name in item.metrics]
        known = [statistics.median(row) for row in baseline.by_session(name).values()]
        least, most = (_allowed(end(known), another=by_chance) for end in (min, max)) if known else (0.0, 0.0)
        if known and (min(values) < min(known) - least or max(values) > max(known) + most):
            was, seen = _range(known), _range(values)
            return f"{seen} of the blocks that were looked at held data, {was} in the baseline: {_OTHERWISE}"
        if not known and min(values) < _UNTOLD:
            return (
                f"{_range(values)} of the blocks that were looked at held data, and the baseline does not "
                f"tell of its own: {_OTHERWISE}"
            )
    return ""


def hold_unlike_data(shares: Sequence[float]) -> bool:
    """Return whether machines hold so unlike parts of what they read that they cannot be compared."""
    return min(shares) < max(shares) - _allowed(max(shares), another=True)


def _allowed(share: float, *, another: bool) -> float:
    """Return by how much a share may differ from one of a baseline, of which anybody may have written it."""
    share = min(max(share, 0.0), 1.0)
    chance = math.sqrt(2 * share * (1 - share) / _SAMPLE) if another else 0.0
    return _APART + _DEVIATIONS * chance


_OTHERWISE = (
    "reads of empty ones may never reach the medium; write data to all that is read (precondition does so), "
    "or, if it is to stay so, record it again with --update-baselines; where the data have such blocks of "
    f"their own: waive {_CHECK}"
)


def tells_filling(name: str) -> bool:
    """Return whether a metric tells how much of what was read held data."""
    return name.rpartition(".")[2] == FILLED


def _of_file(name: str) -> str:
    """Return what the share is called that is on the disk of a loop device's file."""
    job = name.removesuffix(FILLED).removesuffix(f"{BACKING}.")
    return f"{job}{BACKING}.{FILLED}"


def _range(shares: Sequence[float]) -> str:
    texts = dict.fromkeys(format_share(share) for share in (min(shares), max(shares)))
    return " to ".join(texts)
