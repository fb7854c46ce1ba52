"""What an automatic judge of further items is worth in human ratings."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_SEED
from humeval_power.differences import Difference
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.planning.workload import Ahead
    from humeval_power.reporting.judge.plan import JudgePlan
    from humeval_power.reporting.judge.result import JudgeMean, JudgeStudy

_ENDLESS = 10**12  # items
PLAN_SIMULATIONS = 400  # that prove a plan


def mean(
    *, n: int, extra: int, correlation: float, sd: float = 1.0, sd_judge: float | None = None
) -> JudgeMean:
    """How precise a mean of independent human values is with a judge's help.

    Parameters
    ----------
    n, extra : items with a human value, and further items with the judge's score alone.
    correlation : of the judge with the human values as they are, noise and all.
    sd, sd_judge : standard deviations of human values and of the judge's scores; the second as the first
        where it is not given.

    Returns
    -------
    JudgeMean
        Variances with the judge and without, and how many human values the mean is worth.

    Raises
    ------
    InputError
        An impossible correlation, number or standard deviation.
    """
    from humeval_power.planning.judge.efficiency import PredictionPower
    from humeval_power.reporting.judge.result import JudgeMean

    return JudgeMean(found=PredictionPower(n, extra, correlation, sd, sd if sd_judge is None else sd_judge))


def study(
    parameters: Parameters,
    *,
    workers: int,
    items: int,
    effect: float | Difference,
    extra: int,
    correlation: float,
    ratings_per_item: int | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    setting: str = "",
) -> JudgeStudy:
    """How many human ratings a judge saves in a study of workers and items, by formula.

    Parameters
    ----------
    parameters : of the variation; the effect in them is not used.
    workers, items, ratings_per_item : size of the study; every worker rates every item where the last is
        not given.
    effect : true difference B - A on [0, 1].
    extra, correlation : items scored by the judge alone, and the correlation of the judge's difference on an
        item with the item's true difference.
    setting : name of the parameters.

    Returns
    -------
    JudgeStudy
        Power with the judge and without, and the smallest study with it that is as powerful as without.

    Raises
    ------
    InputError
        An impossible design, correlation or effect.
    """
    from humeval_power.planning.judge.study import JudgedStudy, judged_study
    from humeval_power.reporting.judge.result import JudgeStudy

    said = effect if isinstance(effect, Difference) else Difference(effect)
    given = parameters.with_difference(said.value)

    def judged(correlation: float, extra: int) -> JudgedStudy:
        return judged_study(
            given,
            n_workers=workers,
            n_items=items,
            correlation=correlation,
            extra=extra,
            ratings_per_item=ratings_per_item,
            rule=rule,
        )

    found = judged(correlation, extra)
    return JudgeStudy(
        found=found,
        endless=judged(1.0, _ENDLESS),
        parameters=given,
        effect=said,
        extra=extra,
        correlation=correlation,
        rule=rule,
        setting=setting,
        remarks=found.design.notes,
    )


def plan(
    parameters: Parameters,
    *,
    effect: float | Difference,
    extra: int,
    correlation: float,
    costs: CostModel,
    power: float = 0.8,
    price_per_score: Decimal | float = 0,
    workers: tuple[int, int] = (5, 20),
    max_ratings_per_item: int = 5,
    max_ratings_per_worker: int | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    n_simulations: int = PLAN_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    setting: str = "",
    ahead: Ahead | None = None,
) -> JudgePlan:
    """How many human labels a study with a judge needs, by how many workers, at the least cost.

    Parameters
    ----------
    parameters : of the variation; the effect in them is not used.
    effect : true difference B - A on [0, 1].
    extra : the most items that the judge scores beside those that workers rate.
    correlation : of the judge's difference on an item with the item's true difference.
    costs : prices of ratings, workers and items. price_per_score : of one score of the judge.
    power : to reach.
    workers : the fewest and the most to try.
    max_ratings_per_item, max_ratings_per_worker : of an item under each system; of a worker, None without limit.
    n_simulations : studies that prove the cheapest plan; 0 leaves the proof out.
    seed : of the simulated studies. setting : name of the parameters.
    ahead : is told of the work of the proof before it begins, and may refuse it.

    Returns
    -------
    JudgePlan
        The cheapest study with the judge and without; `to_frame` has a row for each number of workers.

    Raises
    ------
    InputError
        An impossible correlation, power, price or range, or no effect.
    """
    from humeval_power.planning.judge.plan import JudgeRequest, search_plan
    from humeval_power.planning.judge.simulated import judged_workload, simulate_judged
    from humeval_power.planning.study.designs_of import design_of
    from humeval_power.reporting.judge.plan import JudgePlan
    from humeval_power.reporting.result import Provenance

    said = effect if isinstance(effect, Difference) else Difference(effect)
    request = JudgeRequest(
        parameters=parameters.with_difference(said.value),
        correlation=correlation,
        extra=extra,
        costs=costs,
        target=power,
        price_per_score=Decimal(str(price_per_score)),
        workers=workers,
        most_ratings=max_ratings_per_item,
        most_per_worker=max_ratings_per_worker,
        rule=rule,
    )
    found = search_plan(request)
    proof = None
    if found.judged is not None and n_simulations and rule.alternative == "two-sided":
        design = design_of(found.judged.counts)
        if ahead is not None:
            ahead(judged_workload(design, extra=found.judged.extra, n_simulations=n_simulations))
        proof = simulate_judged(
            request.parameters,
            design,
            correlation=correlation,
            extra=found.judged.extra,
            n_simulations=n_simulations,
            seed=seed,
        )
    return JudgePlan(
        found=found,
        effect=said,
        simulated=proof,
        setting=setting,
        provenance=Provenance(seed=None if proof is None else seed),
    )
