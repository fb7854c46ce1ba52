"""Write the pictures of docs/page.md: the page in a browser, with the data that the project ships.

    python docs/make_page_pictures.py

It needs the extras [page] and [browser], and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "page"))
from browsing import CHROMIUM, browser_page, page_server  # noqa: E402
from export_shapes import qualtrics  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from score_shapes import with_seeds  # noqa: E402

PICTURES = {  # name: the link, the width and the height
    "page-power": (
        "power?preset=high&workers=20&items=100&effect=0.1&ratings-per-item=3&cost-per-rating=0.1",
        1200,
        1500,
    ),
    "page-phone": ("power?preset=high&workers=20&items=100&effect=0.1", 360, 700),
    "page-fit": ("fit?ratings=pilot.csv&scale=1:5", 1200, 1300),
    "page-reading": ("study/survey/decide", 1200, 1000),
    "page-scores": ("scores?files=scores.csv#is-0", 1200, 1000),
}


def main() -> None:
    """Open each page, wait for its answer and keep what is to be seen."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "data" / "pilot.csv", folder)
        Path(folder, "scores.csv").write_text(with_seeds(), encoding="utf-8")
        survey = Path(folder, "survey")
        survey.mkdir()
        (survey / "Survey.csv").write_bytes(qualtrics())
        text = 'schema = "humeval_power/study/1"\n[files]\nexports = ["Survey.csv"]\n'
        (survey / "study.toml").write_text(text, encoding="utf-8")
        with page_server(Path(folder)) as link, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for name, (path, width, height) in PICTURES.items():
                with browser_page(browser, link, width=width) as (page, _seen):
                    page.set_viewport_size({"width": width, "height": height})
                    page.goto(page.own + path)
                    page.wait_for_selector("#answer:not(:has(.progress)) .document")
                    page.evaluate("scrollTo(0, 0)")
                    page.screenshot(path=ROOT / "docs" / "images" / f"{name}.png")
                    print(f"Written: docs/images/{name}.png")


if __name__ == "__main__":
    main()
