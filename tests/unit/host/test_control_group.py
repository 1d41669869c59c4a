"""Limits of control groups of both versions, on trees as hosts and containers have them."""

from pathlib import Path

import pytest

from iogate.host.control_group import CpuLimit, cpu_limit, memory_limit

V1 = "cpu,cpuacct"
MOUNTS = """\
30 22 0:26 {top} /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
31 22 0:27 {top} /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu,cpuacct
32 22 0:28 {top} /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory
"""


def machine(root: Path, groups: str, files: dict[str, str], top: str = "/") -> Path:
    """A machine below `root` on which this process is in `groups`; the files lie below /sys/fs/cgroup."""
    known = {"proc/self/cgroup": groups, "proc/self/mountinfo": MOUNTS.format(top=top)}
    for name, text in {**known, **{f"sys/fs/cgroup/{name}": text for name, text in files.items()}}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_tightest_group_from_ones_own_upwards_limits(tmp_path):
    files = {
        "unified/cpu.stat": "usage_usec 5\n",
        "unified/ci.slice/cpu.max": "150000 50000\n",
        "unified/ci.slice/job/cpu.max": "max 100000\n",
        "unified/ci.slice/job/memory.max": "1048576\n",
        "unified/ci.slice/memory.max": "max\n",
        "unified/other/cpu.max": "1000 100000\n",
    }
    root = machine(tmp_path, "0::/ci.slice/job\n", files)
    assert cpu_limit(root) == CpuLimit(3.0, 0.05)
    assert memory_limit(root) == 1 << 20


def test_version_1_has_a_tree_for_each_controller(tmp_path):
    files = {
        "cpu/job/cpu.cfs_quota_us": "20000\n",
        "cpu/job/cpu.cfs_period_us": "100000\n",
        "cpu/job/cpu.stat": "nr_periods 40\nnr_throttled 7\nthrottled_time 812345\n",
        "cpu/cpu.cfs_quota_us": "-1\n",
        "cpu/cpu.cfs_period_us": "100000\n",
        "memory/small/memory.limit_in_bytes": "4096\n",
        "memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    root = machine(tmp_path, "3:memory:/small\n2:cpu,cpuacct:/job\n0::/\n", files)
    assert cpu_limit(root) == CpuLimit(0.2, 0.1, stopped=7)
    assert memory_limit(root) == 4096
    (root / "proc/self/cgroup").write_text("3:memory:/\n2:cpu,cpuacct:/\n")
    assert (cpu_limit(root), memory_limit(root)) == (None, None)


@pytest.mark.parametrize(
    ("own", "top"),
    [
        ("/docker/a1/init", "/docker/a1"),  # the container's part of the tree is mounted
        ("/", "/"),  # a namespace of its own
        ("/../../elsewhere", "/"),  # another namespace's
        ("/docker/b2", "/docker/a1"),
    ],
)
def test_a_container_sees_its_own_part_of_the_tree(tmp_path, own, top):
    root = machine(tmp_path, f"0::{own}\n", {"unified/cpu.max": "50000 100000\n"}, top)
    assert cpu_limit(root) == CpuLimit(0.5, 0.1)


@pytest.mark.parametrize("text", ["", "max", "50000", "50000 0", "-1 100000", "many 100000"])
def test_what_is_no_limit_is_none(tmp_path, text):
    root = machine(tmp_path, "0::/\nnonsense\n", {"unified/cpu.max": text, "unified/memory.max": "max"})
    assert (cpu_limit(root), memory_limit(root)) == (None, None)
    assert cpu_limit(tmp_path / "nothing") is None
