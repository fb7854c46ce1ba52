"""The rating study looked at as it grows: nested data, refitted at every look."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.inference.study.replication import Replication, StudyFits
from humeval_power.kernels.crossed import balanced
from humeval_power.kernels.growing_table import GrowingSums, growing_sums
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.scenarios.blocks import BLOCK
from humeval_power.scenarios.looks.looks import Looks, NestedDesigns, nested_designs
from humeval_power.scenarios.looks.replicates import Floats, LookReplicates, look_blocks
from humeval_power.scenarios.study import RatingStudy
from humeval_power.simulation.portions import portions
from humeval_power.simulation.study import Response

_FITTED = 256  # studies to ask for at once where each is fitted


@dataclass(frozen=True, eq=False)
class RatingLooks:
    """A rating study and the looks at it. Every look is tested by `rule`, whose alpha is not used.

    The effect is the difference B - A on [0, 1]. Complete Gaussian studies with looks by items or workers are
    simulated by their mean squares, any other by its ratings.
    """

    parameters: Parameters
    design: Design
    looks: Looks
    rule: DecisionRule = DEFAULT_RULE
    response: Response = "gaussian"
    points: int | None = None

    def __post_init__(self) -> None:
        if self.rule.is_simulated:
            raise InputError(
                f"Looks are tested by a t or z test, not by df '{self.rule.df}': the boundaries are what "
                "simulation calibrates."
            )
        if self.rule.margin is not None:
            raise InputError(
                f"Looks are for showing a difference; the alternative '{self.rule.alternative}' with a margin "
                "has no boundaries here."
            )

    @property
    def true_effect(self) -> float:
        """Difference B - A of the model."""
        return self.parameters.difference

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return self.looks.n_looks

    @property
    def shifts(self) -> bool:
        """Whether another effect only moves the estimates."""
        return self.response == "gaussian" and self.parameters.latent is None

    @cached_property
    def nested(self) -> NestedDesigns:
        """The designs at the looks."""
        return nested_designs(self.design, self.looks)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ratings at each look."""
        return tuple(design.n_ratings for design in self.nested.designs)

    @property
    def by_mean_squares(self) -> bool:
        """Whether mean squares are drawn instead of ratings."""
        complete = all(design.is_crossed and not design.n_documents for design in self.nested.designs)
        growing = self.looks.kind in ("items", "workers") or self.n_looks == 1
        linear = self.rule.family == "gaussian" and self.rule.estimator == "reml"
        return complete and growing and self.shifts and linear

    def with_effect(self, effect: float) -> RatingLooks:
        """The same with a true difference B - A of `effect`."""
        return replace(self, parameters=self.parameters.with_difference(effect))

    def with_worker_slope(self, sd: float) -> RatingLooks:
        """The same with another SD of workers' own differences B - A."""
        return replace(self, parameters=self.parameters.with_worker_slope(sd))

    @property
    def drawn_together(self) -> int:
        """Replicates that are drawn or fitted at once."""
        return BLOCK if self.by_mean_squares else _FITTED

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> LookReplicates:
        """Simulate studies `first` to `first + n - 1` and fit each at every look."""
        if self.by_mean_squares:
            return look_blocks(self._from_mean_squares, n, seed=seed, first=first, n_jobs=n_jobs)
        parts = portions(first, n, n_ratings=self.sizes[-1], n_jobs=n_jobs)
        return LookReplicates.joined([self._from_ratings(part, seed, n_jobs) for part in parts])

    def from_responses(self, responses: Floats, *, n_jobs: int = 1) -> LookReplicates:
        """Fit given ratings of the whole study, shape (n, n_ratings) in the order of the final design's
        assignment, at every look."""
        fits, alone = [], []
        for replication, rows in zip(self._replications, self.nested.rows, strict=True):
            there = np.ascontiguousarray(responses[:, rows])
            fits.append(replication.fit(there, n_jobs=n_jobs))
            alone.append(_independent_p(there, replication.design, self.rule))
        return self._decided(fits, alone)

    def _from_ratings(self, part: range, seed: int, n_jobs: int) -> LookReplicates:
        final = self._replications[-1]
        return self.from_responses(final.responses(len(part), seed=seed, first=part.start), n_jobs=n_jobs)

    @cached_property
    def _replications(self) -> tuple[Replication, ...]:
        return tuple(
            Replication(
                self.parameters,
                design,
                self.rule.estimator,
                self.rule.analysis,
                self.response,
                self.points,
                by_iteration=self.rule.estimator == "ml" and self.rule.df == "satterthwaite",
                family=self.rule.family,
                link=self.rule.link,
            )
            for design in self.nested.designs
        )

    def _decided(self, fits: list[StudyFits], independent: list[Floats]) -> LookReplicates:
        tested = [
            RatingStudy(self.parameters, design, rule=self.rule).decide(fit)
            for design, fit in zip(self.nested.designs, fits, strict=True)
        ]
        return LookReplicates(
            estimate=np.stack([look.estimate for look in tested], axis=1),
            standard_error=np.stack([look.standard_error for look in tested], axis=1),
            df=np.stack([look.df for look in tested], axis=1),
            p_value=np.stack([look.p_value for look in tested], axis=1),
            independent_p=np.stack(independent, axis=1),
            status=np.stack([look.status for look in tested], axis=1),
            alternative=self.rule.alternative,
        )

    def _from_mean_squares(self, rng: np.random.Generator, size: int) -> LookReplicates:
        final = self.nested.final
        by_items = self.looks.kind != "workers"
        growing = [d.n_items if by_items else d.n_workers for d in self.nested.designs]
        blocks = [int(count) for count in np.diff(growing, prepend=0)]
        fixed = final.n_workers if by_items else final.n_items
        worker0, worker1, item0, item1, noise, shared = _variances(self.parameters)
        repeats = final.n_repeats

        def sums(of_worker: float, of_item: float, of_cell: float) -> GrowingSums:
            variances = (of_worker, of_item) if by_items else (of_item, of_worker)
            return growing_sums(
                rng, n_fixed=fixed, blocks=blocks, variances=(*variances, of_cell), n_replicates=size
            )

        difference = sums(worker1, item1, 2 * noise / repeats)
        mean = sums(worker0, item0, noise / (2 * repeats) + shared)
        within = np.zeros((len(blocks), size))
        if repeats > 1:
            cells = 2 * fixed * (repeats - 1) * np.array(blocks)
            within = np.cumsum([noise * rng.chisquare(count, size) for count in cells], axis=0)
        fits, alone = [], []
        for look, design in enumerate(self.nested.designs):
            strata = _strata(difference, mean, within, look, repeats, by_items)
            estimate = self.true_effect + difference.mean[look]
            fit, p_value = _fitted(strata, estimate, design, self.rule)
            fits.append(fit)
            alone.append(p_value)
        return self._decided(fits, alone)


def _variances(parameters: Parameters) -> tuple[float, ...]:
    coded = parameters.recoded()
    return tuple(getattr(coded, name) ** 2 for name in (*STANDARD_DEVIATIONS, "sd_worker_item"))


def _strata(
    difference: GrowingSums, mean: GrowingSums, within: Floats, look: int, repeats: int, by_items: bool
) -> Floats:
    """Sums of squares on the scale of one rating: worker, worker x system, item, item x system, residual of
    means, residual of differences, within cells; shape (7, replicates)."""
    rows = []
    for name in ("fixed", "growing"):
        rows.append(2 * repeats * getattr(mean, name)[look])
        rows.append(repeats / 2 * getattr(difference, name)[look])
    workers_then_items = rows if by_items else [*rows[2:], *rows[:2]]
    residual = [2 * repeats * mean.remainder[look], repeats / 2 * difference.remainder[look], within[look]]
    return np.stack([*workers_then_items, *residual])


def _fitted(
    strata: Floats, estimate: Floats, design: Design, rule: DecisionRule
) -> tuple[StudyFits, Floats]:
    """REML from the sums of squares of one look, and the p-value as if all ratings were independent."""
    size = balanced.Size(design.n_workers, design.n_items, design.n_repeats)
    if rule.analysis == "differences":
        df = balanced.difference_df(size)
        squares = np.full((5, len(estimate)), np.inf)
        rows = [balanced.WORKER_SYSTEM, balanced.ITEM_SYSTEM, balanced.RESIDUAL]
        squares[rows] = strata[[1, 3, 5]] / df[rows, None]
    else:
        df = balanced.degrees_of_freedom(size)
        squares = np.concatenate([strata[:4], strata[4:].sum(axis=0)[None]]) / df[:, None]
    pooled = balanced.pool(squares, df)
    error = np.sqrt(balanced.effect_variance(pooled.expected, size))
    fit = StudyFits(
        estimate=estimate,
        standard_error=error,
        adjusted=error,
        satterthwaite=balanced.satterthwaite_df(pooled, df),
        kenward_roger=balanced.kenward_roger_df(pooled.expected, df),
        zero=pooled.pooled.T,
        status=np.zeros(len(estimate), dtype=np.int64),
    )
    if rule.analysis == "differences":
        pairs = size.workers * size.items
        total = 2 / size.repeats * strata[[1, 3, 5]].sum(axis=0)
        return fit, _t_p(estimate, total / (pairs - 1) / pairs, pairs - 1, rule)
    ratings = size.ratings
    variance = strata.sum(axis=0) / (ratings - 2) * 4 / ratings
    return fit, _t_p(estimate, variance, ratings - 2, rule)


def _independent_p(responses: Floats, design: Design, rule: DecisionRule) -> Floats:
    """p-values, shape (n,), of a t test that takes all ratings (or all differences of pairs) as
    independent."""
    rows = design.assignment
    if rule.analysis == "differences":
        cell = np.unique(rows.worker * design.n_items + rows.item, return_inverse=True)[1]
        in_b = rows.system == 1
        n_cells = int(cell.max()) + 1
        counts = [np.bincount(cell[side], minlength=n_cells) for side in (in_b, ~in_b)]
        both = (counts[0] > 0) & (counts[1] > 0)
        means = []
        for side, count in zip((in_b, ~in_b), counts, strict=True):
            total = np.zeros((n_cells, len(responses)))
            np.add.at(total, cell[side], responses[:, side].T)
            means.append(total[both] / count[both, None])
        paired = means[0] - means[1]
        n_pairs = len(paired)
        return _t_p(paired.mean(axis=0), paired.var(axis=0, ddof=1) / n_pairs, n_pairs - 1, rule)
    a, b = responses[:, rows.system == 0], responses[:, rows.system == 1]
    df = a.shape[1] + b.shape[1] - 2
    within = a.var(axis=1) * a.shape[1] + b.var(axis=1) * b.shape[1]
    variance = within / df * (1 / a.shape[1] + 1 / b.shape[1])
    return _t_p(b.mean(axis=1) - a.mean(axis=1), variance, df, rule)


def _t_p(estimate: Floats, variance: Floats, df: int, rule: DecisionRule) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimate / np.sqrt(variance)
    if rule.alternative == "two-sided":
        return np.asarray(2 * special.stdtr(df, -np.abs(t)))
    return np.asarray(special.stdtr(df, -t))
