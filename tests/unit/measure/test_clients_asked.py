"""On how many clients a workload runs: what it asks for, as far as the bench has them."""

import pytest

from fake_bench import FakeBench, enroll, session_on
from iogate.declare.suite import load_suite
from iogate.errors import InputError
from iogate.measure.clients import on_clients
from iogate.measure.plan import plan_text
from places import ROOT
from workloads import declared


def asking(clients, **more):
    given = {} if clients is None else {"clients": clients}
    return declared("fio", rw="randread", size="1M", **given, **more)


@pytest.fixture
def bench():
    bench = FakeBench()
    bench.hosts = ("c1", "c2")
    return bench


def test_all_are_those_that_the_bench_has(bench):
    assert on_clients(asking("all"), bench).options["clients"] == 2


def test_on_a_machine_without_hosts_all_is_the_machine_itself():
    assert on_clients(asking("all"), FakeBench()) == asking(None)
    assert on_clients(asking(1), FakeBench()) == asking(None)


def test_a_workload_that_asks_for_none_stays_as_it_is(bench):
    assert on_clients(asking(None), bench) == asking(None)


@pytest.mark.parametrize("count", [1, 2, [1, 2]])
def test_as_many_as_there_are(bench, count):
    assert on_clients(asking(count), bench) == asking(count)


@pytest.mark.parametrize("count", [8, [1, 8]])
def test_more_than_there_are_is_refused_with_the_hosts(bench, count):
    with pytest.raises(InputError, match=r"clients: 8, but the device fake has 2 hosts: c1, c2") as caught:
        on_clients(asking(count), bench)
    assert caught.value.position


def test_clients_without_hosts_are_refused_before_anything_is_measured():
    bench = FakeBench()
    with pytest.raises(InputError, match=r"clients: 2, but the device fake has no hosts"):
        enroll(session_on(bench), asking(2))
    assert bench.runs == []


def test_clients_are_not_alternated(bench):
    bench.places = "copies"
    with pytest.raises(InputError, match="by turns"):
        on_clients(asking("all"), bench)


def test_the_definition_says_how_many():
    assert asking("all").definition == asking(None).definition
    assert asking(2).definition_hash != asking(None).definition_hash


def test_a_plan_says_what_lies_on_each_client_and_in_all(bench):
    session = session_on(bench)
    enroll(session, asking(2, name="both"))
    text = plan_text(bench.target, session.trials, None)
    assert "1M on each of 2 clients" in text
    assert "space: 2.000 MiB in 2 data files" in text


@pytest.mark.parametrize(("clients", "written"), [(2, "2M"), ([1, 2], "3M"), (1, "1M")])
def test_a_plan_says_what_a_repetition_writes_on_all_of_them(bench, clients, written):
    """Of a curve it told the most clients alone."""
    session = session_on(bench)
    enroll(session, declared("fio", rw="randwrite", size="1M", clients=clients, name="writes"))
    assert f"at most {written}" in plan_text(bench.target, session.trials, None)


def test_the_suite_of_shared_storage_runs_on_all_hosts_where_there_are_some(bench):
    workloads = load_suite(ROOT / "suites/shared_storage.yaml").workloads
    assert [on_clients(workload, bench).options["clients"] for workload in workloads] == [2] * 4
    assert not any("clients" in on_clients(workload, FakeBench()).options for workload in workloads)
