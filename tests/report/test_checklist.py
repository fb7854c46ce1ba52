"""The reporting checklist: filled from documents, open where they are silent, safe for any name."""

import re
from collections.abc import Iterator
from copy import deepcopy
from html.parser import HTMLParser

import pytest
from cases import each_case
from own_scripts import without_own_scripts

from humeval_power.safe_text import markdown_text
from humeval_power.saying.render import as_html, as_markdown
from humeval_power.studies.report.card2020 import checklist
from humeval_power.studies.report.fields import prompts
from humeval_power.studies.report.result import ChecklistReport

RULE = {"estimator": "reml", "df": "kenward-roger", "alternative": "two-sided", "alpha": 0.05}
ASKED = {
    "data_availability",
    "code_availability",
    "analysis_plan",
    "instructions",
    "recruitment",
    "pay",
    "training",
    "quality_control",
}
PARAMETERS = {
    "schema": "humeval_power/parameters/1",
    "parameters": {
        "baseline": 0.5912,
        "effect": 0.0473,
        "sd_worker_intercept": 0.0514,
        "sd_worker_slope": 0.0172,
        "sd_item_intercept": 0.1334,
        "sd_item_slope": 0.2283,
        "sd_residual": 0.1565,
        "coding": [-0.5, 0.5],
    },
    "standard_errors": {"baseline": 0.0146, "effect": 0.0113, "sd_residual": 0.0012},
    "estimator": "reml",
    "engine": "native",
    "effect": {
        "estimate": 0.0473,
        "standard_error": 0.0113,
        "df": 38.76,
        "p_value": 0.0123,
        "interval": [0.0251, 0.0695],
        "rule": RULE,
        "raw": {"estimate": 0.1892, "standard_error": 0.0452, "interval": [0.1004, 0.278]},
        "simulated_size": None,
        "simulated_size_interval": None,
    },
    "criterion": -571.2,
    "n_ratings": 1800,
    "n_workers": 15,
    "n_items": 60,
    "ratings_per_item": 15,
    "converged": True,
    "boundary": [],
    "not_identified": [],
    "identified_combinations": [],
    "scale": {"low": 1.0, "high": 5.0, "points": 5, "higher_is_better": True, "source": "declared"},
    "systems": ["old", "new"],
    "criterion_name": "fluency",
    "flow": [
        {"step": "read", "rows": 1834, "reason": ""},
        {"step": "dropped", "rows": 34, "reason": "rating is missing"},
        {"step": "analysed", "rows": 1800, "reason": ""},
    ],
    "notices": ["12 ids had blanks around them."],
    "data": {"source": "pilot.csv"},
    "versions": {"humeval-power": "0.1.0"},
    "command": "humeval-power fit pilot.csv",
}


def cell(workers: int, items: int, effect: float, power: float, **more: object) -> dict[str, object]:
    return {
        "setting": "pilot",
        "workers": workers,
        "items": items,
        "ratings_per_item": workers,
        "effect": effect,
        "power": power,
        "power_low": power - 0.018,
        "power_high": power + 0.017,
        "n_simulations": 2000,
        "n_failed": 0,
        **more,
    }


SURFACE = {
    "schema": "humeval_power/surface/1",
    "rows": [
        cell(15, 60, 0.04, 0.41),
        cell(15, 60, 0.08, 0.93),
        cell(8, 60, 0.04, 0.23),
        cell(8, 60, 0.08, 0.62),
    ],
    "effect_unit": 1.0,
    "rule": RULE,
    "settings": {"pilot": PARAMETERS["parameters"]},
    "seed": 7,
}
POWER = {
    "schema": "humeval_power/power/1",
    **cell(15, 60, 0.06, 0.741),
    "difference": 0.06,
    "rule": RULE,
    "parameters": PARAMETERS["parameters"],
    "seed": 7,
}


def page(made, surface=None):
    return as_html(ChecklistReport(checklist=made, surface=surface).document())


def text_of(made):
    return as_markdown(ChecklistReport(checklist=made).document())


def item(made, key):
    return next(item for item in made.items if item.number == key)


def changed(document, **values):
    return {**deepcopy(document), **values}


def numbers_in(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield abs(float(value))
    elif isinstance(value, str):
        yield from (float(number) for number in re.findall(r"\d+(?:\.\d+)?", value))


def test_every_number_in_an_answer_is_in_the_documents_or_is_said_to_be_derived():
    made = checklist(PARAMETERS, SURFACE, power=POWER)
    known = list(numbers_in([PARAMETERS, SURFACE, POWER]))
    derived = [
        0.8,  # the target power
        95.0,  # 100 (1 - alpha)
        0.06 * 4,  # the difference in points of the 1 to 5 scale
        1800 / 15,  # ratings per worker
        0.018,  # widest reach of a Monte Carlo interval
        1,  # of [0, 1]
    ]
    for shown in made.items:
        texts = [
            shown.answer or "",
            *(text for row in (shown.table.rows if shown.table else ()) for text in row),
        ]
        for text in texts:
            for written in re.findall(r"\d[\d,]*(?:\.\d+)?", text):
                digits = written.rstrip(",").replace(",", "")
                rounding = 0.5 * 10 ** -len(digits.partition(".")[2])
                nearest = min(abs(float(digits) - number) for number in known + derived)
                assert nearest <= 1.001 * rounding, (
                    f"{digits} of {shown.number!r} is in no document: {text}"
                )


def test_without_documents_every_item_is_open_and_has_advice():
    made = checklist(None, None)
    assert made.n_open == len(made.items) == len(prompts("card2020"))
    assert all(item.advice and item.answer is None and item.source is None for item in made.items)
    assert made.caveats == ()


def test_what_only_the_authors_know_stays_open_whatever_the_documents_hold():
    made = checklist(PARAMETERS, SURFACE, power=POWER)
    assert {item.number for item in made.items if item.state == "open" and item.answer is None} == ASKED


def test_what_the_documents_know_is_filled_with_its_source():
    made = checklist(PARAMETERS, SURFACE, power=POWER, names={"parameters": "fit.json"})
    for key in (
        "workers",
        "items",
        "ratings_total",
        "ratings_per_item",
        "scale",
        "effect",
        "test",
        "parameters",
    ):
        assert item(made, key).state == "filled"
        assert item(made, key).source == "fit.json; pilot.csv"
    assert item(made, "power").source == "the power document; the surface document"


@each_case(
    ("missing", "key"),
    [
        ("n_workers", "workers"),
        ("n_items", "items"),
        ("n_ratings", "ratings_total"),
        ("ratings_per_item", "ratings_per_item"),
        ("scale", "scale"),
        ("systems", "systems"),
        ("criterion_name", "criterion"),
        ("flow", "exclusions"),
        ("parameters", "parameters"),
        ("effect", "effect"),
        ("effect", "test"),
    ],
)
def test_an_item_is_open_when_its_field_is_missing_or_null(missing, key):
    absent = {name: value for name, value in PARAMETERS.items() if name != missing}
    for document in (absent, {**absent, missing: None}):
        assert item(checklist(document, None), key).state == "open"
        assert item(checklist(document, None), key).answer is None


def test_the_effect_is_given_on_both_scales_with_its_interval():
    effect = item(checklist(PARAMETERS, None), "effect")
    assert (
        effect.answer
        == "new \u2212 old = +0.0473 on [0, 1], 95 % interval +0.0251 to +0.0695; df = 38.8, p = 0.012."
    )
    assert effect.table.rows[1] == ("as rated, 1 to 5", "+0.189", "0.045", "+0.100 to +0.278")


def test_a_one_sided_rule_leaves_alpha_on_both_sides_of_the_interval():
    rule = {"estimator": "ml", "df": "normal", "alternative": "greater", "alpha": 0.025}
    document = changed(PARAMETERS, effect={**PARAMETERS["effect"], "rule": rule})
    assert "95 % interval" in item(checklist(document, None), "effect").answer
    assert "one-sided" in item(checklist(document, None), "test").answer


def test_power_is_never_taken_from_the_observed_effect():
    assert item(checklist(PARAMETERS, None), "power").answer is None
    observed = changed(POWER, effect=0.0473, difference=0.0473)
    assert any(
        "the observed difference" in text for text in checklist(PARAMETERS, None, power=observed).caveats
    )
    assert not any("observed" in text for text in checklist(PARAMETERS, None, power=POWER).caveats)


def test_the_power_of_another_design_leaves_the_item_open():
    other = changed(POWER, workers=8, ratings_per_item=8)
    power = item(checklist(PARAMETERS, None, power=other), "power")
    assert power.state == "open"
    assert "another design: 15 workers, 60 items" in power.answer


def test_without_a_power_document_the_surface_speaks_for_the_studys_own_design():
    power = item(checklist(PARAMETERS, SURFACE), "power")
    assert power.state == "filled"
    assert power.answer.startswith("From 0.41 to 0.93 for the study's design")


@pytest.mark.parametrize(
    ("powers", "words"),
    [
        ((0.41, 0.93), "between 0.04 and 0.08"),
        ((0.85, 0.93), "at 0.04 or less"),
        ((0.41, 0.79), "above 0.08"),
    ],
)
def test_the_minimum_detectable_effect_is_read_off_the_grid_and_not_beyond_it(powers, words):
    surface = changed(SURFACE, rows=[cell(15, 60, 0.04, powers[0]), cell(15, 60, 0.08, powers[1])])
    found = item(checklist(PARAMETERS, surface), "minimum_detectable_effect")
    assert [row[-1] for row in found.table.rows] == [words]


def test_effects_stated_as_coefficients_are_shown_as_differences():
    surface = changed(SURFACE, effect_unit=2.0)
    assert item(checklist(None, surface), "power").table.header[-2:] == ("at 0.08", "at 0.16")


def test_cells_decided_as_in_the_paper_do_not_pass_for_power():
    rows = [{**row, "rule": "REML"} for row in SURFACE["rows"]]
    rows += [{**row, "rule": "card2020", "power": 0.99} for row in SURFACE["rows"]]
    assert "0.99" not in text_of(checklist(PARAMETERS, changed(SURFACE, rows=rows)))


def test_an_undeclared_scale_stays_open():
    document = changed(PARAMETERS, scale={**PARAMETERS["scale"], "source": "inferred"})
    assert item(checklist(document, None), "scale").state == "open"


def test_parameters_that_are_not_identified_are_named_and_not_numbered():
    document = changed(
        PARAMETERS,
        not_identified=["sd_item_intercept", "sd_residual"],
        identified_combinations=["sd_item_intercept^2 + sd_residual^2"],
    )
    made = checklist(document, None)
    found = item(made, "parameters")
    assert found.state == "open"
    assert ("sd_residual", "not identified", "") in found.table.rows
    assert "cannot tell apart how much items differ in level" in made.caveats[0]
    assert "(sd_item_intercept) and the noise of single ratings (sd_residual)" in made.caveats[0]
    assert "sd_item_intercept^2 + sd_residual^2" in made.caveats[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"converged": False, "message": "too few steps"}, "did not converge (too few steps)"),
        (
            {"boundary": ["sd_worker_slope"]},
            "exactly zero: how much workers differ in new - old (sd_worker_slope)",
        ),
        ({"n_workers": 3}, "0.07 with 3 workers"),  # the methods notes: Kenward-Roger, 3 x 100, simulated
        ({}, "12 ids had blanks"),
    ],
)
def test_what_a_reader_must_know_first_is_a_caveat(values, words):
    assert any(words in text for text in checklist(changed(PARAMETERS, **values), None).caveats)


def test_the_size_simulated_for_the_study_is_preferred_to_general_knowledge():
    effect = {**PARAMETERS["effect"], "simulated_size": 0.081, "simulated_size_interval": [0.069, 0.095]}
    made = checklist(changed(PARAMETERS, n_workers=3, effect=effect), None)
    assert "rejects in 0.081 of studies" in made.caveats[0]
    assert not any("with 3 workers, " in text for text in made.caveats)


def test_power_for_another_test_than_the_one_reported_is_said():
    other = changed(POWER, rule={**RULE, "df": "normal"})
    assert any("another test" in text for text in checklist(PARAMETERS, None, power=other).caveats)


def test_failed_simulations_are_said():
    failing = changed(POWER, n_failed=30)
    assert any("30 of the 2,000" in text for text in checklist(PARAMETERS, None, power=failing).caveats)


HOSTILE = ["<script>alert(1)</script>", "a|b\nc *d* _e_ `f` [g](h) &amp; \\|"]


def hostile_rows():
    return [{**row, "setting": HOSTILE[1]} for row in SURFACE["rows"]]


def hostile():
    rows = hostile_rows()
    flow = [{"step": "read", "rows": 3, "reason": HOSTILE[1]}]
    document = changed(PARAMETERS, systems=HOSTILE, criterion_name=HOSTILE[0], notices=HOSTILE, flow=flow)
    document["data"] = {"source": HOSTILE[1]}
    surface = changed(SURFACE, rows=rows, settings={HOSTILE[0]: PARAMETERS["parameters"]})
    return checklist(document, surface, names={"surface": HOSTILE[0]})


class Page(HTMLParser):
    """Collects the tags of a page and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_hostile_names_reach_the_html_reader_as_they_are_and_do_nothing():
    shown = Page(without_own_scripts(page(hostile(), {**SURFACE, "rows": hostile_rows()})))
    assert "script" not in shown.tags
    plain = Page(without_own_scripts(page(checklist(PARAMETERS, SURFACE, power=POWER), SURFACE)))
    assert set(shown.tags) <= set(plain.tags)
    for name in HOSTILE:
        assert " ".join(name.split()) in shown.text


def test_the_html_page_needs_nothing_from_elsewhere():
    html = page(checklist(PARAMETERS, SURFACE, power=POWER), SURFACE)
    links = [value for name, value in Page(html).attributes if name in ("src", "href")]
    assert not links  # its chart is drawn in it
    assert "url(" not in html
    assert "@import" not in html


def test_markdown_tables_keep_their_shape_with_bars_and_newlines_in_names():
    blocks = re.split(r"\n\s*\n", text_of(hostile()))
    tables = [block for block in blocks if block.lstrip().startswith("| ")]
    assert len(tables) >= 5
    for table in tables:
        widths = {
            len(re.findall(r"(?<!\\)\|", re.sub(r"\\\\", "", line))) for line in table.strip().splitlines()
        }
        assert len(widths) == 1, table


def test_markdown_holds_no_live_html():
    assert not re.search(r"(?<!\\)<", text_of(hostile()))


@each_case(
    ("text", "shown"),
    [
        ("sd_item_slope on [0, 1]", "sd_item_slope on [0, 1]"),
        ("[0, 1](http://x)", r"\[0, 1\](http://x)"),
        ("*a* _b_ `c`", r"\*a\* \_b\_ \`c\`"),
        ("# no title", r"\# no title"),
        ("1. no list", r"1\. no list"),
        ("0.53 and 1,200", "0.53 and 1,200"),
        ("- no list", r"\- no list"),
        ("-0.5, 0.5", "-0.5, 0.5"),
        ("&lt;b&gt; R&D", r"\&lt;b\&gt; R&D"),
        ("two\nlines", "two lines"),
    ],
)
def test_markdown_escapes_what_acts_and_nothing_else(text, shown):
    assert markdown_text(text) == shown


def test_open_items_are_visibly_open_in_both_formats():
    made = checklist(PARAMETERS, None)
    assert text_of(made).count("- [ ] ") == text_of(made).count("**Open.**") == made.n_open
    assert page(made).count('class="open"') == made.n_open


def test_the_same_documents_give_the_same_report():
    first, second = (checklist(PARAMETERS, SURFACE, power=deepcopy(POWER)) for _ in range(2))
    assert first == second
    assert text_of(first) == text_of(second)
    assert page(first, SURFACE) == page(second, deepcopy(SURFACE))
