"""Every number of every report is one of the study's files, rounded as it is printed."""

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from study_files import FORMATS, FORMS, given, run, write_study

from humeval_power.safe_text import _SPECIAL
from humeval_power.studies.plan.files import read_plan

NUMBER = re.compile(r"(?<![\w.])[+\-\u2212]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w%]*\d)")
# What belongs to our own words: the unit scale, half of it in the coding, the target of 'smallest
# difference found', the level of Monte Carlo intervals, and bounds below which nothing is written out.
OURS = {
    "[0, 1]": "the scale that results are on",
    "1 being best": "its better end",
    "1 is best": "its better end",
    "power 0.8": "the target of an item of the checklist",
    "95 %": "the level of intervals",
    "p < 0.001": "a bound",
    "below 0.001": "a bound",
    "< 0.01": "a bound",
    "> 0.99": "a bound",
    "HEDS 3.0": "the version of the form",
    "Datasheet 3.0": "the version of the form",
    "Thomson 2024": "its authors",
    "Card et al. (2020)": "authors",
    "section 6": "of their paper",
    "https://aclanthology.org/2020.emnlp-main.745": "its address",
    "SHA-256": "a name",
    "sha256": "a name",
    "ICC(1,1)": "a name",
}


class Text(HTMLParser):
    """What a reader of the page sees."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = False

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.hidden = tag == "style"

    def handle_endtag(self, tag):  # noqa: ARG002
        self.hidden = False
        self.parts.append(" ")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def visible(text: str, ending: str) -> str:
    """The words of a report as a reader has them, on one line."""
    if ending == "html":
        page = Text()
        page.feed(text)
        text = "".join(page.parts)
    elif ending == "tex":
        text = text.partition("\\begin{document}")[2]
        for code, written in sorted(_SPECIAL.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(written, code) if len(written) > 1 else text
        text = re.sub(r"\\humevalchar\{([0-9A-F]+)\}", lambda m: chr(int(m[1], 16)), text)
        text = re.sub(r"\\begin\{tabular\}\{[^}]*\{\}[^}]*\}|\\label\{[^}]*\}|\\\\", " ", text)
        text = text.replace("\\allowbreak{}", "").replace("{}", "")
        text = re.sub(r"\\[a-z]+\*?(\[[a-z]+\])?|[{}&]", " ", text)
    else:
        text = re.sub(r"\\([^\w\s])|\\$|\\(?=\d)|(?<=\d)\\(?=[.)])", r"\1", text)
    return " ".join(text.split())


def strings(document: object) -> Iterator[str]:
    """Every text in a document: it may be quoted as a whole."""
    if isinstance(document, str):
        yield " ".join(document.split())
    elif isinstance(document, Mapping):
        for key, value in document.items():
            yield from strings(key)
            yield from strings(value)
    elif isinstance(document, list):
        for value in document:
            yield from strings(value)


def numbers(document: object) -> Iterator[float]:
    """Every number in a document; texts do not count, for a hash holds any digit."""
    if isinstance(document, int | float) and not isinstance(document, bool):
        yield float(document)
    elif isinstance(document, Mapping):
        for value in document.values():
            yield from numbers(value)
    elif isinstance(document, list):
        for value in document:
            yield from numbers(value)


def derived(path: Path) -> list[float]:
    """What a plan says through its design: sizes, the raw effect, and prices, which its file has as text."""
    plan = read_plan(path)
    design, costs = plan.design(), plan.costs
    assert plan.scale is not None
    assert costs is not None
    found = [design.n_workers, design.n_items, design.n_ratings, design.ratings_per_item, design.seed]
    found += [
        plan.scale.low,
        plan.scale.high,
        plan.scale.effect_to_raw(plan.effect),
        plan.counts.ratings_per_item,
        plan.seed,
    ]
    found += [costs.price_per_rating, costs.hourly_pay, costs.seconds_per_rating, *plan.predicted.interval]
    return [float(value) for value in found if value is not None]


def counted(kind: str, document: Mapping[str, Any]) -> list[float]:
    """The numbers of reports that are no field: points of the scale, rated outputs, and how far a power may
    be off."""
    if kind == "analysis":
        points = range(round(document["scale"]["low"]), round(document["scale"]["high"]) + 1)
        return [float(round(document["n_ratings"] / document["ratings_per_item"])), *map(float, points)]
    if kind == "surface":
        rows = document["rows"]
        return [max(max(row["power_high"] - row["power"], row["power"] - row["power_low"]) for row in rows)]
    return []


def known(folder: Path, kinds: tuple[str, ...]) -> tuple[list[float], list[str]]:
    """The numbers and the texts of the files that a report was written from."""
    values: list[float] = []
    texts: list[str] = []
    for kind in kinds:
        path = folder / ("surface/record.json" if kind == "surface" else f"{kind}.json")
        document = json.loads(path.read_text(encoding="utf-8"))
        values += [*numbers(document), *counted(kind, document)]
        held = list(strings(document))
        texts += [f"{name} {version}" for name, version in document.get("versions", {}).items()]
        texts += [text for text in held if re.search(r"\d", text) and re.search(r"[^\W\d]", text)]
        values += [float(text.replace(",", "")) for text in held if re.fullmatch(r"[\d,]+(\.\d+)?", text)]
        values += derived(path) if kind == "plan" else []
    return values, texts


def unknown(text: str, values: list[float], texts: list[str], own: list[str]) -> list[str]:
    """The numbers of a text, with what stands before them, that are none of the values as printed."""
    quoted = [*texts, *(text[:digits] for text in texts for digits in (8, 12) if len(text) == 64), *own]
    for phrase in sorted({*quoted, *OURS} - {""}, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(phrase)}(?!\w|\.\d)", " ; ", text)
    found = []
    for match in NUMBER.finditer(text):
        printed = match.group().replace(",", "").replace("\u2212", "-")
        if not any(as_printed(printed, value) for value in values):
            found.append(f"{printed} in ...{text[max(0, match.start() - 60) : match.end() + 30]}...")
    return found


def as_printed(printed: str, value: float) -> bool:
    """Whether the number is the value rounded to its own digits; whole numbers are not rounded ones."""
    decimals = len(printed.partition("e")[0].partition(".")[2])
    if not decimals:
        return float(printed) == value
    exponent = int(printed.partition("e")[2] or 0)
    return abs(value - float(printed)) <= 0.5 * 10.0 ** (exponent - decimals) * (1 + 1e-9)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("numbers"))


CASES = [(form, ending) for form in FORMS for ending in FORMATS]


SCORE = r"\d+ of \d+ fields are filled(?:, \d+ to be checked)?, \d+ open|Versions\W+python[^\n]*"


def report(study, form, ending, kinds=None):
    path = study / f"{form}.{ending}"
    words = ("report", *given(study, *(kinds or FORMS[form])), "--form", form, "-o", path, "--force", "-q")
    run(*words)
    text = visible(path.read_text(encoding="utf-8"), ending)
    # Names of folders have numbers: the longest first.
    for word in (str(study), str(study.parent), study.parent.name):
        text = text.replace(word, "study")
    return text


def own_numbers(form: str) -> list[str]:
    """Numbers of the questions, which stand before their prompts."""
    from humeval_power.studies.report.fields import prompts
    from humeval_power.studies.report.heds.form import SECTIONS, heds_questions

    asked = prompts(form)
    if form == "heds":
        asked = [question.field_prompt for question in heds_questions()]
    assert len(SECTIONS) == 5
    return [f"{one.number} {one.prompt}" for one in asked]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "ending"), CASES, ids=[".".join(case) for case in CASES])
def test_every_number_of_a_report_is_in_the_files_that_it_was_written_from(study, form, ending):
    text = report(study, form, ending)
    text = re.sub(SCORE, " ", text)  # counted below, in a test of its own
    text = re.sub(r"have [\d,]+ characters; AsPredicted advises about 3,200", " ", text)
    values, texts = known(study, FORMS[form])
    assert unknown(text, values, texts, own_numbers(form)) == []


def test_the_search_finds_numbers_that_were_made_up(study):
    text = report(study, "paper", "md")
    values, texts = known(study, FORMS["paper"])
    assert len(NUMBER.findall(text)) > 40
    estimate = json.loads((study / "analysis.json").read_text())["effect"]["estimate"]
    right = f"{estimate:+#.3g}".replace("-", "\u2212")
    assert right in text
    assert unknown(text, values, texts, []) == []
    turned = right.replace("\u2212", "+") if estimate < 0 else right.replace("+", "\u2212")
    for wrong in (f"{right[:-1]}{9 - int(right[-1])}", turned, "777"):
        assert unknown(text.replace(right, wrong), values, texts, [])


@pytest.mark.parametrize("form", [form for form in FORMS if form != "paper"])
def test_the_score_of_a_form_counts_its_fields(study, form):
    text = report(study, form, "md")
    said = re.search(r"(\d+) of (\d+) fields are filled(?:, (\d+) to be checked)?, (\d+) open", text)
    listed = json.loads(
        run("report", "check", *given(study, *FORMS[form]), "--form", form, "--json").stdout
    )
    assert said is not None
    counts = [listed[name] for name in ("n_filled", "n_fields", "n_to_check", "n_open")]
    assert [int(number or 0) for number in said.groups()] == counts
