"""Every code block of the pages runs or says that it is something else, and shows what is printed now."""

import re
import sys
from pathlib import Path

import pytest
from cases import each_case
from option_tree import leaves
from places import ROOT

from humeval_power.asking.command_groups import in_terminal

sys.path.insert(0, str(ROOT / "docs"))

import generate
import page_blocks

PAGES = generate.examples()
REFERENCE = ROOT / "docs" / "commands"
SHOWN = {"text", "toml", "json", "csv", "latex", "r", "html", "markdown", "yaml", "bibtex"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def without_comments(page: Path) -> str:
    return re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@each_case("page", sorted(REFERENCE.glob("*.md")), ids=name)
def test_the_reference_is_the_help_of_every_command(page: Path, reference: dict[Path, str]) -> None:
    assert page.read_text(encoding="utf-8") == reference[page]


def test_the_reference_has_every_command(reference: dict[Path, str]) -> None:
    titles = re.findall(r"^##? (.+)$", "".join(reference.values()), re.MULTILINE)
    assert {" ".join(in_terminal(words.split())) for words, _ in leaves()} <= set(titles)


@pytest.fixture(scope="module")
def reference() -> dict[Path, str]:
    return generate.reference()


@each_case("page", PAGES, ids=name)
def test_every_block_says_what_it_is_and_those_of_code_are_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^ *```(.*)$", without_comments(page), re.MULTILINE)
    kinds = fences[::2]
    assert set(fences[1::2]) <= {""}, "a fence is not closed"
    assert set(kinds) <= SHOWN | set(page_blocks.RUN), sorted(set(kinds))
    found = [part["kind"] for part in page_blocks.PART.finditer(text) if part["kind"] is not None]
    run = [kind for kind in kinds if kind in page_blocks.RUN]
    assert [kind for kind in found if kind in page_blocks.RUN] == run


@each_case("page", PAGES, ids=name)
def test_no_block_hides_its_kind_by_indentation(page: Path) -> None:
    outside = re.sub(r"^ *```.*?^ *```$", "", without_comments(page), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"(?<=\n)\n    +(?:\$ |humeval-power|import |from )[^\n]*", outside) == []


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "<!-- slow" in page.read_text(encoding="utf-8")], ids=name
)
def test_slow_blocks_show_what_they_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert page_blocks.renewed(text, slow=True) == text


def test_a_file_that_is_shown_is_there_for_the_commands() -> None:
    page = '<!-- file m.toml -->\n```toml\nitem = "id"\n```\n\n```console\n$ cat m.toml\nitem = "id"\n```\n'
    assert page_blocks.renewed(page) == page
    assert page_blocks.renewed(page.replace('m.toml\nitem = "id"', "m.toml\nstale")) == page


def test_what_is_stale_is_renewed_and_what_is_right_is_kept() -> None:
    page = (
        "<!-- setup\nfrom pathlib import Path\n\nPath('n.txt').write_text('7\\n')\n-->\n\n"
        "```python\nprint(Path('n.txt').read_text() * 2)\n```\n\n```text\nstale\n```\n\n"
        "```console\n$ cat n.txt\n7\n$ humeval-power --version\n...\n"
        "$ humeval-power check none.csv\nError: gone\n```\n\n"
        "<!-- slow -->\n```python\nprint(1 / 0)\n```\n\n```text\nnot run\n```\n"
    )
    renewed = page_blocks.renewed(page)
    assert "```text\n7\n7\n\n```" in renewed
    assert "$ cat n.txt\n7\n$ humeval-power --version\n...\n" in renewed
    assert "Error: There is no file 'none.csv'." in renewed
    assert renewed.endswith("print(1 / 0)\n```\n\n```text\nnot run\n```\n")
    assert page_blocks.renewed(renewed) == renewed
    with pytest.raises(ZeroDivisionError):
        page_blocks.renewed(page, slow=True)


def test_a_command_that_fails_without_showing_its_error_is_an_error() -> None:
    with pytest.raises(SystemExit, match="no file"):
        page_blocks.renewed("```sh\nhumeval-power check none.csv\n```\n")
    with pytest.raises(SystemExit, match="ended with 0"):
        page_blocks.renewed("```console\n$ humeval-power --version\nError: never\n```\n")


def test_a_block_with_a_table_that_is_not_here_is_left_as_it_is() -> None:
    page = "<!-- with no_such_table.csv -->\n```sh\nhumeval-power check no_such_table.csv\n```\n"
    assert page_blocks.renewed(page) == page


def test_a_slow_page_is_left_to_the_slow_tests() -> None:
    page = "# Slow\n\n<!-- slow page -->\n\n```python\nprint(1 / 0)\n```\n"
    assert page_blocks.renewed(page) == page
    with pytest.raises(ZeroDivisionError):
        page_blocks.renewed(page, slow=True)
