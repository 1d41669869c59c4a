"""Baselines: what is stored, what is read back, and what is refused."""

import contextlib
import errno
import fcntl
import importlib
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from iogate.errors import BaselineError, IogateError
from iogate.formats import yamlio
from iogate.judge.baseline import MAXIMUM_SESSIONS, Change, changes_table, find, load_baselines, update
from iogate.judge.baseline.storage import hold_lock
from iogate.model import Environment
from places import PLUGINS

DEFINITION = {"engine": "fio", "rw": "write", "size": "16G", "direct": True}
ENVIRONMENT = Environment({"disk": "A"}, {"kernel": "6.1"}, {"governor": "performance"})
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBER_LIKE = st.from_regex(r"[-+.0-9eE:~]{1,9}", fullmatch=True)
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | NUMBER_LIKE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)
DEFINITIONS = st.dictionaries(TEXTS, VALUES).map(lambda options: {**options, "engine": "fio"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "baselines/orin/acceptance.yaml"


def workload(**options):
    options = options or {"rw": "write", "size": "16G", "direct": True}
    return workloads.workload("fio", options=options, name="seq", suite="acceptance")


def store(path, values, session="s1", *, mode="replace", definition=None, names=("seq",), **more):
    """Store the same values as a session of each of the named workloads."""
    metrics = values if isinstance(values, dict) else {"write.bandwidth": values}
    measured = dict.fromkeys(names, (definition or DEFINITION, metrics))
    more = {"environment": ENVIRONMENT, "reason": "a new image", **more}
    return update(path, "orin", "acceptance", session, measured=measured, mode=mode, **more)


def bandwidths(path, name="seq"):
    return load_baselines(path)[name].metrics["write.bandwidth"]


class TestStoring:
    def test_what_is_stored_is_read_back(self, path):
        store(path, {"write.bandwidth": [2e9, 2.1e9], "write.clat.p99": [55e6, 56e6]})
        (baseline,) = load_baselines(path).values()
        assert baseline.workload == "seq"
        assert baseline.definition == DEFINITION
        assert baseline.metrics == {"write.bandwidth": ((2e9, 2.1e9),), "write.clat.p99": ((55e6, 56e6),)}
        assert baseline.sessions == ("s1",)
        assert baseline.environment == ENVIRONMENT
        assert not baseline.published

    def test_no_file_holds_no_baselines(self, path):
        assert load_baselines(path) == {}

    def test_replace_forgets_what_was_known(self, path):
        store(path, [1e9, 1e9])
        store(path, [2e9], "s2")
        assert bandwidths(path) == ((2e9,),)
        assert list(yamlio.load(path).data["sessions"]) == ["s2"], "nobody refers to s1 any more"

    def test_append_adds_a_session(self, path):
        store(path, [1e9, 1e9])
        store(path, [2e9], "s2", mode="append", environment=Environment({"disk": "A", "serial": "7"}))
        assert bandwidths(path) == ((1e9, 1e9), (2e9,))
        baseline = load_baselines(path)["seq"]
        assert baseline.sessions == ("s1", "s2")
        assert baseline.environment.identity == {"disk": "A", "serial": "7"}, "that of the newest session"

    @pytest.mark.parametrize("names", [("seq",), ("other",)])
    def test_append_refuses_another_machine_than_any_session_that_stays(self, path, names):
        store(path, [1e9], environment=Environment({"disk": "A"}))
        store(path, [1e9], "s2", mode="append", environment=Environment({}))
        before = path.read_bytes()
        with pytest.raises(BaselineError, match=r"the session s1 .* another machine: disk was A, is B"):
            store(path, [2e9], "s3", mode="append", environment=Environment({"disk": "B"}), names=names)
        assert path.read_bytes() == before

    def test_a_session_that_goes_need_not_be_of_the_same_machine(self, path):
        store(path, [1e9], environment=Environment({"disk": "B"}))
        store(path, [2e9], "s1", mode="append")
        assert bandwidths(path) == ((2e9,),)

    def test_the_length_that_was_chosen_is_that_of_all_sessions(self, path):
        store(path, [1e9], runtimes={"seq": 17.0})
        store(path, [1e9], "s2", mode="append", runtimes={"seq": 17.0})
        store(path, [1e9], "s3", mode="append")
        assert load_baselines(path)["seq"].runtime == 17.0
        before = path.read_bytes()
        with pytest.raises(BaselineError, match=r"seq is not appended: .* lasted 5 s, 17 s in the baseline"):
            store(path, [1e9], "s4", mode="append", runtimes={"seq": 5.0})
        assert path.read_bytes() == before
        store(path, [1e9], "s4", runtimes={"seq": 5.0})
        assert load_baselines(path)["seq"].runtime == 5.0

    def test_behind_how_much_work_repetitions_came_is_kept_as_long_as_their_session(self, path):
        assert load_baselines(path) == {}
        store(path, [1e9, 2e9], worked={"seq": [0.0, 1.2345]})
        store(path, [1e9, 2e9], "s2", mode="append")
        store(path, [1e9, 2e9], "s3", mode="append", worked={"seq": [10, 11.5]})
        assert load_baselines(path)["seq"].worked == {"s1": (0.0, 1.23), "s3": (10.0, 11.5)}
        for number in range(MAXIMUM_SESSIONS - 1):
            store(path, [1e9, 2e9], f"later{number}", mode="append")
        assert load_baselines(path)["seq"].worked == {"s3": (10.0, 11.5)}
        store(path, [1e9, 2e9], "s4")
        assert load_baselines(path)["seq"].worked == {}

    def test_a_length_that_older_sessions_do_not_tell_is_not_known(self, path):
        store(path, [1e9])
        store(path, [1e9], "s2", mode="append", runtimes={"seq": 5.0})
        assert load_baselines(path)["seq"].runtime is None

    def test_force_adds_a_session_of_another_machine(self, path):
        store(path, [1e9])
        store(path, [2e9], "s2", mode="force", environment=Environment({"disk": "B"}))
        assert bandwidths(path) == ((1e9,), (2e9,))

    def test_what_is_appended_is_shown_beside_what_was_known(self, path):
        for number in range(9):
            store(path, [1e9], f"s{number}", mode="append")
        (change,) = store(path, [9e8, 9e8, 8e8], "slow", mode="append")
        assert (change.old, change.session, change.new) == (1e9, 9e8, 1e9)
        row = changes_table([change]).splitlines()[2].split()
        shown = ["953.7", "MiB/s", "858.3", "MiB/s", "-10.0%", "953.7", "MiB/s", "10", "12", "appended"]
        assert row == ["seq", "write.bandwidth", *shown]

    def test_append_to_nothing_begins(self, path):
        store(path, [1e9], mode="append")
        assert bandwidths(path) == ((1e9,),)

    def test_the_same_session_appended_again_takes_its_own_place(self, path):
        store(path, [1e9])
        store(path, [2e9], "s2", mode="append")
        store(path, [3e9], "s2", mode="append")
        assert bandwidths(path) == ((1e9,), (3e9,))

    def test_append_to_a_changed_workload_replaces_it(self, path):
        store(path, [1e9])
        (change,) = store(path, [2e9], "s2", mode="append", definition={**DEFINITION, "size": "1G"})
        assert bandwidths(path) == ((2e9,),)
        assert change.note == "replaced: size was 16G, is 1G"

    def test_only_the_newest_sessions_are_kept(self, path):
        for number in range(MAXIMUM_SESSIONS + 3):
            store(path, [1e9 + number * 1e6], f"s{number}", mode="append")
        baseline = load_baselines(path)["seq"]
        assert baseline.sessions == tuple(f"s{number}" for number in range(3, MAXIMUM_SESSIONS + 3))
        assert baseline.metrics["write.bandwidth"][0] == (1.003e9,)
        assert len(yamlio.load(path).data["sessions"]) == MAXIMUM_SESSIONS

    def test_other_workloads_stay_as_they_are(self, path):
        store(path, [1e9], names=("a", "b"))
        before = yamlio.load(path).data["workloads"]["b"]
        store(path, [2e9], "s2", names=("a",))
        assert yamlio.load(path).data["workloads"]["b"] == before
        assert set(yamlio.load(path).data["sessions"]) == {"s1", "s2"}

    @pytest.mark.parametrize(
        "known, measured, order",
        [
            ("", "abc", "abc"),
            ("abc", "b", "abc"),
            ("abc", "bxc", "abxc"),
            ("abc", "xb", "axbc"),
            ("abc", "x", "abcx"),
            ("abc", "cba", "cba"),
            ("abcd", "ca", "cbad"),
            ("ab", "xayb", "xayb"),
        ],
    )
    def test_workloads_stand_in_the_order_of_the_suite(self, path, known, measured, order):
        if known:
            store(path, [1e9], names=known)
        store(path, [1e9], "s2", names=measured)
        assert "".join(load_baselines(path)) == order

    def test_a_metric_that_a_session_lacks_has_no_values_of_it(self, path):
        store(path, {"write.bandwidth": [1e9, 1e9], "write.clat.p99": [1e6, 1e6]})
        store(path, {"write.bandwidth": [2e9], "write.iops": [500.0]}, "s2", mode="append")
        known = load_baselines(path)["seq"]
        metrics = known.metrics
        assert known.partial == {"write.clat.p99": (known.sessions[0],), "write.iops": (known.sessions[1],)}
        assert metrics["write.bandwidth"] == ((1e9, 1e9), (2e9,))
        assert metrics["write.clat.p99"] == ((1e6, 1e6),)
        assert metrics["write.iops"] == ((500.0,),)

    @pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
    def test_a_metric_that_has_no_logarithm_is_not_stored(self, path, value):
        store(path, {"write.bandwidth": [1e9, 1e9], "write.iops.min": [5.0, value]})
        assert set(load_baselines(path)["seq"].metrics) == {"write.bandwidth"}

    def test_nothing_to_store_leaves_the_baseline_alone(self, path):
        store(path, [1e9])
        before = path.read_bytes()
        with pytest.raises(BaselineError, match="no metric of 'seq' was measured"):
            store(path, [0.0], "s2")
        assert path.read_bytes() == before

    def test_published_figures_are_single_numbers_with_a_source(self, path):
        store(path, {"write.bandwidth": [3e9], "write.clat.p99": [7e6]}, source="a\x1b report")
        baseline = load_baselines(path)["seq"]
        assert baseline.published
        assert baseline.source == "a? report"
        assert baseline.metrics == {"write.bandwidth": 3e9, "write.clat.p99": 7e6}
        assert "sessions" not in yamlio.load(path).data

    @pytest.mark.parametrize("mode", ["replace", "append"])
    def test_own_values_take_the_place_of_published_ones(self, path, mode):
        store(path, [3e9], source="a report")
        (change,) = store(path, [2e9, 2e9], mode=mode)
        assert bandwidths(path) == ((2e9, 2e9),)
        assert change.note == "replaced published figures"

    def test_text_of_others_is_stored_as_one_printable_line(self, path):
        store(
            path, [1e9], reason="new\x1b[31m\nfirmware \udcff", environment=Environment({"disk": "a\x07\nb"})
        )
        session = yamlio.load(path).data["sessions"]["s1"]
        assert session["reason"] == "new?[31m firmware ?"
        assert session["environment"]["identity"] == {"disk": "a? b"}

    def test_a_session_that_is_gone_on_with_keeps_its_reason(self, path):
        store(path, [1e9], reason="a new kernel")
        store(path, [1e9], names=("seq", "rand"), reason="")
        assert yamlio.load(path).data["sessions"]["s1"]["reason"] == "a new kernel"
        store(path, [1e9], reason="another one")
        assert yamlio.load(path).data["sessions"]["s1"]["reason"] == "another one"

    @given(DEFINITIONS)
    @settings(max_examples=100)
    def test_any_definition_finds_its_baseline_again(self, tmp_path_factory, definition):
        path = tmp_path_factory.mktemp("b") / "orin/acceptance.yaml"
        store(path, [1e9], definition=definition)
        options = {key: value for key, value in definition.items() if key != "engine"}
        measured = workloads.workload("fio", options=options, name="seq", suite="acceptance")
        assert find(load_baselines(path), measured)[1] == ""
        assert find(load_baselines(path), measured)[0] is not None

    @given(st.lists(st.floats(1e-9, 1e18), min_size=1, max_size=9))
    def test_rounding_stays_far_below_any_tolerance(self, tmp_path_factory, values):
        path = tmp_path_factory.mktemp("b") / "orin/acceptance.yaml"
        store(path, values)
        assert bandwidths(path)[0] == pytest.approx(values, rel=6e-5)
        before = path.read_bytes()
        store(path, bandwidths(path)[0])
        assert path.read_bytes() == before, "what is rounded stays"


class TestDiffs:
    def test_a_session_is_a_line_per_metric(self, path):
        names = ("a", "b")
        store(path, {"write.bandwidth": [2e9, 2.1e9], "write.clat.p99": [1e6, 1.1e6]}, names=names)
        before = path.read_text().splitlines()
        store(path, {"write.bandwidth": [3e9], "write.clat.p99": [2e6]}, "s2", mode="append", names=("b",))
        after = path.read_text().splitlines()
        assert [line for line in before if line not in after] == []
        added = after[len(before) - len(after) :] if after[: len(before)] == before else after
        values = [line.strip() for line in added if line.strip().startswith("- [")]
        assert values.count("- [3000000000]") == 1
        assert values.count("- [2000000]") == 1

    def test_metrics_are_sorted(self, path):
        store(path, {"write.iops": [1.0], "write.bandwidth": [2.0], "read.iops": [3.0]})
        assert list(yamlio.load(path).data["workloads"]["seq"]["metrics"]) == [
            "read.iops",
            "write.bandwidth",
            "write.iops",
        ]

    def test_the_file_has_no_more_digits_than_were_measured(self, path):
        store(
            path,
            {"write.bandwidth": [2023543603.71], "write.clat.p99": [83270.123], "wall_time": [1.23456789]},
        )
        text = path.read_text()
        assert "- [2023540000]" in text
        assert "- [83270]" in text
        assert "- [1.23457]" in text

    def test_an_update_can_be_shown_as_a_table(self, path):
        store(path, {"write.bandwidth": [2e9], "write.bandwidth.min": [1e9], "write.clat.p99": [50e6]})
        changes = store(path, {"write.bandwidth": [1e9, 3e9, 1e9], "write.lat.mean": [9e6] * 3}, "s2")
        assert Change("seq", "write.bandwidth", 2e9, 1e9, 1, 3, "replaced") in changes
        table = changes_table(changes)
        rows = [line.split() for line in table.splitlines()[2:]]
        assert rows == [
            ["seq", "write.bandwidth", "1907", "MiB/s", "953.7", "MiB/s", "-50.0%", "1", "3", "replaced"],
            ["write.clat.p99", "50.00", "ms", "-"],
            ["write.lat.mean", "-", "9.000", "ms", "1", "3"],
        ]
        assert changes_table([]) == ""

    def test_a_workload_without_headline_metrics_shows_all(self):
        changes = [Change("seq", "write.slat.max", None, 5.0, 1, 1, "new")]
        assert "write.slat.max" in changes_table(changes)


class TestFinding:
    def test_an_unknown_workload_has_none(self, path):
        assert find({}, workload()) == (None, "")

    def test_the_order_of_options_does_not_matter(self, path):
        store(path, [1e9])
        assert find(load_baselines(path), workload(direct=True, size="16G", rw="write"))[0] is not None

    def test_a_changed_workload_names_every_changed_key(self, path):
        store(path, [1e9], definition={**DEFINITION, "fio": {"zonemode": "zbd"}})
        baseline, reason = find(
            load_baselines(path), workload(rw="write", size="1G", iodepth=32, fio={"zonemode": "none\x1b"})
        )
        assert baseline is None
        assert reason == (
            "size was 16G, is 1G; direct was true, is gone; fio.zonemode was zbd, is none?; "
            "iodepth is new, is 32"
        )

    def test_types_are_told_apart(self, path):
        store(path, [1e9])
        assert find(load_baselines(path), workload(rw="write", size="16G", direct=1)) == (
            None,
            "direct was true, is 1",
        )


GOOD = """\
schema: 1
device: orin
suite: acceptance
sessions:
  s1: {reason: x, environment: {identity: {disk: A}}}
  s2: {}
workloads:
  seq:
    hash: HASH
    definition: {engine: fio, rw: write}
    sessions: [s1, s2]
    metrics:
      write.bandwidth:
      - [1, 2]
      - [3, 4, 5]
      write.clat.p99:
      - []
      - [3, 4, 5]
""".replace("HASH", "'" + workload(rw="write").definition_hash + "'")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class TestBelieving:
    def test_a_file_written_by_hand_is_read(self, path):
        write(path, GOOD)
        baseline = load_baselines(path)["seq"]
        assert baseline.metrics == {"write.bandwidth": ((1, 2), (3, 4, 5)), "write.clat.p99": ((3, 4, 5),)}
        assert baseline.environment == Environment(identity={"disk": "A"}), "s2 knows none"

    @pytest.mark.parametrize(
        "old, new, place, message",
        [
            ("schema: 1", "schema: 2", "1:9", "another schema than 1"),
            (
                "device: orin",
                "device: xavier",
                "2:9",
                "a baseline of the device 'xavier' in the place of 'orin'",
            ),
            ("suite: acceptance", "suite: quick", "3:8", "a baseline of the suite 'quick' in the place of"),
            ("suite: acceptance\n", "", "1:1", "'suite' is missing"),
            ("reason", "raeson", "5:8", "unknown key 'raeson', did you mean 'reason'?"),
            ("rw: write", "rw: read", "9:11", "does not fit the definition, whose hash is"),
            ("[s1, s2]", "[s1, s3]", "11:20", "the session s3 is not among the file's sessions"),
            ("    metrics", "    worked: {s3: [1]}\n    metrics", "12:18", "s3 is not among the workload's"),
            ("    metrics", "    worked: {s1: [-1]}\n    metrics", "12:19", "must be at least 0.0"),
            ("    metrics", "    worked: {s1: [.inf]}\n    metrics", "12:19", "must be a number"),
            ("    metrics", "    worked: {s1: [.nan]}\n    metrics", "12:19", "must be "),
            ("[s1, s2]", "[s1, s1]", "11:20", "the session s1 is here twice"),
            (
                "    sessions: [s1, s2]\n",
                "",
                "9:5",
                "needs either sessions (measured) or a source (published)",
            ),
            (
                "    sessions",
                "    source: x\n    sessions",
                "9:5",
                "needs either sessions (measured) or a source",
            ),
            ("write.bandwidth", "write.bandwith", "13:7", "'write.bandwith' is not a metric"),
            ("- [1, 2]\n      ", "", "14:7", "must be a list of 2 lists, one a session"),
            ("- [1, 2]\n", "- 1\n", "14:9", "must be a list of values, one a repetition"),
            ("[1, 2]", "[1, 0]", "14:13", "must be a positive number"),
            ("[1, 2]", "[1, -2]", "14:13", "must be a positive number"),
            ("[1, 2]", "[1, .nan]", "14:13", "must be a positive number"),
            ("[1, 2]", "[1, 1e999]", "14:13", "must be a positive number"),
            ("[1, 2]", "[1, 1e300]", "14:13", "must be a positive number, of 1e-9 to 1e18"),
            ("[1, 2]", "[1, 1e-300]", "14:13", "must be a positive number, of 1e-9 to 1e18"),
            ("[1, 2]", "[1, true]", "14:13", "must be a positive number"),
            ("[1, 2]", "[1, '2']", "14:13", "must be a positive number"),
            ("[1, 2]", "[1, null]", "14:13", "must be a positive number"),
            (
                "- []\n      - [3, 4, 5]",
                "- []\n      - [3, 4]",
                "18:9",
                "has 2 repetitions where other metrics have 3",
            ),
            ("- []\n      - [3, 4, 5]", "- []\n      - []", "17:7", "has no values"),
            ("hash", "hash: a\n    hash", "10:5", "is here twice"),
        ],
    )
    def test_a_corrupt_or_foreign_file_is_refused_with_the_place(self, path, old, new, place, message):
        assert old in GOOD
        write(path, GOOD.replace(old, new, 1))
        with pytest.raises(BaselineError) as told:
            load_baselines(path)
        assert f"acceptance.yaml:{place}: " in str(told.value)
        assert message in str(told.value)

    def test_a_corrupt_file_is_never_overwritten(self, path):
        write(path, GOOD.replace("[1, 2]", "[1, 0]"))
        before = path.read_bytes()
        with pytest.raises(BaselineError, match="must be a positive number"):
            store(path, [1e9])
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        "figure, fine", [("5", True), ("0", False), ("[5]", False), ("x", False), ("1e999", False)]
    )
    def test_a_published_figure_is_a_positive_number(self, path, figure, fine):
        head = GOOD[: GOOD.index("workloads")]
        write(
            path,
            f"{head}workloads:\n  seq:\n    definition: {{engine: fio}}\n    source: a report\n"
            f"    metrics: {{read.iops: {figure}}}\n",
        )
        if fine:
            assert load_baselines(path)["seq"].metrics == {"read.iops": 5.0}
        else:
            with pytest.raises(BaselineError, match=r"acceptance.yaml:11:26: must be a positive number"):
                load_baselines(path)

    @given(st.data())
    @settings(max_examples=300)
    def test_a_mutilated_file_gives_baselines_or_an_error_of_ours(self, tmp_path_factory, data):
        path = tmp_path_factory.mktemp("b") / "orin/acceptance.yaml"
        start = data.draw(st.integers(0, len(GOOD)))
        end = data.draw(st.integers(start, min(len(GOOD), start + 20)))
        write(
            path,
            GOOD[:start] + data.draw(st.text("[]{}:-,.&*'\"! \n0123456789eansx", max_size=8)) + GOOD[end:],
        )
        try:
            baselines = load_baselines(path)
        except IogateError:
            return
        for baseline in baselines.values():
            for rows in baseline.metrics.values():
                assert isinstance(rows, float) or all(0 < value < math.inf for row in rows for value in row)


class TestFiles:
    def test_a_path_of_another_device_or_suite_is_refused(self, path):
        for device, suite in (("xavier", "acceptance"), ("orin", "quick"), ("orin", "../orin/acceptance")):
            with pytest.raises(BaselineError, match="cannot be the baseline of"):
                update(
                    path,
                    device,
                    suite,
                    "s1",
                    ENVIRONMENT,
                    "",
                    {"seq": (DEFINITION, {"read.iops": [1.0]})},
                    "replace",
                )
        device_file = path.with_name("device.yaml")
        with pytest.raises(BaselineError, match="cannot be the baseline of"):
            update(device_file, "orin", "device", "s1", ENVIRONMENT, "", {}, "replace")

    def test_a_symbolic_link_is_refused(self, path, tmp_path):
        write(tmp_path / "elsewhere/acceptance.yaml", GOOD)
        path.parent.mkdir(parents=True)
        path.symlink_to(tmp_path / "elsewhere/acceptance.yaml")
        for attempt in (lambda: load_baselines(path), lambda: store(path, [1e9])):
            with pytest.raises(BaselineError, match=r"acceptance.yaml is a symbolic link"):
                attempt()
        assert (tmp_path / "elsewhere/acceptance.yaml").read_text() == GOOD

    def test_a_linked_folder_is_refused(self, path, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        path.parent.parent.mkdir()
        path.parent.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(BaselineError, match="orin is a symbolic link"):
            store(path, [1e9])
        assert not list((tmp_path / "elsewhere").iterdir())

    def test_a_place_that_cannot_be_written_is_told(self, tmp_path):
        (tmp_path / "orin").write_text("a file, no folder")
        with pytest.raises(BaselineError, match=r"cannot write .*acceptance.yaml: Not a directory"):
            store(tmp_path / "orin/acceptance.yaml", [1e9])

    @pytest.mark.parametrize("moment", ["os.fsync", "os.replace"])
    def test_a_read_only_file_system_is_told_and_leaves_the_file(self, path, monkeypatch, moment):
        store(path, [1e9])
        before = path.read_bytes()

        def refuse(*_, **__):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr(f"iogate.formats.atomic.{moment}", refuse)
        with pytest.raises(BaselineError, match="Read-only file system"):
            store(path, [2e9])
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]

    def test_nothing_but_the_file_is_left(self, path):
        store(path, [1e9])
        path.with_name(".acceptance.yaml.k1ll3d_0").write_text("half a fi")
        store(path, [1e9])
        assert list(path.parent.iterdir()) == [path]

    def test_the_mode_of_the_file_is_kept(self, path):
        store(path, [1e9])
        path.chmod(0o640)
        store(path, [2e9])
        assert path.stat().st_mode & 0o777 == 0o640

    def test_a_second_update_waits_a_while_for_the_first(self, path):
        store(path, [1e9])
        before = path.read_bytes()
        with hold_lock(path, 0.0):
            started = time.monotonic()
            told = rf"is being updated by another session: pid {os.getpid()} \("
            with pytest.raises(BaselineError, match=told):
                store(path, [2e9], wait=0.2)
            assert time.monotonic() - started >= 0.2
        assert path.read_bytes() == before
        store(path, [2e9], wait=0.0)

    def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(self, path):
        """Another user who may make files in a shared folder kept root's update waiting for ever."""
        store(path, [1e9])
        pipe = path.with_name(f".{path.name}.lock")
        os.mkfifo(pipe)
        descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with pytest.raises(BaselineError, match=f"(?s)another session: .*remove {re.escape(str(pipe))}"):
                store(path, [2e9], wait=0.1)
        finally:
            os.close(descriptor)

    @pytest.mark.parametrize(
        ("folder", "lock"), [(0o755, 0o600), (0o700, 0o600), (0o2775, 0o660), (0o777, 0o666)]
    )
    def test_those_can_open_the_lock_who_can_write_in_its_folder(self, path, folder, lock):
        """Who can open a file can lock it for ever, and root's baselines were never written again; a group
        that shares its baselines could not, and was refused for ever after a killed session.
        """
        store(path, [1e9])
        path.parent.chmod(folder)
        with hold_lock(path, 0.0):
            assert path.with_name(f".{path.name}.lock").stat().st_mode & 0o777 == lock

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
    def test_the_lock_that_root_makes_is_of_the_owner_of_the_folder(self, path):
        store(path, [1e9])
        os.chown(path.parent, 54321, 54322)
        with hold_lock(path, 0.0):
            found = path.with_name(f".{path.name}.lock").stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (54321, 54322, 0o600)

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
    def test_whose_lock_it_is_that_cannot_be_opened_is_told_with_its_place(self):
        """A session of another user that is killed while it stores leaves one."""
        importlib.import_module("iogate.target.locks")  # whose code another user may not read
        with tempfile.TemporaryDirectory() as above:
            folder = Path(above, "baselines", "orin")
            folder.mkdir(parents=True)
            file = folder / ".acceptance.yaml.lock"
            file.touch(0o600)
            os.chown(above, 54321, 54321)
            os.chown(folder, 54321, 54321)
            told = f"being updated by another session: of user 0\n.*remove {re.escape(str(file))}$"
            os.seteuid(54321)
            try:
                with (
                    pytest.raises(BaselineError, match=told),
                    hold_lock(folder / "acceptance.yaml", 0.2),
                ):
                    pass
            finally:
                os.seteuid(0)

    def test_what_a_crash_left_is_removed_and_what_is_somebodys_stays(self, path):
        store(path, [1e9])
        path.with_name(".acceptance.yaml.a1b2c3_4").touch()
        mine = {
            ".acceptance.yaml.swp",
            ".acceptance.yaml.un~",
            ".acceptance.yaml.original",
            ".acceptance.yaml.d",
        }
        path.with_name(".acceptance.yaml.original").mkdir()
        path.with_name(".acceptance.yaml.d").mkdir()
        for name in mine:
            with contextlib.suppress(IsADirectoryError):
                path.with_name(name).write_text("unsaved")
        store(path, [2e9])
        assert set(os.listdir(path.parent)) - {path.name} == mine

    def test_the_lock_of_a_dead_process_is_no_lock(self, path):
        write(path.with_name(".acceptance.yaml.lock"), "")
        store(path, [1e9], wait=0.0)
        assert bandwidths(path) == ((1e9,),)

    def test_a_lock_on_a_removed_file_locks_nothing(self, path):
        path.parent.mkdir(parents=True)
        lock = path.with_name(".acceptance.yaml.lock")
        with lock.open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            lock.unlink()
            store(path, [1e9], wait=0.0)
        assert bandwidths(path) == ((1e9,),)


WRITER = """
import itertools, os, sys
from pathlib import Path
from iogate.judge.baseline import update
from iogate.model import Environment

path = Path(sys.argv[1])

def append(name, sessions):
    measured = {name: ({"engine": "fio"}, {"read.iops": [5e5] * 3, "read.lat.mean": [6e7] * 3})}
    for session in sessions:
        update(path, "orin", "acceptance", session, Environment(), "", measured, "append", wait=60)
"""
APPEND_FOUR = WRITER + 'append(sys.argv[2], [f"{sys.argv[2]}{number}" for number in range(4)])'
APPEND_UNTIL_KILLED = f"""{WRITER}
for line in sys.stdin:  # says the number of the child to fork; is told its pid, then its status
    child = os.fork()
    if not child:
        append("seq", (f"{{line.strip()}}.{{number}}" for number in itertools.count()))
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.fixture
def python(path):
    """Starts Python programs that know the path of the baseline; kills what is left of them."""
    processes = []

    def start(program, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path), *arguments],
            env={**os.environ, "PYTHONPATH": str(PLUGINS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_updates_at_once_lose_nothing(path, python):
    processes = [python(APPEND_FOUR, name) for name in "abc"]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert {name: len(each.sessions) for name, each in load_baselines(path).items()} == dict.fromkeys(
        "abc", 4
    )
    assert list(path.parent.iterdir()) == [path]


def test_a_kill_at_any_moment_leaves_the_file_whole(path, python):
    """SIGKILL at 30 random moments of an endless series of updates, and the file is whole each time."""
    started = time.monotonic()
    for _ in range(5):
        store(path, {"read.iops": [1e5] * 3}, "first", definition={"engine": "fio"})
    duration = (time.monotonic() - started) / 5
    parent = python(APPEND_UNTIL_KILLED)
    moments, longest = random.Random(6), 15 * duration
    newest = ["first"]
    for child in range(30):
        print(child, file=parent.stdin, flush=True)
        pid = int(parent.stdout.readline())
        time.sleep(moments.uniform(0.0, longest))
        os.kill(pid, signal.SIGKILL)
        assert int(parent.stdout.readline()) == signal.SIGKILL, "it was still updating"
        baseline = load_baselines(path)["seq"]
        assert len(baseline.metrics["read.iops"]) == len(baseline.sessions)
        newest.append(baseline.sessions[-1])
        longest *= 1.2 if newest[-1] == newest[-2] else 1.0  # the machine is busier than it was
    assert len(set(newest)) > 2, "some of the children had updated the file before they were killed"
    store(path, [1e9], "last")
    assert list(path.parent.iterdir()) == [path], "what the dead left behind is gone"
    assert bandwidths(path) == ((1e9,),)


def test_facts_of_a_machine_without_number_are_refused(path):
    """Some MB of them took gigabytes, as each workload may be of other sessions, and have facts of all."""
    store(path, [1.0], environment=Environment({f"part{number}": "x" for number in range(100)}, {}, {}))
    path.write_text(path.read_text().replace("part99: x", "part99: x\n        part100: x"))
    with pytest.raises(BaselineError, match="identity: must have at most 100 of them"):
        load_baselines(path)


def test_sessions_of_a_machine_tell_of_it_together_and_no_more_than_one_may(path):
    for session in range(5):
        facts = {"machine": "x"} | {f"part{session}-{number}": "x" for number in range(40)}
        store(path, [1.0], f"s{session}", mode="append", environment=Environment(facts, {}, {}))
    identity = load_baselines(path)["seq"].environment.identity
    assert len(identity) == 81  # of two sessions, the newest among them
    assert {"part4-0", "part3-0"} < identity.keys()
