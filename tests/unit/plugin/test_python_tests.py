"""How many workloads tests in Python are known to measure before they run."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from iogate.plugin.python_tests import expected

MODULE, OTHER = Path("test_mine.py"), Path("test_other.py")


def item(*names, module=MODULE):
    """A test, by its name and those of its classes before."""
    chain = [object.__new__(pytest.Module), *(SimpleNamespace(name=name) for name in names)]
    id = "::".join([str(module), *names])
    return SimpleNamespace(nodeid=id, path=module, listchain=lambda: chain)


def test_a_test_measures_what_it_has_baselines_of_and_one_workload_at_least():
    stored = {MODULE: ["test_a", "test_a.x", "test_a.y.z", "test_ab", "TestIt.test_a", "test_p[0.5].x"]}
    items = [item("test_a"), item("TestIt", "test_a"), item("test_new"), item("test_p[0.5]")]
    items.append(item("test_a", module=OTHER))
    assert expected(items, lambda module: stored.get(module, ())) == Counter(
        {
            "test_mine.py::test_a": 3,
            "test_mine.py::TestIt::test_a": 1,
            "test_mine.py::test_new": 1,
            "test_mine.py::test_p[0.5]": 1,
            "test_other.py::test_a": 1,
        }
    )
