"""Whether a test has the target that its workload was measured on."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from iogate.errors import LostError, TargetError
from iogate.model import Device, Needs
from iogate.plugin.ahead import _moved
from iogate.target import refusals, resolve

CHANGED = TargetError("it is not what it was", rule="changed")


def bench(answers, hosts=(), path="/target"):
    """A bench of which each client answers what is refused there."""

    def refusals(needs):
        found = [answers[number] for number in range(needs.clients)]
        if any(isinstance(each, LostError) for each in found):
            raise found[0]
        return [each for each in found if each]

    return SimpleNamespace(hosts=hosts, target=SimpleNamespace(path=Path(path)), refusals=refusals)


def test_each_client_is_asked():
    assert _moved(bench([None, None], ("a", "b")), here=False) is None
    assert _moved(bench([None, CHANGED], ("a", "b")), here=False).rule == "changed"


def test_what_is_refused_for_another_reason_is_no_change():
    full = TargetError("it is full", rule="space")
    assert _moved(bench([full]), here=False) is None
    assert _moved(bench([LostError("it does not answer")]), here=False) is None


@pytest.mark.parametrize(
    ("named", "found"),
    [("place", False), ("link", False), ("../{}/place", False), ("deep/../place", False), ("other", True)],
)
def test_a_link_is_followed_anew(tmp_path, named, found):
    """By the way that was gone when the target was found: `..` behind a link is beside what that leads to."""
    for folder in ("place", "elsewhere", "real/deep", "real/place"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to("place")
    (tmp_path / "deep").symlink_to("real/deep")
    (tmp_path / "other").symlink_to("place")
    target = resolve(Device("d", named.format(tmp_path.name)), tmp_path)
    (tmp_path / "other").unlink()
    (tmp_path / "other").symlink_to("elsewhere")
    given = SimpleNamespace(hosts=(), target=target, refusals=lambda needs: [])
    assert (_moved(given, here=True) is not None) is found
    assert _moved(given, here=False) is None


def test_a_target_is_where_it_was_whatever_the_working_directory_and_a_home_are(tmp_path, monkeypatch):
    (tmp_path / "home/bench").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for target in (
        resolve(Device("d", "~/bench"), tmp_path),
        resolve(Device("d", "."), tmp_path, "home/bench"),
    ):
        monkeypatch.chdir("/")
        given = SimpleNamespace(hosts=(), target=target, refusals=lambda needs: [])
        assert _moved(given, here=True) is None
        monkeypatch.chdir(tmp_path)


def test_a_target_that_need_only_be_there_is_looked_through_for_nothing_else(tmp_path, monkeypatch):
    """It is asked of each test, and whoever may write there may put thousands of folders into it."""
    module = sys.modules["iogate.target.refusals"]
    monkeypatch.setattr(module, "reclaimable", lambda path: pytest.fail("it is looked through"))
    device = Device("d", "place")
    (tmp_path / "place").mkdir()
    target = resolve(device, tmp_path)
    assert refusals(target, Needs(clients=2), device=device, consent=None) == []
    (tmp_path / "place").rename(tmp_path / "gone")
    (tmp_path / "place").mkdir()
    (changed,) = refusals(target, Needs(), device=device, consent=None)
    assert changed.rule == "changed"
