"""A study from plan to analysis, for the tests of the forms: made by the functions that make real ones."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

import pandas as pd
from seven import seven

from humeval_power.checking.rows import FlowStep
from humeval_power.comparisons.agreement.agreement import agreement, repeatability
from humeval_power.comparisons.agreement.reliability import intraclass_correlations
from humeval_power.comparisons.agreement.result_report import agreement_record
from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import k_per_item
from humeval_power.estimation.fitting import fit
from humeval_power.fees import PlatformFee
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.rules import DecisionRule
from humeval_power.saying.result import ANALYSIS_SCHEMA, Provenance, enveloped, json_ready
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate
from humeval_power.studies.analyze.family import analysis_content, deviations, power_at_interest
from humeval_power.studies.fit.wald import effect_test
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.sealed_content import looks_content
from humeval_power.studies.power.formula import EffectPrecision
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.study_counts import StudyCounts

HOSTILE = '<script>alert("x")</script> =cmd()|50% a_b & c #1 $2 {x} \\end ~^ \n שלום -- `é` 你好 |* [z]'
TRUTH = seven(0.55, 0.1, 0.08, 0.05, 0.12, 0.1, 0.18)
CHECKSUM = "c0ffee" * 10 + "1234"


def plan_of(systems: tuple[str, str] = ("old", "new")) -> Plan:
    plan = Plan(
        question="Is the new system better?",
        systems=systems,
        effect=0.08,
        parameters=replace(TRUTH, effect=0.0317),
        source=ParameterSource("the pilot", "parameters.json", "pilot.csv"),
        counts=StudyCounts(14, 60, 3),
        rule=DecisionRule(),
        target_power=0.8,
        predicted=PredictedPower(math.nan, 0.917, (0.904, 0.928), 2000),
        seed=7,
        scale=RatingScale.parse("1:5"),
        costs=CostModel(
            price_per_rating=Decimal("0.12"),
            seconds_per_rating=Decimal(40),
            fee=PlatformFee("Platform X", share=Decimal("0.25")),
        ),
        exclusions=("Workers who fail two attention checks.", "Ratings given in under 2 seconds."),
    )
    predicted = replace(plan.predicted, analytic=plan.recomputed_power())
    return replace(plan, predicted=predicted, cost=cost_of(plan.design(), plan.costs).total)


def ratings_of(systems: tuple[str, str] = ("old", "new"), criterion: str | None = "fluency") -> Ratings:
    """12 workers, 50 items, 3 ratings each under both systems, 34 rows left out."""
    drawn = simulate(TRUTH, k_per_item(12, 50, ratings_per_item=3), seed=5, response="likert", points=5)
    table = drawn.to_frame(RatingScale(1, 5, points=5))
    table["system"] = pd.Categorical(table["system"]).rename_categories(
        dict(zip("AB", systems, strict=True))
    )
    table["system"] = table["system"].astype(str)
    ratings = ratings_from_table(
        table, systems=systems, scale=RatingScale(1, 5, points=5), source="study.csv"
    )
    flow = (
        FlowStep("read", ratings.n_ratings + 34),
        FlowStep("dropped", 34, "rating is missing"),
        FlowStep("analysed", ratings.n_ratings),
    )
    return replace(ratings, criterion=criterion, flow=flow)


def analysis_of(ratings: Ratings, plan: Plan | None) -> dict[str, object]:
    """As `analyze -o` writes it and `report` reads it."""
    fitted = fit(ratings)
    rule = DecisionRule()
    tested = effect_test(fitted, rule)
    precision = EffectPrecision(tested.standard_error**2, tested.df, 11, fitted.n_workers)
    interest = power_at_interest(0.08, fitted.parameters, precision, ratings.design(), rule=rule, plan=plan)
    content = analysis_content(
        ratings,
        fitted,
        tested,
        size=None,
        interest=interest,
        deviations=None if plan is None else deviations(plan, ratings, rule),
        agreement=agreement_record(
            agreement(ratings, n_resamples=50),
            repeatability(ratings, n_resamples=50),
            intraclass_correlations(fitted, ratings_per_output=3, n_draws=100),
        ),
        plan=None if plan is None else {"file": "plan.json"},
    )
    typed = "humeval-power analyze study.csv --plan plan.json -o analysis.json"
    record = enveloped(ANALYSIS_SCHEMA, content, Provenance(command=typed))
    return dict(json.loads(json.dumps(json_ready(record))))


PLAN = plan_of()
ANALYSIS = analysis_of(ratings_of(), PLAN)
DOCUMENTS = CriterionDocuments(analysis=ANALYSIS, plan=PLAN, plan_checksum=CHECKSUM)
HOSTILE_PAIR = (f"old {HOSTILE}", f"new {HOSTILE}")
HOSTILE_DOCUMENTS = CriterionDocuments(
    analysis={
        **ANALYSIS,
        "systems": list(HOSTILE_PAIR),
        "criterion_name": HOSTILE,
        "data": {"source": HOSTILE},
        "command": f"humeval-power analyze '{HOSTILE}'",
        "deviations": [{"what": HOSTILE, "planned": HOSTILE, "actual": HOSTILE}],
    },
    plan=replace(PLAN, systems=HOSTILE_PAIR, question=HOSTILE, exclusions=(HOSTILE,)),
    plan_checksum=CHECKSUM,
)

_NUMBER = re.compile(r"(?<![\w.])[+\-\u2212]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
# Numbers that belong to our words: the unit scale, Card et al. (2020) and its address, 95 % of a Monte
# Carlo interval, bounds below which a number is not written out, and the codes of A and B.
OWN = {"0", "1", "2020", "95", "0.001", "0.01", "0.99", "0.5", "3.0"}


def values_of_plan(plan: Plan) -> list[float]:
    """The numbers of a plan, as its file has them and as its design and prices give them."""
    design, predicted, costs = plan.design(), plan.predicted, plan.costs
    said = [
        plan.effect,
        None if plan.scale is None else plan.scale.effect_to_raw(plan.effect),
        None if plan.scale is None else [plan.scale.low, plan.scale.high, plan.scale.points],
        plan.parameters.recoded().as_dict(),
        [design.n_workers, design.n_items, design.n_ratings, design.ratings_per_item, design.seed],
        [plan.rule.alpha, plan.target_power, plan.seed, list(plan.exclusions)],
        [predicted.analytic, predicted.simulated, list(predicted.interval), predicted.n_simulations],
        None if costs is None else [costs.price_per_rating, costs.hourly_pay, costs.seconds_per_rating],
        looks_content(plan),
        [plan.question, list(plan.systems), plan.source.name],
    ]
    return [*values_of(said)]


def numbers_in(text: str) -> list[str]:
    """The numbers of a text that do not belong to our own words, signs and thousands taken off."""
    kept = re.sub(r"2020\.emnlp-main\.745|SHA-256", "", text)
    kept = re.sub(r"[0-9a-f]{8,64}…?", "", kept)
    found = [
        match.group().lstrip("+-\u2212").replace(",", "").rstrip(".") for match in _NUMBER.finditer(kept)
    ]
    return [number for number in found if number not in OWN]


def values_of(document: object) -> Iterator[float]:
    """Every number of a document, those inside its texts too."""
    if isinstance(document, bool) or document is None:
        return
    if isinstance(document, int | float | Decimal):
        yield float(document)
    elif isinstance(document, str):
        for part in re.findall(r"\d+(?:\.\d+)?", document.replace(",", "")):
            yield float(part)
    elif isinstance(document, Mapping):
        for key, value in document.items():
            yield from values_of(key)
            yield from values_of(value)
    elif isinstance(document, list | tuple):
        for value in document:
            yield from values_of(value)


def is_rounded(number: str, values: list[float]) -> bool:
    """Whether a number as printed is one of the values, rounded to the digits that it shows."""
    decimals = len(number.partition(".")[2])
    half = 0.5 * 10.0**-decimals
    return any(abs(abs(value) - float(number)) <= half * (1 + 1e-9) for value in values)
