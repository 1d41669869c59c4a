"""Where results may be written: into what is no file it is written through, and nothing else is replaced."""

import json
import os
import threading
from pathlib import Path

import pytest

import sessions
from iogate.errors import InputError, IogateError
from iogate.formats.atomic import write_atomically
from iogate.report.json_file import JsonFile, JsonStream, json_at
from iogate.report.results import SCHEMA, Results


def results(session="s"):
    return Results(SCHEMA, "device", session, ())


def keep(path, *sessions):
    reporter = json_at(path)
    for session in sessions or "s":
        reporter.write(results(session))
    reporter.close()
    return reporter


def node(path, kind, major, minor):
    if os.geteuid():
        pytest.skip("needs root")
    os.mknod(path, kind | 0o600, os.makedev(major, minor))
    return path


CHARACTER, BLOCK = 0o020000, 0o060000


@pytest.mark.parametrize("linked", [False, True])
def test_a_device_node_is_written_into_and_stays_what_it_is(tmp_path, linked):
    null = node(tmp_path / "null", CHARACTER, 1, 3)
    (tmp_path / "link").symlink_to(null)
    assert isinstance(keep(tmp_path / "link" if linked else null), JsonStream)
    assert null.is_char_device() and (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "null"]


@pytest.mark.parametrize(
    ("kind", "major", "minor", "word"),
    [(BLOCK, 259, 200, "a block device"), (CHARACTER, 10, 130, "a character device")],
)
def test_a_disk_or_a_watchdog_is_not_even_opened(tmp_path, monkeypatch, kind, major, minor, word):
    path = node(tmp_path / "node", kind, major, minor)
    with monkeypatch.context() as watched, pytest.raises(InputError, match=word):
        watched.setattr(os, "open", lambda *given, **more: pytest.fail("opened"))
        json_at(path)


def test_a_full_device_is_an_error_and_no_traceback(tmp_path):
    with pytest.raises(IogateError, match="No space left"):
        keep(node(tmp_path / "full", CHARACTER, 1, 7))


def test_a_reader_of_a_pipe_gets_the_last_document_whole(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    while True:
        try:
            keep(pipe, "first", "x" * 300_000)  # more than a pipe holds
            break
        except InputError as error:
            assert "nobody reads" in str(error)  # the thread has not come to it yet
    reader.join()
    assert json.loads(read[0])["session"] == "x" * 300_000
    assert pipe.is_fifo()


def test_a_pipe_that_nobody_reads_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="nobody reads"):
        json_at(tmp_path / "pipe")


def test_a_pipe_whose_reader_has_gone_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    reporter = json_at(tmp_path / "pipe")
    os.close(reader)
    reporter.write(results())
    with pytest.raises(IogateError, match="Broken pipe"):
        reporter.close()


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/thread-self/fd/{}"])
def test_an_open_descriptor_is_written_to_where_it_stands(tmp_path, name):
    with (tmp_path / "log").open("w+") as log:
        log.write("before\n")
        log.flush()
        keep(Path(name.format(log.fileno())))
        log.seek(0)
        first, *rest = log.read().split("\n")
    assert first == "before" and json.loads("".join(rest))["session"] == "s"


def test_a_descriptor_that_is_not_open_for_writing_is_refused(tmp_path):
    (tmp_path / "log").touch()
    with (tmp_path / "log").open() as log, pytest.raises(InputError, match="for reading only"):
        json_at(Path(f"/dev/fd/{log.fileno()}"))
    with pytest.raises(InputError, match="not open"):
        json_at(Path("/dev/fd/999"))


@pytest.mark.parametrize(
    "text",
    ["workloads: {}\n", "{}", "[]", '{"schema": 1}', "{", "\udcff", '{"schema": 1, "workloads": []}', " "],
)
def test_a_file_that_is_something_else_is_left_as_it_is(tmp_path, text):
    path = tmp_path / "suite.yaml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    (tmp_path / "link").symlink_to(path)
    for name in (path, tmp_path / "link"):
        with pytest.raises(InputError, match=r"no results document of iogate(.|\n)*name another file"):
            json_at(name)
    assert path.read_bytes() == text.encode(errors="surrogateescape")


@pytest.mark.parametrize("there", ["own", "newer", "empty", "nothing"])
def test_results_of_before_an_empty_file_and_nothing_are_replaced(tmp_path, there):
    path = tmp_path / "results.json"
    if there in ("own", "newer"):
        results("before").write(path)
    if there == "newer":
        path.write_text(path.read_text().replace('"schema":1', '"schema":99'))
    if there == "empty":
        path.touch()
    assert isinstance(keep(path, "after"), JsonFile)
    assert json.loads(path.read_text())["session"] == "after"


@pytest.mark.parametrize("there", [False, True])
def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path, there):
    file, link = tmp_path / "deep" / "results.json", tmp_path / "latest.json"
    link.symlink_to(file)
    if there:
        file.parent.mkdir()
        results("before").write(file)
    keep(link, "after")
    assert link.is_symlink() and json.loads(file.read_text())["session"] == "after"


def test_a_link_that_another_planted_in_a_folder_for_all_is_not_followed(tmp_path):
    if os.geteuid() or Path("/proc/sys/fs/protected_symlinks").read_text().strip() != "1":
        pytest.skip("needs root, and fs.protected_symlinks")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    os.chown(shared, 12345, 12345)
    for name, to in (("there", tmp_path / "there"), ("new", tmp_path / "new")):
        (shared / name).symlink_to(to)
        os.lchown(shared / name, 54321, 54321)
    results().write(tmp_path / "there")
    for name in ("there", "new"):
        with pytest.raises(InputError, match="Permission denied"):
            json_at(shared / name)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="a folder"):
        json_at(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError):
        json_at(tmp_path / "file" / "results.json")


def test_other_files_that_are_written_whole_replace_no_device_either(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IogateError, match="no regular file"):
        write_atomically(tmp_path / "pipe", "text")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_comes_to_a_place_during_the_run_is_not_lost(tmp_path, kind):
    from iogate.report.html.place import HtmlFile
    from iogate.report.markdown_file import MarkdownFile

    precious = tmp_path / "precious"
    precious.write_text("precious\n")
    for reporter_at, name in ((json_at, "a.json"), (HtmlFile, "a.html"), (MarkdownFile, "a.md")):
        place = tmp_path / name
        reporter = reporter_at(place)
        if kind == "link":
            place.symlink_to(precious)
        else:
            place.write_text("precious\n")
        with pytest.raises(IogateError, match="it is not overwritten"):
            reporter.write(sessions.session())
            reporter.close()
        assert place.read_text() == precious.read_text() == "precious\n"
