"""The bench of several hosts: what it asks of each, and what it refuses before anything is measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from fake_bench import FakeBench, FakeWatcher
from iogate.errors import TargetError
from iogate.measure.settings import Settings
from iogate.model import Device, Environment, Needs, Repetition
from iogate.remote.clients import ClientsBench
from iogate.remote.far_client import ClientFacts
from iogate.target.resolve import Target
from workloads import declared

DIRECTORY = Target(Path("/data"), "directory", "8:0", "ext4", 10**12, 512)
DEVICE = Target(Path("/dev/sdx"), "device", "8:16", None, 10**12, 512)


class FakeClient(FakeBench):
    """A client that is what `machines` says of its host: its facts, and its target."""

    machines: dict[str, tuple[ClientFacts, Target]]
    made: list["FakeClient"]

    def __init__(self, settings, device, folder, watcher):
        super().__init__()
        assert settings.host == device.host
        if device.host not in self.machines:
            raise TargetError(f"the host {device.host} cannot be had", rule="host")
        self.host = device.host
        self.facts, self.target = self.machines[device.host]
        self.environment = Environment({"machine": "node", "cpu": device.host[-1]})
        self.asked, self.fellows, self.checked = [], None, None
        self.scratch, self.closed = "", False
        self.made.append(self)

    def check(self, workloads):
        self.checked = [item.name for item in workloads]

    def refusals(self, needs):
        self.asked.append(needs)
        return [TargetError(f"{self.host}: too small", rule="space")] if needs.size > 4 * 2**20 else []

    def join(self, fellows):
        self.fellows = fellows
        self.scratch = f"scratch-{self.host}"

    def close(self):
        self.closed = True


def machine(number, network="4026531840", target=DIRECTORY, disks=("8:0",)):
    return ClientFacts(f"boot-{number}", network, disks), target


@pytest.fixture
def lab(monkeypatch, tmp_path):
    """Makes the bench of hosts of these machines."""
    monkeypatch.setattr("iogate.remote.clients.Client", FakeClient)
    monkeypatch.setattr(FakeClient, "made", [], raising=False)

    def make(machines, hosts=None):
        monkeypatch.setattr(FakeClient, "machines", machines, raising=False)
        device = Device("lab", "/data", hosts=tuple(hosts or machines))
        return ClientsBench(Settings(tmp_path), device, tmp_path, FakeWatcher())

    return make


TWO = {"c1": machine(1), "c2": machine(2)}


def asking(clients=None, name="w"):
    given = {} if clients is None else {"clients": clients}
    return declared("fio", name=name, rw="randread", size="1M", **given)


def test_hosts_come_in_the_order_of_the_profile(lab):
    assert lab(TWO).hosts == ("c1", "c2")
    assert lab(TWO, ["c2", "c1"]).hosts == ("c2", "c1")


def test_two_network_namespaces_of_a_machine_are_two_clients(lab):
    assert lab({"c1": machine(1), "c2": machine(1, network="4026532000")}).hosts == ("c1", "c2")


@pytest.mark.parametrize(
    "second, words",
    [
        (machine(1), "c1 and c2 are the same machine"),
        (machine(2, target=DEVICE), "c1 is a directory on ext4, /dev/sdx of c2 is a block device"),
        (machine(2, target=replace(DIRECTORY, file_system="nfs4")), "/data of c2 is a directory on nfs4"),
    ],
)
def test_hosts_that_are_refused_are_named_and_let_go(lab, second, words):
    with pytest.raises(TargetError, match=words):
        lab({"c1": machine(1), "c2": second})
    assert [client.closed for client in FakeClient.made] == [True, True]


def test_block_devices_of_other_sizes_are_other_data(lab):
    other = replace(DEVICE, size=2**40)
    with pytest.raises(TargetError, match=r"the clients have different data: .*c1.*c2"):
        lab({"c1": machine(1, target=DEVICE), "c2": machine(2, target=other)})


def test_one_host_that_cannot_be_had_lets_go_of_the_others(lab):
    with pytest.raises(TargetError, match="the host c3 cannot be had"):
        lab(TWO, ["c1", "c2", "c3"])
    assert [client.closed for client in FakeClient.made] == [True, True]


def test_the_storage_must_hold_the_data_of_all(lab):
    bench = lab(TWO)
    needs = Needs(size=3 * 2**20, reads=True)
    assert bench.refusals(needs) == []
    assert [error.message for error in bench.refusals(replace(needs, clients=2))] == [
        "c1: too small",
        "c2: too small",
    ]


def test_each_client_knows_who_has_the_target_already(lab):
    bench = lab({"c1": machine(1), "c2": machine(2, disks=("9:0",)), "c3": machine(1, network="7")})
    bench.open()
    assert [(client.fellows.folders, client.fellows.disks) for client in bench._clients] == [
        ((), ()),
        (("scratch-c1",), ()),
        (("scratch-c1", "scratch-c2"), ("8:0",)),
    ]


def test_engines_are_asked_where_they_will_run(lab):
    bench = lab(TWO)
    bench.check([asking(name="alone"), asking("all", name="all"), asking(2, name="two")])
    assert [client.checked for client in bench._clients] == [["alone", "all", "two"], ["all", "two"]]


def test_what_differs_between_clients_is_told_of_all(lab):
    assert lab(TWO).observe().identity == {"machine": "node", "cpu": "1, 2"}


def test_what_is_for_one_runs_on_the_first(lab):
    bench = lab(TWO)
    assert isinstance(bench.repeat("s::w", asking(), 1, ["read.iops"]), Repetition)
    assert [client.runs for client in bench._clients] == [[("w", 1)], []]
