"""What the audit says of outputs that exist already, of whose machine little or nothing is known."""

from __future__ import annotations

from iogate import engines
from iogate.audit import Run, examine
from iogate.model import Finding, Needs, Workload
from iogate.outputs.jobs import Job


def findings(
    job: Job, workload: Workload | None = None, *, link: float | None = None, memory: int | None = None
) -> tuple[Finding, ...]:
    """What the audit says of a job, the worst first; of one that stands for a `workload`, held against it.

    `link` is the limit of the device's link in B/s, `memory` what the machine has in bytes, where known.
    """
    output = job.output
    if workload is None:
        needs = Needs(
            reads="read" in output.traffic,
            writes="write" in output.traffic,
            direct=bool(job.options.get("direct", not job.whole)),
            space=output.space,
            target=bool(output.traffic),
        )
        run = Run(output, dict(output.options), needs, job.engine, link=link, memory=memory, declared=False)
        return examine(run)
    engine = engines.load(workload.engine)
    gating = tuple(workload.gate) or engine.gating(workload)
    passed = workload.options.get(workload.engine)
    options = {**output.options, **workload.options, **(passed if isinstance(passed, dict) else {})}
    needs = engine.needs(workload)
    run = Run(output, options, needs, job.engine, link=link, memory=memory, gating=gating)
    return examine(run, workload.waive)
