"""Build the site: all pages in one folder that works offline, from a file system too.

    python docs/build_site.py [FOLDER]     FOLDER is site/ unless named

The pages of docs/ are staged in build/docs with what is made for the site alone: the Python reference, the
notebooks with what they show, and copies of files that pages link to. Every link and anchor has to lead
somewhere, or the build fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import render_notebooks
import yaml

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
STAGE = ROOT / "build" / "docs"
STUBS = ROOT / "humeval_power"
LINK = re.compile(r"\]\((?P<up>(?:\.\./)+)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
STUB_NAME = re.compile(r"^from (humeval_power\S*) import (\w+) as (\w+)$", re.MULTILINE)

# The pages by what a reader comes for. A folder stands for those of its pages that are not named; a page that is in
# no part fails the build, as does a name without a page.
PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "Start": {
        "": (
            "README.md",
            "guides/five-minutes.md",
            "answers.md",
            "glossary.md",
            "start.md",
            "tour.md",
            "page.md",
            "mcp.md",
        )
    },
    "Ratings by people": {
        "Before collecting": (
            "guides/how-many.md",
            "no-pilot.md",
            "guides/costs.md",
            "structure.md",
            "many-systems.md",
            "equivalence.md",
            "choosing-items.md",
            "agreement.md",
            "looks.md",
            "stop-when.md",
            "dropping-systems.md",
            "rehearsal.md",
            "calibration.md",
            "how-to/reported-p-value.md",
            "resampling.md",
            "sweeps.md",
        ),
        "While collecting": (
            "upload.md",
            "import.md",
            "collecting.md",
            "next-ratings.md",
            "monitor.md",
            "exclusions.md",
        ),
        "After collecting": (
            "guides/claims.md",
            "families.md",
            "formula.md",
            "report.md",
            "survey.md",
        ),
    },
    "Without raters": {
        "Evaluations by machines": (
            "how-to/language-models.md",
            "how-to/logs.md",
            "logs.md",
            "compare.md",
            "github-action.md",
            "accuracy.md",
            "contingency.md",
            "corpus.md",
            "clusters.md",
            "runs.md",
            "runs-plan.md",
            "judge.md",
            "rank.md",
        ),
        "Other judgements": (
            "preference.md",
            "direct-assessment.md",
            "scenarios.md",
        ),
    },
    "Notebooks": {"": ("notebooks/",)},
    "Commands": {"": ("commands/", "study-file.md", "files.md")},
    "Python": {"": ("reference/README.md", "python.md", "reference/top.md", "reference/")},
    "Papers": {"": ("papers/",)},
    "Methods": {"": ("methods.md", "limitations.md", "benchmarks.md", "page-attacks.md")},
}
# Pages that were merged into others: their old address leads there.
MOVED = {
    "guides/reporting.md": "report.md",
    "guides/stopping.md": "monitor.md",
    "how-to/computing-cluster.md": "sweeps.md",
    "how-to/crowd-platform.md": "upload.md",
    "how-to/documents.md": "structure.md",
    "how-to/several-systems.md": "many-systems.md",
    "how-to/with-a-pilot.md": "guides/how-many.md",
    "how-to/without-a-pilot.md": "no-pilot.md",
}


def stage() -> None:
    """Put every page into build/docs."""
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(DOCS, STAGE, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name, text in python_reference().items():
        target = STAGE / "reference" / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for notebook in render_notebooks.notebooks():
        render_notebooks.render(notebook, STAGE / "notebooks")
    for page in sorted(STAGE.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        staged = LINK.sub(lambda found, page=page: _carried(found, page), text)
        if staged != text:
            page.write_text(staged, encoding="utf-8")


def _carried(link: re.Match[str], page: Path) -> str:
    """A link that leads out of docs/ leads to the page of a notebook or to a copy of the file; others stay."""
    target = (page.parent / link["up"] / link["path"]).resolve()
    if target.is_relative_to(STAGE):
        return link[0]
    source = (DOCS / page.relative_to(STAGE)).parent / link["up"] / link["path"]
    if not source.is_file():
        raise SystemExit(f"{page.relative_to(STAGE)}: {link['path']} is no file of the project.")
    anchor = link["anchor"] or ""
    if source.resolve() in render_notebooks.notebooks():
        return f"]({os.path.relpath(STAGE / 'notebooks' / source.name, page.parent)}{anchor})"
    kept = STAGE / "files" / source.resolve().relative_to(ROOT)
    if kept.suffix in (".md", ".html"):  # shown as it is written, and no page of the site
        kept = kept.with_name(kept.name + ".txt")
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, kept)
    return f"]({os.path.relpath(kept, page.parent)}{anchor})"


def python_reference() -> dict[str, str]:
    """A page for the names at the top, one for each namespace, and an index of them, from the package's stubs."""
    spaces = {path.stem: path for path in sorted(STUBS.glob("*.pyi"))}
    pages = {"top.md": _page("humeval_power", spaces.pop("__init__"))}
    pages |= {f"{name}.md": _page(f"humeval_power.{name}", path) for name, path in spaces.items()}
    lines = ["# Python", "", "`import humeval_power as hp`. Calls are verbs, namespaces are subjects.", ""]
    lines += ["- [hp](top.md): what most programs need"]
    lines += [f"- [hp.{name}]({name}.md): {_sentence(path)}" for name, path in spaces.items()]
    return {**pages, "README.md": "\n".join(lines) + "\n"}


def _page(space: str, stub: Path) -> str:
    names = [
        (place, name)
        for place, name, _ in STUB_NAME.findall(stub.read_text("utf-8"))
        if name.isidentifier()
    ]
    known = [(place, name) for place, name in names if place != "humeval_power"]  # else a namespace
    known.sort(key=lambda each: each[1].lower())
    blocks = [f"::: {place}.{name}" for place, name in known]
    return "\n\n".join([f"# {space.replace('humeval_power', 'hp')}", _sentence(stub), *blocks]) + "\n"


def _sentence(stub: Path) -> str:
    found = re.match(r'"""(.*?)(?:\n\n|""")', stub.read_text("utf-8"), re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def navigation() -> list[dict[str, Any]]:
    """The parts with their sections and pages; each page in one part."""
    here = {str(page.relative_to(STAGE)) for page in STAGE.rglob("*.md")}
    named = {name for part in PARTS.values() for names in part.values() for name in names}
    listed: list[dict[str, Any]] = []
    known: set[str] = set()
    for part, sections in PARTS.items():
        entries: list[Any] = []
        for section, names in sections.items():
            pages = [page for name in names for page in _pages(name, here - named)]
            known |= set(pages)
            entries += [{section: pages}] if section else pages
        if entries:
            listed.append({part: entries})
    if known != here:
        raise SystemExit(f"Pages in no part of PARTS, or not there: {', '.join(sorted(known ^ here))}.")
    return listed


def _pages(name: str, unnamed: set[str]) -> list[str]:
    """The page, or the unnamed pages of a folder with its index first."""
    if not name.endswith("/"):
        return [name]
    return sorted(
        (page for page in unnamed if page.startswith(name)),
        key=lambda page: (not page.endswith("README.md"), page),
    )


def build(folder: Path) -> None:
    """Stage the pages and make the site of them."""
    stage()
    settings = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "nav": navigation(),
        "docs_dir": str(STAGE),
        "site_dir": str(folder.resolve()),
    }
    listed = ROOT / "build" / "mkdocs.yml"
    listed.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(listed)],
        check=True,
        cwd=ROOT,
        env=environment,
    )
    for old, new in MOVED.items():
        page = (folder / old).with_suffix(".html")
        link = os.path.relpath((folder / new).with_suffix(".html"), page.parent)
        page.parent.mkdir(exist_ok=True)
        page.write_text(
            '<!doctype html><meta charset="utf-8"><title>Moved</title>\n'
            f'<meta http-equiv="refresh" content="0; url={link}">\n'
            f'<p>This page is now part of <a href="{link}">{link}</a>.</p>\n',
            encoding="utf-8",
        )


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")
