"""Rules by which workers are left out: a limit for each statistic of their work, chosen beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from humeval_power.errors import Problem, field_problem, refuse

if TYPE_CHECKING:  # options are made of these rules, and --help does without numpy
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Mask: TypeAlias = NDArray[np.bool_]

RuleName = Literal["failed-checks", "repeats", "seconds", "same-answer", "agreement"]
RULES: tuple[RuleName, ...] = get_args(RuleName)

_DIGITS = 12  # of a statistic that count: a mean of equal differences is not beyond a limit by rounding
_BELOW: tuple[RuleName, ...] = (
    "seconds",
    "agreement",
)  # the worker's value is beyond these limits if it is lower
_EXAMPLE = "failed-checks=0.34,seconds=2"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionRules:
    """A worker is left out, with all ratings, whose work is beyond one of these limits; None: no such rule.

    failed_checks : share of the attention checks that the worker failed, from 0 to below 1; more leaves out.
    repeats : mean absolute difference between the ratings that the worker gave to an output shown again, as a
        share of the scale, from 0 to below 1; more leaves out.
    seconds : the worker's median time for a rating, above 0; less leaves out.
    same_answer : share of the worker's ratings that are the one most frequent answer, above 0 and below 1; more
        leaves out.
    agreement : correlation of the worker with the others over items, above -1 and below 1; less leaves out.

    The statistics are those of `worker_statistics`: they are blind to the systems. Limits are a matter of
    judgement (Curran 2016 compares them); what counts is that they are set beforehand.

    Examples
    --------
    >>> rules = ExclusionRules.parse("failed-checks=0.34,seconds=2")
    >>> str(rules)
    'failed-checks=0.34,seconds=2'
    """

    failed_checks: float | None = None
    repeats: float | None = None
    seconds: float | None = None
    same_answer: float | None = None
    agreement: float | None = None

    def __post_init__(self) -> None:
        problems = [
            field_problem(name, limit, f"must be {_RANGES[name]}.")
            for name, limit in self.limits.items()
            if not _allowed(name, limit)
        ]
        refuse(problems)

    @classmethod
    def parse(cls, text: str) -> ExclusionRules:
        """Read 'failed-checks=0.34,repeats=0.3,seconds=2,same-answer=0.95,agreement=0' or some of it.

        Raises
        ------
        InputError
            Every part that is no rule, is given twice or has an impossible limit.
        """
        limits: dict[str, float] = {}
        problems: list[Problem] = []
        for part in (one.strip() for one in text.split(",")):
            name, equals, number = (piece.strip() for piece in part.partition("="))
            limit = _number(number)
            if name not in RULES or not equals:
                remedy = f"Write {_EXAMPLE}; the rules are {', '.join(RULES)}."
                problems.append(Problem(f"{part!r} is no rule.", remedy))
            elif name in limits:
                problems.append(Problem(f"the rule {name} is given twice.", "Give one limit."))
            elif limit is None or not _allowed(name, limit):
                rule = f"the limit must be {_RANGES[name]}; got {number!r}."
                problems.append(Problem(rule, f"Write {_EXAMPLE}.", column=name, noun="field"))
            else:
                limits[name] = limit
        refuse(problems)
        return cls(**{name.replace("-", "_"): limit for name, limit in limits.items()})

    @property
    def limits(self) -> dict[RuleName, float]:
        """The limits that are set, in the order in which the rules are applied."""
        values = (getattr(self, field.name) for field in fields(self))
        return {name: limit for name, limit in zip(RULES, values, strict=True) if limit is not None}

    def __bool__(self) -> bool:
        return bool(self.limits)

    def __str__(self) -> str:
        return ",".join(f"{name}={limit:g}" for name, limit in self.limits.items())

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each rule in words."""
        return tuple(
            f"Workers are left out {rule_words(name, limit)}." for name, limit in self.limits.items()
        )

    def broken(self, statistics: Mapping[RuleName, Floats]) -> dict[RuleName, Mask]:
        """Which workers are beyond the limit of each rule, (n_workers,) each; unknown values (NaN) never are."""
        return {name: _beyond(name, statistics[name], limit) for name, limit in self.limits.items()}

    def left_out(self, statistics: Mapping[RuleName, Floats]) -> Mask:
        """The workers whom some rule leaves out, (n_workers,)."""
        import numpy as np

        none = np.zeros(len(next(iter(statistics.values()))), dtype=np.bool_)
        return np.asarray(np.logical_or.reduce([none, *self.broken(statistics).values()]))


NO_RULES = ExclusionRules()


def rule_words(name: RuleName, limit: float) -> str:
    """'who failed more than 34 % of their attention checks': a rule in words, for 'workers ...'."""
    return _WORDS[name].format(limit=f"{limit:g}", percent=f"{100 * limit:.4g} %")


_WORDS: dict[RuleName, str] = {
    "failed-checks": "who failed more than {percent} of their attention checks",
    "repeats": "whose ratings of outputs shown again differ by more than {percent} of the scale on average",
    "seconds": "whose median time for a rating is below {limit} seconds",
    "same-answer": "who gave one and the same answer in more than {percent} of their ratings",
    "agreement": "whose ratings correlate with those of the others, over items, by less than {limit}",
}
_RANGES: dict[RuleName, str] = {
    "failed-checks": "a share from 0 to below 1",
    "repeats": "a share of the scale from 0 to below 1",
    "seconds": "a number of seconds above 0",
    "same-answer": "a share above 0 and below 1",
    "agreement": "a correlation above -1 and below 1",
}


def _allowed(name: RuleName, limit: float) -> bool:
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        return False
    if name == "seconds":
        return limit > 0
    if name == "agreement":
        return -1 < limit < 1
    return 0 <= limit < 1 and (limit > 0 or name != "same-answer")


def _beyond(name: RuleName, values: Floats, limit: float) -> Mask:
    import numpy as np

    with np.errstate(invalid="ignore"):
        rounded = np.round(values, _DIGITS)
        return np.asarray(rounded < limit if name in _BELOW else rounded > limit)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
