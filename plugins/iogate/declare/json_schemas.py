"""JSON Schemas of the files that people write or read, for editors that complete and check them."""

from __future__ import annotations

from typing import Any

from iogate import engines
from iogate.declare.device import DeviceFile
from iogate.declare.suite import SuiteFile
from iogate.declare.workload import WorkloadEntry
from iogate.judge.baseline.file import BaselineFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TOLERANCE = {
    "description": "5%, 0.05, a pair [lower, upper] such as [-5%, 10%], or null to take it from the data",
    "anyOf": [
        {"type": ["string", "number", "null"]},
        {"type": "array", "items": {"type": ["string", "number", "null"]}, "minItems": 2, "maxItems": 2},
    ],
}
_GATE = {
    "description": "the metrics that decide: a list, or each with its tolerance; or one tolerance for those "
    "that the engine chooses (`default`)",
    "anyOf": [
        {"type": ["string", "number"]},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": _TOLERANCE},
    ],
}


def device_schema() -> dict[str, Any]:
    """Return the schema of `baselines/<device>/device.yaml`."""
    return {"$schema": _DIALECT, **DeviceFile.model_json_schema()}


def baseline_schema() -> dict[str, Any]:
    """Return the schema of `baselines/<device>/<suite>.yaml`."""
    return {"$schema": _DIALECT, **BaselineFile.model_json_schema()}


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite: the keys of every workload, and the options of every engine."""
    entry = WorkloadEntry.model_json_schema()
    shared = dict(entry["properties"])
    shared["engine"] = {**shared["engine"], "enum": engines.names()}
    shared["gate"] = _GATE
    definitions = dict(entry.get("$defs", {}))
    options: dict[str, Any] = {}
    for name in engines.names():
        own = engines.load(name).schema()
        definitions.update(own.get("$defs", {}))
        for key, shape in own["properties"].items():
            known = options.setdefault(key, {"anyOf": []})["anyOf"]
            if shape not in known:
                known.append(shape)
    workload = {
        "type": ["object", "null"],
        "properties": {**{key: _one(shape) for key, shape in options.items()}, **shared},
        "additionalProperties": False,
    }
    suite = SuiteFile.model_json_schema()
    suite["properties"]["defaults"] = {**workload, "description": "keys that every workload has"}
    suite["properties"]["workloads"] = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": workload,
        "description": "the workloads by name",
    }
    return {"$schema": _DIALECT, **suite, "$defs": definitions}


def _one(shape: dict[str, Any]) -> dict[str, Any]:
    """Return a shape, freed of a choice that has one alternative only."""
    only: dict[str, Any] = shape["anyOf"][0] if len(shape["anyOf"]) == 1 else shape
    return only
