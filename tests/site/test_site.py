"""The site: every page is in it, links lead somewhere, nothing comes from the network, files are searched."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browsing import browser_page
from places import ROOT

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
pytestmark = [pytest.mark.slow, pytest.mark.long]


class Page(HTMLParser):
    """What a page loads, where it leads, and the places in it that others may lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {given[name] or "" for name in ("id", "name") if name in given}
        wanted = LOADS.get(tag)
        if wanted and given.get(wanted) and given.get("rel") != "canonical":
            self.loads.append(str(given[wanted]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "built"
    command = [sys.executable, str(ROOT / "docs" / "build_site.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_page_of_the_docs_is_in_the_site_and_none_is_large(
    site: Path, pages: dict[Path, Page]
) -> None:
    names = {str(path.relative_to(site).with_suffix("")) for path in pages}
    written = (path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
    expected = {str(path.with_suffix("")) for path in written}
    assert {re.sub(r"(^|/)README$", r"\1index", name) for name in expected} <= names
    assert {str(path): path.stat().st_size for path in pages if path.stat().st_size > 1_000_000} == {}


def test_nothing_is_loaded_from_the_network(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for load in page.loads:
            assert not re.match(r"(https?:)?//", load), (path, load)
            if not load.startswith("data:"):
                assert (path.parent / load.partition("?")[0].partition("#")[0]).exists(), (path, load)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", sheet.read_text("utf-8")), sheet


def test_every_link_leads_to_a_file_and_its_place(pages: dict[Path, Page]) -> None:
    lost = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"https?:|mailto:", link):
                continue
            name, _, place = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            known = pages.get(target)
            if not target.exists() or (place and known is not None and place not in known.places):
                lost.append(f"{path.name}: {link}")
    assert lost == []


@pytest.mark.parametrize(
    ("width", "dark", "words"), [(1200, False, "Kenward"), (390, True, "--exclude-if")]
)
def test_the_search_and_the_formulas_work_from_the_file_system(
    browser, site: Path, width: int, dark: bool, words: str
) -> None:
    with browser_page(browser, (site / "methods.html").as_uri(), width=width, dark=dark) as (page, seen):
        page.wait_for_selector(".katex", state="attached", timeout=30_000)
        assert page.locator(".katex-error").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.keyboard.press("/")
        page.keyboard.type(words)
        page.wait_for_function("document.querySelectorAll('.md-search-result__item').length > 5")
    assert (seen.foreign, seen.errors) == ([], [])


def test_wide_tables_of_a_notebook_do_not_widen_the_page_of_a_phone(browser, site: Path) -> None:
    with browser_page(browser, (site / "notebooks" / "plan.html").as_uri(), width=390) as (page, seen):
        assert page.locator(".notebook-output table").count() > 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert (seen.foreign, seen.errors) == ([], [])


def test_results_in_a_notebook_bring_no_headings_of_a_page(pages: dict[Path, Page], site: Path) -> None:
    for path in (site / "notebooks").glob("*.html"):
        assert path in pages
        assert len(re.findall(r"<h1\b", path.read_text("utf-8"))) == 1
