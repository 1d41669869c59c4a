"""The properties of a workload, and the fragment of HTML that other pages show."""

from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from iogate.model import Finding
from iogate.report.fragment import fragment
from iogate.report.junit import properties
from sessions import REGRESSED, workload

TEXTS = st.text(max_size=12) | st.sampled_from(["<script>", "&amp;", '"', "\x1b[2J", "</td>", "\x00"])


def test_the_properties_say_all_that_the_gate_does():
    known = dict(properties(workload(differences=("kernel: 6.1 -> 6.2",))))
    assert known["verdict"] == "regressed" and known["reason"] == "read.iops is slower"
    assert known["read.iops"] == 905.0 and known["read.iops.unit"] == "IOPS"
    assert known["read.iops.baseline"] == 1000.0 and known["read.iops.bound"] == 950.0
    assert known["read.iops.change"] == -0.095 and known["read.iops.tolerance"] == 0.05
    assert known["read.iops.interval"] == "-0.10000 .. -0.09000"
    assert known["finding"] == "note cached: buffered I/O" and known["changed"] == "kernel: 6.1 -> 6.2"
    assert known["read.clat.p99"] == 3e6 and "read.clat.p99.change" not in known
    assert known["repetitions"] == 3 and known["device_seconds"] == 3.5


def test_each_finding_is_a_property_and_a_waived_one_says_so():
    found = (Finding("a", "note", "one"), Finding("b", "suspect", "two", waived="known"))
    texts = [value for key, value in properties(workload(findings=found)) if key == "finding"]
    assert texts == ["note a: one", "suspect b: two (waived: known)"]


def test_a_figure_that_is_not_finite_is_no_number():
    none = replace(REGRESSED, value=None)
    assert dict(properties(workload(metrics={"read.iops": none})))["read.iops"] == "not finite"


def test_a_fragment_has_verdict_figures_and_findings():
    html = fragment(workload(description="what it is for"))
    for text in ("what it is for", "regressed: read.iops is slower", "<td>905.0 IOPS</td>", "<td>5.0%</td>"):
        assert text in html
    assert "<td>-9.5% [-10.0%, -9.0%]</td>" in html and "<li>note cached: buffered I/O</li>" in html
    assert "read.clat.p99" not in html


def test_a_workload_without_figures_has_no_table():
    html = fragment(workload(metrics={}, findings=(), verdict="invalid", reason="page cache"))
    assert html == "<p>invalid: page cache</p>"


class Tags(HTMLParser):
    """The tags of a text."""

    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.add(tag)
        assert not attributes


@given(TEXTS, TEXTS, TEXTS)
def test_no_text_becomes_markup(description, reason, message):
    item = workload(description=description, reason=reason, findings=(Finding(message, "note", message),))
    html = fragment(item)
    assert Tags(html).found <= {"p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert "\x1b" not in html and "\x00" not in html
    assert all("\x1b" not in str(value) and "\x00" not in str(value) for _, value in properties(item))
