"""The structure of the package: which way imports go, and names that stand for one thing."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import iogate

PACKAGE = Path(iogate.__file__).parent
PROJECT = PACKAGE.parent.parent


def test_imports_go_downwards_and_never_in_a_circle():
    lint = Path(sys.executable).with_name("lint-imports")
    argv = [lint, "--no-cache"]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
