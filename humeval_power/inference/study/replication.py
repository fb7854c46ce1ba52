"""Simulate and fit many studies of one design: everything about power but the decision."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.kernels import balanced
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import Analysis, Estimator
from humeval_power.simulation.losses import Collected, Exclusion, Losses, collect, remaining
from humeval_power.simulation.study import Response, draw_ratings, replicate_generator, respond

Floats = NDArray[np.float64]

NO_LOSSES = Losses()
COMPONENTS = STANDARD_DEVIATIONS[:4]
MOST_FAILURES = 0.2  # share of failed fits above which the other studies are no fair sample
LOST = 9  # status of a study with fewer than 2 workers, items or systems left
_BLOCK = 2048  # replicates drawn together from one child of the seed; part of what a seed means
_PORTION = 256  # simulated tables held in memory at a time


@dataclass(frozen=True, slots=True, eq=False)
class StudyFits:
    """Fits of simulated studies before any decision: every rule can be applied to them.

    All arrays have the replicate as first axis; `zero` (n, 4) marks components at the boundary;
    `status` is 0 where the fit can be used. What an estimator does not give is NaN.
    """

    estimate: Floats
    standard_error: Floats
    adjusted: Floats
    satterthwaite: Floats
    kenward_roger: Floats
    zero: NDArray[np.bool_]
    status: NDArray[np.int64]

    @classmethod
    def nothing(cls, status: int) -> StudyFits:
        """One study that could not be fitted."""
        blank = np.full(1, np.nan)
        return cls(*(blank,) * 5, np.zeros((1, 4), dtype=np.bool_), np.array([status]))

    @classmethod
    def joined(cls, parts: list[StudyFits]) -> StudyFits:
        """One record from consecutive parts."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True, eq=False)
class Replication:
    """How studies are simulated and fitted.

    A complete balanced Gaussian study draws its mean squares directly; any other simulates ratings and
    fits them. `by_iteration` fits a balanced study by iteration too: maximum likelihood gives
    Satterthwaite's df in no other way. `losses` says what happens to planned ratings, `exclusion` which
    workers are left out before the fit.
    """

    parameters: Parameters
    design: Design
    estimator: Estimator = "reml"
    analysis: Analysis = "ratings"
    response: Response = "gaussian"
    points: int | None = None
    by_iteration: bool = False
    losses: Losses = NO_LOSSES
    exclusion: Exclusion = "none"

    def fits(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> StudyFits:
        """Simulate and fit studies `first` to `first + n - 1` of this seed."""
        if self.closed_form and self.response == "gaussian" and not self.losses.careless:
            return self._from_mean_squares(n, seed=seed, first=first)
        portions = [
            range(begin, min(begin + _PORTION, first + n)) for begin in range(first, first + n, _PORTION)
        ]
        if self.own_rows:
            return StudyFits.joined([self._fit_own_rows(part, seed, n_jobs) for part in portions])
        if n_jobs == 1:
            drawn = (self._drawn(part, seed) for part in portions)
            return StudyFits.joined([self.fit(responses) for responses in drawn])
        return self._fit_while_drawing(portions, seed, n_jobs)

    def _drawn(self, portion: range, seed: int) -> Floats:
        return self.responses(len(portion), seed=seed, first=portion.start)

    def _fit_while_drawing(self, portions: list[range], seed: int, n_jobs: int) -> StudyFits:
        """Draw the next portion while this one is fitted: drawing holds the interpreter, so that more threads
        for it would only be in each other's way; the compiled fits do not."""
        parts = []
        with ThreadPoolExecutor(1) as drawer:
            upcoming = drawer.submit(self._drawn, portions[0], seed)
            for following in [*portions[1:], None]:
                responses = upcoming.result()
                if following is not None:
                    upcoming = drawer.submit(self._drawn, following, seed)
                parts.append(self.fit(responses, n_jobs=n_jobs))
        return StudyFits.joined(parts)

    def fit(self, responses: Floats, *, n_jobs: int = 1) -> StudyFits:
        """Fit given ratings, shape (n, n_ratings) in the order of the assignment. Where they are all
        alike there is no variance, and everything that depends on one is NaN."""
        if not self.closed_form:
            return self._fit_tables(responses, n_jobs)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._fit_complete(responses)

    def responses(self, n: int, *, seed: int, first: int = 0) -> Floats:
        """The ratings of simulated studies, shape (n, n_ratings), in the order of the assignment."""

        coded = self.parameters.recoded()

        def one(replicate: int) -> Floats:
            if self.losses != NO_LOSSES:
                return self._collected(seed, replicate).rating
            latent = draw_ratings(coded, self.design, replicate_generator(seed, replicate))
            return respond(latent, self.response, points=self.points)

        return np.stack([one(replicate) for replicate in range(first, first + n)])

    @property
    def own_rows(self) -> bool:
        """Whether each study has rows of its own: ratings get lost or workers are excluded."""
        return self.losses.loses_rows or (self.losses.careless > 0 and self.exclusion != "none")

    def _collected(self, seed: int, replicate: int) -> Collected:
        rng = replicate_generator(seed, replicate)
        latent = draw_ratings(self.parameters.recoded(), self.design, rng)
        return collect(
            respond(latent, self.response, points=self.points),
            self.design.assignment,
            self.losses,
            rng,
            n_workers=self.design.n_workers,
            points=self.points if self.response == "likert" else None,
            exclusion=self.exclusion,
        )

    def _fit_own_rows(self, replicates: range, seed: int, n_jobs: int) -> StudyFits:
        from humeval_power.estimation.native import one_blas_thread

        def one(replicate: int) -> StudyFits:
            back = self._collected(seed, replicate)
            rows = remaining(self.design.assignment, back.kept)
            if rows is None:
                return StudyFits.nothing(LOST)
            design = Design(
                "table", int(rows.worker.max()) + 1, int(rows.item.max()) + 1, 0.0, explicit=rows
            )
            study = replace(self, design=design, losses=NO_LOSSES)
            try:
                return study._fit_tables(back.rating[back.kept][None], 1)
            except InputError:  # no worker with both systems is left for an analysis of differences
                return StudyFits.nothing(LOST)

        with one_blas_thread():
            if n_jobs == 1:
                return StudyFits.joined([one(replicate) for replicate in replicates])
            with ThreadPoolExecutor(n_jobs) as pool:
                return StudyFits.joined(list(pool.map(one, replicates)))

    @property
    def closed_form(self) -> bool:
        """Whether mean squares are enough to fit."""
        return self.design.is_crossed and not self.by_iteration and not self.own_rows

    @cached_property
    def _size(self) -> balanced.Size:
        return balanced.Size(self.design.n_workers, self.design.n_items, self.design.n_repeats)

    @cached_property
    def _variances(self) -> Floats:
        coded = self.parameters.recoded()
        return np.array([getattr(coded, name) for name in STANDARD_DEVIATIONS]) ** 2

    def _from_mean_squares(self, n: int, *, seed: int, first: int) -> StudyFits:
        expected = balanced.expected_mean_squares(self._size, self._variances)
        parts = []
        for block in range(first // _BLOCK, -(-(first + n) // _BLOCK)):
            rng = replicate_generator(seed, block)
            if self.analysis == "differences":
                squares, noise = balanced.draw_difference_squares(
                    rng, size=self._size, expected=expected, n_replicates=_BLOCK
                )
            else:
                squares, noise = balanced.draw_mean_squares(
                    rng,
                    size=self._size,
                    expected=expected,
                    n_replicates=_BLOCK,
                    interaction=self.parameters.sd_worker_item**2,
                )
            rows = slice(max(first - block * _BLOCK, 0), min(first + n - block * _BLOCK, _BLOCK))
            parts.append(self._fit_squares(squares[:, rows], self.parameters.difference + noise[rows]))
        return StudyFits.joined(parts)

    def _fit_complete(self, responses: Floats) -> StudyFits:
        table = responses.reshape(len(responses), *self._size[:2], 2, self._size.repeats)
        if self.analysis == "differences":
            return self._fit_squares(*balanced.difference_squares(table))
        squares, difference, _ = balanced.mean_squares(table)
        return self._fit_squares(squares, difference)

    def _fit_squares(self, squares: Floats, estimate: Floats) -> StudyFits:
        by_difference = self.analysis == "differences"
        df = (balanced.difference_df if by_difference else balanced.degrees_of_freedom)(self._size)
        strata = balanced.pool(squares, df)
        expected, zero = strata.expected, strata.pooled
        status = np.zeros(len(estimate), dtype=np.int64)
        satterthwaite = balanced.satterthwaite_df(strata, df)
        if self.estimator == "ml":
            from humeval_power.kernels.balanced_ml import maximum_likelihood

            by_row, steps = maximum_likelihood(
                np.ascontiguousarray(squares.T), df, np.ascontiguousarray(expected.T)
            )
            expected, status = by_row.T, (steps < 0).astype(np.int64)
            zero = expected[:4] <= expected[4]
            satterthwaite = np.full(len(estimate), np.nan)
        error = np.sqrt(balanced.effect_variance(expected, self._size))
        return StudyFits(
            estimate=estimate,
            standard_error=error,
            adjusted=error,
            satterthwaite=satterthwaite,
            kenward_roger=balanced.kenward_roger_df(expected, df),
            zero=zero.T,
            status=status,
        )

    @cached_property
    def _problem(self) -> object:
        from humeval_power.estimation.native import CrossedProblem

        rows = self.design.assignment
        if self.analysis == "differences":
            return CrossedProblem.of_differences(rows.worker, rows.item, rows.system)
        return CrossedProblem.of_design(rows.worker, rows.item, rows.system)

    def _fit_tables(self, responses: Floats, n_jobs: int) -> StudyFits:
        from humeval_power.estimation.native import CrossedProblem, fit_batch

        problem = self._problem
        assert isinstance(problem, CrossedProblem)
        batch = fit_batch(
            problem,
            responses,
            start=self._variances[:4] / max(self._variances[4], 1e-12),
            restricted=self.estimator == "reml",
            n_jobs=n_jobs,
        )
        return StudyFits(
            estimate=batch.estimate,
            standard_error=batch.standard_error,
            adjusted=batch.standard_error_adjusted,
            satterthwaite=batch.df_satterthwaite,
            kenward_roger=batch.df_kenward_roger,
            zero=batch.gamma == 0,
            status=batch.status,
        )
