"""What comes from another machine is read by its type, or refused."""

import pytest

from iogate.errors import InputError, InputErrors, IogateError, TargetError
from iogate.measure.settings import Settings
from iogate.model import Environment, Finding, Repetition
from iogate.remote.wire import packed, unpacked


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (int, '"4"'),
        (int, "true"),
        (int, "4.0"),
        (str, "4"),
        (type(None), "0"),
        (tuple[int, str], "[1]"),
        (tuple[int, ...], "3"),
        (list[int], '{"a": 1}'),
        (dict[str, int], "[]"),
        (Finding, '{"check": "a", "severity": "fatal", "message": ""}'),
        (Finding, '{"check": "a", "severity": "note"}'),
        (Finding, '{"check": "a", "severity": "note", "message": "", "more": 1}'),
        (Repetition, '{"output": [], "seconds": 1, "folder": "a"}'),
        (Environment, '{"identity": {"a": 1}}'),
        (IogateError, '{"kind": "KeyboardInterrupt"}'),
        (IogateError, '{"kind": "OptionError", "path": 3}'),
        (TargetError, '{"kind": "InputError", "message": "a"}'),
        (IogateError, "[]"),
        (Settings, "not JSON"),
    ],
)
def test_what_is_not_of_its_type_is_refused(kind, text):
    with pytest.raises(ValueError):
        unpacked(kind, text)


def test_figures_that_are_none_arrive_too():
    arrived = unpacked(list[float], packed([float("inf"), float("nan")]))
    assert arrived[0] == float("inf")
    assert arrived[1] != arrived[1]


def test_an_error_of_another_module_arrives_as_what_it_is_a_kind_of():
    class Special(TargetError):
        pass

    arrived = unpacked(IogateError, packed(Special("no", rule="space")))
    assert type(arrived) is TargetError
    assert arrived.rule == "space"


def test_several_mistakes_arrive_as_one():
    arrived = unpacked(IogateError, packed(InputErrors([InputError("a"), InputError("b")])))
    assert (type(arrived), arrived.message) == (InputError, "a\nb")


def test_no_line_of_what_comes_from_elsewhere_steers_a_ci_job():
    told = "a\n::error::b"
    facts = unpacked(Environment, packed(Environment({told: told})), foreign=True)
    assert facts.identity == {"a?::error::b": "a\n?:error::b"}
    assert unpacked(IogateError, packed(InputError(told)), foreign=True).message == "a\n?:error::b"


def test_names_that_are_no_text_arrive():
    assert unpacked(str, packed("\udcff")) == "\udcff"
