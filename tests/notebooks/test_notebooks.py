"""The notebooks run, show their results as tables and pictures, and become pages."""

import re
import sys
from pathlib import Path

import pytest
from places import ROOT

pytest.importorskip("nbclient", reason="notebooks run with the extra 'docs'")
sys.path.insert(0, str(ROOT / "docs"))

import render_notebooks

NAMES = ("analyse", "many_systems", "metrics", "plan")


def test_there_are_these_notebooks_and_each_starts_with_a_title() -> None:
    found = list(render_notebooks.notebooks())
    assert [path.stem for path in found] == list(NAMES)
    for path in found:
        first = path.read_text(encoding="utf-8").split("---\n")[2].strip()
        assert first.startswith("# ")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_becomes_a_page_with_tables_and_pictures(name: str, tmp_path: Path) -> None:
    page = render_notebooks.render(ROOT / "examples" / "notebooks" / f"{name}.md", tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "<table" in text
    assert "data:image" not in text
    named = set(re.findall(rf"{name}-[0-9a-f]{{10}}\.(?:svg|png)", text))
    assert named == {path.name for path in tmp_path.iterdir()} - {page.name}
    assert len(page.read_bytes()) < 1_000_000
    blocks = re.findall(r'<div class="notebook-output" data-search-exclude>.*?\n</div>', text, re.DOTALL)
    assert blocks
    # a blank line would end the block in Markdown
    assert [block for block in blocks if "\n\n" in block] == []


@pytest.mark.slow
def test_an_error_in_a_cell_is_an_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.md"
    broken.write_text("# Broken\n\n```python\n1 / 0\n```\n", encoding="utf-8")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        render_notebooks.render(broken, tmp_path / "pages")


@pytest.mark.slow
def test_progress_is_no_part_of_a_page(tmp_path: Path) -> None:
    waits = tmp_path / "waits.md"
    waits.write_text(
        "# Waits\n\n```python\nimport time\nfrom humeval_power.saying import progress\n"
        "with progress.progress('Waiting', total=4) as advance:\n    for _ in range(4):\n        time.sleep(0.5)\n"
        "        advance(1)\nprint('done')\n```\n",
        encoding="utf-8",
    )
    page = render_notebooks.render(waits, tmp_path / "pages").read_text("utf-8")
    assert page.endswith("```text\ndone\n```\n")
    assert "notebook-output" not in page


def test_a_result_brings_its_pictures_and_a_style_for_itself_alone() -> None:
    import humeval_power as hp

    shown = hp.fit(hp.read_ratings(ROOT / "data" / "pilot.csv", scale="1:5"))._repr_html_()
    assert "<table" in shown
    assert "<svg" in shown or "data:image/svg+xml" in shown
    style = shown[shown.index("<style>") + 7 : shown.index("</style>")]
    rules = [line for line in style.splitlines() if line]
    assert rules
    for rule in rules:
        selectors = rule.partition("{")[0].split(",")
        assert all(each.strip().startswith(".humeval-result") for each in selectors), rule
