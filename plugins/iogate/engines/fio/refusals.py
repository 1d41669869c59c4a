"""Options of fio that a suite may not give, and those that it may if the user agrees (--io-allow-exec)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from iogate.engines.fio.jobs import MIXED
from iogate.errors import OptionError
from iogate.units import printable


@dataclass(frozen=True)
class Refusal:
    """Why options that match one of these shell patterns are refused: always, or unless the user has agreed
    to whatever a suite runs (`allowable`).
    """

    names: tuple[str, ...]
    reason: str
    allowable: bool = False


_REFUSALS = (
    Refusal(("exec_*",), "it runs a command", allowable=True),
    Refusal(("include*",), "it would read another job file into this one"),
    Refusal(
        ("filename", "filename_*", "unique_filename", "directory", "opendir", "replay_redirect", "lockfile"),
        "what is read and written is the target's, given by the device or --io-target",
    ),
    Refusal(("read_iolog*", "merge_blktrace*"), "a trace names files of its own beside the target"),
    Refusal(
        ("write_*_log", "write_iolog", "log_*", "per_job_logs", "aux-path", "aux_path"),
        "it writes files outside of the results folder",
        allowable=True,
    ),
    Refusal(("output*",), "it writes files outside of the results folder"),
    Refusal(
        ("verify_state_*", "verify_dump", "dp_scheme"),
        "it reads or writes files beside the target",
        allowable=True,
    ),
    Refusal(("profile",), "a profile replaces the options that are declared here"),
    Refusal(("unlink", "unlink_each_loop"), "the laid-out file is shared by workloads"),
    Refusal(
        ("filesize", "fill_device", "fill_fs", "file_append"), "size says how much of the target is used"
    ),
    Refusal(("allow_mounted_write",), "whether a target may be written is not for a suite to say"),
    Refusal(("allow_file_create",), "data are laid out before, and not made anew below a mount that is gone"),
    Refusal(("ioscheduler", "cgroup*"), "it changes the system for others than this workload"),
    Refusal(("kb_base",), "it changes what sizes mean: k is 1024 here"),
    Refusal(("unified_rw_reporting",), "reads and writes are reported apart"),
    Refusal(("name", "wait_for", "stonewall", "wait_for_previous"), "a workload is a job of its own"),
    Refusal(("create_only", "verify_only", "stats"), "nothing would be measured"),
    Refusal(
        ("verify_backlog*",),
        "fio counts the time of what it reads again as that of writes; verify alone reads behind them",
    ),
)


@lru_cache(maxsize=4096)
def refusal(key: str) -> Refusal | None:
    """Return the rule that refuses an option of fio, or None."""
    return next((rule for rule in _REFUSALS if any(fnmatchcase(key, name) for name in rule.names)), None)


def commands(options: Mapping[str, Any]) -> list[OptionError]:
    """Return what in normalised options runs commands, loads code, or writes beside the target: refused
    unless the user agrees to it.
    """
    if "jobs" not in options:
        return _commands(options)
    return [
        OptionError(f"[{printable(name)}]: {error.message}", ("jobfile",), remedy=error.remedy)
        for name, job in options["jobs"].items()
        for error in _commands(job)
    ]


_PLAIN_URI = re.compile(r"nbds?(\+unix)?://")
"""URIs of libnbd that lead to a socket and nowhere else: of `nbd+ssh` it runs ssh with the user's keys."""


def _commands(options: Mapping[str, Any]) -> list[OptionError]:
    ioengine, writes = str(options["ioengine"]), "write" in options["rw"] or "trim" in options["rw"]
    reasons: dict[tuple[str, ...], str] = {}
    if ioengine == "exec":
        reasons["ioengine",] = "it runs a command"
    elif ioengine.startswith("external:"):
        reasons["ioengine",] = "it loads code from a file"
    elif ioengine == "nbd" and (writes or options["rw"].partition(":")[0] in MIXED):
        reasons["fio", "uri"] = "the suite names what would be written to, not the device or --io-target"
    uris = options.get("fio", {}).get("uri", [])
    if not all(map(_PLAIN_URI.match, uris if isinstance(uris, list) else [uris])):
        reasons["fio", "uri"] = "it may run a program, as any URI but nbd://, nbds:// and those of +unix may"
    for key in options.get("fio", {}):
        rule = refusal(key)
        if rule and rule.allowable:
            reasons["fio", key] = rule.reason
    return [
        OptionError(
            f"fio's {_option_name(path, options)} is refused: {reason}",
            path,
            key=len(path) > 1,
            remedy="if you trust this suite with all that you may do yourself: --io-allow-exec",
        )
        for path, reason in reasons.items()
    ]


def _option_name(path: tuple[str, ...], options: Mapping[str, Any]) -> str:
    return f"ioengine {options['ioengine']!r}" if path == ("ioengine",) else repr(path[-1])
