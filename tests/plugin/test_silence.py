"""What a run would leave out, or make up, in silence: warnings in its summary, errors with --io-strict."""

import os
import shutil

import pytest

from projects import refused
from silence import LAB, last_failed, strictly_refused


def test_nothing_to_complain_of_passes_strictly_and_warns_of_nothing(lab):
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(passed=2)
    assert "warning" not in lab.run("suites", "--device=lab").stdout.str()


def test_a_device_that_is_not_named(project):
    project.run("suites")
    strictly_refused(project, "no --device is named", arguments=["suites"])
    refused(project.run("suites", "-o", "io_strict=true"), "no --device is named", status=4)
    project.run("suites", "--device=local", "--io-strict").assert_outcomes(passed=2)


def test_no_folder_of_baselines(project):
    refused(
        project.run("suites", "--device=local", "--io-strict"), "there is no folder", "baselines", status=4
    )
    assert not project.baseline().parent.exists()


def test_a_suite_of_the_profile_that_does_not_exist(lab):
    lab.device("lab", LAB + "suites: [demo, lost]\n")
    strictly_refused(lab, "the profile of lab lists suites that do not exist: lost")


def test_a_suite_that_is_a_link_into_what_is_not_there(lab):
    """As into a submodule that the job did not check out; that it has a baseline is told, too."""
    (lab.path / "shared").mkdir()
    shutil.move(lab.path / "suites/demo.yaml", lab.path / "shared/other.yaml")
    (lab.path / "suites/other.yaml").symlink_to("../shared/other.yaml")
    lab.suite("workloads: {alpha: {engine: fake}, beta: {engine: fake}}\n")
    lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=4)
    shutil.rmtree(lab.path / "shared")
    told = "suites/other.yaml is a link that leads nowhere", "git submodule update --init"
    strictly_refused(lab, *told, "other.yaml: stored baselines of a suite that does not exist")
    (lab.path / "baselines/lab/other.yaml").unlink()
    strictly_refused(lab, *told)


def test_options_of_the_profile_for_a_suite_that_does_not_exist(lab):
    lab.device("lab", LAB + "overrides: {deom: {size: 8M}}\n")
    strictly_refused(lab, "the profile of lab overrides options of suites that do not exist: deom")


def test_a_suite_of_the_profile_that_was_not_asked_for_exists(lab):
    lab.suite("workloads:\n  gamma: {engine: fake}\n", name="other")
    lab.device("lab", LAB + "suites: [demo, other]\n")
    lab.run("suites/demo.yaml", "--device=lab", "--io-strict").assert_outcomes(passed=2)


def test_a_stored_baseline_without_its_workload(lab):
    lab.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n")
    strictly_refused(lab, "demo.yaml: stored baselines whose workloads the suite does not declare: beta")


def test_a_stored_baseline_whose_name_ends_otherwise(lab):
    lab.baseline("lab").rename(lab.baseline("lab").with_suffix(".yml"))
    told = "demo.yml: nothing reads it, as baselines end in .yaml: rename it to demo.yaml"
    strictly_refused(lab, told, arguments=("suites", "--device=lab", "--io-missing=skip"))


def test_a_stored_baseline_that_is_not_read(lab):
    """By a line in the suite nothing was held against it any more, without a word."""
    alpha = "  alpha: {value: 1000, against: {value: 900}}\n"
    lab.suite(f"defaults: {{engine: fake}}\nworkloads:\n{alpha}  beta: {{value: 2000}}\n")
    strictly_refused(lab, "demo.yaml: stored baselines that `against` leaves unread: alpha")


def test_a_workload_that_was_not_asked_for_is_declared(lab):
    lab.run("suites", "-k", "alpha", "--device=lab", "--io-strict").assert_outcomes(passed=1, deselected=1)
    lab.run("suites/demo.yaml::beta", "--device=lab", "--io-strict").assert_outcomes(passed=1)


def test_a_stored_baseline_without_its_suite(lab):
    text = lab.baseline("lab").read_text().replace("suite: demo", "suite: old")
    lab.baseline("lab", "old").write_text(text)
    words = "old.yaml: stored baselines of a suite that does not exist"
    strictly_refused(lab, words)
    lab.pytester.makepyfile(old="def alpha(log): 'what we measure here'")  # and no beta
    strictly_refused(lab, words)
    lab.pytester.makepyfile(old="import unittest\nclass alpha(unittest.TestCase): pass\ndef beta(): pass")
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(passed=2)


def test_a_module_whose_tests_measure_by_a_fixture_is_no_suite_that_is_gone(lab):
    """Its file has no word of measuring, and is named by another job alone."""
    text = lab.baseline("lab").read_text().replace("suite: demo", "suite: bench/disk")
    (lab.path / "bench").mkdir()
    (lab.path / "bench/disk.py").write_text("def test_it(disk): pass\n")
    lab.baseline("lab", "bench/disk").parent.mkdir()
    lab.baseline("lab", "bench/disk").write_text(text.replace("alpha", "test_it").replace("beta", "test_of"))
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(passed=2)


def test_a_suite_of_the_same_name_in_another_folder_is_another(lab):
    text = lab.baseline("lab").read_text()
    lab.baseline("lab", "nightly/demo").parent.mkdir()
    lab.baseline("lab", "nightly/demo").write_text(text.replace("suite: demo", "suite: nightly/demo"))
    strictly_refused(lab, "nightly/demo.yaml: stored baselines of a suite that does not exist")


def test_a_module_of_that_name_somewhere_is_no_test_module(lab):
    """An environment of Python in the project has modules of many names."""
    lab.baseline("lab", "disk").write_text(
        lab.baseline("lab").read_text().replace("suite: demo", "suite: disk")
    )
    (lab.path / ".venv/lib").mkdir(parents=True)
    (lab.path / ".venv/lib/disk.py").touch()
    strictly_refused(lab, "disk.yaml: stored baselines of a suite that does not exist")


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["", "xdist"])
def test_suites_that_were_moved_away_are_missed_where_other_tests_run(lab, parallel):
    run = lab.run
    if parallel:
        pytest.importorskip("xdist")
        run = lab.run_apart
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    (lab.path / "suites").rename(lab.path / "perf")
    result = run(".", "--device=lab", "--io-strict", *parallel)
    refused(result, "demo.yaml: stored baselines of a suite that does not exist", status=4)
    if not parallel:
        assert "perf/demo.yaml looks like a suite and is none of" in str(result.stderr)
    lab.baseline("lab").unlink()
    result = run(".", "--device=lab", "--io-strict", *parallel)
    refused(result, "perf/demo.yaml looks like a suite and is none of", status=1 if parallel else 4)


def test_processes_of_xdist_tell_a_project_without_suites_nothing_whatever_its_files_are_called(pytester):
    """What cannot be sent, as a name in Latin 1, let them crash."""
    pytest.importorskip("xdist")
    pytester.makepyfile(test_plain="def test_plain(): pass")
    with open(os.fsencode(pytester.path) + b"/gr\xfcn.yaml", "w") as stream:
        stream.write("workloads:\n  - web\n")
    result = pytester.runpytest_subprocess("-p", "iogate.plugin", "-n", "1", ".")
    result.assert_outcomes(passed=1)
    assert "looks like a suite" not in result.stdout.str() and "node down" not in result.stdout.str()


def test_suites_that_are_all_left_out_are_missed(lab):
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    lab.device("lab", LAB + "suites: [acceptance]\n")
    words = "the profile of lab lists suites that do not exist: acceptance"
    assert f"warning: {words}" in lab.run(".", "--device=lab").stdout.str()
    refused(lab.run(".", "--device=lab", "--io-strict"), words, status=4)


def test_other_tests_of_a_strict_project_need_no_device(lab):
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    lab.run("test_plain.py", "--io-strict").assert_outcomes(passed=1)
    lab.run(".", "-k", "plain", "--io-strict").assert_outcomes(passed=1, deselected=2)
    lab.baseline("lab").write_text("workloads: [")
    lab.run(".", "-k", "plain", "--device=lab").assert_outcomes(passed=1, deselected=2)


def test_a_folder_of_suites_that_pytest_passes_over(lab):
    """Its norecursedirs has `build` and `dist` as long as nobody sets it."""
    (lab.path / "suites/build").mkdir()
    (lab.path / "suites/build/server.yaml").write_text("workloads: {compile: {engine: fake}}\n")
    words = "suites/build has suites, and pytest enters no folder of that name"
    strictly_refused(lab, words)
    told = lab.run("suites", "--device=lab")
    assert told.ret == 0 and f"warning: {words}" in " ".join(told.stdout.str().split())
    assert lab.run("suites", "--device=lab", "--io-strict", "--ignore=suites/build").ret == 0
    assert lab.run("suites", "--device=lab", "--io-strict", "-o", "norecursedirs=build").ret == 0
    lab.run("suites/build", "--device=lab", "--io-missing=skip", "--io-strict").assert_outcomes(skipped=1)


@pytest.mark.parametrize(
    ("mark", "place"), [("pyvenv.cfg", "suites"), ("conda-meta/history", "suites/nightly")]
)
def test_a_folder_of_suites_that_pytest_takes_for_a_virtual_environment(lab, mark, place):
    """An empty file of a pull request would have been enough to pass."""
    (lab.path / "suites/nightly").mkdir()
    (lab.path / "suites/nightly/deep.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    (lab.path / place / mark).parent.mkdir(exist_ok=True)
    (lab.path / place / mark).touch()
    words = f"{place} has suites, and pytest takes it for a virtual environment, as {mark} lies there"
    strictly_refused(lab, words, arguments=(".", "--device=lab"))
    told = lab.run(".", "--device=lab", "--io-missing=skip")
    assert told.ret == 0 and f"warning: {words}" in " ".join(told.stdout.str().split())
    measured = lab.run(".", "--device=lab", "--io-strict", "--io-missing=skip", "--collect-in-virtualenv")
    measured.assert_outcomes(passed=3, skipped=1)


def test_links_hide_no_suites_that_pytest_takes_for_a_virtual_environment(lab):
    """Nor does a link that is called as a folder which pytest never enters, and leads to the project."""
    (lab.path / "shared").mkdir()
    (lab.path / "shared/deep.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    (lab.path / "suites/nightly").mkdir()
    (lab.path / "suites/nightly/common").symlink_to("../../shared")
    lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=3)
    (lab.path / "suites/nightly/pyvenv.cfg").touch()
    strictly_refused(lab, "suites/nightly has suites, and pytest takes it for a virtual environment")
    (lab.path / "suites/nightly/pyvenv.cfg").unlink()
    (lab.path / "suites/nightly").rename(lab.path / "suites/.nightly")
    (lab.path / "baselines/lab/nightly").rename(lab.path / "baselines/lab/.nightly")
    (lab.path / "suites/__pycache__").symlink_to("..")
    strictly_refused(lab, "baselines/lab/.nightly/common/deep.yaml: stored baselines of a suite that pytest")


def test_iogate_in_a_virtual_environment_among_suites_brings_none(lab):
    place = lab.path / "suites/env/lib/python3.11/site-packages/iogate/suites"
    place.mkdir(parents=True)
    (place / "quick.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    (lab.path / "suites/env/pyvenv.cfg").touch()
    assert lab.run("suites", "--device=lab", "--io-strict").ret == 0


def test_suites_that_have_baselines_in_a_hidden_folder(lab):
    (lab.path / "suites/nightly").mkdir()
    (lab.path / "suites/nightly/deep.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    lab.run("suites/nightly", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    (lab.path / "suites/nightly").rename(lab.path / "suites/.nightly")
    (lab.path / "baselines/lab/nightly").rename(lab.path / "baselines/lab/.nightly")
    words = "baselines/lab/.nightly/deep.yaml: stored baselines of a suite that pytest passes over"
    strictly_refused(lab, words)
    for wanted in (["--ignore=suites/.nightly"], ["-o", "norecursedirs=.*"], ["--deselect=suites/.nightly"]):
        status = lab.run("suites", "--device=lab", "--io-strict", *wanted).ret
        assert status == (4 if "--deselect" in wanted[0] else 0)
    assert lab.run("suites/demo.yaml", "--device=lab", "--io-strict").ret == 0


def test_nothing_is_recorded_strictly(lab):
    lab.device("lab", LAB + "missing: record\n")
    lab.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n  beta: {}\n  new: {}\n")
    result = lab.run("suites", "--device=lab", "--io-strict", "-k", "new")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*no_baseline: lab has no baseline of this workload*"])
    assert "new:" not in lab.baseline("lab").read_text()
    for option in ("--update-baselines", "--update-baselines=append", "--io-missing=record"):
        refused(
            lab.run("suites", "--device=lab", "--io-strict", option), "--io-strict records nothing", status=4
        )


def test_what_was_recorded_unasked_is_told(lab):
    lab.device("lab", LAB + "missing: record\n")
    lab.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {}\n  beta: {value: 2000}\n  new: {}\n")
    result = lab.run("suites", "--device=lab")
    assert "warning: 1 workload had no baseline and was recorded" in result.stdout.str()


def test_strict_runs_judge_tests_in_python_too(project):
    project.pytester.makepyfile("def test_mine(measure, gate): gate.check(measure(engine='fake'))")
    module = next(project.path.glob("test_*.py")).name
    result = project.run(module, "--io-strict")
    result.assert_outcomes(failed=1)
    assert "no --device is named" in result.stdout.str()
    assert not project.baseline().parent.exists()


# ------------------------------------------------------------ what is left out


def test_suites_that_do_not_apply_are_named_with_the_reason(project):
    project.suite("workloads:\n  gamma: {engine: fake}\n  delta: {engine: fake}\n", name="other")
    project.device("local", "target: .\nsuites: [demo]\nmissing: record\n")
    for arguments in (["suites"], ["suites", "-q"]):
        text = " ".join(project.run(*arguments).stdout.str().split())
        why = "2 deselected by baselines/local/device.yaml, which does not list other (2); a suite whose file"
        assert text.count(why) == 1
    assert "deselected" not in project.run("suites/other.yaml").stdout.str()


def test_both_endings_of_yaml_are_suites(project):
    (project.path / "suites/more.yml").write_text("workloads:\n  gamma: {engine: fake}\n")
    project.run("suites").assert_outcomes(passed=3)
    project.run("suites/more.yml").assert_outcomes(passed=1)


def test_an_ending_in_capitals_is_told(lab):
    (lab.path / "suites/MORE.YAML").write_text("workloads:\n  gamma: {engine: fake}\n")
    words = "suites/MORE.YAML looks like a suite and is none of"
    assert words in str(lab.run("suites", "--device=lab").stdout)
    refused(lab.run("suites", "--device=lab", "--io-strict"), words, status=4)


def test_a_suite_elsewhere_is_told(project):
    project.run("suites")
    project.device("local", LAB)
    (project.path / "other").mkdir()
    (project.path / "other/mine.yaml").write_text("defaults: {}\nworkloads:\n  gamma: {engine: fake}\n")
    (project.path / "other/data.yaml").write_text("a: 1\n")
    words = "other/mine.yaml looks like a suite and is none of suites/**/*.yaml, suites/**/*.yml"
    refused(project.run("other/mine.yaml"), "warning: other/mine.yaml looks like a suite", status=4)
    strictly_refused(project, words, arguments=["suites", "other", "baselines", "--device=local"])


def test_projects_without_suites_hear_nothing(project):
    (project.path / "suites/demo.yaml").unlink()
    (project.path / "cluster.yaml").write_text("workloads:\n  - web\n")
    project.pytester.makepyfile("def test_plain(): pass")
    result = project.run(".")
    result.assert_outcomes(passed=1)
    assert "warning" not in result.stdout.str()


@pytest.mark.parametrize(
    "arguments, count",
    [
        (("suites/demo.yaml::alpha",), 1),
        (("suites/demo.yaml::m",), 2),
        (("suites/demo.yaml::m[value=1000]",), 1),
        (("suites/demo.yaml::m[value=1000]", "suites/demo.yaml::alpha"), 2),
        (("suites/demo.yaml::alpha", "suites"), 4),
        (("suites/demo.yaml",), 3),
        (("suites", "suites/demo.yaml", "--keep-duplicates"), 7),
        (("suites", "-k", "alpha"), 1),
        (("suites", "-m", "slow"), 2),
        (("suites", "--deselect=suites/demo.yaml::alpha"), 3),
        (("suites", "--ignore=suites/other.yaml"), 3),
        (("suites", "--lf"), 1),
        (("suites", "--ff"), 4),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_part_of_the_workloads_passes_strictly(lab, arguments, count):
    (lab.path / "baselines/lab/demo.yaml").unlink()
    lab.suite(
        "defaults: {engine: fake}\n"
        "workloads:\n  alpha: {}\n  m: {matrix: {value: [1000, 2000]}, markers: [slow]}\n"
    )
    lab.suite("defaults: {engine: fake}\nworkloads: {gamma: {}}\n", name="other")
    lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=4)
    last_failed(lab, "suites/demo.yaml::alpha")
    result = lab.run(*arguments, "--device=lab", "--io-strict")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] == count
