"""The near side: what it takes from a far side that may be anybody's, and what it does when that is gone."""

import json
import math
from collections import deque
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_bench import FakeWatcher, reads
from iogate.errors import IogateError, MeasurementError, OutputError, TargetError
from iogate.host.process import Completed
from iogate.measure.local_bench import folder_name
from iogate.measure.settings import Settings
from iogate.model import Device, Needs, Output, Repetition, Slice, Traffic
from iogate.remote.bench import RemoteBench
from iogate.remote.client import Client
from iogate.remote.far import Facts
from iogate.remote.far_client import Asked, ClientFacts, Conducted
from iogate.remote.pace import Pace
from iogate.remote.post import Lost
from iogate.remote.raw_files import is_raw, kept_as
from iogate.remote.wire import packed
from iogate.target.places import target_told
from iogate.target.resolve import Target

TARGET = Target(Path("/drive"), "directory", "8:0", "ext4", 10**12, 512)
FACTS = Facts(TARGET, "one", "", "")
ID = "suites/demo.yaml::reads"
WITHIN = f"{folder_name(ID)}/1"
DONE = Repetition(Output({"read.iops": 5.0}, {}), 1.0, WITHIN)


class FakeConnection:
    """A connection whose far side answers each call with the next messages of a script; `#` is its number."""

    host = "bench"

    def __init__(self, text):
        self.post = self
        self.pace = Pace()
        self.lost = self.silent = False
        self.sent = []
        self.inbox = deque()
        self.script = deque([[("done", "#", packed(FACTS))]])

    def send(self, *message):
        self.sent.append(message)
        if message[0] == "call" and self.script:
            number = message[1]
            said = self.script.popleft()
            self.inbox += [
                tuple(number if part == "#" else part for part in item) if isinstance(item, tuple) else item
                for item in said
            ]
        if message[0] == "stop":
            self.inbox.append(("stopped", message[1]))
        if message[0] == "bye":
            self.inbox.append(("gone",))

    def receive(self, seconds=None):
        if not self.inbox:
            raise Lost
        message = self.inbox.popleft()
        if isinstance(message, tuple) and message and isinstance(message[0], BaseException):
            raise message[0]
        return message

    def close(self, seconds=5.0):
        pass

    def drop(self):
        self.inbox.clear()

    def why_lost(self):
        self.lost = True
        return "the connection to bench broke"

    def end(self, seconds=5.0):
        self.lost = True


def begun(first, folder):
    """The bench at a host that answers this at the beginning."""

    class Answers(FakeConnection):
        def __init__(self, text):
            super().__init__(text)
            self.script = deque([[("done", "#", first)]])

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("iogate.remote.calls.Connection", Answers)
        settings = Settings(folder, host="ssh=bench")
        return RemoteBench(settings, Device("orin", "/drive"), folder / "results", FakeWatcher())


@pytest.fixture
def bench(tmp_path):
    return begun(packed(FACTS), tmp_path)


@pytest.mark.parametrize(
    ("was", "lie"),
    [
        ('"target": ', '"target"; '),
        ('"block": 512', '"block": 000'),
        ('"block": 512', '"block": NaN'),
        ('"block": 512', '"block": 0'),
        ('"block": 512', '"block": -512'),
        ('"size": 1000000000000', '"size": 1e99'),
        ('"size": 1000000000000', '"size": -1'),
        ('"size": 1000000000000', '"size": 1' + 400 * "0"),
        ('"/drive"', '"drive"'),
        ('"/drive"', "null"),
        ('"8:0"', '"\\ud800"'),
        ('"directory"', '"file"'),
        ('"one"', '"two"'),
    ],
)
def test_a_first_answer_that_cannot_be_meant_ends_it(tmp_path, was, lie):
    first = packed(FACTS)
    assert was in first
    with pytest.raises(MeasurementError, match="bench said what cannot be understood"):
        begun(first.replace(was, lie), tmp_path)


def test_a_full_disk_is_a_target(tmp_path):
    assert begun(packed(FACTS).replace('"size": 1000000000000', '"size": 0'), tmp_path).target.size == 0


WAYS = [("target", item.name) for item in fields(Target)] + [(item.name,) for item in fields(Facts)]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=4
)


@given(way=st.sampled_from(WAYS), lie=ANYTHING | st.integers(min_value=2**62) | st.just({}))
def test_whatever_is_wrong_in_the_first_answer_is_said_or_can_be_lived_with(tmp_path_factory, way, lie):
    told = json.loads(packed(FACTS))
    within = told["target"] if way[1:] else told
    within[way[-1]] = lie
    try:
        made = begun(json.dumps(told), tmp_path_factory.getbasetemp())
    except MeasurementError as error:
        assert "said what cannot be understood" in str(error) and "\n" not in str(error)
    else:
        assert made.target.block > 0 and made.target.size >= 0
        assert target_told(made.target)


def measured(bench, *said):
    bench._connection.script.append(said)
    return bench.repeat(ID, reads("reads"), 1, ["read.iops"])


def test_raw_files_come_home(bench, tmp_path):
    found = measured(
        bench,
        ("file", f"{WITHIN}/output.json", b"one", True),
        ("file", f"{WITHIN}/output.json", b"two", False),
        ("done", "#", packed(DONE)),
    )
    assert found.folder == str(tmp_path / "results" / WITHIN)
    assert (tmp_path / "results" / WITHIN / "output.json").read_bytes() == b"onetwo"


@pytest.mark.parametrize(
    "name", ["seq_bw.1.log", "seq_bw.1.log.fz", "seq_clat_hist.log", "job.fio", "a_1.xls"]
)
def test_logs_come_home_compressed_ones_too(name):
    assert is_raw(PurePosixPath(f"{WITHIN}/{name}")) and kept_as(name) == name


@pytest.mark.parametrize(
    "said",
    [
        ("file", "../outside", b"", True),
        ("file", f"{WITHIN}/../../../outside", b"", True),
        ("file", "/etc/passwd", b"", True),
        ("file", "results.json", b"", True),
        ("file", f"{WITHIN}/a.log", "text", True),
        ("file", f"{WITHIN}/conftest.py", b"", True),
        ("file", f"{WITHIN}/log_bw.py", b"", True),
        ("file", f"{WITHIN}/pytest.ini", b"", True),
        ("file", f"{WITHIN}/test_x.txt", b"", True),
        ("file", f"{WITHIN}/HEAD", b"", True),
        ("file", f"{WITHIN}/.git/x.log", b"", True),
        ("file", f"{WITHIN}/.x.log", b"", True),
        ("file", f"{WITHIN}/{'a/' * 600}x.log", b"", True),
        ("file",),
        ("tick", "soon"),
        ("ask", "run", "rm"),
        ("ask", "parse", "no-engine", "", "", "{}"),
        ("done", "#", "{"),
        ("done", "#", '{"output": 4}'),
        ("done", "#", "[" * 9999),
        ("done", "#", packed(replace(DONE, folder="/etc"))),
        ("done", "#", packed(replace(DONE, folder=f"{WITHIN}/../../elsewhere"))),
        ("done", "#", packed(replace(DONE, folder=f"{WITHIN}0"))),
        ("done", "#", packed(replace(DONE, folder=f"{WITHIN}/{'a/' * 600}"))),
        ("done", "#", packed(replace(DONE, base=replace(DONE, folder="..")))),
        ("done", "#", packed(replace(DONE, seconds=float("inf")))),
        ("done", "#", packed(replace(DONE, seconds=-1.0))),
        ("done", "#", packed(replace(DONE, series=(1.0, float("nan"))))),
        *(
            ("done", "#", packed(replace(DONE, slices=(Slice("A", *lie),))))
            for lie in (
                (math.inf, 0.1, 1, 1),
                (0.0, math.nan, 1, 1),
                (0.0, -1.0, 1, 1),
                (0.0, 0.1, 10**400, 1),
            )
        ),
        *(
            ("done", "#", packed(replace(DONE, output=Output({}, {"read": Traffic(1, 1, seconds)}))))
            for seconds in (math.inf, -1.0)
        ),
        (),
        5,
        ("failed", "#", '{"kind": "SystemExit"}'),
        ("failed", "#", 4),
    ],
)
def test_what_cannot_be_meant_ends_it(bench, tmp_path, said):
    with pytest.raises(MeasurementError, match="bench said what cannot be understood"):
        measured(bench, said)
    assert bench._connection.lost
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("output", ["/etc/passwd", "../1/output.json", "..", "", "a/b"])
def test_what_all_clients_did_is_read_from_the_first_ones_folder(tmp_path, monkeypatch, output):
    made = FakeConnection("ssh=bench")
    made.script.append([("done", "#", packed(ClientFacts("boot", "net", ("8:0",))))])
    monkeypatch.setattr("iogate.remote.calls.Connection", lambda host: made)
    settings = Settings(tmp_path, host="ssh=bench")
    client = Client(settings, Device("orin", "/drive"), tmp_path / "results", FakeWatcher())
    done = Conducted(Completed(0, "", "", 1.0), output, "fio", {}, (1.0,))
    made.script.append([("done", "#", packed(done))])
    asked = Asked(ID, reads("reads"), "1/client_1", ("read.iops",))
    with pytest.raises(MeasurementError, match="bench said what cannot be understood"):
        client.conduct(asked, {}, [])
    made.lost = False
    made.script.append([("done", "#", packed(replace(done, output="output.json")))])
    assert client.conduct(asked, {}, []).output == "output.json"


@pytest.mark.parametrize("data", [b"", b"x" * 5000])
def test_raw_files_without_end_end_it(bench, monkeypatch, data):
    monkeypatch.setattr("iogate.remote.calls._MOST", 14000)
    files = [("file", f"{WITHIN}/{number}.log", data, True) for number in range(4)]
    with pytest.raises(MeasurementError, match="bench said what cannot be understood"):
        measured(bench, *files, ("done", "#", packed(DONE)))


def test_figures_are_read_at_home_and_what_is_wrong_names_the_file_at_home(bench, tmp_path):
    completed = '{"status": 0, "stdout": "", "stderr": "", "seconds": 1.0}'
    asked = ("ask", "parse", "fio", "no JSON", f"{WITHIN}/output.json", completed)
    with pytest.raises(MeasurementError):  # it says no more
        measured(bench, asked)
    kind, error = bench._connection.sent[-1]
    assert kind == "error" and str(tmp_path / "results" / WITHIN / "output.json") in error
    with pytest.raises(OutputError) as caught:
        measured(bench, asked, ("failed", "#", error))
    assert "bench" not in caught.value.message


def test_an_error_from_there_names_the_host(bench):
    error = TargetError("too small", rule="space", remedy="free space")
    with pytest.raises(TargetError, match="bench: too small") as caught:
        measured(bench, ("failed", "#", packed(error)))
    assert caught.value.rule == "space"


def test_a_lost_connection_is_the_reason_of_all_that_follows(bench):
    for _ in range(2):
        with pytest.raises(MeasurementError, match="the connection to bench broke"):
            measured(bench)
    bench.open()
    assert [error.message for error in bench.refusals(Needs())] == ["the connection to bench broke"]
    bench.close()


def test_ctrl_c_stops_what_goes_on_there(bench):
    with pytest.raises(KeyboardInterrupt):
        measured(bench, (KeyboardInterrupt(),), ("file", f"{WITHIN}/stdout", b"", True))
    assert bench._connection.sent[-1][0] == "stop"
    bench._connection.script.append([("done", "#", "null")])
    bench.close()
    assert bench._connection.sent[-1] == ("bye",)


class Endless(FakeConnection):
    """A far side that goes on to say something and never answers: to a stop, or at its end. Nothing it says
    takes longer than a second.
    """

    def __init__(self, text):
        super().__init__(text)
        self.clock, self.said = Ticking(), 0

    def send(self, *message):
        self.sent.append(message)
        if message[0] == "call" and len(self.sent) == 1:
            self.inbox += [("done", message[1], packed(FACTS))]

    def receive(self, seconds=None):
        if self.inbox:
            return super().receive()
        if self.lost:
            raise Lost
        self.said += 1
        self.clock.now += 1
        if self.sent[-1][0] == "call" and self.sent[-1][2] != "close":
            raise KeyboardInterrupt
        return ("tick", 0.1, None)


class Ticking:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def endless(tmp_path, monkeypatch):
    monkeypatch.setattr("iogate.remote.calls.Connection", Endless)
    watcher = FakeWatcher()
    bench = RemoteBench(
        Settings(tmp_path, host="ssh=bench"), Device("orin", "/drive"), tmp_path / "results", watcher
    )
    monkeypatch.setattr("iogate.remote.calls.time", bench._connection.clock)
    return bench


def test_who_never_stops_is_waited_for_so_long_and_no_longer(endless):
    with pytest.raises(KeyboardInterrupt):
        measured(endless)
    assert endless._connection.lost and endless._connection.said <= 22


def test_who_never_ends_is_waited_for_so_long_and_no_longer(endless):
    told = []
    endless._watcher.notice = told.append
    endless.close()
    assert endless._connection.lost and endless._connection.said <= 602
    assert len(told) == 1


def test_raw_files_that_cannot_be_kept_make_it_invalid(bench, tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(IogateError, match="cannot keep raw files"):
        measured(bench, ("file", f"{WITHIN}/stdout", b"", True), ("done", "#", packed(DONE)))


def test_what_it_says_does_not_steer_a_terminal(bench):
    said = ("failed", "#", packed(TargetError("\x1b[2J", rule="\x07", remedy="\x1b]0;")))
    with pytest.raises(TargetError) as caught:
        measured(bench, said)
    assert "\x1b" not in str(caught.value)
    found = measured(
        bench, ("done", "#", packed(replace(DONE, output=Output({}, {}, engine_version="\x1b"))))
    )
    assert found.output.engine_version == "?"


@pytest.mark.parametrize("said", [("ask", "compile", "none", "none.c"), ("notice", "again")])
def test_who_asks_without_end_is_not_served_without_end(bench, said):
    with pytest.raises(MeasurementError, match=r"cannot be understood: .* without end"):
        measured(bench, *[said] * 2000)
    assert bench._connection.lost


def test_a_connection_that_breaks_at_the_end_is_told(bench):
    told = []
    bench._watcher.notice = told.append
    bench._connection.script.clear()
    bench.close()
    assert told == ["the connection to bench broke: it removes what was laid out there by itself"]


@pytest.mark.parametrize("said", [5, None, {}])
def test_what_cannot_be_meant_at_the_end_is_told(bench, said):
    told = []
    bench._watcher.notice = told.append
    bench._connection.script = deque([[("done", "#", "null"), said]])
    bench.close()
    assert len(told) == 1 and told[0].startswith("bench said what cannot be understood: ")
    assert bench._connection.lost
