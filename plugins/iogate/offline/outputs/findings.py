"""What the audit says of outputs that exist already, of whose machine little or nothing is known."""

from __future__ import annotations

from iogate import engines
from iogate.audit import Evidence, audit
from iogate.model import Finding, Needs, Workload
from iogate.offline.outputs.jobs import OutputJob


def findings(
    job: OutputJob, workload: Workload | None = None, *, link: float | None = None, memory: int | None = None
) -> tuple[Finding, ...]:
    """Return what the audit says of a job, the worst first; of one that stands for a `workload`, held against
    it.

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
        evidence = Evidence(
            output, dict(output.options), needs, job.engine, link=link, memory=memory, declared=False
        )
        return audit(evidence)
    engine = engines.load(workload.engine)
    gating = tuple(workload.gate) or engine.gating(workload)
    evidence = Evidence.of(workload, output, engine.needs(workload), gating=gating, link=link, memory=memory)
    return audit(evidence, workload.waive)
