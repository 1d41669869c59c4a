"""The figures of A and B that people read agree with the change that was decided about."""

import pytest

from iogate.judge.judge import GateOptions
from iogate.judge.pair_judge import PairJudge
from iogate.model import Output, Repetition
from workloads import workload


def block(base, candidate, swapped=False):
    arms = [Repetition(Output({"read.iops": value}, {}), 1.0, "folder") for value in (candidate, base)]
    return Repetition(arms[0].output, 2.0, "folder", base=arms[1], swapped=swapped)


def judged(*blocks):
    judge = PairJudge(
        workload("fio", options={}),
        ("read.iops",),
        GateOptions(),
        "a second copy of the same data",
        crossover=False,
    )
    judge.look(blocks)
    return judge.verdict(blocks, "the session was interrupted").metrics[0]


def test_a_block_far_off_does_not_put_them_in_the_wrong_order():
    """B is 2% faster in five blocks, and a hundredth of A in one."""
    item = judged(*[block(1000.0, 1020.0)] * 5, block(1000.0, 10.0))
    assert item.change > 0
    assert item.value / item.baseline == pytest.approx(1 + item.change)
    assert item.values == (1020.0,) * 5 + (10.0,)


def test_equal_blocks_are_told_as_they_are():
    item = judged(*[block(1000.0, 1020.0)] * 3)
    assert (item.baseline, item.value) == pytest.approx((1000.0, 1020.0))


def test_an_arm_that_did_nothing_is_told_as_it_is():
    item = judged(*[block(1000.0, 0.0)] * 3)
    assert (item.baseline, item.value) == pytest.approx((1000.0, 0.0))
    assert item.verdict == "inconclusive"
