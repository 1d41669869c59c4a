"""Bytes written are counted against the limits of a device."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from iogate.errors import TargetError
from iogate.model import Device
from iogate.target import wear
from iogate.target.wear import Wear

GIB = 2**30


def limited(**limits):
    return Device("orin", "/mnt", wear=limits)


def refused(account, planned, laid_out=0):
    with pytest.raises(TargetError) as caught:
        account.check(planned, laid_out)
    assert caught.value.rule == "wear"
    return str(caught.value)


def test_without_limits_nothing_is_refused_and_nothing_is_kept(tmp_path):
    account = Wear(limited(), tmp_path)
    account.check(2**60)
    account.record(2**60)
    account.check(None)
    assert list(tmp_path.iterdir()) == []


def test_a_session_may_write_up_to_its_limit(tmp_path):
    account = Wear(limited(session=10 * GIB), tmp_path)
    account.check(10 * GIB)
    account.record(6 * GIB)
    account.check(4 * GIB)
    assert "10.00 GiB a session: 6.000 GiB are written and 5.000 GiB more" in refused(account, 5 * GIB)
    Wear(limited(session=10 * GIB), tmp_path).check(10 * GIB)


def test_a_session_that_is_gone_on_with_is_one_session(tmp_path):
    for _ in range(2):
        account = Wear(limited(session=10 * GIB), tmp_path, "2026-01-02T00:00:00Z-aaaa")
        account.check(4 * GIB)
        account.record(4 * GIB)
    assert "8.000 GiB are written and 4.000 GiB more" in refused(account, 4 * GIB)
    account.record(-4 * GIB)
    account.check(4 * GIB)
    Wear(limited(session=10 * GIB), tmp_path, "2026-01-02T00:00:00Z-bbbb").check(10 * GIB)


def test_counts_of_sessions_are_none_of_days(tmp_path):
    account = Wear(limited(day=10 * GIB, session=10 * GIB), tmp_path, "2099-01-02T00:00:00Z-aaaa")
    account.record(6 * GIB)
    account.check(4 * GIB)
    assert "10.00 GiB a day: 6.000 GiB are written" in refused(account, 5 * GIB)


def test_old_sessions_are_forgotten_and_no_days(tmp_path):
    for number in range(60):
        Wear(limited(day=GIB, session=GIB), tmp_path, f"2026-01-02T00:00:{number:02}Z-aaaa").record(1)
    counts = json.loads((tmp_path / "wear-orin.json").read_text())
    assert len(counts) == 32 and 60 in counts.values()


def test_a_day_counts_all_sessions(tmp_path):
    Wear(limited(day=10 * GIB), tmp_path).record(8 * GIB)
    account = Wear(limited(day=10 * GIB), tmp_path)
    account.check(2 * GIB)
    refused(account, 3 * GIB)


def test_the_count_survives_a_clean_checkout(tmp_path, monkeypatch):
    """CI begins each job with `git clean -ffdx`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable, kept in (("", "home/.local/state"), ("relative", "home/.local/state"), ("state", "state")):
        named = str(tmp_path / variable) if variable == "state" else variable
        monkeypatch.setenv("XDG_STATE_HOME", named)
        Wear(limited(day=GIB)).record(GIB // 2)
        assert json.loads((tmp_path / kept / "iogate/wear-orin.json").read_text())
    refused(Wear(limited(day=GIB // 4)), 1)
    assert sorted(os.listdir(tmp_path)) == ["home", "state"]


def test_a_new_day_begins_anew_and_old_days_are_forgotten(tmp_path, monkeypatch):
    for day in range(1, 61):
        monkeypatch.setattr(wear, "_date", lambda day=day: f"2026-{day // 31 + 1:02}-{day % 31 + 1:02}")
        account = Wear(limited(day=GIB), tmp_path)
        account.check(GIB)
        account.record(GIB)
        refused(account, 1)
    assert len(json.loads((tmp_path / "wear-orin.json").read_text())) == 31


def test_a_clock_that_is_behind_all_that_is_kept_counts_none_the_less(tmp_path, monkeypatch):
    """A board without a battery begins in 1970: its day and its session sort before all others."""
    for day in range(1, 32):
        monkeypatch.setattr(wear, "_date", lambda day=day: f"2026-01-{day:02}")
        Wear(limited(day=GIB, session=GIB), tmp_path, f"2026-01-{day:02}T00:00:00Z-aaaa").record(1)
    monkeypatch.setattr(wear, "_date", lambda: "1970-01-01")
    for _ in range(2):  # the second goes on with the first
        account = Wear(limited(day=GIB, session=GIB), tmp_path, "1970-01-01T00:00:09Z-aaaa")
        account.record(GIB // 2)
    refused(Wear(limited(session=GIB), tmp_path, "1970-01-01T00:00:09Z-aaaa"), 1)
    refused(Wear(limited(day=GIB), tmp_path), 1)


def test_what_was_written_under_a_clock_ahead_still_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(wear, "_date", lambda: "2038-01-19")
    Wear(limited(day=GIB), tmp_path).record(GIB)
    monkeypatch.undo()
    with pytest.raises(TargetError) as caught:
        Wear(limited(day=GIB), tmp_path).check(1)
    assert "1.000 GiB of it on 2038-01-19, later than today by this clock, 20" in caught.value.message
    assert caught.value.remedy.startswith(
        "set the clock; or, if it was wrong then, take what is later out of"
    )


def test_an_unknown_amount_is_refused_only_at_the_limit(tmp_path):
    account = Wear(limited(session=GIB), tmp_path)
    account.record(GIB - 1)
    account.check(None)
    account.record(1)
    refused(account, None)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"2026-11-20": -5}', '{"2026-11-20": true}', "\xff", "[" * 100_000]
)
def test_a_count_that_cannot_be_read_is_no_zero(tmp_path, text):
    file = tmp_path / "wear-orin.json"
    file.write_text(text, encoding="latin-1")
    account = Wear(limited(day=GIB), tmp_path)
    assert str(file) in refused(account, 1)
    with pytest.raises(TargetError):
        account.record(1)
    assert file.read_text(encoding="latin-1") == text


@pytest.mark.parametrize("planned", [1, None])
@pytest.mark.parametrize("name", ["folder", "folder/**/wear-orin.json"])
def test_a_count_that_cannot_be_written_is_found_before_the_first_byte(tmp_path, name, planned):
    folder = tmp_path / "folder"
    Wear(limited(day=GIB), folder).record(1)
    [place] = tmp_path.glob(name)
    place.rename(tmp_path / "elsewhere")
    place.symlink_to("/proc/none/there")  # where nothing can be made, by root either
    account = Wear(limited(day=GIB), folder)
    if name == "folder":
        account.check(0)  # what writes nothing needs no count
    with pytest.raises(TargetError, match="cannot be kept") as caught:
        account.check(planned)
    assert caught.value.rule == "wear"
    Wear(limited(session=GIB), folder).check(planned)


@pytest.mark.parametrize("planned", [1, None])
@pytest.mark.parametrize("kind", ["a link", "a link to nothing", "a pipe", "20 GiB"])
def test_what_others_put_in_the_place_of_a_count_is_refused(tmp_path, kind, planned):
    file, other = tmp_path / "iogate" / "wear-orin.json", tmp_path / "other"
    file.parent.mkdir()
    if kind == "a pipe":
        os.mkfifo(file)
    elif kind == "20 GiB":
        file.touch()
        os.truncate(file, 20 * GIB)
    else:
        file.symlink_to(other)
        if kind == "a link":
            other.write_text("{}")
    for account in (Wear(limited(day=GIB), file.parent), Wear(limited(day=GIB, session=GIB), file.parent)):
        assert f"cannot be kept in {file}: it " in refused(account, planned)
        with pytest.raises(TargetError, match="cannot be kept"):
            account.record(1)
    assert kind != "a link" or other.read_text() == "{}"
    assert kind != "a link to nothing" or not other.exists()


def test_sessions_that_write_at_once_lose_no_byte(tmp_path):
    def work():
        account = Wear(limited(day=GIB), tmp_path)
        for _ in range(20):
            account.record(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(json.loads((tmp_path / "wear-orin.json").read_text()).values()) == 80


def test_data_that_are_laid_out_first_count_too(tmp_path):
    account = Wear(limited(session=10 * GIB), tmp_path)
    account.check(4 * GIB, 6 * GIB)
    assert "0 B are written and 11.00 GiB more" in refused(account, 5 * GIB, 6 * GIB)
    account.check(None, 9 * GIB)
    refused(account, None, 10 * GIB)


@contextlib.contextmanager
def locking(folder, user):
    """A process of a user that has the folder locked for as long as it likes."""
    code = (
        "import fcntl, os, sys; os.setuid(int(sys.argv[2])); file = os.open(sys.argv[1], os.O_RDONLY); "
        "fcntl.flock(file, fcntl.LOCK_EX); print(flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, str(folder), str(user)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"\n"
        yield process
        process.stdin.close()


def test_another_users_lock_keeps_nobody_from_counting(monkeypatch):
    if os.geteuid():
        pytest.skip("needs root")
    monkeypatch.setattr(wear, "_PATIENCE", 3.0)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        account = Wear(limited(day=10 * GIB), Path(folder))
        with locking(folder, 65534):
            before = time.monotonic()
            for _ in range(20):
                account.record(GIB // 4)
            assert time.monotonic() - before < 40  # it is waited for once
        assert "5.000 GiB are written" in refused(account, 6 * GIB)


def test_a_run_of_this_user_that_stands_still_while_it_counts_is_not_waited_for_without_end(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(wear, "_PATIENCE", 0.2)
    account = Wear(limited(day=10 * GIB), tmp_path)
    with locking(tmp_path, os.geteuid()) as other:
        assert f"is locked by pid {other.pid} (" in refused(account, GIB)
    account.check(GIB)
