"""`analyze` as a program: two systems, several, several criteria, a plan, rules that leave workers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.families import chooses_comparisons, family_of
from humeval_power.interfaces.python_code.rules import rule_of
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.settings import look_into
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.tables import path_of, ratings_of, rule_scale, terms_of
from humeval_power.interfaces.python_code.typed import GapError, Typed

Record = Mapping[str, Any]


def analyze(typed: Typed, source: Source) -> None:
    """Decide a finished study."""
    typed.refuse(["amend"], "changes the plan")
    typed.refuse(["ledger", "secret"], "is of the looks of a plan")
    planned: Record = {} if typed["plan"] is None else look_into(typed["plan"])
    if planned.get("looks"):
        raise GapError("plan: the ledger of its looks is read by the command alone")
    many: Record = planned.get("many") or {}
    plan = None if typed["plan"] is None else source.let("plan", call("hp.plans.read_plan", typed["plan"]))
    several = chooses_comparisons(typed) if not many else len(planned["systems"]) > 2
    criteria = _criteria(typed, many)
    typed_rule = rule_of(typed, rule_scale(typed, source))
    rule = None if typed_rule is None else source.let("rule", typed_rule)
    read = {**({} if plan is None else _by_plan(typed, plan, planned)), **_pairs(several)}
    if criteria is not None:
        more = {**read, "criteria": None if criteria == "all" else criteria}
        ratings = ratings_of(typed, source, reader="hp.study.read_criteria", more=more, named="criteria")
    else:
        ratings = ratings_of(typed, source, more=read)
    exclusion = _exclusion(typed, source, plan, planned, ratings, of_criteria=criteria is not None)
    family = _family(typed, many)
    of_each: dict[str, Value] = {"plan": plan, "rule": rule, "exclusion": exclusion}
    if criteria is None:
        source.let("result", _one(typed, ratings, of_each, family, several=several))
        return
    if several and family is not None:
        family = source.let("family", family)
    each = source.define(
        "analyzed", "ratings", _one(typed, Code("ratings"), of_each, family, several=several)
    )
    source.let("result", call("hp.study.analyze_criteria", ratings, each, family=family, plan=plan))


def _one(
    typed: Typed, ratings: Code, of_each: Mapping[str, Value], family: Value, *, several: bool
) -> Call:
    """The analysis of one criterion."""
    return _several(typed, ratings, of_each, family) if several else _two(typed, ratings, of_each)


def _two(typed: Typed, ratings: Code, of_each: Mapping[str, Value]) -> Call:
    """The analysis of two systems."""
    terms, spread = terms_of(typed)
    if spread is not None:
        terms = {"correlated": Code("model.correlated")}
    run = run_of(typed, "check_families")
    return call("hp.analyze", ratings, **of_each, **terms, effect=_interest(typed, ratings), **run)


def _several(typed: Typed, ratings: Code, of_each: Mapping[str, Value], family: Value) -> Call:
    """The analysis of several systems."""
    typed.refuse(["effect_of_interest", "effect_of_interest_raw", "check_families"], "is of two systems")
    typed.allow("simulations", "correlated")
    run = run_of(typed)
    return call("hp.study.analyze_systems", ratings, **of_each, family=family, seed=run["seed"])


def _criteria(typed: Typed, many: Record) -> Value:
    """The criteria to go through; None where there is one."""
    wanted = typed["criteria"]
    if wanted is None:
        planned = many.get("criteria") or None
        if planned is not None and typed["criterion"] is not None:
            raise GapError("criterion: one of the criteria of a plan")
        return list(planned) if planned is not None else None
    return wanted if wanted == "all" else [part.strip() for part in wanted.split(",") if part.strip()]


def _family(typed: Typed, many: Record) -> Value:
    """The family of tests that was typed; the plan's where there is one."""
    found = family_of(typed)
    if many and found is not None:
        raise GapError("comparisons: beside those of a plan")
    return found


def _pairs(several: bool) -> dict[str, Value]:
    return {"require_pair": False} if several else {}


def _by_plan(typed: Typed, plan: Code, planned: Record) -> dict[str, Value]:
    """How a plan says to read the ratings, unless something else was typed."""
    found: dict[str, Value] = {}
    if typed["scale"] is None and planned.get("scale"):
        if typed["lower_is_better"]:
            raise GapError("lower_is_better: beside the scale of a plan")
        found["scale"] = Code(f"{plan}.scale")
    if typed["systems"] is None and not planned.get("many"):
        found["systems"] = Code(f"{plan}.pair")
    return found


def _exclusion(
    typed: Typed, source: Source, plan: Code | None, planned: Record, ratings: Code, *, of_criteria: bool
) -> Value:
    """What the sealed or typed rules do to the workers."""
    rules = typed.given("exclude_if")
    if planned.get("exclusion_rules"):
        given: Value = Code(f"{plan}.exclusion_rules")
    elif rules:
        limits = ",".join(f"{name}={limit!r}" for name, limit in rules.limits.items())
        given = call("hp.plans.ExclusionRules.parse", limits)
    else:
        return None
    whose = Code(f"*{ratings}.values()") if of_criteria else ratings
    answers = call("hp.study.read_answers", path_of(typed, "file"), whose)
    return source.let("exclusion", call("hp.study.exclude_workers", answers, given))


def _interest(typed: Typed, ratings: Code) -> Value:
    """The smallest difference that would matter, on [0, 1]."""
    points, value = typed["effect_of_interest_raw"], typed["effect_of_interest"]
    if points is not None:
        return Code(f"abs({ratings}.scale.effect_from_raw({points!r}))")
    return None if value is None else abs(value)
