"""Programs in C that come as source and are compiled on demand, once for each source, compiler and flags.

They are kept in a private folder of this user's cache (XDG Base Directory Specification). A program there is
run with the rights of whoever calls, so a folder that others could write to is refused.
"""

from __future__ import annotations

import hashlib
import os
import platform
import pwd
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from iogate.errors import EngineError
from iogate.host.exposure import safe_temporary_folder
from iogate.host.tools import tool_path
from iogate.units import printable

FLAGS = ("-std=gnu11", "-O2", "-pthread")
_COMPILERS = ("cc", "gcc", "clang")
compile_elsewhere: Callable[[Path, Sequence[str]], bytes] | None = None
"""Who compiles a program where there is no compiler; None: nobody does."""
_SECONDS = 300
_LINES_SHOWN = 20
_INSTALL = "install one, on Debian and Ubuntu: apt-get install gcc libc6-dev"


def compile_program(source: Path, flags: Sequence[str] = FLAGS) -> Path:
    """Return the program that a C file makes, compiled now unless it was before. `$CC` names the compiler.

    Two runs may compile the same file at once: each makes a file of its own and renames it. Raises
    EngineError if there is no compiler, if it fails, or if the cache cannot be trusted.
    """
    program = program_path(source, flags)
    _make_cache(program.parent)
    if not _usable(program):
        compiler = _compiler()
        if compiler or compile_elsewhere is None:
            _compile(compiler, source, flags, program)
        else:
            _put(compile_elsewhere(source, flags), program)
    return program


def compiled_by(compiler: str, source: Path, flags: Sequence[str] = FLAGS) -> bytes:
    """Return the program that a compiler, which may be of another machine, makes of a C file. Raises
    EngineError.
    """
    try:
        around = safe_temporary_folder()
    except OSError as error:
        raise EngineError(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="iogate-", dir=around) as folder:
        program = Path(folder) / source.stem
        _compile((compiler,), source, flags, program)
        return program.read_bytes()


def program_path(source: Path, flags: Sequence[str] = FLAGS) -> Path:
    """Return where `compile_program` puts the program; nothing is started or written for it.

    Raises EngineError if there is no compiler, or no place for programs.
    """
    compiler = _compiler()
    try:
        code = source.read_bytes()
    except OSError as error:
        raise EngineError(f"cannot read {source}: {error.strerror}") from error
    parts = (code.decode(errors="replace"), *compiler, *_identity(compiler), platform.machine(), *flags)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return _cache() / f"{source.stem}-{digest[:16]}"


def _compiler() -> tuple[str, ...]:
    """Return the compiler's command; an empty one where another machine compiles. Raises EngineError that
    names the package if there is none.
    """
    named = os.environ.get("CC", "").strip()
    if named:
        try:
            words = shlex.split(named)
        except ValueError as error:
            raise EngineError(f"CC={named!r} is not a command: {error}") from error
        if shutil.which(words[0]) is None:
            raise EngineError(f"CC names {words[0]!r}, which is not installed", remedy="unset or correct CC")
        return tuple(words)
    for name in _COMPILERS:
        if program := shutil.which(name, path=tool_path()):
            return (program,)
    if compile_elsewhere:
        return ()
    raise EngineError("there is no C compiler (cc, gcc or clang), which this engine needs", remedy=_INSTALL)


def _identity(compiler: Sequence[str]) -> Iterator[str]:
    """Yield what tells a compiler from an older one without running it: size and time of change of each
    program in its command. ccache, which is such a program itself, knows compilers by the same.
    """
    for path in filter(None, map(shutil.which, compiler)):
        with suppress(OSError):  # gone since: it cannot be started either
            status = os.stat(path)
            yield f"{os.path.realpath(path)} {status.st_size} {status.st_mtime_ns}"


def _cache() -> Path:
    """Return where the cache folder is, or would be. Raises EngineError if this user has no home.

    That is root's own home where others could put another folder in its place: sudo may keep their HOME.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(named) if named.startswith("/") else Path.home() / ".cache"
        real = Path(os.path.realpath(folder))  # it may be a link to where others may rename what is in it
        if not os.geteuid() and any(map(_is_for_others, (folder, real, *real.parents))):
            folder = Path(pwd.getpwuid(0).pw_dir) / ".cache"
        return folder / "iogate"
    except (RuntimeError, KeyError) as error:
        raise _no_place(error) from error


def _is_for_others(folder: Path) -> bool:
    """Return whether others than root may rename what is in a folder, or is its link."""
    try:
        status = folder.lstat()
    except OSError:
        return False  # it is not there: root makes it
    open_to_all = (
        stat.S_ISDIR(status.st_mode) and status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
    )
    return status.st_uid != 0 or bool(open_to_all)


def _no_place(error: Exception) -> EngineError:
    remedy = "name a folder that can be written in XDG_CACHE_HOME"
    return EngineError(f"there is no place for compiled programs: {error}", remedy=remedy)


def _make_cache(folder: Path) -> None:
    """Make the cache folder if need be. Raises EngineError if it is not this user's alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise _no_place(error) from error
    wrong = (
        "is not a folder"
        if not stat.S_ISDIR(status.st_mode)
        else f"belongs to the user number {status.st_uid}"
        if status.st_uid != os.geteuid()
        else "can be written by others"
        if status.st_mode & 0o022
        else ""
    )
    if wrong:
        remedy = "remove it, or name another folder in XDG_CACHE_HOME"
        raise EngineError(f"{folder}, where compiled programs are kept, {wrong}", remedy=remedy)


def _usable(program: Path) -> bool:
    try:
        status = program.lstat()
    except OSError:
        return False
    whole = stat.S_ISREG(status.st_mode) and status.st_size > 0  # empty: a power cut, if it was not flushed
    return whole and status.st_uid == os.geteuid() and os.access(program, os.X_OK)


def _compile(compiler: Sequence[str], source: Path, flags: Sequence[str], program: Path) -> None:
    """Compile into a file beside the program and rename it. Raises EngineError with the compiler's words."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{program.name}.", dir=program.parent)
        os.close(descriptor)
    except OSError as error:
        raise EngineError(f"cannot write in {program.parent}: {error.strerror}") from error
    part = Path(name)
    try:
        argv = [*compiler, *flags, str(source), "-o", str(part)]
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env={**os.environ, "TMPDIR": str(program.parent)},  # of the compiler's passes, too
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").splitlines()[:_LINES_SHOWN]
            message = printable("\n  ".join([f"{shlex.join(argv)} failed:", *said]))
            raise EngineError(message, remedy=_INSTALL if _lacks_headers(said) else "")
        part.chmod(0o700)
        with part.open("rb") as made:
            _put_in_place(made.fileno(), part, program)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"cannot compile {source.name}: {error}") from error
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _put(code: bytes, program: Path) -> None:
    """Keep a program that was compiled elsewhere. Raises EngineError."""
    try:
        with tempfile.NamedTemporaryFile(dir=program.parent, delete=False) as stream:
            stream.write(code)
            stream.flush()
            Path(stream.name).chmod(0o700)
            _put_in_place(stream.fileno(), Path(stream.name), program)
    except OSError as error:
        raise EngineError(f"cannot write in {program.parent}: {error.strerror}") from error


def _put_in_place(made: int, part: Path, program: Path) -> None:
    """Rename a file that is complete, once it is on the device: a power cut could leave the name, and nothing
    in it. Raises OSError.
    """
    os.fsync(made)
    part.replace(program)


def _lacks_headers(said: Sequence[str]) -> bool:
    return any(".h" in line and ("No such file" in line or "not found" in line) for line in said)
