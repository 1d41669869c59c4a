"""Programs are compiled here for a machine that has no compiler."""

import platform
import shutil
import subprocess

import pytest

from iogate.errors import EngineError
from iogate.host import native
from iogate.host.native import compile_program
from iogate.remote.compilers import compiled_for

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


def test_a_program_for_the_same_kind_of_machine_needs_no_libraries(tmp_path):
    program = tmp_path / "reader"
    program.write_bytes(compiled_for(platform.machine(), "reader/reader.c"))
    program.chmod(0o755)
    assert not subprocess.run(["ldd", str(program)], capture_output=True, check=False).stdout.count(b"=>")
    assert subprocess.run([str(program)], capture_output=True, check=False).stderr


def test_a_program_for_another_kind_of_machine(tmp_path):
    if platform.machine() == "aarch64" or not shutil.which("aarch64-linux-gnu-gcc"):
        pytest.skip("needs gcc-aarch64-linux-gnu")
    assert compiled_for("aarch64", "reader/reader.c")[18:20] == b"\xb7\x00"  # e_machine: EM_AARCH64


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "reader/engine.py", "fio/fio.c"])
def test_nothing_but_the_engines_own_programs_is_compiled(name):
    with pytest.raises(EngineError, match="is no program of an engine"):
        compiled_for(platform.machine(), name)


def test_a_machine_that_nobody_compiles_for():
    with pytest.raises(EngineError, match="none here for pdp11") as caught:
        compiled_for("pdp11", "reader/reader.c")
    assert "a cross compiler here" in caught.value.remedy


def test_what_another_machine_compiled_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    asked = []
    monkeypatch.setattr(
        native, "compile_elsewhere", lambda *what: asked.append(what) or b"#!/bin/sh\necho it\n"
    )
    source = tmp_path / "it.c"
    source.write_text("int main(void) { return 0; }")
    for _ in range(2):
        program = compile_program(source)
        assert subprocess.run([str(program)], capture_output=True, check=True).stdout == b"it\n"
    assert asked == [(source, native.FLAGS)]
    assert [path.name for path in program.parent.iterdir()] == [program.name]
