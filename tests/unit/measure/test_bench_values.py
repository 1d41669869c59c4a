"""What goes to a bench and comes from it can be sent as JSON: the bench may be on another machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate import engines
from iogate.declare.device import load_device
from iogate.declare.suite import load_suite
from iogate.errors import (
    EngineError,
    InputError,
    IogateError,
    MeasurementError,
    OptionError,
    OutputError,
    Position,
    TargetError,
)
from iogate.measure.bench import Pair
from iogate.measure.settings import Settings
from iogate.model import (
    Device,
    Environment,
    Finding,
    Needs,
    Output,
    Repetition,
    Slice,
    Tolerance,
    Traffic,
    Workload,
)
from iogate.remote.wire import packed, unpacked
from iogate.target.resolve import Target
from places import DATA, ROOT

SUITES = sorted((ROOT / "suites").glob("*.yaml"))
PROFILES = sorted(path.parent.name for path in (ROOT / "baselines").glob("*/device.yaml"))

OUTPUTS = [
    DATA / "fio" / f"fio-3.36.{name}.json" for name in ("randread_grouped", "randrw70", "write_ungrouped")
]


def sent(value):
    """A value as it arrives elsewhere: written as JSON, and read by its type."""
    return unpacked(type(value), packed(value))


_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
_facts = st.dictionaries(_text, _text, max_size=3)
_figures = st.floats(allow_nan=False, allow_infinity=False)
_counts = st.integers(0, 2**63)
_plain = st.recursive(
    st.none() | st.booleans() | _counts | _figures | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_options = st.dictionaries(_text, _plain, max_size=4)
_positions = st.builds(Position, _text, _counts, _counts)
_findings = st.builds(Finding, _text, st.sampled_from(["note", "suspect", "invalid"]), _text, _text, _text)
_outputs = st.builds(
    Output,
    st.dictionaries(_text, _figures, max_size=4),
    st.dictionaries(_text, st.builds(Traffic, _counts, _counts, _figures, _counts), max_size=3),
    engine_version=_text,
    user=st.none() | _figures,
    options=_options,
    steady=st.none() | st.booleans(),
    remarks=st.tuples(_text),
    space=_counts,
)
_workloads = st.builds(
    Workload,
    *(_text, _text, _text, _options, _positions),
    markers=st.tuples(_text, _text),
    gate=st.dictionaries(_text, st.builds(Tolerance, st.none() | _figures, st.none() | _figures)),
    repetitions=st.none() | _counts,
    waive=_facts,
    procedure=_options,
    against=st.none() | _options,
)
_repetitions = st.builds(
    Repetition,
    *(_outputs, _figures, _text),
    st.lists(_findings, max_size=2).map(tuple),
    st.lists(_figures, max_size=3).map(tuple),
)
_slices = st.builds(Slice, st.sampled_from("AB"), _figures, _figures, _counts, _counts, _counts)
_values = st.one_of(
    _workloads,
    _slices,
    st.builds(
        Pair,
        st.tuples(_workloads, _workloads),
        st.sampled_from(["one", "copies", "targets", "images"]),
        *(_counts, st.booleans(), st.none() | _counts),
    ),
    _repetitions,
    st.builds(
        replace,
        _repetitions,
        base=_repetitions,
        swapped=st.booleans(),
        seed=_counts,
        slices=st.lists(_slices, max_size=3).map(tuple),
    ),
    st.builds(Needs, size=_counts, direct=st.booleans(), seconds=_figures, written=st.none() | _counts),
    st.builds(Environment, _facts, _facts, _facts),
    st.builds(
        Target,
        _text.map(Path),
        st.sampled_from(["directory", "device"]),
        st.none() | _text,
        st.none() | _text,
        *(_counts, _counts, st.none() | _text, st.tuples(_counts, _counts)),
    ),
    st.builds(
        Device, _text, _text, identity=_facts, link=st.none() | _figures, wear=_options, position=_positions
    ),
    st.builds(Settings, _text.map(Path), target=st.none() | _text, budget=st.none() | _figures),
)


@given(_values)
def test_values_arrive_as_they_were(value):
    assert sent(value) == value


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_declared_workloads_and_their_needs_arrive_as_they_were(path):
    workloads = load_suite(path).workloads
    assert workloads
    for workload in workloads:
        arrived = sent(workload)
        assert arrived == workload
        assert arrived.definition_hash == workload.definition_hash
        needs = engines.load(workload.engine).needs(workload)
        assert sent(needs) == needs


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_arrive_as_they_were(name):
    device = replace(load_device(name, ROOT / "baselines"), places={})
    assert sent(device) == device


@pytest.mark.parametrize(
    "path", sorted((DATA / "fio").glob("fio-3.36.*[dms]*_*.json")), ids=lambda path: path.stem
)
def test_outputs_arrive_as_they_were(path):
    output = engines.load("fio").parse(path.read_text(), name=path.name)
    assert sent(output) == output


@pytest.mark.parametrize(
    "error",
    [
        TargetError("too small", rule="space", remedy="free space"),
        EngineError("killed", remedy="try again"),
        OutputError("no JSON", position=Position("fio.json", 3, 4)),
        InputError("not the device", position=Position("device.yaml")),
        MeasurementError("moved"),
        OptionError("no such option", ("fio", 3), key=True, remedy="mend it"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_arrive_as_they_were(error):
    arrived = unpacked(IogateError, packed(error))
    assert type(arrived) is type(error)
    assert (str(arrived), vars(arrived)) == (str(error), vars(error))
