"""YAML that remembers where everything stands.

The data are plain mappings, lists and scalars; `marks` gives the line and column of each by its path.
Scalars follow YAML 1.2's core schema, because YAML 1.1 reads a ratio such as `75:25` as the sexagesimal
number 4525 and `on` as a truth. A duplicate key, a tag, a document of more than one part or an explosion by
aliases is an error. What is written here is read back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, TypeAlias

import yaml

from iogate.errors import InputError, Position
from iogate.formats.reading import read_at_once
from iogate.units import printable

_MAXIMUM_NODES = 400_000
_MAXIMUM_BYTES = 16 * 2**20
_MAXIMUM_DEPTH = 40
_MAXIMUM_REPEATED = 4 * 2**20  # characters that aliases repeat
_SHALLOW = 4000  # levels that PyYAML stands: before 6.0.4 it overflows the stack beyond 20,000
_TOO_MUCH = (
    f"too much: more than {_MAXIMUM_NODES:,} values, nested too deep, or repeated by aliases beyond reason"
)
_INTEGER = re.compile(r"[-+]?[0-9]{1,39}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: Mapping[str, Any] = {"": None, "~": None} | {
    spelling: value
    for word, value in {"null": None, "true": True, "false": False}.items()
    for spelling in (word, word.title(), word.upper())
}
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_HIDING = re.compile("[\x85\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
"""What seems to be part of a comment, and ends its line for PyYAML, by YAML 1.1; and what makes text stand in
another order than it is read in. A reviewer would see something else than what is meant.
"""
_TEXT = "tag:yaml.org,2002:str"
# What PyYAML's YAML 1.1 takes plain scalars for (= is its `value`, << its `merge`), and the containers.
_TAGS = {_TEXT} | {
    f"tag:yaml.org,2002:{name}"
    for name in ("int", "float", "bool", "null", "timestamp", "value", "merge", "map", "seq")
}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Path_: TypeAlias = "tuple[str | int, ...]"
"""The keys and indexes that lead to a value."""


@dataclass(frozen=True)
class Document:
    """A YAML document: its `data`, and where the `keys` and the `values` of each path stand."""

    file: str
    data: Any
    keys: Mapping[Path_, Position] = field(repr=False)
    values: Mapping[Path_, Position] = field(repr=False)

    def position(self, path: Path_, *, key: bool = False) -> Position:
        """Return where the value at `path` (or its key) stands, or the nearest thing around it that the file
        has.
        """
        if key and path in self.keys:
            return self.keys[path]
        for length in range(len(path), -1, -1):
            mark = self.values.get(path[:length])
            if mark:
                return mark
        return Position(self.file)


def load(path: Path, name: str | None = None) -> Document:
    """Read a YAML file; `name` is what messages call it. Raises InputError with file:line:column."""
    name = name or str(path)
    return loads(text_of(path, name), name)


def text_of(path: Path, name: str) -> str:
    """Return what is in a YAML file, which messages call `name`. Raises InputError."""
    try:
        status = path.stat()
        if not (S_ISREG(status.st_mode) or S_ISDIR(status.st_mode)):
            raise InputError(f"cannot read {name}: it is no plain file")  # a pipe would be waited for
        if status.st_size > _MAXIMUM_BYTES:
            raise InputError(f"{name} is larger than {_MAXIMUM_BYTES >> 20} MiB")
        return read_at_once(path).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error.reason}", position=Position(name)) from error


def loads(text: str, name: str) -> Document:
    """Read YAML text. Raises InputError with file:line:column."""
    if len(text) > _MAXIMUM_BYTES:
        raise InputError(f"{name} is larger than {_MAXIMUM_BYTES >> 20} MiB")
    _refuse_hiding(text, name)
    try:
        _check_extent(text, name)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        if unfinished := _CONFLICT.search(text):
            raise InputError(
                "a merge that git could not finish was left here (<<<<<<<)",
                position=Position(name, text.count("\n", 0, unfinished.start()) + 1, 1),
                remedy="finish it, or git merge --abort; `iogate baseline merge` makes one of two baselines, "
                "and says in its --help how git calls it",
            ) from None
        mark = error.problem_mark or error.context_mark
        position = Position(name, mark.line + 1, mark.column + 1) if mark else Position(name)
        problem = printable(error.problem or error.context or "not YAML")
        raise InputError(f"malformed YAML: {problem}", position=position) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"malformed YAML: {printable(str(error))}", position=Position(name)) from error
    if node is None:
        return Document(name, None, {}, {})
    reader = _NodeReader(name, len(text) + _MAXIMUM_REPEATED)
    data = reader.value(node, ())
    return Document(name, data, reader.keys, reader.values)


def _refuse_hiding(text: str, name: str) -> None:
    """Raise InputError for characters by which a file says something else than it shows."""
    found = _HIDING.search(text)
    if not found:
        return
    before = text[: found.start()]
    position = Position(name, before.count("\n") + 1, found.start() - before.rfind("\n"))
    raise InputError(
        f"the character U+{ord(found[0]):04X} hides what a line says: it ends it, or turns its order, unseen",
        position=position,
        remedy='remove it, or write it as an escape in double quotes ("\\u2028")',
    )


def _check_extent(text: str, name: str) -> None:
    """Raise InputError for what has too many nodes, each of which takes half a kilobyte once it is composed,
    or is nested so deep that to compose it would crash. Each node takes a character, each level a bracket or
    a column of a line; where these are few, there is nothing to look for.
    """
    columns = max(map(len, text.splitlines()), default=0)
    if len(text) < _MAXIMUM_NODES and text.count("[") + text.count("{") + columns < _SHALLOW:
        return
    depth = nodes = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        nodes += isinstance(event, yaml.NodeEvent)
        if depth > _SHALLOW or nodes > 2 * _MAXIMUM_NODES:  # keys are events, and no nodes of their own
            mark = event.start_mark
            place = Position(name, mark.line + 1, mark.column + 1) if mark else Position(name)
            raise InputError(_TOO_MUCH, position=place)


class _NodeReader:
    """Turns nodes into plain data, of so many characters at most, and notes where each stood."""

    def __init__(self, name: str, characters: int) -> None:
        self.name = name
        self.left = characters
        self.keys: dict[Path_, Position] = {}
        self.values: dict[Path_, Position] = {}
        self.nodes = 0

    def place(self, node: yaml.Node) -> Position:
        return Position(self.name, node.start_mark.line + 1, node.start_mark.column + 1)

    def value(self, node: yaml.Node, path: Path_) -> Any:
        self.nodes += 1
        self.values[path] = self.place(node)
        self.left -= len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        if self.left < 0 or self.nodes > _MAXIMUM_NODES or len(path) > _MAXIMUM_DEPTH:
            raise InputError(_TOO_MUCH, position=self.place(node))
        if node.tag not in _TAGS:
            tag = printable(node.tag)
            raise InputError(f"tags such as {tag} are not allowed", position=self.place(node))
        if isinstance(node, yaml.MappingNode):
            return {key: self.value(item, (*path, key)) for key, item in self.pairs(node, path)}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return _scalar(node)

    def pairs(self, node: yaml.MappingNode, path: Path_) -> Iterator[tuple[str, yaml.Node]]:
        seen: dict[str, Position] = {}
        for key_node, item in node.value:
            place = self.place(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                raise InputError("a key must be a word", position=place)
            if key_node.tag == "tag:yaml.org,2002:merge":
                raise InputError("merge keys (<<) are not supported: use defaults", position=place)
            key = str(key_node.value)
            if key in seen:
                first = seen[key]
                raise InputError(
                    f"{printable(key)!r} is here twice (first in line {first.line})", position=place
                )
            seen[key] = place
            self.left -= len(key)
            where = (*path, key)
            self.keys[where] = place
            yield key, item


def _scalar(node: yaml.Node) -> Any:
    """Return the value of a scalar by YAML 1.2's core schema; anything quoted is text."""
    return str(node.value) if getattr(node, "style", None) else _plain(str(node.value))


def _plain(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def dumps(data: Any) -> str:
    """Return data as YAML in a fixed style: everything on a line of its own, but a list of numbers on one.

    `loads` reads it back as it was: any text, as a value and as a key; lists and mappings; integers of up to
    39 digits and finite numbers.
    """
    text = str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**30))
    # PyYAML leaves some as they are, in the double quotes in which all that is not printable stands
    return _HIDING.sub(lambda found: f"\\u{ord(found[0]):04X}", text)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_sequence(
        self, tag: str, sequence: Any, flow_style: bool | None = None
    ) -> yaml.SequenceNode:
        values = all(isinstance(item, (int, float)) for item in sequence)
        return super().represent_sequence(tag, sequence, flow_style=values)

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Return text in quotes where it is needed.

        Line breaks and their like are escaped: folded text does not always read back. PyYAML itself quotes
        what YAML 1.1 reads as something else, which leaves 1e5 and 0912 plain: YAML 1.2 reads numbers.
        """
        if not data.isprintable():
            return self.represent_scalar(_TEXT, data, style='"')
        return self.represent_scalar(_TEXT, data, style=None if _plain(data) == data else "'")


_Dumper.add_representer(str, _Dumper.represent_str)
