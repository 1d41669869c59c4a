"""docs/audit.md: every check is there, says what is true of its code, and can be waived."""

import ast
import inspect
import re
import runpy

import pytest

from iogate.audit import CHECKS, RULES
from iogate.declare.suite import load_suite
from iogate.errors import InputErrors
from iogate.offline import published
from places import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs/audit.py"))
PAGE = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
OF_REPORTS = {check.__name__: check for check in SCRIPT["OF_REPORTS"]}
SEVERITIES = {"invalid", "suspect", "note"}
EVERY = [*CHECKS.values(), *OF_REPORTS.values()]
WORKLOAD = "workloads:\n  w:\n    rw: read\n    size: 1M\n    waive:\n      {}: it is meant\n"


def functions(module):
    return {node.name: node for node in ast.parse(inspect.getsource(module)).body if hasattr(node, "name")}


def words(node):
    """The strings of a function, without its docstring."""
    body = ast.Module(node.body[1:] if ast.get_docstring(node) else node.body, [])
    return {item.value for item in ast.walk(body) if isinstance(item, ast.Constant)}


def severities(check):
    """What a check can find, by its code and that of the private functions that it calls."""
    known = functions(inspect.getmodule(check))
    found, pending = set(), {check.__name__}
    while pending:
        name = pending.pop()
        found.add(name)
        called = {item.id for item in ast.walk(known[name]) if isinstance(item, ast.Name)}
        pending |= {other for other in called if other in known and other.startswith("_")} - found
    return SEVERITIES & set.union(*(words(known[name]) for name in found))


def test_the_page_is_what_the_checks_say():
    assert SCRIPT["page"]() == PAGE, "make it anew: python docs/audit.py"


@pytest.mark.parametrize("check", EVERY, ids=lambda check: f"{check.__module__}.{check.__name__}")
def test_a_check_tells_each_severity_that_it_may_find_and_no_other(check):
    told = set(re.findall(r"`(\w+)`", SCRIPT["paragraphs"](check)[1])) & SEVERITIES
    assert told == severities(check)


def test_a_check_without_one_of_the_three_paragraphs_is_refused():
    def silent(evidence):
        """Find something."""

    with pytest.raises(ValueError, match="silent needs three paragraphs"):
        SCRIPT["paragraphs"](silent)


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.__name__)
def test_every_check_of_a_module_is_asked(rules):
    public = {name for name, node in functions(rules).items() if not name.startswith("_")}
    assert public == {check.__name__ for check in rules.CHECKS}


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_of_measurements_can_be_waived(tmp_path, name):
    path = tmp_path / "suite.yaml"
    path.write_text(WORKLOAD.format(name))
    (workload,) = load_suite(path).workloads
    assert workload.waive == {name: "it is meant"}


def test_what_is_no_check_cannot_be_waived(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(WORKLOAD.format("page_cash"))
    with pytest.raises(InputErrors, match=r"unknown check 'page_cash'.*page_cache"):
        load_suite(path)


def test_the_suite_on_the_page_is_one(tmp_path):
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "suite.yaml"
    path.write_text(example)
    (workload,) = load_suite(path).workloads
    assert set(workload.waive) <= set(CHECKS)


def test_every_name_that_the_audit_of_a_report_prints_is_on_the_page():
    printed = set()
    for name in ("rows", "latencies", "across", "clocks", "outputs"):
        for node in ast.walk(ast.parse(inspect.getsource(getattr(published, name)))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("finding_of", "FigureFinding"):
                printed |= {item.value for item in node.args[1:2] if isinstance(item, ast.Constant)}
    assert len(printed) > 10 and printed <= set(OF_REPORTS)


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/*.md")), ids=lambda path: path.name)
def test_every_finding_that_the_documents_show_is_of_a_check(path):
    shown = re.findall(r"^(?:invalid|suspect|note) +(\w+): ", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(shown) <= {*CHECKS, *OF_REPORTS}
