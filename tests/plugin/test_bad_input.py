"""What bad input gets: a clear message, a non-zero status, nothing lost, no traceback."""

import shutil

import pytest

from iogate.plugin.options import OPTIONS
from projects import refused


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("workloads: [", ["suites/demo.yaml:2:1", "malformed"]),
        ("workloads:\n  a: {engine: fake}\n  a: {engine: fake}\n", ["suites/demo.yaml:3:3", "twice"]),
        ("workloads:\n  a: {engine: fake, vlaue: 1}\n", ["suites/demo.yaml:2:21", "did you mean 'value'?"]),
        ("workloads:\n  a: {engine: fake, value: fast}\n", ["suites/demo.yaml:2:28", "value"]),
        ("workload:\n  a: {}\n", ["suites/demo.yaml:1:1", "did you mean 'workloads'?"]),
        ("workloads:\n  a: {engine: fkae}\n", ["suites/demo.yaml:2:15", "did you mean 'fake'?"]),
        ("workloads:\n  a: {rw: read, bs: 4q, size: 1M}\n", ["suites/demo.yaml:2:21", "'4q' is not a size"]),
        (
            "workloads:\n  a: {engine: fake, gate: {read.iops: much}}\n",
            ["suites/demo.yaml:2:27", "tolerance"],
        ),
        (
            "workloads:\n  a: {engine: fake, matrix: {value: []}}\n",
            ["suites/demo.yaml:2:30", "at least one value"],
        ),
        ("", ["suites/demo.yaml:1:1", "empty"]),
        ("- a\n", ["suites/demo.yaml:1:1"]),
        ("workloads: {}\n", ["suites/demo.yaml:1:12"]),
        ("workloads:\n  ../../etc: {engine: fake}\n", ["suites/demo.yaml:2:3", "name of a workload"]),
        (
            "defaults: {engine: fake}\nworkloads:\n"
            "  a: {matrix: {value: &x [1,2,3,4,5,6,7,8,9,0], size: *x, noise: *x, says: *x, settles: *x}}\n",
            ["suites/demo.yaml:3:3", "100000 workloads"],
        ),
    ],
)
def test_a_wrong_suite_is_told_with_its_place(project, suite, words):
    project.suite(suite)
    refused(project.run("suites"), *words, status=pytest.ExitCode.INTERRUPTED)


def test_what_a_profile_sets_for_all_suites_is_for_those_that_apply(project):
    """Another engine's suite, which the profile does not list, ended each run: its engine has no `value`."""
    project.device("lab", "target: .\nsuites: [demo]\nmissing: record\noverrides: {'*': {value: 5000}}\n")
    project.suite("defaults: {engine: reader, rw: read, size: 4M}\nworkloads: {a: {}}\n", "other")
    result = project.run("suites", "--device=lab")
    result.assert_outcomes(passed=2, deselected=1)
    refused(project.run("suites/other.yaml", "--device=lab"), "unknown key 'value'", "device.yaml:4:19")


def test_what_does_not_apply_may_have_its_size_from_the_profile(project):
    """It ended each run: `'size' is missing`, of a suite that the profile does not list."""
    project.device("lab", "target: .\nsuites: [demo]\nmissing: record\noverrides: {'*': {size: 4M}}\n")
    project.suite("defaults: {engine: fake}\nworkloads: {alpha: {value: 5000}}\n")
    project.suite("defaults: {engine: reader, rw: read}\nworkloads: {a: {}}\n", "other")
    result = project.run("suites", "--device=lab")
    result.assert_outcomes(passed=1, deselected=1)
    project.suite("defaults: {engine: reader, rw: raed}\nworkloads: {a: {}}\n", "other")
    refused(project.run("suites", "--device=lab"), "suites/other.yaml:1:32", "'raed'")


def test_a_typo_in_the_overrides_of_a_profile_is_told_with_its_place(project):
    project.device("lab", "target: .\noverrides:\n  '*': {size: 1M}\n  demo: {vlaue: 3}\n")
    result = project.run("suites", "--device=lab")
    refused(result, "baselines/lab/device.yaml:4:10: unknown key 'vlaue', did you mean 'value'?", status=2)


def test_an_unknown_device_lists_the_known_ones(project):
    project.device("orin", "target: .\n")
    refused(project.run("suites", "--device=orni"), "orni", "orin", status=pytest.ExitCode.USAGE_ERROR)


@pytest.mark.parametrize("name", ["../evil", "/etc", "a/b", "..", "."])
def test_a_device_cannot_climb_out_of_its_folder(project, name):
    refused(project.run("suites", f"--device={name}"), name, status=pytest.ExitCode.USAGE_ERROR)


@pytest.mark.parametrize("option", [option.flag for option in OPTIONS])
def test_an_empty_value_of_an_option_is_refused(project, option):
    refused(project.run("suites", f"{option}="), f"argument {option}: is empty", status=4)
    ini = option.lstrip("-").replace("-", "_")
    (project.path / "pytest.ini").write_text(f"[pytest]\n{ini} =\n")
    refused(project.run("suites"), f"{ini}: is empty", status=4)
    assert not project.baseline("local").exists()


def test_what_is_no_host_is_told_with_its_place(project):
    project.device("lab", "# a board\ntarget: .\nhost: orin.lab\nmissing: record\n")
    words = "'orin.lab' is no host: it begins with ssh= or popen"
    refused(project.run("suites", "--device=lab"), f"baselines/lab/device.yaml:2:1: {words}", status=4)
    refused(project.run("suites", "--device=lab", "--io-host=ssh"), "'ssh' is no host: ssh= is", status=4)


def test_a_device_of_another_machine_gives_no_verdict(project):
    project.device("orin", "target: .\nidentity: {machine: '*Jetson AGX Orin*'}\n")
    refused(project.run("suites", "--device=orin"), "is not the device orin", "Jetson AGX Orin", status=4)


def test_a_corrupt_baseline_is_told_and_kept(project):
    project.run("suites")
    project.baseline().write_text("schema: 1\ndevice: local\n  suite: demo\n")
    refused(project.run("suites"), "demo.yaml:", status=4)
    assert project.baseline().read_text() == "schema: 1\ndevice: local\n  suite: demo\n"


def test_a_baseline_of_another_device_is_foreign(project):
    project.run("suites")
    project.device("lab", "target: .\n")
    project.baseline("lab").write_text(project.baseline().read_text())
    refused(project.run("suites", "--device=lab"), "local", "lab", status=4)


def test_a_baseline_of_another_machine_gives_no_verdict(project):
    project.run("suites")
    text = project.baseline().read_text()
    line = next(line for line in text.splitlines() if line.strip().startswith("cpu:"))
    project.baseline().write_text(text.replace(line, line.partition(":")[0] + ": Another Processor"))
    result = project.run("suites")
    result.assert_outcomes(errors=2)
    refused(result, "the baseline is of another machine", "Another Processor")


@pytest.mark.parametrize(
    "option",
    [
        "--io-tolerance=much",
        "--io-alpha=2",
        "--io-alpha=50%",
        "--io-beta=0.99",
        "--io-missing=perhaps",
        "--io-max-repetitions=1",
        "--io-budget=soon",
        "--io-budget=--",
        "--io-size=4q",
    ],
)
def test_a_wrong_option_is_told(project, option):
    refused(project.run("suites", option), option.split("=")[0], status=pytest.ExitCode.USAGE_ERROR)


def test_a_wrong_ini_value_is_told(project):
    (project.path / "pytest.ini").write_text("[pytest]\nio_tolerance = much\n")
    refused(project.run("suites"), "io_tolerance", "much", status=pytest.ExitCode.USAGE_ERROR)


def test_a_missing_target_is_told(project):
    refused(project.run("suites", "--io-target=nowhere"), "nowhere", status=pytest.ExitCode.USAGE_ERROR)


def test_a_file_is_no_target(project):
    (project.path / "file").write_text("precious")
    refused(project.run("suites", "--io-target=file"), "file", status=pytest.ExitCode.USAGE_ERROR)
    assert (project.path / "file").read_text() == "precious"


def test_results_that_cannot_be_written_are_told(project):
    (project.path / "dir").mkdir()
    refused(project.run("suites", "--io-json=dir"), "cannot write")


def test_control_characters_of_a_suite_do_not_reach_the_terminal(project):
    project.suite('workloads:\n  a: {engine: fake, says: "\\e[31mred"}\n')
    result = project.run("suites")
    assert "\x1b[31m" not in result.stdout.str()
    refused(result, "is no figure")


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("missing", ["missing does not exist"]),
        (".", ["is the target itself", "--io-against=same"]),
        ("other", ["on one file system", "--io-against=place:", "if the place is what you mean"]),
        ("place:missing", ["missing does not exist"]),
        ("place:.", ["is the target itself"]),
        ("file", ["file is an image, and the other is none", "--io-target=NEW.img"]),
        ("file#2", ["file#2 is an image, and the other is none"]),
        ("missing.img#2", ["missing.img#2 does not exist"]),
        ("/dev/null", ["/dev/null"]),
        ("\x1b[31m", ["does not exist"]),
    ],
)
def test_what_is_no_base_is_refused(project, base, words):
    (project.path / "other").mkdir()
    (project.path / "file").write_bytes(b"x")
    result = project.run("suites", f"--io-against={base}")
    refused(result, *words, status=pytest.ExitCode.USAGE_ERROR)
    assert "\x1b[31m" not in str(result.stdout)
    assert not (project.path / ".iogate").exists()


def test_a_base_has_no_baseline_to_update(project):
    result = project.run("suites", "--io-against=same", "--update-baselines")
    refused(result, "there is no baseline to update", status=pytest.ExitCode.USAGE_ERROR)


@pytest.mark.parametrize("text", ["key: my secret\n", "my secret\n", "my secret:\n", "[my secret\n"])
def test_nothing_is_shown_of_what_a_link_leads_to_that_is_no_suite_of_the_project(project, tmp_path, text):
    """Repositories of strangers have links, too, and the log of a job may be public."""
    (tmp_path / "private").write_text(text)
    (project.path / "suites/link.yaml").symlink_to(tmp_path / "private")
    result = project.run("suites")
    refused(result, "suites/link.yaml: a link leads to", str(tmp_path / "private"), status=2)
    assert "secret" not in str(result.stdout)


def test_a_link_within_the_project_is_as_good_as_the_file(project):
    (project.path / "other").write_text("workloads: {alpha: {engine: fake, wrong: 1}}\n")
    (project.path / "suites/link.yaml").symlink_to("../other")
    refused(project.run("suites"), "suites/link.yaml:1:", "unknown key 'wrong'", status=2)


@pytest.mark.parametrize("hidden", [".env", ".git/config"])
def test_nothing_is_shown_of_what_is_hidden_in_a_project(project, hidden):
    """A pull request has links and suites; the checkout has the job's token in .git/config."""
    (project.path / hidden).parent.mkdir(exist_ok=True)
    (project.path / hidden).write_text("[a]\ntoken=hunter2\n")
    (project.path / "suites/link.yaml").symlink_to(f"../{hidden}")
    refused(result := project.run("suites"), "suites/link.yaml: a link leads to", status=2)
    assert "hunter2" not in str(result.stdout)
    (project.path / "suites/link.yaml").unlink()
    (project.path / "real.yaml").write_text(f"workloads: {{alpha: {{jobfile: {hidden}, size: 1M}}}}\n")
    (project.path / "suites/link.yaml").symlink_to("../real.yaml")
    refused(result := project.run("suites"), f"{hidden!r} is refused: it is hidden", status=2)
    assert "hunter2" not in str(result.stdout)


def test_nothing_is_shown_of_what_is_hidden_beside_the_suites(project):
    """As where the checkout itself is the folder of suites."""
    suites = project.path / "suites"
    (suites / ".git").mkdir()
    for hidden in (".git/config", ".env"):
        (suites / hidden).write_text("[a]\ntoken=hunter2\n")
    (suites / "c.fio").symlink_to(".git/config")
    (suites / "d.fio").symlink_to(".env")
    (suites / "link.yaml").symlink_to(".env")
    (suites / "c.yaml").write_text("workloads: {alpha: {jobfile: c.fio, size: 1M}}\n")
    (suites / "d.yaml").write_text("workloads: {alpha: {jobfile: d.fio, size: 1M}}\n")
    result = project.run("suites")
    refused(result, "'c.fio' is refused: it is hidden", "'d.fio' is refused: it is hidden", status=2)
    assert "suites/link.yaml: a link leads to" in str(result.stdout)
    assert "hunter2" not in str(result.stdout)


def test_nothing_is_recorded_where_a_link_leads_baselines_out_of_the_project(project, tmp_path):
    """A stranger's clone had its sessions appended to another project's baselines."""
    (tmp_path / "other").mkdir()
    shutil.rmtree(project.path / "baselines", ignore_errors=True)
    (project.path / "baselines").symlink_to(tmp_path / "other")
    refused(project.run("suites"), "out of the project", status=pytest.ExitCode.USAGE_ERROR)
    assert not list((tmp_path / "other").iterdir())
    project.run("suites", f"--io-baselines={tmp_path / 'other'}").assert_outcomes(passed=2)


def test_a_job_file_lies_below_the_folder_of_the_suite_that_was_named(project):
    """Of a link, that is the folder of the link."""
    (project.path / "job.fio").write_text("[a]\nhunter2\n")
    (project.path / "real.yaml").write_text("workloads: {alpha: {jobfile: job.fio, size: 1M}}\n")
    (project.path / "suites/link.yaml").symlink_to("../real.yaml")
    refused(project.run("suites"), "'job.fio' is no file below", status=2)


@pytest.mark.parametrize("options", ["fio: {'%s': 1}", 'matrix: {"%s": []}'])
@pytest.mark.parametrize("word", ["##vso[task.x]", "x\\n::error::y"])
def test_a_mistake_in_a_suite_is_no_command_to_who_runs_the_job(project, options, word):
    project.suite(f"workloads: {{a: {{rw: read, size: 1M, {options % word}}}}}\n")
    refused(result := project.run("suites"), "suites/demo.yaml:1:", status=pytest.ExitCode.INTERRUPTED)
    text = result.stdout.str() + result.stderr.str()
    assert "##vso[" not in text and "\n::" not in text


@pytest.mark.parametrize(
    "name", ["x\n::error::y.yaml", "x\n::error::y/a.yaml", "##vso[x]/a.yaml", "\x1b[31m/a.yaml"]
)
def test_suites_whose_names_are_commands_are_refused(project, name):
    """pytest prints names as they are."""
    path = project.path / "suites" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("workloads: {a: {engine: fake}}\n")
    refused(result := project.run("suites"), "rename it", status=pytest.ExitCode.INTERRUPTED)
    text = result.stdout.str() + result.stderr.str()
    assert "##vso[" not in text and "\n::" not in text and "\x1b" not in text


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("io_destroy = /dev/x", "--io-destroy"),
        ("addopts = -p no:cacheprovider --io-destroy=/dev/x", "--io-destroy"),
        ("addopts = --io-allow-exec", "--io-allow-exec"),
        ("addopts = --update-baselines=force", "--update-baselines"),
        ("addopts = --io-plan", "--io-plan"),
        ("addopts = --io-resume", "--io-resume"),
    ],
)
def test_no_file_agrees_to_destroy_a_device_to_run_what_suites_name_or_to_let_all_pass(project, line, flag):
    """A profile is the one of two who must agree, and comes with the same checkout."""
    ini = project.path / "pytest.ini"
    ini.write_text(f"{ini.read_text().rstrip()}\n{line}\n")
    said = f"pytest.ini: {flag} is said on the command line, and nowhere else"
    refused(project.run("suites"), said)
    refused(project.run("suites", f"--io-reason=see {flag}"), said)
    refused(project.run("suites", "--io-reason", f"addopts={flag}"), said)
    (project.path / "args").write_text(f"{flag}=/dev/x\n" if "destroy" in flag else f"{flag}\n")
    ini.write_text(ini.read_text().replace(line, ""))
    refused(project.run("suites", "@args"), f"args: {flag} is said on the command line, and nowhere else")


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("io_against = same", "--io-against"),
        ("addopts = --io-against=same", "--io-against"),
        ("io_target = elsewhere", "--io-target"),
        ("io_host = popen", "--io-host"),
        ("addopts = --co", "--collect-only"),
        ("addopts = --collect-only -q", "--collect-only"),
    ],
)
def test_a_strict_run_measures_its_device_and_reads_its_baselines_whatever_a_file_says(project, line, flag):
    """12% lost passed beside a copy on the same device: `io_against = same` was left in pytest.ini; so did
    another disk by `io_target`.
    """
    ini, name = project.path / "pytest.ini", flag.lstrip("-").replace("-", "_")
    ini.write_text(f"{ini.read_text().rstrip()}\n{line}\n")
    said = f"pytest.ini: {flag} is said on the command line, and nowhere else where --io-strict is: "
    refused(project.run("suites", "--io-strict"), said)
    assert "nowhere else" not in project.run("suites").stdout.str()
    said = (
        [["--co"], ["--collectonly"]]
        if flag == "--collect-only"
        else [[f"{flag}=same"], ["-o", f"{name}=same"], [f"--override-ini={name}=same"]]
    )
    for words in said:
        told = project.run("suites", "--io-strict", *words)
        assert "nowhere else" not in told.stdout.str() + told.stderr.str()


def test_a_folder_in_the_place_of_a_profile_is_none_of_local_either(project):
    (project.path / "baselines/local/device.yaml").mkdir(parents=True)
    refused(project.run("suites"), "baselines/local/device.yaml is a folder, and no profile")
