"""Plans of several systems, or of several criteria: the design that finds what is asked, proved and sealed."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.api.plan import PAIRINGS, Pairing, control_of, documents_to_search, plan_of
from humeval_power.api.progress import in_steps, progress
from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.choices import DEFAULT_SEED, MOST_WORKERS, Exclusion
from humeval_power.comparisons import DEFAULT_FAMILY, ComparisonFamily, SystemVariances
from humeval_power.costs import CostModel
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.exclusions import NO_RULES, ExclusionRules
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.losses import NO_LOSSES
from humeval_power.sweep.executors import on_executor
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:  # pandas, SciPy and pydantic are slow to import
    from humeval_power.estimation.fit import Fit
    from humeval_power.estimation.joint.fit import JointFit
    from humeval_power.planning.looks.schedule import LookSchedule
    from humeval_power.planning.plan.systems_pilot import SystemsPilot
    from humeval_power.planning.plan.systems_request import SystemsRequest
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.plan.result import PlanSearchResult
    from humeval_power.simulation.losses import Losses
    from humeval_power.sweep.executors import AnyExecutor


@on_executor
def make_systems_plan(
    assumed: Mapping[str, SystemsParameters],
    *,
    items: Sequence[int],
    costs: CostModel,
    family: ComparisonFamily = DEFAULT_FAMILY,
    goal: Goal = "pair",
    criteria: Sequence[str] = (),
    workers: Sequence[int] | None = None,
    max_workers: int = MOST_WORKERS,
    ratings_per_item: Sequence[int] | None = None,
    max_ratings_per_worker: int | None = None,
    documents: Sequence[int] | None = None,
    max_documents: int | None = None,
    pairing: Pairing = "paired",
    target: float = 0.8,
    budget: Decimal | None = None,
    spend_budget: bool = False,
    rule: DecisionRule = DEFAULT_RULE,
    looks: LookSchedule | None = None,
    robust: bool = False,
    sources: Assumptions | None = None,
    said: Difference | None = None,
    question: str = "",
    exclusions: Sequence[str] = (),
    exclude_if: ExclusionRules = NO_RULES,
    losses: Losses = NO_LOSSES,
    exclusion: Exclusion = "none",
    created: datetime.date | None = None,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    remarks: Sequence[str] = (),
) -> PlanSearchResult:
    """Find the cheapest design that reaches the goal among several systems, or the best that a budget buys.

    As `make_plan`, with these differences:

    Parameters
    ----------
    assumed : systems with their assumed means, by the name of the setting; all of the same systems.
    family : the tests that are made together, their model and their correction.
    goal : what counts as power.
    looks : each comparison gets boundaries of its own; power is then that of the whole procedure.
    criteria : names of those that everything is tested on; together they are one family, or each its own.
    sources : where the settings come from, by the same names, with the scale; [typed]
    said : the difference as it was said. [that of the means]
    exclude_if : rules that are sealed; whom they leave out is simulated, what this costs in power is not.
    losses, exclusion : what happens to the ratings of a proof, and who is left out of its analysis.
    n_simulations : of a proof. [2,000; 100 to 400 where each study has to be fitted, as not everybody rates all]

    Returns
    -------
    PlanSearchResult
        `plan.many` is what it decides of the systems.

    Raises
    ------
    InputError
        No design within the limits or the budget, a goal that these means do not have, or a test whose power no
        formula gives.
    """
    from humeval_power.planning.plan.candidates import SearchSpace
    from humeval_power.planning.plan.request import PlanRequest
    from humeval_power.planning.plan.systems_proof import make_systems_plan as search
    from humeval_power.planning.plan.systems_request import SystemsRequest
    from humeval_power.reporting.plan.result import PlanSearchResult
    from humeval_power.reporting.plan.sealed.content import plan_to_json
    from humeval_power.reporting.result import Provenance

    many = SystemsRequest(dict(assumed), family, goal, tuple(criteria), looks)
    first = many.planned(next(iter(assumed)))
    effect = first.parameters.stated_effect
    known = _in_pairs(many, sources)
    most = max(workers) if workers else max_workers
    control = control_of(exclude_if, costs)
    if control is not None and exclusion != "none":
        raise InputError(
            f"Leave out workers by rules, or as if they were known ({exclusion}), not by both."
        )
    request = PlanRequest(
        exclusion=control or exclusion,
        losses=losses,
        assumed=known,
        effect=effect,
        space=SearchSpace(
            workers=workers or range(2, max_workers + 1),
            items=items,
            ratings_per_item=ratings_per_item or range(1, most + 1),
            pairings=PAIRINGS[pairing],
            max_ratings_per_worker=max_ratings_per_worker,
            documents=documents_to_search(documents, max_documents),
            checks=float(costs.checks_per_rating),
            repeats=float(costs.repeats_per_rating),
        ),
        costs=costs,
        target=target,
        budget=budget,
        spend_budget=spend_budget,
        rule=rule,
        looks=looks,
        robust=robust,
        many=many,
    )
    with progress("Proving", total=100) as advance:
        found = search(
            request, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs, progress=in_steps(advance)
        )
    plan = plan_of(found, question=question, exclusions=exclusions, seed=seed)
    made = created or datetime.date.today()
    return PlanSearchResult(
        plan=plan,
        sealed=plan_to_json(plan, created=made),
        created=made,
        found=found,
        said=said or Difference(effect, known.scale),
        remarks=(*remarks, *first.parameters.notes),
        provenance=Provenance(seed=seed),
    )


def systems_pilot(
    ratings: Ratings, *, variances: SystemVariances = DEFAULT_FAMILY.variances
) -> SystemsPilot:
    """What a table of ratings of several systems tells a plan: one fit of all of them; where items come out of
    documents, which that has not, the fits of their pairs taken together.

    Raises
    ------
    InputError
        A table that cannot tell its variances apart.
    FitError
        Ratings that determine nothing.
    """
    from humeval_power.estimation.joint.fit import fit_joint
    from humeval_power.planning.plan.systems_pilot import SystemsPilot, systems_of_deviations

    if ratings.document is not None:
        return _pilot_of_pairs(ratings, variances)
    fitted = fit_joint(ratings, variances=variances, names=ratings.system_names)
    _check_pilot(ratings, fitted, "The fit of all systems")
    parameters = systems_of_deviations(
        ratings.system_names, fitted.means.tolist(), fitted.standard_deviations
    )
    return SystemsPilot(parameters, ratings.scale, tuple(fitted.boundary), ratings.source)


def _pilot_of_pairs(ratings: Ratings, variances: SystemVariances) -> SystemsPilot:
    from itertools import combinations

    from humeval_power.estimation.crossed.choice import few_fits
    from humeval_power.estimation.fitting import fit
    from humeval_power.planning.plan.systems_pilot import SystemsPilot, systems_of_pairs

    names = ratings.system_names
    pairs = list(combinations(range(len(names)), 2))
    with few_fits(len(pairs)):
        fits = [fit(ratings.pair(names[first], names[second])) for first, second in pairs]
    for (first, second), fitted in zip(pairs, fits, strict=True):
        _check_pilot(ratings, fitted, f"The fit of {names[first]} and {names[second]}")
    means = np.bincount(ratings.system, ratings.rating) / np.bincount(ratings.system)
    known = dict(zip(pairs, (fitted.parameters for fitted in fits), strict=True))
    parameters, boundary = systems_of_pairs(names, means.tolist(), known, variances=variances)
    return SystemsPilot(parameters, ratings.scale, boundary, ratings.source)


def _check_pilot(ratings: Ratings, fitted: JointFit | Fit, which: str) -> None:
    if fitted.not_identified or not fitted.converged:
        why = "has not converged" if not fitted.converged else "does not tell its variances apart"
        raise InputError(
            f"{which} of {ratings.source} {why}. Plan from a pilot in which some items have two ratings or more "
            "under a system, or give --preset."
        )


def _in_pairs(many: SystemsRequest, sources: Assumptions | None) -> Assumptions:
    """The settings as assumptions of the two systems that are hardest to tell apart."""
    if sources is None:
        entries = tuple(Assumed(name, many.planned(name).pair) for name in many.settings)
        return Assumptions(entries)
    by_name = {entry.name: entry for entry in sources.entries}
    return replace(
        sources,
        entries=tuple(
            replace(by_name[name], parameters=many.planned(name).pair, uncertainty=None)
            for name in many.settings
        ),
    )
