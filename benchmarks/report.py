"""How long the report takes, and how large it is: prints a table for sessions of 10 to 500 workloads.

Run: python benchmarks/report.py [--browser]. Each workload has five repetitions of
30 s that read and write, with 48 metrics, ten sessions of a baseline, histograms, and a job file. `--browser`
opens each page in headless Chromium and adds the first paint, in seconds since the page was asked for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate.report.html.page import drawing_library, page
from iogate.report.results import Results
from made_sessions import many

SIZES = (10, 100, 500)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", action="store_true")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        drawing_library()
        print(f"the script that draws, once a process: {time.perf_counter() - begun:.2f} s\n")
        rows += [measure(Path(folder), count, given.browser) for count in SIZES]
    heads = ["workloads", "results MB", "read s", "written s", "page MB", "first paint s"]
    print(tabulate(rows, headers=heads, floatfmt=".2f", tablefmt="github"))


def measure(folder: Path, count: int, browser: bool) -> list[object]:
    results, html = folder / f"{count}.json", folder / f"{count}.html"
    many(count).write(results)
    begun = time.perf_counter()
    session = Results.read(results)
    read = time.perf_counter()
    html.write_text(page([session]), encoding="utf-8")
    written = time.perf_counter()
    sizes = results.stat().st_size / 1e6, html.stat().st_size / 1e6
    return [count, sizes[0], read - begun, written - read, sizes[1], first_paint(html) if browser else None]


def first_paint(html: Path) -> float:
    from browser import Browser

    with Browser() as browser:
        browser.open(html)
        return browser.first_paint / 1000


if __name__ == "__main__":
    main()
