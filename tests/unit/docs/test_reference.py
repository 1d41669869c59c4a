"""docs/reference.md is what the code says, and says something of all of it."""

import re
import runpy

import pytest

from iogate.model.metrics import _KINDS
from places import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs/reference.py"))
PAGE = (ROOT / "docs/reference.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_code_says():
    assert SCRIPT["page"]() == PAGE, "make it anew: python docs/reference.py"


def test_every_option_is_explained_and_nothing_else():
    options = SCRIPT["options"]()
    assert set(SCRIPT["MORE"]) <= set(options)
    assert [flag for flag, (_, _, text) in options.items() if not text] == []


def test_every_kind_of_metric_is_explained():
    assert set(SCRIPT["KINDS"]) == set(_KINDS)


@pytest.mark.parametrize(
    "names, patterns",
    [
        ({"read.iops", "write.iops"}, ["{read,write}.iops"]),
        ({"read.clat.p99", "read.clat.p99.9", "read.clat.mean"}, ["read.clat.{mean,p99,p99.9}"]),
        ({"threads_1.speedup", "threads_16.speedup"}, ["threads_N.speedup"]),
        ({"read.bandwidth.16M/4k", "read.bandwidth.64k/4k"}, ["read.bandwidth.SIZE/RECORD"]),
        ({"wall_time"}, ["wall_time"]),
    ],
)
def test_metrics_are_told_as_patterns(names, patterns):
    assert SCRIPT["_patterns"](names) == patterns


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))], ids=lambda page: page.name
)
def test_options_that_the_pages_name_exist(page):
    named = set(re.findall(r"(?<![\w-])--(?:io|update)-[a-z-]*[a-z]", page.read_text(encoding="utf-8")))
    assert named <= {flag.partition("=")[0] for flag in SCRIPT["options"]()}
