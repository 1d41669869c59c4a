"""The baseline of a fleet: what new devices of the model are accepted against."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import workloads
from fleets import DEFINITION, MODEL, environment, fleet, levels, measure
from iogate.cli import main
from iogate.declare.device import load_device
from iogate.errors import BaselineError, MeasurementError
from iogate.judge.appointment import BaselineJudges
from iogate.judge.baseline import load_baselines, require_writable, update
from iogate.judge.baseline.fleet import DeviceSession, store_fleet
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.gate import decide
from iogate.judge.judge import GateOptions
from iogate.model import Environment
from iogate.report.results import Results

PROFILE = "target: /data\nlink: 7.88 GB/s\nidentity: {disk: KXG60}\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    path = tmp_path / "project"
    (path / "baselines" / "local").mkdir(parents=True)
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def results(project):
    """What ten devices measured, three sessions each."""
    return fleet(project / "kept", sessions=3)


@pytest.fixture
def file(project):
    return project / "baselines" / "orin" / "q.yaml"


def write(capsys, *arguments, status=0, name="orin"):
    found = main(["fleet", f"--baseline={name}", *map(str, arguments)])
    said = capsys.readouterr()
    assert found == status, said
    return " ".join((said.out if status < 2 else said.err).split())


def workload(**more):
    options = {key: value for key, value in DEFINITION.items() if key != "engine"}
    return workloads.workload("fio", options=options, name="read_4k", suite="q", **more)


def test_a_new_device_is_measured_for_as_long_as_those_of_the_fleet(project, file, capsys):
    results = fleet(project / "kept", runtime=20.0)
    assert "as runtime: auto chose" not in write(capsys, *results)
    assert load_baselines(file)["read_4k"].runtime == 20.0


def test_behind_how_much_work_each_device_was_measured_is_kept(file):
    rows = [[1000.0, 1001.0], [1002.0, 1003.0], [1004.0, 1005.0]]
    sessions = [
        DeviceSession(
            f"d{day}", f"2026-01-0{day}T00:00:00Z-aaaa", Environment(), {"read.iops": row}, None, (0.0, day)
        )
        for day, row in enumerate(rows, 1)
    ]
    store_fleet(file, "orin", "q", {"read_4k": (DEFINITION, sessions)})
    assert [*load_baselines(file)["read_4k"].worked.values()] == [(0.0, 1.0), (0.0, 2.0), (0.0, 3.0)]


def test_lengths_that_differ_are_told_and_none_is_kept(project, file, capsys):
    folder = project / "kept"
    fleet(folder, runtime=20.0)
    measure(folder, 3, 90, 20_000, runtime=5.0)
    said = write(capsys, *sorted(folder.glob("orin-*")))
    assert load_baselines(file)["read_4k"].runtime is None
    assert main(["fleet", *map(str, sorted(folder.glob("orin-*")))]) == 0
    assert "(read_4k: 5 s on orin-3; 20 s on orin-1, " in " ".join(capsys.readouterr().out.split())
    assert "repetitions of read_4k do not all last as long" in said


def test_lengths_that_differ_in_all_points_of_a_sweep_are_told_once(project, capsys):
    points = [f"point-{number}" for number in range(5)]
    fleet(project / "kept", runtime=20.0, names=points)
    measure(project / "kept", 3, 90, 20_000, runtime=5.0, names=points)
    said = write(capsys, *sorted((project / "kept").glob("orin-*")))
    assert said.count("as runtime: auto chose") == 2
    them = "repetitions of 5 workloads (point-0, point-1, point-2 and 2 more)"
    assert f"{them} did not last as long on each device" in said
    assert f"{them} do not all last as long" in said


def test_each_device_is_a_session_whichever_number_it_has(results, file, capsys):
    said = write(capsys, *results)
    assert "baselines/orin/q.yaml: 1 workload of 10 devices; one session each, the newest" in said
    baseline = load_baselines(file)["read_4k"]
    assert sorted(baseline.devices) == sorted(f"orin-{number}" for number in range(1, 11))
    assert len(baseline.metrics["read.iops"]) == 10
    assert all(name >= "2026-01-21" for name in baseline.sessions)  # the third of each


def test_the_noise_between_sessions_is_that_between_devices(results, file, capsys):
    write(capsys, *results)
    baseline = load_baselines(file)["read_4k"]
    slower = [level * 0.97 for level in (19_900.0, 20_050.0, 20_010.0)]
    found = decide(baseline.metrics["read.iops"], slower, direction="higher", tolerance=0.1)
    assert found.verdict == "pass"  # devices differ by 2%: one 3% off is one of them
    found = decide(baseline.metrics["read.iops"], [12_000.0, 12_010.0], direction="higher", tolerance=0.1)
    assert found.verdict == "regressed"


def test_what_identifies_one_device_is_not_kept_and_what_identifies_the_model_must_match(
    results, file, capsys
):
    write(capsys, *results)
    assert "disk_serial" not in file.read_text()
    judge = BaselineJudge(workload(), load_baselines(file)["read_4k"], ["read.iops"], GateOptions())
    judge.check(environment(99))
    with pytest.raises(MeasurementError, match="disk was KXG60, is other"):
        judge.check(environment(99, model={**MODEL, "disk": "other"}))
    assert judge.against == "a fleet of 10 devices"


def test_nothing_that_is_there_is_written_over_unless_it_is_said(results, file, capsys):
    write(capsys, *results)
    before = file.read_text()
    assert "q.yaml is there already" in write(capsys, *results[:5], status=2)
    assert file.read_text() == before
    write(capsys, "--replace", *results[:5])
    assert len(load_baselines(file)["read_4k"].sessions) == 5


def test_of_several_suites_nothing_is_written_if_one_is_there(results, project, capsys):
    for kept in (project / "kept").glob("*/*/results.json"):
        kept.write_text(kept.read_text().replace('"suite":"q"', '"suite":"nightly/r"'))
    fleet(project / "more")
    file = project / "baselines" / "orin" / "q.yaml"
    file.parent.mkdir()
    update(file, "orin", "q", "s", environment(1), "", {"a": (DEFINITION, {"read.iops": [1.0]})}, "replace")
    write(capsys, project / "kept/orin-1", *results, *(project / "more").glob("*"), status=2)
    assert not (project / "baselines/orin/nightly").exists()


def test_a_fleet_does_not_lie_beside_what_a_single_device_measured(results, project, file, capsys):
    other = project / "baselines" / "orin" / "other.yaml"
    values = {"a": (DEFINITION, {"read.iops": [1.0, 2.0]})}
    update(other, "orin", "other", "s", environment(1), "", values, "replace")
    said = write(capsys, *results, status=2)
    assert "other.yaml is the baseline of a single device" in said
    assert not file.exists()


@pytest.mark.parametrize("options", [[], ["--replace"]])
def test_a_fleet_does_not_take_the_place_of_what_a_single_device_measured(results, file, capsys, options):
    file.parent.mkdir()
    values = {"read_4k": (DEFINITION, {"read.iops": [1.0, 2.0]})}
    update(file, "orin", "q", "s", environment(1), "as delivered", values, "replace")
    before = file.read_text()
    said = write(capsys, *options, *results, status=2)
    assert "q.yaml is the baseline of a single device" in said
    assert "choose another name" in said
    assert file.read_text() == before


def test_what_is_no_longer_in_a_baseline_that_is_replaced_is_told(project, file, capsys):
    results = fleet(project / "kept", names=("read_4k", "write_4k"))
    assert "no longer" not in write(capsys, *results)
    kept = [path for path in results if path.name not in ("orin-3", "orin-7")]
    said = write(capsys, "--replace", "--workload=read_4k", *kept)
    assert "no longer in it: 1 workload: write_4k no longer in it: 2 devices: orin-3, orin-7" in said
    assert "no longer" not in write(capsys, "--replace", *results)


@pytest.mark.parametrize("mode", ["append", "replace", "force"])
def test_no_session_of_a_single_device_is_added_to_it(results, file, capsys, mode):
    write(capsys, *results)
    before = file.read_text()
    values = {"read_4k": (DEFINITION, {"read.iops": [1.0, 2.0]})}
    with pytest.raises(BaselineError, match="is the baseline of a fleet of 10 devices"):
        update(file, "orin", "q", "s", environment(1), "", values, mode)
    with pytest.raises(BaselineError, match=r"iogate fleet RESULTS... --baseline=orin --replace"):
        require_writable(file, "q")
    with pytest.raises(BaselineError, match="of a fleet"):
        require_writable(file.with_name("new.yaml"), "new")
    assert file.read_text() == before


def test_it_does_not_learn_from_those_that_are_accepted(results, file, capsys):
    write(capsys, *results)
    judges = BaselineJudges(file.parent, GateOptions(), learn=True)
    assert isinstance(judges.appoint(workload(), ["read.iops"]), BaselineJudge)


def test_several_sessions_of_a_device_in_a_file_are_refused(results, file, capsys):
    write(capsys, *results)
    file.write_text(file.read_text().replace("device: orin-2\n", "device: orin-1\n"))
    with pytest.raises(BaselineError, match="several sessions are of the device orin-1"):
        load_baselines(file)


def test_a_file_that_mixes_devices_of_a_fleet_and_sessions_is_refused(results, file, capsys):
    write(capsys, *results)
    file.write_text(file.read_text().replace("    device: orin-2\n", ""))
    with pytest.raises(BaselineError, match="cannot stand side by side"):
        load_baselines(file)


@pytest.mark.parametrize("flags", [["--json", "--baseline=orin"], ["--replace"]])
def test_flags_that_do_not_go_together_are_refused(results, file, flags):
    assert main(["fleet", *flags, *map(str, results)]) == 2
    assert not file.exists()


def test_fewer_than_three_devices_make_none(project, file, capsys):
    said = write(capsys, *fleet(project / "kept", 2), status=2)
    assert "no baseline: it needs 3 devices" in said
    assert not file.exists()


def test_a_device_that_is_slower_than_the_others_is_not_in_it(project, file, capsys):
    said = write(capsys, *fleet(project / "kept", 20, slow=4, loss=0.4), status=1)
    assert "not in it: orin-4, slower than the others" in said
    assert "orin-4" not in load_baselines(file)["read_4k"].devices
    assert len(load_baselines(file)["read_4k"].devices) == 19


def test_one_beyond_the_tolerance_that_may_be_chance_is_in_it_and_named(project, file, capsys):
    said = write(capsys, *fleet(project / "kept", 4, slow=2), status=1)
    assert "in it, although worse than the others by more than the tolerance: orin-2" in said
    assert len(load_baselines(file)["read_4k"].devices) == 4


def test_a_profile_is_made_of_those_of_the_devices(results, project, capsys):
    for number in range(1, 11):
        folder = project / "baselines" / f"orin-{number}"
        folder.mkdir()
        (folder / "device.yaml").write_text(f"{PROFILE}host: ssh=orin-{number}\n")
    assert "device.yaml is written, from the profiles of the devices" in write(capsys, *results)
    found = load_device("orin", project / "baselines")
    assert (found.target, found.host, found.link) == ("/data", "", 7.88e9)
    assert dict(found.identity) == {"machine": "Orin", "disk": "KXG60"}
    assert found.missing == "fail"


@pytest.mark.parametrize("second", [None, "target: /elsewhere\n"], ids=["without any", "that differ"])
def test_without_profiles_that_agree_it_says_which_one_is_needed(results, project, capsys, second):
    if second:
        for name, text in (("orin-1", PROFILE), ("orin-2", second)):
            (project / "baselines" / name).mkdir()
            (project / "baselines" / name / "device.yaml").write_text(text)
    said = write(capsys, *results)
    assert "baselines/orin/device.yaml is needed before new devices can be measured" in said
    assert "disk: KXG60 target: /mnt/disk" in said
    assert not (project / "baselines/orin/device.yaml").exists()


def test_a_profile_that_is_there_stays_and_must_be_of_the_model(results, project, file, capsys):
    file.parent.mkdir()
    profile = file.with_name("device.yaml")
    profile.write_text("target: /x\nidentity: {disk: other}\n")
    assert "device.yaml is of another model" in write(capsys, *results, status=2)
    assert not file.exists()
    profile.write_text(text := "target: /x\nidentity: {disk: KXG*}\n")
    assert "device.yaml is there, and is kept" in write(capsys, *results)
    assert profile.read_text() == text


def test_devices_of_one_name_are_kept_apart_without_their_serial_numbers(project, file, capsys):
    for device, level in enumerate(levels(6), 1):
        measure(project / "kept", device, device, level, name="orin")
    write(capsys, *(project / "kept").glob("*"))
    devices = load_baselines(file)["read_4k"].devices
    assert len(set(devices)) == 6
    assert not any("S" in name for name in devices)
    assert "S3" not in file.read_text()


def test_sessions_of_one_name_on_two_devices_are_two(project, file, capsys):
    for device, level in enumerate(levels(4), 1):
        measure(project / "kept", device, 1, level)
    write(capsys, *(project / "kept").glob("*"))
    assert len(load_baselines(file)["read_4k"].sessions) == 4


@pytest.mark.parametrize("suite", ["../evil", "/tmp/evil", "a/../../evil", "device", "a\nb", ""])
def test_a_suites_name_leads_nowhere_else(results, project, capsys, suite):
    for kept in (project / "kept").glob("*/*/results.json"):
        found = Results.read(kept)
        replace(found, workloads=tuple(replace(one, suite=suite) for one in found.workloads)).write(kept)
    before = sorted(project.parent.rglob("*"))
    write(capsys, *results, status=2)
    assert sorted(project.parent.rglob("*")) == before


@pytest.mark.parametrize("name", ["local", "../x", "a/b", "-x", "\x1b"])
def test_names_that_cannot_be_a_fleets_are_refused(results, project, capsys, name):
    write(capsys, *results, status=2, name=name)
    assert [one.name for one in (project / "baselines").iterdir()] == ["local"]


def test_it_is_no_history_of_a_device(results, project, capsys):
    write(capsys, *results)
    assert main(["history", "--device=orin"]) == 2
    assert "the baseline of a fleet is no history of a device" in " ".join(capsys.readouterr().err.split())


def test_two_sides_that_made_it_of_other_sessions_are_a_conflict(results, project, file, capsys):
    write(capsys, *results)
    theirs = Path("theirs.yaml")
    theirs.write_text(file.read_text().replace("2026-01-22T", "2027-01-22T"))
    assert main(["baseline", "merge", str(file), str(theirs)]) == 1
    assert "several sessions are of the device" in capsys.readouterr().err


def test_it_is_shown_and_its_log_told(results, file, capsys):
    write(capsys, *results)
    assert main(["baseline", "show", str(file)]) == 0
    assert "the device orin-3" in capsys.readouterr().out
    assert main(["baseline", "log", "orin"]) == 0
    assert yaml.safe_load(file.read_text())["sessions"]
