"""On how many items is B better? The power of the sign test, and of McNemar's for 0/1 scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.mcnemar import ConditionalTest, critical_counts
from humeval_power.scenarios.blocks import draw_in_blocks
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Replicates
from humeval_power.scenarios.discordant_counts import enumerated_power


@dataclass(frozen=True, slots=True)
class SignScores:
    """`n` items, of which a share `ties` scores the same under both systems.

    The effect is the share of items on which B is better, ties counted half, minus one half. The test is
    the exact binomial one, or with `mid_p` McNemar's mid-p.
    """

    n: int
    effect: float
    ties: float = 0.0
    alternative: Direction = "two-sided"
    alpha: float = 0.05
    mid_p: bool = False

    def __post_init__(self) -> None:
        if self.n < 2:
            raise InputError(f"At least 2 items are needed; got {self.n}.")
        if not 0 <= self.ties <= 1 or abs(self.effect) > (1 - self.ties) / 2 + 1e-12:
            raise InputError(
                f"With a share of {self.ties:g} ties, B can be better on at most {(1 - self.ties) / 2:g} more "
                f"or less than one half of the items; got {self.effect:g}."
            )

    @property
    def true_effect(self) -> float:
        """Share of items on which B is better, minus one half."""
        return self.effect

    def with_effect(self, effect: float) -> SignScores:
        """The same items and ties with another share."""
        return replace(self, effect=effect)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Draw the counts of comparisons `first` to `first + n - 1` and test each."""
        half = (1 - self.ties) / 2
        shares = np.clip([half + self.effect, half - self.effect, self.ties], 0.0, 1.0)

        def block(rng: np.random.Generator, size: int) -> Replicates:
            up, down, _ = rng.multinomial(self.n, shares / shares.sum(), size=size).T
            return self._tested(up, down)

        return draw_in_blocks(block, n, seed=seed, first=first, n_jobs=n_jobs)

    def computed(self) -> ComputedPower:
        """Exact power by enumeration of the items that are better and worse."""
        is_two_sided = self.alternative == "two-sided"
        rightly = (self.effect >= 0) == (self.alternative == "greater")
        level = self.alpha if is_two_sided else 2 * self.alpha  # each side is tested at half of it
        test: ConditionalTest = "mid-p" if self.mid_p else "exact"
        return enumerated_power(
            self.n,
            discordant=1 - self.ties,
            difference=min(max(2 * self.effect, self.ties - 1), 1 - self.ties),
            true_effect=self.effect,
            critical=lambda total: critical_counts(total, test=test, alpha=level),
            weight=lambda total: np.full(len(total), 1 / (2 * self.n)),
            sides="both" if is_two_sided else "right" if rightly else "wrong",
        )

    def _tested(self, up: np.ndarray, down: np.ndarray) -> Replicates:
        fewer = {"greater": down, "less": up, "two-sided": np.minimum(up, down)}[self.alternative]
        total = up + down
        tail = special.bdtr(fewer.astype(float), total, 0.5)
        if self.mid_p:
            below = np.where(fewer > 0, special.bdtr(np.maximum(fewer - 1.0, 0.0), total, 0.5), 0.0)
            tail = (tail + below) / 2
        p_value = np.minimum(1.0, 2 * tail if self.alternative == "two-sided" else tail)
        unknown = np.full(len(up), np.nan)
        return Replicates(
            (up - down) / (2 * self.n),
            unknown,
            unknown,
            p_value,
            np.zeros(len(up), dtype=np.int64),
            np.zeros((len(up), 0), dtype=np.bool_),
        )
