"""`iogate baseline log`: how old a baseline is, what it resolves, who changed it and why."""

import shutil
import subprocess

import pytest

from iogate.cli import main
from iogate.judge.baseline import update
from iogate.model import Environment

DEFINITION = {"engine": "fio", "rw": "read"}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """The folder of a device with a baseline of three sessions; one stands in its project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = tmp_path / "baselines/lab"
    folder.mkdir(parents=True)
    (folder / "device.yaml").write_text("target: /tmp\n")
    for day, kernel, reason in (
        (1, "6.1", ""),
        (2, "6.1", "one more"),
        (3, "6.2", "new SSD firmware\x1b[2J"),
    ):
        store(folder / "demo.yaml", day, kernel, reason)
    return folder


def store(file, day, kernel="6.1", reason="", session=""):
    update(
        file,
        "lab",
        "demo",
        session or f"2026-01-0{day}T00:00:00Z-aaaa",
        Environment({"disk": "A"}, {"kernel": kernel}, {"load": str(day)}),
        reason,
        {"a": (DEFINITION, {"read.bandwidth": [1000.0 + day, 1001.0 + day, 1002.0 + day]})},
        "append",
    )


def said(capsys, *arguments, status=0):
    """What the command says, which ends with this status and without a traceback."""
    assert main(["baseline", "log", *map(str, arguments)]) == status
    text = "".join(capsys.readouterr())
    assert "Traceback" not in text and "\x1b" not in text
    return text


def git(folder, *arguments):
    if not shutil.which("git"):
        pytest.skip("needs git")
    names = ("-c", "user.name=Ann\x1b[2J Example", "-c", "user.email=ann@example.org")
    subprocess.run(["git", "-C", folder, *names, *arguments], check=True, capture_output=True)


def test_sessions_are_told_with_age_reason_and_what_changed(lab, capsys):
    text = said(capsys, "lab/demo")
    head, *_ = text.splitlines()
    assert head.startswith(
        "baselines/lab/demo.yaml: lab, suite demo: 1 workload, 3 sessions, age of the newest: "
    )
    assert head.endswith("days")
    rows = [line for line in text.splitlines() if line.startswith("2026-01-")]
    assert "days" in rows[0] and "one more" in rows[1] and "changed" not in rows[1]
    assert "new SSD firmware" in rows[2] and "kernel was 6.1, is 6.2" in rows[2]


def test_an_imported_session_stands_where_it_was_stored(lab, capsys):
    """It came last, whatever was stored later, as its name does not tell its time."""
    store(lab / "demo.yaml", 4, session="imported-aaaa")
    store(lab / "demo.yaml", 5)
    text = said(capsys, "lab")
    assert text.index("2026-01-03T") < text.index("imported-aaaa") < text.index("2026-01-05T")


def test_what_it_resolves_is_told_by_the_tolerance_of_the_suite(lab, capsys):
    def resolves():
        text = said(capsys, "lab")
        return next(line.split() for line in text.splitlines() if line.startswith("a "))

    row = resolves()
    assert row[:4] == ["a", "read.bandwidth", "3", "9"]
    assert row[4].endswith("%") and row[5].endswith("%")
    (lab.parents[1] / "suites").mkdir()
    suite = "workloads:\n  a: {rw: read, size: 1M, gate: {read.bandwidth: 7%}}\n"
    (lab.parents[1] / "suites/demo.yaml").write_text(suite)
    assert resolves()[4] != "7.0%"  # another definition than that of the baseline
    (lab / "demo.yaml").unlink()
    record(lab.parents[1])
    assert resolves()[4] == "7.0%"


def test_what_it_resolves_is_what_a_run_of_the_whole_suite_does(lab, capsys):
    """All metrics share the false alarms: of one alone less is asked."""
    folder = lab.parents[1]
    (folder / "suites").mkdir()
    gate = "gate: {read.bandwidth: 7%, read.iops: 7%, read.lat.mean: 7%, read.clat.mean: 7%}"
    resolved = []
    for gates in ("gate: {read.bandwidth: 7%}", gate):
        suite = f"workloads:\n  a: {{rw: read, size: 1M, {gates}}}\n"
        (folder / "suites/demo.yaml").write_text(suite)
        (lab / "demo.yaml").unlink()
        record(folder)
        text = said(capsys, "lab")
        row = next(
            line.split() for line in text.splitlines() if line.startswith("a  ") and "bandwidth" in line
        )
        resolved.append(float(row[5].rstrip("%")))
    alone, together = resolved
    assert together > alone


def record(project):
    from iogate.declare.suite import load_suite

    (workload,) = load_suite(project / "suites/demo.yaml").workloads
    for day in (1, 2):
        update(
            project / "baselines/lab/demo.yaml",
            "lab",
            "demo",
            f"2026-01-0{day}T00:00:00Z-aaaa",
            Environment(),
            "",
            {"a": (workload.definition, {"read.bandwidth": [1000.0 + day, 1001.0]})},
            "append",
        )


def test_who_changed_it_is_what_git_knows(lab, capsys):
    git(lab, "init", "-q")
    git(lab, "add", ".")
    git(lab, "commit", "-qm", "First figures of the new drive")
    text = said(capsys, "lab")
    row = next(line for line in text.splitlines() if "First figures of the new drive" in line)
    assert "Ann?[2J Example" in row
    assert "not committed" not in text
    store(lab / "demo.yaml", 4)
    assert "changed and not committed" in said(capsys, "lab/demo.yaml")


def test_a_checkout_that_lacks_older_commits_says_so(lab, capsys):
    """Pipelines have one commit, which git takes for the one that changed all files."""
    git(lab, "init", "-q")
    git(lab, "add", ".")
    git(lab, "commit", "-qm", "First figures")
    assert "lacks older commits" not in said(capsys, "lab")
    (lab / ".git/shallow").write_text(f"{(lab / '.git/refs/heads').glob('*').__next__().read_text()}")
    assert "this checkout lacks older commits" in said(capsys, "lab")


HOSTILE = """
[core]
    repositoryformatversion = 1
    pager = touch {mark}
    fsmonitor = touch {mark}
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::touch% {mark}
    promisor = true
[protocol "ext"]
    allow = always
[filter "x"]
    clean = touch {mark}; cat
    process = touch {mark}
[diff "x"]
    textconv = touch {mark}; cat
    command = touch {mark}
[diff]
    external = touch {mark}
[log]
    showSignature = true
[gpg]
    program = touch {mark}
"""


@pytest.mark.parametrize("lacks", ["", "HEAD~:./demo.yaml", "HEAD~^{tree}"], ids=["whole", "file", "tree"])
def test_a_repository_of_others_runs_nothing(lab, capsys, lacks):
    git(lab, "init", "-q")
    for day in (4, 5):
        store(lab / "demo.yaml", day)
        git(lab, "add", ".")
        git(lab, "commit", "-qm", "figures")
    if lacks:
        name = subprocess.check_output(["git", "-C", lab, "rev-parse", lacks], text=True).strip()
        (lab / ".git/objects" / name[:2] / name[2:]).unlink()
    mark = lab / "it-ran"
    (lab / ".gitattributes").write_text("*.yaml filter=x diff=x\n")
    with (lab / ".git/config").open("a") as stream:
        stream.write(HOSTILE.format(mark=mark))
    (lab / "demo.yaml").touch()
    text = said(capsys, "lab")
    assert not mark.exists()
    assert "not committed" not in text
    if not lacks:
        store(lab / "demo.yaml", 6)
        assert "changed and not committed" in said(capsys, "lab")
        assert not mark.exists()


def test_a_file_that_git_does_not_have_says_so(lab, capsys):
    git(lab, "init", "-q")
    git(lab, "commit", "-q", "--allow-empty", "-m", "empty")
    assert "not committed yet" in said(capsys, "lab")


def test_without_a_repository_or_git_the_rest_is_told(lab, capsys, monkeypatch):
    text = said(capsys, "baselines/lab/demo.yaml")
    assert "new SSD firmware" in text
    assert "who changed it is not known: " in text
    monkeypatch.setenv("PATH", "/nowhere")
    if shutil.which("git", path="/usr/sbin:/sbin") is None:
        assert "who changed it is not known: git is not installed" in said(capsys, "lab")


def test_a_published_baseline_says_where_it_comes_from(lab, capsys):
    file = lab / "demo.yaml"
    file.write_text(
        "schema: 1\ndevice: lab\nsuite: demo\nworkloads:\n  a:\n    definition: {engine: fio, rw: read}\n"
        "    source: a report\n    metrics: {read.bandwidth: 1000}\n"
    )
    text = said(capsys, "lab")
    assert "1 workload, 1 of them published" in text and "published: a report" in text
    assert "tolerance alone" in text


def test_a_name_that_stands_for_nothing_is_refused_with_those_that_do(lab, capsys):
    assert "there is no baseline 'lap'" in said(capsys, "lap", status=2)
    assert "did you mean 'lab'" in said(capsys, "lap", status=2)


def test_a_damaged_baseline_is_refused_by_its_place(lab, capsys):
    (lab / "demo.yaml").write_text("nonsense")
    assert "demo.yaml:1" in said(capsys, "lab", status=2)
