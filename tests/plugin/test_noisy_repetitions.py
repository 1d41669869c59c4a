"""Noisy repetitions: more of them are recorded and judged, and it is said before."""

from iogate.report.results import Results

SUITE = "defaults: {engine: fake, noise: 0.06, gate: {read.iops: 5%}}\nworkloads:\n  alpha: {}\n"


def repetitions(project, *arguments):
    result = project.run("suites", "--update-baselines=append", "--io-json=out.json", *arguments)
    (alpha,) = Results.read(project.path / "out.json").workloads
    return result, alpha.repetitions


def test_noisy_repetitions_are_more_and_it_is_said_before(project):
    project.suite(SUITE)
    result, count = repetitions(project)
    result.stdout.fnmatch_lines(
        ["alpha: 5 repetitions are recorded, up to 20 if they differ by 2.* or more", "*1 passed*"]
    )
    assert 5 < count <= 20
    profile = project.path / "baselines/lab/device.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text(f"target: {project.path}\n")
    project.run("suites", "--device=lab", "--update-baselines=append")
    plan = project.run("suites", "--device=lab", "--io-plan")
    plan.stdout.fnmatch_lines(
        ["alpha: repetitions differ by more than the tolerance bears: up to * of them*"]
    )


def test_a_number_that_was_asked_for_is_kept(project):
    project.suite(SUITE)
    result, count = repetitions(project, "--io-max-repetitions=12")
    assert count == 5
    result.stdout.no_fnmatch_line("*repetitions are recorded, up to*")
