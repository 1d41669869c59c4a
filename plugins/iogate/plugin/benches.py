"""Which bench a run measures on: this machine, or one at a host; with pytest-timeout's limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iogate.errors import InputError
from iogate.plugin.options import value_of
from iogate.plugin.time_limit import TimeLimit, timed, timeout_settings

if TYPE_CHECKING:
    from iogate.measure.bench import Bench, Watcher
    from iogate.measure.local_bench import LocalBench
    from iogate.measure.settings import Settings
    from iogate.model import Device
    from iogate.remote.bench import RemoteBench
    from iogate.remote.clients import ClientsBench


def host_of(settings: Settings, device: Device) -> str:
    """Return where the device is; empty if that is here, or at several hosts."""
    return settings.host or device.host


def is_elsewhere(settings: Settings, device: Device) -> bool:
    """Return whether the device is not this machine."""
    return bool(host_of(settings, device) or device.hosts)


def bench_of(
    config: pytest.Config,
    settings: Settings,
    device: Device,
    folder: Path,
    watcher: Watcher,
    items: Mapping[str, pytest.Item],
) -> Bench:
    """Return the bench of a device, whose raw files are kept in a folder; `items` are the tests by their ids.

    Raises TargetError for a target or a host that cannot be had, and InputError for what is none.
    """
    host = host_of(settings, device)
    kind: type[LocalBench | RemoteBench | ClientsBench]
    if host or device.hosts:
        if host:
            from iogate.remote.bench import RemoteBench

            kind = RemoteBench
        else:
            from iogate.remote.clients import ClientsBench

            kind = ClientsBench
        settings = replace(
            settings,
            host=host,
            target=value_of(config, "--io-target"),  # paths there, not here
            against=value_of(config, "--io-against"),
        )
    else:
        from iogate.measure.local_bench import LocalBench

        kind = LocalBench
    limits = timeout_settings(config)
    try:
        bench = (timed(kind) if limits else kind)(settings, device, folder, watcher)
    except InputError as error:
        if host == device.host:
            error.position = error.position or device.position  # the profile says so
        raise
    if limits and isinstance(bench, TimeLimit):
        bench.limit(items, limits)
    return bench
