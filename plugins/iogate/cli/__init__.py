"""The command `iogate`: what can be done without pytest. Each of its commands is a module with a function
`add`, which declares it; what does the work is imported when it is called.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import sys
from collections.abc import Sequence

from iogate import __version__
from iogate.cli import (
    audit,
    baseline,
    compare,
    completion,
    device,
    export,
    fleet,
    history,
    importing,
    init,
    report,
    schema,
    show,
)
from iogate.errors import IogateError
from iogate.units import no_commands

_COMMANDS = (
    init,
    show,
    compare,
    report,
    history,
    fleet,
    export,
    audit,
    importing,
    device,
    baseline,
    schema,
    completion,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 if files were refused, something regressed or is in
    conflict, 2 for wrong use, 3 if it is inconclusive, 130 after Ctrl-C.
    """
    whole = parser()
    if "_ARGCOMPLETE" in os.environ:
        completion.complete(whole)
    words = sys.argv[1:] if arguments is None else arguments
    if empty := _empty(words):
        whole.error(f"{empty} is empty: give a value (is a variable not set?), or leave it out")
    given = whole.parse_args(words)
    try:
        return int(given.act(given))
    except IogateError as error:
        print(no_commands(f"iogate: {error}"), file=sys.stderr)
        return 2
    except OSError as error:  # of pathlib, asked of a folder of another user, a dead mount, too long a name
        if error.filename is None and not _is_gone():
            raise
        print(
            no_commands(f"iogate: {error.filename or 'the current folder'}: {error.strerror}"),
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:  # while a host is waited for, say
        print("iogate: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


def _is_gone() -> bool:
    """Return whether the current folder is none any more."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _empty(words: Sequence[str]) -> str:
    """Return the first option, or argument, of which only a variable that is not set can have made nothing:
    it was not left out. Nothing if there is none.
    """
    for before, word in itertools.pairwise(["", *words]):
        name, mark, value = word.partition("=")
        if name.startswith("--") and mark and not value.strip():
            return name
        if not word.strip():
            return before if before.startswith("-") else "an argument"
    return ""


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line, with all commands."""
    whole = argparse.ArgumentParser(
        prog="iogate",
        description="Storage performance gate. Measuring is done by pytest: pytest suites/ --device=NAME",
    )
    whole.add_argument("--version", action="version", version=f"iogate {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return whole
