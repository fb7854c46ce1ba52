"""A plan for people: every number is that of the plan, doubts come first, any name is safe."""

import datetime
import math
import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any

from cases import few_fast
from own_scripts import without_own_scripts
from promised_plan import promised
from seven import seven

from humeval_power.choices import DESIGN_KINDS, DesignKind
from humeval_power.costs import CostModel
from humeval_power.exclusions import ExclusionRules
from humeval_power.fees import PlatformFee
from humeval_power.rules import DecisionRule
from humeval_power.saying.render import as_html, as_markdown
from humeval_power.scales import RatingScale
from humeval_power.studies.plan.plan import Amendment, Change, ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.planned_systems import PlannedRules, RulesCost, WorkersOut
from humeval_power.studies.plan.result import plan_document
from humeval_power.studies.plan.result_words import design_words
from humeval_power.studies.power.analytic import minimum_detectable_effect
from humeval_power.studies.power.formula import effect_precision
from humeval_power.study_counts import StudyCounts

NOT_SIMULATED = (math.nan, (math.nan, math.nan), 0)
COSTS = CostModel(
    price_per_rating=Decimal("0.12"),
    seconds_per_rating=Decimal(40),
    cost_per_worker=Decimal("2.5"),
    fee=PlatformFee("Platform X", share=Decimal("0.25"), confirmed=False),
)


PLAN = promised(
    Plan(
        question="Is new better than old?",
        systems=("old", "new"),
        effect=0.08,
        parameters=seven(0.6, 0.0317, 0.05, 0.04, 0.08, 0.1, 0.2),
        source=ParameterSource("the pilot", "parameters.json", "pilot.csv"),
        counts=StudyCounts(12, 40, 12),
        rule=DecisionRule(),
        target_power=0.8,
        predicted=PredictedPower(math.nan, 0.917, (0.904, 0.928), 2000),  # simulated with seed 7
        seed=7,
        scale=RatingScale.parse("1:5"),
        costs=COSTS,
        exclusions=("Workers who fail two attention checks.", "Ratings given in under 2 seconds."),
    )
)


def of_counts(counts: StudyCounts, kind: DesignKind | None = None) -> Plan:
    return promised(replace(PLAN, counts=counts, design_kind=kind))


def plan_markdown(plan: Plan, **of_file: Any) -> str:
    return as_markdown(plan_document(plan, **of_file))


def plan_html(plan: Plan, **of_file: Any) -> str:
    return as_html(plan_document(plan, **of_file))


class Page(HTMLParser):
    """Text of a page, the tags that are open at its end, and every link and address."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def words(html: str) -> str:
    return " ".join(" ".join(Page(html).words).split())


def test_the_page_says_the_effect_on_both_scales_and_why_not_the_observed_one() -> None:
    text = plan_markdown(PLAN)
    # 0.08 of the 4 points between 1 and 5
    assert (
        "new - old = +0.08 on [0, 1], where 1 is best; as rated, on 1 to 5 (5 points), that is +0.32."
        in text
    )
    assert "only restates the pilot's p-value" in text
    assert "0.0317" not in text  # what the pilot showed


def test_a_plan_for_the_observed_effect_does_not_claim_otherwise() -> None:
    text = plan_markdown(promised(replace(PLAN, effect=0.0317)))
    assert "This is the difference that the pilot showed" in text
    assert "The power is not computed for" not in text


def test_systems_are_called_by_their_names() -> None:
    assert "12 workers rate all 40 items under A and B" in plan_markdown(replace(PLAN, systems=("A", "B")))
    assert "12 workers rate all 40 items under old and new" in plan_markdown(PLAN)


def test_a_raw_effect_has_the_sign_of_the_raw_scale() -> None:
    scale = RatingScale(0.0, 100.0, points=None, higher_is_better=False)
    assert "lower is better), that is -8." in plan_markdown(replace(PLAN, scale=scale))
    assert "as rated" not in plan_markdown(replace(PLAN, scale=None))


def test_the_page_says_who_rates_what() -> None:
    text = plan_markdown(of_counts(StudyCounts(12, 41, 5)))
    assert "Each item is rated by 5 of the workers, each of whom rates it under both systems." in text
    assert "drawn at random from seed 0" in text
    # 41 x 5 = 205 pairs of ratings are dealt to 12 workers: 17 or 18 each
    assert "| Ratings by each worker | 34 to 36 |" in text
    assert "| Ratings in total | 410 |" in text
    assert "41 items for 5 workers each do not divide by 12 workers" in text
    capped = promised(replace(PLAN, max_ratings_per_worker=100))
    assert "| Ratings by each worker | 80 (at most 100) |" in plan_markdown(capped)


@few_fast("kind", DESIGN_KINDS, fast=3)
def test_every_kind_of_design_has_words(kind: DesignKind) -> None:
    k = {"k-per-item": 4, "split": 4, "crossed": 12, "items-nested": 12}.get(kind, 6)
    plan = of_counts(StudyCounts(12, 40, k, paired=kind != "split"), kind)
    said = design_words(plan.design(), ("old", "new"))
    assert said in plan_markdown(plan)
    assert said in words(plan_html(plan))


def test_the_cost_is_broken_down_to_its_total() -> None:
    text = plan_markdown(PLAN)
    # 960 ratings x 0.12; a quarter of that; 12 workers x 2.50; 0.12 every 40 seconds
    for line in ("Ratings | 115.20", "Platform fees | 28.80", "Workers, once each | 30.00"):
        assert f"| {line} |" in text
    assert "| **Total** | **174.00** |" in text
    assert "- Total cost: **174.00 USD**" in text
    assert "Workers earn 10.80 USD an hour, at 40 seconds a rating." in text
    assert "The fee of Platform X (25 %) is not confirmed" in text
    free = plan_markdown(replace(PLAN, costs=None, cost=None))
    assert "## Costs" not in free
    assert "Total cost" not in free


def test_the_page_gives_power_with_its_interval_and_limits() -> None:
    text = plan_markdown(PLAN)
    analytic = f"{PLAN.predicted.analytic:.2f}"
    assert (
        "0.92 in 2,000 simulated studies (95 % Monte Carlo interval 0.904 to 0.928); by formula "
        f"{analytic}. The target was 0.8." in text
    )
    precision = effect_precision(PLAN.parameters, PLAN.design())
    found = minimum_detectable_effect(precision, power=0.8)
    assert f"With power 0.8 the study finds a difference of {4 * found:.3g} points or more." in text
    assert "with these workers, however many items" in text
    assert "| How much workers differ in new - old | 0.04 |" in text
    hopeless = promised(replace(PLAN, counts=StudyCounts(2, 2, 2), target_power=0.99))
    assert "no difference on [0, 1] that the study finds with power 0.99" in plan_markdown(hopeless)


def test_a_one_sided_test_claims_one_side_only() -> None:
    plan = promised(replace(PLAN, rule=DecisionRule(alternative="greater")))
    text = plan_markdown(plan)
    assert "one-sided (new better than old), alpha 0.05" in text
    assert (
        "new is said to be better than old if the test is significant; nothing is claimed for old" in text
    )


def test_exclusions_are_listed_or_said_to_be_none() -> None:
    text = plan_markdown(PLAN)
    assert "- Workers who fail two attention checks.\n- Ratings given in under 2 seconds." in text
    assert "every rating that is collected is analysed" in plan_markdown(replace(PLAN, exclusions=()))


def test_the_page_says_what_a_deviation_is() -> None:
    text = plan_markdown(PLAN)
    assert "Looking at the difference between the systems before all ratings are in" in text
    assert "Another test, alpha, direction or way of fitting." in text


CAVEATS = {
    "The plan is for +0.0317, the difference that the pilot showed": promised(replace(PLAN, effect=0.0317)),
    "is below the target of 0.8": replace(
        PLAN, predicted=PredictedPower(PLAN.predicted.analytic, 0.7, (0.68, 0.72), 2000)
    ),
    "With 3 workers, fewer than 5, the test rejects more often than alpha 0.05": of_counts(
        StudyCounts(3, 40, 3)
    ),
    "With 3 workers the power by formula is rough": promised(
        replace(PLAN, counts=StudyCounts(3, 40, 3), rule=DecisionRule(df="min"))
    ),
    "has not been simulated": replace(
        PLAN, predicted=PredictedPower(PLAN.predicted.analytic, *NOT_SIMULATED)
    ),
    "only the simulated power counts": promised(replace(PLAN, rule=DecisionRule(df="calibrated"))),
    "Formula and simulation differ by more than chance": replace(
        PLAN, predicted=PredictedPower(0.85, 0.93, (0.918, 0.941), 2000)
    ),
    "The formula leaves nobody out": replace(
        PLAN,
        predicted=PredictedPower(0.85, 0.80, (0.782, 0.818), 2000),
        rules=PlannedRules(
            rules=ExclusionRules(seconds=4),
            careless=0.1,
            cost=RulesCost(WorkersOut(0.0, 1.0), 0.80, 0.77, 0.86, 2000),
        ),
    ),
    "does not vary between workers": promised(
        replace(PLAN, parameters=replace(PLAN.parameters, sd_worker_slope=0.0))
    ),
    "is estimated from a pilot": PLAN,
    "is assumed (high), not estimated": replace(PLAN, source=ParameterSource("high")),
}


@few_fast("said", CAVEATS, fast=1)
def test_what_to_know_before_trusting_a_plan_comes_first(said: str) -> None:
    text = plan_markdown(CAVEATS[said])
    first = text.split("## Read this first")[1].split("\n## ")[0]
    assert said in first
    assert said in words(plan_html(CAVEATS[said]))


def test_a_plan_without_these_doubts_is_not_given_them() -> None:
    text = plan_markdown(PLAN)
    for said in CAVEATS:
        assert (said in text) == (CAVEATS[said] is PLAN), said


HISTORY = (
    Amendment(
        datetime.date(2025, 3, 9),
        "two experts | left",
        "0" * 64,
        (
            Change("design.n_workers", 14, 12),
            Change("predicted.analytic", 0.8612345678, 0.8012345678),
            Change("effect.difference", 0.08, 0.08000000001),
        ),
    ),
)


def test_dates_amendments_and_the_checksum_are_on_the_page() -> None:
    text = plan_markdown(PLAN, created=datetime.date(2025, 3, 1), checksum="ab" * 32, history=HISTORY)
    assert "Planned on 2025-03-01 and amended on 2025-03-09, before" in text
    assert "| 2025-03-09 | two experts \\| left | design.n_workers: 14 -> 12; " in text
    assert "predicted.analytic: 0.861235 -> 0.801235" in text
    assert "effect.difference: 0.08 -> 0.08000000001" in text.replace("0.080000000000000002", "0.08")
    assert "ab" * 32 in text
    assert "pilot.csv" in text
    assert "Amendments" not in plan_markdown(PLAN)
    twice = plan_markdown(PLAN, created=datetime.date(2025, 3, 1), history=HISTORY * 2)
    assert "amended 2 times, last on 2025-03-09" in twice


def test_html_and_markdown_say_the_same() -> None:
    made = {"created": datetime.date(2025, 3, 1), "checksum": "ab" * 32, "history": HISTORY}
    page = words(plan_html(PLAN, **made))
    plain = re.sub(r"\\(.)", r"\1", plan_markdown(PLAN, **made))
    for line in plain.splitlines():
        for cell in re.split(r"^(?:#+|-) | \| |^\| | \|$|\*\*(?::|$)?|: ", line):
            said = cell.strip(" |*:-")
            if said and not set(said) <= set("-: |"):
                assert said in page, said


def test_the_page_is_whole_and_loads_nothing() -> None:
    page = Page(without_own_scripts(plan_html(PLAN, history=HISTORY)))
    assert page.open == []
    assert all(link.startswith("data:image/svg+xml;base64,") for link in page.links)
    assert not page.tags & {"script", "link", "iframe"}


@few_fast("name", ["<script>alert(1)</script>", "{k} {0}", "[x](y)", "a | b\n# c", "*b*"], fast=1)
def test_any_name_is_safe(name: str) -> None:
    plan = replace(
        PLAN,
        question=name,
        systems=(name, "new"),
        source=ParameterSource(name, name),
        exclusions=(name,),
        rule=DecisionRule(alternative="greater"),
    )
    page = Page(without_own_scripts(plan_html(plan)))
    assert "script" not in page.tags
    assert page.open == []
    text = plan_markdown(plan)
    assert "<script" not in text.replace("\\<script", "")
    assert "\n# c" not in text
    assert not re.search(r"(?<!\\)\[x(?<!\\)\]\(", text)
    widths = [re.sub(r"\\.", "", line).count("|") for line in text.splitlines() if line.startswith("|")]
    assert set(widths) == {3}


def test_a_plan_that_rests_on_a_few_second_items_says_so_and_what_would_do() -> None:
    said = plan_markdown(of_counts(StudyCounts(98, 100, 1)))
    assert "Hardly any of the 98 workers has a second item to rate: 2 in all." in said
    assert "Take 100 workers, or 90 at most." in said
    for counts in (StudyCounts(100, 100, 1), StudyCounts(90, 100, 1), StudyCounts(12, 40, 12)):
        assert "Hardly any" not in plan_markdown(of_counts(counts))
