"""The page: a template filled with what sessions found out, plots as data, and the script that draws."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iogate import __version__
from iogate.errors import IogateError
from iogate.host.tools import last_line
from iogate.report.history import LeftOut, MetricHistory
from iogate.report.html.charts import CHARTS, CONFIG
from iogate.report.html.over_sessions import HistoryView, history_views, left_out_text
from iogate.report.html.session import SessionView, session_view
from iogate.report.results import Results

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MARK = '<meta name="generator" content="iogate report">'
"""What a file begins with that may be replaced by another report."""

_LEVEL = 6
_BUNDLE = (
    "import sys; sys.path[:] = sys.argv[1:]; import vl_convert; "
    "sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
)
_LONGEST_TROUBLE = 200  # characters of what it says when it fails
_NAME_PARTS = re.compile(r"[^\[,]*[\[,]|[^\[,]+")
_FOLDER = Path(__file__).with_name("template")


def page(
    sessions: Sequence[Results],
    histories: Sequence[MetricHistory] = (),
    left_out: Sequence[LeftOut] = (),
) -> str:
    """Return the page about these sessions, in their order, and below them metrics over many sessions, with
    what of those was `left_out`.
    """
    past = history_views(histories)
    several = len(sessions) > 1
    views = [
        session_view(results, f"s{number}-" if several else "") for number, results in enumerate(sessions, 1)
    ]
    scripts = [drawing_library(), _own("page.js")]
    return (
        _templates()
        .get_template("page.html.jinja")
        .render(
            mark=MARK,
            version=__version__,
            sessions=views,
            histories=past,
            left_out=left_out_text(left_out),
            style=_own("page.css"),
            scripts=scripts,
            policy=_policy(scripts),
            data=packed(_data(views, past)),
        )
    )


def _data(views: Sequence[SessionView], past: Sequence[HistoryView]) -> dict[str, Any]:
    return {
        "charts": CHARTS,
        "config": CONFIG,
        "details": {row.id: row.details for view in views for row in view.rows},
        "sweeps": {
            **{sweep.id: sweep.plots for view in views for sweep in view.sweeps},
            **{history.id: history.plots for history in past},
        },
    }


def _finite(value: Any) -> Any:
    """Return plain data in which a figure that is not finite is missing."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def packed(value: Any) -> str:
    """Return JSON as gzip in base 64: a quarter as long, and no text of others within a `script` element."""
    form = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text = form(value)
    except ValueError:  # bytes in next to no time, as a damaged document may have them
        text = form(_finite(value))
    return base64.b64encode(gzip.compress(text.encode(errors="replace"), _LEVEL, mtime=0)).decode()


def _policy(scripts: Sequence[str]) -> str:
    """Return the content security policy: no network at all, and no script but these."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def drawing_library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which the package vl-convert-python brings.

    It is made in a process of its own: V8, in which it is made, ends a process where it may not reserve
    address space, or make memory executable. Raises IogateError where there is none of that package, or V8
    fails.
    """
    if find_spec("vl_convert") is None:
        raise IogateError(
            "a report needs vl-convert-python, which is not installed",
            remedy="install it, or make the report of the results file on another machine: iogate report",
        )
    argv = [sys.executable, "-I", "-c", _BUNDLE, *sys.path]
    made = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if made.returncode or not made.stdout:
        said = _trouble(made.stderr.decode(errors="replace"))
        raise IogateError(
            f"the report's drawing library cannot be made: vl-convert failed ({made.returncode}): {said}",
            remedy="it starts V8, which needs address space (ulimit -v), 200 MB of memory, and to make "
            "memory executable (MemoryDenyWriteExecute=no); or make the report elsewhere: iogate report",
        )
    return made.stdout.decode()


def _trouble(said: str) -> str:
    """Return the line of what a process said that tells of its end, not of where it was."""
    known = next((line for line in said.splitlines() if "Fatal" in line or "Check failed" in line), said)
    return last_line(known)[:_LONGEST_TROUBLE] or "it does not say why"


@cache
def _own(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["breakable"] = _breakable
    return templates


def _breakable(name: str) -> Markup:
    """Return a name, escaped, that is broken into lines where its parts end rather than within one."""
    from markupsafe import Markup

    return Markup("<wbr>").join(_NAME_PARTS.findall(name))
