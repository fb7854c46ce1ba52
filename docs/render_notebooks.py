"""Run the notebooks of examples/notebooks and write them as pages with pictures.

    python docs/render_notebooks.py FOLDER       a page NAME.md and its pictures NAME-*.svg for each notebook

The notebooks are Markdown of jupytext. They run in a scratch folder that sees `data/`, in an order of their own.
Tables of pandas and results stand in the pages as HTML; pictures lie beside them.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "examples" / "notebooks"
PICTURES = {"image/svg+xml": "svg", "image/png": "png"}
PROGRESS = '<pre style="white-space:pre;overflow-x:auto'
INSIDE = re.compile(r'src="data:image/(svg\+xml|png);base64,([^"]+)"')


def executed(source: Path) -> NotebookNode:
    """The notebook with what its cells show; an error in a cell is an error here."""
    notebook = jupytext.read(source)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "data").symlink_to(ROOT / "data")
        found = os.environ.get("PYTHONPATH")
        modules = os.pathsep.join((str(ROOT), found) if found else (str(ROOT),))
        client = NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": scratch}}
        )
        client.execute(env=os.environ | {"PYTHONPATH": modules, "COLUMNS": "80"})
    return notebook


def render(source: Path, folder: Path) -> Path:
    """Run the notebook and write it as a Markdown page into the folder, its pictures beside it; the page."""
    pictures: dict[str, bytes] = {}
    parts = [
        cell.source if cell.cell_type == "markdown" else _cell(cell, source.stem, pictures)
        for cell in executed(source).cells
    ]
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pictures.items():
        (folder / name).write_bytes(content)
    page = folder / f"{source.stem}.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def _cell(cell: NotebookNode, stem: str, pictures: dict[str, bytes]) -> str:
    """A cell of code and what it shows, without its progress, which depends on how fast a computer is."""
    shown = [_output(output, stem, pictures) for output in cell.outputs if not _is_progress(output)]
    return "\n\n".join([f"```python\n{cell.source}\n```", *shown])


def _is_progress(output: NotebookNode) -> bool:
    """Whether it was said on standard error, or is the bar that rich draws in notebooks."""
    html = output.get("data", {}).get("text/html", "")
    return output.get("name") == "stderr" or html.startswith(PROGRESS)


def _output(output: NotebookNode, stem: str, pictures: dict[str, bytes]) -> str:
    """What a cell shows, in the richest way that a page has."""
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```"
    data: Any = output.data
    if "text/html" in data:
        html = INSIDE.sub(
            lambda found: f'src="{_kept(base64.b64decode(found[2]), found[1][:3], stem, pictures)}"',
            data["text/html"],
        )
        below = re.sub(
            r"(?<=<h|/h)[1-4]\b", lambda found: str(int(found[0]) + 2), _without_blank_lines(html)
        )
        return f'<div class="notebook-output" data-search-exclude>\n{below}\n</div>'
    for kind, ending in PICTURES.items():
        if kind in data:
            content = data[kind].encode() if ending == "svg" else base64.b64decode(data[kind])
            return f"![What the cell shows]({_kept(content, ending, stem, pictures)})"
    return f"```text\n{data['text/plain']}\n```"


def _kept(content: bytes, ending: str, stem: str, pictures: dict[str, bytes]) -> str:
    """Keep a picture, under a name that follows from what it shows."""
    name = f"{stem}-{hashlib.sha256(content).hexdigest()[:10]}.{ending}"
    pictures[name] = content
    return name


def _without_blank_lines(html: str) -> str:
    """HTML that Markdown takes as one block, which a blank line would end."""
    listings = re.sub(
        r"<pre.*?</pre>", lambda found: found[0].replace("\n", "&#10;"), html, flags=re.DOTALL
    )
    return re.sub(r"\n\s*\n", "\n", listings).strip()


def notebooks() -> Iterator[Path]:
    """All notebooks, in the order of their names."""
    yield from sorted(NOTEBOOKS.glob("*.md"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the folder to write to: python docs/render_notebooks.py FOLDER")
    for each in notebooks():
        print(render(each, Path(sys.argv[1])))
