"""Names that are code somewhere go through every report, bundle and picture unharmed and without harm."""

import csv
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files
from xml.etree import ElementTree

import pytest
from cases import few_fast
from latex_run import compiled
from study_files import FORMS, Names, given, run, write_pictures, write_study

NASTY = (
    "<script>alert(1)</script>",
    "=cmd()",
    "100 % of {a}",
    "a_b__c_",
    "R&D &amp; #1",
    "two\nlines",
    "שלום עולם",
    "$x^2$ ~ \\end",
    "| a ** `b` [c](d)",
)
OURS = (
    "https://nlp-heds.github.io",
    "https://aspredicted.org",
    "https://osf.io/",
    "https://aclanthology.org/",
)
NAMES = Names(
    NASTY,
    tuple(reversed(NASTY)),
    (f"old {' '.join(NASTY)}", f"new {' '.join(NASTY)}"),
    f"=how {' '.join(NASTY)}",
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("hostile"), NAMES)


class Page(HTMLParser):
    """Tags and words of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "script":
            self.scripts.append("")
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.handlers += [
            name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")
        ]

    def handle_data(self, data):
        self.words.append(data)
        if self.lasttag == "script" and data.strip():
            self.scripts[-1] += data


def one_line(text: str) -> str:
    return " ".join(text.split())


def written(study, form: str, ending: str) -> str:
    path = study / f"{form}.{ending}"
    run("report", *given(study, *FORMS[form]), "--form", form, "-o", path, "--force", "-q")
    return path.read_text(encoding="utf-8")


OUR_SCRIPT = one_line((files("humeval_power.saying.render") / "templates" / "sort.js").read_text("utf-8"))
# Names of systems stand in these; the criterion in all that are written from ratings.
NAMED = [form for form in FORMS if form != "arr"]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_page_shows_the_names_and_runs_nothing(study, form):
    page = Page()
    page.feed(written(study, form, "html"))
    assert [one_line(script) for script in page.scripts] in ([], [OUR_SCRIPT])
    assert page.handlers == []
    if form in NAMED:
        assert one_line(NAMES.systems[1]) in one_line("".join(page.words))


@few_fast("form", FORMS, fast=1)
@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
def test_markdown_shows_the_names_to_a_reader_of_markdown(study, form, tmp_path):
    path = tmp_path / "report.md"
    path.write_text(written(study, form, "md"), encoding="utf-8")
    command = ["pandoc", "--from", "gfm", "--to", "html", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    page = Page()
    page.feed(done.stdout)
    assert page.tags & {"script", "img"} == set()
    assert all(link.startswith(OURS) for link in page.links)
    shown = one_line("".join(page.words))
    shown = shown.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    if form in NAMED:
        assert one_line(NAMES.systems[1]) in shown


@few_fast("form", [form for form in FORMS if form != "paper"], fast=1)
def test_latex_is_ascii_and_compiles(study, form, tmp_path):
    source = written(study, form, "tex")
    assert source.isascii()
    assert "Missing character" not in compiled(source, tmp_path)


def test_the_heds_file_names_the_criterion_plainly_and_reads_back(study):
    run("report", *given(study, *FORMS["heds"]), "--form", "heds", "-o", study / "heds.json", "--force")
    document = json.loads((study / "heds.json").read_text(encoding="utf-8"))
    (criterion,) = document["heds-criteria-criterion"]["control"]
    assert not set("<>&|\"'`\\\n") & set(criterion)
    listed = json.loads(run("report", "check", study / "heds.json", "--json").stdout)
    assert {one["criterion"] for one in listed["fields"]} == {None, criterion}


@pytest.mark.parametrize("form", [form for form in FORMS if form != "paper"])
def test_the_list_of_open_fields_stays_within_its_lines(study, form):
    told = run("report", "check", *given(study, *FORMS[form]), "--form", form).stdout
    assert all(
        line.startswith(("Left to do", "[", "    ")) or " fields " in line
        for line in told.splitlines()
        if line
    )


@pytest.fixture(scope="module")
def bundle(study):
    words = ("--scale", "1:5", "--secret-text", "a key that is long enough")
    run("release", study / "ratings.csv", *words, "-o", study / "bundle")
    return study / "bundle"


def test_a_bundle_gives_a_spreadsheet_nothing_to_run_and_the_names_back(study, bundle):
    with (bundle / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert not any(cell[:1] in "=+@-\t\r" for row in rows for cell in row.values() if cell)
    assert {row["system"].removeprefix("'") for row in rows} == set(NAMES.systems)
    assert {row["criterion"].removeprefix("'") for row in rows} == {NAMES.criterion}
    text = (bundle / "README.md").read_text(encoding="utf-8") + (bundle / "ratings.csv").read_text(
        encoding="utf-8"
    )
    with (study / "ratings.csv").open(encoding="utf-8", newline="") as file:
        workers = {row["worker"] for row in csv.DictReader(file)}
    assert not any(worker in text for worker in workers if worker not in {row["item"] for row in rows})
    assert "<script>" not in re.sub(r"\\<", "", (bundle / "README.md").read_text(encoding="utf-8"))


def test_a_bundle_can_be_analysed_again_with_the_same_result(study, bundle, tmp_path):
    run("fit", bundle / "ratings.csv", "--scale", "1:5", "-o", tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text())["parameters"]
    first = json.loads((study / "analysis.json").read_text())["parameters"]
    # The rows have another order, so that sums differ in the last digits.
    assert all(again[name] == pytest.approx(first[name], abs=1e-6) for name in again)


@pytest.mark.slow
def test_pictures_show_names_as_they_are(study):
    pictures = sorted(write_pictures(study).glob("*.svg"))
    assert len(pictures) >= 4
    for path in pictures:
        tree = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        assert not any(one.tag.endswith("script") for one in tree.iter())


def test_the_next_study_gets_the_names_too(study, tmp_path):
    run("report", *given(study, "analysis"), "--form", "parameters", "-o", tmp_path / "exported.json")
    document = json.loads((tmp_path / "exported.json").read_text(encoding="utf-8"))
    assert document["systems"] == json.loads((study / "analysis.json").read_text())["systems"]
    assert re.fullmatch(r"[\w-]+", document["library"]["name"])
    library = tmp_path / "library.json"
    run("parameters", "add", tmp_path / "exported.json", "--library", library)
    assert document["library"]["name"] in run("parameters", "list", "--library", library).stdout
