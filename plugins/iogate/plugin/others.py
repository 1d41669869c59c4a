"""Plugins of others beside this one: they are told the verdict in their own words, and none changes it.

- JUnit, pytest-json-report and others read user properties.
- pytest-html shows a fragment of HTML below each test, Allure shows it as the test's description.
- pytest-randomly shuffles tests; workloads go back into the order of their suites, with `--stepwise` all.
- pytest-rerunfailures runs a test again: what is decided stays decided, as nothing is measured twice.
- pytest-testmon leaves out what passed as long as its Python code is the same: that is told.
- pytest-benchmark skips what is a benchmark, or what is none, if so asked: that is told.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from iogate.plugin.items import WorkloadItem
from iogate.plugin.python_tests import may_measure
from iogate.units import printable

if TYPE_CHECKING:
    from iogate.report.results import WorkloadRecord

_Group: TypeAlias = "Callable[[list[pytest.Item]], None]"
_MOST_GROUPINGS = 8
_SHUFFLING = (
    *("failedfirst", "newfirst"),
    *("random_order_enabled", "random_order_bucket", "random_order_seed"),  # pytest-random-order
    "reverse",  # pytest-reverse
)
_SHARING = {
    "num_shards": ("pytest-shard", "pytest_shard.pytest_shard"),
    "test-group-count": ("test-groups", "pytest_test_groups"),
    "picked": ("picked", "pytest_picked.plugin"),
}
"""Options of plugins that give a run a share, and what each of these is registered as."""
_WHOLE = ("1", "-1", "first")  # values by which it runs all of them
_RECORDS: pytest.StashKey[dict[str, WorkloadRecord]] = pytest.StashKey()


def leaves_out_unchanged(config: pytest.Config) -> bool:
    """Return whether pytest-testmon leaves out tests whose Python code is as it was when they passed."""
    return bool(getattr(getattr(config, "testmon_config", None), "select", False))


def skips_benchmarks(config: pytest.Config) -> bool:
    """Return whether pytest-benchmark skips benchmarks, which workloads are then."""
    return bool(config.getoption("benchmark_skip", False)) and not config.getoption("benchmark_only", False)


def shares(config: pytest.Config) -> bool:
    """Return whether a plugin gives this run a share of the tests, without a word to pytest: who asked for
    that knows it.
    """
    asked = (
        str(config.getoption(option, None) or 1) not in _WHOLE
        for option, names in _SHARING.items()
        if _has(config, *names)
    )
    return any(asked)


def is_skipped(item: pytest.Item) -> bool:
    """Return whether pytest-benchmark skips a test in Python: as it is a benchmark, or as it is none."""
    fixture = "benchmark" in getattr(item, "fixturenames", ())
    return skips_benchmarks(item.config) if fixture else bool(item.config.getoption("benchmark_only", False))


def tell(item: pytest.Item, record: WorkloadRecord, name: str = "") -> None:
    """Tell what was found out of a test's workload; `name` tells those of one test apart. A test that runs
    again says it once.
    """
    from iogate.report.junit import properties

    known = item.stash.setdefault(_RECORDS, {})
    if record.id in known:
        return
    known[record.id] = record
    prefix = f"{name}." if name else ""
    item.user_properties += [(prefix + key, value) for key, value in properties(record)]
    if _has(item.config, "allure_pytest", "allure_pytest.plugin"):
        _tell_allure(item, record)


def _has(config: pytest.Config, *names: str) -> bool:
    """Return whether a plugin is there, by the name of its entry point or of its module (`-p`)."""
    return any(map(config.pluginmanager.hasplugin, names))


def _fragments(item: pytest.Item) -> str:
    from iogate.report.fragment import fragment

    return "\n".join(map(fragment, records(item)))


def _tell_allure(item: pytest.Item, record: WorkloadRecord) -> None:
    """Mark a test as Allure's decorators do: else it shows the docstring of our check."""
    text = "\n\n".join(filter(None, (record.description, f"{record.verdict}: {record.reason}")))
    item.add_marker(pytest.mark.allure_description(printable(text)), append=False)
    item.add_marker(pytest.mark.allure_description_html(_fragments(item)), append=False)
    item.add_marker(pytest.mark.allure_label(record.verdict, label_type="tag"))


def records(item: pytest.Item) -> list[WorkloadRecord]:
    """Return what was told of a test's workloads."""
    return list(item.stash.get(_RECORDS, {}).values())


def add_extras(item: pytest.Item, report: pytest.TestReport) -> None:
    """Put what is known of a test's workloads below it in the page of pytest-html."""
    if not records(item) or not _has(item.config, "html", "pytest_html.plugin"):
        return
    if report.when == "call" or (report.when == "setup" and not report.passed):
        from pytest_html import extras

        shown = [*getattr(report, "extras", ()), extras.html(_fragments(item))]
        setattr(report, "extras", shown)  # noqa: B010  # pytest-html's own attribute


class MeasuringOrder:
    """Keeps the order in which is measured, as it is a part of what is measured: a device is as hot, or its
    cache as full, as what came before made it. Files that measure come in the order of their paths, and tests
    in one in that in which they stand, as pytest groups them by their fixtures, whatever the command line,
    pytest-randomly or `--ff` say.

    It is registered last, after pytest's own plugins, so that it is asked when pytest-randomly has shuffled,
    and before `--stepwise` looks, which takes all that stands before the test that failed for passed.
    `measures` tells whether a test in Python does.
    """

    def __init__(self, config: pytest.Config, measures: Callable[[pytest.Item], bool]) -> None:
        self._config = config
        self._measures = measures
        self._places: dict[object, int] = {}
        self._collected: list[pytest.Item] = []
        self._files: set[Path] = set()
        self._ranks: dict[pytest.Item, int] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Note which place each test, and each class, has in what it stands in, before anybody shuffles."""
        report = yield
        for place, child in enumerate(report.result or ()):
            self._places.setdefault(child, place)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True, specname="pytest_collection_modifyitems")
    def pytest_note_order(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        """Note in which order tests were collected, before anybody has them in another one."""
        self._collected = list(items)
        return (yield)

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Put what measures into its order, and with `--stepwise` each test into its place that
        pytest-randomly shuffled: what stands before a failure in another order may never have run. The order
        is that of all that was collected: what `-k` and others leave out changes none of it.
        """
        stepwise = self._config.getoption("stepwise", False) and any(map(may_measure, items))
        if stepwise and _has(self._config, "randomly", "pytest_randomly"):
            items.sort(key=self._place)
        self._files = {item.path for item in items if isinstance(item, WorkloadItem) or self._measures(item)}
        if not self._files or len(set(items)) < len(items):
            self._files = set()
            return  # copies, as some conftest.py makes them: pytest cannot run a test twice in a row
        group = session._fixturemanager.pytest_collection_modifyitems
        if not self._shuffled and self._is_told(items, self._collected, group):
            self._fill(items, sorted(self._known(items), key=_path))
            _settle(items, group)
        else:
            self._sort(items, group)
        self._ranks = {item: rank for rank, item in enumerate(items)}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Undo what `--ff` and `--nf` do of it, behind all others."""
        items, last = session.items, len(self._ranks)
        known = self._known(items)
        wanted = sorted(known, key=lambda item: self._ranks.get(item, last))
        if wanted == known or len(set(items)) < len(items):
            return
        group = session._fixturemanager.pytest_collection_modifyitems
        if not self._shuffled and self._is_told(items, list(self._ranks), group):
            self._fill(items, sorted(known, key=_path))
        elif not self._fill(items, wanted):
            items.sort(key=lambda item: self._ranks.get(item, last))

    def _known(self, items: Iterable[pytest.Item]) -> list[pytest.Item]:
        """Return the tests of files that measure."""
        return [item for item in items if item.path in self._files]

    def _is_told(self, items: list[pytest.Item], before: list[pytest.Item], group: _Group) -> bool:
        """Return whether somebody has put tests in an order of their own: pytest-order by its marks, or a
        conftest.py; pytest itself groups them by fixtures, and leaves some out.
        """
        known = self._known(items)
        chosen, grouped = set(known), list(before)
        group(grouped)
        return all(known != [item for item in order if item in chosen] for order in (before, grouped))

    def _sort(self, items: list[pytest.Item], group: _Group) -> None:
        """Put files that measure into the order of their paths, and what is in them into that in which it
        stands, all grouped by fixtures as pytest does, which then changes it no more. Tests of other files
        stay where they are, unless they share fixtures or folders with those that measure.
        """
        whole = sorted(items, key=self._place)
        _settle(whole, group)
        known, filled = self._known(whole), list(items)
        fits = self._fill(filled, known)
        _settle(filled, group)
        items[:] = filled if fits and self._known(filled) == known else whole

    def _fill(self, items: list[pytest.Item], wanted: list[pytest.Item]) -> bool:
        """Put tests of files that measure where such tests stand, file by file; return whether they fit. If
        not, they are put where the first of them stands.
        """
        blocks, coming = _by_file(items), _by_file(wanted)
        slots = [block[0].path for block in blocks if block[0].path in self._files]
        shared = {item.path.parent for item in items if item.path not in self._files}
        fits = len(slots) == len(coming) and all(
            slot.parent == block[0].path.parent or not {slot.parent, block[0].path.parent} & shared
            for slot, block in zip(slots, coming, strict=True)
        )
        if fits:
            fillers = iter(coming)
            blocks = [next(fillers) if block[0].path in self._files else block for block in blocks]
            items[:] = [item for block in blocks for item in block]
        else:
            others = [item for item in items if item.path not in self._files]
            first = next(index for index, item in enumerate(items) if item.path in self._files)
            items[:] = [*others[:first], *wanted, *others[first:]]
        return fits

    @property
    def _shuffled(self) -> bool:
        """Whether tests may be in another order than that in which they stand, or that is written there, as
        the marks of pytest-order are.
        """
        config = self._config
        options = [config.getoption(name, False) for name in _SHUFFLING]
        options = [each for each in options if not str(each).startswith("default:")]  # of pytest-random-order
        if _has(config, "randomly", "pytest_randomly"):
            options.append(config.getoption("randomly_reorganize", False))
        return any(options) or any("::" in argument for argument in config.args)

    def _place(self, item: pytest.Item) -> tuple[tuple[str, ...], list[int]]:
        """Return the file of a test, and its place there: of what it stands in, from the file on, and in
        that. Its line is none: classes share the tests that they inherit.
        """
        chain = [node for node in item.listchain() if getattr(node, "path", None) == item.path]
        return _path(item), [self._places.get(node, 0) for node in chain]


def _path(item: pytest.Item) -> tuple[str, ...]:
    return item.path.parts


def _settle(items: list[pytest.Item], group: _Group) -> None:
    """Group tests by fixtures until that changes nothing."""
    for _ in range(_MOST_GROUPINGS):
        before = list(items)
        group(items)
        if items == before:
            return


def _by_file(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    return [list(block) for _, block in itertools.groupby(items, lambda item: item.path)]
