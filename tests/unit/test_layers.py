"""Layers import downwards only, and only the topmost knows pytest."""

import ast
from pathlib import Path

import pytest

import iogate

LAYERS = [
    {"errors", "units"},
    {"model", "yamlio", "schema", "process", "interrupts", "files", "fiemap", "meter", "native"},
    {
        "workload",
        "suite",
        "device",
        "baseline",
        "environment",
        "target",
        "mounts",
        "wear",
        "audit",
        "gate",
        "judge",
        "settings",
        "steady",
        "published",
        "engines",
        "outputs",
    },
    {"bench", "course", "session", "results", "plan", "schemas"},
    {"report", "show", "compare", "importing"},
    {"options", "run", "collect", "fixtures", "walltime", "plugin", "cli"},
]
PACKAGE = Path(iogate.__file__).parent


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _part(path: Path) -> str:
    """The module or subpackage of iogate that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _level(part: str) -> int:
    found = [index for index, layer in enumerate(LAYERS) if part in layer]
    assert found, f"{part} is in no layer: give it one in this test"
    return found[0]


def _imports(path: Path) -> set[str]:
    """Everything that a file imports, except for type checkers only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_downwards_only(path):
    part = _part(path)
    if part == "__init__":
        return
    level = _level(part)
    for name in _imports(path):
        root, _, rest = name.partition(".")
        other = rest.partition(".")[0]
        if root == "iogate" and ((PACKAGE / other).is_dir() or (PACKAGE / f"{other}.py").is_file()) and other:
            assert other == part or _level(other) <= level, f"{part} imports {name}"
        if root in ("pytest", "_pytest"):
            assert level == len(LAYERS) - 1, f"{part} imports {name}"
