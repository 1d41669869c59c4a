"""What pydantic finds wrong with a value, in the words of those who write YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_LONGEST = 80
_MAPPING = "must be a mapping of keys to values"
_LIST = "must be a list, as in [a, b]"
_TEXT = "must be text"
_WHOLE = "must be a whole number"
_NUMBER = "must be a number"
_TRUTH = "must be true or false"
_WORDS: Mapping[str, str] = {
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dataclass_type": _MAPPING,
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "string_type": _TEXT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "must be a number of fewer digits",
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
}


def problem_text(kind: str, message: str, value: Any, context: Mapping[str, Any]) -> str:
    """Return what is wrong with a value: pydantic's `kind` of error, its own `message` and `context`."""
    if kind == "value_error":
        return _lower(message.removeprefix("Value error, "))
    if kind == "literal_error":
        expected = str(context["expected"]).replace("True", "true").replace("False", "false")
        return f"must be {expected}, not {value_text(value)}"
    if kind == "too_short":
        least = int(context["min_length"])
        return "must not be empty" if least == 1 else f"must have at least {least} of them"
    if kind == "too_long":
        return f"must have at most {context['max_length']} of them"
    if kind not in _WORDS:
        return f"{_lower(message)}, not {value_text(value)}"
    quotes = ": put it in quotes" if kind == "string_type" and isinstance(value, (bool, int, float)) else ""
    return f"{_WORDS[kind].format(**context)}, not {value_text(value)}{quotes}"


def value_text(value: Any) -> str:
    """Return a value as it stands in YAML, short enough for a sentence."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `, did you mean X?` for the known word nearest to a mistyped one, or an empty string."""
    import difflib

    cutoff = 0.6 if len(word) > 2 else 0.5  # of two letters one may be wrong
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f", did you mean {matches[0]!r}?" if matches else ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
