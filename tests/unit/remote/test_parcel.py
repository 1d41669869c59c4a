"""What is sent runs on the standard library alone."""

import io
import subprocess
import sys
import zipfile

import pytest

from iogate.engines.registry import _OWN
from iogate.remote.parcel import parcel

ALONE = """
import sys
sys.path.insert(0, sys.argv[1])

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in (*sys.stdlib_module_names, "iogate"):
            raise ImportError(f"{name} is not sent")

sys.meta_path.insert(0, Nothing())
import iogate.remote.far
import iogate.remote.sweep
from iogate import engines
from iogate.model import Place, Workload
from iogate.remote.wire import unpacked
from iogate.target.layout import lay_out
from pathlib import Path

for name in sys.argv[3:]:
    engine = engines.load(name)
file = Path(sys.argv[2])
lay_out(file, 20 * 2**20, direct=False)
workload = unpacked(Workload, sys.stdin.read())
engine = engines.load("fio")
print(engine.command(workload, Place(file, None, file.parent)).files["job.fio"])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parcel")
    with zipfile.ZipFile(io.BytesIO(parcel())) as archive:
        archive.extractall(folder)
    return folder


def test_the_far_side_needs_no_other_package(folder, tmp_path, monkeypatch):
    from fake_bench import reads
    from iogate.remote.wire import packed

    program = tmp_path / "fio"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    argv = [sys.executable, "-I", "-S", "-B", "-c", ALONE, str(folder), str(tmp_path / "data"), *_OWN]
    done = subprocess.run(argv, input=packed(reads("sent")), capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    assert "rw=randread" in done.stdout


def test_it_has_the_programs_in_c_and_nothing_of_home(folder):
    assert (folder / "iogate/engines/reader/reader.c").exists()
    assert not (folder / "iogate/plugin").exists()
    assert not list(folder.rglob("__pycache__"))
