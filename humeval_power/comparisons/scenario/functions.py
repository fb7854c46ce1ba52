"""A scenario from two functions: one that draws a data set, one that tests it (Card et al. 2020, Fig. 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.scenarios.contract import Replicates
from humeval_power.simulation.study import replicate_generator

Generate = Callable[[np.random.Generator, int, float], Any]
Test = Callable[[Any], tuple[float, float]]

NO_ANSWER = 1  # status of a data set for which the test gave no p-value


@dataclass(frozen=True, slots=True)
class FunctionScenario:
    """Studies of size `n` with a true effect of `effect`, drawn and tested by your own functions.

    Parameters
    ----------
    generate : from a NumPy generator, a size and a true effect to a data set of any kind. All its
        randomness must come from the generator.
    test : from a data set to (estimate, p-value), the estimate in the units of the effect. A p-value of
        NaN means that the test has no answer: the replicate counts as failed, not as 'not significant'.
    n, effect : the size and the true effect.
    unit : of the effect, for print.
    largest : where a search for a detectable effect ends.
    """

    generate: Generate
    test: Test
    n: int
    effect: float
    alpha: float = 0.05
    unit: str = ""
    largest: float = 1.0

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"A study needs a size of at least 1; got {self.n}.")
        if not math.isfinite(self.effect):
            raise InputError(f"The effect must be a finite number; got {self.effect}.")
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must lie between 0 and 1; got {self.alpha:g}.")

    @property
    def true_effect(self) -> float:
        """The effect that `generate` is asked for."""
        return self.effect

    def with_effect(self, effect: float) -> FunctionScenario:
        """The same studies with another true effect."""
        return replace(self, effect=effect)

    def with_size(self, n: int) -> FunctionScenario:
        """The same studies with another size."""
        return replace(self, n=n)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Draw and test studies `first` to `first + n - 1`; study i uses child i of the seed.

        Raises
        ------
        HumevalPowerError
            One of the functions raised an error or returned something else than two numbers.
        """
        answers = np.array(list(self._answers(range(first, first + n), seed, n_jobs)), dtype=np.float64)
        estimate, p_value = answers.reshape(n, 2).T
        blank = np.full(n, np.nan)
        failed = ~(np.isfinite(p_value) & np.isfinite(estimate))
        nothing = np.zeros((n, 0), dtype=np.bool_)
        return Replicates(estimate, blank, blank, p_value, np.where(failed, NO_ANSWER, 0), nothing)

    def _answers(self, replicates: range, seed: int, n_jobs: int) -> Iterator[tuple[float, float]]:
        def one(replicate: int) -> tuple[float, float]:
            return self._answer(replicate, seed)

        if n_jobs == 1:
            yield from map(one, replicates)
            return
        with ThreadPoolExecutor(n_jobs) as pool:
            yield from pool.map(one, replicates)

    def _answer(self, replicate: int, seed: int) -> tuple[float, float]:
        where = f"in study {replicate} of seed {seed} (n = {self.n}, effect {self.effect:g})"
        try:
            data = self.generate(replicate_generator(seed, replicate), self.n, self.effect)
            answer = self.test(data)
        except HumevalPowerError:
            raise
        except Exception as error:
            raise HumevalPowerError(
                f"Your function failed {where}: {type(error).__name__}: {error}"
            ) from error
        try:
            estimate, p_value = (float(value) for value in answer)
        except (TypeError, ValueError):
            raise HumevalPowerError(
                f"The test must return two numbers, the estimate and the p-value; {where} it returned "
                f"{answer!r}."
            ) from None
        if p_value < 0 or p_value > 1:
            raise HumevalPowerError(f"A p-value lies between 0 and 1; the test returned {p_value} {where}.")
        return estimate, p_value
