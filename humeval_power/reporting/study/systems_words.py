"""A study of several systems in words and plain values: what is assumed, compared and looked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict

from humeval_power.comparisons import ComparisonFamily
from humeval_power.planning.study.systems_power import SystemsPower
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import of_hundred, on_scale
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.numbers import counted, interval_words
from humeval_power.reporting.records import Record
from humeval_power.systems import GOALS, Goal

_MODELS = {
    "own": "all systems in one fit, with variances of each system's own",
    "common": "all systems in one fit, with variances that all systems share",
}
_CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "max-t": "max-t (Dunnett, Tukey)",
    "bh": "Benjamini and Hochberg's false discovery rate",
    "none": "no correction",
}


def goal_words(goal: Goal, effect: float, *, margin: bool = False) -> str:
    """What a goal is, of systems whose stated difference is `effect`; with a margin, of its claims."""
    if margin:
        words = {"pair": f"the claim about a pair {effect:g} apart is shown"}
        words |= {"any": "any true claim is shown", "all": "all true claims are shown"}
    else:
        words = {"pair": f"a pair that is {effect:.3g} apart is found"}
        words |= {"any": "any true difference is found", "all": "all true differences are found"}
    words |= {"best": "the best is found above every other", "first": "the best has the highest mean"}
    return words[goal]


def reached_words(
    study: SystemsStudy, analytic: SystemsPower | None, simulated: SystemsPower | None
) -> str:
    """How many of 100 such studies reach their goal."""
    found = simulated or analytic
    assert found is not None
    if math.isnan(found.power):
        return "There is no power: too many of the simulated studies could not be fitted."
    goal = goal_words(study.goal, study.effect, margin=study.rule.margin is not None)
    goal = goal.replace(" apart is ", f" apart {on_scale(None)} is ")
    if simulated is None:
        return f"In {of_hundred(found.power)} of 100 such studies, by formula, {goal}."
    reached = of_hundred(found.power, found.interval)
    return f"In {reached} of 100 such studies, {goal}; {found.n_simulations:,} studies were simulated."


def family_words(family: ComparisonFamily, n_systems: int) -> str:
    """The tests made together, their model and correction."""
    n = n_systems * (n_systems - 1) // 2 if family.comparisons == "all-pairs" else n_systems - 1
    against = (
        "all pairs"
        if family.comparisons == "all-pairs"
        else f"every other system against {family.baseline}"
    )
    model = "each pair by its own fit" if family.model == "pairwise" else _MODELS[family.variances]
    return f"{counted(n, 'comparison')}, {against}; {model}; {_CORRECTIONS[family.correction]}"


def study_facts(study: SystemsStudy) -> Iterator[Fact]:
    """The study, its tests and where the assumptions come from."""
    if study.setting:
        yield "Setting", study.setting
    yield "Study", str(study.design)
    yield "Tests", family_words(study.family, study.parameters.n_systems)
    yield "Test", str(study.rule)
    if study.response != "gaussian":
        points = f" of {study.points} points" if study.points else ""
        yield "Response", f"{study.response}{points}"


def assumed_words(study: SystemsStudy) -> str:
    """What is taken of how workers and items differ about the systems."""
    values = study.parameters
    levels = f"SD of workers {values.sd_worker:.3g}, of items {values.sd_item:.3g}"
    if values.has_documents:
        levels += f", of documents {values.sd_document:.3g}"
    shared = f"{levels}, residual {values.sd_residual:.3g}"
    if not values.is_alike:
        return f"Assumed on [0, 1]: {shared}; each system has SDs of its own (see the table)."
    return (
        f"Assumed on [0, 1]: {shared}; any two systems differ alike (compound symmetry): what a worker gives one "
        f"system beyond what it gives all has SD {values.sd_worker_system[0]:.3g}, what an item gives "
        f"{values.sd_item_system[0]:.3g}"
        + (f", what a document gives {values.sd_document_system[0]:.3g}." if values.has_documents else ".")
    )


def means_table(study: SystemsStudy) -> Table:
    """The true means that were assumed, highest first, with the SDs of each system where they differ."""
    values = study.parameters
    rows = []
    for place in sorted(range(values.n_systems), key=lambda one: -values.means[one]):
        row = [values.names[place], f"{values.means[place]:.4f}"]
        if not values.is_alike:
            row += [f"{values.sd_worker_system[place]:.4f}", f"{values.sd_item_system[place]:.4f}"]
        if not values.is_alike and values.has_documents:
            row.append(f"{values.sd_document_system[place]:.4f}")
        rows.append(tuple(row))
    header = ["system", "assumed mean"]
    if not values.is_alike:
        header += ["worker x system", "item x system"]
        header += ["document x system"] if values.has_documents else []
    return Table(tuple(header), tuple(rows))


def share_cell(share: float) -> str:
    """A share in a table; 'none' where there can be none."""
    return "none" if math.isnan(share) else f"{share:.3f}"


def goals_table(
    study: SystemsStudy, analytic: SystemsPower | None, simulated: SystemsPower | None
) -> Table:
    """Every goal by formula and as simulated."""
    margin = study.rule.margin is not None
    header = ["goal", "what it is"]
    header += ["formula"] if analytic is not None else []
    header += ["simulated", "95 % interval"] if simulated is not None else []
    rows = []
    for goal in GOALS:
        row = [goal, goal_words(goal, study.effect, margin=margin)]
        if analytic is not None:
            row.append(share_cell(analytic.shares[goal]))
        if simulated is not None:
            share = simulated.shares[goal]
            row.append(share_cell(share))
            row.append("" if math.isnan(share) else interval_words(*simulated.interval_of(share), digits=3))
        rows.append(tuple(row))
    return Table(tuple(header), tuple(rows))


def pairs_table(
    study: SystemsStudy, analytic: SystemsPower | None, simulated: SystemsPower | None
) -> Table:
    """Every comparison with its true difference and how often it is found."""
    found = analytic or simulated
    assert found is not None
    names, means = study.parameters.names, study.parameters.means
    header = ["difference", "assumed", "SE", "df"]
    header += ["formula"] if analytic is not None else []
    header += ["simulated"] if simulated is not None else []
    rows = []
    for place, (first, second) in enumerate(found.pairs):
        row = [f"{names[second]} - {names[first]}", f"{means[second] - means[first]:.4f}"]
        row += [f"{found.standard_error[place]:.4f}", f"{found.df[place]:.1f}"]
        row += [share_cell(one.per_comparison[place]) for one in (analytic, simulated) if one is not None]
        rows.append(tuple(row))
    return Table(tuple(header), tuple(rows))


def study_record(study: SystemsStudy) -> Record:
    """What the numbers were computed from."""
    design = study.design
    return {
        "setting": study.setting,
        "n_systems": study.parameters.n_systems,
        "workers": design.n_workers,
        "items": design.n_items,
        **({"documents": design.n_documents} if design.n_documents else {}),
        "ratings_per_item": design.ratings_per_item,
        "n_ratings": design.n_ratings,
        "design": design.kind,
        "response": study.response,
        "goal": study.goal,
        "effect": study.effect,
        "family": asdict(study.family),
        "rule": asdict(study.rule),
        "systems": study.parameters.as_dict(),
        "assumed": list(study.parameters.notes),
    }


def power_record(found: SystemsPower | None, names: tuple[str, ...]) -> Record | None:
    """Every share of a power, with the Monte Carlo intervals of simulated ones."""
    if found is None:
        return None
    simulated = bool(found.n_simulations)
    record: Record = {
        "power": found.power,
        "goals": {goal: found.shares[goal] for goal in GOALS},
        "false_claim": found.false_claim,
        "wrong_sign": found.wrong_sign,
        "top_group": found.top_group,
        "pairs": [
            {
                "first": names[first],
                "second": names[second],
                "power": found.per_comparison[place],
                "standard_error": found.standard_error[place],
                "df": found.df[place],
            }
            for place, (first, second) in enumerate(found.pairs)
        ],
    }
    if simulated:
        record["intervals"] = {goal: list(found.interval_of(found.shares[goal])) for goal in GOALS}
        record["n_simulations"] = found.n_simulations
        record["n_failed"] = found.n_failed
        record["best_margin"] = None if found.best_margin is None else asdict(found.best_margin)
    return record
