"""Beside the plugins of others: none changes a verdict, and what they write shows ours."""

import html
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

SUITE = """\
defaults: {engine: fake, gate: {read.iops: 5%}}
workloads:
  alpha: {value: 1000, description: "reads <b>&"}
  beta: {value: 2000, markers: [slow]}
"""
MINE = "def test_mine(measure, gate):\n    gate.check(measure(engine='fake', value=500))\n"


@pytest.fixture
def judged(project):
    """A project with a baseline."""
    project.suite(SUITE)
    project.run("suites").assert_outcomes(passed=2)
    return project


def beside(project, plugins, *arguments, factor=0.5):
    """Run the suite with plugins of others, on a device of half the speed."""
    wanted = [word for name in plugins.split() for word in ("-p", name)]
    result = project.run_apart(*wanted, *arguments, factor=factor)
    assert "INTERNALERROR" not in str(result.stdout), result.stdout
    return result


def repetitions(project):
    """How often each workload was measured in the last session."""
    session = max(project.path.glob(".iogate/results/*/"), key=lambda folder: folder.stat().st_mtime_ns)
    return {
        folder.name.partition("-")[0]: len(list(folder.iterdir()))
        for folder in session.iterdir()
        if folder.is_dir()
    }


def test_the_pages_of_others_show_verdict_and_figures(judged):
    """pytest-html, Allure, pytest-json-report, and pytest-cov, all at once."""
    page = ("--html=page.html", "--self-contained-html")
    allure = ("--alluredir=allure",)
    report = ("--json-report", "--json-report-file=report.json")
    plugins = "metadata pytest_html.plugin allure_pytest pytest_jsonreport pytest_cov"
    result = beside(judged, plugins, "suites", *page, *allure, *report, "--cov=suites", "--cov-report=")
    assert result.ret == 1
    result.assert_outcomes(failed=2)
    _check_page((judged.path / "page.html").read_text())
    _check_allure([json.loads(file.read_text()) for file in judged.path.glob("allure/*-result.json")])
    _check_report(json.loads((judged.path / "report.json").read_text()))


def _check_page(page):
    (blob,) = re.findall(r'data-jsonblob="(.*?)"', page, re.DOTALL)
    tests = json.loads(html.unescape(blob))["tests"]
    (alpha,) = next(found for name, found in tests.items() if "alpha" in name)
    assert alpha["result"] == "Failed" and "regressed: read.iops" in alpha["log"]
    (shown,) = [item["content"] for item in alpha["extras"] if item["format_type"] == "html"]
    assert "<table>" in shown and "<td>read.iops</td>" in shown and "regressed" in shown
    assert "reads &lt;b&gt;&amp;" in shown


def _check_allure(found):
    alpha = next(item for item in found if item["name"] == "alpha")
    assert alpha["status"] == "failed" and "regressed: read.iops" in alpha["statusDetails"]["message"]
    assert alpha["description"].startswith("reads <b>&\n\nregressed: ")
    assert "<td>read.iops</td>" in alpha["descriptionHtml"] and "&lt;b&gt;" in alpha["descriptionHtml"]
    assert {"name": "tag", "value": "regressed"} in alpha["labels"]


def _check_report(report):
    assert report["summary"]["failed"] == 2 and report["exitcode"] == 1
    known = {key: value for item in report["tests"][0]["user_properties"] for key, value in item.items()}
    assert known["verdict"] == "regressed" and known["read.iops.change"] == pytest.approx(-0.5, abs=0.01)
    assert "regressed: read.iops" in report["tests"][0]["call"]["longrepr"]


def test_pytest_rerunfailures_does_not_measure_until_it_passes(judged):
    judged.pytester.makepyfile(test_mine=MINE)
    judged.run("test_mine.py").assert_outcomes(passed=1)
    judged.suite(SUITE + "  gamma: {says: no figure}\n")
    arguments = ("suites", "test_mine.py", "--reruns=2", "--junitxml=junit.xml", "--io-missing=record")
    result = beside(judged, "rerunfailures", *arguments)
    assert result.ret == 1
    assert "3 failed, 1 error, 8 rerun" in str(result.stdout)
    found = repetitions(judged)
    assert found["alpha"] == found["beta"] == 5 and found["gamma"] == 1 and found["test_mine"] <= 2
    root = ElementTree.parse(judged.path / "junit.xml").getroot()
    for case in root.iter("testcase"):
        assert [item.get("name") for item in case.iter("property")].count("verdict") <= 1


def test_pytest_randomly_does_not_shuffle_workloads(judged):
    matrix = "workloads:\n  x: {engine: fake, matrix: {value: [4, 1, 3, 2]}}\n  a: {engine: fake}\n"
    judged.suite(matrix, name="zoo")
    judged.pytester.makepyfile("def test_one(): pass\ndef test_two(): pass\n")
    points = [f"suites/zoo.yaml::x[value={value}]" for value in (4, 1, 3, 2)]
    declared = ["suites/demo.yaml::alpha", "suites/demo.yaml::beta", *points, "suites/zoo.yaml::a"]
    for seed in (1, 2, 3):
        result = judged.run("-p", "randomly", f"--randomly-seed={seed}", "--collect-only", "-q", ".")
        assert [line for line in result.outlines if "suites" in line and "::" in line] == declared


def test_pytest_randomly_leaves_verdicts_and_rounds_as_they_are(judged):
    result = beside(judged, "randomly", "suites", "--randomly-seed=1", factor=1.0)
    result.assert_outcomes(passed=2)
    lines = [line for line in result.outlines if line.startswith("demo: ") and "/" in line]
    assert [line.split()[1] for line in lines][:4] == ["alpha", "beta", "alpha", "beta"]


def test_what_measures_is_measured_in_one_order_whatever_comes_first(project):
    """A device is as hot as what came before made it: --ff, after a failure, called a loss an improvement."""
    suite = "workloads:\n  {0}1: {{engine: fake, gate: {{read.iops: 5%}}}}\n  {0}2: {{engine: fake}}\n"
    for name in "ba":
        project.suite(suite.format(name), name=name)
    project.suite("workloads:\n  late: {engine: fake}\n", name="demo")
    tests = "def test_{0}(measure): measure(engine='fake')\ndef test_{0}_else(): pass\n"
    project.pytester.makepyfile(test_r=tests.format("r"), test_q=tests.format("q") + tests.format("p"))
    project.device("lab", "target: .\n")
    order = ["suites/a.yaml::a1", "suites/a.yaml::a2", "suites/b.yaml::b1", "suites/b.yaml::b2"]
    order += ["suites/demo.yaml::late", "test_q.py::test_q", "test_q.py::test_p", "test_r.py::test_r"]

    def measured(*arguments):
        result = project.run_apart(*arguments, "--device=lab", "--io-json=out.json")
        document = json.loads((project.path / "out.json").read_text())
        return [one["id"] for one in document["workloads"]], result

    assert measured("suites", "test_q.py", "test_r.py", "--update-baselines")[0] == order
    backwards = ["test_r.py", "test_q.py", "suites/demo.yaml", "suites/b.yaml", "suites/a.yaml"]
    assert measured(*backwards)[0] == order
    project.pytester.makepyfile(test_r=tests.format("r").replace(")\n", "); assert 0\n", 1))
    found, result = measured(".")
    result.assert_outcomes(passed=10, failed=1)
    assert found == order
    assert measured(".", "--ff")[0] == order
    assert measured(*reversed(order))[0] == order
    assert measured(".", "-p", "randomly", "--randomly-seed=3")[0] == order


def test_what_measures_by_asking_as_it_runs_keeps_its_order_once_it_is_known(project):
    """pytest-bdd's steps do so, and helpers around `measure`."""
    asks = "import pytest\n@pytest.fixture\ndef bench(request): return request.getfixturevalue('measure')\n"
    tests = "".join(f"def test_{{0}}{at}(bench): bench(engine='fake')\n" for at in (1, 2, 3))
    project.pytester.makeconftest(asks)
    project.pytester.makepyfile(**{f"test_{name}": tests.format(name) for name in "abc"})
    project.device("lab", "target: .\n")
    (project.path / "suites/demo.yaml").unlink()

    def measured(*arguments):
        project.run_apart(*arguments, "--device=lab", "--io-json=out.json").assert_outcomes(passed=9)
        document = json.loads((project.path / "out.json").read_text())
        return [one["id"] for one in document["workloads"]]

    order = [f"test_{name}.py::test_{name}{at}" for name in "abc" for at in (1, 2, 3)]
    assert measured(".", "--update-baselines") == order
    for how in (["test_c.py", "test_b.py", "test_a.py"], order[::-1], [".", "-p", "randomly"], [".", "--ff"]):
        assert measured(*how) == order


@pytest.mark.parametrize("how", [["--random-order"], ["--random-order-bucket=global"], ["--reverse"], []])
def test_other_plugins_shuffle_what_measures_no_more_than_randomly_does(project, how):
    """pytest-random-order and pytest-reverse."""
    files = {f"test_{name}": f"def test_{name}1(measure): measure(engine='fake')\n" for name in "abcdef"}
    project.pytester.makepyfile(**files)
    plugins = ["-p", "random_order", "-p", "reverse"]
    result = project.run_apart(".", *plugins, "--collect-only", "-q", *how)
    found = [line for line in result.outlines if line.startswith("test_")]
    assert found == [f"{name}.py::{name}1" for name in files]


def test_what_failed_amid_a_file_is_measured_in_its_place_again(project):
    """--ff takes it out of its file, and puts it before all others."""
    for name in "ab":
        project.suite(
            "workloads:\n" + "".join(f"  {name}{at}: {{engine: fake}}\n" for at in (1, 2, 3)), name=name
        )
    project.suite("workloads: {late: {engine: fake}}\n", name="demo")
    project.device("lab", "target: .\n")
    project.run("suites", "--device=lab", "--update-baselines")
    file = project.path / "baselines/lab/b.yaml"
    file.write_text(
        re.sub(
            r"(b2:(?:\n    .*)*?read.iops:\n)((?:      .*\n)+)",
            r"\1      - [9e3, 9e3, 9e3]\n",
            file.read_text(),
        )
    )
    for how in ((), ("--ff",), ("--nf",)):
        result = project.run_apart("suites", "--device=lab", *how)
        result.assert_outcomes(passed=6, failed=1)
        begun = [line.split()[1] for line in result.outlines if re.match(r"\w+: \w+ 1/", line)]
        assert begun == ["a1", "a2", "a3", "b1", "b2", "b3", "late"]


GROUPED = """\
import pytest
@pytest.fixture(scope="module", params=["ext4", "xfs"])
def disk(request): return []
def test_fill(disk): disk.append("filled")
def test_read(disk, measure): measure(engine="fake"); assert disk
def test_between(disk): assert disk
def test_write(disk, measure): measure(engine="fake"); assert disk
"""


@pytest.mark.parametrize("how", [(), ("--ff",), ("-p", "randomly", "--randomly-seed=3")])
def test_tests_stay_with_the_fixtures_that_group_them(project, how):
    """What measures was put where another one stood, and found a disk that nobody had filled."""
    project.pytester.makepyfile(test_b=GROUPED, test_a="def test_plain(): pass\n", test_c=GROUPED)
    project.device("lab", "target: .\n")
    for files in (("test_c.py", "test_a.py", "test_b.py"), (".",)):
        result = project.run_apart(*files, "--device=lab", "--update-baselines", *how)
        assert result.parseoutcomes() | {"warnings": 0} == {
            "passed": 17 + 2 * (files == (".",)),
            "warnings": 0,
        }


def test_files_that_share_a_fixture_are_measured_in_one_order_too(project):
    """pytest goes through them once for each of its parameters, as a whole."""
    fixture = "import pytest\n@pytest.fixture(scope='session', params=['s1', 's2'])\ndef fs(request): pass\n"
    project.pytester.makeconftest(fixture)
    test = "def test_x(measure, fs): measure(engine='fake')\n"
    project.pytester.makepyfile(test_b=test, test_c=test)
    project.suite("workloads: {a1: {engine: fake}}\n")
    project.device("lab", "target: .\n")
    order = [
        "suites/demo.yaml::a1",
        *(f"test_{name}.py::test_x[{fs}]" for fs in ("s1", "s2") for name in "bc"),
    ]
    for files in (
        (".",),
        ("test_b.py", "test_c.py", "suites"),
        ("test_c.py", "suites", "test_b.py"),
        order[::-1],
    ):
        assert measured(project, *files) == order


@pytest.mark.parametrize("scope", ["function", "module"])
def test_parameters_are_measured_in_the_order_in_which_they_stand(project, scope):
    """Not in that of the node ids on the command line, as a pipeline sorts them."""
    project.pytester.makepyfile(
        test_p=f"""
        import pytest
        @pytest.mark.parametrize("rw", ["write", "read"], scope={scope!r})
        @pytest.mark.parametrize("bs", ["4k", "8k", "16k"])
        def test_p(measure, rw, bs): measure(engine="fake")
        def test_q(measure): measure(engine="fake")
        """
    )
    project.device("lab", "target: .\n")
    order = measured(project, "test_p.py")
    assert len(order) == 7
    assert measured(project, *sorted(order)) == measured(project, *sorted(order, reverse=True)) == order


SHARED = """\
import pytest
@pytest.fixture(scope="session", params=["nvme", "sata"])
def disk(request): pass
@pytest.fixture(scope="session", params=["ext4", "xfs"])
def fs(request): pass
"""


def test_fixtures_that_several_files_share_are_gone_through_in_one_order(project):
    """What came first on the command line told which parameter came first; a file that measures nothing
    grouped the others, and --ff left it out.
    """
    project.pytester.makeconftest(SHARED)
    project.pytester.makepyfile(
        test_a="def test_mounts(disk): pass\ndef test_x(disk, measure): measure(engine='fake')\n",
        test_b="def test_0(measure): measure(engine='fake')\n"
        "def test_y(fs, measure): measure(engine='fake')\n"
        "def test_z(disk, fs, measure): measure(engine='fake')\n",
        test_c="def test_plain(disk, fs): pass\n",
    )
    project.device("lab", "target: .\n")
    names = ["test_a.py", "test_b.py", "test_c.py"]
    order = measured(project, *names)
    assert len(order) == 9
    for how in (names[::-1], [*names, "--ff"], [*names, "-p", "randomly", "--randomly-seed=5"]):
        assert measured(project, *how) == order
    collected = project.run_apart(*names, "--collect-only", "-q", "--device=lab").outlines
    assert measured(project, *(line for line in collected if "::" in line)) == order


def test_what_is_left_out_changes_nothing_of_the_order_of_the_rest(project):
    project.pytester.makepyfile(
        test_z="""
        import pytest
        @pytest.fixture(scope="module", params=[1, 2])
        def m0(request): pass
        @pytest.fixture(scope="session")
        def ind(request): pass
        class TestZ:
            def test_g(self, measure): measure(engine="fake")
            def test_i(self, m0, measure): measure(engine="fake")
            @pytest.mark.parametrize("ind", ["u", "v"], indirect=True)
            def test_a(self, ind, measure): measure(engine="fake")
            def test_x(self, measure): measure(engine="fake")
        def test_b(m0, measure): measure(engine="fake")
        """
    )
    project.device("lab", "target: .\n")
    order = measured(project, "test_z.py")
    assert measured(project, "test_z.py", "-k", "not test_a") == [one for one in order if "_a[" not in one]


def test_stepwise_passes_over_nothing_that_is_grouped_otherwise_when_less_is_left(project):
    project.pytester.makepyfile(
        test_s="""
        import os, pytest
        @pytest.fixture(scope="module", params=[1, 2])
        def disk(request): pass
        def fails(request): assert request.node.name not in os.environ["FAILS"].split()
        def test_x(disk, measure, request): fails(request)
        def test_y(disk, measure, request): fails(request)
        """
    )
    project.device("lab", "target: .\n")
    failed = []
    for fails in ("test_y[1]", "test_y[1] test_y[2]", ""):
        project.pytester._monkeypatch.setenv("FAILS", fails)
        result = project.run_apart("test_s.py", "--device=lab", "--sw")
        failed.append(result.parseoutcomes())
    assert failed[0] == {"passed": 1, "failed": 1}
    assert failed[1] == {"failed": 1, "deselected": 1}, "the same one again"
    assert failed[2] == {"passed": 3, "deselected": 1}


def test_packages_and_parameters_are_set_up_as_often_as_without_iogate(project):
    lab = "import pytest\n@pytest.fixture(scope='package', autouse=True)\ndef lab(): print('set up')\n"
    for name in "ab":
        folder = project.pytester.mkpydir(name)
        (folder / "conftest.py").write_text(lab)
        (folder / "test_m.py").write_text("def test_m(measure): measure(engine='fake')\n")
        (folder / "test_n.py").write_text("def test_n(): pass\n")
    project.device("lab", "target: .\n")
    for folders in ("ab", "ba"):
        result = project.run_apart(*folders, "--device=lab", "-s")
        assert str(result.stdout).count("set up") == 2


def test_an_order_that_is_told_holds_within_a_file(project):
    """By the marks of pytest-order, or a conftest.py."""
    project.pytester.makeconftest("def pytest_collection_modifyitems(items): items.reverse()\n")
    test = "def test_x(measure): measure(engine='fake')\ndef test_y(measure): measure(engine='fake')\n"
    project.pytester.makepyfile(test_a=test, test_b=test)
    project.device("lab", "target: .\n")
    order = [f"test_{name}.py::test_{test}" for name in "ab" for test in "yx"]
    assert measured(project, "test_a.py", "test_b.py") == measured(project, "test_b.py", "test_a.py") == order


CONTRACT = """\
import pytest
from common import test_imported
class Contract:
    @classmethod
    def setup_class(cls): print("set up")
    def test_4k(self, measure): measure(engine="fake")
    def test_8k(self, measure): measure(engine="fake")
class TestNvme(Contract): pass
class TestSata(Contract): pass
"""


@pytest.mark.parametrize("how", ["ids", "--ff", "randomly"])
def test_tests_that_classes_inherit_are_measured_class_by_class(project, how):
    """Their line is that of the base: classes were interleaved, and set up for each of their tests."""
    project.pytester.makepyfile(
        common="#\n" * 40 + "def test_imported(measure): measure(engine='fake')\n", test_disk=CONTRACT
    )
    project.device("lab", "target: .\n")
    order = measured(project, "test_disk.py")
    assert [name.partition("::")[2] for name in order[1:]] == [
        f"Test{disk}::test_{size}" for disk in ("Nvme", "Sata") for size in ("4k", "8k")
    ]
    asked = {
        "ids": order,
        "--ff": ["test_disk.py", "--ff"],
        "randomly": ["test_disk.py", "-p", "randomly", "--randomly-seed=3"],
    }[how]
    assert measured(project, *asked) == order
    result = project.run_apart(*asked, "--device=lab", "-s")
    assert str(result.stdout).count("set up") == 2


def measured(project, *arguments):
    """The node ids of what was measured, in that order."""
    project.run_apart(*arguments, "--device=lab", "--io-json=out.json")
    return [one["id"] for one in json.loads((project.path / "out.json").read_text())["workloads"]]


def stepwise(project, *arguments, factor=1.0):
    """Run until one fails."""
    return project.run_apart(".", "--device=lab", "--stepwise", *arguments, factor=factor)


@pytest.fixture
def five(project):
    workloads = ", ".join(f"{name}: {{}}" for name in "abcde")
    project.suite(f"defaults: {{engine: fake, gate: {{read.iops: 5%}}}}\nworkloads: {{{workloads}}}\n")
    project.device("lab", "target: .\n")
    project.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=5)
    return project


def test_stepwise_with_pytest_randomly_passes_over_nothing_that_was_not_decided(five):
    """Whatever the seed: the first failure is that of the first, and all come after it."""
    stepwise(five, "-p", "randomly", "--randomly-seed=2", factor=0.5).assert_outcomes(failed=1)
    for seed in (1, 2, 3):
        cache = five.path / ".pytest_cache/v/cache/stepwise"
        before = cache.read_bytes()
        result = stepwise(five, "-p", "randomly", f"--randomly-seed={seed}", "--io-strict")
        result.assert_outcomes(passed=5, deselected=0)
        cache.write_bytes(before)


def test_stepwise_with_pytest_randomly_passes_over_no_suite_beside_tests_in_python(five):
    """The first failure is that of the first test, whatever the seed, and all come after it."""
    tests = "".join(
        f"def test_{name}(measure):\n    measure(engine='fake', gate={{'read.iops': '5%'}})\n"
        for name in "pq"
    )
    five.pytester.makepyfile(test_mine=tests, test_other=tests + "def test_no_figure(): pass\n")
    five.run(".", "--device=lab", "--update-baselines").assert_outcomes(passed=10)
    stepwise(five, "-p", "randomly", "--randomly-seed=3", factor=0.5).assert_outcomes(failed=1)
    result = stepwise(five, "-p", "randomly", "--randomly-seed=1", "--io-strict")
    result.assert_outcomes(passed=10, deselected=0)


PLAIN_REPORTER = """
import pytest
from _pytest.config import create_terminal_writer

class Plain:
    hasmarkup = False

    def __init__(self, config):
        self._tw = create_terminal_writer(config)
        self.section = self._tw.sep

    def ensure_newline(self): pass
    def write(self, text, **options): self._tw.write(text)
    def write_line(self, text, **options): self._tw.line(text)

    def pytest_runtest_logreport(self, report):
        self._tw.line(report.longreprtext)

    def pytest_internalerror(self, excrepr):
        self._tw.line(f"INTERNALERROR {excrepr}")

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Plain(config), "terminalreporter")
"""


def test_a_terminal_reporter_of_another_plugin_need_not_say_what_it_writes_to(judged):
    """As pytest-tldr's: whatever measured ended in an internal error, with nothing measured."""
    (judged.path / "plain.py").write_text(PLAIN_REPORTER)
    result = judged.run_apart("-p", "plain", "suites", factor=0.5)
    assert result.ret == 1
    assert "regressed" in result.stdout.str() and "INTERNALERROR" not in result.stdout.str()
