"""A row of figures, as it stands in a table, with what it says of the workload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from iogate.offline.published.cells import Quantity

SECTOR = 512
"""Bytes: the least that a disk transfers."""


@dataclass(frozen=True)
class Row:
    """A row of figures with what it says of the workload (None: nothing); `line` counts from 1.

    `unread` are cells of measured columns that hold no figure that can be read. A depth that is `shared` is
    that of all jobs together; how much of it each of `copies` (nodes, VMs) has, a row does not say. So many
    `disks` were at work, each with a link of its own, where a column counts them.
    A row is `mixed` if its name says that it reads and writes, of which it may have one.
    A latency is `vague` if its heading says more than is understood: it may be a median, or that of a part.
    It `flushes` if it tells how long that took: there was no I/O in flight then.
    Directions with columns of their own are `apart`: they may be those of one run, or of a run each.
    `unknown` are headings of the table, told with its first row, that name figures and are not understood.
    A row is `aside` if it is of how much others differ. Its IOPS are `sampled` if they are called a mean.
    An `odd` row has more or fewer cells than there are headings, something else is between it and them, or it
    says itself what its figures are, as another one does; none of its figures can be read.
    """

    line: int
    label: str
    figures: tuple[Quantity, ...] = ()
    block: int | None = None
    depth: int | None = None
    jobs: int | None = None
    size: int | None = None
    copies: int | None = None
    disks: int = 1
    shared: bool = False
    vague: bool = False
    unread: tuple[str, ...] = ()
    apart: bool = False
    unknown: tuple[str, ...] = ()
    odd: bool = False
    mixed: bool = False
    flushes: bool = False
    aside: bool = False
    sampled: bool = False

    def first(self, kind: str, part: str = "", direction: str | None = None) -> Quantity | None:
        """Return the first figure of a kind and part, of one direction if given."""
        for figure in self.figures:
            if (figure.kind, figure.part) == (kind, part) and direction in (None, figure.direction):
                return figure
        return None

    def pair(self, direction: str) -> tuple[Quantity, Quantity, float] | None:
        """Return the first of `pairs`; None if there is none."""
        return next(self.pairs(direction), None)

    def pairs(self, direction: str) -> Iterator[tuple[Quantity, Quantity, float]]:
        """Yield IOPS and bandwidth of a direction, with the bandwidth that IOPS x block size is in B/s, for
        each unit that the bandwidth is given in; nothing if the row does not say all three.
        """
        rate = self.first("iops", "", direction)
        if rate and rate.value and self.block:
            for shown in self.figures:
                if (shown.kind, shown.part, shown.direction) == ("bandwidth", "", direction) and shown.value:
                    yield rate, shown, rate.value * self.block

    @cached_property
    def directions(self) -> tuple[str, ...]:
        """The directions that the figures name, or one empty name."""
        return tuple(dict.fromkeys(figure.direction for figure in self.figures)) or ("",)
