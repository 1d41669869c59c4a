"""Results in a folder of another user, who puts links where root keeps raw files: they lead to nothing."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import contextlib
import os

import pytest

from another_user import USER, as_its_owner, directory  # noqa: F401 (fixture)
from iogate.errors import IogateError
from iogate.host import process
from iogate.measure import local_bench
from iogate.measure.bench import Pair
from iogate.measure.local_bench import LocalBench, folder_name
from iogate.measure.settings import Settings
from iogate.model import Device
from iogate.report.session_folders import SessionFolder
from loops import own_locks  # noqa: F401 (fixture)
from projects import need_fio
from workloads import declared

pytestmark = pytest.mark.system
FILES = ("job.fio", "output.json", "stdout", "stderr")
READS = {
    "fio": declared("fio", rw="read", size="64k", bs="4k", ioengine="psync", direct=False),
    "reader": declared("reader", rw="read", size="64k", bs="4k", direct=False),
}


class Heard:
    """Is told of a run."""

    def tick(self, elapsed, bandwidth):
        pass

    def laying_out(self, done, total):
        pass

    def notice(self, text):
        pass


@pytest.fixture
def session(directory):
    """Where a session is kept; its folder is made by root, as a run does."""
    folder = directory / "results" / "session"
    with as_its_owner():
        folder.parent.mkdir()
    folder.mkdir()
    return folder


def trap(session, victim, *within):
    """Make another folder for the session, with links where raw files will be."""
    folder = session.with_name("trap").joinpath(folder_name("id"), "1", *within)
    with as_its_owner():
        folder.mkdir(parents=True)
        for name in FILES:
            (folder / name).symlink_to(victim)


def swap(session):
    with as_its_owner():
        session.rename(session.with_name("aside"))
        session.with_name("trap").rename(session)


@pytest.fixture
def bench(session, tmp_path, own_locks):
    target = tmp_path / "target"
    target.mkdir()
    settings = Settings(root=tmp_path, target=str(target))
    bench = LocalBench(settings, Device("d", str(target)), session, Heard())
    yield bench
    bench.close()


@pytest.fixture
def victim(tmp_path):
    file = tmp_path / "victim"
    file.write_text("what root has")
    return file


@pytest.mark.parametrize("engine", READS)
def test_a_folder_that_is_replaced_after_it_was_made(engine, bench, session, victim, monkeypatch):
    need_fio()
    trap(session, victim)
    real = process.run
    monkeypatch.setattr(process, "run", lambda *given, **more: swap(session) or real(*given, **more))
    assert bench.repeat("id", READS[engine], 1, ()).metrics["read.bandwidth"] > 0
    assert victim.read_text() == "what root has"


@pytest.mark.parametrize("engine", READS)
def test_a_folder_that_was_there_before(engine, bench, session, victim):
    need_fio()
    trap(session, victim)
    swap(session)
    with pytest.raises(IogateError, match=r"cannot keep raw files in .*: it belongs to user 65534"):
        bench.repeat("id", READS[engine], 1, ())
    assert victim.read_text() == "what root has"


def test_a_link_in_the_way(bench, session, tmp_path):
    with as_its_owner():
        session.with_name("trap").mkdir()
        (session.with_name("trap") / folder_name("id")).symlink_to(tmp_path)
    swap(session)
    with pytest.raises(IogateError, match=r"cannot keep raw files in .*: a link or a file is in the way"):
        bench.repeat("id", READS["reader"], 1, ())
    assert not (tmp_path / "1").exists()


def test_both_arms_of_a_pair(bench, session, victim, monkeypatch):
    need_fio()
    for arm in "AB":
        trap(session, victim, arm)
    real = local_bench.alternate
    monkeypatch.setattr(
        local_bench, "alternate", lambda *given, **more: swap(session) or real(*given, **more)
    )
    with contextlib.suppress(IogateError):  # a block that is tried again finds the folder replaced
        bench.alternate("id", Pair((READS["fio"], READS["fio"]), "one", 1, False, 8), 1, ())
    assert victim.read_text() == "what root has"


@pytest.mark.parametrize("when", ["before the run", "in mid-run"])
def test_results_in_a_folder_that_is_replaced(session, victim, when):
    with as_its_owner():
        trap = session.with_name("trap")
        trap.mkdir()
        (trap / "results.json").symlink_to(victim)
    folder = SessionFolder(session) if when == "in mid-run" else None
    swap(session)
    folder = folder or SessionFolder(session)
    with pytest.raises(IogateError, match=r"cannot write .*/session/results.json: "):
        folder.write("results.json", "what was measured")
    folder.close()
    assert victim.read_text() == "what root has"


def test_a_job_file_is_nobody_else_s_to_write_to(bench, session):
    """It may run commands; the umask of some services and containers is none at all."""
    before = os.umask(0)
    try:
        bench.repeat("id", READS["fio"], 1, ())
    finally:
        os.umask(before)
    raw = session / folder_name("id") / "1"
    assert {path.name for path in raw.iterdir()} == set(FILES)
    for path in (raw.parent, raw, *raw.iterdir()):
        assert not path.stat().st_mode & 0o022, path
