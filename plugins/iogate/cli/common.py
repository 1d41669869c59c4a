"""What the commands share: how they print, and how they read their arguments."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

_Value = TypeVar("_Value")
if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = object


def say(text: str) -> None:
    """Print; if the reader has gone, the exit status still says what it would have."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def argument(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Return the same parser, whose words argparse shows."""

    def read(text: str) -> _Value:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read
