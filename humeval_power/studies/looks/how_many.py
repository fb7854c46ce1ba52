"""How many looks are worth it, by recursive integration; and what new workers would add to each look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from humeval_power.choices import LookKind
from humeval_power.errors import InputError, refuse
from humeval_power.studies.looks.boundaries import Boundaries, boundaries, success
from humeval_power.studies.looks.judgement_plan import PoolLooks, ScoreLaws
from humeval_power.studies.looks.rating_looks import LookRow, look_rows
from humeval_power.studies.looks.replicates import Floats, RatingLooks, equal_looks, stop
from humeval_power.studies.looks.stopping_rule import PValueFutility, StoppingRule, WangTsiatis
from humeval_power.studies.power.estimate import Progress
from humeval_power.sweep.blocks import Block, run_blocks

MOST_POWER_LOST = 0.05
LEAST_SAVING = 0.02


@dataclass(frozen=True, slots=True)
class LooksChoice:
    """A number of equally spaced looks at the same largest study, as it would be for z-values.

    `expected` has the expected share of the ratings without an effect, with half of the planned one and with
    all of it; `power` is at the planned effect.
    """

    n_looks: int
    power: float
    expected: tuple[float, float, float]
    recommended: bool = False

    @property
    def mean_expected(self) -> float:
        """Mean of the three expected shares."""
        return sum(self.expected) / 3


def compare_numbers_of_looks(study: RatingLooks, rule: StoppingRule, *, most: int = 5) -> list[LooksChoice]:
    """One to `most` equal looks of the study's kind. Recommended is the smallest number whose successor saves
    less than 2 % of the ratings more, among those that lose at most 5 points of power to a single look.

    Looks that the study is too small for are left out. Raises InputError: a study without an effect: there is
    nothing to find.
    """
    if study.true_effect == 0:
        raise InputError("The number of looks is judged at the planned effect; it must not be 0.")
    choices = []
    for n_looks in range(1, most + 1):
        try:
            rows = look_rows(replace(study, looks=equal_looks(study.looks.kind, n_looks)))
            drift = abs(study.true_effect) / rows[-1].precision.standard_error
            plain = rule if n_looks > 1 else replace(rule, futility=None)
            bounds = boundaries(plain, [row.information_share for row in rows], drift=drift)
        except InputError:
            if n_looks == 1:
                raise
            break
        shares = [row.size_share for row in rows]
        none, half, planned = (expected_size(bounds, shares, part * drift) for part in (0.0, 0.5, 1.0))
        choices.append(LooksChoice(n_looks, success(bounds, drift), (none, half, planned)))
    allowed = [each for each in choices if choices[0].power - each.power <= MOST_POWER_LOST]
    best = allowed[0]
    for following in allowed[1:]:
        if best.mean_expected - following.mean_expected < LEAST_SAVING:
            break
        best = following
    return [replace(each, recommended=each is best) for each in choices]


def expected_size(bounds: Boundaries, sizes: Sequence[float], drift: float) -> float:
    """Mean size at stopping for z-values; `sizes` are those at the looks."""
    exits = bounds.exits(drift)
    leaving = exits.above + exits.below + exits.inside
    leaving[-1] = 1.0 - leaving[:-1].sum()
    return float(leaving @ sizes)


@dataclass(frozen=True, slots=True)
class PoolGrowth:
    """How information grows if looks come by `kind`, with the same numbers of workers and items at the end:
    shares of the information at each look, the standard error at the end, and the ratings it takes."""

    kind: LookKind
    information_shares: tuple[float, ...]
    standard_error: float
    n_ratings: int
    first_workers: int


def compare_growth(study: RatingLooks) -> list[PoolGrowth]:
    """Looks by items, workers, ratings and blocks at the same shares; kinds that cannot be are left out."""
    result = []
    kinds: tuple[LookKind, ...] = ("items", "workers", "ratings", "blocks")
    for kind in kinds:
        try:
            rows = look_rows(replace(study, looks=replace(study.looks, kind=kind)))
        except InputError:
            continue
        shares = tuple(row.information_share for row in rows)
        last = rows[-1]
        error = last.precision.standard_error
        result.append(PoolGrowth(kind, shares, error, last.n_ratings, rows[0].n_workers))
    return result


def new_workers_advice(study: RatingLooks, rows: Sequence[LookRow]) -> str | None:
    """A sentence for looks that reuse the same workers; None where each look brings new ones."""
    coded, documents = study.parameters.recoded(), study.design.n_documents
    slope = coded.sd_worker_slope
    if study.looks.kind in ("workers", "blocks") or slope == 0 or len(rows) == 1:
        return None
    ceiling = slope**2 / rows[-1].n_workers
    of = ""
    if documents:
        ceiling += coded.sd_document_slope**2 / documents
        of = f" of {documents} documents"
    reached = ceiling / rows[0].precision.variance
    return (
        f"These looks reuse the same {rows[-1].n_workers} workers. However many items{of} they rate, the standard "
        f"error cannot fall below {ceiling**0.5:.4g}. Of the information at that limit the first look has "
        f"{100 * reached:.0f} %, the last {100 * ceiling / rows[-1].precision.variance:.0f} %. If new workers "
        "can be had, let each look bring its own (looks by blocks, or by workers): information then grows "
        "with every look."
    )


# Average power against budget over a pool of comparisons: one look, several, and several with futility.

_PER_SCORE = 1e-7  # seconds, about
PROCEDURES = ("fixed", "interim", "interim-futility")
PROCEDURE_WORDS = {"fixed": "one look", "interim": "interim looks", "interim-futility": "with futility"}


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
    pairs: Sequence[ScoreLaws],
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
    seed + i x 1000 + j. Raises InputError: no pairs, or budgets that are not increasing or too small for the
    looks.
    """
    interim, futility = rules or wei_rules()
    problems = []
    if not pairs:
        problems.append("There are no pairs of systems to compare.")
    if len(budgets) < 2 or any(b <= a for a, b in pairwise(budgets)):
        problems.append(f"Give at least two increasing budgets; got {', '.join(map(str, budgets))}.")
    elif budgets[0] < 4 * interim.n_looks:
        problems.append(f"A budget of {budgets[0]} judgements is too small for {interim.n_looks} looks.")
    refuse(problems)
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
    for done, ((column, row), values) in enumerate(
        zip(cells, run_blocks(blocks, n_jobs=n_jobs), strict=True)
    ):
        power[:, row, column], spent[:, row, column] = values
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
