"""A collected table with two careless workers in it, and a plan that seals rules for leaving them out."""

import datetime
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from seven import seven

from humeval_power.exclusions import ExclusionRules
from humeval_power.rules import DEFAULT_RULE
from humeval_power.scales import RatingScale
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.planned_systems import PlannedRules, RulesCost, WorkersOut
from humeval_power.studies.plan.sealed_content import plan_to_json
from humeval_power.study_counts import StudyCounts

WORKERS, ITEMS = 8, 20
CLICKER, LINER = "w3", "w6"
RULES = ExclusionRules.parse("failed-checks=0.34,seconds=4,same-answer=0.95")
TRUTH = seven(0.55, 0.1, 0.05, 0.05, 0.15, 0.05, 0.15)


def collected(*, systems: str = "AB", criteria: tuple[str, ...] = (), seed: int = 1) -> pd.DataFrame:
    """One row an answer, on 1 to 5: every worker rates everything, and meets three checks and two repeats."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(3, 0.7, (ITEMS, 1, max(len(criteria), 1)))
    worth = worth + rng.normal(0, 0.3, (ITEMS, len(systems), max(len(criteria), 1)))
    rows = []
    for number in range(WORKERS):
        worker = f"w{number}"
        haste = 0.1 if worker in (CLICKER, LINER) else 1.0
        for item in range(ITEMS):
            for place, system in enumerate(systems):
                seconds = round(20 * haste * float(rng.lognormal(0, 0.3)), 1)
                for c, criterion in enumerate(criteria or ("",)):
                    value = worth[item, place, c] + 0.5 * place + rng.normal(0, 0.6)
                    value = {CLICKER: rng.integers(1, 6), LINER: 4}.get(worker, np.clip(round(value), 1, 5))
                    row = (
                        worker,
                        f"i{item}",
                        system,
                        criterion,
                        int(value),
                        f"C{item}x{place}",
                        seconds,
                        "",
                    )
                    rows.append((*row, "rating"))
                    if item < 2 and place == 0:
                        rows.append((*row, "repeat"))
        for check in range(3):
            passed = int(worker not in (CLICKER, LINER))
            rows.append((worker, "", "", "", "", f"K{check}", 5.0, passed, "check"))
    names = ["worker", "item", "system", "criterion", "rating", "code", "seconds", "passed", "kind"]
    frame = pd.DataFrame(rows, columns=names)
    return frame if criteria else frame.drop(columns="criterion")


def plan_of(rules: ExclusionRules | None = RULES) -> Plan:
    """A plan of two systems that seals the rules."""
    plan = Plan(
        question="Is B better than A?",
        systems=("A", "B"),
        effect=0.1,
        parameters=TRUTH,
        source=ParameterSource("high"),
        counts=StudyCounts(WORKERS, ITEMS, WORKERS),
        rule=DEFAULT_RULE,
        target_power=0.8,
        predicted=PredictedPower(0.5, float("nan"), (float("nan"), float("nan")), 0),
        seed=1,
        scale=RatingScale.parse("1:5"),
    )
    if rules:
        cost = RulesCost(WorkersOut(0.01, 0.9), 0.7, 0.6, 0.8, 1000)
        plan = replace(plan, rules=PlannedRules(rules=rules, checks=0.1, careless=0.1, cost=cost))
    return replace(plan, predicted=replace(plan.predicted, analytic=plan.recomputed_power()))


def write_plan(folder: Path, plan: Plan | None = None) -> Path:
    """The sealed plan in a file."""
    path = folder / "plan.json"
    path.write_text(plan_to_json(plan or plan_of(), created=datetime.date(2026, 1, 1)))
    return path


def write_table(folder: Path, frame: pd.DataFrame) -> Path:
    """The collected table in a file."""
    path = folder / "collected.csv"
    frame.to_csv(path, index=False)
    return path
