"""Completion in the real shells, where they are installed."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iogate.cli import main, parser

BASH = """\
eval "$(iogate completion bash)"
complete_line() {
    COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_WORDS=($1) COMPREPLY=()
    [[ $1 != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    local function=$(complete -p "${COMP_WORDS[0]}" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    "$function" "${COMP_WORDS[0]}" 2>/dev/null
    echo ${COMPREPLY[*]}
}
complete_line 'iogate exp'
complete_line 'iogate schema '
complete_line 'iogate export --format='
complete_line 'pytest --io-all'
"""
FISH = """\
iogate completion fish | source
complete -C 'iogate exp'
complete -C 'pytest --io-all'
"""


def said(shell, script):
    """What a script says in a shell that finds this environment's commands."""
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"needs {shell}")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [program], input=script, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_bash_completes_commands_choices_and_options_of_pytest():
    exported, schemas, formats, options = said("bash", BASH)
    assert exported == "export"
    assert {"suite", "device", "baseline", "results"} <= set(schemas.split())
    assert formats.split() == ["csv", "parquet", "openmetrics", "benchstat", "bencher"]
    assert options == "--io-allow-exec"


def test_fish_completes():
    exported, option = (line.split("\t")[0] for line in said("fish", FISH))
    assert (exported, option) == ("export", "--io-allow-exec")


def test_zsh_is_given_code_that_it_can_read(capsys):
    assert main(["completion", "zsh"]) == 0
    code = capsys.readouterr().out
    assert "#compdef iogate pytest" in code and said("zsh", f"function compdef() {{}}\n{code}") == []


def test_pytest_can_be_left_alone(capsys):
    assert main(["completion", "--no-pytest", "fish"]) == 0
    assert "pytest" not in capsys.readouterr().out


def commands():
    """All commands and their actions, by what a user types."""
    (choices,) = (action.choices for action in parser()._actions if action.choices)
    for name, command in choices.items():
        yield name
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from (f"{name} {word}" for word in action.choices)


@pytest.mark.parametrize("name", list(commands()))
def test_the_help_of_every_command_has_an_example_and_its_exit_statuses(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*name.split(), "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "example" in text and f"iogate {name}" in text.partition("example")[2]
    assert "exit status" in text
