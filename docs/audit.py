"""Makes docs/audit.md of the docstrings of the checks: `python docs/audit.py`, in an environment with iogate.

A docstring has three paragraphs: what the check sees, what that means and how bad it is, what to do.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from iogate.audit import RULES
from iogate.offline.published import across, clocks, outputs, rows

PAGE = Path(__file__).with_suffix(".md")
_WIDTH = 120
OF_REPORTS: tuple[Callable[..., Any], ...] = (
    *rows.CHECKS,
    across.unit_clash,
    across.ceiling,
    clocks.whole_seconds,
    outputs.refused,
)
"""What `iogate audit` asks of reports, beside the checks of measurements."""

_MEASUREMENTS = """\
# What the audit looks for

<!-- Made of the checks' docstrings by `python docs/audit.py`; a test holds that it is. -->

Every repetition is audited before it is judged: its figures are held against each other, against the
device's own counters, and against the state of the machine before and after. What a check finds is kept in
the results with the check's name, the evidence in numbers, and a remedy. It is one of

- `invalid`: the figures cannot be believed. The workload's test is an error: no verdict, and nothing for a
  baseline;
- `suspect`: they may mean something else than they seem to. They are judged, and the end of the run says so;
- `note`: worth knowing, in the results only.

## Waiving a check

Where a finding is expected and does not matter, the workload says so, with the reason:

```yaml
workloads:
  journal:
    rw: write
    size: 256M
    runtime: 20s
    waive:
      write_cache: the product writes without flushes as well, and its cache is backed by a battery
```

The finding stays in the results as a note that bears the reason, and is shown with it. In `defaults` a waiver
holds for every workload of the file. Every check of this first part can be waived, by the name that is its
heading here; an unknown name is refused.
"""
_REPORTS = """\
# What `iogate audit` looks for in reports

Outputs of engines that stand in a file are asked all that does not need the machine, of the checks above;
what they say in two units counts as `invalid` there. The rows of tables are asked what follows: each figure
*stands*, is *doubtful* (`suspect`), or *does not stand* (`invalid`). For some there is *nothing to hold
against*: a bandwidth without IOPS and block size, a latency without a rate and what was in flight (queue
depth, or a job that the text describes), figures of other directions. They may be a thousand times too
large, and nobody can tell. There is nothing to waive: nothing is measured, and no verdict hangs on it.
[published_reports.md](published_reports.md) shows them at work.
"""


def page() -> str:
    """Return the page. Raises ValueError for a check whose docstring has another form."""
    measurements = [line for rules in RULES for line in _section(rules)]
    return "\n".join([_MEASUREMENTS, *measurements, _REPORTS, *_checks(OF_REPORTS, "##")]).rstrip() + "\n"


def _section(rules: ModuleType) -> Iterator[str]:
    """Yield a heading from the docstring of a module of checks, and its checks."""
    title = inspect.getdoc(rules) or ""
    yield f"## {title.partition(' of ')[2].partition(': ')[0].capitalize()}\n"
    yield from _checks(rules.CHECKS, "###")


def _checks(checks: Iterable[Callable[..., Any]], level: str) -> Iterator[str]:
    for check in checks:
        sees, means, remedy = paragraphs(check)
        yield f"{level} `{check.__name__}`\n\n{sees}\n\n{_entry('Means', means)}\n{_entry('Do', remedy)}\n"


def _entry(name: str, text: str) -> str:
    line = f"- {name}: {text}"
    return textwrap.fill(line, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def paragraphs(check: Callable[..., Any]) -> list[str]:
    """Return the three paragraphs of a check's docstring, each on one line."""
    found = [" ".join(text.split()) for text in (inspect.getdoc(check) or "").split("\n\n")]
    if len(found) != 3:
        raise ValueError(f"{check.__name__} needs three paragraphs: what it sees, what it means, what to do")
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
