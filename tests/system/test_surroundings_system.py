"""A conftest.py mounts the disk, and unmounts it: workloads are measured there, and nothing keeps it."""

import os

import pytest

from loops import MIB, Loops, format_device, need
from waiting import eventually

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


@pytest.fixture
def card(project, tmp_path):
    """Return the disk, and the folder that is the target, where a conftest.py is to mount it."""
    need("mkfs.ext4")
    project.host = ""
    point = tmp_path / "card"
    point.mkdir()
    project.suite(SUITE)
    project.device("lab", f"target: {point}\nmissing: record\n")
    with Loops(tmp_path) as loops:
        device = loops.device(64 * MIB)
        format_device("ext4", device)
        yield str(device), str(point)
        assert not os.path.ismount(point) and not list(point.iterdir())


@pytest.mark.system
def test_a_disk_that_a_fixture_mounts_is_the_one_that_is_measured(project, card):
    device, point = card
    (project.path / "conftest.py").write_text(CONFTEST.format(device=device, point=point))
    result = project.run("suites", "--device=lab")
    assert (result.status, result.verdicts) == (0, {"read": "recorded"}), result.text
    assert device.rpartition("/")[2] in result.text  # the finding of its page cache names it


@pytest.mark.system
@pytest.mark.parametrize("given", ["autouse", "last", "on a host", "before another skips"])
def test_what_a_fixture_of_each_test_mounts_was_not_measured(project, card, given):
    """What lies below the mount was recorded as the speed of the card."""
    device, point = card
    if given == "on a host":
        project.device("lab", f"target: {point}\nmissing: record\nhost: popen\n")
    text = CONFTEST.format(device=device, point=point).replace('"session"', '"function"')
    if given == "before another skips":
        text += "\n@pytest.fixture(autouse=True)\ndef supply(card): pytest.skip('no supply')\n"
    if given == "last":
        text = text.replace(", autouse=True", "")
        text += "\ndef pytest_itemcollected(item): item.fixturenames.append('card')\n"
    text = text.replace('["umount",', '["umount", "--lazy",')  # what was measured is held open
    (project.path / "conftest.py").write_text(text)
    result = project.run("suites", "--device=lab")
    status = 0 if given == "before another skips" else 12
    assert (result.status, result.verdicts) == (status, {"read": "invalid"}), result.text
    text = " ".join(result.text.split())
    assert "was mounted, unmounted or replaced since it was measured" in text
    assert ("invalid, and its test was skipped once it was measured" in text) is (status == 0)
    assert not (project.path / "baselines/lab/demo.yaml").exists()


CHANGES = """\
import pytest, time
@pytest.fixture(scope="session", autouse=True)
def power_mode():
    with open({log!r}, "a", buffering=1) as log:
        log.write("up\\n")
        yield
        time.sleep(1)
        log.write("down\\n")
"""


@pytest.mark.system
@pytest.mark.parametrize("scope", ["session", "module"])
def test_of_two_runs_on_one_target_only_one_has_its_fixtures_set_up(project, tmp_path, scope):
    """Else the one that ends first, or is refused, would undo what the other one is measured in."""
    project.host = ""
    log = tmp_path / "log"
    project.suite(SUITE)
    project.device("lab", "target: .\nmissing: record\n")
    text = CHANGES.format(log=str(log)).replace('"session"', f'"{scope}"')
    (project.path / "conftest.py").write_text(text)
    first = project.start("suites", "--device=lab", "--io-runtime=0.5")
    eventually(lambda: log.exists() and log.read_text() == "up\n")
    refused = project.run("suites", "--device=lab")
    assert refused.status == 4 and "another run has set up what fixtures make for" in refused.text
    assert log.read_text() == "up\n"
    waited = project.run("suites", "--device=lab", "--io-runtime=0.5", "--io-wait=100s")
    assert project.finish(first).status == 0
    assert list(waited.verdicts) == ["read"], waited.text  # measured: how fast, does not matter here
    assert log.read_text() == "up\ndown\nup\ndown\n"
