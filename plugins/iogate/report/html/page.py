"""The page: a template filled with what sessions found out, plots as data, and the script that draws."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iogate import __version__
from iogate.errors import IogateError
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

    Raises IogateError where there is none of that package.
    """
    try:
        import vl_convert
    except ImportError as error:
        raise IogateError(
            f"a report needs vl-convert-python: {error}",
            remedy="install it, or make the report of the results file on another machine: iogate report",
        ) from error
    library: Any = vl_convert  # whose stubs say that `snippet` must be given, and give no bundle for ""
    return str(library.javascript_bundle())


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
