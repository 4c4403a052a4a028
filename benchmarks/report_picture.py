"""Screenshot of the demo's report in a browser; run with ``make pictures``."""

import shutil
import tempfile
import warnings
from pathlib import Path

from playwright.sync_api import sync_playwright

from halfmax.cli.demonstration import score_digits, write_page

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
LABEL = 2  # "has a loop"
WIDTH, HEIGHT = 1100, 960


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "demo.html"
        with warnings.catch_warnings(action="ignore"):
            write_page(score_digits(), str(page))
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(f"{page.as_uri()}#label={LABEL}")
        tab.wait_for_function("document.documentElement.dataset.ready === 'yes'")
        tab.evaluate("window.scrollTo(0, document.getElementById('explorer').offsetTop - 50)")
        tab.wait_for_timeout(300)
        tab.screenshot(path=IMAGE)
        browser.close()


if __name__ == "__main__":
    main()
