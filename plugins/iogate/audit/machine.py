"""Checks of the machine beside the disk: was the processor the limit, or was it slowed down?"""

from __future__ import annotations

import os

from iogate.audit.run import Check, Remark, Remarks, Run

_BUSY = 0.95
_STOLEN = 0.1
_FEWEST_TICKS = 50
_OWN_FREQUENCY_DRIVERS = frozenset({"intel_pstate", "amd-pstate", "amd-pstate-epp"})
"""Drivers whose `powersave` follows the load instead of staying at the bottom."""


def job_cpu_bound(run: Run) -> Remarks:
    """jobs that use all of a core"""
    share = (run.output.user or 0.0) + (run.output.system or 0.0)
    polls = run.given("hipri", "sqthread_poll", "hipri_percentage")
    if share >= _BUSY and not polls and run.needs.target:
        yield Remark(
            "suspect",
            f"each job used {share:.0%} of a core ({run.output.user or 0:.0%} user, "
            f"{run.output.system or 0:.0%} system): this measures the processor",
            "more jobs, larger blocks, or a cheaper ioengine such as io_uring",
        )


def machine_cpu_bound(run: Run) -> Remarks:
    """a machine without a core to spare, or whose cores others use"""
    used = _share(run, "busy")
    if used is None or used < _BUSY or not run.needs.target:
        return
    own = ((run.output.user or 0.0) + (run.output.system or 0.0)) * max(run.output.jobs, 1)
    cores = os.cpu_count() or 1
    yield Remark(
        "suspect",
        f"the {cores} cores were {used:.0%} busy, {own / cores:.0%} with the engine's own jobs: the "
        "processor may be the limit",
        "see who else runs; fewer jobs or larger blocks",
    )


def stolen_time(run: Run) -> Remarks:
    """processor time that the hypervisor gave to others"""
    stolen = _share(run, "stolen")
    if stolen is not None and stolen >= _STOLEN:
        yield Remark(
            "suspect", f"the hypervisor gave {stolen:.0%} of the processor to others", "a machine of its own"
        )


def _share(run: Run, part: str) -> float | None:
    """The share of all cores' time over the run that was `busy` or `stolen`; None if too short to tell."""
    if run.before is None or run.after is None:
        return None
    before, after = run.before.system, run.after.system
    ticks = after.ticks - before.ticks
    if ticks < _FEWEST_TICKS:
        return None
    used: int = getattr(after, part) - getattr(before, part)
    return used / ticks


def governor(run: Run) -> Remarks:
    """a frequency governor that does not keep the processor at full speed"""
    system = run.after.system if run.after else None
    slow = sorted(system.governors - {"performance"}) if system else []
    if system is None or not slow:
        return
    bottom = slow == ["powersave"] and not system.drivers & _OWN_FREQUENCY_DRIVERS
    yield Remark(
        "suspect" if bottom else "note",
        f"frequency governor {', '.join(slow)}: latencies follow the processor's frequency",
        "cpupower frequency-set -g performance",
    )


def frequency_cap(run: Run) -> Remarks:
    """processor frequencies capped below the top"""
    system = run.after.system if run.after else None
    if system and system.capped < 0.95:
        yield Remark(
            "note",
            f"the processor may run at {system.capped:.0%} of its top frequency at most",
            "raise scaling_max_freq, or see who lowered it",
        )


def throttled(run: Run) -> Remarks:
    """a processor slowed down by heat"""
    if run.before is None or run.after is None:
        return
    before, after = run.before.system, run.after.system
    events = after.throttles - before.throttles
    if events > 0:
        yield Remark("suspect", f"the processor was throttled by heat {events} times", "cool it")
    for name in after.cooling:
        yield Remark("suspect", f"the processor is being slowed down ({name})", "cool it; pause longer")
    for name, degrees, limit in after.hot:
        yield Remark(
            "suspect",
            f"{name} is at {degrees:.0f} °C, slowing begins at {limit:.0f} °C",
            "cool it; pause longer",
        )


def power_mode(run: Run) -> Remarks:
    """a power mode below the best (nvpmodel on Jetson, platform profile, battery)"""
    for mode in run.after.system.power if run.after else ():
        yield Remark("note", f"power: {mode}", "nvpmodel -m 0 and jetson_clocks, or mains power")


CHECKS: tuple[Check, ...] = (
    job_cpu_bound,
    machine_cpu_bound,
    stolen_time,
    governor,
    frequency_cap,
    throttled,
    power_mode,
)
