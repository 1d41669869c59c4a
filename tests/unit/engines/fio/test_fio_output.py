"""What fio says becomes metrics, or is refused with the reason: on real outputs of five versions."""

import copy
import json
import math

import pytest

import places
from iogate.engines.fio.client_reports import last_reports
from iogate.engines.fio.engine import engine
from iogate.engines.fio.latencies import percentiles_of_bins
from iogate.errors import OutputError
from iogate.host.process import Completed

DATA = places.DATA / "fio"
VERSIONS = ("3.1", "3.16", "3.28", "3.33", "3.36")
REFUSED = {"sigint": "aborted by signal 2", "enospc": "No space left on device \\(error 28\\)"}
GOOD = sorted(path.name for path in DATA.glob("*.json") if path.name.split(".")[-2] not in REFUSED)


def read(name):
    return (DATA / name).read_text()


def last_document(name):
    text = read(name)
    documents = []
    for part in ("\n" + text).split("\n{")[1:]:
        documents.append(json.JSONDecoder().raw_decode("{" + part)[0])
    return documents[-1]


def parse(document, completed=None):
    text = document if isinstance(document, str) else json.dumps(document)
    return engine.parse(text, name="output.json", completed=completed)


def completed(status=0, stderr="", timed_out=False):
    return Completed(status, "", stderr, 12.3, timed_out)


def test_no_name_of_an_option_begins_a_line_of_a_log():
    document = last_document("fio-3.33.jsonplus.json")
    told = "a\n::error::b"
    for job in document["jobs"]:
        job["job options"][told] = told
        job["jobname"] = told
    for part in engine.parts(json.dumps(document), name="output.json"):
        assert part.name == "a?::error::b"
        assert part.output.options["a?::error::b"] == "a?::error::b"


@pytest.fixture
def grouped():
    return last_document("fio-3.33.randread_grouped.json")


@pytest.fixture
def binned():
    return last_document("fio-3.33.jsonplus.json")


@pytest.mark.parametrize("name", GOOD)
def test_a_whole_output_gives_sound_metrics(name):
    output = engine.parse(read(name), name=name, completed=completed())
    assert output.engine_version == "fio-" + name.removeprefix("fio-").rsplit(".", 2)[0]
    assert output.traffic
    for direction, traffic in output.traffic.items():
        assert traffic.bytes > 0 and traffic.operations > 0 and traffic.seconds > 0
        assert output.metrics[f"{direction}.iops"] == pytest.approx(
            traffic.operations / traffic.seconds, rel=0.01
        )
        assert output.metrics[f"{direction}.lat.min"] <= output.metrics[f"{direction}.lat.mean"]
    assert all(math.isfinite(value) and value >= 0 for value in output.metrics.values())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("shape", REFUSED)
def test_a_failed_or_aborted_run_is_refused_for_its_own_reason(version, shape):
    with pytest.raises(OutputError, match=REFUSED[shape]):
        engine.parse(read(f"fio-{version}.{shape}.json"), name="x")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_failed_run_is_refused_with_what_fio_said(version):
    stem = DATA / f"fio-{version}.enospc"
    status = int(stem.with_name(stem.name + ".rc").read_text())
    stderr = stem.with_name(stem.name + ".stderr").read_text()
    with pytest.raises(OutputError, match=r"write offset=8388608"):
        engine.parse(read(stem.name + ".json"), name="x", completed=completed(status, stderr))


def test_figures_are_those_of_fio_in_bytes_and_nanoseconds(grouped):
    metrics, side = parse(grouped).metrics, grouped["jobs"][0]["read"]
    assert metrics["read.iops"] == side["iops"]
    assert metrics["read.bandwidth"] == side["bw_bytes"]
    assert metrics["read.bandwidth.min"] == side["bw_min"] * 1024
    assert metrics["read.bandwidth.max"] == side["bw_max"] * 1024
    assert metrics["read.bandwidth.stddev"] == side["bw_dev"] * 1024
    assert metrics["read.iops.max"] == side["iops_max"]
    for kind in ("slat", "clat", "lat"):
        for part in ("min", "mean", "max", "stddev"):
            assert metrics[f"read.{kind}.{part}"] == side[f"{kind}_ns"][part]
    assert metrics["read.clat.p50"] == side["clat_ns"]["percentile"]["50.000000"]
    assert metrics["read.clat.p99.99"] == side["clat_ns"]["percentile"]["99.990000"]
    assert not any(name.startswith(("write.", "trim.")) for name in metrics)


def test_bandwidth_of_old_versions_comes_from_kibibytes():
    side = last_document("fio-3.1.jsonplus.json")["jobs"][0]["read"]
    assert "bw_bytes" not in side
    assert (
        engine.parse(read("fio-3.1.jsonplus.json"), name="x").metrics["read.bandwidth"] == side["bw"] * 1024
    )


def test_what_was_not_measured_is_left_out():
    synchronous = engine.parse(read("fio-3.33.client_server.json"), name="x").metrics
    assert "read.slat.mean" not in synchronous
    assert "read.clat.mean" in synchronous
    assert "read.lat.p99" not in synchronous


def test_a_run_too_short_to_be_sampled_has_no_sampled_figures(grouped):
    side = grouped["jobs"][0]["read"]
    side.update(bw_min=0, bw_max=0, bw_dev=0, bw_samples=0, iops_min=0, iops_max=0, iops_stddev=0)
    side.update(iops_samples=0)
    metrics = parse(grouped).metrics
    assert "read.bandwidth.min" not in metrics and "read.iops.max" not in metrics
    assert metrics["read.iops"] > 0


def test_both_directions_of_a_mixed_run():
    output = engine.parse(read("fio-3.33.randrw70.json"), name="x")
    assert set(output.traffic) == {"read", "write"}
    share = output.traffic["read"].operations / sum(side.operations for side in output.traffic.values())
    assert share == pytest.approx(0.7, abs=0.02)


def test_jobs_of_a_group_are_counted_by_numjobs_and_entries_by_themselves():
    assert engine.parse(read("fio-3.33.randread_grouped.json"), name="x").jobs == 2
    assert engine.parse(read("fio-3.33.write_ungrouped.json"), name="x").jobs == 2
    assert engine.parse(read("fio-3.33.jobfile_75_25.json"), name="x").jobs == 4


@pytest.mark.parametrize(("times", "jobs"), [(1.0, 1), (1.02, 1), (1.33, 2), (1.9, 2), (2.0, 2), (6.74, 7)])
def test_sections_of_one_entry_that_ran_for_unlike_times_are_counted(binned, times, jobs):
    job = binned["jobs"][0]
    job["job_runtime"] = times * job["read"]["runtime"]
    assert parse(binned).jobs == jobs


def test_one_entry_without_the_time_of_all_jobs_may_be_of_several(binned):
    assert not parse(binned).uncounted
    del binned["jobs"][0]["job_runtime"]
    assert parse(binned).uncounted
    binned["jobs"][0]["job options"]["numjobs"] = "2"
    assert parse(binned).uncounted, "each of its sections may have two"


def test_rates_of_ungrouped_jobs_that_ran_equally_long_add_up():
    name = "fio-3.33.write_ungrouped.json"
    sides = [job["write"] for job in last_document(name)["jobs"]]
    output = engine.parse(read(name), name=name)
    assert output.metrics["write.bandwidth"] == pytest.approx(sum(side["bw_bytes"] for side in sides))
    assert output.metrics["write.iops"] == pytest.approx(sum(side["iops"] for side in sides))
    assert output.traffic["write"].bytes == sum(side["io_bytes"] for side in sides)


def test_a_job_that_reads_back_what_it_wrote_is_one_job_whose_options_are_known(binned):
    job = binned["jobs"][0]
    job["write"] = copy.deepcopy(job["read"])
    job["job_runtime"] = 2 * job["read"]["runtime"]
    assert parse(binned).jobs == 2
    job["job options"]["verify"] = "crc32c"
    output = parse(binned)
    assert output.jobs == 1
    assert output.options["verify"] == "crc32c"


@pytest.mark.parametrize("key", ["bsrange", "bssplit"])
def test_a_block_size_that_does_not_hold_for_a_job_is_not_stated(key):
    data = last_document("fio-3.33.write_ungrouped.json")
    data["global options"] = {"bs": "4k"}
    for job in data["jobs"]:
        job["job options"].pop("bs", None)
    assert parse(json.dumps(data)).options["bs"] == "4k"
    data["jobs"][1]["job options"][key] = "4k-16k"
    assert "bs" not in parse(json.dumps(data)).options


def test_unlike_jobs_of_one_direction_are_told_each_by_itself_too(binned):
    one = binned["jobs"][0]
    twin = {**one, "jobname": "twin", "job options": {**one["job options"], "offset": "1g"}}
    binned["jobs"] = [one, twin]
    assert not any(name.startswith("twin") for name in parse(binned).metrics)
    log = {**one, "jobname": "a log.2", "job options": {**one["job options"], "iodepth": "1"}}
    binned["jobs"] = [one, twin, log, log]
    (direction,) = parse(binned).traffic
    metrics = parse(binned).metrics
    own = parse({**binned, "jobs": [one]}).metrics[f"{direction}.iops"]
    for name, count in ((one["jobname"], 1), ("twin", 1), ("a_log_2", 2)):
        assert metrics[f"{name}.{direction}.iops"] == pytest.approx(count * own)
        assert metrics[f"{name}.{direction}.clat.p99"] > 0
    assert metrics[f"{direction}.iops"] == pytest.approx(4 * own)


def test_latencies_of_ungrouped_jobs_are_weighted_by_their_number_of_ios():
    name = "fio-3.33.jobfile_75_25.json"
    jobs = last_document(name)["jobs"][:3]
    latencies = [job["read"]["clat_ns"] for job in jobs]
    metrics = engine.parse(read(name), name=name).metrics
    count = sum(latency["N"] for latency in latencies)
    assert metrics["read.clat.min"] == min(latency["min"] for latency in latencies)
    assert metrics["read.clat.max"] == max(latency["max"] for latency in latencies)
    mean = sum(latency["N"] * latency["mean"] for latency in latencies) / count
    assert metrics["read.clat.mean"] == pytest.approx(mean)
    squares = sum(
        (latency["N"] - 1) * latency["stddev"] ** 2 + latency["N"] * latency["mean"] ** 2
        for latency in latencies
    )
    spread = math.sqrt((squares - count * mean**2) / (count - 1))
    assert metrics["read.clat.stddev"] == pytest.approx(spread)


def test_percentiles_of_several_jobs_are_never_averaged():
    metrics = engine.parse(read("fio-3.33.jobfile_75_25.json"), name="x").metrics
    assert not any(name.startswith("read.clat.p") for name in metrics)
    assert "write.clat.p99" in metrics  # a single job writes


@pytest.mark.parametrize("version", VERSIONS)
def test_percentiles_of_bins_are_exactly_those_of_fio(version):
    latency = last_document(f"fio-{version}.jsonplus.json")["jobs"][0]["read"]["clat_ns"]
    percentiles = {key: value for key, value in latency["percentile"].items() if float(key) > 0}
    bins = {int(key): value for key, value in latency["bins"].items()}
    assert percentiles_of_bins(bins, percentiles) == percentiles


def test_jobs_with_bins_are_merged_by_adding_counts(binned):
    """Two equal jobs have the percentiles of one, twice the rate, and the same mean."""
    alone = parse(binned).metrics
    binned["jobs"].append(copy.deepcopy(binned["jobs"][0]))
    together = parse(binned).metrics
    for name, value in alone.items():
        if name.startswith("read.clat.p"):
            assert together[name] == value
    assert together["read.iops"] == pytest.approx(2 * alone["read.iops"])
    assert together["read.clat.mean"] == pytest.approx(alone["read.clat.mean"])


def test_the_closing_sum_over_clients_is_not_counted_twice():
    name = "fio-3.36.client_server.json"
    entries = last_document(name)["client_stats"]
    assert entries[-1]["jobname"] == "All clients"
    output = engine.parse(read(name), name=name)
    assert output.traffic["read"].bytes == entries[-1]["read"]["io_bytes"]
    assert output.metrics["read.iops"] == pytest.approx(entries[-1]["read"]["iops"], rel=0.01)
    assert output.jobs == 4


def test_a_sum_over_clients_that_is_none_is_refused():
    document = last_document("fio-3.36.client_server.json")
    del document["client_stats"][0]
    with pytest.raises(OutputError, match="not the sum of its jobs"):
        parse(document)


def test_of_several_documents_the_last_is_final():
    name = "fio-3.33.status_interval.json"
    output = engine.parse(read(name), name=name)
    assert output.metrics["read.iops"] == last_document(name)["jobs"][0]["read"]["iops"]


def test_of_what_a_client_reported_at_each_interval_the_last_counts():
    """One document has an entry for each; they were added up, as jobs: 363 IOPS of a client that did 200."""
    name = "fio-3.33.client_status_interval.json"
    output = engine.parse(read(name), name=name)
    assert output.metrics["read.iops"] == pytest.approx(200, rel=0.001)
    document = last_document(name)
    early, late = document["client_stats"]
    several = {**document, "client_stats": [early, early, sum_of(early, 2), late, late]}
    for entry in (early, late):
        entry["job options"]["numjobs"] = "2"
    output = parse(several)
    assert output.metrics["read.iops"] == pytest.approx(400, rel=0.001) and output.jobs == 2


@pytest.mark.parametrize("where", ["job options", "global options"])
def test_a_client_that_ramps_up_begins_to_count_anew(where):
    document = last_document("fio-3.33.client_status_interval.json")
    early, late = document["client_stats"]
    document["client_stats"] = [late, early, copy.deepcopy(late)]  # the first is of the ramp
    assert len(last_reports(document)["client_stats"]) == 3
    for entry in document["client_stats"] if where == "job options" else [document]:
        entry[where]["ramp_time"] = "2"
    assert last_reports(document)["client_stats"] == [late]


def test_ramped_jobs_of_a_client_that_all_are_alike_are_no_reports_of_one():
    """`numjobs` and `ramp_time` of a job file's [global] stand in the document's global options alone."""
    document = last_document("fio-3.33.client_status_interval.json")
    _, late = document["client_stats"]
    assert "numjobs" not in late["job options"]
    document["global options"].update({"ramp_time": "1", "numjobs": "4"})
    document["client_stats"] = [copy.deepcopy(late) for _ in range(4)]
    assert len(last_reports(document)["client_stats"]) == 4
    document["global options"].update({"ramp_time": "0", "numjobs": "2"})
    assert len(last_reports(document)["client_stats"]) == 4


@pytest.mark.parametrize("where", ["job options", "global options"])
def test_a_group_of_a_client_has_one_report_for_each_interval(where):
    """Of four jobs that are told together, four reports were added up, as if they were one of each."""
    document = last_document("fio-3.33.client_status_interval.json")
    early, late = document["client_stats"]
    for entry in (early, late) if where == "job options" else (document,):
        entry[where].update({"numjobs": "4", "group_reporting": "1"})
    document["client_stats"] = [early, early, early, late]
    assert last_reports(document)["client_stats"] == [late]


def sum_of(entry, jobs):
    """The sum over all clients, which fio writes once, amid the reports."""
    summed = {**copy.deepcopy(entry), "jobname": "All clients"}
    summed["read"]["total_ios"] *= jobs
    return summed


@pytest.mark.parametrize("change", [{"iodepth": "7"}, None], ids=["other options", "side by side"])
def test_several_jobs_of_one_name_on_a_client_are_no_reports_of_one(change):
    document = last_document("fio-3.33.client_status_interval.json")
    early, late = document["client_stats"]
    if change:
        early["job options"].update(change)
    else:
        document["client_stats"] = [late, copy.deepcopy(late)]
    assert len(last_reports(document)["client_stats"]) == 2


def test_a_status_document_alone_is_not_a_finished_run():
    text = read("fio-3.1.status_interval.json")
    second = "\n{".join(text.split("\n{")[:2])
    with pytest.raises(OutputError, match="had not ended"):
        parse(second)


def test_the_steady_state_is_told():
    assert engine.parse(read("fio-3.33.steadystate.json"), name="x").steady is True
    document = last_document("fio-3.33.steadystate.json")
    document["jobs"][0]["steadystate"]["attained"] = 0
    assert parse(document).steady is False
    assert engine.parse(read("fio-3.33.jsonplus.json"), name="x").steady is None


def test_cpu_shares_are_fractions_of_a_core(grouped):
    output = parse(grouped)
    assert output.user == pytest.approx(grouped["jobs"][0]["usr_cpu"] / 100)
    assert output.system == pytest.approx(grouped["jobs"][0]["sys_cpu"] / 100)


def test_text_around_the_json_is_kept_apart(grouped):
    noise = "fio: note: both iodepth >= 1 and synchronous I/O engine are selected\n{ not this\n"
    with pytest.raises(OutputError, match="not JSON"):
        parse(noise + json.dumps(grouped))
    output = parse("\ufefffio: a note {here}\n" + json.dumps(grouped) + "\nfio: the end\n")
    assert output.remarks == ("fio: a note {here}", "fio: the end")
    assert output.metrics == parse(grouped).metrics


def test_a_figure_stated_twice_differently_is_refused_and_an_option_is_not():
    text = read("fio-3.33.jsonplus.json")
    line = next(line for line in text.splitlines() if '"iops" :' in line)
    with pytest.raises(OutputError, match="iops is there twice"):
        parse(text.replace(line, f'{line}\n"iops" : 1852.9,', 1))
    assert parse(text.replace('"bs" : "4k",', '"bs" : "8k", "bs" : "4k",')).options["bs"] == "4k"


@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "-1", '"many"', "null", "true", "{}", "1e999"])
@pytest.mark.parametrize("key", ["iops", "bw_bytes", "runtime", "total_ios", "io_bytes", "bw_dev"])
def test_a_figure_that_nobody_can_have_measured_is_refused(key, value):
    text = read("fio-3.33.jsonplus.json")
    start = text.index('"read" :')
    line = next(line for line in text[start:].splitlines() if f'"{key}" :' in line)
    with pytest.raises(OutputError, match=key):
        parse(text[:start] + text[start:].replace(line, f'"{key}" : {value},', 1))


def test_nan_where_nothing_was_done_is_harmless():
    text = read("fio-3.33.jsonplus.json")
    start = text.index('"write" :')
    changed = text[:start] + text[start:].replace('"bw_agg" : 0.000000', '"bw_agg" : -nan', 1)
    assert parse(changed).metrics == parse(text).metrics


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"runtime": 0}, "claims I/O of no time"),
        ({"total_ios": 0}, "claims I/O of no operations"),
        ({"io_bytes": 0}, "claims I/O of no bytes"),
        ({"iops": 99999.0}, "the counters beside it give"),
        ({"bw_bytes": 1}, "the counters beside it give"),
        ({"bw_min": 10**9}, "bw_min is more than bw_max"),
    ],
)
def test_figures_that_contradict_each_other_are_refused(binned, change, reason):
    binned["jobs"][0]["read"].update(change)
    with pytest.raises(OutputError, match=reason):
        parse(binned)


def test_more_global_options_than_fio_has_are_refused(binned):
    """Each job has a copy: 8,000 options and 1,600 jobs, half a megabyte, took minutes."""
    binned["global options"] = {f"o{number}": "1" for number in range(400)}
    assert parse(binned).traffic
    binned["global options"]["o400"] = "1"
    with pytest.raises(OutputError, match="states 401 global options"):
        parse(binned)


@pytest.mark.parametrize("place", ["job options", "global options"])
def test_writes_that_are_read_again_meanwhile_have_no_rate(binned, place):
    """12 and 20% lost passed as -0.1%: fio's time of writing has that of the reads in it, batch by batch."""
    given = binned if place == "global options" else binned["jobs"][0]
    given[place] = {**given.get(place, {}), "verify": "crc32c", "verify_backlog": "1k"}
    with pytest.raises(OutputError, match="the time of what it read again"):
        parse(binned)
    stated = given[place]
    for unread in ({"verify_backlog": "0"}, {"do_verify": "0"}, {"verify": "none"}):
        given[place] = {**stated, **unread}
        assert parse(binned).traffic
    given[place] = {"verify_pattern": "0xdeadbeef", "verify_backlog": "16"}
    with pytest.raises(OutputError, match="the time of what it read again"):
        parse(binned)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"mean": 10**10}, "mean is not between"),
        ({"bins": {"38656": 1}}, "bins hold 1 of 3713"),
        ({"percentile": {"50.000000": 2000, "99.000000": 1000}}, "not in order"),
        ({"percentile": {"50.000000": 10**12}}, "beyond minimum and maximum"),
        ({"percentile": {"median": 5}}, "has the key 'median'"),
    ],
)
def test_latencies_that_contradict_each_other_are_refused(binned, change, reason):
    binned["jobs"][0]["read"]["clat_ns"].update(change)
    with pytest.raises(OutputError, match=reason):
        parse(binned)


def test_no_io_is_no_measurement_whatever_the_status(binned):
    binned["jobs"][0]["read"].update(total_ios=0, io_bytes=0, runtime=0, iops=0, bw=0, bw_bytes=0)
    with pytest.raises(OutputError, match="did no I/O"):
        parse(binned, completed(0))


@pytest.mark.parametrize(
    ("done", "reason"),
    [
        (completed(-11), "died of SIGSEGV"),
        (completed(-99), "died of signal 99"),
        (completed(-15, timed_out=True), "hung: it was ended after 12 s"),
        (completed(128), "aborted"),
        (completed(1, "fio: something broke"), "status 1: fio: something broke"),
        (completed(0, "fio: terminating on signal 15"), "aborted by signal 15"),
    ],
)
def test_how_fio_ended_decides_before_its_figures(binned, done, reason):
    with pytest.raises(OutputError, match=reason):
        parse(binned, done)


@pytest.mark.parametrize(
    ("error", "told"), [(5, "Input/output error"), (84, "what was read is not what was")]
)
def test_an_error_is_told_by_what_fio_means_by_it(binned, error, told):
    """What `verify` finds it calls EILSEQ, `Invalid or incomplete multibyte or wide character`."""
    binned["jobs"][0].update(error=error)
    with pytest.raises(OutputError, match=told):
        parse(binned)


def test_failed_ios_that_were_passed_over_are_refused(binned):
    binned["jobs"][0].update(total_err=7, first_error=0)
    with pytest.raises(OutputError, match="7 I/Os failed"):
        parse(binned)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("fio: engine nosuch not loadable\n", "has no output of fio in JSON"),
        ("{}", "does not say its version"),
        ('{"fio version": "fio-3.33"}', "lists no jobs"),
        ('{"fio version": "fio-3.33", "jobs": []}', "ran no job"),
        ('{"fio version": "fio-3.33", "jobs": [' + "{}," * 65536 + "{}]}", "lists 65537 jobs"),
        ('{"fio version": "fio-3.33", "jobs": [1]}', "lists no jobs"),
        ('{"fio version": "fio-3.33", "jobs": [', "ends in the middle"),
        ("{" * 100_000, "fio's output"),
        ('{"fio version": "fio-3.33", "jobs": ' + "[" * 100_000, "fio's output"),
        ('{"x": ' + "9" * 10_000 + "}", "fio's output"),
    ],
)
def test_what_is_not_fios_output_is_refused(text, reason):
    with pytest.raises(OutputError, match=reason):
        parse(text)


def test_a_message_leads_to_the_place_of_the_fault():
    with pytest.raises(OutputError) as caught:
        parse('{"fio version": "fio-3.33",\n "jobs": [}')
    assert str(caught.value).startswith("output.json:2:11: ")


def test_what_fio_said_is_kept_in_the_message_of_an_output_without_json():
    with pytest.raises(OutputError, match="status 1: fio: engine nosuch not loadable"):
        parse("", completed(1, "fio: engine nosuch not loadable\n"))


def test_control_characters_of_an_output_do_not_reach_the_terminal(binned):
    binned["jobs"][0].update(jobname="\x1b[2J", error=5)
    with pytest.raises(OutputError) as caught:
        parse(binned)
    assert "\x1b" not in str(caught.value)


def test_groups_that_ran_one_after_another_are_told_apart_and_not_added(binned):
    later = copy.deepcopy(binned["jobs"][0])
    later.update(groupid=1, jobname="later")
    binned["jobs"].append(later)
    with pytest.raises(OutputError, match="one after another"):
        parse(binned)
    parts = engine.parts(json.dumps(binned), name="x")
    assert [(part.name, part.group) for part in parts] == [("bins", "0"), ("later", "1")]


@pytest.mark.parametrize("key", ["startdelay", "start_delay", "ramp_time"])
def test_jobs_that_a_delay_kept_apart_are_not_added(binned, key):
    later = copy.deepcopy(binned["jobs"][0])
    later["jobname"] = "later"
    binned["jobs"].append(later)
    alone = later["read"]["iops"]
    assert parse(binned).metrics["read.iops"] == pytest.approx(2 * alone)
    later["job options"][key] = "60"
    with pytest.raises(OutputError, match="began up to 1 min apart: their rates do not add up"):
        parse(binned)
    assert [part.name for part in engine.parts(json.dumps(binned), name="x")] == ["bins", "later"]
    for said in ("5ms", "0", "10-60", "soon"):  # of a range fio draws one, which nobody knows
        later["job options"][key] = said
        assert parse(binned).metrics["read.iops"] == pytest.approx(2 * alone)
    later["job options"][key] = binned["jobs"][0]["job options"][key] = "60"
    assert parse(binned).metrics["read.iops"] == pytest.approx(2 * alone)


@pytest.mark.parametrize(("slow", "fast"), [(1000, 20), (1000, 810), (10000, 8100)])
def test_rates_of_jobs_that_did_not_end_together_are_those_of_all_in_the_whole_time(binned, slow, fast):
    """Of three readers of 1 MiB one found the device idle and was done in 2 ms, the others took 0.1 s. Rates
    of each in its own time would be more than the device did, and than fio says of the same jobs as a group.
    """
    first = binned["jobs"][0]
    first["read"]["runtime"] = slow
    quick = copy.deepcopy(first)
    quick["jobname"] = "quick"
    quick["read"]["runtime"] = fast
    for job in (first, quick):
        side, seconds = job["read"], job["read"]["runtime"] / 1000
        side["iops"] = side["total_ios"] / seconds
        side["bw_bytes"] = round(side["io_bytes"] / seconds)
    binned["jobs"].append(quick)
    metrics = parse(binned).metrics
    assert metrics["read.iops"] == pytest.approx(2 * first["read"]["total_ios"] / slow * 1000)
    assert metrics["read.bandwidth"] == pytest.approx(2 * first["read"]["io_bytes"] / slow * 1000)


@pytest.mark.parametrize(
    ("flushes", "runtimes", "seconds", "apart"),
    [
        (True, (30, 30), (30, 55), False),
        (False, (30, 30), (30, 55), True),
        (True, (30, 60), (30, 60), True),
        (True, (30, 30), (10, 55), True),
    ],
)
def test_buffered_writers_of_one_time_may_flush_for_different_times(
    binned, flushes, runtimes, seconds, apart
):
    """A copy leaves more in the page cache than a log that syncs: it flushes longer at the end."""
    copied = binned["jobs"][0]
    copied["write"] = copied.pop("read")
    copied["job options"].update(rw="write", direct="0", time_based="1")
    log = copy.deepcopy(copied)
    log["jobname"] = "log"
    binned["jobs"].append(log)
    for job, runtime, lasted in zip((log, copied), runtimes, seconds, strict=True):
        side = job["write"]
        job["job options"]["runtime"] = str(runtime)
        if flushes:
            job["job options"]["end_fsync"] = "1"
        side["runtime"] = lasted * 1000
        side["iops"] = side["total_ios"] / lasted
        side["bw_bytes"] = round(side["io_bytes"] / lasted)
    if apart:
        with pytest.raises(OutputError, match="do not add up"):
            parse(binned)
        return
    done = 2 * copied["write"]["io_bytes"]
    assert parse(binned).metrics["write.bandwidth"] == pytest.approx(done / 55)


@pytest.mark.parametrize(
    ("ioengine", "polls", "reason"),
    [("io_uring", "1", ""), ("io_uring", "0", "percentiles"), ("libaio", "1", "percentiles")],
)
def test_completion_that_fio_counts_from_another_start_is_in_no_figure(binned, ioengine, polls, reason):
    """fio 3.33 where the kernel polls for submissions: lat is right, clat is the time since boot."""
    job = binned["jobs"][0]
    job["job options"].update(ioengine=ioengine, sqthread_poll=polls)
    before = parse(binned).metrics
    assert "read.clat.p99" in before
    boot = 40_485_000_000_000
    job["read"]["clat_ns"].update(min=boot, mean=boot + 1.0, max=boot + 10**9)
    if reason:
        with pytest.raises(OutputError, match=reason):
            parse(binned)
        return
    metrics = parse(binned).metrics
    assert {name for name in before if name not in metrics} == {n for n in before if ".clat." in n}
    assert metrics["read.lat.mean"] == before["read.lat.mean"]


def test_parts_are_the_jobs_by_name():
    parts = engine.parts(read("fio-3.33.write_ungrouped.json"), name="x")
    assert [(part.name, part.output.jobs) for part in parts] == [("seqw", 1), ("seqw #2", 1)]
    mixed = engine.parts(read("fio-3.33.jobfile_75_25.json"), name="x")
    assert [part.name for part in mixed] == ["j1", "j2", "j3", "j4"]


def test_units_of_fio_2(binned):
    """Before 2.21 io_bytes was in KiB and before 2.99 latencies were in us."""
    side = binned["jobs"][0]["read"]
    expected = parse(binned).metrics
    binned["fio version"] = "fio-2.2.10"
    side["io_bytes"] //= 1024
    del side["bw_bytes"]
    for kind in ("slat", "clat", "lat"):
        latency = side.pop(f"{kind}_ns")
        latency.pop("bins", None)
        latency.pop("N")
        for key in ("min", "max", "mean", "stddev"):
            latency[key] = latency[key] / 1000
        if "percentile" in latency:
            latency["percentile"] = {key: value // 1000 for key, value in latency["percentile"].items()}
        side[kind] = latency
    metrics = parse(binned).metrics
    assert metrics["read.bandwidth"] == pytest.approx(expected["read.bandwidth"], rel=1e-3)
    assert metrics["read.lat.mean"] == pytest.approx(expected["read.lat.mean"])
    assert metrics["read.clat.p99"] == pytest.approx(expected["read.clat.p99"], rel=1e-3)


def test_fsync_latencies_are_metrics_of_their_own(binned):
    binned["global options"] = {"ioengine": "psync"}
    binned["jobs"][0]["job options"].pop("ioengine", None)
    binned["jobs"][0]["sync"] = {
        "total_ios": 5,
        "lat_ns": {"min": 10, "max": 30, "mean": 20.0, "stddev": 5.0, "N": 5, "percentile": {"99.0": 30}},
    }
    metrics = parse(binned).metrics
    assert (metrics["sync.lat.mean"], metrics["sync.lat.p99"]) == (20.0, 30)


@pytest.mark.parametrize("sync, way", [("fdatasync", "read"), ("sync_file_range", "write")])
def test_a_sync_that_fio_counts_as_a_short_operation_is_none(sync, way):
    document = last_document(f"fio-3.33.mixed_{sync}.json")
    (job,) = document["jobs"]
    assert job[way]["short_ios"] == job["sync"]["lat_ns"]["N"] > 0
    assert {side: traffic.short for side, traffic in parse(document).traffic.items()} == {
        "read": 0,
        "write": 0,
    }
    job[way]["short_ios"] += 3
    assert parse(document).traffic[way].short == 3
    job["sync"]["lat_ns"]["N"] = 0  # as with gtod_reduce: how many were syncs is not known
    assert parse(document).traffic[way].short == 0


def test_latencies_of_fdatasync_are_read_though_fio_does_not_count_them_as_ios():
    sync = last_document("fio-3.33.fdatasync.json")["jobs"][0]["sync"]
    assert sync["total_ios"] == 0 and sync["lat_ns"]["N"] == 15
    metrics = parse(read("fio-3.33.fdatasync.json")).metrics
    assert metrics["sync.lat.mean"] == sync["lat_ns"]["mean"]
    assert metrics["sync.lat.p99"] == sync["lat_ns"]["percentile"]["99.000000"]
    assert not any(name.startswith("sync") for name in parse(read("fio-3.33.write_ungrouped.json")).metrics)


def test_a_sync_that_fio_counts_from_when_it_was_started_is_in_no_figure(binned):
    """libaio's first sync, of each job that has I/Os in flight: as long as the machine has been up."""
    job = binned["jobs"][0]
    up = 5_300_181_048_615
    percentiles = {"50.0": 20, "99.0": 30, "99.9": up}
    latency = {"min": 10, "max": up, "mean": 26e9, "stddev": 9e9, "N": 200, "percentile": percentiles}
    job["sync"] = {"total_ios": 200, "lat_ns": latency}

    def syncs(numjobs="1", **options):
        binned["global options"] = {}
        job["job options"] = {**job["job options"], **options, "numjobs": numjobs}
        metrics = parse(binned).metrics
        return {name.removeprefix("sync.lat."): metrics[name] for name in metrics if name.startswith("sync")}

    assert syncs(ioengine="libaio", iodepth="8") == {"min": 10, "p50": 20, "p99": 30}
    assert syncs(ioengine="libaio", iodepth="8", numjobs="3") == {"min": 10, "p50": 20}
    assert "max" in syncs(ioengine="libaio", iodepth="1") and "max" in syncs(ioengine="io_uring", iodepth="8")


def test_unified_reporting_is_told_as_mixed(binned):
    job = binned["jobs"][0]
    job["mixed"] = job.pop("read")
    assert "mixed.iops" in parse(binned).metrics


@pytest.mark.parametrize(
    ("key", "value"), [("numjobs", "1" * 5000), ("io_bytes", 10**400)], ids=["digits", "bytes"]
)
def test_reports_of_a_client_with_more_than_there_can_be_are_left_as_they_are(key, value):
    document = last_document("fio-3.33.client_status_interval.json")
    entry = document["client_stats"][0]
    (entry["job options"] if key == "numjobs" else entry["read"])[key] = value
    assert len(last_reports(document)["client_stats"]) == 2
