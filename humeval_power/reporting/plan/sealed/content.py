"""What a plan document says of a plan, and the numbers in it that follow from the others."""

from __future__ import annotations

import datetime
import math
from dataclasses import asdict
from decimal import Decimal

from humeval_power.costs import cost_of
from humeval_power.designs import DEFAULT_ASSIGNMENT_SEED
from humeval_power.errors import InputError, Problem
from humeval_power.parameters import CORRELATIONS, FURTHER_DEVIATIONS, PARAMETER_NAMES, Parameters
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.plan.sealed.many_content import many_content
from humeval_power.reporting.plan.sealed.rules_content import rules_content
from humeval_power.reporting.plan.sealed.seal import PLAN_SCHEMA, Values, value_at
from humeval_power.reporting.records import versions

TOLERANCE = 1e-6  # of a computed number, for another machine's last digits
COMPUTED = (
    "effect.raw",
    "design.assignment_seed",
    "design.n_ratings",
    "costs.total",
    "predicted.analytic",
    "looks.information",
    "looks.nominal",
    "sensitivity.powers",
    "many.n_tests",
    "many.powers",
)


def plan_content(plan: Plan, *, created: datetime.date) -> Values:
    """The content of the document, as plain values."""
    predicted, counts = plan.predicted, plan.counts
    simulated = not math.isnan(predicted.simulated)
    prices = None
    if plan.costs is not None or plan.cost is not None:
        prices = {
            "model": None if plan.costs is None else plan.costs.as_dict(),
            "total": None if plan.cost is None else f"{plan.cost:f}",
        }
    values: Values = {
        "schema": PLAN_SCHEMA,
        "question": plan.question,
        "systems": list(plan.systems),
        "effect": {"difference": plan.effect, "raw": _raw_effect(plan)},
        "scale": None if plan.scale is None else asdict(plan.scale),
        "parameters": _parameters(plan.parameters),
        "source": asdict(plan.source),
        "design": {
            **asdict(counts),
            "kind": plan.design_kind,
            "max_ratings_per_worker": plan.max_ratings_per_worker,
            "assignment_seed": DEFAULT_ASSIGNMENT_SEED,
            "n_ratings": plan.design().n_ratings,
        },
        "costs": prices,
        "rule": asdict(plan.rule),
        "target_power": plan.target_power,
        "predicted": {
            "analytic": predicted.analytic,
            "simulated": predicted.simulated,
            "interval": list(predicted.interval) if simulated else None,
            "n_simulations": predicted.n_simulations,
        },
        "seed": plan.seed,
        "exclusions": list(plan.exclusions),
        "looks": looks_content(plan),
        "sensitivity": sensitivity_content(plan),
        "created": created.isoformat(),
        "versions": versions(),
    }
    if plan.rules is not None:
        values["exclusion_rules"] = rules_content(plan.rules)
    if plan.many is None:
        del values["design"]["n_systems"]
        return values
    return {**values, "many": many_content(plan.many, list(plan.sensitivity().values()))}


def sensitivity_content(plan: Plan) -> Values | None:
    """The section of a plan: other parameters, and the power of the plan under them, computed."""
    if not plan.others:
        return None
    return {
        "others": [{"name": name, "parameters": _parameters(other)} for name, other in plan.others],
        "powers": list(plan.sensitivity().values()),
    }


def _parameters(parameters: Parameters) -> Values:
    further = (*FURTHER_DEVIATIONS, *CORRELATIONS)
    return {**parameters.as_dict(), **{name: getattr(parameters, name) for name in further}}


def looks_content(plan: Plan) -> Values | None:
    """The section of a plan, with the information of each look and its nominal level computed."""
    schedule = plan.looks
    if schedule is None:
        return None
    information = plan.look_information()
    bounds = plan.look_boundaries()
    return {
        "by": schedule.looks.kind,
        "shares": list(schedule.looks.shares),
        "efficacy": str(schedule.efficacy),
        "futility": "none" if schedule.futility is None else str(schedule.futility),
        "factor": schedule.factor,
        "information": list(information.fractions),
        "nominal": [float(level) for level in bounds.nominal],
        "expected": None if plan.expected is None else asdict(plan.expected),
    }


def check_numbers(plan: Plan, values: Values, place: str) -> None:
    """Raise InputError for every number of the document that is not what the plan gives."""
    expected: Values = {
        "effect.raw": _raw_effect(plan),
        "design.assignment_seed": DEFAULT_ASSIGNMENT_SEED,
        "design.n_ratings": plan.design().n_ratings,
        "costs.total": None if plan.costs is None else f"{total_cost(plan):f}",
        "predicted.analytic": plan.recomputed_power(),
    }
    if plan.looks is not None:
        expected["looks.information"] = list(plan.look_information().fractions)
        expected["looks.nominal"] = [float(level) for level in plan.look_boundaries().nominal]
    if plan.many is not None:
        expected["many.n_tests"] = plan.many.n_tests
        expected["many.powers"] = list(plan.sensitivity().values())
        expected["effect.difference"] = plan.many.parameters.stated_effect
        pair = _parameters(plan.many.pair)
        expected.update({f"parameters.{name}": pair[name] for name in (*PARAMETER_NAMES, *CORRELATIONS)})
    if plan.others:
        expected["sensitivity.powers"] = list(plan.sensitivity().values())
    check_stated(expected, values, place)


def check_stated(expected: Values, values: Values, place: str) -> None:
    """Raise InputError for every number, by its path, that a document does not state as it is computed."""
    problems = []
    for path, computed in expected.items():
        stated = value_at(values, path)
        if not agree(stated, computed):
            rule = f"this plan gives {computed!r}."
            problems.append(Problem(rule, _remedy(path), place, None, path, stated, True, "field"))
    if problems:
        raise InputError(problems)


def _remedy(path: str) -> str:
    if path != "predicted.analytic":
        return "It is computed; do not set it."
    return (
        'Where another version of this package computed it (see "versions"), accept the new value with '
        '--amend "reason".'
    )


def agree(stated: object, computed: object) -> bool:
    """Whether a stated value is the computed one; numbers up to TOLERANCE."""
    if isinstance(stated, list) and isinstance(computed, list):
        return len(stated) == len(computed) and all(map(agree, stated, computed))
    if isinstance(stated, float) and isinstance(computed, float):
        return abs(stated - computed) <= TOLERANCE
    return stated == computed


def total_cost(plan: Plan) -> Decimal:
    """What the planned design costs at the plan's prices."""
    assert plan.costs is not None  # a document has a total only with its prices
    return cost_of(plan.design(), plan.costs).total


def _raw_effect(plan: Plan) -> float | None:
    return None if plan.scale is None else plan.scale.effect_to_raw(plan.effect)
