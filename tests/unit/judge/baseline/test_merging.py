"""Two histories of a baseline are united, or people are asked."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iogate.errors import InputErrors
from iogate.formats import yamlio
from iogate.judge.baseline import MAXIMUM_SESSIONS
from iogate.judge.baseline.file import check_baseline
from iogate.judge.baseline.merging import merge
from iogate.judge.baseline.storage import baseline_text
from iogate.model import hash_of


def session(day):
    return f"2026-01-{day:02}T00:00:00Z-aaaa"


DAYS = st.sets(st.integers(1, 28), max_size=6)


def entry(days, definition=None, **metrics):
    definition = definition or {"engine": "fio", "rw": "read"}
    metrics = metrics or {"read.iops": [[1000 + day, 1001 + day] for day in days]}
    names = [day if isinstance(day, str) else session(day) for day in days]
    return {
        "hash": hash_of(definition),
        "definition": definition,
        "sessions": names,
        "metrics": {name.replace("_", "."): rows for name, rows in metrics.items()},
    }


def file(disk="A", **workloads):
    """The contents of a baseline file; a workload is its days, or its entry."""
    known = {name: item if isinstance(item, dict) else entry(item) for name, item in workloads.items()}
    names = dict.fromkeys(name for item in known.values() for name in item.get("sessions", ()))
    sessions = {name: {"reason": "", "environment": {"identity": {"disk": disk}}} for name in names}
    head = {"schema": 1, "device": "lab", "suite": "demo"}
    return {**head, **({"sessions": sessions} if sessions else {}), "workloads": known}


def checked(base, ours, theirs):
    """What a merge gives, which is a baseline and leaves its sources alone."""
    before = copy.deepcopy((base, ours, theirs))
    merged = merge(base, ours, theirs)
    assert (base, ours, theirs) == before
    text = yamlio.dumps(merged)
    check_baseline(yamlio.loads(text, "merged"), "lab", "demo")
    return merged


def days(merged, name="a"):
    return [int(one[8:10]) for one in merged["workloads"][name]["sessions"]]


def conflicts(base, ours, theirs):
    with pytest.raises(InputErrors) as told:
        merge(base, ours, theirs)
    return str(told.value)


def test_sessions_of_both_sides_are_united_by_time():
    merged = checked(file(a=[1]), file(a=[1, 4]), file(a=[1, 2, 5]))
    assert days(merged) == [1, 2, 4, 5]
    assert merged["workloads"]["a"]["metrics"]["read.iops"] == [
        [1000 + day, 1001 + day] for day in (1, 2, 4, 5)
    ]
    assert list(merged["sessions"]) == [session(day) for day in (1, 2, 4, 5)]


def test_repetitions_of_two_lengths_are_a_conflict():
    short, long = ({**entry([day]), "runtime": length} for day, length in ((1, 5.0), (2, 17.0)))
    assert "a: repetitions are not of one length" in conflicts({}, file(a=short), file(a=long))
    merged = checked({}, file(a=short), file(a={**entry([2]), "runtime": 5.0}))
    assert merged["workloads"]["a"]["runtime"] == 5.0


def test_behind_how_much_work_sessions_of_both_sides_came_is_united():
    ours, theirs = ({**entry([day]), "worked": {session(day): [0.5 * day]}} for day in (1, 2))
    merged = checked({}, file(a=ours), file(a=theirs))
    assert merged["workloads"]["a"]["worked"] == {session(1): [0.5], session(2): [1.0]}
    again = checked(merged, merged, file(a=theirs))  # which forgot the first
    assert again["workloads"]["a"]["worked"] == {session(2): [1.0]}


def test_a_file_that_is_new_on_both_sides_is_united():
    assert days(checked({}, file(a=[3]), file(a=[1]))) == [1, 3]


def test_what_one_side_alone_changed_is_taken():
    base = file(a=[1], b=[1], c=[1])
    merged = checked(base, file(a=[1, 2], b=[1], c=[1]), file(a=[1], b=[3], d=[1]))
    assert {name: days(merged, name) for name in merged["workloads"]} == {"a": [1, 2], "b": [3], "d": [1]}
    assert set(merged["sessions"]) == {session(1), session(2), session(3)}


def test_a_metric_that_one_side_lacks_has_no_values_there():
    both = {"read_iops": [[1, 1], [2, 2]], "read_clat_p99": [[5, 5], [6, 6]]}
    merged = checked(
        file(a=entry([1], read_iops=[[1, 1]], read_clat_p99=[[5, 5]])),
        file(a=entry([1, 2], **both)),
        file(a=entry([1, 3], read_iops=[[1, 1], [3, 3]], read_clat_p99=[[5, 5], []])),
    )
    assert merged["workloads"]["a"]["metrics"] == {
        "read.clat.p99": [[5, 5], [6, 6], []],
        "read.iops": [[1, 1], [2, 2], [3, 3]],
    }


def test_a_session_without_a_time_stays_behind_the_one_before_it():
    merged = checked(file(a=[1]), file(a=entry([1, "imported-x"], read_iops=[[1], [2]])), file(a=[1, 2]))
    assert merged["workloads"]["a"]["sessions"] == [session(1), "imported-x", session(2)]


def test_only_the_newest_are_kept_and_what_made_room_is_no_conflict():
    many = list(range(1, MAXIMUM_SESSIONS + 1))
    merged = checked(file(a=many), file(a=[*many[1:], 26]), file(a=[*many[2:], 25, 27]))
    assert days(merged) == [*many[3:], 25, 26, 27]


def test_both_sides_may_replace_the_same():
    assert days(checked(file(a=[1]), file(a=[2]), file(a=[3]))) == [2, 3]


@pytest.mark.parametrize("appended", [[1, 2, 3, 4], [1, 2, 3, 4, 5]])
def test_a_session_that_one_side_dropped_is_gone_where_the_other_only_added(appended):
    """A bad night is dropped, while the next one is appended on another branch."""
    for sides in ((file(a=[1, 3]), file(a=appended)), (file(a=appended), file(a=[1, 3]))):
        assert days(checked(file(a=[1, 2, 3]), *sides)) == [day for day in appended if day != 2]


@pytest.mark.parametrize(
    "base, ours, theirs, said",
    [
        (file(a=[1]), file(a=[2]), file(a=[1, 3]), "a: one side replaced the session 2026-01-01"),
        (
            file(a=[1, 2, 3]),
            file(a=[1, 2]),
            file(a=[1, 3]),
            "each side replaced or dropped others: the sessions",
        ),
        (file(a=[1]), file(), file(a=[1, 3]), "a: one side removed it, the other changed it"),
        (
            {},
            file(a=entry([1], {"engine": "fio"})),
            file(a=[2]),
            "workloads (ours, theirs): rw is new",
        ),
        ({}, file(disk="A", a=[1]), file(disk="B", a=[2]), "are of two machines: the session 2026-01-01"),
        ({}, file(disk="A", a=[1]), file(disk="B", b=[2]), "are of two machines"),
        (
            {},
            file(a=entry([1], read_iops=[[7]])),
            file(a=[1]),
            "read.iops of the session 2026-01-01",
        ),
        ({}, file(disk="A", a=[1]), file(disk="B", a=[1]), "has another environment on the two sides"),
        (
            {},
            file(a=[1]),
            {**file(a=[1]), "suite": "other"},
            "the suite is",
        ),
    ],
)
def test_what_the_sides_contradict_each_other_in_is_a_conflict(base, ours, theirs, said):
    assert said in conflicts(base, ours, theirs)
    conflicts(base, theirs, ours)


def test_published_figures_on_both_sides_are_a_conflict():
    published = {
        "hash": "",
        "definition": {"engine": "fio", "rw": "read"},
        "source": "x",
        "metrics": {"read.iops": 1},
    }
    assert "published" in conflicts({}, file(a=published), file(a=[1]))
    assert days(checked(file(a=published), file(a=published), file(a=[1]))) == [1]


def test_every_conflict_is_told():
    said = conflicts(file(a=[1], b=[1]), file(a=[2], b=[2]), file(a=[1, 3], b=[1, 3]))
    assert "a: one side" in said and "b: one side" in said


@given(
    st.sets(st.integers(1, 28), max_size=6),
    st.sets(st.integers(1, 28), max_size=6),
    st.sets(st.integers(1, 28), min_size=1, max_size=6),
)
@settings(max_examples=100)
def test_whatever_both_sides_append_is_there_afterwards_once_whichever_side_is_ours(ours, theirs, base):
    sides = [file(a=sorted(base | side)) for side in (set(), ours, theirs)]
    merged = checked(*sides)
    assert days(merged) == sorted(base | ours | theirs)
    assert checked(sides[0], sides[2], sides[1])["workloads"] == merged["workloads"]


def test_what_is_merged_is_written_as_any_baseline(tmp_path):
    merged = checked(file(a=[1]), file(a=[1, 2]), file(a=[1, 3]))
    assert baseline_text(tmp_path / "demo.yaml", merged, "lab").startswith("# Written by iogate")
