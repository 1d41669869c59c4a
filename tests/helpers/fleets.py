"""Results of many devices of one model, made up."""

import numpy as np

from iogate.model import Environment
from kept_sessions import DEFINITION, keep, record, repetitions, session

MODEL = {"machine": "Orin", "disk": "KXG60", "memory": "30 GiB"}


def environment(device, *, link="8.0 GT/s PCIe x4", model=MODEL, **more):
    """Where a session of a device ran; `more` are facts of its identity."""
    identity = {**model, "serial": f"M{device}", "disk_serial": f"S{device}", **more}
    state = {"disk_link": link, "disk_temperature": f"{40 + device % 7} °C", "load": f"{device}"}
    return Environment(identity, {"kernel": "5.15", "disk_firmware": "A1"}, state)


def levels(count, *, seed=1, noise=0.02):
    """What the devices of a fleet reach: IOPS."""
    random = np.random.default_rng(seed)
    return [float(20_000 * np.exp(step)) for step in random.normal(0, noise, count)]


def measure(folder, device, number, level, *, names=("read_4k",), name="", there=None, **more):
    """Keep a session of a device: its `number` is the day."""
    records = [record(repetitions(device, number, level), name=each, **more) for each in names]
    known = session(
        number, *records, device=name or f"orin-{device}", environment=there or environment(device)
    )
    return keep(folder / f"orin-{device}", known)


def fleet(folder, count=10, sessions=2, *, slow=None, loss=0.25, **more):
    """Keep the sessions of a fleet, one device of which may be slow."""
    for device, level in enumerate(levels(count), 1):
        lost = loss if device == slow else 0.0
        for number in range(sessions):
            measure(folder, device, 10 * number + device, level * (1 - lost), **more)
    return sorted(folder.glob("orin-*"))


__all__ = ["DEFINITION", "MODEL", "environment", "fleet", "levels", "measure"]
