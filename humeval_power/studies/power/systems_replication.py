"""Simulate and fit many studies of several systems: everything about their power but the decision."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Exclusion, Response
from humeval_power.designs import Codes, Design
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.fits import BATCH_TOLERANCE, MAX_STEPS
from humeval_power.estimation.joint.any_design import AnyDesign, Patterns
from humeval_power.estimation.joint.strands import (
    MOST_STEPS,
    TOLERANCE,
    AnyTable,
    ContrastFits,
    Model,
    StrandFits,
    Together,
    contrasts_of_many,
    fit_complete_common,
    fit_complete_own,
)
from humeval_power.kernels.crossed.information import Fitted
from humeval_power.parameters import STANDARD_DEVIATIONS
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.simulation.quality_control import QualityControl, come_back, own_rows, what_is_shown
from humeval_power.simulation.rehearsal import CompleteSums, draw_sums, draw_system_ratings
from humeval_power.simulation.study import (
    NO_LOSSES,
    CollectedRatings,
    Losses,
    generators,
    levels,
    remaining,
    replicate_generator,
    respond,
)
from humeval_power.studies.fit.max_t import contrasts_of, pair_design, pair_rows
from humeval_power.studies.fit.wald import reference
from humeval_power.studies.power.formula import BalancedStudy
from humeval_power.studies.power.replication import LOST, Replication
from humeval_power.systems import SystemsParameters

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Pairs = tuple[tuple[int, int], ...]
BLOCK = 256  # studies drawn together from one child of the seed; part of what a seed means
_MOST_RATINGS = 4_000_000  # simulated ratings held in memory at a time
_AS_NUMBERS = ("ratings", "reml", "gaussian")  # analysis, estimator and family that have fits of their own


@dataclass(frozen=True, slots=True, eq=False)
class SystemsFits:
    """Fits of n simulated studies: the means of the ratings (n, K), and the fits of each comparison."""

    means: Floats
    contrasts: ContrastFits

    def referred(self, rule: DecisionRule, *, smallest: int) -> tuple[Mask, Floats, Floats]:
        """Which studies have every fit, (n,), and the standard errors and df that a rule uses, (n, comparisons)."""
        contrasts = self.contrasts
        error, df = reference(
            rule,
            standard_error=contrasts.standard_error,
            adjusted=contrasts.adjusted,
            satterthwaite=contrasts.satterthwaite,
            kenward_roger=contrasts.kenward_roger,
            smallest=smallest,
        )
        return (contrasts.status == 0) & (error > 0).all(axis=1) & (df > 0).all(axis=1), error, df


@dataclass(frozen=True, eq=False)
class SystemsReplication:
    """How studies of several systems are simulated and fitted.

    `pairs` are the differences second - first that are estimated. A complete study of Gaussian ratings draws its
    sums directly; any other draws ratings with the real assignment. `rule` says by which estimator and from what
    fits in pairs are made.
    """

    parameters: SystemsParameters
    design: Design
    family: ComparisonFamily
    pairs: Pairs
    rule: DecisionRule
    response: Response = "gaussian"
    points: int | None = None
    losses: Losses = NO_LOSSES
    exclusion: Exclusion | QualityControl = "none"

    def fits(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> SystemsFits:
        """Simulate and fit studies `first` to `first + n - 1` of this seed: neither the portions in which they are
        asked for nor `n_jobs` change any of them."""
        if not self.by_sums:
            return self._of_rows(range(first, first + n), seed, n_jobs)
        blocks = range(first // BLOCK, -(-(first + n) // BLOCK))

        def part(block: int) -> SystemsFits:
            sums = self._drawn(replicate_generator(seed, block))
            rows = slice(max(first - block * BLOCK, 0), min(first + n - block * BLOCK, BLOCK))
            return self.fit_sums(CompleteSums(*(kind[rows] for kind in sums)))

        from humeval_power.blas import one_blas_thread

        with one_blas_thread():
            if n_jobs == 1 or len(blocks) == 1:
                return _joined([part(block) for block in blocks])
            with ThreadPoolExecutor(n_jobs) as pool:
                return _joined(list(pool.map(part, blocks)))

    @property
    def by_sums(self) -> bool:
        """Whether studies are drawn by the sums of complete tables, since these are enough to fit them."""
        whole = self.losses == NO_LOSSES and not isinstance(self.exclusion, QualityControl)
        return whole and self._fits_sums

    @property
    def _fits_sums(self) -> bool:
        joint = self.family.model == "joint"
        rule = self.rule
        if not self.design.is_balanced or (rule.analysis, rule.estimator, rule.family) != _AS_NUMBERS:
            return False
        # the observed information of each system's own variances needs the search of a single table
        return not (joint and self.family.variances == "own" and rule.df == "satterthwaite")

    @property
    def _size(self) -> tuple[int, int, int, int]:
        design = self.design
        return design.n_workers, design.n_items, self.parameters.n_systems, design.n_repeats

    def _drawn(self, rng: np.random.Generator) -> CompleteSums:
        if self.response == "gaussian":
            return draw_sums(self.parameters, self.design, rng, BLOCK)
        portion = max(1, _MOST_RATINGS // self.design.n_ratings)
        parts = []
        for begin in range(0, BLOCK, portion):
            ratings = self._responses(rng, min(portion, BLOCK - begin))
            table = ratings.reshape(len(ratings), *self._size)
            parts.append(CompleteSums.of_ratings(table, self.design.document_of_item))
        return CompleteSums(*(np.concatenate(kind) for kind in zip(*parts, strict=True)))

    def _responses(self, rng: np.random.Generator, n: int) -> Floats:
        latent = draw_system_ratings(self.parameters, self.design, rng, n)
        return respond(latent, self.response, points=self.points)

    def fit_sums(self, sums: CompleteSums) -> SystemsFits:
        """Fit complete tables by their sums; where `by_sums`."""
        first, second = np.array(self.pairs).T
        estimate = sums.means[:, second] - sums.means[:, first]
        if self.family.model == "pairwise":
            return SystemsFits(sums.means, self._pairs_of_sums(sums, estimate))
        residual = sums.residual.sum(axis=1)
        given = (sums.workers, sums.items, residual, estimate, self._size)
        if self.family.variances == "common":
            return SystemsFits(sums.means, fit_complete_common(*given))
        fitted = fit_complete_own(*given, first=first, second=second, start=self._start)
        return SystemsFits(sums.means, fitted)

    def _pairs_of_sums(self, sums: CompleteSums, estimate: Floats) -> ContrastFits:
        """Each pair by the mean squares of its two systems."""
        m, n, _, r = self._size
        d = self.design.n_documents
        first, second = np.array(self.pairs).T
        squares = []
        strata = [
            (m - 1, sums.workers),
            (n - (d or 1), sums.items),
            *([(d - 1, sums.documents)] if d else ()),
        ]
        for df_of, cross in strata:
            own = np.einsum("akk->ak", cross)
            both, between = own[:, first] + own[:, second], 2 * cross[:, first, second]
            for total in ((both + between) / 2, (both - between) / 2):
                squares.append(total / df_of if df_of else np.full_like(total, np.inf))
        df = 2.0 * (m * n * r - m - n + 1)
        squares.append((sums.residual[:, first] + sums.residual[:, second]) / df)
        study = BalancedStudy(pair_design(self.design, 0, 1), estimator=self.rule.estimator)
        with np.errstate(divide="ignore", invalid="ignore"):
            fits = study.fitted(np.stack([one.ravel() for one in squares]))
        error, satterthwaite, kenward_roger = (
            kind.reshape(estimate.shape)
            for kind in (fits.standard_error, fits.satterthwaite, fits.kenward_roger)
        )
        status = fits.status.reshape(estimate.shape).max(axis=1)
        zero = np.any(fits.zero, axis=0, keepdims=True).reshape(estimate.shape)
        return ContrastFits(estimate, error, error, satterthwaite, kenward_roger, status, zero)

    @property
    def _joint_patterns(self) -> Patterns:
        return Patterns.of_all(self.parameters.n_systems, own=self.family.variances == "own")

    @property
    def _joint_start(self) -> Floats:
        """Relative variances of a joint model, worker ones first."""
        if self.family.variances == "own":
            return self._start
        return np.concatenate([[part[0], part[1:].mean()] for part in np.split(self._start, 2)])

    @cached_property
    def _start(self) -> Floats:
        """Relative variances, worker ones first."""
        worker, item = self._variances
        return np.concatenate([worker, item]) / self._noise

    @property
    def _noise(self) -> float:
        return max(self.parameters.sd_residual**2, 1e-12)

    @property
    def _variances(self) -> tuple[Floats, Floats]:
        values = self.parameters
        return np.array(values.variances("worker")), np.array(values.variances("item"))

    def _of_rows(self, replicates: range, seed: int, n_jobs: int) -> SystemsFits:
        if own_rows(self.losses, self.exclusion):
            return self._fit_own_rows(replicates, seed, n_jobs)
        portion = max(1, min(BLOCK, _MOST_RATINGS // self.design.n_ratings))
        parts = []
        for begin in range(replicates.start, replicates.stop, portion):
            chosen = range(begin, min(begin + portion, replicates.stop))
            parts.append(self.fitted(self.ratings(chosen, seed=seed), n_jobs=n_jobs))
        return _joined(parts)

    def fitted(self, ratings: Floats, *, n_jobs: int = 1) -> SystemsFits:
        """Fit ratings by their sums, where that is enough."""
        if not self._fits_sums:
            return self.fit_rows(ratings, n_jobs=n_jobs)
        table = ratings.reshape(len(ratings), *self._size)
        return self.fit_sums(CompleteSums.of_ratings(table, self.design.document_of_item))

    def ratings(self, replicates: range, *, seed: int) -> Floats:
        """The ratings of some studies of this seed, (n, n_ratings)."""
        if self.losses != NO_LOSSES:
            drawn = generators(seed, replicates.start, len(replicates))
            return np.stack([self._collected(rng).rating for rng in drawn])
        drawn = generators(seed, replicates.start, len(replicates))
        return np.concatenate([self._responses(rng, 1) for rng in drawn])

    def collected(self, seed: int, replicate: int) -> CollectedRatings:
        """What comes back from one study: its ratings, those that can be analysed, and who is left out."""
        return self._collected(replicate_generator(seed, replicate))

    def _collected(self, rng: np.random.Generator) -> CollectedRatings:
        shown, again = self._shown
        given = respond(
            draw_system_ratings(self.parameters, shown, rng)[0], self.response, points=self.points
        )
        known = levels(self.parameters, self.response, self.points)
        return come_back(given, self.design, again, self.losses, self.exclusion, rng, levels=known)

    @cached_property
    def _shown(self) -> tuple[Design, Codes]:
        return what_is_shown(self.design, self.exclusion)

    def _fit_own_rows(self, replicates: range, seed: int, n_jobs: int) -> SystemsFits:
        """Studies that each have rows of their own; one in which a comparison has too little left has no fit."""
        from humeval_power.blas import one_blas_thread

        each = -(-len(replicates) // n_jobs)
        portion = max(1, min(BLOCK, _MOST_RATINGS // self.design.n_ratings, each))
        parts = [replicates[begin : begin + portion] for begin in range(0, len(replicates), portion)]

        def fit(part: range) -> SystemsFits:
            backs = [self._collected(rng) for rng in generators(seed, part.start, len(part))]
            return self._fit_remaining(
                np.stack([back.rating for back in backs]), np.stack([back.kept for back in backs])
            )

        with one_blas_thread():
            if n_jobs == 1 or len(parts) == 1:
                return _joined([fit(part) for part in parts])
            with ThreadPoolExecutor(n_jobs) as pool:
                return _joined(list(pool.map(fit, parts)))

    def _fit_remaining(self, ratings: Floats, kept: Mask) -> SystemsFits:
        """Fit what is kept, (n, n_ratings), of each study: side by side, and by itself where that settles none."""
        settled, together = self.settled_together(ratings, kept)
        left = np.flatnonzero(~settled)
        fits = _joined([*together, *(self.fit_alone(ratings[one], kept[one]) for one in left)])
        order = np.argsort(np.concatenate([np.flatnonzero(settled), left]))
        contrasts = ContrastFits._make(part[order] for part in fits.contrasts)
        return SystemsFits(fits.means[order], contrasts)

    def fit_alone(self, rating: Floats, kept: Mask) -> SystemsFits:
        """Fit one study of rows of its own, (n_ratings,)."""
        K, n_pairs = self.parameters.n_systems, len(self.pairs)
        blank = np.full((1, n_pairs), np.nan)
        none = np.zeros((1, 1 if self.family.model == "joint" else n_pairs), dtype=np.bool_)
        nothing = SystemsFits(
            np.full((1, K), np.nan),
            ContrastFits(*(blank,) * 5, np.array([LOST]), none),
        )
        rows = remaining(self.design.assignment, kept)
        if rows is None or len(np.unique(rows.system)) < K:
            return nothing
        n_workers, n_items = int(rows.worker.max()) + 1, int(rows.item.max()) + 1
        n_documents = 0 if rows.document is None else int(rows.document.max()) + 1
        design = Design(
            "table", n_workers, n_items, 0.0, explicit=rows, n_documents=n_documents, n_systems=K
        )
        if self._stays_complete:  # all of some workers' ratings are gone
            design = replace(self.design, n_workers=n_workers)
        study = replace(self, design=design, losses=NO_LOSSES, exclusion="none")
        try:
            return study.fitted(rating[kept][None])
        except InputError:  # nobody is left who tells two of the systems apart
            return nothing

    @property
    def _stays_complete(self) -> bool:
        """Whether a complete design stays one of fewer workers: nothing is lost but all of a worker's ratings."""
        return self.design.is_balanced and not self.losses.loses_rows

    @cached_property
    def _designs_apart(self) -> list[tuple[Codes, AnyDesign]] | None:
        """The rows of every pair, or of all systems in a joint model, as tables that each lack some of them; None
        where matrices of one would be large, or a fit needs other ones."""
        if self._stays_complete or not self._is_plain:
            return None
        rows, result = self.design.assignment, []
        pairs = self.pairs if self.family.model == "pairwise" else (range(self.parameters.n_systems),)
        for chosen in pairs:
            rated = np.flatnonzero(np.isin(rows.system, chosen))
            system = np.searchsorted(np.array(chosen), rows.system[rated])
            design = AnyDesign.of_rows(
                rows.worker[rated], rows.item[rated], system, len(chosen), apart=True
            )
            if design is None:
                return None
            result.append((rated, design))
        return result

    def settled_together(self, ratings: Floats, kept: Mask) -> tuple[Mask, list[SystemsFits]]:
        """Fit what is kept of each study as tables that lack some ratings of the design: which this settles,
        (n,), and their fits. It does not where a comparison has too little left or variances are very large."""
        designs, pairwise = self._designs_apart, self.family.model == "pairwise"
        settled = np.full(len(ratings), designs is not None)
        for rated, design in designs or ():
            mask = np.take(kept, rated, axis=1)
            for codes in (design.outer, design.inner):
                first = codes[mask.argmax(axis=1)]  # of the first rating that is left
                settled &= (mask & (codes != first[:, None])).any(axis=1)
            for one in range(design.n_systems):
                settled &= mask[:, design.system == one].any(axis=1)
        if designs is None or not settled.any():
            return settled, []
        whole = settled.all()
        y, given = (ratings, kept) if whole else (ratings[settled], kept[settled])
        masks = [np.take(given, rated, axis=1) for rated, _ in designs]
        starts = _starts_of_pairs(self.parameters, self.pairs) if pairwise else [self._joint_start]
        fits = _beside(
            [
                design.fit(
                    np.take(y, rated, axis=1),
                    Patterns.of_two() if pairwise else self._joint_patterns,
                    start,
                    kept=mask,
                    tolerance=BATCH_TOLERANCE if pairwise else TOLERANCE,
                    max_steps=MAX_STEPS if pairwise else MOST_STEPS,
                )
                for (rated, design), start, mask in zip(designs, starts, masks, strict=True)
            ]
        )
        trusted = np.asarray(fits.trusted.all(axis=1))
        settled[settled] = trusted
        if not trusted.any():
            return settled, []
        fits = fits.of(trusted)
        n = np.column_stack([mask.sum(axis=1) for mask in masks])[trusted]
        if pairwise:
            *columns, status, zero = _columns_of_pairs(fits, np.array([-1.0, 1.0]), n)
            contrasts = ContrastFits._make([*columns, status.max(axis=1), zero])
        else:
            fitted = Fitted(*(part[:, 0] for part in fits.fitted))
            contrasts = contrasts_of_many(fits.beta[:, 0], fitted, n, self._contrasts)
        means = []
        for one in range(self.parameters.n_systems):
            rated = np.flatnonzero(self.design.assignment.system == one)
            mask = np.take(kept, rated, axis=1)[settled]
            means.append(np.take(ratings, rated, axis=1)[settled].mean(axis=1, where=mask))
        return settled, [SystemsFits(np.column_stack(means), contrasts)]

    def fit_rows(self, ratings: Floats, *, n_jobs: int = 1) -> SystemsFits:
        """Fit given ratings (n, n_ratings) in the order of the assignment."""
        rows = self.design.assignment
        count = np.bincount(rows.system)
        means = np.column_stack(
            [ratings[:, rows.system == system].sum(axis=1) / count[system] for system in range(len(count))]
        )
        fitted = self._pairs_of_rows if self.family.model == "pairwise" else self._joint_of_rows
        return SystemsFits(means, fitted(ratings, n_jobs))

    @cached_property
    def together(self) -> Together | None:
        """The design where all systems are rated together, to fit many tables by REML of the ratings themselves;
        with equal loads, if each system has variances of its own in a joint fit."""
        if not self._is_plain:
            return None
        own = self.family.model == "joint" and self.family.variances == "own"
        result = Together.of_rows(self.design.assignment, self.parameters.n_systems)
        return None if result is None or (own and result.turn is None) else result

    @property
    def _is_plain(self) -> bool:
        """Whether ratings themselves are fitted by REML as numbers, with workers and items alone."""
        rule = self.rule
        return (rule.analysis, rule.estimator, rule.family) == _AS_NUMBERS and not self.design.n_documents

    def _pairs_by_strands(self, together: Together, ratings: Floats, n_jobs: int) -> ContrastFits:
        start = _starts_of_pairs(self.parameters, self.pairs)
        fits = together.fit(
            ratings,
            Model.of_pairs(np.array(self.pairs), self.parameters.n_systems),
            start if together.worker_is_outer else np.roll(start, 2, axis=1),
            tolerance=BATCH_TOLERANCE,
            max_steps=MAX_STEPS,
            n_jobs=n_jobs,
        )
        n = np.full(len(self.pairs), 2 * len(together.inner))
        return self._of_pairs(fits, np.array([0.0, np.sqrt(2.0)]), n, ratings, n_jobs)

    @cached_property
    def _pair_designs(self) -> list[tuple[Codes, AnyDesign]] | None:
        """The rows of every pair, and their design; None where the matrices of one would be large, or it has a
        single worker or item."""
        rows, result = self.design.assignment, []
        for first, second in self.pairs:
            kept = np.flatnonzero((rows.system == first) | (rows.system == second))
            worker, item, system = rows.worker[kept], rows.item[kept], rows.system[kept] == second
            design = None
            if np.ptp(worker) and np.ptp(item) and 0 < system.sum() < len(kept):
                design = AnyDesign.of_rows(worker, item, system.astype(np.int64), 2)
            if design is None:
                return None
            result.append((kept, design))
        return result

    def _pairs_alone(self, ratings: Floats, n_jobs: int) -> ContrastFits | None:
        """Every pair by matrices of its own rows, where these are small."""
        if self._pair_designs is None:
            return None
        parts = [
            design.fit(
                np.take(ratings, kept, axis=1),
                Patterns.of_two(),
                start,
                tolerance=BATCH_TOLERANCE,
                max_steps=MAX_STEPS,
                n_jobs=n_jobs,
            )
            for (kept, design), start in zip(
                self._pair_designs, _starts_of_pairs(self.parameters, self.pairs), strict=True
            )
        ]
        sizes = np.array([len(kept) for kept, _ in self._pair_designs])
        return self._of_pairs(_beside(parts), np.array([-1.0, 1.0]), sizes, ratings, n_jobs)

    def _of_pairs(
        self, result: StrandFits, difference: Floats, n: Codes, ratings: Floats, n_jobs: int
    ) -> ContrastFits:
        """Fits of all pairs, of n ratings (pairs,); what was not settled is left to the fits of each pair."""
        columns = _columns_of_pairs(result, difference, n)
        for place in np.flatnonzero(~result.trusted.all(axis=0)).tolist():
            left = ~result.trusted[:, place]
            again = self.fit_pair(place, ratings[left], n_jobs=n_jobs)
            for column, values in zip(columns, again, strict=True):
                column[left, place] = values
        *fits, status, zero = columns
        return ContrastFits._make([*fits, status.max(axis=1), zero])

    def fit_pair(self, place: int, ratings: Floats, *, n_jobs: int = 1) -> tuple[NDArray[Any], ...]:
        """Fits of one pair: the fields of ContrastFits, each (n,); of categories on [0, 1], with the same t."""
        rows = pair_rows(self.design, *self.pairs[place])
        fits = self._two_systems[place].fit(ratings[:, rows], n_jobs=n_jobs)
        slope = 1.0 if fits.scale is None else fits.scale.per_unit(fits.estimate)
        return (
            slope * fits.estimate,
            slope * fits.standard_error,
            slope * fits.adjusted,
            fits.satterthwaite,
            fits.kenward_roger,
            fits.status,
            np.asarray(fits.zero.any(axis=1)),
        )

    def _pairs_of_rows(self, ratings: Floats, n_jobs: int) -> ContrastFits:
        if self.together is not None:
            return self._pairs_by_strands(self.together, ratings, n_jobs)
        result = self._pairs_alone(ratings, n_jobs) if self._is_plain else None
        if result is not None:
            return result
        kinds = [self.fit_pair(place, ratings, n_jobs=n_jobs) for place in range(len(self.pairs))]
        *columns, status, zero = (np.column_stack(kind) for kind in zip(*kinds, strict=True))
        return ContrastFits._make([*columns, status.max(axis=1), zero])

    @cached_property
    def _two_systems(self) -> list[Replication]:
        return [
            Replication(
                self.parameters.pair(*pair),
                pair_design(self.design, *pair),
                self.rule.estimator,
                self.rule.analysis,
                self.response,
                self.points,
                by_iteration=self.rule.estimator == "ml" and self.rule.df == "satterthwaite",
                family=self.rule.family,
                link=self.rule.link,
            )
            for pair in self.pairs
        ]

    @cached_property
    def _joint_design(self) -> AnyDesign | None:
        """All rows, where a joint fit takes the ratings themselves and its matrices are small."""
        rows = self.design.assignment
        if not self._is_plain:
            return None
        return AnyDesign.of_rows(rows.worker, rows.item, rows.system, self.parameters.n_systems)

    def _joint_of_rows(self, ratings: Floats, n_jobs: int) -> ContrastFits:
        """All tables at once, by strands or by matrices of all systems; what these do not settle is fitted table by
        table."""
        K, own = self.parameters.n_systems, self.family.variances == "own"
        together, start, axes = self.together, self._joint_start, np.eye(K)
        if together is None:
            design = self._joint_design
            if design is None:
                return self.fit_tables(ratings, n_jobs=n_jobs)
            fits = design.fit(
                ratings,
                self._joint_patterns,
                start,
                tolerance=TOLERANCE,
                max_steps=MOST_STEPS,
                n_jobs=n_jobs,
            )
        else:
            start = start if together.worker_is_outer else np.roll(start, len(start) // 2)
            if own:
                fits = together.fit_own(
                    ratings, start, tolerance=TOLERANCE, max_steps=MOST_STEPS, n_jobs=n_jobs
                )
            else:
                model = Model.of_all(K)
                axes = model.rotation[0]
                fits = together.fit(
                    ratings, model, start[None], tolerance=TOLERANCE, max_steps=MOST_STEPS, n_jobs=n_jobs
                )
        settled = fits.trusted[:, 0]
        trusted = fits.of(settled)
        fitted = Fitted(*(part[:, 0] for part in trusted.fitted))
        contrasts = self._contrasts @ axes.T
        known = contrasts_of_many(trusted.beta[:, 0], fitted, self.design.n_ratings, contrasts)
        if settled.all():
            return known
        again = self.fit_tables(ratings[~settled], n_jobs=n_jobs)
        order = np.argsort(np.concatenate([np.flatnonzero(settled), np.flatnonzero(~settled)]))
        return ContrastFits._make(part[order] for part in ContrastFits.joined([known, again]))

    def fit_tables(self, ratings: Floats, *, n_jobs: int = 1) -> ContrastFits:
        """Joint fits of single tables, one after the other."""
        from humeval_power.blas import one_blas_thread

        with one_blas_thread():
            if n_jobs == 1:
                return ContrastFits.joined([self._any_table.fit(one) for one in ratings])
            with ThreadPoolExecutor(n_jobs) as pool:
                return ContrastFits.joined(list(pool.map(self._any_table.fit, ratings)))

    @cached_property
    def _contrasts(self) -> Floats:
        """The differences that are estimated, (pairs, K)."""
        return contrasts_of(self.pairs, self.parameters.n_systems)

    @cached_property
    def _any_table(self) -> AnyTable:
        worker, item = self._variances
        return AnyTable(
            self.design.assignment,
            worker=worker,
            item=item,
            residual=self._noise,
            variances=self.family.variances,
            contrasts=self._contrasts,
        )


@lru_cache(maxsize=4)
def _starts_of_pairs(parameters: SystemsParameters, pairs: Pairs) -> Floats:
    """Assumed relative variances of intercepts and slopes (pairs, 4), those of workers first."""
    coded = [parameters.pair(*pair).recoded() for pair in pairs]
    variances = np.array([[getattr(one, name) ** 2 for name in STANDARD_DEVIATIONS[:4]] for one in coded])
    noise = np.array([one.sd_residual**2 for one in coded])
    return np.asarray(variances / np.maximum(noise, 1e-12)[:, None])


def _beside(parts: list[StrandFits]) -> StrandFits:
    """One record of the same tables from fits of each pair, (tables, 1)."""
    if len(parts) == 1:
        return parts[0]
    fields = zip(*(part.fitted for part in parts), strict=True)
    return StrandFits(
        np.concatenate([part.beta for part in parts], axis=1),
        np.concatenate([part.status for part in parts], axis=1),
        Fitted(*(np.concatenate(field, axis=1) for field in fields)),
    )


def _columns_of_pairs(fits: StrandFits, difference: Floats, n: Codes) -> list[NDArray[Any]]:
    """The fields of ContrastFits from fits (tables, pairs) of n ratings, but the status that of each pair."""
    from humeval_power.kernels.crossed.information_lanes import precision_of_many

    known = precision_of_many(fits.fitted, difference, n=n)
    finite = [np.where(np.isinf(kind), np.nan, kind) for kind in known]
    return [fits.beta @ difference, *finite, fits.status, (fits.fitted.gamma == 0).any(axis=-1)]


def _joined(parts: list[SystemsFits]) -> SystemsFits:
    return SystemsFits(
        np.concatenate([part.means for part in parts]),
        ContrastFits.joined([part.contrasts for part in parts]),
    )
