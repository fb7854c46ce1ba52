"""A Word document made from Markdown by pandoc, which has to be installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from humeval_power.errors import HumevalPowerError, InputError

# Neither raw HTML nor formulas nor emoji codes: what the Markdown of a report means, and nothing else.
READS = "commonmark+pipe_tables+task_lists-raw_html"


def word_document(markdown: str, *, pictures: Mapping[str, bytes]) -> bytes:
    """The bytes of a .docx; pictures by the names that the Markdown gives them.
    Raises InputError: Pandoc is not there; HumevalPowerError: Pandoc failed."""
    program = require_pandoc()
    with TemporaryDirectory() as folder:
        for name, content in pictures.items():
            Path(folder, name).write_bytes(content)
        command = [program, "--from", READS, "--to", "docx", "--output", "report.docx"]
        done = subprocess.run(
            command, input=markdown.encode(), cwd=folder, capture_output=True, check=False
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise HumevalPowerError(f"pandoc could not make the Word document: {said}")
        return Path(folder, "report.docx").read_bytes()


def require_pandoc() -> str:
    """The path of pandoc. Raises InputError: Pandoc is not there."""
    program = shutil.which("pandoc")
    if program is None:
        raise InputError(
            "A Word document needs pandoc, which is not installed. Get it from https://pandoc.org/installing.html "
            "(or: apt install pandoc; brew install pandoc; winget install pandoc), or write .html or .md "
            "instead, which Word opens too."
        )
    return program
