"""Latent parameters from what people see: shares of categories, and standard deviations on [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from humeval_power.errors import ParametersError, Problem, field_problem

if TYPE_CHECKING:
    from humeval_power.kernels.latent.shares import NoSolutionError

_SUM = 0.005  # by which shares that were rounded may miss 1


def latent_values(
    shares: Sequence[float],
    scores: Sequence[float],
    given: Mapping[str, float],
    difference: float,
    *,
    logit: bool,
) -> dict[str, Any]:
    """Thresholds, effect and deviations on the latent scale from those that are seen.

    given : the standard deviations on [0, 1] by name.

    Raises
    ------
    ParametersError
        Numbers that are none, or that no latent variable has together.
    """
    problems = [*share_problems(shares, scores), *_deviation_problems(given)]
    if not is_number(difference) or not abs(difference) < 1:
        problems.append(field_problem("difference", difference, "must be above -1 and below 1."))
    if problems:
        raise ParametersError(problems)
    import numpy as np

    from humeval_power.kernels.latent.shares import NoSolutionError, Observed, latent_of_shares

    probabilities = np.array(shares, dtype=np.float64) / math.fsum(shares)
    values = np.array(scores, dtype=np.float64)

    def solved(factor: float) -> Any:
        observed = {
            name: Observed(
                (factor * given[f"sd_{name}_intercept"]) ** 2, (factor * given[f"sd_{name}_slope"]) ** 2
            )
            for name in ("worker", "item", "document")
        }
        return latent_of_shares(probabilities, values, difference, observed, logit=logit)

    try:
        results = solved(1.0)
    except NoSolutionError as error:
        mean = float(probabilities @ values)
        spread = math.sqrt(float(probabilities @ values**2) - mean**2)
        raise ParametersError(_no_solution(error, given, difference, spread, solved)) from None
    return {
        "thresholds": tuple(float(place) for place in results.thresholds),
        "effect": float(results.effect),
        **{
            f"sd_{factor}_{part}": math.sqrt(variance)
            for factor, variances in results.variances.items()
            for part, variance in zip(("intercept", "slope"), variances, strict=True)
        },
    }


def share_problems(shares: Sequence[float], scores: Sequence[float]) -> list[Problem]:
    """What is wrong with the shares of categories and their values."""
    given = list(shares)
    if len(given) < 2 or not all(is_number(share) for share in given):
        return [field_problem("shares", given, "must be one number for each of two or more categories.")]
    if any(share <= 0 for share in given):
        rule = "must all be above 0: leave out a category that nobody uses, and its score."
        return [field_problem("shares", given, rule)]
    total = math.fsum(given)
    if abs(total - 1) > _SUM:
        return [field_problem("shares", given, f"must add up to 1; they add up to {total:.4g}.")]
    if len(scores) != len(given):
        return [
            field_problem("scores", list(scores), f"must be one for each of the {len(given)} categories.")
        ]
    problems = not_ascending("scores", tuple(scores))
    if not problems and not (scores[0] >= 0 and scores[-1] <= 1):
        problems = [field_problem("scores", list(scores), "must lie on [0, 1].")]
    return problems


def _deviation_problems(given: Mapping[str, float]) -> list[Problem]:
    return [
        field_problem(name, value, "must be a standard deviation on [0, 1], a number from 0 to below 1.")
        for name, value in given.items()
        if not (is_number(value) and 0 <= value < 1)
    ]


def _no_solution(
    error: NoSolutionError,
    given: Mapping[str, float],
    difference: float,
    spread: float,
    solved: Callable[[float], Any],
) -> list[Problem]:
    """In words: what the shares do not leave room for."""
    if error.factor == "effect":
        rule = f"is more than these shares allow: with them the largest difference is {error.least:.3f}."
        return [field_problem("difference", difference, rule)]
    if error.factor:
        name = f"sd_{error.factor}_{error.part}"
        rule = (
            f"is less than the categories alone make of the others: at least {math.sqrt(error.least):.3g}, or 0 "
            "for none on the latent scale."
        )
        return [field_problem(name, given[name], rule)]
    used = math.sqrt(
        sum((value if "slope" not in name else value / 2) ** 2 for name, value in given.items())
    )
    low, high = 0.0, 1.0
    for _ in range(8):
        middle = (low + high) / 2
        try:
            solved(middle)
            low = middle
        except type(error):
            high = middle
    return [
        Problem(
            rule="the standard deviations are too large for the shares: by their shares ratings vary by "
            f"{spread:.3g}, and workers, items and documents take {used:.3g} of it, which leaves too little for "
            "the rest.",
            remedy=f"{low:.2f} times these standard deviations would do."
            if low
            else "Give smaller standard deviations, or shares that are more spread.",
        )
    ]


def not_ascending(name: str, values: tuple[float, ...]) -> list[Problem]:
    """What is wrong with a list that has to rise."""
    if not values or not all(is_number(value) for value in values):
        return [field_problem(name, list(values), "must be at least one finite number.")]
    if any(later <= earlier for earlier, later in pairwise(values)):
        return [field_problem(name, list(values), "must rise from each to the next.")]
    return []


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
