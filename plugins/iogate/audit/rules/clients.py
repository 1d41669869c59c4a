"""Checks of clients at work at once: did all run together, alike, with the same engine and one time?"""

from __future__ import annotations

import statistics

from iogate.audit.evidence import Check, ClientRun, Evidence, Findings, finding
from iogate.model import Severity
from iogate.units import format_duration, format_quantity

_TOGETHER, _HARDLY_TOGETHER = 0.95, 0.5
_FAR_OFF, _OFF = 2.0, 1.25
_CLOCKS = 1.0
_MOVED = 0.05


def clients_together(evidence: Evidence) -> Findings:
    """Find clients that did not run at the same time, so that each had the storage to itself for a while.

    `invalid` if all of them were at work in less than half of the time of the one that ran longest, `suspect`
    below 95%. Rates are summed over the time when all ran, latencies are of the whole time.

    Take `time_based` and a longer `runtime`; see what delays a client: its load, or the way to it.
    """
    spans = [client.span for client in evidence.clients]
    if len(spans) < 2:
        return
    common = min(span.end for span in spans) - max(span.start for span in spans)
    longest = max(span.seconds for span in spans)
    if common < _TOGETHER * longest:
        late = max(evidence.clients, key=lambda client: client.span.start)
        early = min(evidence.clients, key=lambda client: client.span.end)
        yield finding(
            "invalid" if common < _HARDLY_TOGETHER * longest else "suspect",
            f"all {len(spans)} clients ran for {format_duration(max(common, 0.0))} of "
            f"{format_duration(longest)}: {_called(late)} began last, {_called(early)} ended first",
            "time_based and a longer runtime; see what delays that client",
        )


def client_outlier(evidence: Evidence) -> Findings:
    """Find a client that moved far more, or far less, than the others.

    `suspect` if it is by more than a factor of 2 from the median of all, `note` by more than 1.25; of two the
    slower one is named.

    Look at that client: its network, its load, the way it mounts the storage.
    """
    rates = [client.rate for client in evidence.clients]
    if len(rates) < 2:
        return
    usual = statistics.median(rates) if len(rates) > 2 else max(rates)  # of two nobody knows who is usual
    for client in evidence.clients:
        low, high = sorted((client.rate, usual))
        if high <= _OFF * low:
            continue
        severity: Severity = "suspect" if high > _FAR_OFF * low else "note"
        yield finding(
            severity,
            f"{_called(client)} moved {format_quantity(client.rate, 'B/s')}, where "
            f"{format_quantity(usual, 'B/s')} are usual among the clients",
            "look at that client: its network, its load, how it mounts the storage",
        )


def client_versions(evidence: Evidence) -> Findings:
    """Find clients whose engines are of different versions.

    `suspect`: what one client does is not what the others do.

    Install the same version on all of them.
    """
    versions = {client.version for client in evidence.clients}
    if len(versions) > 1:
        each = ", ".join(f"{_called(client)}: {client.version}" for client in evidence.clients)
        yield finding("suspect", f"the clients have different engines: {each}", "install the same version")


def client_clocks(evidence: Evidence) -> Findings:
    """Compare the clocks of clients, by which it is told when each of them ran.

    `invalid` if a clock jumped during the run by more than 5% of it: nobody knows then which clients ran
    together. `note` if clocks are more than a second apart: that is measured and taken into account.

    Let the clients keep time (chrony, systemd-timesyncd).
    """
    remedy = "let the clients keep time: chrony, systemd-timesyncd"
    for client in evidence.clients:
        if abs(client.moved) > _MOVED * client.span.seconds + client.uncertain:
            yield finding(
                "invalid",
                f"the clock of {_called(client)} jumped by {client.moved:+.3f} s during the run",
                remedy,
            )
    ahead = [client.ahead for client in evidence.clients]
    if ahead and max(ahead) - min(ahead) > _CLOCKS:
        each = ", ".join(f"{_called(client)} {client.ahead:+.1f} s" for client in evidence.clients)
        yield finding("note", f"the clocks of the clients differ: {each}", remedy)


def _called(client: ClientRun) -> str:
    return f"{client.name} ({client.host})"


CHECKS: tuple[Check, ...] = (clients_together, client_outlier, client_versions, client_clocks)
