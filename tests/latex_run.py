"""pdfLaTeX on a page that the package wrote."""

import shutil
import subprocess
from pathlib import Path

import pytest


def compiled(source: str, directory: Path) -> str:
    """The log of pdfLaTeX; a test that needs it is skipped where it is not installed."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-base, texlive-latex-recommended)")
    (directory / "page.tex").write_text(source, encoding="ascii")
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"],
        cwd=directory,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout
