"""Workloads without a suite, and what an engine says against their options."""

from __future__ import annotations

from typing import Any

import pytest

from iogate import engines
from iogate.errors import InputErrors, OptionError, Position
from iogate.model import Workload


def workload(
    engine: str, /, *, name: str = "w", suite: str = "suite", line: int = 1, **more: Any
) -> Workload:
    """A workload of just these `options`."""
    return Workload(name, suite, engine, position=Position(f"{suite}.yaml", line, 3), **more)


def declared(engine: str, /, *, name: str = "w", line: int = 1, **options: Any) -> Workload:
    """A workload as a suite declares it: its engine has checked the options, and filled in the others."""
    return workload(engine, options=engines.load(engine).options(options), name=name, line=line)


def refused(engine: str, /, **options: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """What an engine says against options, each with the path to it."""
    with pytest.raises(InputErrors) as caught:
        engines.load(engine).options(options)
    assert all(isinstance(error, OptionError) for error in caught.value.errors)
    return [(error.path, error.message) for error in caught.value.errors]
