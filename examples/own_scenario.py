"""A scenario of your own in ten lines: which of two answers do people prefer, if ties are allowed?

    python examples/own_scenario.py
    humeval-power more scenario examples/own_scenario.py:make --n 100 --effect 0.2
    humeval-power more scenario examples/own_scenario.py:make size --effect 0.2 --power 0.9

A third of the people see no difference. Of the others, B is preferred by 1/2 + effect / 2. The test is the
sign test of those who have a preference.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from humeval_power.comparisons.scenario.functions import FunctionScenario
from humeval_power.studies.power.estimate import estimate_power

TIES = 1 / 3


def preferences(rng: np.random.Generator, n: int, effect: float) -> np.ndarray:
    """Return n answers: 1 for B, -1 for A, 0 for a tie."""
    share_b, share_a = (1 - TIES) * (1 + effect) / 2, (1 - TIES) * (1 - effect) / 2
    return rng.choice([1, -1, 0], size=n, p=[share_b, share_a, TIES])


def sign_test(answers: np.ndarray) -> tuple[float, float]:
    """Return the surplus of B among those with a preference, and the p-value of no surplus."""
    for_b, for_a = int((answers == 1).sum()), int((answers == -1).sum())
    if for_b + for_a == 0:
        return np.nan, np.nan  # nobody had a preference: the test has no answer
    n_decided = for_b + for_a
    p_value = min(1.0, 2 * special.bdtr(min(for_b, for_a), n_decided, 0.5))
    return (for_b - for_a) / n_decided, p_value


def make() -> FunctionScenario:
    """The scenario, with a size and an effect that the command line replaces."""
    return FunctionScenario(preferences, sign_test, n=100, effect=0.2)


def main() -> None:
    for n in (50, 100, 200, 400):
        found = estimate_power(make().with_size(n), n_simulations=2000, seed=1)
        low, high = found.interval
        print(f"{n:4} people: power {found.power:.2f} ({low:.2f} to {high:.2f}), type M {found.type_m:.2f}")


if __name__ == "__main__":
    main()
