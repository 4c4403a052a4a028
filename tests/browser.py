"""A real browser for pages: the system's Chromium through Playwright; what goes wrong is kept."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = "chromium", "chromium-browser", "google-chrome"
QUIET = (  # no sandbox for root, and nothing that Chromium does by itself
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
PATIENCE = 120_000  # milliseconds, after which a page that does not come is a failure
READY = "document.documentElement.dataset.ready === 'yes'"


@contextmanager
def started() -> Iterator[Any]:
    """The browser; without one tests are skipped, or fail where one must be there."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        (pytest.fail if os.environ.get("HALFMAX_NEED_BROWSER") else pytest.skip)(
            f"no browser: none of {', '.join(NAMES)} is installed"
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET, timeout=PATIENCE)
        yield browser
        browser.close()


class Reader:
    """Someone who reads one page, and everything that the page should not do."""

    def __init__(self, browser: Any, path: Path, *, ready: bool = True, **settings: Any) -> None:
        self.context = browser.new_context(**settings)
        self.context.set_offline(True)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.address = path.resolve().as_uri()
        self.troubles: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", self._see)
        if ready:
            self.open()

    def open(self, place: str = "") -> None:
        """Load the page, at a place in it, and wait until it is ready."""
        self.page.goto(self.address + place)
        self.page.wait_for_function(READY)

    def run(self, script: str, *given: Any) -> Any:
        """What a script in the page says."""
        return self.page.evaluate(script, *given)

    def settle(self) -> None:
        """Wait until the page has drawn, and has nothing left to do."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestIdleCallback(done)))")

    def step_counter(self) -> Callable[[], int]:
        """Return a function that counts the blocks of JavaScript run since its last call.

        It measures work that every machine measures alike, unlike a clock. Scripts that were
        loaded before are not counted.
        """
        session = self.context.new_cdp_session(self.page)
        session.send("Profiler.enable")
        session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})

        def steps() -> int:
            self.settle()
            scripts = session.send("Profiler.takePreciseCoverage")["result"]
            functions = (one for script in scripts for one in script["functions"])
            return sum(block["count"] for one in functions for block in one["ranges"])

        return steps

    def text(self, place: str) -> str:
        return self.page.locator(place).first.text_content()

    def value(self, name: str) -> float | None:
        """The exact number behind what is shown; None for none, and for nobody's threshold."""
        said = self.page.locator(f"#{name}").get_attribute("data-value")
        return None if said == "null" else float(said)

    def close(self) -> None:
        self.context.close()

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{message.type}: {message.text}")

    def _dismiss(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _see(self, request: Any) -> None:
        known = request.url.partition("#")[0] == self.address
        if not (known or request.url.startswith(("data:", "blob:"))):
            self.troubles.append(f"request: {request.url}")


@contextmanager
def reading(browser: Any, path: Path, **settings: Any) -> Iterator[Reader]:
    """A page open without a network, which must do nothing but show itself."""
    reader = Reader(browser, path, **settings)
    try:
        yield reader
        reader.settle()
        assert reader.troubles == []
    finally:
        reader.close()
