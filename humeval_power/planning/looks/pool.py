"""Average power against budget over a pool of comparisons: one look, several, and several with futility.

The experiment of Wei, Kocmi and Federmann (2022, section 7, Figs. 4 to 6) on any pool: scores are drawn with
replacement from each pair of systems, and the share of significant comparisons is set against the judgements
that were spent. It tests as they do (Mann-Whitney's U on independent judgements); where annotators or
segments have levels of their own the error is larger than alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from humeval_power.errors import InputError, Problem
from humeval_power.inference.looks.boundaries import Boundaries, boundaries
from humeval_power.inference.looks.futility import PValueFutility
from humeval_power.inference.looks.stopping_rule import StoppingRule, WangTsiatis
from humeval_power.planning.power import Progress
from humeval_power.scenarios.looks.looks import equal_looks
from humeval_power.scenarios.looks.pools import PoolLooks, ScorePair
from humeval_power.scenarios.looks.replicates import Floats, stop
from humeval_power.sweep.blocks import Block, run_blocks

_PER_SCORE = 1e-7  # seconds, about
PROCEDURES = ("fixed", "interim", "interim-futility")


@dataclass(frozen=True, eq=False)
class PoolStudy:
    """Power and spending of three procedures on every pair of a pool at every planned budget.

    `budgets` are planned judgements of both systems together, shape (b,); `differences` the pairs' true mean
    differences, shape (p,); `power` (share significant) and `spent` (mean judgements) have shape
    (3 procedures, b, p) in the order of PROCEDURES.
    """

    budgets: Floats
    differences: Floats
    power: Floats
    spent: Floats
    n_simulations: int
    alpha: float

    def curve(self, procedure: str, pairs: np.ndarray | slice = slice(None)) -> tuple[Floats, Floats]:
        """Mean judgements spent and mean power over the pairs, both shape (b,)."""
        row = PROCEDURES.index(procedure)
        return self.spent[row][:, pairs].mean(axis=1), self.power[row][:, pairs].mean(axis=1)

    def saving(self, procedure: str, *, budget: float) -> float:
        """Share of a fixed `budget` that the procedure saves at the same average power, by linear
        interpolation on both curves; NaN where the curves do not reach that far."""
        fixed_spent, fixed_power = self.curve("fixed")
        spent, power = self.curve(procedure)
        if not fixed_spent[0] <= budget <= fixed_spent[-1]:
            return float("nan")
        target = float(np.interp(budget, fixed_spent, fixed_power))
        rising = np.maximum.accumulate(power)
        if not rising[0] <= target <= rising[-1]:
            return float("nan")
        return 1.0 - float(np.interp(target, rising, spent)) / budget


def wei_rules(n_looks: int = 3, *, alpha: float = 0.05) -> tuple[Boundaries, Boundaries]:
    """Their two procedures: Pocock's constant at equal looks, without futility and with p > 0.5."""
    shares = equal_looks("items", n_looks).shares
    interim = StoppingRule(WangTsiatis(0.5), None, alpha)
    with_futility = StoppingRule(WangTsiatis(0.5), PValueFutility(0.5), alpha)
    return boundaries(interim, shares), boundaries(with_futility, shares)


def pool_study(
    pairs: Sequence[ScorePair],
    *,
    budgets: Sequence[int],
    rules: tuple[Boundaries, Boundaries] | None = None,
    n_simulations: int = 1000,
    seed: int = 1,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> PoolStudy:
    """Run the three procedures on every pair at every planned budget.

    The same draws serve all three: the fixed test is that of the last look. Pair i at budget j draws from
    seed + i x 1000 + j.

    Raises
    ------
    InputError
        No pairs, or budgets that are not increasing or too small for the looks.
    """
    interim, futility = rules or wei_rules()
    problems = []
    if not pairs:
        problems.append("There are no pairs of systems to compare.")
    if len(budgets) < 2 or any(b <= a for a, b in pairwise(budgets)):
        problems.append(f"Give at least two increasing budgets; got {', '.join(map(str, budgets))}.")
    elif budgets[0] < 4 * interim.n_looks:
        problems.append(f"A budget of {budgets[0]} judgements is too small for {interim.n_looks} looks.")
    if problems:
        raise InputError([Problem(rule=problem, remedy="") for problem in problems])
    cells = [(column, row) for column in range(len(pairs)) for row in range(len(budgets))]
    blocks = []
    for column, row in cells:
        looks = PoolLooks(pairs[column], budgets[row] // 2, interim.shares)
        arguments = (looks, interim, futility, n_simulations, seed + 1000 * column + row)
        blocks.append(
            Block(pool_block, arguments, _PER_SCORE * budgets[row] * n_simulations, n_simulations)
        )
    power = np.empty((3, len(budgets), len(pairs)))
    spent = np.empty_like(power)
    for done, ((column, row), found) in enumerate(
        zip(cells, run_blocks(blocks, n_jobs=n_jobs), strict=True)
    ):
        power[:, row, column], spent[:, row, column] = found
        if progress is not None:
            progress(done + 1, len(cells))
    return PoolStudy(
        budgets=np.array(budgets, dtype=float),
        differences=np.array([pair.difference for pair in pairs]),
        power=power,
        spent=spent,
        n_simulations=n_simulations,
        alpha=interim.rule.alpha,
    )


def pool_block(
    looks: PoolLooks, interim: Boundaries, futility: Boundaries, n: int, seed: int, *, n_jobs: int = 1
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The work of a block: power and judgements spent of each of PROCEDURES on one pair at one budget."""
    drawn = looks.draw_looks(n, seed=seed, n_jobs=n_jobs)
    power = [float(np.mean(drawn.p_value[:, -1] <= interim.rule.alpha))]
    spent = [float(looks.sizes[-1])]
    for rule in (interim, futility):
        stopped = stop(drawn, rule)
        power.append(float(stopped.significant.mean()))
        spent.append(float(np.array(looks.sizes)[stopped.look].mean()))
    return tuple(power), tuple(spent)
