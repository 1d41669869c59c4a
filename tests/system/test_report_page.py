"""The report in a real browser: what it shows, at which width, and that nothing in it can do harm."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.resources import files
from random import Random

import pytest

import kept_sessions
from browser import Browser, need_browser
from iogate.model import Finding
from iogate.report.history import collect, series
from iogate.report.html.page import page
from iogate.report.results import Results
from kept_sessions import keep, record, repetitions
from made_sessions import mixed, session
from places import DATA

pytestmark = pytest.mark.system

REAL = sorted((DATA / "results").glob("session_*.json"))
WIDTHS = (390, 1440)
HOSTILE = (
    "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">{{7*7}}@value"
)


@pytest.fixture(scope="module")
def browser():
    need_browser()
    with Browser() as browser:
        yield browser


@pytest.fixture
def show(browser, tmp_path):
    """Open the page of sessions."""

    def show(*sessions: Results, width: int = 1440, dark: bool = False, place: str = "") -> Browser:
        file = tmp_path / "report.html"
        file.write_text(page(sessions), encoding="utf-8")
        browser.look(width, dark=dark)
        browser.open(file, place)
        return browser

    return show


def unfold_all(browser: Browser) -> None:
    """Unfold every workload and every table, and draw every plot."""
    browser.run(
        "document.querySelectorAll('.fold[aria-expanded=false]').forEach((fold) => fold.click());"
        "document.querySelectorAll('details').forEach((details) => { details.open = true; });"
        "dispatchEvent(new Event('beforeprint'));"
    )
    browser.settle()


# ------------------------------------------------------------ real sessions


@pytest.mark.parametrize("width", WIDTHS)
def test_real_sessions_are_shown_without_a_word_on_the_console(show, width):
    browser = show(*map(Results.read, REAL), width=width)
    browser.run(
        "document.querySelectorAll('.session').forEach((one) => one.querySelector('.fold').click());"
        "document.querySelectorAll('details').forEach((details) => { details.open = true; });"
        "dispatchEvent(new Event('beforeprint'));"
    )
    browser.settle()
    assert browser.console == []
    assert browser.run("return document.querySelectorAll('.session').length") == len(REAL)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    figures = browser.run(
        "return [...document.querySelectorAll('figure')].map((one) => ({"
        " title: one.querySelector('figcaption').textContent,"
        " text: [...one.querySelectorAll('svg text')].map((text) => text.textContent).join(' ').trim(),"
        " canvas: one.querySelectorAll('canvas').length,"
        " right: one.querySelector('svg').getBoundingClientRect().right,"
        " rows: one.querySelector('table').tBodies[0].rows.length }))"
    )
    assert len(figures) > 2 * len(REAL)
    for figure in figures:
        assert figure["text"] and not figure["canvas"], figure
        assert figure["rows"] and figure["right"] <= width + 1, figure


@pytest.mark.parametrize("width", (390, 1000, 1100, 1220))
def test_a_wide_interval_scrolls_no_page_sideways(show, width):
    workload = mixed("mixed", Random(1))
    gating = replace(
        workload.metrics["write.iops"], change=-0.398, interval=(-0.4812, -0.0161), tolerance=0.123
    )
    wide = replace(workload, verdict="inconclusive", metrics={"write.clat.p99.99": gating})
    browser = show(session(wide), width=width)
    assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1440, False)], ids=["dark", "light"])
def test_axe_finds_nothing_serious(show, width, dark):
    browser = show(Results.read(DATA / "results" / "session_quick.json"), several(), width=width, dark=dark)
    browser.unfold()
    browser.run((files("axe_core_python") / "axe.min.js").read_text())
    found = browser.wait(
        "const what = { include: [['html']], exclude: [['.plot svg']] };"  # which is one picture: role=img
        "const { violations } = await axe.run(what, { resultTypes: ['violations'] });"
        "return violations.map(({ id, impact, help, nodes }) => ["
        " impact, id, help, nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))]);"
    )
    assert not [item for item in found if item[0] in ("serious", "critical")], found


# ------------------------------------------------------------ the plots' figures


def marks(browser: Browser, title: str) -> list[tuple[float, float]]:
    """The points of a plot as they are drawn, in the figures of its axes."""
    drawn = browser.wait(
        "const place = [...document.querySelectorAll('figure')].find("
        "  (one) => one.querySelector('figcaption').textContent === given[0]).querySelector('.plot');"
        "const views = await Promise.all(window.drawing);"
        "const { view } = views.find(({ view }) => place.contains(view.container()));"
        "const points = [...place.querySelectorAll('.mark-symbol.role-mark path')];"
        "return points.map((point) => {"
        "  const [x, y] = point.getAttribute('transform').match(/-?[\\d.]+/g).map(Number);"
        "  const across = view.scale('x').invert(x);"
        "  return [typeof across === 'number' ? across : x, view.scale('y').invert(y)]; });",
        title,
    )
    assert isinstance(drawn, list), drawn
    return [(float(x), float(y)) for x, y in drawn]


def table(browser: Browser, title: str) -> list[list[str]]:
    """The table of a plot."""
    rows: list[list[str]] = browser.run(
        "const figure = [...document.querySelectorAll('figure')].find("
        "  (one) => one.querySelector('figcaption').textContent === arguments[0]);"
        "return [...figure.querySelector('table').tBodies[0].rows].map("
        "  (row) => [...row.cells].map((cell) => cell.textContent))",
        title,
    )
    return rows


def same(found, expected, rel=2e-3):
    assert sorted(found) == pytest.approx(sorted(expected), rel=rel)


def test_plots_show_the_numbers_of_the_document(show):
    workload = mixed("one", Random(3))
    browser = show(session(workload))
    browser.unfold()
    item = workload.metrics["read.iops"]
    figures = [value / 1000 for values in (*item.sessions.values(), item.values) for value in values]
    title = "read.iops: repetitions by session"
    same([y for _, y in marks(browser, title)], figures)
    same([float(row[2]) for row in table(browser, title)], figures, rel=1e-4)

    seconds = [value / 2**20 for one in workload.measured for value in one.series]
    title = "Bandwidth of the target over time"
    same([y for _, y in marks(browser, title)], seconds)
    same([float(row[2]) for row in table(browser, title)], seconds, rel=1e-4)

    known = {name: item for name, item in workload.metrics.items() if name.startswith("read.clat.p")}
    rows = table(browser, "read.clat: latency by percentile")
    for own, side in (("this session", "value"), ("baseline", "baseline")):
        shown = {row[1]: float(row[3]) for row in rows if row[0] == own}
        assert len(shown) >= 10
        for percentile, value in shown.items():
            assert value == pytest.approx(getattr(known[f"read.clat.{percentile}"], side) / 1e6, rel=1e-4)
    drawn = marks(browser, "read.clat: latency by percentile")
    same([10**-x for x, _ in drawn], [1 - float(row[1][1:]) / 100 for row in rows], rel=1e-2)


def test_a_real_pair_shows_each_block_and_slice(show):
    results = Results.read(DATA / "results" / "session_pair.json")
    (workload,) = results.workloads
    browser = show(results)
    browser.unfold()
    ratios = [
        one.metrics["read.iops"] / one.base.metrics["read.iops"] * 100 - 100 for one in workload.measured
    ]
    title = "read.iops: B against A, block by block"
    drawn = [y for _, y in marks(browser, title)]
    assert sorted(drawn) == pytest.approx(sorted(ratios), abs=0.05)
    assert {row[1] for row in table(browser, title)} == {"as they were", "changed"}
    slices = [
        (one.read + one.written) / one.seconds / 2**20 for run in workload.measured for one in run.slices
    ]
    same([y for _, y in marks(browser, "Bandwidth of each slice, A and B by turns")], slices, rel=1e-2)


def test_real_scaling_and_memory_show_their_curves(show):
    browser = show(Results.read(DATA / "results" / "session_scaling.json"))
    browser.unfold()
    rows = table(browser, "Speed-up against the ideal")
    ideal = {int(row[1]): float(row[2]) for row in rows if row[0] == "ideal"}
    assert ideal == {1: 1.0, 2: 2.0, 4: 4.0, 8: 8.0}
    assert {row[0] for row in rows} >= {"this session", "ideal"}

    results = Results.read(DATA / "results" / "session_memory.json")
    browser = show(results)
    unfold_all(browser)
    workload = next(item for item in results.workloads if "bandwidth.peak" in item.metrics)
    rows = table(browser, "Latency of memory under load")
    assert len(rows) == sum(name.startswith("bandwidth.delay_") for name in workload.metrics)
    assert max(float(row[2]) for row in rows) > 0


def test_a_real_sweep_shows_knees_and_heat_maps(show):
    results = Results.read(DATA / "results" / "session_sweep.json")
    browser = show(results)
    unfold_all(browser)
    titles = browser.run(
        "return [...document.querySelectorAll('.sweep figcaption')].map((one) => one.textContent)"
    )
    assert "read: latency against bandwidth, along iodepth" in titles
    assert {"read: k IOPS by bs", "read: k IOPS by bs and iodepth"} <= set(titles)
    rows = table(browser, "read: latency against bandwidth, along iodepth")
    knees = {row[0] for row in rows if row[4] == "knee"}
    assert knees == {row[0] for row in rows}  # one of each line
    best: dict[str, float] = {}
    for line, _, x, y, _ in rows:
        best[line] = max(best.get(line, 0.0), float(x) / float(y))
    for line, _, x, y, knee in rows:
        assert bool(knee) == math.isclose(float(x) / float(y), best[line], rel_tol=1e-9)


def test_a_metric_over_many_sessions_shows_its_levels(browser, tmp_path):
    levels = [12000.0] * 10 + [11000.0] * 10
    kept = [
        keep(tmp_path, kept_sessions.session(number, record(repetitions(1, number, level))))
        for number, level in enumerate(levels)
    ]
    histories, left_out = series(collect(kept))
    file = tmp_path / "report.html"
    file.write_text(page([Results.read(kept[-1])], histories, left_out), encoding="utf-8")
    browser.look(390)
    browser.open(file)
    unfold_all(browser)
    assert browser.console == []
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    drawn = [y * 1000 for _, y in marks(browser, "read.iops by session")]
    same(drawn, [point.value for point in histories[0].points], rel=1e-3)
    assert browser.run("return document.querySelectorAll('#history figure .mark-rule line').length") >= 3


# ------------------------------------------------------------ finding one's way


def shown(browser: Browser) -> list[str]:
    names: list[str] = browser.run(
        "return [...document.querySelectorAll('.workloads > tbody')].filter((one) => !one.hidden)"
        ".map((one) => one.dataset.name)"
    )
    return names


def several() -> Results:
    names = ("alpha", "beta", "gamma")
    workloads = [mixed(name, Random(number)) for number, name in enumerate(names)]
    verdicts = ("pass", "regressed", "drift")
    return session(
        *(
            replace(item, verdict=verdict, device_seconds=seconds)
            for item, verdict, seconds in zip(workloads, verdicts, (1.0, 2.0, 3.0), strict=True)
        )
    )


def test_workloads_are_filtered_and_sorted(show):
    browser = show(several())
    assert shown(browser) == ["beta", "gamma", "alpha"]  # the worst first
    change = (
        "const field = document.querySelector('.tools').elements[arguments[0]];"
        "field.value = arguments[1]; field.dispatchEvent(new Event(arguments[2]));"
    )
    browser.run(change, "sort", "seconds", "change")
    assert shown(browser) == ["gamma", "beta", "alpha"]
    browser.run(change, "words", "ALPHA acc", "input")
    assert shown(browser) == ["alpha"]
    assert browser.run("return document.querySelector('output').value") == "1 of 3 shown"
    browser.run(change, "words", "", "input")
    browser.run(change, "verdict", "regressed", "change")
    assert shown(browser) == ["beta"]


def test_a_link_leads_to_its_workload_even_where_it_was_filtered_out(show):
    browser = show(several(), place="#w-acceptance-alpha")
    expanded = "return document.querySelector('#w-acceptance-alpha .fold').getAttribute('aria-expanded')"
    assert browser.run(expanded) == "true"
    browser.run(
        "const field = document.querySelector('.tools').elements.words;"
        "field.value = 'beta'; field.dispatchEvent(new Event('input'));"
        "location.hash = '#w-acceptance-gamma';"
    )
    browser.wait("await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame);")
    assert len(shown(browser)) == 3
    assert browser.run("return !!document.querySelector('#w-acceptance-gamma tr.unfolded')")


def test_the_keyboard_unfolds_a_workload(show):
    from selenium.webdriver.common.keys import Keys

    browser = show(several())
    fold = browser.driver.find_element("css selector", ".fold")
    fold.send_keys(Keys.ENTER)
    assert fold.get_attribute("aria-expanded") == "true"
    browser.settle()
    fold.send_keys(Keys.SPACE)
    assert fold.get_attribute("aria-expanded") == "false"


def test_a_page_prints_what_is_unfolded_on_white(show):
    browser = show(several(), dark=True)
    browser.unfold()
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    paper = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    assert browser.run("return getComputedStyle(document.querySelector('.tools')).display") == "none"
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {})
    assert len(printed["data"]) > 20_000
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


# ------------------------------------------------------------ what suites say


def test_names_that_are_code_do_nothing(show):
    item = mixed("one", Random(1))
    metrics = dict(item.metrics)
    metrics[f"read.iops{HOSTILE}"] = replace(metrics.pop("read.iops"), sessions={HOSTILE: (1.0, 2.0)})
    hostile = replace(
        item,
        id=f"x::{HOSTILE}",
        workload=f"{HOSTILE}[bs=1,iodepth={HOSTILE}]",
        suite=f"{HOSTILE}/s",
        description=HOSTILE,
        reason=HOSTILE,
        metrics=metrics,
        measured=(),
        repetitions=0,
        findings=(Finding(HOSTILE, "invalid", HOSTILE, HOSTILE, HOSTILE),),
        differences=(HOSTILE,),
        definition={HOSTILE: {HOSTILE: [HOSTILE]}},
        command=HOSTILE,
        files={HOSTILE: HOSTILE},
        folders=(HOSTILE,),
    )
    results = replace(session(hostile), device=HOSTILE, session=HOSTILE, versions={HOSTILE: HOSTILE})
    browser = show(results)
    unfold_all(browser)
    assert browser.console == []
    assert browser.run("return document.title") != "hit"
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert browser.run("return document.scripts.length") == 3
    assert HOSTILE in browser.run("return document.querySelector('.inside').textContent")


def test_the_page_may_not_reach_the_network(show):
    browser = show(several())
    assert browser.run("return performance.getEntriesByType('resource').map((one) => one.name)") == []
    refused = browser.wait(
        "try { await fetch('data:text/plain,x'); return ''; } catch (error) { return `${error}`; }"
    )
    assert "TypeError" in refused
    assert any("Content Security Policy" in line for line in browser.console)


def test_a_session_that_broke_off_says_so(show):
    whole = several()
    browser = show(session(*whole.workloads, open=("suites/acceptance.yaml::delta",)))
    assert "This session was broken off: 1 of 4 workloads is not decided" in browser.run(
        "return document.querySelector('.broken').textContent"
    )


def test_an_older_document_is_shown_as_far_as_it_goes(show):
    browser = show(Results.read(DATA / "results" / "results_before_repetitions.json"))
    unfold_all(browser)
    assert browser.console == []
