"""What the other family says of the same ratings, in a line, and where the two part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from humeval_power.inference.study.wald import EffectTest
from humeval_power.reporting.numbers import interval_words, p_words, percent
from humeval_power.reporting.records import Record

if TYPE_CHECKING:
    from humeval_power.inference.study.family_check import FamilyCheck
    from humeval_power.inference.study.spread import SpreadTest
    from humeval_power.ratings import Ratings


_END = 0.5  # share of a system's ratings at an end of the scale that makes models part


def family_remarks(ratings: Ratings, tested: EffectTest, check: FamilyCheck) -> tuple[str, ...]:
    """One line, and a warning where the models part."""
    rule = check.rule
    model = f"the {'yes-or-no' if rule.family == 'binary' else 'ordinal'} model ({rule.link})"
    if check.test is None or check.test.reason:
        why = check.reason if check.test is None else check.test.reason
        return (f"As a check, {model} has no answer for these ratings: {why}",)
    other = check.test
    line = (
        f"As a check, {model} of the same ratings: difference {other.estimate:.4f} on [0, 1], "
        f"{100 * rule.confidence:g} % interval {interval_words(*other.interval)}, {p_words(other.p_value)}. "
        "The test that was planned decides."
    )
    return (line, *_parting(ratings, tested, check, other))


def _parting(ratings: Ratings, tested: EffectTest, check: FamilyCheck, other: EffectTest) -> Iterator[str]:
    parts = not tested.reason and (
        tested.significant != other.significant
        or abs(tested.estimate - other.estimate) > tested.standard_error / 2
    )
    spread = (
        [spread_words(check.spread, ratings)] if check.spread is not None and check.spread.differs else []
    )
    if parts:
        seen = "; ".join([*_seen(ratings), *spread]) or "nothing in the ratings says why"
        yield (
            f"WARNING: the linear model and the model of categories part here ({seen}). State beforehand which "
            "of them leads, and show both."
        )
    elif spread:
        yield f"WARNING: {spread[0]}: a difference of means and a shift are then two questions."


def _seen(ratings: Ratings) -> Iterator[str]:
    """What makes the models part."""
    scale = ratings.scale
    for code, name in enumerate(ratings.system_names):
        unit = ratings.rating[ratings.system == code]
        for end in (unit.max(), unit.min()):
            share = float((unit == end).mean())
            if share >= _END:
                yield f"{percent(share)} of the ratings of {name!r} are {float(scale.from_unit(end)):g}"


def spread_words(spread: SpreadTest, ratings: Ratings) -> str:
    """That systems spread differently, in a clause."""
    a, b = ratings.system_names
    return (
        f"on the latent scale the ratings of {b} spread about {spread.ratio:.2f} times as widely as those of {a} "
        f"(approximate score test, {p_words(spread.p_value)})"
    )


def family_content(check: FamilyCheck) -> Record:
    """The check as plain values."""
    test = check.test
    return {
        "rule": asdict(check.rule),
        "reason": check.reason or (test.reason if test is not None else "") or None,
        "estimate": None if test is None else test.estimate,
        "interval": None if test is None else list(test.interval),
        "df": None if test is None else test.df,
        "p_value": None if test is None else test.p_value,
        "significant": None if test is None or test.reason else test.significant,
        "spread": None if check.spread is None else asdict(check.spread),
    }
