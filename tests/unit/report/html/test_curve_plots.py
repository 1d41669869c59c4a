"""The plots of scaling, over threads or over clients."""

import pytest

from iogate.report.html.curve_plots import curve_plots
from iogate.report.results import MetricRecord, WorkloadRecord


def record(**values):
    """A workload with these metrics, each with a baseline of half the figure."""
    metrics = {
        name: MetricRecord(
            unit="", direction="higher", gating=True, values=(value,), value=value, baseline=value / 2
        )
        for name, value in values.items()
    }
    return WorkloadRecord(
        id="s::w",
        suite="s",
        workload="w",
        engine="fio",
        definition={},
        verdict="pass",
        reason="",
        repetitions=1,
        metrics=metrics,
    )


def rows(plot, whose):
    return [row[1:] for row in plot.rows if row[0] == whose]


THREADS = {"threads_1.wall_time": 8.0, "threads_4.wall_time": 4.0, "serial_fraction": 0.25}
CLIENTS = {
    "clients_1.read.bandwidth": 60e6,
    "clients_1.write.bandwidth": 40e6,
    "clients_4.read.bandwidth": 150e6,
    "clients_4.write.bandwidth": 50e6,
    "clients_4.client_1.read.bandwidth": 1.0,
}


@pytest.mark.parametrize("metrics, each", [(THREADS, "threads"), (CLIENTS, "clients")])
def test_speed_up_and_efficiency(metrics, each):
    figure, speedup, efficiency = curve_plots(record(**metrics))
    assert figure.words["each"] == each
    assert rows(speedup, "this session") == rows(speedup, "baseline") == [(1, 1.0), (4, 2.0)]
    assert rows(speedup, "ideal") == [(1, 1.0), (4, 4.0)]
    assert rows(efficiency, "this session") == [(1, 100), (4, 50)]


def test_bandwidths_of_clients_are_those_of_all_directions():
    figure, *_ = curve_plots(record(**CLIENTS))
    assert figure.title == "Bandwidth by clients"
    (one, least), (four, most) = rows(figure, "this session")
    assert (one, four, most / least) == (1, 4, pytest.approx(2, rel=1e-3))


def test_a_workload_without_a_curve_has_no_plot():
    assert list(curve_plots(record(**{"read.bandwidth": 5.0, "clients_2.read.bandwidth": 7.0}))) == []
