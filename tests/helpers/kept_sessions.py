"""Results documents of many sessions, as runs would have kept them."""

import datetime
import math

import numpy as np

from iogate.model import Environment
from iogate.report.results import MetricRecord, Results, WorkloadRecord

DEFINITION = {"engine": "fio", "rw": "randread", "bs": "4k"}


def session_name(number):
    day = datetime.datetime(2026, 1, 1) + datetime.timedelta(days=number)
    return f"{day:%Y-%m-%dT%H:%M:%SZ}-{number:04x}"


def repetitions(seed, number, level, count=3):
    random = np.random.default_rng((seed, number))
    return [
        float(level * math.exp(random.normal() * 0.01 + one)) for one in random.normal(size=count) * 0.005
    ]


def record(values, name="read_4k", definition=None, **more):
    metrics = {
        "read.iops": MetricRecord("IOPS", "higher", True, tuple(values), tolerance=0.05, verdict="pass")
    }
    given = {"verdict": "pass", "reason": "", "repetitions": len(values), "metrics": metrics, **more}
    return WorkloadRecord(f"suites/q.yaml::{name}", "q", name, "fio", definition or DEFINITION, **given)


def session(number, *records, device="lab", environment=None, **more):
    environment = environment or Environment({"machine": "m"}, {"kernel": "6.1"}, {})
    return Results(1, device, session_name(number), tuple(records), environment, {"iogate": "1"}, **more)


def keep(folder, results):
    """Write the results of a session as a run keeps them."""
    file = folder / results.session / "results.json"
    file.parent.mkdir(parents=True)
    results.write(file)
    return file
