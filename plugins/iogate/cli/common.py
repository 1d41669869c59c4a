"""What the commands share: how they print, and how they read their arguments."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from iogate.errors import IogateError

_Value = TypeVar("_Value")
if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object


class Help(argparse.HelpFormatter):
    """Help whose description is wrapped, and whose examples stay as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("example") else super()._fill_text(text, width, indent)


def epilog(*examples: str, statuses: str = "0 done, 2 refused, or wrong use") -> dict[str, Any]:
    """Return what the help of a command ends with, as arguments of its parser."""
    lines = [f"  {example}" for example in examples]
    text = "\n".join([f"example{'s' if len(lines) > 1 else ''}:", *lines, "", f"exit status: {statuses}"])
    return {"epilog": text, "formatter_class": Help}


def say(text: str) -> None:
    """Print; if the reader has gone, the exit status still says what it would have. Raises IogateError if it
    cannot be written, as to a full disk. What a terminal's encoding lacks becomes `?`.
    """
    _write(lambda: print(_in_its_encoding(text), flush=True))


def _in_its_encoding(text: str) -> str:
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def put(data: bytes) -> None:
    """Write bytes to standard output, as `say` does."""
    _write(lambda: (sys.stdout.buffer.write(data), sys.stdout.flush()))


def _write(step: Callable[[], object]) -> None:
    if sys.stdout is None:  # closed by whoever began this, who wants nothing of it
        return
    try:
        step()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries again at its end
        if not isinstance(error, BrokenPipeError):
            raise IogateError(f"standard output cannot be written: {error.strerror}") from None


def argument(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Return the same parser, whose words argparse shows."""

    def read(text: str) -> _Value:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read
