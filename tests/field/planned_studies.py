"""Plans of every family, with the assignments and keys that are made by them, for the tests of rehearsals."""

import datetime
import functools
import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from seven import seven

from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.rating_looks import LookSchedule
from humeval_power.studies.looks.replicates import equal_looks
from humeval_power.studies.looks.stopping_rule import efficacy_of
from humeval_power.studies.plan.calls import assign_work
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.planned_systems import PlannedSystems
from humeval_power.studies.plan.result_assignment import AssignmentResult
from humeval_power.studies.plan.sealed_content import plan_to_json
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters

TRUTH = seven(0.55, 0.02, 0.08, 0.05, 0.12, 0.1, 0.18)
HOSTILE = ("<b>&\\end", '=cmd|"x", y', "שלום \N{GRINNING FACE}", "50% a_b $2 {x}" * 4)
FIVE = Latent(
    thresholds=(-1.2, -0.4, 0.4, 1.2), sd_worker_intercept=0.4, sd_worker_slope=0.2, sd_item_intercept=0.6
)


def of_two(counts: StudyCounts = StudyCounts(6, 12, 3), **changes: object) -> Plan:  # noqa: B008
    """A plan of two systems."""
    plan = Plan(
        question="Is it better?",
        systems=("old", "new"),
        effect=0.1,
        parameters=TRUTH,
        source=ParameterSource("pilot"),
        counts=counts,
        rule=DecisionRule(),
        target_power=0.8,
        predicted=PredictedPower(math.nan, math.nan, (math.nan, math.nan), 0),
        seed=3,
        scale=RatingScale.parse("1:5"),
    )
    return _promised(replace(plan, **changes))  # type: ignore[arg-type]


@functools.cache
def of_systems(
    names: tuple[str, ...] = HOSTILE, criteria: tuple[str, ...] = (), n_documents: int = 0
) -> Plan:
    """A plan of several systems, one better than all others."""
    truth = TRUTH.with_difference(0)
    if n_documents:
        truth = replace(truth, sd_document_intercept=0.05, sd_document_slope=0.04)
    many = SystemsParameters.of_parameters(truth, names=names).with_pattern("one", 0.1)
    family = ComparisonFamily(model="pairwise" if n_documents else "joint")
    planned = PlannedSystems(many, family, "any", criteria)
    counts = StudyCounts(6, 12, 3, n_documents=n_documents, n_systems=len(names))
    return of_two(counts, systems=names, parameters=planned.pair, many=planned)


def _promised(plan: Plan) -> Plan:
    return replace(plan, predicted=replace(plan.predicted, analytic=plan.recomputed_power()))


@functools.cache
def of_documents() -> Plan:
    """A plan of items that come out of documents."""
    parameters = replace(TRUTH, sd_document_intercept=0.05, sd_document_slope=0.04)
    return of_two(StudyCounts(6, 12, 3, n_documents=4), parameters=parameters)


def in_categories(
    counts: StudyCounts = StudyCounts(6, 12, 3),  # noqa: B008
    latent: Latent = FIVE,
    scale: str = "1:5",
) -> Plan:
    """A plan of ratings that arise in categories."""
    parameters = Parameters.of_latent(latent)
    return of_two(
        counts,
        parameters=parameters,
        rule=DecisionRule(family=latent.family),
        scale=RatingScale.parse(scale),
    )


@functools.cache
def with_looks() -> Plan:
    """A plan with a look at half of the items."""
    schedule = LookSchedule(equal_looks("items", 2), efficacy_of("lan-demets-obrien-fleming"))
    return of_two(StudyCounts(8, 24, 8), looks=schedule)


BITS = bytes(range(16))  # of the codes: the same in all runs of a test


class Written(NamedTuple):
    """Files of a study that goes to the field."""

    plan: Path
    assignment: Path
    key: Path


def assigned(plan: Plan, **options: object) -> AssignmentResult:
    """Who rates what, with batches, repeats, checks and a spare."""
    usual: dict[str, object] = {"batch_size": 8, "check_rate": 0.1, "repeat_rate": 0.2, "replacements": 2}
    if options.get("blind"):
        usual["bits"] = BITS
    return assign_work(plan, **{**usual, **options})  # type: ignore[arg-type]


def written(folder: Path, plan: Plan, **options: object) -> Written:
    """The files of a plan."""
    folder.mkdir(exist_ok=True)
    found = assigned(plan, blind=True, **options)
    files = Written(folder / "plan.json", folder / "assignment.csv", folder / "key.csv")
    files.plan.write_text(plan_to_json(plan, created=datetime.date(2026, 1, 2)), encoding="utf-8")
    files.assignment.write_text(str(found.artefact(".csv")), encoding="utf-8")
    files.key.write_text(found.key_csv(), encoding="utf-8")
    return files


def table(path: Path) -> pd.DataFrame:
    """A table as text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)
