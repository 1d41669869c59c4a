"""Asking small tools."""

import pytest

from iogate.errors import EngineError, TargetError
from iogate.host.process import find_program
from iogate.host.tools import ask


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Makes the tool `tell` of a shell script."""

    def make(script):
        file = tmp_path / "tell"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return make


def test_what_a_tool_said(tool):
    tool('echo "$LC_ALL $1"; echo one >&2; printf "t\\033wo\\n" >&2; exit 3')
    answer = ask("tell", "package", "a; b")
    assert (answer.status, answer.stdout, answer.reason) == (3, "C a; b\n", "t?wo")


@pytest.mark.parametrize("path", ["", ":/usr/bin", "/usr/bin::/bin", "/usr/bin:"])
def test_no_program_comes_from_the_working_directory(tool, tmp_path, monkeypatch, path):
    """As which an empty part of PATH counts: it may be a stranger's checkout."""
    tool("echo hello")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(TargetError, match="not installed"):
        ask("tell", "package")
    with pytest.raises(EngineError, match="not installed"):
        find_program("tell", "package")


def test_a_tool_that_says_nothing(tool):
    tool("exit 4")
    assert ask("tell", "package").reason == "tell ended with status 4"


def test_a_tool_that_does_not_answer(tool):
    tool("exec sleep 60")
    with pytest.raises(TargetError, match="did not answer within 0 s"):
        ask("tell", "package", seconds=0.2)


def test_a_tool_that_is_missing():
    with pytest.raises(TargetError) as caught:
        ask("a-tool-of-nobody", "some-package")
    assert caught.value.rule == "tool" and "apt-get install some-package" in str(caught.value)
