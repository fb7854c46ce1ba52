"""A page in a real browser without a window: what is in it after a script of the test has used it."""

from __future__ import annotations

import base64
import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def dumped(page: Path, profile: Path, *, query: str = "", seconds: int = 60) -> str:
    """The page's elements once its scripts have run."""
    words = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"),
        *(f"--virtual-time-budget={seconds * 1000}", "--dump-dom", f"{page.resolve().as_uri()}{query}"),
    ]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout


def driven(page: Path, profile: Path, script: str, *, query: str = "") -> str:
    """What a script leaves in `window.said` when it has used the page.

    The page's policy lets no other script run; this copy is without it.
    """
    text = page.read_text(encoding="utf-8")
    assert _POLICY.search(text)
    tail = """
    <script>
    window.addEventListener("error", (event) => { window.said = "ERROR " + event.message; });
    (function () { %s })();
    const left = document.createElement("pre");
    left.id = "said";
    left.textContent = btoa(unescape(encodeURIComponent(String(window.said))));
    document.body.append(left);
    </script>"""
    page.write_text(_POLICY.sub("", text).replace("</body>", tail % script + "</body>"), encoding="utf-8")
    found = re.search(r'<pre id="said">([^<]*)</pre>', dumped(page, profile, query=query))
    page.write_text(text, encoding="utf-8")
    assert found, "the script did not end"
    return base64.b64decode(html.unescape(found[1])).decode("utf-8")
