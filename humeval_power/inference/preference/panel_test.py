"""The test of a finished comparison by workers who judge several items, or of items that are judged often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humeval_power.inference.mcnemar import exact_p
from humeval_power.inference.preference.latent_scale import LatentPreference
from humeval_power.inference.preference.panel_model import (
    SEPARATED,
    Codes,
    Floats,
    PanelModel,
    majorities,
)
from humeval_power.inference.study.wald import critical_value
from humeval_power.latent import Link

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthTest:
    """The latent strength of B against 0, and what it means as a probability.

    `preferred` is the probability that B is preferred, ties counted half, over workers, items and both
    orders of presentation; its interval is that of the strength, transformed, and so never contradicts the
    test. `first_preferred` is that of what is shown first where neither is stronger, with a normal interval
    (None where the order is not known or never changes).
    """

    latent: LatentPreference
    standard_error: float
    df: float
    p_value: float
    interval: Interval
    preferred: float
    preferred_interval: Interval
    first_preferred: float | None
    first_interval: Interval | None

    @property
    def t(self) -> float:
        """Strength over its standard error."""
        return self.latent.strength / self.standard_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Majorities:
    """Of how many workers, or items, most judgements prefer B, and A; the exact sign test of these."""

    unit: str
    prefer_b: int
    prefer_a: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelTest:
    """What a panel shows: the test of the latent strength, or why there is none; the exact sign tests of
    workers and of items that have several judgements; and what could not be estimated."""

    strength: StrengthTest | None
    problem: str
    majorities: tuple[Majorities, ...]
    left_out: tuple[str, ...]
    n_repeated: int  # judgements of a pair beyond its first

    @property
    def p_value(self) -> float:
        """Of the strength; without it the largest of the sign tests."""
        if self.strength is not None:
            return self.strength.p_value
        return max((each.p_value for each in self.majorities), default=float("nan"))


def panel_test(
    worker: Codes,
    item: Codes,
    preference: Floats,
    *,
    position: Floats | None = None,
    alpha: float = 0.05,
    link: Link = "probit",
) -> PanelTest:
    """Test whether B is preferred where workers, or items, have several judgements.

    Parameters
    ----------
    worker, item : codes from 0, one for each judgement.
    preference : -1 (prefers A), 0 (tie) or +1 (prefers B).
    position : +1/2 where B was shown first, -1/2 where A was.
    alpha : 1 minus the confidence of the intervals.
    """
    model = PanelModel.of(worker, item, position)
    outcomes = np.asarray(preference, dtype=np.int64)[None]
    strength, problem = _strength(model, outcomes, alpha, link)
    pairs = np.unique(np.stack([worker, item]), axis=1).shape[1]
    return PanelTest(
        strength=strength,
        problem=problem,
        majorities=tuple(_majorities(model, outcomes)),
        left_out=model.left_out,
        n_repeated=len(worker) - pairs,
    )


def _strength(
    model: PanelModel, outcomes: Codes, alpha: float, link: Link
) -> tuple[StrengthTest | None, str]:
    """The test of one table, or why there is none."""
    if not (model.by_worker or model.by_item):
        return None, ""
    fits = model.fits(outcomes, link=link)
    if fits.status[0] == SEPARATED:
        return None, _separation(outcomes[0])
    if not fits.usable[0]:
        return None, "the search found no highest likelihood: there are too few judgements that differ"
    latent, error, df = fits.latent(0, link), float(fits.standard_error[0]), float(fits.df[0])
    reach = critical_value(df, alpha / 2) * error
    interval = latent.strength - reach, latent.strength + reach
    low, high = (float(end) for end in latent.preferred(interval))
    first, first_interval = _first(model, latent, float(fits.position_error[0]), alpha)
    found = StrengthTest(
        latent=latent,
        standard_error=error,
        df=df,
        p_value=float(fits.p_value[0]),
        interval=interval,
        preferred=float(latent.preferred(latent.strength)),
        preferred_interval=(low, high),
        first_preferred=first,
        first_interval=first_interval,
    )
    return found, ""


def _first(
    model: PanelModel, latent: LatentPreference, error: float, alpha: float
) -> tuple[float | None, Interval | None]:
    """Probability that what is shown first is preferred, and its interval."""
    if model.position is None:
        return None, None
    bias, reach = latent.position_bias, critical_value(np.inf, alpha / 2) * error
    found, low, high = (float(each) for each in latent.first_preferred([bias, bias - reach, bias + reach]))
    return found, (low, high)


def _separation(outcomes: Codes) -> str:
    """Why the likelihood has no maximum."""
    if not outcomes.any():
        return "every judgement is a tie"
    if len(set(outcomes.tolist())) == 1:
        return f"every judgement prefers {'B' if outcomes[0] > 0 else 'A'}, so that no strength is large enough"
    if not ((outcomes > 0).any() and (outcomes < 0).any()):
        return f"nobody prefers {'A' if (outcomes > 0).any() else 'B'}, so that no strength is large enough"
    return "all who saw the same output first agree, so that no effect of the order is large enough"


def _majorities(model: PanelModel, outcomes: Codes) -> list[Majorities]:
    found = []
    for unit, codes, kept in (
        ("worker", model.worker, model.by_worker),
        ("item", model.item, model.by_item),
    ):
        if kept:
            more_b, more_a = (int(count[0]) for count in majorities(outcomes, codes))
            p_value = float(exact_p(more_b, more_a))
            found.append(Majorities(unit=unit, prefer_b=more_b, prefer_a=more_a, p_value=p_value))
    return found
