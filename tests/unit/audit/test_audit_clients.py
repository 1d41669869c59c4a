"""The audit of clients at work at once: what is sound passes, what is not is told with the client."""

from dataclasses import replace

import pytest

from iogate.audit import Evidence
from iogate.audit.evidence import ClientRun
from iogate.audit.rules import clients
from iogate.model import Needs, Output, Span

SECONDS = 10.0


def client(number, start=0.0, seconds=SECONDS, **changes):
    span = Span(1000.0 + start, 1000.0 + start + seconds)
    sound = ClientRun(f"client_{number}", f"c{number}", "fio-3.33", span, 0.01, 0.001, 0.002, 1e8)
    return replace(sound, **changes)


def said(check, *runs):
    evidence = Evidence(Output({}, {}), {}, Needs(), clients=runs)
    return [(remark.severity, remark.message) for remark in check(evidence)]


@pytest.mark.parametrize("check", clients.CHECKS, ids=lambda check: check.__name__)
def test_sound_clients_and_none_give_no_remark(check):
    assert said(check, client(1), client(2, 0.05), client(3)) == []
    assert said(check, client(1)) == []
    assert said(check) == []


@pytest.mark.parametrize("late, severity", [(1.0, "suspect"), (6.0, "invalid"), (30.0, "invalid")])
def test_clients_that_did_not_run_together(late, severity):
    ((found, message),) = said(clients.clients_together, client(1), client(2, late))
    assert found == severity
    assert "client_2 (c2) began last" in message and "client_1 (c1) ended first" in message


def test_a_client_that_ended_before_the_others():
    ((found, message),) = said(clients.clients_together, client(1), client(2, seconds=4.0))
    assert found == "invalid"
    assert message.startswith("all 2 clients ran for 4")


@pytest.mark.parametrize(
    "rate, severity", [(1.5e8, "note"), (0.7e8, "note"), (0.4e8, "suspect"), (0.0, "suspect")]
)
def test_one_client_that_is_unlike_the_others(rate, severity):
    ((found, message),) = said(clients.client_outlier, client(1), client(2), client(3, rate=rate))
    assert found == severity
    assert message.startswith("client_3 (c3) moved")


def test_of_two_unlike_clients_the_slower_is_named():
    ((found, message),) = said(clients.client_outlier, client(1), client(2, rate=3e8))
    assert found == "suspect"
    assert message.startswith("client_1 (c1)")


def test_versions_that_differ():
    ((found, message),) = said(clients.client_versions, client(1), client(2, version="fio-3.36"))
    assert found == "suspect"
    assert "client_1 (c1): fio-3.33, client_2 (c2): fio-3.36" in message


def test_a_clock_that_jumps_is_no_clock():
    ((found, message),) = said(clients.client_clocks, client(1), client(2, moved=-0.7))
    assert found == "invalid"
    assert "the clock of client_2 (c2) jumped by -0.700 s" in message
    assert said(clients.client_clocks, client(1), client(2, moved=0.7, uncertain=0.5)) == []


def test_clocks_that_differ():
    ((found, message),) = said(clients.client_clocks, client(1), client(2, ahead=-3600.0))
    assert found == "note"
    assert "client_2 (c2) -3600.0 s" in message
