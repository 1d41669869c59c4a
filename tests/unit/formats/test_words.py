"""Mistakes in YAML are told in YAML's words, whatever is wrong with whatever key."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate import engines
from iogate.declare.device import DeviceFile, LinkProfile, TargetId
from iogate.declare.suite import SuiteFile
from iogate.declare.workload import Precondition, SteadyState, WorkloadEntry
from iogate.engines.fio.options import FioOptions
from iogate.engines.iozone.options import IozoneOptions
from iogate.engines.memory.options import MemoryOptions
from iogate.engines.mlc.options import MlcOptions
from iogate.engines.reader.options import ReaderOptions
from iogate.errors import InputErrors
from iogate.formats.schema import check
from iogate.judge.baseline.file import BaselineFile

ENGINES = {
    "fio": FioOptions,
    "iozone": IozoneOptions,
    "memory": MemoryOptions,
    "mlc": MlcOptions,
    "reader": ReaderOptions,
}
SHAPES = (
    *(SuiteFile, WorkloadEntry, SteadyState, Precondition, DeviceFile, LinkProfile, TargetId, BaselineFile),
    *ENGINES.values(),
)
PYTHON = re.compile(
    r"\b(valid|tuple|dictionary|dict|instance|string|integer|boolean|Input|None|True|False)\b"
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["x", "", "4k", "5%", "1.5"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


def messages(shape, data):
    try:
        check(shape, data)
    except InputErrors as errors:
        return [error.message for error in errors.errors]
    return []


def test_every_engine_is_asked():
    assert set(ENGINES) == set(engines.names())


def test_a_gate_of_nothing_is_told_in_yaml_s_words():
    assert messages(WorkloadEntry, {"gate": [None]}) == ["gate: unknown metric 'empty'"]


class AsOf310:
    """`dict[str, Model]` as Python 3.10 has it: an instance of `type` that is no class."""

    __class__ = type

    def __init__(self, *parts):
        self.__args__ = parts


def test_an_unknown_key_amid_a_mapping_is_told_by_each_python(monkeypatch):
    field = BaselineFile.model_fields["sessions"]
    monkeypatch.setattr(field, "annotation", AsOf310(*field.annotation.__args__))
    data = {"schema": 1, "device": "d", "suite": "s", "sessions": {"a": {"raeson": "x"}}, "workloads": {}}
    assert "unknown key 'raeson', did you mean 'reason'?" in messages(BaselineFile, data)


@given(st.sampled_from(SHAPES), VALUES, st.data())
def test_no_word_of_python_is_said_of_any_value(shape, value, data):
    key = data.draw(st.sampled_from([None, *shape.model_fields]))
    for message in messages(shape, value if key is None else {key: value}):
        assert not PYTHON.search(message), message


@pytest.mark.parametrize(
    ("shape", "data", "expected"),
    [
        (DeviceFile, "orin", "the file: must be a mapping of keys to values, not 'orin'"),
        (DeviceFile, {"target": ".", "suites": "quick"}, "suites: must be a list, as in [a, b], not 'quick'"),
        (DeviceFile, {"target": "", "suites": []}, "target: must not be empty"),
        (
            DeviceFile,
            {"target": ".", "missing": True},
            "must be 'fail', 'skip' or 'record', not true",
        ),
        (DeviceFile, {"target": None}, "target: must not be empty"),
        (SteadyState, {"rounds": 2}, "rounds: must be at least 3, not 2"),
        (SteadyState, {"rounds": None}, "rounds: must be a whole number, not empty"),
        (SteadyState, {"rounds": 3.5}, "rounds: must be a whole number, not 3.5"),
        (WorkloadEntry, {"description": 3}, "description: must be text, not 3: put it in quotes"),
        (
            WorkloadEntry,
            {"steady_state": [5]},
            "steady_state: must be a mapping of keys",
        ),
        (SuiteFile, {"workloads": {}}, "workloads: must not be empty"),
    ],
)
def test_what_must_be_there_is_said(shape, data, expected):
    assert any(expected in message for message in messages(shape, data))


@pytest.mark.parametrize("key", ["steady_state", "precondition"])
def test_true_asks_for_the_defaults_and_false_for_nothing(key):
    asked, not_asked = (check(WorkloadEntry, {key: value}) for value in (True, False))
    assert getattr(asked, key) == {"steady_state": SteadyState(), "precondition": Precondition()}[key]
    assert getattr(not_asked, key) is None
