"""YAML that remembers where everything stands, and takes nothing for a number that is none."""

import contextlib
import os
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iogate.errors import InputError
from iogate.formats.words import nearest
from iogate.formats.yamlio import dumps, load, loads


def test_values_and_keys_know_their_places():
    document = loads("a: 1\nb:\n  - x\n  - key: 5%\n", "suite.yaml")
    assert document.data == {"a": 1, "b": ["x", {"key": "5%"}]}
    assert str(document.position(("b", 1, "key"))) == "suite.yaml:4:10"
    assert str(document.position(("b", 1, "key"), key=True)) == "suite.yaml:4:5"
    assert str(document.position(("b", 1, "missing"))) == "suite.yaml:4:5"


@pytest.mark.parametrize("text", ["75:25", "1:30", "on", "off", "yes", "no", "4k", "5%", "0x10", "1_000"])
def test_what_yaml_1_1_would_turn_into_something_else_stays_text(text):
    assert loads(f"a: {text}", "x").data == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("=", "="),
        ("<<", "<<"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("1e3", 1000.0),
        ("-7", -7),
        ("'7'", "7"),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text, value):
    found = loads(f"a: {text}", "x").data["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\na: 2", "x:2:1", "twice"),
        ("a: [1", "x:2:1", "malformed"),
        ("a: !!python/object:os.system x", "x:1:4", "tags"),
        ("<<: {a: 1}", "x:1:1", "merge"),
        ("? [a]\n: 1", "x:1:3", "word"),
        ("a: &x [*x]", "x:1:4", "too much"),
        ("a: 1\n---\nb: 2", "x:2:1", "malformed"),
        (
            "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n",
            "x:2:1",
            "a merge that git could not finish",
        ),
        *((f"a: 1\n# so {each}b: 2", "x:2:6", "hides what") for each in "\x85\u2028\u2029\r\u202e\u2066"),
    ],
)
def test_mistakes_are_told_with_their_place(text, place, words):
    with pytest.raises(InputError) as caught:
        loads(text, "x")
    assert str(caught.value.position) == place
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["[" * 200_000, "{a: " * 100_000 + "}" * 100_000, "- " * 100_000 + "1"])
def test_nesting_cannot_overflow_the_stack(text):
    """libyaml from 0.2.6 on, which PyYAML 6.0.4 brings, has a limit of its own, and other words for it."""
    with pytest.raises(InputError, match=r"too much: more than|exceeded maximum nesting depth") as caught:
        loads(text, "deep.yaml")
    assert caught.value.position.line == 1


def test_many_short_lists_are_not_nested():
    assert loads("a:\n" + "  - [1, 2]\n" * 5000, "long.yaml").data == {"a": [[1, 2]] * 5000}


def test_too_many_values_are_refused_before_all_are_read():
    for text in (f"a: [{'1,' * 1_200_000}]", "a:\n" + "  - x\n" * 1_000_000):
        with pytest.raises(InputError, match="too much: more than 400,000 values") as caught:
            loads(text, "long.yaml")
        place = caught.value.position
        assert place.line < 900_000 and place.column < 1_800_000
    with pytest.raises(InputError, match="larger than 16 MiB"):
        loads(" " * (16 * 2**20 + 1), "large.yaml")


def test_nor_can_the_texts_that_they_repeat():
    """Nodes are few, and characters too many: a baseline of 100 KB took minutes."""
    text = f"a: &a {'x' * 100_000}\n"
    few, many = ("".join(f"b{number}: *a\n" for number in range(count)) for count in (40, 60))
    assert len(loads(text + few, "few").data) == 41
    with pytest.raises(InputError, match="repeated by aliases beyond reason"):
        loads(text + many, "many")


def test_aliases_cannot_explode():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(InputError, match="too much"):
        loads("\n".join(lines), "bomb")


def test_a_file_that_is_not_there_or_not_text_is_told(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        load(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        load(tmp_path / "binary.yaml")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert load(tmp_path / "bom.yaml").data == {"a": 1}


@given(st.text(max_size=200))
def test_any_text_gives_data_or_a_told_mistake(text):
    try:
        loads(text, "x")
    except InputError as error:
        assert error.position is not None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=100)
NUMBER_LIKE = st.from_regex(r"[-+.0-9eExo:_~]{1,9}", fullmatch=True)
NUMBERS = st.integers(-(10**39) + 1, 10**39 - 1) | st.floats(allow_nan=False, allow_infinity=False)


def data_of(texts):
    """Mappings whose keys are such texts, and whose values are, too, or numbers, truths, nothing, lists."""
    values = st.recursive(
        st.none() | st.booleans() | NUMBERS | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=10,
    )
    return st.dictionaries(texts, values)


@given(data_of(TEXTS | NUMBER_LIKE))
def test_what_is_written_is_read_back(data):
    found = loads(dumps(data), "x").data
    assert repr(found) == repr(data)  # 1, 1.0 and True are equal, and -0.0 and 0.0


SPELLINGS = """\
0E0 1E5 1e5 1.e5 1e999 0912 09 +09 .5 1. +1 -0 0o7 0x1F 0b1 1_000 ~ null Null NULL true False yes on n = <<
2001-01-01 1:30 1:30:59.5 .inf -.INF .nan . - -- --- ... ? : [ ] { } ! & * | > ' " % @ ` # , -a
"""
WHITE = (
    "",
    " ",
    " a",
    "a ",
    "a: b",
    "a #b",
    "- a",
    "? a",
    "\n",
    "a\n\n b\n",
    "\t",
    "\x85",
    "\u2028",
    "\ufeff",
    *"\u061c\u200e\u200f\u202a\u202e\u2066\u2069",
    "\\\u200e",
    "\"\u200e'",
)


@pytest.mark.parametrize("text", [*SPELLINGS.split(), *WHITE])
@pytest.mark.parametrize("make", [lambda text: text, lambda text: {text: [text, {"a": text}]}])
def test_text_stays_text_whatever_yaml_might_take_it_for(text, make):
    assert loads(dumps(make(text)), "x").data == make(text)


def test_lists_of_numbers_stand_on_a_line():
    assert dumps({"a": [1.5, 2], "b": ["x", "1e5"]}) == "a: [1.5, 2]\nb:\n- x\n- '1e5'\n"


NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
"""A number of YAML 1.2. Some (1e5, 0912) are text to YAML 1.1, and PyYAML writes such text without quotes."""


@given(data_of((TEXTS | NUMBER_LIKE).filter(lambda text: not NUMBER.fullmatch(text) and "\x85" not in text)))
def test_what_pyyaml_writes_is_read_back(data):
    """But for texts that are numbers of YAML 1.2, and for U+0085, which PyYAML does not read back itself."""
    found = loads(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), "x").data
    assert repr(found) == repr(data or {})


@pytest.mark.parametrize("text", ["0E0", "1e5", "1.e5", "0912"])
def test_a_number_of_yaml_1_2_is_one_although_pyyaml_writes_it_as_text(text):
    assert yaml.safe_dump([text]) == f"- {text}\n"
    assert loads(f"- {text}", "x").data == [float(text)]


def test_the_nearest_word_is_offered():
    assert nearest("iodpeth", ["iodepth", "bs"]) == ", did you mean 'iodepth'?"
    assert nearest("zzz", ["iodepth", "bs"]) == ""


def test_a_file_of_the_kernel_that_never_ends_is_not_waited_for(tmp_path):
    link = tmp_path / "s.yaml"
    link.symlink_to("/proc/kmsg")
    with contextlib.suppress(InputError):  # what there is of the kernel's messages may be YAML
        load(link)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "s.yaml"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="it is no plain file"):
        load(pipe)


def test_line_ends_of_windows_hide_nothing():
    assert loads("a: 1\r\n# b\r\nc: 2\r\n", "x").data == {"a": 1, "c": 2}
