"""Shapes of the files that people write: pydantic models whose mistakes are told with file:line:column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, WithJsonSchema

from iogate.errors import InputError, InputErrors, OptionError
from iogate.formats.words import nearest, problem_text, value_text
from iogate.formats.yamlio import Document, Path_
from iogate.units import parse_duration, parse_fraction, parse_rate, parse_size, printable, size_text

KNOWN = "known keys: "
"""How the remedy of an unknown key begins, if nobody says more of it."""
MOST = 100
"""Mistakes of one file that are told."""
_RUBBISH = 1000


class Schema(BaseModel):
    """Base of all file shapes: unknown keys are errors, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _json_schema(json_type: list[str], description: str) -> WithJsonSchema:
    return WithJsonSchema({"type": json_type, "description": description})


def _quantity(parse: Callable[[Any], Any]) -> BeforeValidator:
    """Refuse what is neither text nor number before `parse` sees it."""

    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError(f"must be a number or text, not {value_text(value)}")
        return parse(value)

    return BeforeValidator(check)


Size = Annotated[
    str,
    _quantity(lambda value: size_text(parse_size(value))),
    _json_schema(["string", "integer"], "a size as fio writes it: 4k = 4096, 16G = 16 GiB"),
]
Duration = Annotated[
    float, _quantity(parse_duration), _json_schema(["string", "number"], "seconds, or 90s, 10m, 2h")
]
Fraction = Annotated[float, _quantity(parse_fraction), _json_schema(["string", "number"], "5% or 0.05")]
Rate = Annotated[float, _quantity(parse_rate), _json_schema(["string"], "7.88 GB/s, or 3700 MiB/s")]

SchemaType = TypeVar("SchemaType", bound=BaseModel)
Value = TypeVar("Value")


def check(shape: type[SchemaType], data: Any) -> SchemaType:
    """Return `data` in this shape. Raises InputErrors of OptionError, each with its path within `data`."""
    return _checked(shape.model_validate, shape, data)


def check_value(shape: TypeAdapter[Value], data: Any) -> Value:
    """Return `data` in the shape of any type. Raises InputErrors as `check` does."""
    return _checked(shape.validate_python, BaseModel, data)


def _checked(validate: Callable[[Any], Value], shape: type[BaseModel], data: Any) -> Value:
    try:
        return validate(data)
    except ValidationError as error:
        raise _problems(shape, error) from None
    except UnicodeEncodeError:  # of what is told of it: JSON may have such a key
        raise InputErrors([OptionError("a text has half of a character, as \\ud800", ())]) from None


def check_document(shape: type[SchemaType], document: Document) -> SchemaType:
    """Return a document in this shape. Raises InputErrors, each with file:line:column."""
    if document.data is None:
        raise InputError("the file is empty", position=document.position(()))
    try:
        return check(shape, document.data)
    except InputErrors as errors:
        raise locate(errors, document) from None


def locate(errors: InputErrors, document: Document, prefix: Path_ = ()) -> InputErrors:
    """Return the same errors with the positions that their paths, behind `prefix`, have in a document."""
    found: list[InputError] = []
    for error in errors.errors:
        if isinstance(error, OptionError) and error.position is None:
            where = document.position((*prefix, *error.path), key=error.key)
            error = OptionError(error.message, error.path, key=error.key, position=where, remedy=error.remedy)
        found.append(error)
    return InputErrors(found)


def told(error: ValidationError) -> list[Any]:
    """Return what pydantic says of the first mistakes; nothing where there are more than people make: each
    takes a kilobyte, and two bytes of a file.
    """
    return error.errors(include_url=False)[:MOST] if error.error_count() <= _RUBBISH else []


def _problems(shape: type[BaseModel], error: ValidationError) -> InputErrors:
    found, count = [_problem(shape, item) for item in told(error)], error.error_count()
    if not found:
        found = [OptionError(f"{count} mistakes: this is something else than what it should be", ())]
    elif count > len(found):
        found.append(OptionError(f"{count - len(found)} more mistakes are not shown", ()))
    return InputErrors(found)


def _problem(shape: type[BaseModel], item: Any) -> OptionError:
    path: Path_ = tuple(item["loc"])
    kind = item["type"]
    if kind == "extra_forbidden":
        known = _fields_at(shape, path[:-1])
        word = printable(str(path[-1]))
        hint = nearest(word, known)
        remedy = "" if hint or not known else KNOWN + ", ".join(sorted(known))
        return OptionError(f"unknown key {word!r}{hint}", path, key=True, remedy=remedy)
    if kind == "missing":
        return OptionError(f"{path[-1]!r} is missing", path[:-1])
    name = next((part for part in reversed(path) if isinstance(part, str)), "the file")
    message = problem_text(kind, item["msg"], item.get("input"), item.get("ctx", {}))
    return OptionError(printable(f"{name}: {message}"), path)


def _fields_at(shape: type[BaseModel], path: Path_) -> list[str]:
    """Return the keys known at `path`; empty where the shape there is not a single model."""
    current: Any = shape
    for part in path:
        field = getattr(current, "model_fields", {}).get(part)
        current = _model_in(field.annotation) if field else current
    return [field.alias or name for name, field in getattr(current, "model_fields", {}).items()]


def _model_in(annotation: Any) -> Any:
    """Return the model that an annotation such as `dict[str, Model] | None` holds, or None."""
    parts = getattr(annotation, "__args__", ())
    if not parts and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation  # to Python 3.10 `dict[str, Model]` is a type, too, and no class
    found = [_model_in(part) for part in parts]
    return next((model for model in found if model), None)
