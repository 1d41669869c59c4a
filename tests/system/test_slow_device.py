"""A device that is slower than any estimate is measured, as long as it moves data."""

import pytest

pytestmark = pytest.mark.system

ESTIMATES = """
from iogate.engines.fio import engine as fio
from iogate.engines.reader import engine as reader
for engine in fio, reader:
    engine._PATIENCE = -0.6  # estimates are whole seconds
    engine._SLOWEST_IOPS = dict.fromkeys(engine._SLOWEST_IOPS, 10_000)
"""
SUITE = """\
defaults: {bs: 4k, size: 400k, repetitions: 2}
workloads:
  etcd: {rw: write, ioengine: sync, direct: false, size: 200k, fio: {fdatasync: 1}}
  random: {rw: randread}
  reader: {engine: reader, rw: randread}
"""


def test_what_ends_by_size_is_measured_on_a_device_slower_than_the_estimate(project, throttled):
    disk = throttled("ext4")
    project.suite(SUITE)
    project.device("lab", f"target: {disk.point}\n")
    project.conftest(ESTIMATES)
    result = disk.run(project, 100, "suites", "--device=lab", "--update-baselines")
    assert set(result.verdicts.values()) == {"recorded"}, result.text
