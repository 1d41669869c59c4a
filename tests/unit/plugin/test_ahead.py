"""Whether a test has the target that its workload was measured on."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from iogate.errors import LostError, TargetError
from iogate.plugin.ahead import _moved

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
    assert _moved(bench([None, None], ("a", "b")), "") is None
    assert _moved(bench([None, CHANGED], ("a", "b")), "").rule == "changed"


def test_what_is_refused_for_another_reason_is_no_change():
    full = TargetError("it is full", rule="space")
    assert _moved(bench([full]), "") is None
    assert _moved(bench([LostError("it does not answer")]), "") is None


@pytest.mark.parametrize("kind", ["target", "link", "elsewhere", "image"])
def test_a_link_is_followed_anew(tmp_path, kind):
    """The image of a pair is a file, and measured in a folder of its own."""
    place, other, image = (tmp_path / name for name in ("place", "other", "image"))
    place.mkdir()
    other.mkdir()
    image.touch()
    named = tmp_path / "link"
    leads = {"target": place, "link": place, "elsewhere": other, "image": image}[kind]
    named.symlink_to(leads)
    found = _moved(bench([None], path=str(place)), str(place if kind == "target" else named))
    assert (found is not None) is (kind == "elsewhere")
