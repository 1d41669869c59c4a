"""Files that another file names: below its folder, whoever exchanges them meanwhile."""

import os
import threading

import pytest

from iogate.errors import InputError
from iogate.formats import attachment
from iogate.formats.attachment import read_attachment
from iogate.formats.reading import held


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites/job.fio").write_text("[job]\n")
    (tmp_path / "secret").write_text("hunter2")
    return tmp_path / "suites"


def test_a_file_below_the_folder_is_read_through_links_within(folder):
    (folder / "linked.fio").symlink_to("job.fio")
    assert read_attachment(folder, "job.fio").text == read_attachment(folder, "linked.fio").text == "[job]\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../secret", "would leave the folder"),
        ("/etc/hostname", "would leave the folder"),
        ("", "would leave the folder"),
        ("out", "would leave the folder"),
        (".git/config", "it is hidden"),
        ("sub/.env", "it is hidden"),
        ("circle", "cannot be read"),
        ("missing", "is no file below"),
        (".", "is no file below"),
        ("pipe", "is no file below"),
        ("a\0b", "cannot be read"),
        ("large", "larger than 128 KiB"),
    ],
)
def test_what_is_no_text_below_the_folder_is_refused(folder, name, words):
    (folder / "out").symlink_to("../secret")
    (folder / "circle").symlink_to("circle")
    (folder / "large").write_bytes(b" " * (2**17 + 1))
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match=words) as caught:
        read_attachment(folder, name)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("instead", ["link", "pipe"])
def test_what_takes_its_place_while_it_is_looked_at_is_not_read(folder, monkeypatch, instead):
    """The owner of the folder put a link to a file of root's there, or a pipe, which was waited for."""

    def exchanged(path):
        file = held(path)
        path.unlink()
        os.mkfifo(path) if instead == "pipe" else path.symlink_to("../secret")
        return file

    monkeypatch.setattr(attachment, "held", exchanged)
    with pytest.raises(InputError, match="would leave" if instead == "link" else "is no file"):
        read_attachment(folder, "job.fio")


def test_a_file_that_is_exchanged_all_the_time_shows_nothing_of_another(folder):
    (folder / "link").symlink_to("../secret")
    os.mkfifo(folder / "pipe")
    done = threading.Event()

    def exchange():
        while not done.is_set():
            for name in ("link", "pipe"):
                os.rename(folder / "job.fio", folder / "aside")
                os.rename(folder / name, folder / "job.fio")
                os.rename(folder / "job.fio", folder / name)
                os.rename(folder / "aside", folder / "job.fio")

    other = threading.Thread(target=exchange)
    other.start()
    try:
        for _ in range(2000):
            try:
                assert read_attachment(folder, "job.fio").text == "[job]\n"
            except InputError as error:
                assert "hunter2" not in str(error)
    finally:
        done.set()
        other.join()
