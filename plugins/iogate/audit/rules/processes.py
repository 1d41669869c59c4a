"""Checks of processes side by side, and files that engines make: did all run together, and from a device?"""

from __future__ import annotations

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.model import Severity
from iogate.units import format_quantity

_TOGETHER = 0.9
_HARDLY_TOGETHER = 0.5
_WHOLE = 0.995
_ADDS_UP = 0.01
_ABOVE = 1.05
_LEAST_MEMORY = 2**30
_FEWEST_STEPS = 20


def not_together(evidence: Evidence) -> Findings:
    """Find processes whose speeds are added up although they did not run at the same time.

    `invalid` if the parent, which has one clock for all, saw less than half of what the children add up to;
    `suspect` below 90%; `note` of a figure that does not gate.

    Take larger files, so that starting and ending weigh less; or gate the figure of the parent, such as
    `write.bandwidth.parent`.
    """
    for name, parent in evidence.output.metrics.items():
        series, _, part = name.rpartition(".")
        children = evidence.metric(series)
        if part != "parent" or not children or parent >= _TOGETHER * children:
            continue
        judged = not evidence.gating or series in evidence.gating
        severity: Severity = "invalid" if parent < _HARDLY_TOGETHER * children else "suspect"
        unit = "B/s" if series.endswith("bandwidth") else "IOPS"
        several = evidence.output.jobs != 1
        yield finding(
            severity if judged else "note",
            f"{series}: the parent saw {format_quantity(parent, unit)}, "
            f"{'the children add up to' if several else 'its only child'} {format_quantity(children, unit)}: "
            + ("they did not run at the same time" if several else "to start and end it took long"),
            f"larger files, so that starting and ending weigh less; or gate {series}.parent",
        )


def tail_cut(evidence: Evidence) -> Findings:
    """Find processes that were stopped when the first was done, so that the slowest part does not count.

    `suspect` if the slowest had done less than 90% of its work then, `note` up to 99.5%: the sum is that of
    the fast part of the run.

    Take larger files, or no stonewalling (`iozone: {-x: true}`).
    """
    for name, share in evidence.output.metrics.items():
        if not name.endswith(".completed.min") or share > _WHOLE:
            continue
        yield finding(
            "suspect" if share < _TOGETHER else "note",
            f"{name.partition('.')[0]}: the slowest process had done {share:.0%} when the first was done: "
            "the rest does not count",
            "larger files, or no stonewalling (iozone: {-x: true})",
        )


def sums(evidence: Evidence) -> Findings:
    """Check that the mean of the processes times their number is all of them together, which no process
    alone is faster than, nor the slowest with the others at the speed of the fastest is slower than; and that
    the parent, whose time is that of all, saw no more.

    `invalid`: the first differ by more than 1%, or the parent saw more than 5% above them; figures of
    different runs are mixed, or some are missing.

    Look at the raw output, and run it again.
    """
    jobs = evidence.output.jobs
    for name, parent in evidence.output.metrics.items():
        series, _, part = name.rpartition(".")
        children = evidence.metric(series)
        if part != "parent" or not children:
            continue
        mean, least, most = (evidence.metric(series, which) for which in ("mean", "min", "max"))
        unit = "B/s" if series.endswith("bandwidth") else "IOPS"
        together = f"the {format_quantity(children, unit)} of all together"
        wrong = ""
        if mean is not None and abs(mean * jobs / children - 1) > _ADDS_UP:
            wrong = f"{jobs} x {format_quantity(mean, unit)} is not {together}"
        elif most is not None and most > children * (1 + _ADDS_UP):
            wrong = f"the fastest, {format_quantity(most, unit)}, is above {together}"
        elif most is not None and least is not None and least + (jobs - 1) * most < children * (1 - _ADDS_UP):
            added = format_quantity(least + (jobs - 1) * most, unit)
            wrong = f"the slowest and {jobs - 1} x the fastest are {added}, below {together}"
        elif parent > children * _ABOVE:
            wrong = f"the parent saw {format_quantity(parent, unit)}, more than {together}"
        if wrong:
            yield finding("invalid", f"{series}: {wrong}", "figures of different runs are mixed")


def fits_in_memory(evidence: Evidence) -> Findings:
    """Find buffered files that the engine has just written and that memory holds.

    `suspect`: the engine makes its files itself and reads them through the page cache, which still has all of
    them. Of an output without a machine 1 GiB of memory is supposed.

    Say `direct: true`, or take files of twice the memory.
    """
    memory = evidence.after.system.memory if evidence.after else evidence.memory
    least = _LEAST_MEMORY if memory is None and not evidence.declared else 0
    if evidence.needs.direct or not 0 < evidence.needs.space <= (memory or least):
        return
    where = f"{format_quantity(memory, 'B')} of memory" if memory else "the memory of any machine"
    yield finding(
        "suspect",
        f"buffered files of {format_quantity(evidence.needs.space, 'B')} fit in {where}: reading them "
        "measures memory",
        "direct: true, or files of twice the memory",
    )


def whole_microseconds(evidence: Evidence) -> Findings:
    """Find latencies of so few microseconds that an engine which prints whole ones has rounded them away.

    `suspect`: below 20 of them the last digit is more than 5% of the figure.

    Say `report: bandwidth` or `report: iops`, which have more digits.
    """
    step = evidence.output.latency_step
    if not step:
        return
    for name, value in evidence.output.metrics.items():
        if ".latency.mean" in name and value < _FEWEST_STEPS * step:
            yield finding(
                "suspect",
                f"{name}: {evidence.engine} counts in steps of {format_quantity(step, 'ns')}: "
                f"{value / step:.0f} may be almost one more",
                "report: bandwidth or iops, which have more digits",
            )


CHECKS: tuple[Check, ...] = (not_together, tail_cut, sums, fits_in_memory, whole_microseconds)
