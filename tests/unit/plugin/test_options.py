"""The documentation lists the options that there are, with their values: it is made of their help."""

import re

from iogate.plugin.options import OPTIONS, add_options
from places import ROOT

TABLE = (ROOT / "docs/reference.md").read_text().partition("## Options of pytest")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `(-[^`]+)` \| .+ \|$", TABLE, re.MULTILINE)


class Parser:
    """What pytest would be told."""

    def __init__(self):
        self.flags, self.settings = set(), set()

    def getgroup(self, *_):
        return self

    def addoption(self, flag, **_):
        self.flags.add(flag)

    def addini(self, name, *_, **__):
        self.settings.add(name)


def test_every_option_is_in_the_documentation_and_nothing_else():
    parser = Parser()
    add_options(parser)
    valued = {option.flag for option in OPTIONS}
    flags = {row: re.split(r"\[?=", row)[0] for row in ROWS}
    documented = {flag if flag in valued else row for row, flag in flags.items()}
    assert documented == parser.flags
    assert parser.settings == {flag.strip("-").replace("-", "_") for flag in valued} | {
        "io_suites",
        "io_strict",
    }


def test_values_are_those_of_the_help():
    written = {re.split(r"\[?=", row)[0]: row.replace("\\", "").rstrip("]").partition("=")[2] for row in ROWS}
    assert {option.flag: written[option.flag] for option in OPTIONS} == {
        option.flag: option.metavar for option in OPTIONS
    }
