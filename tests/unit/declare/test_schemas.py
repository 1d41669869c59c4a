"""The JSON Schemas that editors get know every key that the loaders know."""

import json

import pytest
from jsonschema import Draft202012Validator

from documents import changed
from iogate import engines
from iogate.cli import main
from iogate.declare.json_schemas import baseline_schema, device_schema, suite_schema
from iogate.declare.workload import WorkloadEntry
from iogate.formats.yamlio import load
from iogate.report.results import results_schema
from places import DATA, ROOT

SCHEMAS = {
    "suite": suite_schema(),
    "device": device_schema(),
    "baseline": baseline_schema(),
    "results": results_schema(),
}
SUITES = sorted((ROOT / "suites").glob("*.yaml"))
DEVICES = sorted((ROOT / "baselines").glob("*/device.yaml"))
BASELINES = sorted(set((ROOT / "baselines").glob("*/*.yaml")) - set(DEVICES))
RESULTS = sorted((DATA / "results").glob("*.json"))


def valid(what, data):
    """Whether data are of the schema by the rules of JSON Schema itself."""
    return Draft202012Validator(SCHEMAS[what]).is_valid(data)


def _references(shape) -> set[str]:
    if isinstance(shape, dict):
        own = {shape["$ref"]} if isinstance(shape.get("$ref"), str) else set()
        return own.union(*map(_references, shape.values()))
    if isinstance(shape, list):
        return set().union(*map(_references, shape))
    return set()


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_they_are_schemas(schema):
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("what", "path"),
    [
        *(("suite", path) for path in SUITES),
        *(("device", path) for path in DEVICES),
        *(("baseline", path) for path in BASELINES),
        *(("results", path) for path in RESULTS),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.parent.name}-{value.stem}",
)
def test_shipped_files_are_of_their_schema_and_of_no_other(what, path):
    data = json.loads(path.read_text()) if path.suffix == ".json" else load(path).data
    assert [name for name in SCHEMAS if valid(name, data)] == [what]


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("schema",), 2),
        (("sessions",), {"monday": {"why": "no such key"}}),
        (("workloads", "{}", "metrics"), {}),
        (("workloads", "{}", "metrics", "read.iops"), 0),
        (("workloads", "{}", "metrics", "read.iops"), "fast"),
        (("workloads", "{}", "metrics", "read.iops"), [1.0, 2.0]),
        (("workloads", "{}", "metrics", "read.iops"), [[1.0, -2.0]]),
    ],
)
def test_a_broken_baseline_is_not_of_the_schema(keys, value):
    data = load(BASELINES[0]).data
    first = next(iter(data["workloads"]))
    assert not valid(
        "baseline", json.loads(changed(data, [first if key == "{}" else key for key in keys], value))
    )


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("schema",), 2),
        (("device",), None),
        (("workloads", 0, "repetitions"), "5"),
        (("workloads", 0, "verdict"), "fine"),
        (("workloads", 0, "metrics", "read.iops", "values"), ["fast"]),
        (("workloads", 0, "metrics", "read.iops", "direction"), "up"),
        (("workloads", 0, "warmup"), [{"folder": "/raw"}]),
    ],
)
def test_broken_results_are_not_of_the_schema(keys, value):
    assert not valid("results", json.loads(changed(json.loads(RESULTS[0].read_text()), keys, value)))


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_reference_leads_somewhere(schema):
    for reference in _references(schema):
        place = schema
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
        assert place


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
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
    for what in ("baseline", "results"):
        assert main(["schema", what]) == 0
        assert json.loads(capsys.readouterr().out) == SCHEMAS[what]
