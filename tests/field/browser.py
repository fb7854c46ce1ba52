"""A page in a real browser without a window: what is in it after a script of the test has used it."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.browser


def dumped(page: Path, profile: Path, *, query: str = "", seconds: int = 60) -> str:
    """The page's elements once its scripts have run."""
    words = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"),
        *(f"--virtual-time-budget={seconds * 1000}", "--dump-dom", f"{page.resolve().as_uri()}{query}"),
    ]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout


def with_script(page: Path, script: str) -> str:
    """The page with one script more, which its policy lets run beside its own."""
    text = page.read_text(encoding="utf-8")
    assert text.count("script-src '") == 1
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = text.replace("script-src '", f"script-src 'sha256-{digest}' '")
    return allowed.replace("</body>", f"<script>{script}</script></body>")


def driven(page: Path, profile: Path, script: str, *, query: str = "") -> str:
    """What a script leaves in `window.said` when it has used the page."""
    tail = """
    window.addEventListener("error", (event) => { window.said = "ERROR " + event.message; });
    (function () { %s })();
    const left = document.createElement("pre");
    left.id = "said";
    left.textContent = btoa(unescape(encodeURIComponent(String(window.said))));
    document.body.append(left);
    """
    text = page.read_text(encoding="utf-8")
    page.write_text(with_script(page, tail % script), encoding="utf-8")
    found = re.search(r'<pre id="said">([^<]*)</pre>', dumped(page, profile, query=query))
    page.write_text(text, encoding="utf-8")
    assert found, "the script did not end"
    return base64.b64decode(html.unescape(found[1])).decode("utf-8")


def downloads(page: Path, profile: Path, script: str, folder: Path) -> list[Path]:
    """The files that a page hands over when a script has used it."""
    used = page.with_name(f"used-{page.name}")
    used.write_text(with_script(page, script), encoding="utf-8")
    settings = profile / "Default" / "Preferences"
    settings.parent.mkdir(parents=True)
    place = {"default_directory": str(folder), "prompt_for_download": False}
    settings.write_text(json.dumps({"download": place}), encoding="utf-8")
    words = [
        *(str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"),
        used.resolve().as_uri(),
    ]
    folder.mkdir()
    browser = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:  # it stays until it is ended
        until = time.monotonic() + 60
        while not (found := sorted(folder.glob("*.csv"))) and time.monotonic() < until:
            time.sleep(0.1)
    finally:
        browser.kill()
        browser.wait()
    used.unlink()
    return found
