"""JUnit files: valid, and with what GitLab and Jenkins show of a test in the fields that they show."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from places import DATA

SUITE = """\
defaults: {engine: fake, gate: {read.iops: 20%}}
workloads:
  good: {value: 1000, description: "<&>", gate: {read.iops: 70%}}
  bad: {value: 1000}
  wrong: {value: 1000, says: no figure}
  point: {matrix: {value: [1000], size: ["1M"]}}
"""


@pytest.fixture
def cases(project):
    """The tests of a run in which some passed, one regressed, one is invalid and one has no baseline."""
    project.suite(SUITE)
    project.run("suites")
    project.suite(SUITE + "  new: {}\n")
    project.conftest(
        "import pytest\ndef pytest_collection_modifyitems(items):\n"
        "    [item.add_marker(pytest.mark.skip('not today')) for item in items if item.name == 'new']\n"
    )
    project.run("suites", "--junitxml=junit.xml", factor=0.5)
    return project.path / "junit.xml"


def _properties(path):
    return ElementTree.parse(path).getroot().iterfind("testsuite/properties/property")


def named(path):
    return {case.get("name"): case for case in ElementTree.parse(path).getroot().iter("testcase")}


def test_a_run_of_all_outcomes_is_a_valid_file_that_says_what_is_shown(cases):
    xmlschema = pytest.importorskip("xmlschema")
    xmlschema.XMLSchema(DATA / "junit" / "junit.xsd").validate(cases)

    found = named(cases)
    assert {case.get("classname") for case in found.values()} == {"suites.demo.yaml"}  # GitLab: the suite
    failure = found["bad"].find("failure")
    assert failure.get("message").startswith("Failed: regressed: read.iops")  # Jenkins: error message
    assert "suites/demo.yaml:4: bad" in failure.text and "raw output:" in failure.text  # GitLab: output
    assert "no figure" in found["wrong"].find("error").text
    assert found["new"].find("skipped").get("message") == "not today"
    assert not list(found["good"].iter("failure")) and "point[value=1000,size=1M]" in found

    (attachment,) = re.findall(r"\[\[ATTACHMENT\|(.*/stdout)\]\]", found["bad"].find("system-out").text)
    assert float(Path(attachment).read_text()) == pytest.approx(500, rel=0.02)
    assert found["good"].find("system-out") is None

    whole = {item.get("name"): item.get("value") for item in _properties(cases)}
    assert whole["device"] == "local" and whole["session"] and whole["kernel"]
    known = {item.get("name"): item.get("value") for item in found["bad"].iter("property")}
    assert known["verdict"] == "regressed" and float(known["read.iops.tolerance"]) == 0.2
    assert float(known["read.iops.baseline"]) == pytest.approx(1000, rel=0.01)
    assert float(known["read.iops.change"]) == pytest.approx(-0.5, abs=0.01)
    low, _, high = known["read.iops.interval"].partition(" .. ")
    assert float(low) < -0.5 < float(high) < -0.2
    assert known["finding"].startswith("suspect short_run: ")


def test_gitlab_finds_attachments_below_the_projects_folder(project, monkeypatch):
    project.suite("workloads:\n  alpha: {engine: fake}\n")
    project.run("suites")
    monkeypatch.setenv("CI_PROJECT_DIR", str(project.path))
    project.run("suites", "--junitxml=junit.xml", factor=0.5)
    text = named(project.path / "junit.xml")["alpha"].find("system-out").text
    assert text.startswith("[[ATTACHMENT|.iogate/results/")
