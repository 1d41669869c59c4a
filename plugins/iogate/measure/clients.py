"""How many clients a workload runs on: what it asks for, as far as a bench has them."""

from __future__ import annotations

from dataclasses import replace

from iogate import engines
from iogate.errors import InputError
from iogate.measure.bench import Bench
from iogate.model import Workload
from iogate.units import plural


def on_clients(workload: Workload, bench: Bench) -> Workload:
    """Return a workload with the number of its clients: `all` are those of the bench, and on a machine
    without any it is an ordinary workload. Raises InputError for more than there are, and for what clients
    cannot do.
    """
    engine = engines.load(workload.engine)
    if not isinstance(engine, engines.RunsOnClients):
        return workload
    asked = engine.clients(workload.options)
    if asked is None:
        return workload
    counts = (len(bench.hosts),) if asked == "all" else asked
    most = max(counts)
    if most > max(1, len(bench.hosts)):
        raise InputError(
            f"{workload.name}: clients: {most}, but the device {bench.name} has "
            + (
                f"{plural(len(bench.hosts), 'host')}: {', '.join(bench.hosts)}" if bench.hosts else "no hosts"
            ),
            position=workload.position,
            remedy="name them in its profile: hosts: [ssh=c1, ssh=c2]; or say clients: all",
        )
    if bench.hosts and (workload.against is not None or bench.places != "one"):
        raise InputError(
            f"{workload.name}: clients cannot be held against one another by turns",
            position=workload.position,
            remedy="leave out clients, or against",
        )
    options = engine.on_clients(workload.options, counts if bench.hosts else None)
    own = workload.against and engine.on_clients(workload.against, None)
    return replace(workload, options=options, against=own)
