"""Whatever runs the tests, git speaks of the checkout in which it is asked."""

import subprocess

import pytest

from iogate.host.git import head, history, is_committed

NAMED = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


@pytest.fixture
def checkouts(tmp_path):
    """Two checkouts of one commit each."""
    found = [tmp_path / "one", tmp_path / "other"]
    for folder in found:
        folder.mkdir()
        (folder / "file").write_text(folder.name)
        for words in (("init", "--quiet"), ("add", "file"), (*NAMED, "commit", "--quiet", "-m", folder.name)):
            subprocess.run(["git", "-C", folder, *words], check=True)
    return found


def test_a_hook_of_another_checkout_leads_nothing_there(checkouts, monkeypatch):
    one, other = checkouts
    commit = head(one)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert commit and head(one) == commit != head(other)
    assert [each.subject for each in history(one / "file", 5)] == ["one"]
    assert is_committed(one / "file")


def test_a_checkout_that_the_environment_alone_names_is_not_told(checkouts, tmp_path, monkeypatch):
    assert head(tmp_path) == ""
    monkeypatch.setenv("GIT_DIR", str(checkouts[0] / ".git"))
    assert head(tmp_path) is None


def test_a_subject_makes_no_commit_of_its_own(checkouts):
    folder = checkouts[0]
    for subject in ("tidy up\u2028deadbee\t2026-11-20\tada\tnew firmware", "a\tb\x1b[31m"):
        words = (*NAMED, "commit", "--quiet", "--allow-empty", "-m", subject)
        (folder / "file").write_text(subject)
        subprocess.run(["git", "-C", folder, *words, "--", "file"], check=True)
    found = history(folder / "file", 5)
    assert [each.author for each in found] == ["Ada"] * 3
    assert "deadbee" in found[1].subject and "\x1b" not in found[0].subject
