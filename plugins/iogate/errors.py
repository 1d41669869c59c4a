"""Errors that reach a user: what happened, where, and what to do about it.

Everything that iogate raises on purpose derives from :class:`IogateError`; anything else is a defect of
iogate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

_Error = TypeVar("_Error", bound="IogateError")


@dataclass(frozen=True)
class Position:
    """A place in a file that a person wrote; `line` and `column` count from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class IogateError(Exception):
    """Base of all errors shown to a user.

    `position` says where (or None), `remedy` what to do about it (or an empty string).
    """

    def __init__(self, message: str, *, position: Position | None = None, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.remedy = remedy

    def below(self: _Error, lines: int) -> _Error:
        """Return the error of a text that begins so many lines below the beginning of its file."""
        if self.position:
            self.position = replace(self.position, line=self.position.line + lines)
        return self

    @property
    def what(self) -> str:
        """Where and what, without what to do about it."""
        return f"{self.position}: {self.message}" if self.position else self.message

    def __str__(self) -> str:
        return f"{self.what}\n  {self.remedy}" if self.remedy else self.what


class InputError(IogateError):
    """A file or value written by a person does not say anything that iogate can do."""


class OptionError(InputError):
    """A mistake at a `path` of keys and indexes within what was given; `key` if the key itself is the
    mistake.
    """

    def __init__(
        self,
        message: str,
        path: tuple[str | int, ...],
        *,
        key: bool = False,
        position: Position | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message, position=position, remedy=remedy)
        self.path = path
        self.key = key


class InputErrors(InputError):
    """Several mistakes found in one file, all shown at once; what is to be done about many of them, once."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        last = {error.remedy: error for error in errors}
        super().__init__("\n".join(str(one) if one is last[one.remedy] else one.what for one in errors))
        self.errors = list(errors)


def raise_together(errors: Sequence[IogateError]) -> None:
    """Raise what went wrong as one error that tells all of it; nothing if nothing did."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise IogateError("\n".join(map(str, errors)))


class BaselineError(IogateError):
    """A baseline file is corrupt, foreign or locked."""


class TargetError(IogateError):
    """The target was refused; `rule` names the rule that refused it."""

    def __init__(
        self, message: str, *, rule: str, position: Position | None = None, remedy: str = ""
    ) -> None:
        super().__init__(message, position=position, remedy=remedy)
        self.rule = rule


class EngineError(IogateError):
    """The engine is missing, failed, hung, or said something that cannot be understood."""


class OutputError(EngineError):
    """An engine's output does not parse, or reports a run that must not be judged."""


class ApartError(OutputError):
    """The jobs of an output are sound one by one, and their figures do not add up."""


class MeasurementError(IogateError):
    """The measurement was made and cannot be trusted."""


class LostError(MeasurementError):
    """The host was lost while it measured: what it was at is not decided."""
