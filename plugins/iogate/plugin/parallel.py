"""What starts several processes for the tests of one run."""

from __future__ import annotations

import pytest

from iogate.plugin.items import LIE, is_suite, is_worker


def refuse_parallel(config: pytest.Config) -> None:
    """Parallel benchmarks on one target lie. Other tests of the same project may run in parallel.

    Suites behind links and options are found by the processes themselves, as they collect.
    """
    flag = started_by(config)
    if not flag:
        return
    patterns = config.getini("io_suites")
    for argument in config.args:
        path = config.invocation_params.dir / argument.split("::")[0]
        files = path.rglob("*.y*ml") if path.is_dir() else [path]
        if any(is_suite(file.resolve(), patterns) for file in files):
            raise pytest.UsageError(
                f"{flag} cannot be used with suites ({argument}): {LIE}. Run the suites without {flag}."
            )


def started_by(config: pytest.Config) -> str:
    """Return the option by which xdist is to start processes, if this is the one that starts them."""
    option = config.option
    if is_worker(config):
        return ""
    if getattr(option, "numprocesses", None):
        return "-n"
    return "--tx" if getattr(option, "tx", None) and option.dist != "no" else ""
