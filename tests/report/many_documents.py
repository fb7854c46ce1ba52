"""A study of several systems on several criteria, from its plan to its analysis, for the tests of the forms."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from forms_documents import CHECKSUM, PLAN

from humeval_power.checking.rows import FlowStep
from humeval_power.ratings import Ratings
from humeval_power.rules import ComparisonFamily
from humeval_power.saying.result import Provenance, Source, json_ready
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.calls import analyze, analyze_criteria
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.planned_systems import GoalShare, PlannedSystems
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters

NAMES = ("base", "tuned", "large", "human")
CRITERIA = ("fluency", "adequacy")
PAIRWISE = ComparisonFamily()
JOINT = ComparisonFamily(model="joint")


def many_ratings(names: Sequence[str], criterion: str, *, seed: int = 3, spread: float = 0.2) -> Ratings:
    """8 workers rate 12 items under every system, on 1 to 5; 5 rows were left out."""
    rng, k, m, n = np.random.default_rng(seed), len(names), 8, 12
    worker, item, system = (axis.ravel() for axis in np.indices((m, n, k)))
    values = (
        2.6
        + spread * system
        + rng.normal(0, 0.4, m)[worker]
        + rng.normal(0, 0.4, n)[item]
        + rng.normal(0, 0.2, (m, k))[worker, system]
        + rng.normal(0, 0.2, (n, k))[item, system]
        + rng.normal(0, 0.7, worker.size)
    )
    scale = RatingScale(1, 5, points=5, source="declared")
    flow = (
        FlowStep("read", worker.size + 5),
        FlowStep("dropped", 5, "rating is missing"),
        FlowStep("analysed", worker.size),
    )
    return Ratings(
        worker,
        item,
        system,
        scale.to_unit(np.clip(np.rint(values), 1, 5)),
        tuple(f"w{place}" for place in range(m)),
        tuple(f"i{place}" for place in range(n)),
        tuple(names),
        scale,
        criterion=criterion,
        source="study.csv",
        flow=flow,
    )


@cache
def many_documents(
    family: ComparisonFamily = JOINT,
    names: tuple[str, ...] = NAMES,
    criteria: tuple[str, ...] = CRITERIA,
    spread: float = 0.2,
) -> tuple[CriterionDocuments, ...]:
    """One for each criterion, with the plan, as `report` reads what `analyze -o` wrote."""
    by_name = {
        name: many_ratings(names, name, seed=place, spread=spread) for place, name in enumerate(criteria)
    }
    found = analyze_criteria(by_name, lambda ratings: analyze(ratings, family=family), family=family)
    found = replace(
        found, provenance=Provenance(command="humeval-power analyze", sources=(Source("study.csv"),))
    )
    record = json.loads(json.dumps(json_ready(found.record())))
    shared = {name: record[name] for name in ("versions", "command")}
    return tuple(
        CriterionDocuments(
            analysis={**shared, **one}, plan=many_plan(names, criteria, family), plan_checksum=CHECKSUM
        )
        for one in record["criteria"]
    )


def many_plan(
    names: tuple[str, ...] = NAMES,
    criteria: tuple[str, ...] = CRITERIA,
    family: ComparisonFamily = JOINT,
) -> Plan:
    """A plan of these systems on these criteria."""
    k = len(names)
    systems = SystemsParameters(
        names,
        tuple(0.5 + 0.05 * place for place in range(k)),
        0.1,
        tuple(0.04 + 0.001 * place for place in range(k)),
        0.12,
        tuple(0.05 + 0.001 * place for place in range(k)),
        0.18,
        effect=0.05,
    )
    many = PlannedSystems(systems, family, "any", criteria, (GoalShare("all", 0.413, (0.402, 0.424)),))
    plan = replace(
        PLAN,
        question="Which of the systems differ?",
        systems=names,
        effect=0.05,
        parameters=many.pair,
        source=ParameterSource("the pilot", "pilot.json", "pilot.csv"),
        counts=StudyCounts(14, 60, 3, n_systems=k),
        predicted=PredictedPower(math.nan, 0.917, (0.904, 0.928), 2000),
        costs=None,
        cost=None,
        many=many,
    )
    return replace(plan, predicted=replace(plan.predicted, analytic=plan.recomputed_power()))
