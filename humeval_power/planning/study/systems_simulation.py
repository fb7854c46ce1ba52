"""Power of a study of several systems by simulation: every goal, and the best against the second."""

from __future__ import annotations

import operator
from dataclasses import astuple, dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.comparisons import ComparisonFamily
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.inference.study.corrected import significant
from humeval_power.inference.study.max_t import CriticalValues
from humeval_power.inference.study.systems_replication import SystemsFits, SystemsReplication
from humeval_power.inference.study.wald import reference, statistic, wald_p
from humeval_power.planning.power import (
    DEFAULT_SEED,
    DEFAULT_SIMULATIONS,
    Progress,
    check_simulation,
    next_target,
    told_of_blocks,
)
from humeval_power.planning.study.systems_goals import (
    BestMargin,
    GoalCounts,
    SystemsPower,
    Truth,
    count_goals,
)
from humeval_power.planning.study.systems_law import check_max_t, correlation_of
from humeval_power.planning.study.systems_power import check_goal, check_study, power_of_counts
from humeval_power.planning.study.systems_precision import (
    Pairs,
    SystemsPrecision,
    check_systems_documents,
    systems_precision,
)
from humeval_power.planning.study.systems_workload import systems_workload
from humeval_power.rules import DecisionRule
from humeval_power.simulation.losses import NO_LOSSES, Exclusion, Losses
from humeval_power.simulation.quality_control import QualityControl, own_rows
from humeval_power.simulation.study import Response
from humeval_power.sweep.blocks import Block, run_blocks
from humeval_power.sweep.spans import spans
from humeval_power.systems import Goal, SystemsParameters

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_PORTION = 2048  # studies between two reports of progress, where they are drawn by their sums
_FEW = 64  # and where each is fitted by itself


@dataclass(frozen=True, slots=True)
class _BestSums:
    """Hsu's comparison of the best, summed over `n` studies."""

    n: int
    estimate: float
    low: float
    high: float
    shown: float

    @classmethod
    def total(cls, parts: list[_BestSums]) -> _BestSums:
        """All portions together."""
        return cls(*(sum(kind) for kind in zip(*map(astuple, parts), strict=True)))


def simulate_systems(
    parameters: SystemsParameters,
    design: Design,
    family: ComparisonFamily,
    rule: DecisionRule,
    *,
    goal: Goal = "pair",
    n_simulations: int = DEFAULT_SIMULATIONS,
    precision: float | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    response: Response = "gaussian",
    points: int | None = None,
    losses: Losses = NO_LOSSES,
    exclusion: Exclusion | QualityControl = "none",
    progress: Progress | None = None,
) -> SystemsPower:
    """Simulate studies, fit each by the family's model, correct its tests and count what is found.

    Parameters
    ----------
    design : with the real assignment; every study draws its ratings with it.
    precision : if given, simulate until the half-width of the power's interval is at most this, and at least
        `n_simulations` times.
    response, points : what a worker can enter, as for two systems.
    losses, exclusion : what happens to the ratings of each study, and who is left out of its analysis.
    progress : called with studies done and expected.

    Under max-t the statistics of a study are referred to the largest of t statistics that are correlated as the
    assumed variances and the design say, each with the study's own df.

    Raises
    ------
    InputError
        A goal that cannot be reached under these means and this family, or a rule that the model has no
        answer for.
    """
    check_study(parameters, design, rule)
    check_systems_documents(parameters, design, family)
    check_simulation(n_simulations, precision)
    if rule.is_simulated:
        raise InputError(f"Several systems are tested by t; got df '{rule.df}'.")
    decision = _Decision(parameters, design, family, rule)
    decision.check()
    check_goal(decision.truth, goal)
    study = SystemsReplication(
        parameters, design, family, decision.asked, rule, response, points, losses, exclusion
    )
    parts: list[GoalCounts] = []
    margins: list[_BestSums] = []
    each = systems_workload(
        parameters, design, family, rule, n_simulations=1, one_by_one=own_rows(losses, exclusion)
    ).seconds
    size, done, target = _PORTION if study.by_sums else _FEW, 0, n_simulations
    while done < target:
        portions = spans(target, size, first=done)
        blocks = [
            Block(count_systems, (decision, study, seed, *part), each * part.n, part.n) for part in portions
        ]
        told = told_of_blocks(progress, [part.n for part in portions])
        for counts, margin in run_blocks(blocks, n_jobs=n_jobs, done=told):
            parts.append(counts)
            if margin is not None:
                margins.append(margin)
        counts, done = reduce(operator.add, parts), target
        found = power_of_counts(
            counts,
            decision.precision,
            goal,
            truth=decision.truth,
            n_simulations=done,
            n_failed=done - counts.n,
        )
        if precision is not None and not found.too_many_failed:
            target = next_target(round(found.power * done), done, precision, at_least=size)
    n_simulations = done
    if not margins or found.too_many_failed:
        return found
    best = _BestSums.total(margins)
    return replace(
        found,
        best_margin=BestMargin(
            best.estimate / best.n, (best.low / best.n, best.high / best.n), best.shown / n_simulations
        ),
    )


@dataclass(frozen=True, eq=False)
class _Decision:
    """The tests of a family and Hsu's comparisons, applied to fits."""

    parameters: SystemsParameters
    design: Design
    family: ComparisonFamily
    rule: DecisionRule

    def check(self) -> None:
        """Refuse a rule without such critical values."""
        if self.family.correction == "max-t":
            check_max_t(self.rule)

    @cached_property
    def precision(self) -> SystemsPrecision:
        return systems_precision(self.parameters, self.design, self.family)

    @cached_property
    def truth(self) -> Truth:
        return Truth(self.parameters, self.precision.pairs, self.rule)

    @property
    def asked(self) -> Pairs:
        """The pairs whose differences are estimated: those of the family, and the best with every other."""
        return self._best.asked if self._has_best else self.precision.pairs

    @property
    def _has_best(self) -> bool:
        return len(self.parameters.best) == 1

    @cached_property
    def _others(self) -> Pairs:
        """The best system after every other."""
        (best,) = self.parameters.best
        return tuple((other, best) for other in range(self.parameters.n_systems) if other != best)

    @cached_property
    def _best(self) -> _Asked:
        return _asked(self.precision.pairs, self._others)

    @cached_property
    def _largest(self) -> CriticalValues:
        correlation = correlation_of(self.precision.covariance, self.precision.pairs)
        return CriticalValues(correlation, self.rule.alpha, self.rule.alternative == "two-sided")

    @cached_property
    def _dunnett(self) -> CriticalValues:
        correlation = correlation_of(self.precision.covariance, self._others)
        return CriticalValues(correlation, self.rule.alpha, two_sided=False)

    def count(self, fits: SystemsFits) -> tuple[GoalCounts, _BestSums | None]:
        """What the studies found; those without a fit are left out."""
        found = fits.contrasts
        error, df = reference(
            self.rule,
            standard_error=found.standard_error,
            adjusted=found.adjusted,
            satterthwaite=found.satterthwaite,
            kenward_roger=found.kenward_roger,
            smallest=self.precision.smallest,
        )
        usable = (found.status == 0) & (error > 0).all(axis=1) & (df > 0).all(axis=1)
        estimate, error, df, means = found.estimate[usable], error[usable], df[usable], fits.means[usable]
        n = len(self.precision.pairs)
        rejected = self._rejected(estimate[:, :n], error[:, :n], df[:, :n])
        counts = count_goals(self.truth, means, estimate[:, :n], rejected, found.boundary[usable][:, :n])
        return counts, self._with_the_best(estimate, error, df) if self._has_best else None

    def _rejected(self, estimate: Floats, error: Floats, df: Floats) -> Flags:
        rule = self.rule
        if self.family.correction == "max-t":
            t = statistic(estimate, error, rule.alternative, None)
            size = np.abs(t) if rule.alternative == "two-sided" else t
            return np.asarray(size > self._largest(df))
        p_values = wald_p(estimate, error, df, rule.alternative, margin=rule.margin)
        return significant(p_values, self.family.correction, rule.alpha)

    def _with_the_best(self, estimate: Floats, error: Floats, df: Floats) -> _BestSums:
        """Hsu's (1984) interval of the truly best system: its mean less the highest of the others."""
        difference = estimate[:, self._best.columns] * self._best.signs
        reach = self._dunnett(df[:, self._best.columns]) * error[:, self._best.columns]
        low, high = (difference - reach).min(axis=1), (difference + reach).min(axis=1)
        return _BestSums(
            len(difference),
            float(difference.min(axis=1).sum()),
            float(np.minimum(low, 0.0).sum()),
            float(np.maximum(high, 0.0).sum()),
            float((low > 0).sum()),
        )


def count_systems(
    decision: _Decision, study: SystemsReplication, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> tuple[GoalCounts, _BestSums | None]:
    """The work of a block: what studies `first` to `first + n - 1` find."""
    return decision.count(study.fits(n, seed=seed, first=first, n_jobs=n_jobs))


class _Asked(NamedTuple):
    """Pairs with the further ones that are not among them, and the columns and signs of the further ones."""

    asked: Pairs
    columns: NDArray[np.int64]
    signs: Floats


def _asked(pairs: Pairs, further: Pairs) -> _Asked:
    asked = list(pairs)
    columns, signs = [], []
    for first, second in further:
        if (second, first) in asked:
            columns.append(asked.index((second, first)))
            signs.append(-1.0)
            continue
        if (first, second) not in asked:
            asked.append((first, second))
        columns.append(asked.index((first, second)))
        signs.append(1.0)
    return _Asked(tuple(asked), np.array(columns), np.array(signs))
