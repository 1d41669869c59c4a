"""YAML that remembers where everything stands, and takes nothing for a number that is none."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iogate.errors import InputError
from iogate.formats.yamlio import load, loads, nearest


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
    [("true", True), ("False", False), ("~", None), ("", None), ("1e3", 1000.0), ("-7", -7), ("'7'", "7")],
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
    ],
)
def test_mistakes_are_told_with_their_place(text, place, words):
    with pytest.raises(InputError) as caught:
        loads(text, "x")
    assert str(caught.value.position) == place
    assert words in str(caught.value)


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


_plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text("abcdef", min_size=1), _plain))
def test_what_pyyaml_writes_is_read_back(data):
    text = yaml.safe_dump(data, allow_unicode=True)
    assert loads(text, "x").data == (data or {})


def test_the_nearest_word_is_offered():
    assert nearest("iodpeth", ["iodepth", "bs"]) == ", did you mean 'iodepth'?"
    assert nearest("zzz", ["iodepth", "bs"]) == ""
