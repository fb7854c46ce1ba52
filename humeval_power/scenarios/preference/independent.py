"""Independent judges say which of two outputs they prefer, or that they do not mind."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import get_args

import numpy as np

from humeval_power.errors import InputError, Problem
from humeval_power.inference.mcnemar import ConditionalTest
from humeval_power.inference.preference.sign_test import Ties, critical_losses, preference_p
from humeval_power.scenarios.blocks import draw_in_blocks
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Replicates
from humeval_power.scenarios.discordant_counts import Counts, Floats, approximate_power, enumerated_power

MOST_ENUMERATED = 10_000_000


@dataclass(frozen=True)
class Preference:
    """A number of judgements, each from another worker on another item, and the true preference.

    `preference` is the share that prefers B, minus 1/2: among those who have a preference where `ties`
    are excluded, with ties counted half to each system where they are split or kept. `tie_share` is the
    probability of a tie.
    """

    n_judgements: int
    _: KW_ONLY
    preference: float
    tie_share: float = 0.0
    ties: Ties = "excluded"
    test: ConditionalTest = "exact"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = []
        if self.n_judgements < 1:
            rule = f"A study has at least one judgement; got {self.n_judgements}."
            problems.append(Problem(rule, ""))
        for name, value, known in (
            ("treatment of ties", self.ties, get_args(Ties)),
            ("test", self.test, get_args(ConditionalTest)),
        ):
            if value not in known:
                problems.append(Problem(f"There is no {name} {value!r}.", f"Choose {', '.join(known)}."))
        if not 0 < self.alpha < 1:
            problems.append(Problem(f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        if not 0 <= self.tie_share < 1:
            rule = f"The share of ties must be at least 0 and below 1; got {self.tie_share:g}."
            problems.append(Problem(rule, ""))
        elif not abs(self.preference) <= self.largest_preference + 1e-12:
            rule = f"A preference of {self.preference:+.4g} is impossible with {self.tie_share:.4g} ties"
            problems.append(Problem(f"{rule}: it is at most {self.largest_preference:.4g}.", ""))
        if problems:
            raise InputError(problems)

    @property
    def true_effect(self) -> float:
        """Share that prefers B minus 1/2, in the sense of `ties`."""
        return self.preference

    @property
    def largest_preference(self) -> float:
        """What the preference would be if nobody preferred A."""
        return 0.5 if self.ties == "excluded" else (1 - self.tie_share) / 2

    @property
    def win_share(self) -> float:
        """Probability that a judgement prefers B."""
        return (1 - self.tie_share + self._margin) / 2

    @property
    def loss_share(self) -> float:
        """Probability that a judgement prefers A."""
        return (1 - self.tie_share - self._margin) / 2

    @property
    def _margin(self) -> float:
        return 2 * self.preference * (1 - self.tie_share if self.ties == "excluded" else 1)

    def with_effect(self, effect: float) -> Preference:
        """The same study with another preference."""
        return replace(self, preference=effect)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test studies `first` to `first + n - 1`; one in which all are ties is no failure
        but a study that shows nothing."""
        return draw_in_blocks(self._draw_block, n, seed=seed, first=first, n_jobs=n_jobs)

    def _draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        total = rng.binomial(self.n_judgements, 1 - self.tie_share, size=size)
        share = min(max(self.win_share / (1 - self.tie_share), 0.0), 1.0)
        wins = rng.binomial(total, share)
        losses = total - wins
        weight = self._weight(total)
        estimate = (wins - losses) * weight
        mean = (wins - losses) / np.maximum(total if self.ties == "excluded" else self.n_judgements, 1)
        spread = np.maximum(total * weight * 2 - mean**2, 0.0)  # second moment of -1, 0, +1 less its square
        number = total if self.ties == "excluded" else np.full(size, self.n_judgements)
        p_value = preference_p(wins, losses, self.n_judgements, ties=self.ties, test=self.test)
        return Replicates(
            estimate,
            np.sqrt(spread / np.maximum(number, 1)) / 2,
            np.full(size, np.nan),
            p_value,
            np.zeros(size, dtype=np.int64),
            np.zeros((size, 0), dtype=bool),
        )

    def _weight(self, total: Counts) -> Floats:
        number = total if self.ties == "excluded" else np.full(len(total), self.n_judgements)
        return 1 / (2 * np.maximum(number, 1))

    def computed(self) -> ComputedPower:
        """Exact power by enumeration; the normal approximation for very large studies."""
        moved = 1 - self.tie_share
        margin = min(max(self._margin, -moved), moved)
        if self.n_judgements > MOST_ENUMERATED:
            if self.ties == "split":
                raise InputError(f"Split ties are computed up to {MOST_ENUMERATED:,} judgements.")
            return approximate_power(
                self.n_judgements,
                discordant=moved,
                difference=margin,
                true_effect=self.preference,
                alpha=self.alpha,
                per_item=1 / (2 * moved) if self.ties == "excluded" else 0.5,
            )
        return enumerated_power(
            self.n_judgements,
            discordant=moved,
            difference=margin,
            true_effect=self.preference,
            critical=self._critical,
            weight=self._weight,
        )

    def _critical(self, total: Counts) -> Counts:
        n = self.n_judgements
        return critical_losses(total, n, ties=self.ties, test=self.test, alpha=self.alpha)


def judgements_for(
    *, win_share: float, loss_share: float, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Judgements for a power by formula, ties excluded or kept (Connett, Smith & McHugh 1987).

    n = (z_a sqrt(w + l) + z_b sqrt(w + l - (w - l)^2))^2 / (w - l)^2; infinite without a difference.
    """
    from scipy import special

    difference, moved = win_share - loss_share, win_share + loss_share
    if difference == 0:
        return math.inf
    error = math.sqrt(max(moved - difference**2, 0.0))
    z_alpha, z_beta = -float(special.ndtri(alpha / 2)), float(special.ndtri(power))
    return (z_alpha * math.sqrt(moved) + z_beta * error) ** 2 / difference**2
