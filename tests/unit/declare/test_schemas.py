"""The JSON Schemas that editors get know every key that the loaders know."""

import json

import pytest

from iogate import engines
from iogate.cli import main
from iogate.declare.json_schemas import device_schema, suite_schema
from iogate.declare.workload import WorkloadEntry
from iogate.formats.yamlio import load
from places import ROOT


def _references(shape) -> set[str]:
    if isinstance(shape, dict):
        own = {shape["$ref"]} if isinstance(shape.get("$ref"), str) else set()
        return own.union(*map(_references, shape.values()))
    if isinstance(shape, list):
        return set().union(*map(_references, shape))
    return set()


@pytest.mark.parametrize("schema", [suite_schema(), device_schema()], ids=["suite", "device"])
def test_every_reference_leads_somewhere(schema):
    for reference in _references(schema):
        place = schema
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
        assert place


@pytest.mark.parametrize("path", sorted((ROOT / "suites").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_keys_of_shipped_suites_are_known(path):
    schema = suite_schema()
    workload = schema["properties"]["workloads"]["additionalProperties"]["properties"]
    data = load(path).data
    assert set(data) <= set(schema["properties"])
    for entry in (data.get("defaults", {}), *data["workloads"].values()):
        assert set(entry or {}) <= set(workload)


def test_the_options_of_every_engine_are_there():
    schema = suite_schema()
    workload = schema["properties"]["workloads"]["additionalProperties"]
    assert workload["additionalProperties"] is False
    assert set(WorkloadEntry.model_fields) <= set(workload["properties"])
    for name in engines.names():
        assert set(engines.load(name).schema()["properties"]) <= set(workload["properties"])
    assert set(engines.names()) <= set(workload["properties"]["engine"]["enum"])


def test_the_command_prints_them(capsys):
    assert main(["schema", "suite"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["workloads"]
    assert main(["schema", "device"]) == 0
    assert "target" in json.loads(capsys.readouterr().out)["properties"]
