"""Engines of installed packages: known by their entry points, and told in words where they fail."""

import pytest

from iogate import engines
from iogate.errors import InputError
from iogate.offline.show import show
from places import DATA

ENGINE = """
class Odd:
    name, program, package = "odd", "odd", "odd"
    def options(self, given): return dict(given)
    def schema(self): return {"properties": {}}
    def check(self, workloads): return []
    def gating(self, workload): return ("read.iops",)
    def needs(self, workload): raise NotImplementedError
    def command(self, workload, place): raise NotImplementedError
    def parse(self, text, *, name, completed=None): raise NotImplementedError
    def recognises(self, text): return text.partition("odd ")[2][:1].index("1") == 0

engine = Odd()
"""


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """An installed package whose engine fails at texts that are not its own."""
    (tmp_path / "odd_engine.py").write_text(ENGINE)
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[iogate.engines]\nodd = odd_engine:engine\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("odd")
def test_an_engine_of_a_package_is_known_beside_those_that_come_with_iogate():
    assert {"odd", "fio", "reader"} <= set(engines.names())
    assert engines.recognise("odd 1") == ["odd"]


@pytest.mark.usefixtures("odd")
def test_one_that_fails_at_a_text_is_told_by_name():
    with pytest.raises(InputError, match="the engine 'odd' of an installed package failed"):
        engines.recognise("words")


@pytest.mark.usefixtures("odd")
def test_one_that_fails_does_not_keep_others_from_theirs():
    path = DATA / "fio" / "fio-3.33.randrw70.json"
    text, status = show([path], as_json=False)
    assert status == 0 and "read.iops" in text


def test_an_unknown_engine_is_no_engine():
    with pytest.raises(KeyError):
        engines.load("odd")
