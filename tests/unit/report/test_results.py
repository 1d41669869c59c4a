"""The results document: what is written is read back, and what is damaged is refused with its place."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from documents import changed
from iogate.errors import InputError, InputErrors, MeasurementError, Position
from iogate.judge.judge import GateOptions
from iogate.model import (
    Environment,
    Finding,
    Histogram,
    MetricVerdict,
    Output,
    PairFacts,
    Repetition,
    Slice,
    Tolerance,
    Verdict,
    Workload,
    WorkloadResult,
    metric,
)
from iogate.report.json_file import JsonFile
from iogate.report.recording import engine_versions, record_workload, results_of
from iogate.report.results import SCHEMA, Results
from iogate.report.resuming import restored
from iogate.units import unbroken
from places import DATA

OLDER = DATA / "results" / "results_before_repetitions.json"
METRICS = ("read.iops", "read.bandwidth", "write.clat.p99", "wall_time")
IN_A_TEST = settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)

texts = st.text(max_size=8).map(unbroken)  # as they are read, whatever was written
figures = st.floats()
values = st.dictionaries(st.sampled_from(METRICS), figures)
facts = st.dictionaries(texts, texts, max_size=2)
findings = st.builds(Finding, texts, st.sampled_from(["note", "suspect", "invalid"]), texts, texts, texts)
histograms = st.builds(
    Histogram,
    st.sampled_from([1, 2, 4, 8]),
    st.dictionaries(st.integers(0, 2**40), st.integers(1, 2**40), max_size=4),
)
outputs = st.builds(
    Output,
    metrics=values,
    traffic=st.just({}),
    engine_version=texts,
    histograms=st.dictionaries(st.sampled_from(["read.clat", "lat"]), histograms),
)
repetitions = st.builds(
    Repetition,
    outputs,
    st.floats(0, 1e6),
    texts,
    st.lists(findings, max_size=2).map(tuple),
    st.lists(st.floats(0, 1e12), max_size=3).map(tuple),
    command=texts,
    files=facts,
    worked=st.none() | st.floats(0, 1e6),
)
slices = st.builds(Slice, st.sampled_from("AB"), *[st.floats(0, 1e6)] * 2, *[st.integers(0, 2**50)] * 3)
repetitions |= st.builds(
    replace,
    repetitions,
    base=repetitions,
    swapped=st.booleans(),
    seed=st.integers(0, 2**28),
    slices=st.lists(slices, max_size=3).map(tuple),
)
pairs = st.builds(PairFacts, texts, st.sampled_from(["one", "copies", "targets", "images"]), texts)
definitions = st.dictionaries(
    texts,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | texts,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
        max_leaves=4,
    ),
    max_size=3,
)


@st.composite
def measured(draw):
    """A workload with all that can be known of it; figures may be anything that a float can be."""
    done = tuple(draw(st.lists(repetitions, max_size=3)))
    metrics = tuple(
        MetricVerdict(
            metric(name),
            draw(st.sampled_from(["pass", "regressed", "recorded"])),
            draw(figures),
            tuple(one.metrics[name] for one in done if name in one.metrics),
            draw(st.booleans()),
            draw(texts),
            *(draw(st.none() | figures) for _ in range(2)),
            draw(st.none() | st.tuples(figures, figures)),
            *(draw(st.none() | figures) for _ in range(7)),
        )
        for name in METRICS
    )
    gate = {"read.iops": Tolerance(draw(st.none() | st.floats(0.01, 0.9)), None)}
    place = Position(f"{draw(texts)}.yaml", 3, 1)
    workload = Workload(draw(texts), draw(texts), "fio", draw(definitions), place, draw(texts), gate=gate)
    verdict = Verdict("pass", draw(texts), metrics, tuple(draw(st.lists(findings, max_size=2))), len(done))
    warmup = tuple(draw(st.lists(repetitions, max_size=2)))
    failure = draw(st.none() | texts.map(MeasurementError))
    known = draw(st.none() | pairs)
    spent = draw(st.floats(0, 1e9))
    return WorkloadResult(draw(texts), workload, verdict, done, failure, warmup, spent, pair=known)


def document(*workloads, options=None, **facts):
    """The document of a session."""
    options = options or GateOptions()
    records = [record_workload(one, options) for one in workloads]
    return results_of("orin", "today", Environment(**facts), records, options, {"pytest": "9.0"})


def one_workload(value=2e9, declared=None, tolerance=None, **more):
    repetition = Repetition(Output({"read.bandwidth": value}, {}, engine_version="fio-3.33"), 10.0, "/raw/1")
    gate = {"read.bandwidth": Tolerance(declared)}
    workload = Workload("seq", "acceptance", "fio", {"bs": "1M"}, Position("suite.yaml"), gate=gate)
    name = metric("read.bandwidth")
    item = MetricVerdict(name, "pass", value, (value,), True, tolerance=tolerance)
    return WorkloadResult("suite.yaml::seq", workload, Verdict("pass", "", (item,)), (repetition,), **more)


@IN_A_TEST
@given(workloads=st.lists(measured(), max_size=2), identity=facts, subject=facts)
def test_what_is_written_is_read_back_and_is_json(tmp_path, workloads, identity, subject):
    path = tmp_path / "results.json"
    written = document(*workloads, identity=identity, subject=subject)
    written.write(path)
    assert Results.read(path) == written
    assert Results.read(path).digests() == written.digests()

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    json.loads(path.read_text(), parse_constant=refuse)


@IN_A_TEST
@given(
    text=st.text(max_size=8).map(lambda end: f"a\n{end}\n::error::b"), also=st.sampled_from(["a", "::stop::"])
)
def test_a_text_of_others_is_one_line_and_the_same_to_the_seal(tmp_path, text, also):
    path = tmp_path / "results.json"
    written = document(one_workload(), identity={text: text}, subject={also: also})
    item = replace(written.workloads[0].metrics["read.bandwidth"], unit=text, reason=text)
    own = "the reason\non two lines"
    record = replace(
        written.workloads[0], metrics={"read.bandwidth": item}, workload=text, reason=own, files={"a": text}
    )
    written = replace(written, workloads=(record,))
    written.write(path)
    found = Results.read(path)
    [workload] = found.workloads
    told = [*found.environment.identity, *found.environment.subject.values(), workload.workload]
    told += [workload.metrics["read.bandwidth"].unit, workload.metrics["read.bandwidth"].reason]
    assert not [one for one in told if "\n" in one or one.lstrip().startswith("::")]
    assert workload.reason == own and list(workload.files) == ["a"]
    assert found.digests() == written.digests()


def test_figures_that_are_not_finite_are_none(tmp_path):
    for value in (math.nan, math.inf, -math.inf):
        document(one_workload(value)).write(tmp_path / "results.json")
        (workload,) = Results.read(tmp_path / "results.json").workloads
        assert workload.metrics["read.bandwidth"].value is None
        assert workload.metrics["read.bandwidth"].values == (None,)
        assert workload.measured[0].metrics == {"read.bandwidth": None}


def test_names_of_files_that_are_no_text_do_not_spoil_the_document(tmp_path):
    document(one_workload(failure=MeasurementError("b\udcffd"))).write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json").workloads[0].reason == "b?d"


def test_repetitions_keep_all_that_a_report_shows():
    found = (Finding("busy", "suspect", "97% busy", "stop it"),)
    histogram = Histogram(8, {4096: 3})
    output = Output({"read.iops": 5.0}, {}, histograms={"read.clat": histogram})
    kept = Repetition(output, 1.23456, "/raw/2", found, (1e9 + 0.4, 2e9), worked=12.34567)
    record = document(one_workload(warmup=(kept,))).workloads[0]
    (before,), (counted,) = record.warmup, record.measured
    assert (before.folder, before.seconds, before.metrics) == ("/raw/2", 1.235, {"read.iops": 5.0})
    assert (before.worked, counted.worked) == (12.346, None)
    assert (before.findings, before.series) == (found, (1e9, 2e9))
    assert before.histograms == {"read.clat": histogram}
    assert (counted.folder, record.folders, record.repetitions) == ("/raw/1", ("/raw/1",), 1)


def test_versions_and_error_rates_are_kept():
    kept = document(one_workload(), options=GateOptions(alpha=0.02, tolerance=0.1))
    assert kept.gate and (kept.gate.alpha, kept.gate.beta, kept.gate.tolerance) == (0.02, 0.05, 0.1)
    assert {"iogate", "pytest"} <= set(kept.versions)
    assert engine_versions([one_workload()]) == {"fio": "fio-3.33"}


@pytest.mark.parametrize(
    ("declared", "command_line", "applies", "source"),
    [
        (0.05, 0.1, 0.1, "command line"),
        (0.05, None, 0.05, "suite"),
        (None, None, 0.03, "data"),
        (0.05, None, None, ""),
    ],
)
def test_where_a_tolerance_came_from_is_kept(declared, command_line, applies, source):
    workload = one_workload(declared=declared, tolerance=applies)
    (record,) = document(workload, options=GateOptions(tolerance=command_line)).workloads
    assert record.metrics["read.bandwidth"].tolerance_from == source


def test_documents_without_repetitions_are_read():
    results = Results.read(OLDER)
    mixed, reads = results.workloads
    assert (results.device, results.gate, results.versions) == ("local", None, {})
    assert (mixed.repetitions, mixed.measured, len(mixed.metrics["read.iops"].values)) == (5, (), 5)
    assert list(reads.gating) == ["read.bandwidth"]
    assert mixed.gate["read.iops"] == (0.3, None)


class TestDamage:
    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "results.json"
        document(one_workload(tolerance=0.05)).write(path)
        return path

    def refused(self, file, text):
        file.write_text(text)
        with pytest.raises(InputError) as caught:
            Results.read(file)
        assert str(file) in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize(
        ("path", "value", "said"),
        [
            (("metrics", "read.bandwidth", "values"), ["fast"], "metrics.read.bandwidth.values.0: "),
            (("metrics", "read.bandwidth", "values"), [1e9], "the values of read.bandwidth are not those"),
            (("measured", 0, "metrics", "read.bandwidth"), True, "measured.0.metrics.read.bandwidth: "),
            (("measured", 0, "seconds"), -1, "measured.0.seconds: "),
            (("repetitions",), 2, "repetitions: 1 are listed, 2 counted"),
            (("verdict",), "fine", "verdict: "),
            (("id",), None, "id: "),
        ],
    )
    def test_a_value_that_cannot_be_is_refused_with_its_path(self, file, path, value, said):
        message = self.refused(file, changed(json.loads(file.read_text()), ("workloads", 0, *path), value))
        assert "not results of iogate: workloads.0" in message
        assert said in message

    def test_half_of_a_character_is_refused(self, file):
        """As the name of a metric it was a traceback."""
        document = json.loads(file.read_text())
        record = document["workloads"][0]
        record["metrics"]["\ud800"] = record["metrics"]["read.bandwidth"]
        message = self.refused(file, json.dumps(document))
        assert "half of a character" in message

    def test_the_place_is_line_and_column(self, file):
        text = file.read_text().replace('"verdict":"pass"', '"verdict":"fine"', 1)
        line = next(number for number, row in enumerate(text.splitlines(), 1) if '"fine"' in row)
        column = text.splitlines()[line - 1].index('"fine"') + 1
        assert self.refused(file, text).startswith(f"{file}:{line}:{column}: not results of iogate: ")

    @pytest.mark.parametrize(
        ("part", "said"),
        [
            ('"workloads":[{}]', "workloads.0: workloads: must be a mapping of keys to values, not 1"),
            (
                '"workloads":[],"run":{{"selection":{{}},"open":[{}]}}',
                "run.open.0: open: must be text",
            ),
        ],
    )
    def test_of_ever_so_many_mistakes_in_a_list_the_first_is_told(self, file, part, said):
        text = '{"schema":1,"device":"a","session":"b",' + part.format(",".join("1" * 20_000)) + "}"
        message = self.refused(file, text)
        assert said in message and len(message.splitlines()) == 1

    def test_a_document_of_nothing_but_mistakes_is_said_to_be_something_else(self, file):
        versions = ",".join(f'"{number}":1' for number in range(2000))
        text = '{"schema":1,"device":"a","session":"b","workloads":[],"versions":{' + versions + "}}"
        assert "not results of iogate: 2000 mistakes: this is something else" in self.refused(file, text)

    @pytest.mark.parametrize("word", ["NaN", "Infinity", "1e999", "9" * 5000])
    def test_numbers_that_json_does_not_have_are_refused(self, file, word):
        text = file.read_text()
        assert '"values":[2000000000.0]' in text
        self.refused(file, text.replace('"values":[2000000000.0]', f'"values":[{word}]'))

    @pytest.mark.parametrize("schema", [SCHEMA + 1, 99])
    def test_a_newer_schema_is_named(self, file, schema):
        said = self.refused(file, changed(json.loads(file.read_text()), ("schema",), schema))
        assert f"results of schema {schema}; iogate" in said
        assert "the version of iogate that wrote them" in said

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", "null", "[" * 100_000, '{"schema": true, "workloads": []}']
    )
    def test_what_is_no_document_is_refused(self, file, text):
        self.refused(file, text)

    def test_a_file_that_is_no_text_is_refused(self, file):
        file.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(InputError, match="no JSON text"):
            Results.read(file)

    @IN_A_TEST
    @given(cut=st.floats(0, 0.999))
    def test_a_document_cut_short_is_refused(self, tmp_path, cut):
        text = document(one_workload()).text().rstrip()
        self.refused(tmp_path / "cut.json", text[: int(len(text) * cut)])

    @IN_A_TEST
    @given(data=st.data(), value=definitions | st.integers() | st.floats() | texts | st.none())
    def test_any_value_in_any_place_is_read_or_refused(self, tmp_path, data, value):
        """What is read is whole: it can be written again."""
        found = json.loads(document(one_workload(tolerance=0.05)).text())
        path, place = [], found
        while isinstance(place, (dict, list)) and place and (not path or data.draw(st.booleans())):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            path.append(data.draw(st.sampled_from(keys)))
            place = place[path[-1]]
        file = tmp_path / "results.json"
        file.write_text(changed(found, path, value))
        try:
            read = Results.read(file)
        except InputErrors as errors:
            assert all(error.position and error.position.line >= 1 for error in errors.errors)
        except InputError as error:
            assert error.position
        else:
            read.write(file)
            assert Results.read(file) == read


def test_a_file_is_written_anew_each_time(tmp_path):
    reporter = JsonFile(tmp_path / "deep" / "results.json")
    for count in (1, 2):
        reporter.write(document(*[one_workload()] * count))
        assert len(Results.read(reporter.path).workloads) == count


# ------------------------------------------------------------ going on with a session


@IN_A_TEST
@given(result=measured())
def test_what_is_restored_of_a_record_is_recorded_the_same(result):
    record = record_workload(replace(result, failure=None), GateOptions())
    again = restored(record, result.workload, "fio-3.33")
    assert record_workload(again, GateOptions()) == record
    assert {one.output.engine_version for one in again.repetitions} <= {"fio-3.33"}


def a_pair(declared=None):
    """The result of a pair of two blocks."""
    slices = (Slice("A", 0.1, 0.064, 4096, 0), Slice("B", 0.2, 0.064, 8192, 0, 512))
    base = Repetition(Output({"read.bandwidth": 2e9}, {}, engine_version="fio-3.33"), 1.0, "/raw/1/A")
    block = Repetition(Output({"read.bandwidth": 1e9}, {}, engine_version="fio-3.33"), 2.5, "/raw/1/B")
    block = replace(block, base=base, swapped=True, seed=7, slices=slices)
    item = MetricVerdict(
        metric("read.bandwidth"), "regressed", 1e9, (1e9, 1e9), True,
        tolerance=0.05, place_effect=0.1, noise=0.02, passes=1.0, fails=2.0,
    )  # fmt: skip
    pair = PairFacts("the same data with ioengine: psync", "one", "why")
    found = one_workload(declared=declared)
    verdict = Verdict("regressed", "", (item,), repetitions=2)
    return replace(found, verdict=verdict, repetitions=(block, replace(block, swapped=False)), pair=pair)


def test_a_pair_is_told_and_read_back_with_its_blocks_and_slices(tmp_path):
    written = document(a_pair())
    written.write(tmp_path / "results.json")
    found = Results.read(tmp_path / "results.json")
    assert found == written
    (workload,) = found.workloads
    assert workload.pair == PairFacts("the same data with ioengine: psync", "one", "why")
    first, second = workload.measured
    assert (first.swapped, second.swapped, first.seed) == (True, False, 7)
    assert first.base.metrics == {"read.bandwidth": 2e9}
    assert [item.other for item in first.slices] == [0, 512]
    assert workload.metrics["read.bandwidth"].place_effect == 0.1
    assert workload.metrics["read.bandwidth"].noise == 0.02


def test_a_resumed_session_takes_a_pair_over_as_it_was():
    pair = a_pair()
    (record,) = document(pair).workloads
    assert restored(record, pair.workload, "fio-3.33") == replace(pair, verdict=replace(pair.verdict))


@pytest.mark.parametrize(
    ("declared", "option", "source"), [(None, None, ""), (0.1, None, "suite"), (0.1, 0.2, "command line")]
)
def test_nobody_chose_the_usual_tolerance_of_a_pair(declared, option, source):
    (record,) = document(a_pair(declared), options=GateOptions(tolerance=option)).workloads
    assert record.metrics["read.bandwidth"].tolerance_from == source


@pytest.mark.parametrize(
    ("was", "lie"),
    [
        ('"read":8192', '"read":1' + 400 * "0"),
        ('"seconds":0.064', '"seconds":-0.064'),
        ('"seconds":0.064', '"seconds":1e300'),
        ('"slice":0.2', '"slice":1e300'),
        ('"slice":0.2', '"slice":-1'),
    ],
)
def test_slices_that_cannot_be_are_refused(tmp_path, was, lie):
    """A number of 400 digits was a traceback of the report."""
    pair = replace(a_pair(), pair=PairFacts("base", "one", slice=0.2))
    document(pair).write(path := tmp_path / "results.json")
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, lie))
    with pytest.raises(InputError, match="without end"):
        Results.read(path)
