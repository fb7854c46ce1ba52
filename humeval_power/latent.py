"""Ratings in categories as a latent variable gives them: thresholds, effect and standard deviations.

Latent parameters from what people see: shares of categories, and standard deviations on [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

from humeval_power.errors import ParametersError, Problem, field_problem
from humeval_power.roots import root_between

if TYPE_CHECKING:
    from humeval_power.kernels.latent.moments import Scores
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


Family = Literal["gaussian", "ordinal", "binary"]
Link = Literal["probit", "logit"]

LATENT_DEVIATIONS = (
    "sd_worker_intercept",
    "sd_worker_slope",
    "sd_item_intercept",
    "sd_item_slope",
    "sd_document_intercept",
    "sd_document_slope",
)
LARGEST_EFFECT = 50.0  # on the latent scale: beyond it every rating of a system is in one category


@dataclass(frozen=True, slots=True, kw_only=True)
class Latent:
    """Categories of a latent variable: P(rating <= category c) = F(threshold_c - eta).

    F is the standard normal (link 'probit') or logistic ('logit') distribution and
    eta = effect x + W0 + I0 + D0 + (W1 + I1 + D1) x with x = -1/2 for system A and +1/2 for B; random effects
    of workers, items and documents are normal and independent. `scores` are the values of the categories on
    [0, 1], ascending: one more than there are thresholds. Everything else is on the latent scale.

    Examples
    --------
    >>> five = Latent(
    ...     thresholds=(-1.5, -0.5, 0.5, 1.5), effect=0.4, sd_worker_intercept=0.5, sd_worker_slope=0.3,
    ...     sd_item_intercept=0.6, sd_item_slope=0.4,
    ... )
    >>> five.family, five.scores
    ('ordinal', (0.0, 0.25, 0.5, 0.75, 1.0))
    >>> round(five.difference, 3)
    0.089
    """

    thresholds: tuple[float, ...]
    scores: tuple[float, ...] = ()
    effect: float = 0.0
    sd_worker_intercept: float = 0.0
    sd_worker_slope: float = 0.0
    sd_item_intercept: float = 0.0
    sd_item_slope: float = 0.0
    sd_document_intercept: float = 0.0
    sd_document_slope: float = 0.0
    link: Link = "probit"

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", tuple(self.thresholds))
        object.__setattr__(self, "scores", tuple(self.scores) or even_scores(len(self.thresholds) + 1))
        problems = [*not_ascending("thresholds", self.thresholds), *not_ascending("scores", self.scores)]
        if not problems and len(self.scores) != len(self.thresholds) + 1:
            rule = f"must be one more than the {len(self.thresholds)} thresholds."
            problems.append(field_problem("scores", list(self.scores), rule))
        if not problems and not (self.scores[0] >= 0 and self.scores[-1] <= 1):
            problems.append(field_problem("scores", list(self.scores), "must lie on [0, 1]."))
        for name in ("effect", *LATENT_DEVIATIONS):
            value = getattr(self, name)
            if not is_number(value):
                problems.append(field_problem(name, value, "must be a finite number."))
            elif abs(value) > LARGEST_EFFECT:
                problems.append(field_problem(name, value, f"must be at most {LARGEST_EFFECT:g} in size."))
            elif name.startswith("sd_") and value < 0:
                problems.append(field_problem(name, value, "a standard deviation cannot be negative."))
        if self.link not in get_args(Link):
            problems.append(
                field_problem("link", self.link, f"must be one of {', '.join(get_args(Link))}.")
            )
        if problems:
            raise ParametersError(problems)

    @property
    def family(self) -> Family:
        """'binary' with two categories, else 'ordinal'."""
        return "binary" if len(self.thresholds) == 1 else "ordinal"

    @property
    def sd_residual(self) -> float:
        """Standard deviation of F: 1 for probit, pi / sqrt(3) for logit."""
        return 1.0 if self.link == "probit" else math.pi / math.sqrt(3.0)

    @property
    def variance(self) -> float:
        """Variance of eta under either system."""
        return self.shared(("worker", "item", "document"), same_system=True)

    def shared(self, factors: Sequence[str], *, same_system: bool) -> float:
        """Covariance of two latent values that share the levels of these factors alone."""
        sign = 0.25 if same_system else -0.25
        return sum(
            float(getattr(self, f"sd_{factor}_intercept")) ** 2
            + sign * float(getattr(self, f"sd_{factor}_slope")) ** 2
            for factor in factors
        )

    def moments(self, system: int) -> Scores:
        """Moments of the scores of system 0 (A) or 1 (B)."""
        import numpy as np

        from humeval_power.kernels.latent.moments import score_moments

        return score_moments(
            self.effect * (system - 0.5),
            self.variance,
            np.array(self.thresholds),
            np.array(self.scores),
            logit=self.link == "logit",
        )

    def shares(self, system: int) -> tuple[float, ...]:
        """Probability of each category under system 0 (A) or 1 (B), over all workers and items."""
        import numpy as np

        from humeval_power.kernels.latent.moments import category_shares

        result = category_shares(
            self.effect * (system - 0.5),
            self.variance,
            np.array(self.thresholds),
            logit=self.link == "logit",
        )
        return tuple(float(share) for share in result)

    def mean(self, system: int) -> float:
        """Expected score of system 0 (A) or 1 (B) on [0, 1], over all workers and items."""
        return sum(share * score for share, score in zip(self.shares(system), self.scores, strict=True))

    @property
    def difference(self) -> float:
        """Difference B - A of the expected scores on [0, 1]."""
        return self.mean(1) - self.mean(0)

    def with_deviations(self, **deviations: float) -> Latent:
        """Other standard deviations behind ratings that are distributed alike: thresholds and effect grow with
        the spread of the latent variable and its noise (exact with a probit link)."""
        changed = replace(self, **deviations)  # type: ignore[arg-type]  # names of deviations
        noise = self.sd_residual**2
        factor = math.sqrt((noise + changed.variance) / (noise + self.variance))
        return replace(
            changed,
            thresholds=tuple(factor * place for place in self.thresholds),
            effect=factor * self.effect,
        )

    @property
    def largest_difference(self) -> float:
        """The largest difference B - A of the expected scores that an effect makes, or nearly."""
        return 0.99 * replace(self, effect=LARGEST_EFFECT).difference

    def with_difference(self, difference: float) -> Latent:
        """The same thresholds and deviations with the effect that makes the expected scores differ by
        `difference`.

        Raises
        ------
        ParametersError
            No effect does: the categories end before.
        """
        if difference == 0:
            return replace(self, effect=0.0)

        def gap(effect: float) -> float:
            return replace(self, effect=effect).difference - difference

        reach = math.copysign(LARGEST_EFFECT, difference)
        if gap(reach) * gap(0.0) > 0:
            raise ParametersError(
                f"No effect makes the expected ratings differ by {difference:g} on [0, 1]: with these "
                f"categories the largest difference is {replace(self, effect=reach).difference:.3f}."
            )
        low, high = sorted((0.0, reach))
        return replace(self, effect=root_between(gap, low, high, xtol=1e-13, rtol=1e-13))

    @classmethod
    def of_shares(
        cls,
        shares: Sequence[float],
        *,
        sd_worker_intercept: float = 0.0,
        sd_worker_slope: float = 0.0,
        sd_item_intercept: float = 0.0,
        sd_item_slope: float = 0.0,
        sd_document_intercept: float = 0.0,
        sd_document_slope: float = 0.0,
        difference: float = 0.0,
        scores: Sequence[float] = (),
        link: Link = "probit",
    ) -> Latent:
        """The latent variable of ratings that are known as people see them.

        Parameters
        ----------
        shares : of the categories, the mean of both systems'; they are what a study's table of counts says, and
            fix the whole variance of a rating.
        sd_worker_intercept, ... : standard deviations on [0, 1], as of `Parameters`; what they leave of the
            variance is the residual's.
        difference : of the expected ratings, B - A, on [0, 1].
        scores : values of the categories on [0, 1]; evenly spaced without them.

        Raises
        ------
        ParametersError
            Shares that are none, and numbers that no latent variable has together.

        Examples
        --------
        >>> found = Latent.of_shares((0.1, 0.2, 0.4, 0.2, 0.1), sd_worker_intercept=0.1, difference=0.05)
        >>> [round(threshold, 3) for threshold in found.thresholds]
        [-1.394, -0.571, 0.571, 1.394]
        >>> round(found.difference, 3)
        0.05
        """
        given = {
            "sd_worker_intercept": sd_worker_intercept,
            "sd_worker_slope": sd_worker_slope,
            "sd_item_intercept": sd_item_intercept,
            "sd_item_slope": sd_item_slope,
            "sd_document_intercept": sd_document_intercept,
            "sd_document_slope": sd_document_slope,
        }
        values = tuple(scores) or even_scores(len(shares))
        if link not in get_args(Link):
            raise ParametersError(f"link must be one of {', '.join(get_args(Link))}; got {link!r}.")
        results = latent_values(shares, values, given, difference, logit=link == "logit")
        return cls(scores=values, link=link, **results)

    def as_dict(self) -> dict[str, object]:
        """The names that every file uses; deviations of documents only where they are not zero."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values.update(thresholds=list(self.thresholds), scores=list(self.scores))
        optional = LATENT_DEVIATIONS[4:]
        return {name: value for name, value in values.items() if name not in optional or value}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Latent:
        """Read the names that `as_dict` writes; every problem is reported at once."""
        known = [field.name for field in fields(cls)]
        problems = [
            field_problem(name, values[name], f"is no latent parameter; the names are {', '.join(known)}.")
            for name in values
            if name not in known
        ]
        problems += [
            field_problem(name, values[name], "must be a list of numbers.")
            for name in ("thresholds", "scores")
            if name in values and not isinstance(values[name], list | tuple)
        ]
        if "thresholds" not in values:
            remedy = "Give the cut points between the categories."
            problems.append(Problem(rule="the latent parameter 'thresholds' is missing.", remedy=remedy))
        if problems:
            raise ParametersError(problems)
        return cls(**values)  # type: ignore[arg-type]  # checked in __post_init__


def even_scores(count: int) -> tuple[float, ...]:
    """Evenly spaced values of so many categories on [0, 1]."""
    return tuple(place / (count - 1) for place in range(count)) if count > 1 else ()
