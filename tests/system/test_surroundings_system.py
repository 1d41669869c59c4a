"""A conftest.py mounts the disk, and unmounts it: workloads are measured there, and nothing keeps it."""

import os

import pytest

from loops import MIB, Loops, format_device, need

SUITE = """\
workloads:
  read: {engine: fio, rw: randread, bs: 4k, size: 8m, runtime: 0.2, time_based: true, direct: true}
"""
CONFTEST = """\
import os
import subprocess
import pytest

@pytest.fixture(scope="session", autouse=True)
def card():
    subprocess.run(["mount", {device!r}, {point!r}], check=True)
    yield
    subprocess.run(["umount", {point!r}], check=True)
"""


@pytest.mark.system
def test_a_disk_that_a_fixture_mounts_is_the_one_that_is_measured(project, tmp_path):
    need("mkfs.ext4")
    project.host = ""
    with Loops(tmp_path) as loops:
        device = loops.device(64 * MIB)
        format_device("ext4", device)
        point = tmp_path / "card"
        point.mkdir()
        project.suite(SUITE)
        project.device("lab", f"target: {point}\nmissing: record\n")
        (project.path / "conftest.py").write_text(CONFTEST.format(device=str(device), point=str(point)))
        result = project.run("suites", "--device=lab")
        assert (result.status, result.verdicts) == (0, {"read": "recorded"}), result.text
        assert not os.path.ismount(point) and not list(point.iterdir())
        assert str(device).rpartition("/")[2] in result.text  # the finding of its page cache names it
