"""What a check of a table's row gets to see beside the row, and how it tells what it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from iogate.engines.sections import DescribedJob, Description
from iogate.model import Severity
from iogate.offline.published.findings import FigureFinding, FigureFindings
from iogate.offline.published.row import Row

LATENCY = frozenset({"lat", "clat", "slat"})
BOTH_RATES = frozenset({"iops", "bandwidth"})
ALL = BOTH_RATES | LATENCY
_DISK = r"(?:drive|disk|ssd|hdd|nvme|os[dt])"
_SEVERAL = re.compile(
    r"(?<![a-z])(?:"  # not \b: names of columns, as num_disks, are words as well
    r"(?:d|md)?raid\w*|md(?:\d+|adm)|linux md|jbo[df]s?|(?:flash)?arrays?|clusters?|clustered|lvm|san|nas"
    r"|z?pools?|storage spaces|in parallel|workers|strip(?:e|es|ed|ing)|mirror(?:s|ed)?|dual|quad|octa|bays?"
    r"|lustre|gpfs|ceph\w*|beegfs|weka\w*|daos|gluster\w*|hdfs|vsan|isilon|minio|io500|s2d|vast"
    r"|p?nfs|smb|iscsi|s3|netapp|powerstore"
    r"|drives|disks|ssds|hdds|nvmes|devices|vdevs|os[dt]s|nodes|clients|servers|hosts|vms|gpus|dpus|luns"
    r"|volumes|targets|pods|containers|replicas|instances|controllers|namespaces|ports|ranks|machines"
    r"|initiators|members|(?:drive|disk|ssd|hdd|nvme|device|node|client|server|host|vm|gpu|lun)[ _-]count"
    r")(?![a-z])"
    r"|(?<![\w.])(?<!pcie )(?<!gen )(?<!qd )(?:[2-9]|[1-9]\d{1,2}"
    r"|two|three|four|five|six|eight|ten|twelve|sixteen|both)"
    rf"(?: ?[x×] ?(?:[\d.]{{1,6}} ?[tg]i?b|[a-z])|[ -](?:(?![tg]i?b)\w{{1,20}}[ -])?{_DISK}(?![a-z])"
    r"|[ -][a-z]{2,3}\d{1,5}s?(?!\w))",
    re.IGNORECASE,
)
"""Words of what may be several disks, or how many (`8x CM7`, `4 NVMe`)."""

_JOBS = re.compile(
    r"(?<![a-z])(?:(?:num)?jobs|threads|workers)(?: ?[=:] ?| )(\d{1,4})(?![\d.])"
    r"|(?<![\d.])(\d{1,4}) (?:parallel |concurrent )?(?:jobs|threads|workers|processes)\b",
    re.IGNORECASE,
)

_CLIENTS = re.compile(
    r"(?<![\d.])(\d{1,4}) (?:parallel |concurrent |fio )?(?:clients|hosts|nodes|instances|vms)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Context:
    """What a text says beside a row: the jobs it describes, the limit of the link in B/s, the units of
    bandwidths that the other rows of its table bear out, whether several disks may have been at work, and how
    many `jobs`, and `clients`, it says anywhere that there were.
    """

    described: tuple[Description, ...] = ()
    link: float | None = None
    units: frozenset[str] = frozenset()
    several: bool = False
    jobs: frozenset[int] = frozenset()
    clients: frozenset[int] = frozenset()

    @cached_property
    def job(self) -> DescribedJob | None:
        """The one job that the text describes, if it is one only, and with its queue depth."""
        jobs = [job for description in self.described for job in description.jobs]
        return jobs[0] if len(jobs) == 1 and jobs[0].in_flight else None

    @cached_property
    def size(self) -> int | None:
        """The bytes of a run, if all descriptions end by size, and those that say it agree."""
        if any(description.timed for description in self.described):
            return None  # of which of them a row is, nobody says
        return _common_value(description.size for description in self.described)


RowCheck: TypeAlias = "Callable[[Row, Context], FigureFindings]"


def finding_of(
    row: Row, check: str, severity: Severity, kinds: frozenset[str], message: str
) -> FigureFinding:
    """Make the finding of a check about the figures of `kinds` in a row, whose label is said first."""
    label = f"{row.label}: " if row.label else ""
    return FigureFinding(row.line, check, severity, kinds, label + message)


def names_several(text: str) -> bool:
    """Return whether a text names anywhere what may be several disks: an array, hosts, more than one drive.
    Of which table it says so, nobody knows: what is faster than one disk is no more than doubtful then.
    """
    return _SEVERAL.search(text) is not None


def jobs_in(text: str) -> frozenset[int]:
    """Return how many jobs a text says anywhere that there were (`numjobs=4`)."""
    return frozenset(int(before or behind) for before, behind in _JOBS.findall(text)) - {0, 1}


def clients_in(text: str) -> frozenset[int]:
    """Return how many clients a text says anywhere that there were (`with 4 clients`)."""
    return frozenset(map(int, _CLIENTS.findall(text))) - {0, 1}


def _common_value(values: Iterable[int | None]) -> int | None:
    """Return the value that all who say one agree on."""
    known = {value for value in values if value is not None}
    return known.pop() if len(known) == 1 else None
