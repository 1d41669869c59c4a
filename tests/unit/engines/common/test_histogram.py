"""Latency histograms that are small and lose no operation."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.engines.common.histogram import compact
from iogate.engines.fio.engine import engine
from places import DATA

counted = st.dictionaries(st.integers(0, 2**63), st.integers(0, 2**40), max_size=300)


def _end(least, per_octave):
    """Where a bin ends."""
    return least + max(1, (1 << max(0, least.bit_length() - 1)) // per_octave)


@given(st.lists(counted, max_size=3))
def test_each_count_is_in_the_bin_of_its_latency(histograms):
    found = compact(histograms)
    assert len(found.bins) <= 64
    assert list(found.bins) == sorted(found.bins)
    for least, count in found.bins.items():
        end = _end(least, found.per_octave)
        assert count == sum(n for one in histograms for value, n in one.items() if least <= value < end)
    assert sum(found.bins.values()) == sum(n for one in histograms for n in one.values())


def test_bins_are_an_eighth_of_an_octave_wide_where_64_of_them_do():
    assert compact([{4096 + 100 * step: 1 for step in range(42)}]).bins.keys() == {
        4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680, 8192,
    }  # fmt: skip
    assert compact([{round(1.05**step): 1 for step in range(600)}]).per_octave == 1


@pytest.mark.parametrize("version", ["3.1", "3.16", "3.28", "3.33", "3.36"])
def test_those_of_fio_agree_with_its_percentiles(version):
    text = (DATA / "fio" / f"fio-{version}.jsonplus.json").read_text()
    output = engine.parse(text, name="output.json")
    document = json.loads(text[text.index("{") :])
    for name, histogram in output.histograms.items():
        direction, kind = name.split(".")
        total = sum(histogram.bins.values())
        jobs = [job[direction][f"{kind}_ns"] for job in document["jobs"]]
        assert total == sum(sum(job["bins"].values()) for job in jobs)
        seen = 0
        for least, count in histogram.bins.items():
            seen += count
            if seen >= math.ceil(total * 0.5):
                median = output.metrics[f"{name}.p50"]
                assert least <= median <= _end(least, histogram.per_octave)
                break
    assert output.histograms
