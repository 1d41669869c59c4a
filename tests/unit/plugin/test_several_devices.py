"""Several devices side by side: what shares a host, what files are called, and the worst exit status."""

from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import pytest

from iogate.model import Device
from iogate.plugin.devices.commands import of_device
from iogate.plugin.devices.names import host_key, lanes
from iogate.plugin.devices.summary import status_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("", "", True),
        ("", "popen//python=ip netns exec a python3", True),
        ("ssh=root@orin.lab", "ssh=-p 22 admin@ORIN.lab//python=python3.12", True),
        ("ssh=root@orin-1", "ssh=root@orin-2", False),
        ("ssh=root@orin-1", "", False),
        ("popen", "ssh=localhost", False),
        ("vagrant_ssh=a", "vagrant_ssh=b", False),
        ("ssh=", "ssh=a", False),
    ],
)
def test_hosts_are_one_as_far_as_their_names_tell(one, other, same):
    assert (host_key(one) == host_key(other)) == same


def test_devices_of_one_host_stand_in_one_row_in_their_order():
    hosts = {"a": "", "b": "ssh=x", "c": "", "d": "ssh=root@x", "e": "ssh=y"}
    devices = [Device(name, target=".", host=host) for name, host in hosts.items()]
    assert [[one.name for one in lane] for lane in lanes(devices)] == [["a", "c"], ["b", "d"], ["e"]]


def test_devices_that_have_any_host_in_common_are_measured_one_after_another():
    hosts = {"a": ("ssh=c1",), "b": ("ssh=c3", "ssh=c4"), "c": ("ssh=c2",), "d": ("ssh=c1", "ssh=c2")}
    devices = [Device(name, "/data", hosts=each) for name, each in hosts.items()]
    assert [[one.name for one in lane] for lane in lanes(devices)] == [["a", "c", "d"], ["b"]]


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("r.json", "r-orin-1.json"),
        ("/a/b.c/report.html", "/a/b.c/report-orin-1.html"),
        ("summary", "summary-orin-1"),
    ],
)
def test_files_get_the_device_before_their_suffix(named, found):
    assert of_device(Path(named), "orin-1") == Path(found)


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/null"])
def test_what_is_no_file_cannot_be_several(path):
    with pytest.raises(pytest.UsageError, match="several devices cannot write into"):
        of_device(Path(path), "orin-1")


def _runs(*statuses):
    return SimpleNamespace(by_name={str(at): SimpleNamespace(status=one) for at, one in enumerate(statuses)})


def test_the_worst_exit_status_counts():
    order = [3, 2, 1, 4, 12, 11, 10, 5, 0]
    for at, worst in enumerate(order):
        for statuses in permutations([worst, *order[at + 1 :][:2]]):
            assert status_of(_runs(*statuses)) == worst
    assert status_of(_runs(0, -9)) == 3
    assert status_of(_runs(0, 77)) == 3
