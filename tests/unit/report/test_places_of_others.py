"""Files written where another user may put links: what was looked at is what is written, or nothing."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import errno
import os
import signal

import pytest

from another_user import USER, as_its_owner, directory  # noqa: F401 (fixture)
from iogate.errors import InputError, IogateError
from iogate.report import json_file, markdown_file
from iogate.report.html import place as html_place
from iogate.report.json_file import JsonFile, json_at
from iogate.report.results import is_results
from records import results, workload

REPORTERS = {
    "json": (json_file, "is_results", json_at),
    "html": (html_place, "is_report", html_place.HtmlFile),
    "markdown": (markdown_file, "_is_own", markdown_file.MarkdownFile),
}


@pytest.fixture(autouse=True)
def nobody_called_sudo(monkeypatch):
    monkeypatch.delenv("SUDO_UID", raising=False)


def write(reporter):
    reporter.write(results(workload()))
    reporter.close()


@pytest.mark.parametrize("kind", REPORTERS)
def test_a_way_that_is_a_folder_again_while_it_is_followed_is_told(tmp_path, monkeypatch, kind):
    """It was a link when somebody looked: Python's realpath fails then, as readlink(2) does."""

    def fails(path):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr("os.path.realpath", fails)
    with pytest.raises(InputError, match=r"cannot write .*: somebody changes the way there"):
        REPORTERS[kind][2](tmp_path / "file")


@pytest.mark.parametrize("kind", REPORTERS)
def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(directory, kind):
    """Somebody looked whether it is a file, and asks now whether it is ours."""
    module, look, _ = REPORTERS[kind]
    with as_its_owner():
        os.mkfifo(directory / "pipe")
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it is waited for"))
    signal.alarm(5)
    try:
        asked = getattr(module, look)
        asked(directory / "pipe")
    finally:
        signal.alarm(0)


@pytest.mark.parametrize("kind", REPORTERS)
@pytest.mark.parametrize("moment", ["after the look", "before the look"])
def test_a_link_that_takes_the_place_of_a_file_of_ours(directory, tmp_path, monkeypatch, kind, moment):
    module, look, make = REPORTERS[kind]
    file, victim = directory / "file", tmp_path / "victim"
    victim.write_text("what root has")
    with as_its_owner():
        file.touch()
    reporter = make(file)
    real = getattr(module, look)

    def swapped(path):
        with as_its_owner():
            file.unlink()
            file.symlink_to(victim)
        return real(path)

    def looked(path):
        own = real(path)
        swapped(path)
        return own

    if moment == "after the look":
        monkeypatch.setattr(module, look, looked)
        write(reporter)
    else:
        swapped(file)
        with pytest.raises(IogateError, match=f"file is a symbolic link of user {USER}, and not followed"):
            write(reporter)
    assert victim.read_text() == "what root has"


@pytest.mark.parametrize("kind", REPORTERS)
def test_a_link_of_another_user_is_told_before_anything_is_measured(directory, tmp_path, kind):
    with as_its_owner():
        (directory / "folder").symlink_to(tmp_path)
        (directory / "file").symlink_to(tmp_path / "new")
    for name in ("folder/file", "file"):
        with pytest.raises(InputError, match=r"cannot write .*is a symbolic link of user"):
            REPORTERS[kind][2](directory / name)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_exchanged_leads_nowhere(directory, tmp_path, monkeypatch):
    """What root has there would be taken for a document of this run."""
    (tmp_path / "file").write_text("what root has")
    folder = directory / "folder"
    with as_its_owner():
        folder.mkdir()
    reporter = json_at(folder / "file")
    with as_its_owner():
        folder.rename(directory / "aside")
        folder.symlink_to(tmp_path)
    with pytest.raises(IogateError, match="is a symbolic link of user"):
        write(reporter)
    assert (tmp_path / "file").read_text() == "what root has"


def test_what_is_too_large_is_no_results_document(tmp_path):
    file = tmp_path / "file"
    file.touch()
    os.truncate(file, 2**42)
    assert not is_results(file)
    with pytest.raises(InputError, match="is no results document of iogate"):
        JsonFile(file).write(results(workload()))
