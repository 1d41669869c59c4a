"""An engine invocation that may begin."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iogate.audit import snapshot
from iogate.audit.snapshot import Snapshot
from iogate.host.mounts import IN_MEMORY
from iogate.measure.sites import Site
from iogate.model import Command, Needs, Output, Place, Reads, Region, Workload


@dataclass(frozen=True)
class Invocation:
    """An engine invocation that may begin: its data are laid out. Its `folder` is reached by `held`, whatever
    becomes of its name.
    """

    workload: Workload
    needs: Needs
    site: Site
    place: Place
    command: Command
    gating: Sequence[str]
    held: Path
    jobs: Sequence[Reads] = ()
    """Where those jobs read that do."""

    @property
    def folder(self) -> Path:
        return self.place.folder

    @property
    def call(self) -> dict[str, Any]:
        """The command and its files for people, with paths as they know them."""
        readable = self.site.readable if self.needs.target else str
        files = {name: readable(text) for name, text in self.command.files.items()}
        return {"command": readable(shlex.join(self.command.argv)), "files": files}

    @property
    def buffered(self) -> Sequence[Path]:
        """What it reads through the page cache from a device, unless the page cache is what it is about."""
        needs = self.needs
        through = needs.target and needs.reads and not (needs.direct or needs.cached)
        memory = self.site.target.backing in IN_MEMORY
        return (self.place.data, *self.place.more) if through and not memory else ()

    def parts(self, output: Output) -> Mapping[str, Sequence[Region]]:
        """Return where its jobs have read by an output, by their names: as far as those have come that read
        in order, and where something is written, with what they read before it counted.
        """
        read = output.traffic.get("read")
        found: dict[str, tuple[Region, ...]] = {}
        for job in self.jobs:
            regions = job.regions
            if read and read.seconds:
                mean = read.bytes / read.seconds / len(self.jobs)
                bandwidth = output.metrics.get(f"{job.name}.read.bandwidth", mean)
                regions = job.places(bandwidth, read.seconds, all_the_way=self.needs.writes)
            found[job.name] = (*found.get(job.name, ()), *regions)  # names of metrics may be the same
        return found

    def look(self) -> Snapshot:
        """Return what the machine's counters say now."""
        return snapshot(self.site.target.number, self.place.data)
