"""Intel's Memory Latency Checker: what it is told, and what its outputs say.

It was not at hand: the outputs are those that people have published (tests/data/mlc).
"""

import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import places
from iogate.engines.mlc.engine import engine
from iogate.errors import EngineError, InputErrors, OutputError
from iogate.host.process import Completed
from iogate.model import Place, metric
from iogate.offline.show import show
from workloads import declared

DATA = places.DATA / "mlc"
OUTPUTS = sorted(DATA.glob("*.txt"))
LOADED = (DATA / "v3.5.loaded_latency.txt").read_text()
IDLE = (DATA / "v3.9a.idle_latency.txt").read_text()
EVERYTHING = (DATA / "v3.11b.everything.txt").read_text()


def parse(text, **completed):
    how = {"status": 0, "stdout": text, "stderr": "", "seconds": 40.0, **completed}
    return engine.parse(text, name="out", completed=Completed(**how))


def read(name):
    return parse((DATA / name).read_text())


class TestOutputs:
    def test_loaded_latencies(self):
        output = read("v3.5.loaded_latency.txt")
        assert output.engine_version == "mlc 3.5"
        assert len(output.metrics) == 2 * 19 + 3
        assert output.metrics["latency.delay_0"] == 281.66
        assert output.metrics["bandwidth.delay_0"] == 215759.3e6
        assert output.metrics["latency.delay_20000"] == 80.95
        assert output.metrics["bandwidth.peak"] == 216661.5e6
        # bandwidth / latency is 1315, 1101 and 946 at delays of 200, 300 and 100 cycles
        assert output.metrics["latency.knee"] == 121.90
        assert output.metrics["bandwidth.knee"] == 160264.1e6
        assert output.options == {"test": "loaded_latency"}

    def test_latencies_between_nodes(self):
        output = read("v3.9a.latency_matrix.txt")
        assert output.metrics == {
            "latency.from_0.to_0": 87.0,
            "latency.from_0.to_1": 101.0,
            "latency.from_1.to_0": 101.9,
            "latency.from_1.to_1": 86.9,
            "latency.local": 87.0,
            "latency.remote": 101.9,
        }

    def test_a_machine_of_one_node_has_nothing_remote(self):
        output = read("v3.5.latency_matrix_of_one_socket.txt")
        assert output.metrics == {"latency.from_0.to_0": 93.1, "latency.local": 93.1}

    def test_what_it_remarks_is_kept(self):
        assert "Unable to modify prefetchers" in read("v3.9a.latency_matrix.txt").remarks[0]
        assert not read("v3.11.max_bandwidth.txt").remarks

    def test_highest_bandwidths(self):
        assert read("v3.11.max_bandwidth.txt").metrics == {
            "bandwidth.mix_1_0": 222587.27e6,
            "bandwidth.mix_3_1": 209030.57e6,
            "bandwidth.mix_2_1": 207439.92e6,
            "bandwidth.mix_1_1": 201931.21e6,
            "bandwidth.stream_triad": 201446.18e6,
        }

    def test_a_run_of_everything(self):
        metrics = read("v3.11b.everything.txt").metrics
        assert metrics["latency.local"] == 82.1
        assert metrics["bandwidth.mix_1_0"] == 158844.5e6
        assert metrics["bandwidth.from_0.to_1"] == 34393.4e6
        assert metrics["latency.knee"] == 127.88
        caches = {name: value for name, value in metrics.items() if ".cache_" in name}
        assert caches == {
            "latency.cache_hit": 49.5,
            "latency.cache_hitm": 49.5,
            "latency.cache_homed_in_writer.from_0.to_1": 115.2,
            "latency.cache_homed_in_writer.from_1.to_0": 115.5,
        }, "caches are not memory"

    def test_the_peak_bandwidths_of_3_1_have_another_title(self):
        metrics = read("v3.1a.everything.txt").metrics
        assert metrics["bandwidth.mix_1_0"] == 144906.6e6
        assert metrics["bandwidth.stream_triad"] == 125606.5e6
        assert metrics["latency.cache_homed_in_reader.from_1.to_2"] == 134.4

    def test_one_idle_latency(self):
        output = read("v3.9a.idle_latency.txt")
        assert output.metrics == {"latency.idle": 95.7}
        assert "So, enabling random access" in output.remarks[1]

    def test_caches_alone(self):
        text = EVERYTHING.partition("Measuring")[0] + EVERYTHING[EVERYTHING.index("Measuring cache") :]
        assert len(parse(text).metrics) == 4

    def test_two_runs_in_a_file_are_shown_apart(self, tmp_path):
        path = tmp_path / "two.txt"
        path.write_text(LOADED + "\n" + EVERYTHING)
        text, status = show([path], as_json=False)
        assert status == 0
        lines = LOADED.count("\n") + 2
        assert "run in line 1 " in text and f"run in line {lines} (1 job), mlc 3.11b" in text
        first, second = engine.parts(path.read_text(), name="two")
        assert first.output.metrics == parse(LOADED).metrics
        assert second.output.metrics == parse(EVERYTHING).metrics

    @pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.stem)
    def test_every_metric_has_a_kind_and_iogate_show_reads_it(self, path):
        for name in parse(path.read_text()).metrics:
            assert metric(name).unit in ("ns", "B/s")
        text, status = show([path], as_json=False)
        assert status == 0
        assert text.startswith(f"{path}: mlc 3.")

    def test_the_options_of_the_command_line_are_stated(self):
        text = LOADED.replace("--loaded_latency ", "--loaded_latency -t1 -l256 -W3 ")
        assert parse(text).options == {"test": "loaded_latency", "stride": "256", "mix": "3:1"}


class TestWrongOutputs:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "no output of mlc"),
            ("fio-3.33", "no output of mlc"),
            (EVERYTHING.partition("Measuring")[0], "measured nothing"),
            (LOADED.replace("281.66", "nan"), r"out:12:1: 'nan'"),
            (LOADED.replace("281.66", "0.00"), r"out:12:1: '0.00'"),
            (LOADED.replace("281.66", "281,66"), r"out:12:1: '281,66'"),
            (LOADED.replace("281.66", "-281.66"), "not a figure"),
            (LOADED.replace("281.66", ""), r"out:12:1: .* is not a delay, a latency and a bandwidth"),
            (LOADED.replace(" 00002", " 00000"), "the delay 0 comes twice"),
            (LOADED.replace("MB/sec", "GB/sec"), "no heading that names ns and MB/sec"),
            (LOADED.partition("====")[0], "is empty"),
            (LOADED + LOADED, "comes twice"),
            (EVERYTHING.replace("\t 141.0", ""), r"out:5:1: .* has not one figure for each of 2 nodes"),
            (EVERYTHING.replace("82.1\t", "x\t"), "out:5:1"),
            (EVERYTHING.replace("158844.5", "inf"), "out:12:1"),
            (EVERYTHING.replace("\t49.5", ""), "out:42:1: '' is not a figure"),
            (IDLE.replace("95.7", "none"), "out:7:1: 'none'"),
            (IDLE.replace("95.7    ns", ""), "out:7:1: .* does not say a latency in ns"),
            (IDLE + IDLE.partition("Using")[2], "comes twice"),
        ],
    )
    def test_what_is_damaged_is_refused_with_its_place(self, text, message):
        with pytest.raises(OutputError, match=message):
            parse(text)

    def test_a_status_is_told_with_what_it_said(self):
        with pytest.raises(OutputError, match="status 1: cannot open msr"):
            parse(LOADED, status=1, stderr="cannot open msr\n")
        with pytest.raises(OutputError, match="without an end"):
            parse(LOADED, timed_out=True)

    @given(st.sampled_from(OUTPUTS), st.floats(0, 1))
    def test_an_output_that_is_cut_short_never_gives_other_figures(self, path, where):
        """Cut within its last decimals, a figure is still right but for those."""
        text = path.read_text()
        whole = parse(text).metrics
        try:
            cut = parse(text[: int(where * len(text))]).metrics
        except OutputError:
            return
        for name, value in cut.items():
            if name.partition(".")[2] not in ("peak", "knee", "local", "remote"):
                assert value == pytest.approx(whole[name], rel=2e-2)

    @given(st.sampled_from(OUTPUTS), st.integers(0, 10**6), st.text(max_size=3))
    def test_any_damage_is_refused_or_leaves_figures(self, path, where, put):
        text = path.read_text()
        where %= len(text)
        try:
            output = parse(text[:where] + put + text[where + len(put) :])
        except OutputError as error:
            assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in str(error))
            return
        assert output.metrics
        assert all(0 < value < math.inf for value in output.metrics.values())

    @given(st.text())
    def test_any_text_is_refused(self, text):
        with pytest.raises(OutputError):
            parse(text)


workload = partial(declared, "mlc")


class TestCommand:
    @pytest.fixture(autouse=True)
    def program(self, tmp_path, monkeypatch):
        path = tmp_path / "mlc"
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        return path

    def command(self, tmp_path, **options):
        command = engine.command(workload(**options), Place(tmp_path, None, tmp_path))
        return list(command.argv[1:]), dict(command.files)

    def test_loaded_latency(self, tmp_path):
        argv, files = self.command(
            tmp_path, mix="75:25", stride=256, buffer_size="64M", runtime=1.5, delays=[300, 0]
        )
        assert argv == ["--loaded_latency", "-t2", "-b65536", "-l256", "-W3", "-gdelays.txt"]
        assert files == {"delays.txt": "0\n300\n"}

    def test_reads_alone_have_no_number_and_mlc_has_its_own_size(self, tmp_path):
        argv, _ = self.command(tmp_path, delays=0)
        assert argv == ["--loaded_latency", "-t2", "-l64", "-gdelays.txt"]

    def test_the_other_tests(self, tmp_path):
        assert self.command(tmp_path, test="latency_matrix") == (["--latency_matrix", "-t2"], {})
        assert self.command(tmp_path, test="max_bandwidth", stride=128)[0] == [
            "--max_bandwidth",
            "-t2",
            "-l128",
        ]

    def test_a_missing_program_is_told_with_where_to_get_it(self, tmp_path, program):
        program.unlink()
        with pytest.raises(EngineError, match=r"mlc is not installed\n.*intel\.com.*engine: memory"):
            self.command(tmp_path)


class TestOptions:
    def test_what_gates(self):
        assert engine.gating(workload()) == ("latency.delay_20000", "bandwidth.peak")
        assert engine.gating(workload(delays=[0, 100])) == ("latency.delay_100", "bandwidth.peak")
        assert engine.gating(workload(test="latency_matrix")) == ("latency.local",)
        assert engine.gating(workload(test="max_bandwidth")) == ("bandwidth.mix_1_0",)

    def test_the_gating_metrics_are_among_the_measured(self):
        for test, name in (
            ("loaded_latency", "v3.5.loaded_latency.txt"),
            ("latency_matrix", "v3.9a.latency_matrix.txt"),
            ("max_bandwidth", "v3.11.max_bandwidth.txt"),
        ):
            assert set(engine.gating(workload(test=test))) <= set(read(name).metrics)

    def test_no_target_is_needed_and_the_time_is_known(self):
        needs = engine.needs(workload(runtime=2, delays=[0, 100]))
        assert not needs.target and not needs.size and needs.written == 0
        assert needs.seconds == 2 * 3 + 10

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"mix": "7:3"}, "mlc has no mix 7:3; it has 1:0, 2:1"),
            ({"mix": "1:3"}, "more writes than reads"),
            ({"test": "latency_matrix", "stride": 64}, "latency_matrix has no stride"),
            ({"test": "max_bandwidth", "delays": [0]}, "max_bandwidth has no delays"),
            ({"stride": 100}, "multiple of 64"),
            ({"buffer_size": 1000}, "counts its buffers in KiB"),
            ({"delays": []}, "list of 1 to 256"),
            ({"test": "c2c_latency"}, "test:"),
            ({"arguments": "-o/etc/passwd"}, "unknown key"),
        ],
    )
    def test_what_mlc_cannot_is_refused(self, given, message):
        with pytest.raises(InputErrors, match=message):
            engine.options(given)

    def test_options_are_their_own_normal_form(self):
        for written in ({}, {"mix": "50:50", "delays": 5}, {"test": "max_bandwidth", "buffer_size": "1G"}):
            options = engine.options(written)
            assert engine.options(options) == options
