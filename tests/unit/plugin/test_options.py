"""The documentation lists the options that there are, with their values and defaults."""

import re

from iogate.plugin.options import OPTIONS, add_options
from places import ROOT

TABLE = (ROOT / "docs/design.md").read_text().partition("## Options")[2]
ROWS = dict(re.findall(r"^\| `(-[^`]+)` \| (.+) \|$", TABLE, re.MULTILINE))


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
    documented = {row.partition("=")[0] if row.partition("=")[0] in valued else row for row in ROWS}
    assert documented == parser.flags
    assert parser.settings == {flag.strip("-").replace("-", "_") for flag in valued} | {
        "io_suites",
        "io_strict",
    }


def test_values_and_defaults_are_those_of_the_help():
    written = {row.partition("=")[0]: (row.partition("=")[2], text) for row, text in ROWS.items()}
    for option in OPTIONS:
        value, text = written[option.flag]
        assert value.replace("\\", "") == option.metavar
        default = re.search(r"default: ([\w./]+)\)", option.help)
        if default and not option.metavar.endswith("%"):
            assert f"default `{default[1]}`" in text or f"default {default[1]}" in text
