"""Two systems compared by a corpus metric such as BLEU with the randomisation test (Card et al. 2020)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_FLIPS, PRESETS, FlipTest
from humeval_power.errors import InputError, Problem
from humeval_power.inference.corpus import drawn_sign_flip, normal_sign_flip
from humeval_power.scenarios.contract import BlockScenario, ComputedPower, Replicates, normal_power

Floats = NDArray[np.float64]
METHOD = "normal approximation with the exact moments of the swap effects"
_BLOCK, _HELD = 256, 2_000_000  # studies drawn from one child of the seed, effects in memory at a time


@dataclass(frozen=True)
class CorpusStudy(BlockScenario):
    """A test set of sentences, a true difference B - A in points of the metric, and how swaps act.

    Swapping a sentence changes the difference by 0 with probability `zero_share` (P0), otherwise by a
    Laplace variable of mean -2 difference / (n (1 - P0)) and scale b0 / n, b0 = `scale`. The test flips
    the signs of these effects: by the normal distribution with the flips' exact variance, or by `n_flips`
    random flips.
    """

    effect_field: ClassVar[str] = "difference"

    n_sentences: int
    _: KW_ONLY
    difference: float
    zero_share: float = PRESETS["card2020"][0]
    scale: float = PRESETS["card2020"][1]
    test: FlipTest = "normal"
    n_flips: int = DEFAULT_FLIPS
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = []
        if self.n_sentences < 2:
            problems.append((f"A test set needs at least 2 sentences; got {self.n_sentences}.", ""))
        if not math.isfinite(self.difference):
            problems.append((f"The difference must be a finite number; got {self.difference}.", ""))
        if not 0 <= self.zero_share <= 1:
            problems.append(
                (
                    f"p0 must lie in [0, 1], a share; got {self.zero_share:g}.",
                    "Divide by 100.",
                )
            )
        elif self.zero_share == 1 and self.difference != 0:
            rule = f"With p0 = 1 no swap changes anything, so that there is no difference of {self.difference:g}."
            problems.append((rule, "Take a share of zero effects below 1."))
        if not 0 < self.scale < math.inf:
            problems.append((f"b0 must be a positive number; got {self.scale:g}.", "Usual is 26."))
        if self.test not in get_args(FlipTest):
            known = ", ".join(get_args(FlipTest))
            problems.append((f"There is no sign-flip test {self.test!r}.", f"Choose {known}."))
        if self.n_flips < 1 or (self.test == "flips" and 1 / (1 + self.n_flips) > self.alpha):
            rule = f"{self.n_flips} random flips cannot reach a p-value of {self.alpha:g}."
            problems.append(
                (rule, f"Take at least {math.ceil(1 / self.alpha) - 1 if self.alpha > 0 else 1}.")
            )
        if not 0 < self.alpha < 1:
            problems.append((f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        if problems:
            raise InputError([Problem(rule, remedy) for rule, remedy in problems])

    @property
    def mean(self) -> float:
        """Mean of the effects that are not zero."""
        return -2 * self.difference / (self.n_sentences * (1 - self.zero_share)) if self.difference else 0.0

    def draw_effects(self, rng: np.random.Generator, n_studies: int) -> Floats:
        """Effects of swapping each sentence in simulated test sets, shape (n_studies, n_sentences)."""
        shape = (n_studies, self.n_sentences)
        place, size = rng.random(shape), rng.standard_exponential(shape)
        # One uniform number says zero, minus or plus.
        sign = np.where(place < (1 + self.zero_share) / 2, -1.0, 1.0)
        effects = self.mean + sign * size * (self.scale / self.n_sentences)
        effects[place < self.zero_share] = 0.0
        return np.asarray(effects)

    @property
    def block_size(self) -> int:
        return _BLOCK

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        held = max(1, _HELD // self.n_sentences)
        parts = [self._tested(rng, min(held, size - begin)) for begin in range(0, size, held)]
        difference, deviation, p_value = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Replicates.of_tests(difference, p_value, standard_error=deviation)

    def _tested(self, rng: np.random.Generator, n_studies: int) -> tuple[Floats, Floats, Floats]:
        effects = self.draw_effects(rng, n_studies)
        difference, deviation, p_value = normal_sign_flip(effects)
        if self.test == "flips":
            p_value = drawn_sign_flip(effects, n_flips=self.n_flips, rng=rng)
        return difference, deviation, p_value

    @property
    def null_sd(self) -> float:
        """Root mean variance of the difference under random flips: sqrt(n E[effect^2]) / 2."""
        return math.sqrt(self.n_sentences * self._square) / 2

    @property
    def standard_error(self) -> float:
        """Standard deviation of the estimated difference over test sets."""
        whole = (1 - self.zero_share) * self.mean
        return math.sqrt(self.n_sentences * max(self._square - whole**2, 0.0)) / 2

    @property
    def _square(self) -> float:
        spread = self.scale / self.n_sentences
        return (1 - self.zero_share) * (2 * spread**2 + self.mean**2)

    def computed(self) -> ComputedPower:
        """Power, Type M and Type S with the estimate normal and the test at its mean variance."""
        return normal_power(
            self.difference,
            null_sd=self.null_sd,
            standard_error=self.standard_error,
            alpha=self.alpha,
            method=METHOD,
        )
