"""Checks of the machine beside the disk: was the processor the limit, or was it slowed down?"""

from __future__ import annotations

import os

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.units import format_duration

_BUSY = 0.95
_STOLEN = 0.1
_FEWEST_TICKS = 50
_STOPPED = 0.05
_OWN_FREQUENCY_DRIVERS = frozenset({"intel_pstate", "amd-pstate", "amd-pstate-epp"})
"""Drivers whose `powersave` follows the load instead of staying at the bottom."""


def job_cpu_bound(evidence: Evidence) -> Findings:
    """Find jobs that use all of a core.

    `suspect`: each job used 95% of a core or more, so that the processor was measured. Polling is meant to do
    that, as SPDK always does, and left alone.

    Take more jobs, larger blocks, or a cheaper ioengine such as io_uring.
    """
    share = (evidence.output.user or 0.0) + (evidence.output.system or 0.0)
    polls = evidence.given("hipri", "sqthread_poll", "hipri_percentage")
    polls = polls or "spdk" in str(evidence.options.get("ioengine", "")).lower()
    if share >= _BUSY and not polls and evidence.needs.target:
        yield finding(
            "suspect",
            f"each job used {share:.0%} of a core ({evidence.output.user or 0:.0%} user, "
            f"{evidence.output.system or 0:.0%} system): this measures the processor",
            "more jobs, larger blocks, or a cheaper ioengine such as io_uring",
        )


def machine_cpu_bound(evidence: Evidence) -> Findings:
    """Find a machine without a core to spare, or whose cores others use.

    `suspect`: all cores together were 95% busy or more.

    See who else runs; take fewer jobs or larger blocks.
    """
    used = _share(evidence, "busy")
    if used is None or used < _BUSY or not evidence.needs.target:
        return
    own = ((evidence.output.user or 0.0) + (evidence.output.system or 0.0)) * max(evidence.output.jobs, 1)
    cores = os.cpu_count() or 1
    yield finding(
        "suspect",
        f"the {cores} cores were {used:.0%} busy, {own / cores:.0%} with the engine's own jobs: the "
        "processor may be the limit",
        "see who else runs; fewer jobs or larger blocks",
    )


def stolen_time(evidence: Evidence) -> Findings:
    """Find processor time that the hypervisor gave to others.

    `suspect`: 10% or more of the time of all cores.

    Use a machine of its own, or one that is not shared by so many.
    """
    stolen = _share(evidence, "stolen")
    if stolen is not None and stolen >= _STOLEN:
        yield finding(
            "suspect", f"the hypervisor gave {stolen:.0%} of the processor to others", "a machine of its own"
        )


def _share(evidence: Evidence, part: str) -> float | None:
    """Return the share of all cores' time over the run that was `busy` or `stolen`; None if too short to
    tell.
    """
    if evidence.before is None or evidence.after is None:
        return None
    before, after = evidence.before.system, evidence.after.system
    ticks = after.ticks - before.ticks
    if ticks < _FEWEST_TICKS:
        return None
    used: int = getattr(after, part) - getattr(before, part)
    return used / ticks


def cpu_limited(evidence: Evidence) -> Findings:
    """Find an engine that a control group kept from the processor, as limits of containers do.

    `suspect`: in 5% or more of its periods, of mostly 0.1 s, the group had used up its share, and stood still
    for the rest.

    Raise the limit (`cpu.max`, `docker --cpus`, `limits.cpu` of Kubernetes), or measure without one.
    """
    limit = evidence.after.system.limit if evidence.after else None
    if evidence.before is None or evidence.after is None or limit is None:
        return
    before = evidence.before.system.limit
    stopped = limit.stopped - (before.stopped if before else 0)
    periods = (evidence.after.seconds - evidence.before.seconds) / limit.period
    if stopped >= _STOPPED * periods > 0:
        yield finding(
            "suspect",
            f"the control group may use {limit.cpus:.3g} CPUs, had used them up in {stopped} of "
            f"{max(round(periods), stopped)} periods of {format_duration(limit.period)}, and stood still",
            "raise its limit of CPUs (cpu.max, docker --cpus, limits.cpu), or measure without one",
        )


def governor(evidence: Evidence) -> Findings:
    """Find a frequency governor that does not keep the processor at full speed.

    `note`: latencies follow the processor's frequency. `suspect` if it keeps the processor at the bottom
    (`powersave`, but for drivers that mean something else by it).

    `cpupower frequency-set -g performance`
    """
    system = evidence.after.system if evidence.after else None
    slow = sorted(system.governors - {"performance"}) if system else []
    if system is None or not slow:
        return
    bottom = slow == ["powersave"] and not system.drivers & _OWN_FREQUENCY_DRIVERS
    yield finding(
        "suspect" if bottom else "note",
        f"frequency governor {', '.join(slow)}: latencies follow the processor's frequency",
        "cpupower frequency-set -g performance",
    )


def frequency_cap(evidence: Evidence) -> Findings:
    """Find processor frequencies capped below the top.

    `note`: less than 95% of the top frequency is allowed.

    Raise `scaling_max_freq`, or see who lowered it.
    """
    system = evidence.after.system if evidence.after else None
    if system and system.capped < 0.95:
        yield finding(
            "note",
            f"the processor may run at {system.capped:.0%} of its top frequency at most",
            "raise scaling_max_freq, or see who lowered it",
        )


def throttled(evidence: Evidence) -> Findings:
    """Find a processor slowed down by heat.

    `suspect`: it was throttled during the run, is being slowed down, or is at the temperature where that
    begins.

    Cool it, and pause longer between runs.
    """
    if evidence.before is None or evidence.after is None:
        return
    before, after = evidence.before.system, evidence.after.system
    events = after.throttles - before.throttles
    if events > 0:
        yield finding("suspect", f"the processor was throttled by heat {events} times", "cool it")
    for name in after.cooling:
        yield finding("suspect", f"the processor is being slowed down ({name})", "cool it; pause longer")
    for name, degrees, limit in after.hot:
        yield finding(
            "suspect",
            f"{name} is at {degrees:.0f} °C, slowing begins at {limit:.0f} °C",
            "cool it; pause longer",
        )


def power_mode(evidence: Evidence) -> Findings:
    """Find a power mode below the best (nvpmodel on Jetson, platform profile, battery).

    `note`: the machine may be slower than it could be; a baseline holds for the mode that it was recorded in.

    `nvpmodel -m 0` and `jetson_clocks`, or mains power.
    """
    for mode in evidence.after.system.power if evidence.after else ():
        yield finding("note", f"power: {mode}", "nvpmodel -m 0 and jetson_clocks, or mains power")


CHECKS: tuple[Check, ...] = (
    job_cpu_bound,
    machine_cpu_bound,
    stolen_time,
    cpu_limited,
    governor,
    frequency_cap,
    throttled,
    power_mode,
)
