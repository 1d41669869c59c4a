"""The options that a workload is held against: its own, but for those that `against` names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from iogate import engines
from iogate.errors import InputErrors, OptionError
from iogate.formats.attachment import Attachment
from iogate.model import Workload
from iogate.units import printable


def options_against(
    engine: engines.Engine,
    given: Mapping[str, Any],
    changed: Mapping[str, Any] | None,
    shared: Collection[str],
) -> Mapping[str, Any] | None:
    """Return the options of the base, checked: those given, with what is `changed`; None takes one away. None
    if nothing is to be held against anything. `shared` are the keys that are no options.

    Raises InputErrors of OptionError, at `against`.
    """
    if changed is None:
        return None
    names = sorted({"engine", *shared} & changed.keys())
    if names or not changed:
        what = f"{names[0]} is no option of an engine" if names else "names no option that differs"
        raise InputErrors([OptionError(f"against: {what}", ("against", *names[:1]))])
    if any(isinstance(value, Attachment) for value in given.values()):
        _check_taken_away(given, changed)
    base = {key: value for key, value in insisting(given, changed).items() if value is not None}
    passed, own = changed.get("fio"), given.get("fio")
    if isinstance(passed, Mapping) and isinstance(own, Mapping):
        base["fio"] = {key: value for key, value in {**own, **passed}.items() if value is not None}
    try:
        options = engine.options(base)
    except InputErrors as errors:
        raise InputErrors([within_against(error, changed) for error in errors.errors]) from None
    if options == engine.options(given):
        raise InputErrors([OptionError("against: these are the workload's own options", ("against",))])
    return options


def _check_taken_away(given: Mapping[str, Any], changed: Mapping[str, Any]) -> None:
    """Raise InputErrors of OptionError if an option is taken away that a file says, and not the suite."""
    own, passed = (options.get("fio") for options in (given, changed))
    known = {*given, *(own if isinstance(own, Mapping) else ())}
    for file in given.values():
        known -= file.yielding if isinstance(file, Attachment) else set()
    each = [*changed.items(), *(passed.items() if isinstance(passed, Mapping) else ())]
    of_the_file = [name for name, value in each if value is None and name not in known]
    if of_the_file:
        message = (
            f"against: {printable(str(of_the_file[0]))}: nothing is taken away from what a job file says"
        )
        raise InputErrors([OptionError(message, ("against",), remedy="say what holds instead")])


def insisting(given: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options given, with what is `changed`, which holds whatever a file among them says."""
    passed = (value for value in changed.values() if isinstance(value, Mapping))
    names = frozenset(changed).union(*passed)
    return {
        **{
            key: replace(value, yielding=value.yielding - names) if isinstance(value, Attachment) else value
            for key, value in given.items()
        },
        **changed,
    }


def check_figures(engine: engines.Engine, workload: Workload) -> None:
    """Raise InputErrors of OptionError, at `against`, if the base does nothing of a kind that the workload is
    judged by: no writes, where those decide.
    """
    if workload.against is None:
        return
    own, base = (
        dict.fromkeys(name.partition(".")[0] for name in engine.gating(given))
        for given in (workload, replace(workload, options=workload.against))
    )
    deciding = {name.partition(".")[0] for name in workload.gate} or own
    if missing := [kind for kind in own if kind in deciding and kind not in base]:
        what = f"the base has figures of {', '.join(base)}, and none of {', '.join(missing)}"
        raise InputErrors(
            [OptionError(f"against: {what}", ("against",), remedy="let both do the same kind of I/O")]
        )


def within_against(error: Exception, changed: Mapping[str, Any]) -> OptionError:
    """Return the same error at the place below `against` where its option is."""
    assert isinstance(error, OptionError)
    if not error.path or error.path[0] not in changed:
        return error
    return OptionError(error.message, ("against", *error.path), key=error.key, remedy=error.remedy)
