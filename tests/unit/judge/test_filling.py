"""A block device that holds other data than its baseline knows is not held against it."""

from dataclasses import replace

import pytest

from fake_bench import reads
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.filling import filled_otherwise, hold_unlike_data
from iogate.judge.judge import GateOptions
from iogate.model import FILLED, Baseline, Environment, Output, Repetition

IOPS = "read.iops"
FULL = (1.0, 1.0)


def repetition(filled, iops=2000.0):
    told = {} if filled is None else {FILLED: filled}
    return Repetition(Output({IOPS: iops, **told}, {}), 1.0, "raw")


def baseline(*filled, **more):
    """A session for each tuple of shares, one for each repetition; none: a baseline that tells of none."""
    ids = tuple(f"2026-01-0{number}T00:00:00Z-aaaa" for number in range(1, 1 + (len(filled) or 1)))
    metrics = {IOPS: tuple((2000.0, 2001.0) for _ in ids)}
    told = {FILLED: filled} if filled else {}
    return Baseline("demo", {}, {**metrics, **told}, ids, **more)


def workload(**more):
    return reads("demo", "demo", **more)


@pytest.mark.parametrize(
    ("known", "seen", "held"),
    [
        ([FULL], FULL, True),
        ([FULL], (0.99, 1.0), True),
        ([FULL], (0.875, 0.875), False),
        ([FULL], (1.0, 0.875), False),
        ([(0.875, 0.875)], FULL, False),
        ([(0.5, 0.5)], (0.5, 0.5), True),
        ([(0.6, 0.6), FULL], (0.8, 0.8), True),
        ([], FULL, True),
        ([], (0.9, 0.9), False),
        ([FULL], (None, None), True),
    ],
    ids=[
        "as full",
        "nearly",
        "an eighth is empty",
        "in one repetition",
        "fuller",
        "as empty",
        "as one of its sessions",
        "full, and the baseline does not tell",
        "a tenth is empty, and it does not tell",
        "a directory",
    ],
)
def test_what_held_other_data_is_not_judged(known, seen, held):
    """An eighth of empty blocks made up for a loss of 12%."""
    repetitions = [repetition(share) for share in seen]
    said = filled_otherwise(workload(), baseline(*known), repetitions)
    assert (not said) is held
    judge = BaselineJudge(workload(), baseline(*known), (IOPS,), GateOptions())
    judge.look(repetitions)
    verdict = judge.verdict(repetitions)
    assert (verdict.verdict == "invalid") is not held, verdict
    assert held or "held data" in verdict.reason


def test_a_suite_whose_data_have_empty_blocks_of_their_own_says_so():
    waived = workload(waive={"blank_blocks": "an image of a card"})
    assert not filled_otherwise(waived, baseline(FULL), [repetition(0.5)])
    assert filled_otherwise(workload(), baseline(FULL), [repetition(0.5)])


def test_each_number_of_clients_counts_by_itself():
    known = Baseline("demo", {}, {"clients_2.filled": (FULL,)}, ("2026-01-01T00:00:00Z-aaaa",))
    seen = Repetition(Output({"clients_2.filled": 0.5}, {}), 1.0, "raw")
    assert filled_otherwise(workload(), known, [seen])


@pytest.mark.parametrize(
    ("known", "seen", "held"),
    [
        (1.5, 1.5, True),
        (-1.0, 1.0, False),
        (1.0, 0.88, False),
        (0.57, 0.62, True),
        (0.57, 0.95, False),
        (0.57, 0.2, False),
    ],
)
def test_of_another_machine_other_blocks_are_looked_at(known, seen, held):
    """Two boards of one image differ by chance, and a full one from one that lacks an eighth does not."""
    said = filled_otherwise(workload(), baseline((known, known)), [repetition(seen)], another=True)
    assert (not said) is held


def test_what_lies_in_the_file_of_a_loop_device_is_no_sample():
    known = Baseline("demo", {}, {"backing.filled": ((0.6, 0.6),)}, ("2026-01-01T00:00:00Z-aaaa",))
    seen = Repetition(Output({"backing.filled": 0.5}, {}), 1.0, "raw")
    assert filled_otherwise(workload(), known, [seen], another=True)


def test_a_file_that_is_told_no_more_is_no_reason_to_pass():
    known = Baseline(
        "demo", {}, {FILLED: (FULL,), f"backing.{FILLED}": (FULL,)}, ("2026-01-01T00:00:00Z-aaaa",)
    )
    assert "cannot be told" in filled_otherwise(workload(), known, [repetition(1.0)])


def test_a_published_baseline_tells_nothing_of_its_own():
    """9% of empty blocks made half of a loss of 12%, which passed."""
    published = Baseline("demo", {}, {IOPS: 2000.0}, (), source="a vendor")
    assert filled_otherwise(workload(), published, [repetition(0.91)])
    assert not filled_otherwise(workload(), published, [repetition(0.97)])


@pytest.mark.parametrize(
    ("accepted", "board", "held"), [(None, "a", False), ({}, "a", False), ({}, "b", True)]
)
def test_chance_is_allowed_for_on_another_machine_alone(accepted, board, held):
    """`accepts: model` alone let half as much data pass on the very machine that had been recorded."""
    first, here = (Environment(identity={"serial": name}) for name in ("a", board))
    known = replace(baseline((0.6, 0.6)), environment=first)
    judge = BaselineJudge(workload(), known, (IOPS,), GateOptions(), of_model=accepted)
    judge.check(here)
    judge.look([repetition(0.52)])
    assert (judge.verdict([repetition(0.52)]).verdict != "invalid") is held


@pytest.mark.parametrize(
    ("shares", "unlike"),
    [
        ((1.5, 1.5), False),
        ((1.0, 0.99), False),
        ((1.0, 0.91), True),
        ((0.6, 0.57), False),
        ((0.6, 0.2), True),
    ],
)
def test_boards_that_are_filled_unlike_are_not_held_against_each_other(shares, unlike):
    """One of which 9% were trimmed was the fastest of six, with 9% lost."""
    assert hold_unlike_data(shares) is unlike
