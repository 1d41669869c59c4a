"""fio's outputs as people keep them: every run is shown, and what must not be used is named with its line."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import places
from growth import LINEAR, growth
from iogate.errors import InputError, OutputError
from iogate.offline.importing import import_outputs
from iogate.offline.outputs import parse_output
from iogate.offline.published import audit_files
from iogate.offline.show import show

WILD = places.DATA / "fio_wild"
MIXED = (places.DATA / "fio/fio-3.33.randrw70.json").read_text()
ABORTED = (places.DATA / "fio/fio-3.33.sigint.json").read_text()
STATUS = (places.DATA / "fio/fio-3.33.status_interval.json").read_text()
TEXT = (places.DATA / "fio_text/fio-3.33.randrw_grouped.txt").read_text()


def shown(path):
    text, status = show([path], as_json=True)
    return json.loads(text), status


def write(folder, content, name="notes.md"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def metrics(item, part=0):
    return {name: figure["value"] for name, figure in item["parts"][part]["metrics"].items()}


class TestFailedJobs:
    def test_a_failed_job_gives_no_figures_and_the_good_one_beside_it_does(self):
        ((item,), status) = shown(WILD / "failed_job.txt")
        assert status == 1
        assert [part["name"] for part in item["parts"]] == ["good"]
        assert metrics(item)["write.iops"] == pytest.approx(4001 / 2.001)
        assert "28:1: bad failed: error 28 (No space left on device)" in item["refused"]

    def test_one_that_failed_before_its_first_io_leaves_the_other_as_it_is(self):
        ((item,), status) = shown(WILD / "failed_at_once.txt")
        assert (status, [part["name"] for part in item["parts"]]) == (1, ["good"])
        assert metrics(item)["read.iops"] == pytest.approx(4001 / 2.001)

    def test_of_json_too(self, tmp_path):
        document = json.loads((places.DATA / "fio/fio-3.33.write_ungrouped.json").read_text())
        document["jobs"][1].update(error=5, jobname="bad")
        ((item,), status) = shown(write(tmp_path, json.dumps(document)))
        assert (status, len(item["parts"])) == (1, len(document["jobs"]) - 1)
        assert "bad failed: Input/output error" in item["refused"]

    def test_the_run_as_a_whole_is_refused_where_it_would_be_judged(self):
        with pytest.raises(OutputError, match="bad failed"):
            parse_output((WILD / "failed_job.txt").read_bytes(), "out")

    def test_the_audit_tells_both(self):
        text, status = audit_files([WILD / "failed_job.txt"])
        assert status == 1
        assert "fio text, good (1 job): write 2.000 k IOPS" in text
        assert "failed_job.txt:28: output of fio: refused" in text


class TestSeveralRuns:
    def test_every_document_that_is_a_run_of_its_own_is_shown(self):
        items, status = shown(WILD / "two_runs.json")
        assert (status, [item["line"] for item in items]) == (0, [1, 294])
        assert [round(metrics(item)["read.iops"]) for item in items] == [29330066, 26343]

    def test_cumulative_documents_are_one_run_and_the_last_counts(self):
        for version in ("3.1", "3.16", "3.28", "3.33", "3.36"):
            path = places.DATA / f"fio/fio-{version}.status_interval.json"
            ((item,), status) = shown(path)
            assert status == 0
            last = json.loads("{" + path.read_text().rpartition("\n{\n")[2])
            assert metrics(item)["read.iops"] == last["jobs"][0]["read"]["iops"]

    def test_the_same_job_run_again_a_little_faster_is_another_run(self, tmp_path):
        again = json.loads(MIXED[MIXED.index("{") :])
        again["timestamp_ms"] += 1000 * again["jobs"][0]["elapsed"] + 500
        for direction in ("read", "write"):
            side = again["jobs"][0][direction]
            side["total_ios"], side["io_bytes"] = side["total_ios"] + 1, side["io_bytes"] + 8192
        items, _ = shown(write(tmp_path, MIXED + json.dumps(again)))
        assert len(items) == 2

    def test_two_machines_at_the_same_time_are_two_runs(self, tmp_path):
        other = json.loads(MIXED[MIXED.index("{") :])
        other["timestamp_ms"] += 3
        for direction in ("read", "write"):
            side = other["jobs"][0][direction]
            for key in ("total_ios", "io_bytes", "io_kbytes", "bw_bytes", "bw", "iops"):
                side[key] = int(side[key] * 1.5)
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                side[kind].pop("bins", None)
        items, _ = shown(write(tmp_path, MIXED + json.dumps(other)))
        assert len(items) == 2

    def test_text_and_json_of_two_runs(self, tmp_path):
        items, status = shown(write(tmp_path, f"# Monday\n\n{TEXT}\n# Tuesday\n\n{MIXED}\n{TEXT}"))
        assert (status, [item["parts"][0]["name"] for item in items]) == (0, ["mix", "mix70", "mix"])

    def test_text_and_json_of_one_run_are_one(self):
        ((item,), status) = shown(WILD / "normal_and_json.txt")
        assert status == 0
        assert item["parts"][0]["remarks"] == [], "the report in text is no remark"

    def test_a_bad_run_is_named_and_the_sound_ones_are_read(self, tmp_path):
        cut = MIXED[: len(MIXED) // 2]
        unfinished = TEXT.partition("Run status")[0]
        notes = f"# a\n\n{MIXED}\n# b\n\n{cut}\n\n# c\n\n{ABORTED}\n# d\n\n{unfinished}\n# e\n\n{TEXT}"
        path = write(tmp_path, notes)
        items, status = shown(path)
        assert status == 1
        assert [bool(item.get("refused")) for item in items] == [False, True, True, True, False]
        reasons = [item["refused"] for item in items if "refused" in item]
        assert [reason.removeprefix(str(path)).split(":", 3)[3].strip()[:24] for reason in reasons] == [
            *("fio's output ends in the", "the run was aborted by s", "fio's output was cut off"),
        ]
        lines = notes.split("\n")
        for item, title in zip(items, "abcde", strict=True):
            assert f"# {title}" in lines[max(0, item["line"] - 4) : item["line"]]
        text, audited = audit_files([path])
        assert audited == 1
        assert text.count(": output of fio: refused") == 3
        assert (
            "fio JSON, mix70: read 4.589 k IOPS" in text
            and "fio text, mix (2 jobs): read 29.49 k IOPS" in text
        )

    def test_what_has_a_bad_run_in_it_never_becomes_a_baseline(self, tmp_path):
        path = write(tmp_path, f"{MIXED}\n\n{MIXED[:4000]}", "runs.json")
        (tmp_path / "baselines/orin").mkdir(parents=True)
        (tmp_path / "baselines/orin/device.yaml").write_text("target: /tmp\n")
        suite = write(tmp_path, "workloads: {a: {rw: randrw, bs: 8k, size: 1G}}", "lab.yaml")
        with pytest.raises(InputError, match="ends in the middle"):
            import_outputs([path], device="orin", suite=str(suite), baselines=tmp_path / "baselines")

    @settings(deadline=None, max_examples=30)
    @given(st.lists(st.sampled_from([MIXED, STATUS, TEXT, ABORTED]), min_size=1, max_size=4), st.booleans())
    def test_no_run_is_lost(self, tmp_path_factory, contents, fenced):
        fence = "\n```\n" if fenced else "\n"
        path = tmp_path_factory.getbasetemp() / "runs.md"
        path.write_text("".join(f"\n# {n}\n{fence}{text}{fence}" for n, text in enumerate(contents)))
        items, _ = shown(path)
        repeated = sum(a is b and a is not TEXT for a, b in pairwise(contents))
        assert len(contents) - repeated <= len(items) <= len(contents)


class TestText:
    def test_the_last_report_of_a_run_counts(self):
        ((item,), status) = shown(WILD / "status_interval.txt")
        assert status == 0
        assert metrics(item)["read.iops"] == pytest.approx(4001 / 2.001)

    def test_of_several_clients_each_and_what_fio_adds_up(self):
        ((item,), status) = shown(WILD / "two_clients.txt")
        assert status == 0
        assert [part["name"] for part in item["parts"]] == ["j on vm", "j on vm #2", "all jobs"]
        assert metrics(item, 2)["read.iops"] == pytest.approx(8002 / 2.001)
        assert item["parts"][2]["jobs"] == 2

    def test_what_failed_before_it_began_is_a_run_of_its_own(self, tmp_path):
        """It has no process: what came before and after, without their first lines, is as sound as alone."""
        whole = (places.DATA / "fio_text/fio-3.33.randrw_grouped.txt").read_text()
        report = whole[whole.index("mix: (groupid=0") :]
        process = re.search(r"err= 0: pid=\d+", report)[0]
        lost = report.replace(
            process, "err= 5 (file:filesetup.c:223, func=write, error=Input/output error): pid=0"
        )
        later = report.replace(process, "err= 0: pid=99")
        items, status = shown(write(tmp_path, f"{report}\n\n{lost}\n\n{lost}\n\n{later}"))
        assert status == 1 and ["refused" in item for item in items] == [False, True, True, False]
        assert metrics(items[0]) == metrics(items[3])

    @pytest.mark.parametrize("quoted", [True, False])
    def test_runs_in_containers_have_one_process_number_and_are_several(self, tmp_path, quoted):
        """From their jobs on, where no first lines tell them apart."""
        text = (WILD / "containers.md").read_text()
        assert text.count("err= 0: pid=5: ") == 3
        bare = re.sub(r"^(```|#).*\n", "", text, flags=re.MULTILINE)
        items, status = shown(write(tmp_path, text if quoted else bare))
        assert status == 0
        assert [round(metrics(item)["read.iops"]) for item in items] == [999, 2984, 500]

    @pytest.mark.parametrize("first_lines", [True, False])
    def test_reports_of_one_run_are_one_with_its_first_lines_or_without(self, tmp_path, first_lines):
        text = (WILD / "status_interval.txt").read_text()
        kept = text if first_lines else text[re.search(r"^\S+: \(groupid", text, re.MULTILINE).start() :]
        ((item,), _) = shown(write(tmp_path, kept))
        assert metrics(item)["read.iops"] == pytest.approx(4001 / 2.001)

    def test_a_sum_of_clients_that_is_none_is_refused(self, tmp_path):
        text = (WILD / "two_clients.txt").read_text().replace("total=8002,", "total=8003,")
        ((item,), status) = shown(write(tmp_path, text))
        assert status == 1 and "is not the sum of its jobs" in item["refused"]

    def test_both_directions_as_one(self):
        ((item,), status) = shown(WILD / "mixed.txt")
        assert status == 0
        assert metrics(item)["mixed.iops"] == pytest.approx(8000 / 2.001)

    def test_a_rate_that_lost_its_carry_is_the_issued_in_the_time(self, tmp_path):
        ((item,), status) = shown(WILD / "lost_carry.txt")
        assert (status, metrics(item)["write.iops"]) == (0, pytest.approx(327680 / 23.466))
        wrong = (WILD / "lost_carry.txt").read_text().replace("IOPS=13.0k", "IOPS=13.1k")
        ((item,), status) = shown(write(tmp_path, wrong))
        assert status == 1 and "13100 IOPS, but 327680 in 23.466 s" in item["refused"]

    def test_before_3_13_what_was_sampled_of_one_job_of_a_group_is_left_out(self):
        ((item,), status) = shown(WILD / "grouped_before_3.13.txt")
        found = metrics(item)
        assert status == 0 and found["read.bandwidth"] > 0
        assert not [name for name in found if re.match(r"read\.(bandwidth|iops)\.", name)]

    @pytest.mark.parametrize("name", ["rounded_size.txt", "grouped_before_3.13.txt", "lost_carry.txt"])
    def test_a_rounded_size_is_no_short_io(self, name):
        text, status = audit_files([WILD / name])
        assert status == 0 and "short_io" not in text

    def test_half_of_the_bytes_are_short_however_they_are_rounded(self, tmp_path):
        text = (WILD / "lost_carry.txt").read_text()
        for old, new in (("218MiB/s (229MB/s)", "109MiB/s (114MB/s)"), ("(5120MiB/", "(2560MiB/")):
            text = text.replace(old, new)
        text, status = audit_files([write(tmp_path, text)])
        assert status == 1 and "short_io: 163" in text

    def test_utf_16_as_powershell_writes_it(self, tmp_path):
        ((item,), status) = shown(WILD / "utf_16.txt")
        assert (status, item["parts"][0]["jobs"]) == (0, 8)
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            ((item,), status) = shown(write(tmp_path, TEXT.encode(encoding)))
            assert (status, item["parts"][0]["jobs"]) == (0, 2)


def printed_by_fio_2(number, thousand):
    """What num2str of fio before 2.20 (lib/num2str.c) makes of a number in at most six places."""
    prefix, rest = 0, None
    while len(str(number)) > 6:
        number, rest = divmod(number, thousand)
        prefix += 1
    places = 5 - len(str(number))
    if rest is None or places < 1:
        whole = number + (rest is not None and rest >= thousand / 2)
        return f"{whole}{' KMG'[prefix].strip()}"
    while len(str(rest)) > places:
        rest = (rest + 9) // 10
    return f"{number}.{rest}{' KMG'[prefix].strip()}"


class TestOldVersions:
    def test_text_of_fio_2(self):
        ((item,), status) = shown(WILD / "fio-2.16.txt")
        found = metrics(item)
        assert (status, item["parts"][0]["version"]) == (0, "fio-2.16")
        assert found["read.iops"] == pytest.approx(12000 / 2.004)
        assert found["read.bandwidth"] == pytest.approx(48000 * 1024 / 2.004, rel=1e-4)
        assert found["read.clat.max"] == 4_625_000 and found["write.clat.p99"] == 11_000
        assert item["parts"][0]["options"]["bs"] == "4K"
        assert audit_files([WILD / "fio-2.16.txt"])[1] == 0

    def test_a_fraction_of_fio_before_2_20_says_nothing(self):
        ((item,), status) = shown(WILD / "misprinted_fraction.txt")
        found = metrics(item)
        assert (status, found["read.iops"]) == (0, pytest.approx(240130 / 240.131))
        assert found["read.bandwidth"] == pytest.approx(960520 * 1024 / 240.131)
        text, status = audit_files([WILD / "misprinted_fraction.txt"])
        assert status == 0 and "short_io" not in text

    def test_bytes_a_second_of_fio_2_0_have_a_blank_before_their_unit(self, tmp_path):
        text = (WILD / "misprinted_fraction.txt").read_text().replace("fio-2.2.10", "fio-2.0.8")
        done = "io=960520KB, bw=822173 B/s, iops=200 , runt=1196321msec"
        ((item,), status) = shown(write(tmp_path, re.sub(r"io=960520KB, .*msec", done, text)))
        assert status == 0
        assert metrics(item)["read.bandwidth"] == pytest.approx(960520 * 1024 / 1196.321)

    @settings(max_examples=100, deadline=None)
    @given(st.integers(10_000, 10**7), st.integers(10_000, 10**6))
    def test_whatever_it_prints_whole_ios_are_not_short(self, tmp_path_factory, operations, milliseconds):
        size = operations * 4096
        rates = (size * 1000 // milliseconds, 1024), (operations * 1000 // milliseconds, 1000)
        bandwidth, iops = (printed_by_fio_2(rate, thousand) for rate, thousand in rates)
        moved = printed_by_fio_2(size, 1024)
        done = f"io={moved}B, bw={bandwidth}B/s, iops={iops}, runt={milliseconds}msec"
        text = (WILD / "misprinted_fraction.txt").read_text().replace("240130", str(operations))
        text = re.sub(r"io=960520KB, .*msec", done, text)
        path = write(tmp_path_factory.getbasetemp(), text)
        ((item,), _) = shown(path)
        assert metrics(item)["read.iops"] == pytest.approx(operations / milliseconds * 1000)
        assert metrics(item)["read.bandwidth"] == pytest.approx(size / milliseconds * 1000, rel=1e-3)
        assert "short_io" not in audit_files([path])[0]

    def test_text_of_fio_2_1_job_by_job(self):
        ((item,), status) = shown(WILD / "fio-2.1.4.txt")
        assert (status, [part["name"] for part in item["parts"]]) == (0, ["a", "b"])

    def test_json_of_fio_2_1_which_counts_no_operations(self):
        ((item,), status) = shown(WILD / "fio-2.1.4.json")
        found = metrics(item)
        assert status == 0 and len(item["parts"]) == 5
        assert (found["write.iops"], found["write.bandwidth"]) == (133, 68118 * 1024)
        assert found["write.lat.mean"] == 478737470

    def test_terse_output_is_named_with_its_version(self):
        text, status = show([WILD / "fio-2.1.2.terse"], as_json=False)
        assert status == 1
        assert "terse output of fio-2.1.2 (version 3) is not read" in text and "let fio write JSON" in text


class TestJson:
    @pytest.mark.parametrize("before", ["> ", "\0" * 4096, "\ufeff", "$ fio job.fio\n", ">>> "])
    def test_what_stands_before_the_brace_does_not_matter(self, tmp_path, before):
        document = MIXED[MIXED.index("{") :]
        ((item,), status) = shown(write(tmp_path, before + document))
        assert (status, metrics(item)["read.bandwidth"]) == (0, 37590676.0)

    def test_progress_is_no_remark(self, tmp_path):
        progress = "".join(
            f"Jobs: 1 (f=1): [m(1)][{n}.0%][r=3MiB/s][eta 00m:{n:02}s]\n" for n in range(1, 60)
        )
        note = "note: both iodepth >= 1 and synchronous I/O engine are selected\n"
        ((item,), _) = shown(write(tmp_path, progress + "fio-3.33\nStarting 1 process\n" + note + MIXED))
        assert item["parts"][0]["remarks"] == [note.strip()]

    @pytest.mark.parametrize("as_json", [True, False])
    def test_a_lone_surrogate_is_printed_as_a_question_mark(self, tmp_path, as_json):
        text = MIXED.replace('"mix70"', '"bad\\udc80name"').replace('"8k"', '"\\ud800"')
        text, status = show([write(tmp_path, text)], as_json=as_json)
        assert status == 0 and text.encode()
        assert "\\ud" not in text

    @pytest.mark.parametrize(("name", "jobs"), [("three_sections.json", 3), ("three_sections_3.16.json", 3)])
    def test_a_group_over_several_sections_is_as_many_jobs_as_its_time_says(self, name, jobs):
        ((item,), _) = shown(WILD / name)
        assert item["parts"][0]["jobs"] == jobs
        assert "little_law" not in audit_files([WILD / name])[0]

    def test_jobs_that_ran_at_very_different_times_are_not_added_up(self, tmp_path):
        document = json.loads((places.DATA / "fio/fio-3.33.jobfile_75_25.json").read_text())
        side = document["jobs"][0]["read"]
        side.update(runtime=5 * side["runtime"], iops=side["iops"] / 5, bw_bytes=side["bw_bytes"] // 5)
        ((item,), status) = shown(write(tmp_path, json.dumps(document)))
        assert status == 0
        assert [part["name"] for part in item["parts"]] == ["j1", "j2", "j3", "j4"]
        assert "read: the jobs ran for 2.0 s to 10 s: their rates do not add up" in item["note"]


class TestSize:
    """The time is in proportion to the size."""

    @pytest.mark.parametrize("kind", ["runs", "jobs", "documents", "prose", "line"])
    def test_reading(self, tmp_path, kind):
        small, large = (write(tmp_path, content(kind, size), f"{size}") for size in (1, 4))
        assert growth(lambda: show([small], as_json=False), lambda: show([large], as_json=False), 2) < LINEAR


def content(kind, megabytes):
    size = megabytes * 500_000
    if kind == "line":
        return "fio-3.33\n" + "rr: (groupid=0, jobs=1): err= 0" * (size // 31)
    if kind == "runs":
        return TEXT * (size // len(TEXT))
    if kind == "jobs":
        head, job, status = re.split(r"(?=^mix: \(groupid)|(?=^Run status)", TEXT, flags=re.MULTILINE)
        return head + "".join(job.replace("pid=", f"pid={n}") for n in range(size // len(job))) + status
    if kind == "documents":
        stamp = '"timestamp_ms" : 1'
        each = (MIXED.replace(stamp, f"{stamp}{n}") for n in range(size // len(MIXED)))
        return "\n# Notes\n\n".join(each)
    return "It jumps over: (g=0) the {\n{ lazy dog, Run status group 1.\n" * (size // 60)


def test_runs_of_the_same_jobs_in_one_file_are_repetitions_and_of_others_are_not():
    later = json.loads(MIXED[MIXED.index("{") :])
    later["timestamp_ms"] += 60_000
    twice = parse_output((MIXED + json.dumps(later)).encode(), "out")
    assert [job.name for job in twice.jobs] == ["mix70", "mix70"]
    assert all(not job.beside for job in twice.jobs)
    later["jobs"][0]["job options"]["bs"] = "64k"
    other = parse_output((MIXED + json.dumps(later)).encode(), "out")
    assert [job.name for job in other.jobs] == ["mix70", "mix70 #2"]
