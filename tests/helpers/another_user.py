"""A directory of another user, where root works, and what that user does there."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

USER = 65534


@pytest.fixture
def directory():
    """A directory of another user, where that one gets to."""
    if os.geteuid():
        pytest.skip("needs root")
    around = Path(tempfile.mkdtemp(prefix="races-", dir="/var/tmp"))
    around.chmod(0o755)
    inside = around / "directory"
    inside.mkdir()
    os.chown(inside, USER, USER)
    yield inside
    shutil.rmtree(around)


@contextlib.contextmanager
def as_its_owner():
    """Do what the owner of the directory may do."""
    os.seteuid(USER)
    try:
        yield
    finally:
        os.seteuid(0)
