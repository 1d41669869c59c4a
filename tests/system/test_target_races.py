"""A target directory of another user, who renames what root works in: root's writes go nowhere else."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import random
import shutil

import pytest

from another_user import as_its_owner, directory, is_left_to_its_owner, swapping  # noqa: F401 (fixture)
from iogate.errors import IogateError
from iogate.measure.local_bench import LocalBench
from iogate.measure.settings import Settings
from iogate.model import Device
from loops import own_locks  # noqa: F401 (fixture)
from projects import need_fio
from waiting import eventually
from workloads import declared

pytestmark = pytest.mark.system
RACES = 200
SIZE = 65536


class Patient:
    """Lets every other run begin to measure only when the folder was replaced."""

    def __init__(self, target, number):
        self.waits = number % 2 == 1
        self.aside = target / "aside"

    def tick(self, elapsed, bandwidth):
        pass

    def laying_out(self, done, total):
        if self.waits:
            eventually(self.aside.exists)

    def notice(self, text):
        pass


@pytest.fixture
def attacked(directory, tmp_path):
    """A directory of another user, who puts a folder with links to the victim in the place of root's."""
    victim = tmp_path / "victim"
    victim.write_bytes(random.randbytes(SIZE))
    tmp_path.chmod(0o755)
    trap = directory / "trap"
    with as_its_owner():
        (trap / "engine").mkdir(parents=True)
        trap.chmod(0o777)
        for link in ("iogate", f"data-{SIZE}", "engine/data", "engine/iozone-1"):
            (trap / link).symlink_to(victim)
    with swapping(directory, delays=(0, 0.02), swaps=(0, 0, 20)):
        yield directory, victim


def rewriting(engine):
    if engine == "reader":
        return declared("reader", rw="rw", size=str(SIZE), bs="4k", direct=False, end_fsync=False)
    if engine == "fio":
        return declared("fio", rw="write", size=str(SIZE), bs="4k", ioengine="psync", direct=False)
    return declared("iozone", size="64k", record_size="4k", minimum_size="64k", minimum_record_size="4k")


def race(engine, target, folder, number):
    """One repetition of that engine in the directory; how it was refused, if it was."""
    device = Device("d", str(target))
    bench = LocalBench(Settings(root=folder, target=str(target)), device, folder, Patient(target, number))
    workload = rewriting(engine)
    try:
        bench.repeat("races", workload, 1, ())
    except IogateError as error:
        rule = getattr(error, "rule", "")
        return rule if rule == "changed" else f"{rule}: {error}"
    finally:
        bench.close()
    return ""


def test_whoever_owns_the_directory_leads_no_write_elsewhere(own_locks, attacked, tmp_path):
    need_fio()
    target, victim = attacked
    before, content = victim.stat(), victim.read_bytes()
    engines = ["fio"] * 10 + (["iozone"] * 5 if shutil.which("iozone") else [])
    engines += ["reader"] * (RACES - len(engines))
    outcomes = [race(engine, target, tmp_path / "results", number) for number, engine in enumerate(engines)]
    after = victim.stat()
    assert victim.read_bytes() == content
    assert (after.st_mtime_ns, after.st_ino, after.st_size) == (before.st_mtime_ns, before.st_ino, SIZE)
    assert set(outcomes) <= {"", "changed"}
    assert outcomes.count("changed") > RACES / 4
    assert eventually(lambda: is_left_to_its_owner(target))
