"""Whatever happens to an output on its way, it is refused or it is right: never a traceback, never a lie."""

import json
import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import places
from iogate.engines.fio.engine import engine
from iogate.errors import OutputError

DATA = places.DATA / "fio"
TEXT = (DATA / "fio-3.33.jsonplus.json").read_text()
WHOLE = engine.parse(TEXT, name="x")
NUMBERS = [match.span(1) for match in re.finditer(r": (-?[0-9][0-9.]*)", TEXT)]
RATES = ("read.iops", "read.bandwidth")


def parse(text):
    """The output, or None if it was refused."""
    try:
        output = engine.parse(text, name="x")
    except OutputError:
        return None
    assert all(math.isfinite(value) and value >= 0 for value in output.metrics.values())
    return output


def test_an_output_that_is_cut_anywhere_is_refused():
    end = TEXT.rindex("}")
    survivors = [cut for cut in (*range(0, end, 3), end) if parse(TEXT[:cut])]
    assert survivors == []


def test_any_number_of_outputs_without_a_beginning_are_told_apart():
    text = '"jobname" : "a", "groupid" : 0\nx\n' * 3000
    assert [line for line, _ in engine.blocks(text)] == [1, *range(2, 6000, 2)]


def test_an_output_cut_at_its_beginning_is_refused():
    survivors = [cut for cut in range(1, len(TEXT), 7) if parse(TEXT[cut:])]
    assert survivors == []


@pytest.mark.parametrize("name", ["fio-3.1.status_interval.json", "fio-3.36.client_server.json"])
def test_other_shapes_cut_anywhere_give_nothing_or_a_whole_document(name):
    """A document that was complete before the cut may stand, if it says that the run had ended."""
    text = (DATA / name).read_text()
    complete = {match.end() for match in re.finditer(r"^\}\n", text, re.MULTILINE)}
    for cut in range(0, len(text.rstrip()), 29):
        if parse(text[:cut]):
            assert any(end - 2 <= cut <= end + 2 for end in complete)


@given(st.sampled_from(NUMBERS), st.integers(-(10**20), 10**20) | st.floats())
@settings(max_examples=300, deadline=None)
@example(next(span for span in NUMBERS if TEXT[: span[0]].endswith('"runtime" : ')), 2.2e-311)
def test_a_changed_figure_is_refused_or_leaves_the_rates_right(span, value):
    changed = TEXT[: span[0]] + str(value) + TEXT[span[1] :]
    output = parse(changed)
    for name in RATES:
        if output:
            assert output.metrics[name] == pytest.approx(WHOLE.metrics[name], rel=0.03)


@given(st.integers(0, len(TEXT) - 1), st.characters(codec="utf-8"))
@settings(max_examples=300, deadline=None)
def test_a_changed_character_never_gives_a_traceback(index, character):
    parse(TEXT[:index] + character + TEXT[index + 1 :])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def _places(value, path=()):
    """The paths of all values within a document."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from _places(value[index], (*path, index))


PLACES = [path for path in _places(json.loads(TEXT)) if path]


@given(st.sampled_from(PLACES), _JSON)
@settings(max_examples=400, deadline=None)
def test_any_value_in_any_place_never_gives_a_traceback(path, value):
    document = json.loads(TEXT)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    parse(json.dumps(document))


@given(st.sampled_from(PLACES))
@settings(max_examples=200, deadline=None)
def test_a_missing_value_never_becomes_zero(path):
    document = json.loads(TEXT)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    output = parse(json.dumps(document))
    if output:
        for name, value in output.metrics.items():
            assert value != 0 or WHOLE.metrics.get(name) == 0, name


@given(st.text(max_size=60).filter(lambda text: not re.search(r"^\{|terminating", text, re.MULTILINE)))
def test_text_around_the_output_changes_no_figure(noise):
    output = engine.parse(f"{noise}\n{TEXT}\n{noise}", name="x")
    assert output.metrics == WHOLE.metrics


def test_a_byte_order_mark_changes_no_figure():
    assert engine.parse("\ufeff" + TEXT, name="x").metrics == WHOLE.metrics


@given(
    st.sampled_from(NUMBERS), st.sampled_from(["nan", "-nan", "inf", "NaN", "Infinity", "-Infinity", "1e999"])
)
@settings(max_examples=300, deadline=None)
def test_what_is_no_number_is_never_a_figure(span, word):
    output = parse(TEXT[: span[0]] + word + TEXT[span[1] :])  # which looks whether all figures are finite
    for name in RATES:
        assert output is None or output.metrics[name] == pytest.approx(WHOLE.metrics[name], rel=0.03)


LINES = [match.span() for match in re.finditer(r'^ *"[^"\n]+" : -?[0-9][0-9.]*,?\n', TEXT, re.MULTILINE)]


@given(st.sampled_from(LINES), st.integers(0, 10**12))
@settings(max_examples=300, deadline=None)
def test_a_figure_that_is_stated_twice_is_refused_or_leaves_the_rates_right(span, value):
    key = TEXT[span[0] : span[1]].partition(":")[0]
    for changed in (
        f"{TEXT[: span[0]]}{key}: {value},\n{TEXT[span[0] :]}",
        f"{TEXT[: span[1]].rstrip().rstrip(',')},\n{key}: {value}{',' if ',' in TEXT[slice(*span)] else ''}\n"
        f"{TEXT[span[1] :]}",
    ):
        output = parse(changed)
        for name in RATES:
            assert output is None or output.metrics[name] == pytest.approx(WHOLE.metrics[name], rel=0.03)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("utf-8", "replace")))
def test_any_text_is_refused(text):
    assert parse(text) is None
