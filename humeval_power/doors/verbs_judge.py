"""`hp.judge.study` and `hp.judge.plan`: a judge beside raters, of a `Study` or of the parts that make one."""

from __future__ import annotations

from typing import Any

from humeval_power.doors.verbs import answer
from humeval_power.study import Study


def study(about: Any, /, **how: Any) -> Any:
    """How many human ratings a judge saves in a study of workers and items, by formula.

    Parameters
    ----------
    about : a `Study` with its size and effect; or `Parameters`, of which the effect is not used.
    how : `extra` and `correlation`, items scored by the judge alone, and the correlation of the judge's difference
        on an item with the item's true difference; of parameters also `workers`, `items`, `effect` (B - A on
        [0, 1]), `ratings_per_item`, `rule`, `setting`.

    Returns
    -------
    JudgeStudy
        Power with the judge and without, and the smallest study with it that is as powerful as without.

    Raises
    ------
    InputError
        Numbers that cannot be, or what is missing.
    """
    if isinstance(about, Study):
        return answer(about, "judge study", how)
    from humeval_power.comparisons.judge.calls import study as study_of_parts

    return study_of_parts(about, **how)


def plan(about: Any, /, **how: Any) -> Any:
    """How many human labels a study with a judge needs, by how many workers, at the least cost.

    Parameters
    ----------
    about : a `Study` with its effect, prices and judges (`judged_extra`, `judge_correlation`, `judge_reliability`,
        `judges_between`, `cost_per_score`); or `Parameters`, of which the effect is not used.
    how : of a study any of its fields, and `max_runs`, `min_workers`, `max_workers`, `max_ratings_per_item`,
        `no_proof`, `n_simulations` and `seed`; of parameters `extra`, the most items that the judge scores beside
        those that workers rate, `correlation`, `effect`, `costs`, `power`, `price_per_score`, `workers` (fewest and
        most), `rule` and others.

    Returns
    -------
    JudgePlan
        The cheapest study with the judge, its proof, and the cheapest without one.

    Raises
    ------
    InputError
        Numbers that cannot be, what is missing, or no study within the limits.
    """
    if isinstance(about, Study):
        return answer(about, "judge plan", how)
    from humeval_power.comparisons.judge.calls import plan as plan_of_parts

    return plan_of_parts(about, **how)
