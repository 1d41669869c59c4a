"""`iogate fleet`: how devices of one model differ, and which is slower than the others."""

import json
from dataclasses import replace

import pytest

from fleets import MODEL, environment, fleet, levels, measure
from iogate.cli import main
from iogate.model import PairFacts
from iogate.report.results import Results, RunRecord


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys, *arguments, status=0):
    found = main(["fleet", *map(str, arguments)])
    said = capsys.readouterr()
    assert found == status, said
    return " ".join(said.out.split()) if status < 2 else " ".join(said.err.split())


def document(capsys, *arguments, status=0):
    assert main(["fleet", "--json", *map(str, arguments)]) == status
    return json.loads(capsys.readouterr().out)


def left_out(found):
    return {item["why"] for item in found["left_out"]}


def test_a_fleet_of_equal_devices_has_its_spread_told_and_no_device_stands_out(folder, capsys):
    found = document(capsys, *fleet(folder))
    (metric,) = found["metrics"]
    low, high = metric["spread"]["between_interval"]
    assert low < 0.02 < high
    assert metric["spread"]["within_interval"][0] < metric["spread"]["within"]
    assert [one["word"] for one in metric["devices"]] == [""] * 10
    assert found["devices"] == sorted(f"orin-{number}" for number in range(1, 11))
    assert found["sessions"] == 20


def test_a_slow_device_is_named_with_what_is_different_about_it(folder, capsys):
    paths = fleet(folder)
    for number in (30, 40):
        slow = environment(3, link="8.0 GT/s PCIe x2")
        slow = replace(slow, subject={**slow.subject, "disk_firmware": "A0"})
        slow = replace(slow, state={**slow.state, "disk_temperature": "81 °C"})
        measure(folder, 11, number, 12_000, there=replace(slow, identity=environment(11).identity))
    said = told(capsys, *paths, folder / "orin-11", "-v", status=1)
    assert "the slowest is orin-11: " in said
    assert "slower, within" not in said
    assert "slower" in said
    assert "disk_link is 8.0 GT/s PCIe x2, of 10 others 8.0 GT/s PCIe x4" in said
    assert "disk_firmware is A0, of 10 others A1" in said
    assert "disk_temperature is 81 °C, of the others 40 °C to 46 °C" in said
    assert "age of its newest figures: " in said
    assert "load" not in said.split("the slowest is")[1]


def test_what_is_slower_within_the_tolerance_is_said_and_fails_nothing(folder, capsys):
    for device, level in enumerate(levels(20, noise=0.0005), 1):
        for number in (0, 30):
            measure(folder, device, number + device, level * (0.96 if device == 7 else 1.0))
    found = document(capsys, *folder.glob("orin-*"))
    words = {one["device"]: one["word"] for one in found["metrics"][0]["devices"]}
    assert words.pop("orin-7") == "within tolerance"
    assert set(words.values()) == {""}
    found = document(capsys, "--tolerance=1%", *folder.glob("orin-*"), status=1)
    words = {one["device"]: one["word"] for one in found["metrics"][0]["devices"]}
    assert words.pop("orin-7") == "slower"
    assert set(words.values()) <= {"", "may be chance"}


def test_below_six_devices_the_tolerance_alone_decides_and_it_is_said(folder, capsys):
    said = told(capsys, *fleet(folder, 4, slow=2), status=1)
    assert "fewer than 6 devices (the fewest 4): they are held against the tolerance alone" in said
    assert "beyond the tolerance" in said
    assert "the slowest is orin-2" in said


def test_one_session_a_device_cannot_tell_device_from_noise_and_it_is_said(folder, capsys):
    said = told(capsys, *fleet(folder, sessions=1))
    assert "one session a device cannot tell device from noise" in said
    assert "both not known" in said


def test_a_lower_latency_is_better(folder, capsys):
    for device, level in enumerate(levels(8), 1):
        measure(folder, device, device, level * (2 if device == 5 else 1))
    for file in folder.glob("*/*/results.json"):  # as a latency the largest is the slowest
        file.write_text(file.read_text().replace('"IOPS","direction":"higher"', '"ns","direction":"lower"'))
    found = document(capsys, *folder.glob("orin-*"), status=1)
    assert found["evidence"][0]["device"] == "orin-5"


def test_devices_of_one_name_are_told_apart_by_their_serial_numbers(folder, capsys):
    for device, level in enumerate(levels(6), 1):
        measure(folder, device, device, level, name="orin")
    found = document(capsys, *folder.glob("orin-*"))
    assert found["devices"] == [f"orin (disk_serial S{number})" for number in range(1, 7)]


def test_a_session_without_serial_numbers_is_of_no_device_where_a_name_stands_for_several(folder, capsys):
    for device, level in enumerate(levels(6), 1):
        measure(folder, device, device, level, name="orin")
    nameless = replace(environment(1), identity=MODEL)
    measure(folder, 7, 20, 20_000, name="orin", there=nameless)
    found = document(capsys, *folder.glob("orin-*"))
    assert left_out(found) == {"which of the machines called orin it is of cannot be told"}


def test_a_machine_under_two_names_counts_once(folder, capsys):
    fleet(folder)
    measure(folder, 11, 40, 20_000, there=environment(4))
    found = document(capsys, *folder.glob("orin-*"))
    assert len(found["devices"]) == 10
    (why,) = left_out(found)
    assert (
        why == "orin-11 is orin-4 under another name: disk_serial is S4 in both; 1 session of it not counted"
    )
    assert "left out: orin-11 is orin-4" in told(capsys, *folder.glob("orin-*"))


def test_results_given_twice_count_once(folder, capsys):
    paths = fleet(folder)
    found = document(capsys, *paths, *paths, *folder.glob("*/*/results.json"))
    assert found["sessions"] == 20
    copied = Results.read(next(folder.glob("orin-1/*/results.json")))
    copied.write(folder / "copy.json")
    found = document(capsys, *paths, folder / "copy.json")
    assert found["sessions"] == 20
    (why,) = left_out(found)
    assert "copy.json is given beside" in why or "results.json is given beside" in why
    assert "says the same of one session" in why


def test_what_cannot_stand_beside_the_others_is_told_by_name_and_reason(folder, capsys):
    fleet(folder)
    other = environment(20, model={**MODEL, "disk": "other"})
    measure(folder, 20, 50, 20_000, there=other)
    measure(folder, 1, 51, 20_000, definition={"engine": "fio", "rw": "randread", "bs": "8k"})
    measure(folder, 2, 52, 20_000, names=("alone",))
    measure(folder, 3, 53, 20_000, verdict="invalid", reason="page cache")
    measure(folder, 4, 54, 20_000, pair=PairFacts("base", ""))
    file = measure(folder, 5, 55, 20_000)
    cut = replace(Results.read(file), run=RunRecord({}, ("suites/q.yaml::read_4k",)))
    cut.write(file)
    (folder / "bad.json").write_text("{")
    found = document(capsys, *folder.glob("orin-*"), folder / "bad.json", status=1)
    assert found["sessions"] == 20
    (why,) = [why for why in left_out(found) if "bad.json" in why]
    assert left_out(found) - {why} == {
        "orin-20 is of another model than orin-2: disk was KXG60, is other",
        "orin-1 has it defined otherwise than orin-10: bs was 4k, is 8k",
        "only orin-2 measured it, in the suite q",
        "orin-3: invalid: page cache",
        "orin-4: measured by turns with another",
        "orin-5: the session broke off before it was decided",
    }


def test_an_undecided_workload_counts_as_leaving_noisy_ones_out_would_hide_the_noise(folder, capsys):
    found = document(capsys, *fleet(folder, verdict="inconclusive"))
    assert found["sessions"] == 20


def test_a_metric_without_a_positive_value_is_told_of_its_device(folder, capsys):
    fleet(folder)
    for file in folder.glob("orin-3/*/results.json"):
        results = Results.read(file)
        (record,) = results.workloads
        broken = replace(record.metrics["read.iops"], values=(0.0, 1.0, 1.0))
        replace(results, workloads=(replace(record, metrics={"read.iops": broken}),)).write(file)
    found = document(capsys, *folder.glob("orin-*"))
    assert "read.iops of orin-3 is missing, or no positive number" in left_out(found)
    assert len(found["metrics"][0]["devices"]) == 9


@pytest.mark.parametrize(("filled", "held"), [(0.99, True), (0.91, False)])
def test_devices_that_hold_unlike_data_are_not_held_against_each_other(folder, capsys, filled, held):
    fleet(folder)
    for file in folder.glob("*/*/results.json"):
        results = Results.read(file)
        (record,) = results.workloads
        share = filled if "orin-3" in str(file) else 1.0
        known = record.metrics["read.iops"]
        shares = replace(known, values=(share,) * len(known.values))
        metrics = {**record.metrics, "filled": shares}
        replace(results, workloads=(replace(record, metrics=metrics),)).write(file)
    if held:
        assert len(document(capsys, *folder.glob("orin-*"))["metrics"][0]["devices"]) == 10
    else:
        said = told(capsys, *folder.glob("orin-*"), status=2)
        assert "the devices held data in 91.0% to 100.0% of the blocks that were looked at: fill them" in said


@pytest.mark.parametrize("tolerance", [1.0, 2.5, -0.5])
@pytest.mark.parametrize("judged", [True, False])
def test_a_tolerance_that_says_nothing_is_none(folder, capsys, tolerance, judged):
    for file in (path / "results.json" for device in fleet(folder) for path in device.iterdir()):
        results = Results.read(file)
        (record,) = results.workloads
        metric = replace(record.metrics["read.iops"], tolerance=tolerance if judged else None)
        gate = {} if judged else {"read.iops": (tolerance, None)}
        replace(results, workloads=(replace(record, metrics={"read.iops": metric}, gate=gate),)).write(file)
    (found,) = document(capsys, *folder.glob("orin-*"))["metrics"]
    assert found["tolerance"] == 0.05


def test_one_device_is_no_fleet(folder, capsys):
    said = told(capsys, *fleet(folder, 1), status=2)
    assert "a fleet has at least two devices of one model; here is one device only, orin-1" in said


def test_devices_of_two_suites_have_nothing_in_common(folder, capsys):
    measure(folder, 1, 1, 20_000, names=("a",))
    measure(folder, 2, 2, 20_000, names=("b",))
    said = told(capsys, folder / "orin-1", folder / "orin-2", status=2)
    assert "no workload that two devices measured alike" in said
    assert "a (2026-01-02 00:00): " in said or "left out: a: only orin-1 measured it" in said


def test_two_devices_without_a_serial_number_are_two(folder, capsys):
    plain = replace(environment(1), identity=MODEL)
    for device in (1, 2):
        measure(folder, device, device, 20_000, there=plain)
    assert document(capsys, *folder.glob("orin-*"))["devices"] == ["orin-1", "orin-2"]


def test_workloads_are_chosen_by_patterns(folder, capsys):
    found = document(capsys, "--workload=wr*", *fleet(folder, names=("read_4k", "write_4k")))
    assert [one["workload"] for one in found["metrics"]] == ["write_4k"]


@pytest.mark.parametrize("form", ["-v", "--json"])
def test_names_do_not_steer_the_terminal(folder, capsys, form):
    hostile = replace(environment(1), subject={"kernel": "\x1b]0;x"})
    for device, level in enumerate(levels(6), 1):
        there = replace(hostile, identity=environment(device).identity)
        name, names = f"or\x1b[31min{device}\u202e\x9b", ("read\u202e\x9b",)
        measure(folder, device, device, level, name=name, names=names, there=there)
    assert main(["fleet", form, *map(str, folder.glob("orin-*"))]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\x9b" not in said
