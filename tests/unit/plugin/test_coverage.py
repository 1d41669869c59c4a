"""What a run leaves out: what is a suite, and what lost its suite."""

import os

import pytest

from iogate.model import Device
from iogate.plugin.coverage import (
    has_suites,
    looks_like_suite,
    missing_suites,
    refusal_text,
    stored_suites,
    warnings_text,
    without_suite,
    without_workload,
)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.yaml", "workloads:\n  a: {}\n", True),
        ("a.yml", "description: x\nworkloads : {}\n", True),
        ("a.yaml", "schema: 1\ndevice: local\nworkloads: {}\n", False),  # a baseline
        ("a.yaml", "jobs:\n  workloads: {}\n", False),
        ("a.txt", "workloads: {}\n", False),
        ("a.yaml", "\0\xff", False),
    ],
)
def test_a_suite_is_known_by_its_key(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    assert looks_like_suite(tmp_path / name) is expected


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.yaml")
    assert not looks_like_suite(tmp_path / "a.yaml")


def test_a_file_that_cannot_be_read_looks_like_nothing(tmp_path):
    assert not looks_like_suite(tmp_path / "none.yaml")
    (tmp_path / "folder.yaml").mkdir()
    assert not looks_like_suite(tmp_path / "folder.yaml")


def test_a_profile_without_a_list_lacks_no_suite():
    assert list(missing_suites(Device("d", "."), {}.__contains__)) == []
    assert list(missing_suites(Device("d", ".", suites=("a", "b")), {"a"}.__contains__)) == [
        "the profile of d lists suites that do not exist: b"
    ]


def test_options_for_a_suite_that_does_not_exist_are_told():
    overridden = {"*": {"size": "8G"}, "a": {"size": "4G"}, "aa": {"size": "2G"}}
    assert list(missing_suites(Device("d", ".", overrides=overridden), {"a"}.__contains__)) == [
        "the profile of d overrides options of suites that do not exist: aa"
    ]


def test_files_without_a_suite_or_a_test_module_are_told(tmp_path):
    folder = tmp_path / "baselines/d"
    folder.mkdir(parents=True)
    for name in ("device", "a", "gone", ".hidden", "._a", ".#a", "nightly/a"):
        (folder / f"{name}.yaml").parent.mkdir(exist_ok=True)
        (folder / f"{name}.yaml").write_text("")
    told = list(without_suite(folder, tmp_path, lambda name: name == "a"))
    assert told == [
        f"baselines/d/{name}.yaml: stored baselines of a suite that does not exist"
        for name in (".hidden", "gone", "nightly/a")
    ]


def test_links_among_baselines_are_followed_within_the_project_and_name_no_files_of_others(tmp_path):
    project, vault = tmp_path / "project", tmp_path / "vault"
    folder = project / "baselines/d"
    for made in (folder / "nightly", project / "kept", vault):
        made.mkdir(parents=True)
    (project / "kept/a.yaml").write_text("")
    (vault / "secret.yaml").write_text("")
    (folder / "nightly/kept").symlink_to("../../../kept")
    (folder / "out").symlink_to(vault)
    assert list(stored_suites(folder, project)) == ["nightly/kept/a"]
    elsewhere = tmp_path / "elsewhere"  # where all baselines lie, by a link or an option
    folder.parent.rename(elsewhere)
    folder.parent.symlink_to(elsewhere)
    (elsewhere / "d/own.yaml").write_text("")
    assert "own" in list(stored_suites(folder, project))


def test_links_of_a_repository_lead_to_suites_of_it_beside_the_project(tmp_path):
    build, common = tmp_path / "gate/suites/build", tmp_path / "common"
    build.parent.mkdir(parents=True)
    (common / "deep").mkdir(parents=True)
    (common / "deep/a.yaml").write_text("workloads: {a: {}}\n")
    build.mkdir()
    (build / "common").symlink_to("../../../common")
    patterns = ["suites/**/*.yaml"]
    assert not has_suites(build, tmp_path / "gate", patterns)  # as far as is known it leads to anybody's
    (tmp_path / ".git").mkdir()
    assert has_suites(build, tmp_path / "gate", patterns)
    (build.parent / "dist").symlink_to(common)
    (tmp_path / ".git").rmdir()
    assert has_suites(build.parent / "dist", tmp_path / "gate", patterns)


def test_only_collected_suites_are_asked_for_their_workloads(tmp_path):
    folder = tmp_path / "baselines/d"
    declared, stored = {"a": {"x"}}, {"a": {"x": None, "y": None}, "b": {"z": None}}
    assert list(without_workload(folder, tmp_path, declared, stored)) == [
        "baselines/d/a.yaml: stored baselines whose workloads the suite does not declare: y"
    ]


def test_no_line_of_a_warning_commands_who_runs_a_job():
    gap = f"stored baselines whose workloads the suite does not declare: {'::error::x, ' * 40}"
    for text in (warnings_text([gap]), refusal_text([gap, "::error::y"])):
        assert "error" in text and not any(line.lstrip().startswith("::") for line in text.splitlines())
