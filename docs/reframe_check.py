"""iogate as a ReFrame test: lay it beside the project's suites/ and baselines/, or set PROJECT.

`reframe -c reframe_check.py -r --performance-report` runs each suite where ReFrame runs its jobs; iogate
judges, and ReFrame keeps the figures. `-S StorageGate.device=lab-7` names the device.
"""

import json
import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function, variable

PROJECT = pathlib.Path(__file__).parent


@rfm.simple_test
class StorageGate(rfm.RunOnlyRegressionTest):
    """One suite."""

    suite = parameter(sorted(path.stem for path in PROJECT.glob("suites/*.yaml")))
    device = variable(str, value="local")
    valid_systems = ["*"]  # noqa: RUF012  # ReFrame's own way
    valid_prog_environs = ["*"]  # noqa: RUF012
    sourcesdir = None
    executable = "pytest"

    @run_before("run")
    def name_the_suite(self):
        self.executable_opts = [
            f"{PROJECT}/suites/{self.suite}.yaml",
            f"--device={self.device}",
            "--io-json=results.json",
            "-p no:cacheprovider",
        ]
        self.postrun_cmds = ["echo exit status of iogate: $?"]
        self.keep_files = ["results.json"]

    @sanity_function
    def judged(self):
        """0: not slower; 1: regressed, 10: inconclusive, 11: no baseline, 12: invalid."""
        status = sn.extractsingle(r"exit status of iogate: (\d+)", self.stdout, 1, int)
        return sn.assert_eq(status, 0, msg="iogate ended with {0}: its output says why")

    @run_before("performance")
    def take_the_figures(self):
        """Take the metrics that decide. They have no references here: the baselines are iogate's."""
        results = json.loads(pathlib.Path(self.stagedir, "results.json").read_text())
        self.perf_variables = {
            f"{workload['workload']}.{name}": sn.make_performance_function(
                sn.defer(metric["value"]), metric["unit"] or "ratio"
            )
            for workload in results["workloads"]
            for name, metric in workload["metrics"].items()
            if metric["gating"] and metric["value"] is not None
        }
