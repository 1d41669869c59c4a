"""Many clients of one storage, for real: network namespaces of this machine, on one directory."""

import os
import shutil
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from clients import namespaces, ports_of
from hosts import far_processes, popen, sshd
from iogate.plugin.status import STATUSES
from loops import MIB, Loops, format_device, need
from projects import need_fio, plain, refused
from waiting import eventually

pytestmark = pytest.mark.system

BUSY = "waive: {clients_together: other tests run beside these}"
SUITE = f"""\
defaults:
  {{rw: randread, bs: 4k, size: 1M, direct: false, time_based: true, runtime: 2, repetitions: 1, {BUSY}}}
workloads:
  alone: {{}}
  together: {{clients: all}}
  curve: {{clients: [1, 2]}}
"""
LONG = f"""\
defaults: {{rw: randread, bs: 4k, size: 1M, direct: false, time_based: true, repetitions: 1, {BUSY}}}
workloads:
  short: {{runtime: 0.1}}
  long: {{runtime: 60, clients: all}}
"""


@pytest.fixture(autouse=True)
def fio():
    need_fio()


@pytest.fixture
def project(project):
    project.record_at_once()
    return project


@pytest.fixture
def target(tmp_path):
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


@pytest.fixture
def two(tmp_path):
    with namespaces(tmp_path, 2) as clients:
        yield clients


def profile(target, hosts):
    return f"target: {target}\nmissing: record\nhosts:\n" + "".join(f"  - {host}\n" for host in hosts)


def nothing_left(project, target, clients):
    """No scratch folder, no private folder, no process."""
    for client in clients:
        eventually(lambda client=client: not far_processes(client.tmp))
        eventually(lambda client=client: not list(client.tmp.glob("iogate-" + "[0-9a-f]" * 16)))
    eventually(lambda: not list(target.iterdir()))
    eventually(lambda: not project.processes())


def test_a_workload_runs_on_all_clients_at_once(project, two, target):
    project.suite(SUITE)
    project.device("lab", profile(target, [client.host for client in two]))
    result = project.run("suites", "--device=lab")
    plain(result.text)
    assert set(result.verdicts.values()) == {"recorded"}, result.text
    metrics = {name: item["value"] for name, item in result.workload("together")["metrics"].items()}
    each = [metrics[f"client_{number}.read.iops"] for number in (1, 2)]
    assert min(each) > 0
    assert 0.1 * min(each) < metrics["read.iops"] < 10 * sum(each)  # exactly by hand in the tests of fio
    assert not any(name.startswith("client") for name in result.workload("alone")["metrics"])
    curve = result.workload("curve")["metrics"]
    assert {"clients_1.read.iops", "clients_2.speedup", "clients_2.efficiency", "serial_fraction"} <= set(
        curve
    )
    assert curve["clients_1.read.iops"]["gating"]
    folder = project.path / result.workload("together")["measured"][0]["folder"]
    assert {path.name for path in folder.iterdir()} == {"client_1", "client_2"}
    assert (folder / "client_1/output.json").exists()
    nothing_left(project, target, two)


def test_four_clients_on_a_file_system_of_its_own(project, tmp_path):
    need("mkfs.ext4")
    with ExitStack() as stack:
        clients = stack.enter_context(namespaces(tmp_path, 4))
        loops = stack.enter_context(Loops(tmp_path))
        loops.into_memory()
        device = loops.device(96 * MIB, "--direct-io=on")
        format_device("ext4", device)
        target = loops.mount(device)
        project.suite(
            "defaults: {rw: randrw, bs: 4k, size: 4M, iodepth: 4, time_based: true, runtime: 6, "
            f"{BUSY}}}\n"
            "workloads: {together: {repetitions: 1, matrix: {clients: [2, 4]}}}\n"
        )
        project.device("lab", profile(target, [client.host for client in clients]))
        result = project.run("suites", "--device=lab")
        plain(result.text)
        assert set(result.verdicts.values()) == {"recorded"}, result.text
        four = result.workload("together[clients=4]")["metrics"]
        assert {f"client_{number}.write.iops" for number in (1, 2, 3, 4)} <= set(four)
        assert "client_3.read.iops" not in result.workload("together[clients=2]")["metrics"]
        assert [path.name for path in target.iterdir()] == ["lost+found"]


def test_two_ways_of_ssh(project, two, tmp_path, target):
    with sshd(tmp_path / "ssh") as server:
        hosts = [f"ssh=bench//ssh_config={server.config}//python={client.python()}" for client in two]
        project.suite(SUITE.partition("  curve:")[0])
        project.device("lab", profile(target, hosts))
        result = project.run("suites", "--device=lab")
        assert result.verdicts == {"alone": "recorded", "together": "recorded"}, result.text
        nothing_left(project, target, two)


def start_long(project, clients, target):
    """A run in its long workload, whose short one is decided, with fio at work at both clients."""
    project.suite(LONG)
    project.device("lab", profile(target, [client.host for client in clients]))
    run = project.start("suites", "--device=lab")
    for client in clients:
        eventually(lambda client=client: engines(client), patience=300)
    return run


def engines(client):
    """The servers of fio at a client in the long workload, the one that listens first."""
    found = []
    for pid in far_processes(client.tmp):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            inside = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if b"--server=sock:" in line and "/long-" in inside:
            found.append(pid)
    return sorted(found) if len(found) > 1 else []  # with one that does what the conductor asked for


def python(client):
    """The far side's Python at a client."""
    return next(
        pid
        for pid in far_processes(client.tmp)
        if b"sys.stdin.readline" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


def test_nothing_listens_on_a_network_port_and_ctrl_c_ends_all(project, two, target):
    run = start_long(project, two, target)
    for client in two:
        assert client.listening() == []
    assert ports_of(run.pid) == []
    os.killpg(run.pid, signal.SIGINT)
    result = project.finish(run)
    assert result.status == 2, result.text
    assert "1 of 2 workloads decided" in result.text
    nothing_left(project, target, two)


@pytest.mark.parametrize(
    "victim, number, words",
    [
        ("server", 1, ["its server ended in mid-run"]),
        ("python", 1, ["the connection to", "broke"]),
        ("python", 0, ["the connection to", "broke"]),
    ],
)
def test_a_client_that_is_killed_ends_all_of_them(project, two, target, victim, number, words):
    run = start_long(project, two, target)
    client = two[number]
    os.kill(engines(client)[0] if victim == "server" else python(client), signal.SIGKILL)
    result = project.finish(run)
    assert result.status == STATUSES["invalid"], result.text
    assert result.verdicts == {"short": "recorded", "long": "invalid"}
    for word in [*words, client.name]:
        assert word in " ".join(result.text.split()), result.text
    plain(result.text)
    assert result.seconds < 50
    nothing_left(project, target, two)


def test_hosts_that_are_the_same_machine_are_refused(project, tmp_path, target):
    (tmp_path / "far").mkdir()
    project.suite(LONG)
    project.device("lab", profile(target, [popen(tmp_path / "far"), f"{popen(tmp_path / 'far')} -B"]))
    refused(project.run("suites", "--device=lab"), "are the same machine", status=4)
    assert not list(target.iterdir())


def test_a_client_without_fio_is_named(project, two, tmp_path, target):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ip").symlink_to(shutil.which("ip"))
    hosts = [two[0].host, f"popen//python={two[1].python('PATH=/bin-of-nobody ')}"]
    project.suite(LONG)
    project.device("lab", profile(target, hosts))
    refused(project.run("suites", "--device=lab"), two[1].name, "fio is not installed", status=4)
    nothing_left(project, target, two)


LIAR = """\
#!{python}
import os, socket, struct, sys
server = [word for word in sys.argv if word.startswith("--server=sock:")]
if not server:
    os.execv({fio!r}, ["fio", *sys.argv[1:]])
listener = socket.socket(socket.AF_UNIX)
listener.bind(server[0].split(":")[1])
listener.listen(1)
said = listener.accept()[0]
def crc(data, value=0):
    for bit in (data[at >> 3] >> (at & 7) & 1 for at in range(8 * len(data))):
        value = value >> 1 ^ (0xA001 if (value ^ bit) & 1 else 0)
    return value
def receive(size):
    found = b""
    while len(found) < size:
        found += said.recv(size - len(found)) or sys.exit()
    return found
asked = False
while True:
    version, opcode, _, _, size, _, _ = struct.unpack("<HHIQIHH", receive(24))
    content = receive(size)
    if opcode == 21:
        open({stolen!r}, "wb").write(content)
    if not asked:
        asked, content = True, {secret!r}.encode().ljust(256, b"\\0")
        head = struct.pack("<HHIQI", version, 21, 0, 1, len(content))
        said.sendall(head + struct.pack("<HH", crc(head), crc(content)) + content)
"""


def lying(clients, number, tmp_path, text):
    """The hosts of clients, one of which has another fio."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "fio").write_text(text)
    (programs / "fio").chmod(0o755)
    hosts = [client.host for client in clients]
    path = f"PATH={programs}:{os.environ['PATH']} "
    hosts[number] = f"popen//python={clients[number].python(path)}"
    return hosts


def test_a_server_gets_no_file_of_the_machine_where_fio_runs(project, two, tmp_path, target):
    secret, stolen = tmp_path / "secret", tmp_path / "stolen"
    secret.write_text("my key")
    text = LIAR.format(python=sys.executable, fio=shutil.which("fio"), secret=str(secret), stolen=str(stolen))
    project.suite(SUITE)
    project.device("lab", profile(target, lying(two, 1, tmp_path, text)))
    result = project.run("suites", "--device=lab", "-k", "together")
    assert result.verdicts == {"together": "invalid"}
    assert "its server asked fio for what is not its to ask for" in result.text
    assert not stolen.exists()
    nothing_left(project, target, two)


def test_who_drives_the_clients_has_them_run_no_command(project, two, tmp_path, target):
    made = tmp_path / "made"
    text = f"""\
#!/bin/sh
case "$*" in *--client=*) echo "exec_prerun=touch {made}" >> client_2.fio;; esac
exec {shutil.which("fio")} "$@"
"""
    project.suite(SUITE)
    project.device("lab", profile(target, lying(two, 0, tmp_path, text)))
    result = project.run("suites", "--device=lab", "-k", "together")
    assert result.verdicts == {"together": "invalid"}
    assert "fio asked the server of another client for what is not its to ask for" in result.text
    assert not made.exists()
    nothing_left(project, target, two)


def test_more_clients_than_hosts(project, two, target):
    project.suite(LONG.replace("all", "8"))
    project.device("lab", profile(target, [client.host for client in two]))
    refused(project.run("suites", "--device=lab"), "has 2 hosts", two[1].name, status=4)
    nothing_left(project, target, two)


def test_clients_with_different_data_are_refused(project, two, tmp_path):
    with Loops(tmp_path) as loops:
        for client, size in zip(two, (16, 32), strict=True):
            (client.tmp / "drive").symlink_to(loops.device(size * MIB))
        project.suite(LONG)
        project.device("lab", profile("drive", [f"{client.host}//chdir={client.tmp}" for client in two]))
        said = project.run("suites", "--device=lab")
        refused(said, "the clients have different data", "16.00 MiB", "32.00 MiB", two[1].name, status=4)
