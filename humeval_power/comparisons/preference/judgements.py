"""A finished comparison of two outputs: its judgements, their tests, and the panel where some repeat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.choices import ConditionalTest, Ties
from humeval_power.errors import InputError
from humeval_power.inference.mcnemar import P_VALUES, at_most, critical_counts
from humeval_power.latent import Link

if TYPE_CHECKING:
    from humeval_power.comparisons.preference.latent_scale import PanelTest


# Tests of preferences: wins of B, wins of A, and ties, one entry a study. All are two-sided.

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def preference_p(
    wins: ArrayLike, losses: ArrayLike, n: int | Counts, *, ties: Ties, test: ConditionalTest
) -> Floats:
    """p-values of no preference from counts of wins and losses among `n` judgements.

    Excluded and kept ties leave the same tests: a tie says nothing of the sign. With split ties the
    tests are those of a binomial count of n at one half whose distance from n / 2 is that of
    wins + ties / 2.
    """
    won, lost = np.asarray(wins, dtype=np.int64), np.asarray(losses, dtype=np.int64)
    if ties != "split":
        return P_VALUES[test](won, lost)
    total, gap = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.abs(won - lost))
    if test == "asymptotic":
        return np.asarray(2 * special.ndtr(-gap / np.sqrt(np.maximum(total, 1))))
    fewer = (total - gap) // 2
    attained = (total - gap) % 2 == 0
    outside = 2 * at_most(fewer, total)
    if test == "mid-p":
        outside = outside - np.where(attained, at_most(fewer, total) - at_most(fewer - 1, total), 0.0)
    return np.asarray(np.minimum(outside, 1.0))


def critical_losses(total: Counts, n: int, *, ties: Ties, test: ConditionalTest, alpha: float) -> Counts:
    """The largest min(wins, losses) that is significant for each wins + losses of `n` judgements; -1
    where none is."""
    if ties != "split":
        return critical_counts(total, test=test, alpha=alpha)
    gap = smallest_gap(n, test=test, alpha=alpha)
    return np.maximum((total - gap) // 2, -1)


def smallest_gap(n: int, *, test: ConditionalTest, alpha: float) -> int:
    """The smallest |wins - losses| that is significant among n judgements whose ties are split; n + 1
    where none is."""
    guess = int(np.ceil(-special.ndtri(alpha / 2) * np.sqrt(n)))
    near = np.arange(max(guess - 100, 0), min(guess + 100, n) + 1)
    significant = preference_p(near, np.zeros_like(near), n, ties="split", test=test) <= alpha
    return int(near[significant].min()) if significant.any() else n + 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Judgements:
    """Wins of B, ties and losses of one comparison; `preference` (-1, 0, +1), `worker` and `item` (codes
    from 0) and `position` (+1/2 where B was shown first, -1/2 where A was) are there, one for each judgement,
    where the table has a row for each. `systems` are the names of A and B, None where the table has none. `notices`
    say what was assumed in reading it."""

    name: str = ""
    systems: tuple[str, str] | None = None
    wins: int
    ties: int = 0
    losses: int
    preference: NDArray[np.float64] | None = None
    worker: NDArray[np.int64] | None = None
    item: NDArray[np.int64] | None = None
    position: NDArray[np.float64] | None = None
    notices: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Judgements."""
        return self.wins + self.ties + self.losses

    @property
    def is_clustered(self) -> bool:
        """Whether some worker or some item has several judgements."""
        codes = [code for code in (self.worker, self.item) if code is not None]
        return any(len(np.unique(code)) < len(code) for code in codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceTest:
    """The tests of one comparison. Where workers or items repeat: how much the variance differs from that of
    independent judgements, what these would show in 90 % of cases, and what a panel shows."""

    judged: Judgements
    sign_exact: float
    sign_mid_p: float
    score: float
    split: float
    design_effect: float = math.nan
    independent_range: tuple[float, float] | None = None
    panel: PanelTest | None = None

    @property
    def p_value(self) -> float:
        """That to report: of the panel where workers or items repeat, else of the exact sign test."""
        result = math.nan if self.panel is None else self.panel.p_value
        return self.sign_exact if math.isnan(result) else result


def preference_test(judged: Judgements, *, alpha: float, link: Link) -> PreferenceTest:
    """Test whether one output is preferred; `link` is that of the model for workers or items who repeat."""
    won, lost, n = judged.wins, judged.losses, judged.n
    if n == 0:
        raise InputError("There are no judgements.")
    effect, expected, panel = _dependence(judged, alpha, link)
    return PreferenceTest(
        judged=judged,
        sign_exact=float(preference_p(won, lost, n, ties="excluded", test="exact")),
        sign_mid_p=float(preference_p(won, lost, n, ties="excluded", test="mid-p")),
        score=float(preference_p(won, lost, n, ties="kept", test="asymptotic")),
        split=float(preference_p(won, lost, n, ties="split", test="asymptotic")),
        design_effect=effect,
        independent_range=expected,
        panel=panel,
    )


def _dependence(
    judged: Judgements, alpha: float, link: Link
) -> tuple[float, tuple[float, float] | None, PanelTest | None]:
    """The design effect, its range if judgements were independent, and what the panel shows."""
    preference, worker, item = judged.preference, judged.worker, judged.item
    if not judged.is_clustered or preference is None or worker is None or item is None:
        return math.nan, None, None
    from humeval_power.comparisons.preference.latent_scale import (
        design_effect,
        independent_range,
        panel_test,
    )

    effect = design_effect(worker, item, preference)
    expected = independent_range(worker, item, preference)
    panel = panel_test(worker, item, preference, position=judged.position, alpha=alpha, link=link)
    return effect, expected, panel
