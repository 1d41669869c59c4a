"""Whether two reports of a job in fio's text are of one run: `--status-interval` prints one again and again.

A number of a process tells less than it seems: in a container, or a pod, each run has the same. But reports
say when they were made, and how long the job had run by then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

_NOT_BEGUN = "0"
_RAN = re.compile(r"(?<!\d)(\d{1,15}) ?msec\b")
BEHIND = 1000
"""Characters behind the line of a job that are looked at: its first figures are among them."""
_SECOND = 1.0  # as exact as the time is at which a report was made


@dataclass(frozen=True)
class JobReport:
    """What a report says of a job: its process, when it was made (None: not said), its first line of
    `figures` (empty: none) and the seconds that it had run for.
    """

    process: str
    failed: bool
    made: datetime | None
    figures: str
    seconds: float

    def is_of_process(self, later: JobReport) -> bool:
        """Return whether a later report is of the same process, as far as their numbers tell. What failed
        before it began has none: two that did are not one.
        """
        never_ran = any(one.failed and one.process == _NOT_BEGUN for one in (self, later))
        alike = self.process == later.process or _NOT_BEGUN in (self.process, later.process)
        return alike and not never_ran

    def allows(self, later: JobReport) -> bool:
        """Return whether a later report can be of the same run: not if the job did not run on, or there was
        time for all of it in between.
        """
        if not (self.figures and later.figures) or self.figures == later.figures:
            return True
        grown = later.seconds - self.seconds
        if self.made is None or later.made is None or grown <= 0:
            return grown > 0
        between = (later.made - self.made).total_seconds()
        return between >= 0 and (between < later.seconds + _SECOND or abs(between - grown) <= _SECOND)


def report_of(job: re.Match[str], behind: str) -> JobReport:
    """Return what the line of a job says, with the text `behind` it, `BEHIND` characters of it."""
    lines = behind.partition(": (groupid=")[0].splitlines()
    figures, ran = next(((line.strip(), ran) for line in lines if (ran := _RAN.search(line))), ("", None))
    return JobReport(
        job["pid"], job["error"] != "0", _time(job["date"]), figures, int(ran[1]) / 1000 if ran else 0.0
    )


def _time(date: str | None) -> datetime | None:
    try:
        return datetime.strptime(date, "%a %b %d %H:%M:%S %Y") if date else None
    except ValueError:
        return None
