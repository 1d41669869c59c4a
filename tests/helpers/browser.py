"""A real browser without a window and without a network, driven from here: Chromium, by Selenium."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

_ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars"),
)
_PATIENCE = 60.0


def need_browser() -> None:
    """Skip the test where there is no Chromium."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("needs chromium and chromedriver")


class Browser:
    """A browser whose network is off. Its windows are as wide as they are said to be."""

    def __enter__(self) -> Browser:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self._stack = ExitStack()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        profile = self._stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self._stack.callback(self.driver.quit)
        self.driver.set_script_timeout(_PATIENCE)
        self._tell("Network.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self._tell("Network.emulateNetworkConditions", **offline)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _tell(self, command: str, **given: Any) -> None:
        self.driver.execute_cdp_cmd(command, given)

    def look(self, width: int = 1440, *, dark: bool = False) -> None:
        """Be so wide, light or dark."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self._tell("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._tell("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, file: Path, place: str = "") -> None:
        """Open a file from disk, at a place within it; what the console said before is forgotten."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(f"{file.resolve().as_uri()}{place}")
        self.wait("while (!document.documentElement.dataset.ready) await new Promise(requestAnimationFrame);")

    def run(self, script: str, *given: Any) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(script, *given)

    def wait(self, script: str, *given: Any) -> Any:
        """Return what a promise becomes."""
        return self.driver.execute_async_script(
            "const [given, done] = [[...arguments].slice(0, -1), arguments[arguments.length - 1]];"
            f"(async () => {{ {script} }})().then(done, (error) => done(`failed: ${{error}}`));",
            *given,
        )

    def unfold(self, number: int = 0) -> None:
        """Unfold a workload, and wait for its plots."""
        self.run("document.querySelectorAll('.fold')[arguments[0]].click()", number)
        self.settle()

    def settle(self) -> None:
        """Wait until every plot that is in sight or unfolded is drawn."""
        self.wait("await Promise.all(window.drawing ?? []);")

    @property
    def console(self) -> list[str]:
        """What the console said since the page was opened."""
        return [str(line["message"]) for line in self.driver.get_log("browser")]

    @property
    def first_paint(self) -> float:
        """When the page first showed something, in ms."""
        script = (
            "for (let wait = 0; wait < 500; wait += 1) {"
            " const [entry] = performance.getEntriesByName('first-contentful-paint');"
            " if (entry) return entry.startTime;"
            " await new Promise((done) => requestAnimationFrame(done)); }"
            "throw new Error('nothing was painted');"
        )
        return float(self.wait(script))
