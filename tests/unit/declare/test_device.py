"""Devices: the profile of a machine, and what a wrong one is told."""

import contextlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.declare.device import DeviceFile, check_name, known_devices, load_device
from iogate.errors import InputError, IogateError

FULL = """\
description: a robot's computer
identity: {machine: '*Orin*', serial: '0421'}
target: /data
target_id: {serial: S4EWNX0R123456}
link: {bandwidth: 7.88 GB/s, description: PCIe 4.0 x4}
suites: [acceptance, quick]
overrides:
  '*': {ioengine: io_uring}
  quick: {size: 1G}
missing: skip
wear: {day: 1T, session: 200G}
"""


@pytest.fixture
def baselines(tmp_path):
    def write(text, name="orin"):
        folder = tmp_path / "baselines" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "device.yaml").write_text(text)
        return tmp_path / "baselines"

    return write


def test_every_field_of_a_profile_is_read(baselines):
    device = load_device("orin", baselines(FULL))
    assert device.name == "orin"
    assert device.description == "a robot's computer"
    assert device.identity == {"machine": "*Orin*", "serial": "0421"}
    assert (device.target, device.target_id) == ("/data", {"serial": "S4EWNX0R123456"})
    assert device.link == 7.88e9
    assert device.suites == ("acceptance", "quick")
    assert device.overrides == {"*": {"ioengine": "io_uring"}, "quick": {"size": "1G"}}
    assert device.missing == "skip"
    assert device.wear == {"day": 2**40, "session": 200 * 2**30}
    assert str(device.position).endswith("orin/device.yaml:1:1")


def test_only_the_target_must_be_given(baselines):
    device = load_device("orin", baselines("target: /data\n"))
    assert (device.identity, device.link, device.suites, device.missing) == ({}, None, (), "fail")


@pytest.mark.parametrize(
    "text, bytes_per_second",
    [("7.88 GB/s", 7.88e9), ("{bandwidth: 400 MiB/s}", 400 * 2**20)],
)
def test_a_link_is_a_rate_with_or_without_a_description(baselines, text, bytes_per_second):
    assert load_device("orin", baselines(f"target: .\nlink: {text}\n")).link == bytes_per_second


@pytest.mark.parametrize("text, limits", [("1T/day", {"day": 2**40}), ("64G / session", {"session": 2**36})])
def test_a_wear_limit_is_a_size_per_day_or_session(baselines, text, limits):
    assert load_device("orin", baselines(f"target: .\nwear: {text}\n")).wear == limits


@pytest.mark.parametrize(
    "text, place, message",
    [
        ("target: .\ntargte: x\n", "2:1", "unknown key 'targte', did you mean 'target'?"),
        ("description: x\n", "1:1", "'target' is missing"),
        ("target: .\nlink: fast\n", "2:7", "'fast' is not a rate such as 7.88 GB/s"),
        ("target: .\nlink: 7.88\n", "2:7", "7.88 has no unit: write it as 7.88 GB/s or 7.88 MiB/s"),
        ("target: .\nlink: 0 GB/s\n", "2:7", "greater than 0"),
        ("target: .\nidentity:\n  serial: 0421\n", "3:11", "must be text: put it in quotes"),
        ("target: .\nsuites: []\n", "2:9", "must not be empty"),
        ("target: .\nsuites: [quick]\noverrides: {quikc: {}}\n", "1:1", "did you mean 'quick'?"),
        ("target: .\nmissing: pass\n", "2:10", "'fail', 'skip' or 'record'"),
        ("target: .\nwear: 1T\n", "2:7", "not a limit such as 1T/day"),
        ("target: .\nwear: {week: 1T}\n", "2:7", "not a limit such as 1T/day"),
        ("target: .\ntarget_id: {name: sda}\n", "2:13", "unknown key 'name'"),
        ('target: "a\\0b"\n', "1:9", "is not a path"),
        ('target: a\ntarget_id: {backing_file: "a\\0b"}\n', "2:27", "is not a path"),
        ("target: .\ntarget: x\n", "2:1", "is here twice"),
        ("target: [\n", "2:1", "malformed YAML"),
        ("", "1:1", "the file is empty"),
    ],
)
def test_a_mistake_is_told_with_its_place(baselines, text, place, message):
    with pytest.raises(InputError) as told:
        load_device("orin", baselines(text))
    assert f"device.yaml:{place}: " in str(told.value)
    assert message in str(told.value)


@pytest.mark.parametrize(
    "line",
    [
        *(f"{key}:" for key in ("host", "hosts", "link", "suites", "wear", "overrides", "target_id")),
        *("wear: {}", 'host: ""', 'target_id: {by_id: ""}'),
        *('target_id: {by_id: x, serial: ""}', "target_id: {serial: }"),
    ],
)
def test_a_key_without_a_value_is_not_left_out(baselines, line):
    with pytest.raises(InputError, match=r"device\.yaml:2:.* must not be empty"):
        load_device("orin", baselines(f"target: .\n{line}\n"))


@pytest.mark.parametrize("name", ["", ".", "..", "../orin", "a/b", "/etc", "a\0b", "-x", "a b", "a\n", "~"])
def test_a_name_cannot_lead_out_of_the_folder(baselines, name):
    with pytest.raises(InputError, match="cannot be the name of a device"):
        load_device(name, baselines(FULL))


@given(st.text())
def test_a_name_is_refused_or_is_one_file_name(name):
    try:
        check_name(name)
    except InputError:
        return
    assert os.path.basename(name) == name
    assert name not in ("", ".", "..")
    assert "\0" not in name


def test_a_symbolic_link_cannot_lead_out_either(baselines, tmp_path):
    folder = baselines(FULL)
    (tmp_path / "secret.yaml").write_text("target: /\n")
    (folder / "orin/device.yaml").unlink()
    (folder / "orin/device.yaml").symlink_to(tmp_path / "secret.yaml")
    with pytest.raises(InputError, match="leads out of"):
        load_device("orin", folder)


@pytest.mark.parametrize("hidden", [".env", ".git/credentials"])
def test_a_symbolic_link_cannot_lead_to_what_is_hidden(baselines, hidden):
    """As where the baselines are a clone of their own."""
    folder = baselines(FULL)
    (folder / hidden).parent.mkdir(exist_ok=True)
    (folder / hidden).write_text("token=hunter2\n")
    (folder / "orin/device.yaml").unlink()
    (folder / "orin/device.yaml").symlink_to(folder / hidden)
    with pytest.raises(InputError, match="leads to what is hidden") as caught:
        load_device("orin", folder)
    assert "hunter2" not in str(caught.value)


def test_what_accepts_a_model_does_not_learn_unasked(baselines):
    assert load_device("orin", baselines("target: /mnt\naccepts: model\n")).accepts == "model"
    with pytest.raises(InputError, match="leave learn out"):
        load_device("orin", baselines("target: /mnt\naccepts: model\nlearn: true\n"))
    with pytest.raises(InputError, match="whichever machine comes first"):
        load_device("orin", baselines("target: /mnt\naccepts: model\nmissing: record\n"))


def test_an_unknown_device_is_answered_by_the_known_ones(baselines):
    folder = baselines(FULL)
    (folder / "without_profile").mkdir()
    with pytest.raises(InputError) as told:
        load_device("oirn", folder)
    assert "unknown device 'oirn', did you mean 'orin'?" in str(told.value)
    assert "known devices: local, orin." in str(told.value)
    assert known_devices(folder) == ["local", "orin"]


def test_a_folder_without_devices_knows_the_local_one(tmp_path):
    assert known_devices(tmp_path / "missing") == ["local"]


def test_local_fits_any_machine_without_a_file(tmp_path):
    device = load_device("local", tmp_path / "missing")
    assert (device.target, device.missing, device.identity, device.suites) == (".", "record", {}, ())


def test_a_file_for_local_counts_where_there_is_one(baselines):
    assert load_device("local", baselines("target: /mnt\nmissing: skip\n", "local")).target == "/mnt"


def test_the_shape_is_a_json_schema():
    schema = DeviceFile.model_json_schema()
    assert schema["required"] == ["target"]
    assert schema["additionalProperties"] is False
    assert json.dumps(schema["properties"]["link"])


@given(st.text() | st.binary())
def test_whatever_a_profile_says_the_answer_is_a_device_or_an_error_of_ours(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("baselines")
    (folder / "x").mkdir()
    data = content.encode("utf-8", errors="surrogatepass") if isinstance(content, str) else content
    (folder / "x/device.yaml").write_bytes(data)
    with contextlib.suppress(IogateError):
        assert load_device("x", folder).target


def test_a_profile_says_where_the_device_is(baselines):
    folder = baselines("target: /data\nhost: ssh=root@orin.lab\n")
    assert load_device("orin", folder).host == "ssh=root@orin.lab"


def test_a_profile_says_where_the_clients_are(baselines):
    folder = baselines("target: /data\nhosts: [ssh=c1, ssh=c2]\n")
    assert load_device("orin", folder).hosts == ("ssh=c1", "ssh=c2")


@pytest.mark.parametrize(
    "keys, words",
    [
        ("hosts: [ssh=c1, ssh=c2, ssh=c1]", "'ssh=c1' comes twice"),
        ("hosts: []", "hosts"),
        ("hosts: ssh=c1", "hosts"),
        ("hosts: [ssh=c1]\nhost: ssh=c2", "say one of them"),
    ],
)
def test_hosts_that_cannot_be_meant(baselines, keys, words):
    with pytest.raises(InputError, match=words):
        load_device("orin", baselines(f"target: /data\n{keys}\n"))


def test_this_machine_has_no_hosts(baselines):
    with pytest.raises(InputError, match="local is this machine"):
        load_device("local", baselines("target: /data\nhosts: [ssh=c1]\n", "local"))


def test_this_machine_has_no_host(baselines):
    folder = baselines("target: /data\nhost: ssh=root@orin.lab\n", "local")
    with pytest.raises(InputError, match="the device local is this machine") as caught:
        load_device("local", folder)
    assert caught.value.position.line == 2
