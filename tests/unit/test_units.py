"""Sizes, rates, durations and tolerances: read as people write them, shown as people read them."""

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from iogate.units import (
    format_change,
    format_duration,
    format_quantity,
    format_share,
    harmless_json,
    one_line,
    parse_duration,
    parse_fraction,
    parse_rate,
    parse_size,
    plural,
    printable,
    size_text,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4k", 4096), ("4K", 4096), ("16G", 16 * 2**30), ("16Gb", 16 * 2**30), ("1.5M", 1572864), (512, 512)],
)
def test_sizes_follow_fio(text, expected):
    assert parse_size(text) == expected


@pytest.mark.parametrize(
    "text", ["4q", "", "-1", "1.5", "k", "4 k b", "1e3", True, "99999999999E", "0.3k", "4\u0660k", "4\u212a"]
)
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r"size|whole number|device holds"):
        parse_size(text)


@pytest.mark.parametrize("parse", [parse_size, parse_rate, parse_duration, parse_fraction])
def test_blanks_take_time_in_proportion_to_their_number(parse):
    def read(blanks):
        for text in (f"1{' ' * blanks}x", f"{' ' * blanks}1{' ' * blanks}x"):
            with pytest.raises(ValueError, match="is not"):
                parse(text)

    assert growth(lambda: read(5_000), lambda: read(20_000)) < LINEAR


@given(st.integers(0, 2**62))
def test_a_size_survives_writing_and_reading(size):
    assert parse_size(size_text(size)) == size


@pytest.mark.parametrize(
    ("text", "expected"),
    [("7.88 GB/s", 7.88e9), ("3700MiB/s", 3700 * 2**20), ("512 kB/s", 512e3), ("4GBps", 4e9)],
)
def test_rates_tell_decimal_from_binary(text, expected):
    assert parse_rate(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["7.88 GB", "fast", "7,88 GB/s", "", "7 GB/\u017f"])
def test_what_is_no_rate_is_refused(text):
    with pytest.raises(ValueError, match="rate"):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("90s", 90), ("10m", 600), (60, 60), ("0.5", 0.5), ("500ms", 0.5)]
)
def test_durations_are_seconds(text, expected):
    assert parse_duration(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["soon", "-1", "1y", True, "1\u017f", "500m\u017f"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(("text", "expected"), [("5%", 0.05), (0.05, 0.05), ("-5%", -0.05), ("0.5%", 0.005)])
def test_a_tolerance_is_a_percentage_or_a_fraction(text, expected):
    assert parse_fraction(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["5", 5, "five", "5 %%", True, "nan", "inf", "5\u0660%"])
def test_what_could_be_two_tolerances_is_none(text):
    with pytest.raises(ValueError, match=r"tolerance|5% or 0.05"):
        parse_fraction(text)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (2023543603, "B/s", "1930 MiB/s"),
        (12 * 2**30, "B/s", "12.00 GiB/s"),
        (213953.0, "IOPS", "214.0 k IOPS"),
        (32960680, "ns", "32.96 ms"),
        (9750, "ns", "9.750 µs"),
        (0.25, "s", "250.0 ms"),
        (3.5, "", "3.500"),
        (0, "IOPS", "0 IOPS"),
        (float("nan"), "ns", "nan ns"),
    ],
)
def test_quantities_are_shown_in_units_that_people_read(value, unit, expected):
    assert format_quantity(value, unit) == expected


@given(st.floats(min_value=1e-9, max_value=1e15), st.sampled_from(["B/s", "IOPS", "ns", "s", "B", ""]))
def test_a_quantity_never_shows_an_exponent(value, unit):
    number = format_quantity(value, unit).split()[0]
    assert "e" not in number


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(4.21, "4.2 s"), (59.7, "1 min"), (75, "1 min 15 s"), (7265, "2 h 1 min"), (3600, "1 h")],
)
def test_durations_are_shown_as_people_say_them(seconds, expected):
    assert format_duration(seconds) == expected


def test_a_change_has_its_sign():
    assert format_change(-0.0712) == "-7.1%"
    assert format_change(0.05) == "+5.0%"


@pytest.mark.parametrize("change", [9.1, 85683.92, 1e40, float("inf")])
def test_a_change_beyond_tenfold_has_no_digits(change):
    assert format_change(change) == format_share(change) == "more than 10 times"


def test_a_share_is_in_per_cent():
    assert (format_share(0.0712), format_share(9.0)) == ("7.1%", "900.0%")


def test_one_is_singular():
    assert [plural(count, "session") for count in (0, 1, 2)] == ["0 sessions", "1 session", "2 sessions"]


@pytest.mark.parametrize("text", ["7.88", 7.88, 1000])
def test_a_rate_has_a_unit(text):
    with pytest.raises(ValueError, match="has no unit: write it as"):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("6Gb/s", "write 0.75 GB/s, or 6 GB/s for bytes"),
        ("100 mib/s", "write 12.5 miB/s, or 100 miB/s for bytes"),
        ("32Gbps", "write 4 GB/s"),
    ],
)
def test_a_rate_is_of_bytes_and_says_so(text, words):
    """A SATA link of 6 Gb/s was ten times as fast as one, and what a cache served stood."""
    with pytest.raises(ValueError, match=f"may be bits: {words}"):
        parse_rate(text)


@given(st.text())
def test_printable_text_cannot_steer_a_terminal(text):
    assert not set(printable(text)) & set("\x1b\x07\r\x9b\u202e")


@pytest.mark.parametrize(
    "command", ["##[add-mask]x", "##vso[task.setvariable variable=PATH]x", "##teamcity[x]"]
)
@pytest.mark.parametrize("before", ["", "a ", "#", "##", "\x1b"])
def test_printable_text_holds_no_command_to_who_runs_a_job(before, command):
    told = printable(before + command)
    assert not re.search(r"##\w*\[", told) and len(told) == len(before + command)
    assert printable(told) == told and printable("## [a], a#[b], ##c") == "## [a], a#[b], ##c"


@pytest.mark.parametrize("command", ["##[add-mask]x", "###vso[task.setvariable variable=PATH]x", "a ####[x]"])
def test_harmless_json_says_the_same_without_a_command_to_who_runs_a_job(command):
    data = {command: [command, "\x1b", "ä", "## [a]"]}
    for ascii_only in (True, False):
        told = harmless_json(json.dumps(data, ensure_ascii=ascii_only))
        assert not re.search(r"##\w*\[", told) and json.loads(told) == data


@given(st.text(), st.sampled_from(["", "\n", "::", " \n ::error::"]), st.text())
def test_one_line_stays_one_and_begins_no_command_of_a_ci_job(before, between, after):
    told = one_line(before + between + after)
    assert len(told.splitlines()) <= 1 and not [word for word in told.split() if word.startswith("::")]
    assert one_line(told) == told and len(told) >= len(before + after)
    assert one_line("5 of: a::b") == "5 of: a::b"


def test_a_unit_of_others_is_one_line():
    assert "\n" not in format_quantity(5.0, "a\n::error::b") + format_quantity(math.inf, "a\n::error::b")
