"""Being ended from outside, once and again."""

import os
import signal

import pytest

from iogate.host.interrupts import Interrupts, heard


@pytest.fixture
def interrupts():
    found = Interrupts()
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found.watch()
    yield found
    found.restore()
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_interrupts_and_those_that_follow_do_not(interrupts):
    with pytest.raises(KeyboardInterrupt):
        press()
    press()
    assert interrupts.came


def test_those_that_follow_end_a_wait_for_others(interrupts):
    told = []
    with pytest.raises(KeyboardInterrupt), heard(lambda: told.append("before")):
        press()
    assert told == []
    with heard(lambda: told.append("again")):
        press()
    press()
    assert told == ["again"]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_what_was_ignored_from_the_beginning_stays_so():
    """As nohup has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        found = Interrupts()
        found.watch()
        found.ignore()
        with heard(pytest.fail):
            os.kill(os.getpid(), signal.SIGHUP)
        found.restore()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
