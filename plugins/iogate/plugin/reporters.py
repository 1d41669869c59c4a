"""Who tells of a run while it goes on, and at its end: the terminal's progress, and files that are named."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iogate.errors import InputError
from iogate.formats.streams import is_stream
from iogate.plugin.options import path_of
from iogate.units import printable

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from iogate.report.progress import Progress, Screen
    from iogate.report.protocol import Reporter


def named_reporters(config: pytest.Config, json_path: Path | None) -> list[Reporter]:
    """Return those that write into places which somebody named. Raises IogateError for places that must not
    be replaced, or cannot be written to.
    """
    from iogate.report.json_file import json_at
    from iogate.report.markdown_file import MarkdownFile, step_summary

    markdown, html = path_of(config, "--io-markdown"), path_of(config, "--io-report")
    _refuse_one_place({"--io-json": json_path, "--io-markdown": markdown, "--io-report": html})
    found: list[Reporter] = [json_at(json_path)] if json_path else []
    if markdown:
        found.append(MarkdownFile(markdown))
    if step := step_summary():
        found.append(step)
    if html:
        from iogate.report.html.place import HtmlFile

        found.append(HtmlFile(html))
    return found


def _refuse_one_place(places: Mapping[str, Path | None]) -> None:
    """Raise InputError if two options name one file: at the end the second would be refused."""
    known: dict[str, str] = {}
    for flag, path in places.items():
        other = known.setdefault(os.path.realpath(path), flag) if path else flag
        if path and other != flag and not is_stream(path):
            raise InputError(printable(f"{other} and {flag} name the same file: {path}"))


def progress_of(config: pytest.Config) -> Progress:
    """Return what shows how far a run is, past pytest's capture if a test is running."""
    from iogate.report.progress import Progress

    terminal = config.pluginmanager.getplugin("terminalreporter")

    def write(text: str) -> None:
        if terminal is None:
            return
        with _uncaptured(config):
            terminal.ensure_newline()
            terminal.write(text, flush=True)

    quiet = terminal is None or config.getoption("verbose", 0) < 0
    return Progress(write, _screen(config), quiet=quiet)


def width_of(terminal: TerminalReporter | None) -> int | None:
    """Return the columns of the terminal that a reporter writes to; None if it writes to none, or is one of
    another plugin that does not say.
    """
    return terminal._tw.fullwidth if terminal and getattr(terminal, "isatty", False) else None


def _screen(config: pytest.Config) -> Screen | None:
    """Return the terminal, if its lines can be rewritten."""
    from iogate.report.progress import Screen

    terminal = config.pluginmanager.getplugin("terminalreporter")
    if width_of(terminal) is None or os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        return None

    def columns() -> int:
        with _uncaptured(config):
            return shutil.get_terminal_size().columns

    return Screen(columns, terminal.hasmarkup, sys.stdout.encoding)


def _uncaptured(config: pytest.Config) -> contextlib.AbstractContextManager[None]:
    capture = config.pluginmanager.getplugin("capturemanager")
    return capture.global_and_fixture_disabled() if capture else contextlib.nullcontext()
