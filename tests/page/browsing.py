"""A real server of the page, as a command of its own, and a real browser on it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
PATIENCE = 240_000  # milliseconds


@contextmanager
def page_server(folder: Path, *options: str) -> Iterator[str]:
    """The link with the token of a server that runs as one would run it."""
    words = [sys.executable, "-m", "humeval_power.doors.terminal.main", "page"]
    process = subprocess.Popen(
        [*words, "--no-browser", "--folder", str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            link = re.search(r"http://\S+token=\S+", line)
            if link:
                break
        else:
            raise AssertionError(f"The server did not start: {said}")
        yield link[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()


@dataclass
class Seen:
    """What went wrong in a browser without being shown: errors of its console, requests that leave the machine."""

    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    bytes: int = 0


@pytest.fixture(scope="module")
def browser():
    """One for the tests of a file, each of which has a context of its own: cookies, storage, size.

    Not for the whole run: its event loop would be in the way of tests that have their own.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="The browser's tests need playwright.")
    if not CHROMIUM:
        pytest.skip("The browser's tests need Chromium: apt-get install chromium")
    with (
        playwright.sync_playwright() as driver,
        closing(driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])) as launched,
    ):
        yield launched


@contextmanager
def browser_page(browser, link: str, *, width: int = 1200, scripts: bool = True, dark: bool = False):
    """A page without a past that was let in by the link, and what it has seen."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        java_script_enabled=scripts,
        color_scheme="dark" if dark else "light",
        accept_downloads=True,
    )
    with closing(context):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        seen = Seen()
        page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        own = re.match(r"(?:http://[^/]+|file://)/", link)[0]
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((own, "data:", "blob:"))
                else seen.foreign.append(request.url)
            ),
        )
        page.goto(link)
        page.own = own
        yield page, seen


@cache
def axe() -> str:
    """The script of axe-core, where npm has put it."""
    for place in (*Path(__file__).resolve().parents, Path.home()):
        found = place / "node_modules" / "axe-core" / "axe.min.js"
        if found.is_file():
            return found.read_text()
    pytest.skip("The test of accessibility needs axe-core: npm install axe-core")


def violations(page) -> list[str]:
    """What axe-core has against a page, in words."""
    page.evaluate(axe())
    found = json.loads(page.evaluate("axe.run().then(found => JSON.stringify(found.violations))"))
    return [
        f"{each['id']}: {each['help']} ({'; '.join(node['html'][:120] for node in each['nodes'][:3])})"
        for each in found
    ]


# Targets that are too small for a finger: 24 px of height and width (WCAG 2.2, 2.5.8), but for links in a sentence.
SMALL = """
() => [...document.querySelectorAll('a, button, input, select, summary, textarea')].filter(one => {
  const box = one.getBoundingClientRect();
  const inline = one.matches('p a, .problems a') && getComputedStyle(one).display === 'inline';
  const shown = one.checkVisibility() && box.left >= 0 && !one.matches('.skip, .default');
  return shown && !inline && (box.height < 24 || box.width < 24);
}).map(one => one.outerHTML.slice(0, 120))
"""


def settled(page) -> None:
    """Wait until the answer of a page is there, of whichever kind."""
    page.wait_for_function(
        "() => { const a = document.getElementById('answer'); return a && a.getAttribute('aria-busy') !== 'true'"
        " && !['starting', 'waiting', 'running'].includes(a.dataset.state); }"
    )


def shown(page) -> None:
    """Wait for an answer, by formula or in full."""
    page.wait_for_selector("#answer .document")


def answered(page) -> None:
    """Wait for an answer in full, with its files."""
    page.wait_for_selector("#answer[data-state=done] .document")
