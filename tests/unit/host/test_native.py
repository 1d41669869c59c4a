"""Programs compiled on demand: once, in private, and with clear words where that cannot be."""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

from iogate.errors import EngineError
from iogate.host import native

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler"
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache" / "iogate"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "hello.c"
    path.write_text('#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
    return path


@needs_compiler
def test_a_program_is_compiled_once_for_each_source_and_flags(source, cache):
    first = native.compile_program(source)
    assert subprocess.check_output([first]) == b"hello\n"
    written = first.stat().st_mtime_ns
    assert native.compile_program(source) == first and first.stat().st_mtime_ns == written
    assert native.compile_program(source, ("-O0",)) != first
    source.write_text(source.read_text().replace("hello", "other"))
    assert subprocess.check_output([native.compile_program(source)]) == b"other\n"
    assert len(list(cache.iterdir())) == 3


@needs_compiler
def test_where_a_program_will_be_is_known_before_anything_is_compiled(source, cache):
    path = native.program_path(source)
    assert not cache.exists()
    assert native.compile_program(source) == path


@needs_compiler
def test_a_program_is_on_the_device_before_it_has_its_name(source, cache, monkeypatch):
    """A power cut would leave the name of an empty program, which no later run could start."""
    flushed = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda file: (fsync(file), flushed.append(os.fstat(file).st_ino)))
    monkeypatch.setattr(
        Path, "replace", lambda part, to: (flushed.index(part.stat().st_ino), replace(part, to))[1]
    )
    compiled = native.compile_program(source)
    code = compiled.read_bytes()
    compiled.unlink()
    monkeypatch.setattr(native, "compile_elsewhere", lambda source, flags: code)
    monkeypatch.setattr(native, "_compiler", tuple)
    assert subprocess.check_output([native.compile_program(source)]) == b"hello\n"
    assert len(flushed) == 2


@needs_compiler
def test_a_program_that_a_power_cut_left_empty_is_made_again(source, cache):
    program = native.compile_program(source)
    program.write_bytes(b"")
    assert native.compile_program(source) == program
    assert subprocess.check_output([program]) == b"hello\n"


def test_another_compiler_makes_another_program(source, monkeypatch, tmp_path):
    compiler = tmp_path / "some-cc"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", f"{compiler} -pipe")
    first = native.program_path(source)
    compiler.write_text("#!/bin/sh\n# a newer one\n")
    assert native.program_path(source) != first


@needs_compiler
def test_the_cache_is_private(source, cache):
    program = native.compile_program(source)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(program.stat().st_mode) == 0o700


@needs_compiler
def test_runs_that_compile_at_once_all_get_a_whole_program(source, cache):
    said = []

    def run():
        said.append(subprocess.check_output([native.compile_program(source)]))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [b"hello\n"] * 6
    assert len(list(cache.iterdir())) == 1


@needs_compiler
def test_errors_of_the_compiler_are_shown_and_nothing_is_left(source, cache):
    source.write_text("int main(void) { return nothing; }\n")
    with pytest.raises(EngineError, match=r"(?s)hello\.c -o .* failed:.*nothing.*undeclared"):
        native.compile_program(source)
    assert list(cache.iterdir()) == []


@needs_compiler
def test_missing_headers_name_the_package(source):
    source.write_text("#include <no_such_header.h>\n")
    with pytest.raises(EngineError, match="libc6-dev"):
        native.compile_program(source)


@needs_compiler
def test_cc_names_the_compiler(source, monkeypatch):
    monkeypatch.setenv("CC", "gcc -DX=1" if shutil.which("gcc") else "clang -DX=1")
    assert subprocess.check_output([native.compile_program(source)]) == b"hello\n"


def test_without_a_compiler_the_package_is_named(source, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"(?s)no C compiler.*apt-get install gcc"):
        native.compile_program(source)


@pytest.mark.parametrize(("named", "said"), [("no-such-cc", "not installed"), ("'", "not a command")])
def test_a_wrong_cc_is_said(source, monkeypatch, named, said):
    monkeypatch.setenv("CC", named)
    with pytest.raises(EngineError, match=said):
        native.compile_program(source)


@needs_compiler
def test_a_cache_that_others_can_write_to_is_refused(source, cache):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    with pytest.raises(EngineError, match="can be written by others"):
        native.compile_program(source)


@needs_compiler
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_cache_of_somebody_else_is_refused(source, cache):
    cache.mkdir(parents=True, mode=0o700)
    os.chown(cache, 65534, 65534)
    with pytest.raises(EngineError, match="belongs to the user number 65534"):
        native.compile_program(source)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("kept", ["HOME", "XDG_CACHE_HOME"])
def test_root_keeps_no_programs_where_another_user_could_put_others(kept, source, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv(kept, str(home))
    assert native.program_path(source).parent == Path(pwd.getpwuid(0).pw_dir) / ".cache/iogate"
    os.chown(home, 0, 0)
    assert home in native.program_path(source).parents


@pytest.mark.skipif(os.geteuid() != 0, reason="only root keeps away from other users' folders")
def test_root_keeps_no_programs_behind_a_link_of_its_own_to_a_folder_of_all(source, tmp_path, monkeypatch):
    """There another user can put another folder in the place of what is kept."""
    shared, home = tmp_path / "shared", tmp_path / "home"
    shared.mkdir()
    home.mkdir()
    (home / ".cache").symlink_to(shared)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(home))
    assert home in native.program_path(source).parents
    shared.chmod(0o777)
    assert home not in native.program_path(source).parents


def test_what_a_compiler_makes_on_its_way_is_out_of_reach(source, cache, tmp_path, monkeypatch):
    """An object file that another user replaces would be linked in."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "open"))
    seen = tmp_path / "seen"
    compiler = tmp_path / "some-cc"
    compiler.write_text(f'#!/bin/sh\necho "$TMPDIR" > {seen}\nfor last; do :; done; echo > "$last"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    native.compile_program(source)
    assert seen.read_text().strip() == str(cache)


def test_programs_for_elsewhere_are_not_compiled_where_another_user_could_replace_them(
    source, tmp_path, monkeypatch
):
    exposed = tmp_path / "open"
    exposed.mkdir()
    exposed.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(exposed))
    compiler = tmp_path / "some-cc"
    compiler.write_text('#!/bin/sh\nfor last; do :; done; echo "$last" > "$last"\n')
    compiler.chmod(0o755)
    assert not native.compiled_by(str(compiler), source).startswith(bytes(exposed))


@needs_compiler
def test_a_cache_that_leads_elsewhere_is_refused(source, cache, tmp_path):
    cache.parent.mkdir()
    cache.symlink_to(tmp_path)
    with pytest.raises(EngineError, match="is not a folder"):
        native.compile_program(source)


@needs_compiler
def test_a_home_that_cannot_be_written_is_said(source, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing")
    with pytest.raises(EngineError, match="XDG_CACHE_HOME"):
        native.compile_program(source)
