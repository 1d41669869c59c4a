"""Runs of several devices as processes: which go on at once, what is shown, and how they end."""

import os
import signal
import time

import pytest

from iogate.plugin.devices.processes import Run, Runs


@pytest.fixture
def follow(tmp_path):
    """Follows shell scripts, by device, in queues; what they said, and the runs."""

    def act(queues, **scripts):
        runs = Runs({name: Run(name, ["sh", "-c", text], {"X": name}) for name, text in scripts.items()})
        said = []
        try:
            runs.follow(queues, tmp_path, lambda name, line: said.append((name, line)))
        finally:
            runs.close()
        return said, runs.by_name

    return act


def test_queues_go_on_at_once_and_those_of_one_queue_one_after_another(follow):
    meet = "touch {0}; until [ -e {1} ]; do sleep 0.01; done; echo met"
    said, runs = follow(
        [["a", "c"], ["b"]],
        a=meet.format("a", "b") + "; touch done",
        b=meet.format("b", "a"),
        c="[ -e done ] && echo behind",
    )
    assert sorted(said) == [("a", "met"), ("b", "met"), ("c", "behind")]
    assert [run.status for run in runs.values()] == [0, 0, 0]


def test_lines_are_shown_whole_and_the_last_one_without_its_end(follow):
    said, runs = follow(
        [["a"]], a=r"printf 'one\r\ntwo '; printf '\377'; printf ' $X'; exit 7".replace("$X", "x")
    )
    assert said == [("a", "one"), ("a", "two � x")]
    assert runs["a"].status == 7


def test_a_kernel_without_pidfd_tells_their_ends_as_well(follow, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    said, runs = follow([["a", "b"]], a="echo one; exit 7", b="echo two")
    assert (said, runs["a"].status, runs["b"].status) == ([("a", "one"), ("b", "two")], 7, 0)


def test_why_a_run_was_refused_is_kept(follow):
    _, runs = follow(
        [["a", "b"]],
        a="echo 'ERROR: no such host'; echo '  more'; exit 4",
        b="echo 'ERROR: refused:'; echo '  no suite'; echo '  no more'; exit 4",
    )
    assert [run.refusal for run in runs.values()] == ["no such host", "refused: no suite"]


def test_who_else_holds_the_output_open_is_not_waited_for(follow):
    said, runs = follow([["a"]], a="sleep 100 & echo $!")
    os.kill(int(said[0][1]), signal.SIGKILL)
    assert runs["a"].status == 0


def test_those_that_go_on_are_told_to_end_and_no_other_is_begun(tmp_path):
    ending = "trap 'echo ended; exit 2' INT TERM; echo began; while :; do sleep 0.01; done"
    runs = Runs({name: Run(name, ["sh", "-c", text], {}) for name, text in (("a", ending), ("b", "echo b"))})
    said = []

    def show(name, line):
        said.append(line)
        if line == "began":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.follow([["a", "b"]], tmp_path, show)
    started = time.monotonic()
    runs.end(show)
    runs.close()
    assert time.monotonic() - started < 60
    assert said == ["began", "ended"]
    assert runs.by_name["a"].status == 2
    assert runs.by_name["b"].status is None
    assert not runs.by_name["b"].begun
