"""Simulate and fit many studies of one design: everything about power but the decision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Exclusion, Response
from humeval_power.designs import Codes, Design
from humeval_power.errors import InputError
from humeval_power.estimation.fit import Fit
from humeval_power.latent import Family, Link
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, Analysis, DecisionRule, Estimator
from humeval_power.simulation.quality_control import QualityControl, come_back, own_rows, what_is_shown
from humeval_power.simulation.study import (
    NO_LOSSES,
    CollectedRatings,
    Losses,
    begun_small,
    check_documents,
    draw_many,
    draw_ratings,
    levels,
    portions,
    remaining,
    replicate_generator,
    respond,
)
from humeval_power.studies.fit.wald import (
    EffectTest,
    LatentScale,
    NullStatistics,
    effect_test,
    simulated_p,
    without_test,
)
from humeval_power.studies.power.formula import DOCUMENTS
from humeval_power.sweep.blocks import Block, part_done, run_blocks
from humeval_power.sweep.versions import spans

if TYPE_CHECKING:
    from humeval_power.estimation.latent.engine import Start
    from humeval_power.studies.power.formula import BalancedStudy

Floats = NDArray[np.float64]

COMPONENTS = STANDARD_DEVIATIONS[:4]
MOST_FAILURES = 0.2  # share of failed fits above which the other studies are no fair sample
LOST = 9  # status of a study with fewer than 2 workers, items or systems left
_BLOCK = 2048  # replicates drawn together from one child of the seed; part of what a seed means
_SECONDS = 2e-6  # of a study for each of its ratings, about
_FITTED, _FITTED_SLOWLY = 1024, 256  # studies to ask for at once where each is fitted, and in categories


@dataclass(frozen=True, slots=True, eq=False)
class StudyFits:
    """Fits of simulated studies before any decision: every rule can be applied to them.

    All arrays have the replicate as first axis; `zero` (n, q) marks components at the boundary, those of
    documents last; `status` is 0 where the fit can be used. What an estimator does not give is NaN. `scale` is
    that of a model of categories, whose estimates and standard errors are latent; None for estimates on [0, 1].
    """

    estimate: Floats
    standard_error: Floats
    adjusted: Floats
    satterthwaite: Floats
    kenward_roger: Floats
    zero: NDArray[np.bool_]
    status: NDArray[np.int64]
    scale: LatentScale | None = None

    @classmethod
    def nothing(cls, status: int, n_components: int, scores: Floats | None = None) -> StudyFits:
        """One study that could not be fitted; `scores` of its categories, where a model of these was tried."""
        blank = np.full(1, np.nan)
        zero, failed = np.zeros((1, n_components), dtype=np.bool_), np.array([status])
        if scores is None:
            return cls(*(blank,) * 5, zero, failed)
        scale = LatentScale(np.full((1, len(scores) - 1), np.nan), blank, scores, logit=False)
        return cls(*(blank,) * 5, zero, failed, scale)

    @classmethod
    def joined(cls, parts: list[StudyFits]) -> StudyFits:
        """One record from consecutive parts."""
        arrays = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
            if field.name != "scale"
        }
        scales = [part.scale for part in parts if part.scale is not None]
        return cls(**arrays, scale=LatentScale.joined(scales) if scales else None)

    @property
    def difference(self) -> Floats:
        """Estimated differences B - A on [0, 1]."""
        return self.on_unit(self.estimate)

    def on_unit(self, effect: Floats) -> Floats:
        """Differences B - A on [0, 1] of effects (n,) where the tests are made."""
        return effect if self.scale is None else self.scale.difference(effect)

    def moved(self, difference: float) -> float | Floats:
        """A difference on [0, 1] where the tests are made: as it is, or each study's own latent effect."""
        return difference if self.scale is None else self.scale.effect_of(difference)


@dataclass(frozen=True, eq=False)
class Replication:
    """How studies are simulated and fitted.

    A complete balanced Gaussian study draws its mean squares directly; any other simulates ratings and
    fits them. `by_iteration` fits a balanced study by iteration too: maximum likelihood gives
    Satterthwaite's df in no other way. `losses` says what happens to planned ratings, `exclusion` which
    workers are left out before the fit. `ignore_documents` fits the items as if they stood alone. `family` and
    `link` are those of the analysis; a family of categories needs ratings that are in some.
    """

    parameters: Parameters
    design: Design
    estimator: Estimator = "reml"
    analysis: Analysis = "ratings"
    response: Response = "gaussian"
    points: int | None = None
    by_iteration: bool = False
    losses: Losses = NO_LOSSES
    exclusion: Exclusion | QualityControl = "none"
    ignore_documents: bool = False
    family: Family = DEFAULT_RULE.family
    link: Link = DEFAULT_RULE.link

    def __post_init__(self) -> None:
        check_documents(self.parameters.recoded(), self.design.n_documents)

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the variance components that are fitted, in the order of `StudyFits.zero`."""
        return (*COMPONENTS, *DOCUMENTS) if self.fits_documents else COMPONENTS

    @property
    def fits_documents(self) -> bool:
        """Whether documents are in the model that is fitted."""
        return self.design.n_documents > 0 and not self.ignore_documents

    def fits(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> StudyFits:
        """Simulate and fit studies `first` to `first + n - 1` of this seed."""
        if self.by_mean_squares:
            return self._from_mean_squares(n, seed=seed, first=first)
        parts = begun_small(portions(first, n, n_ratings=self.design.n_ratings, n_jobs=n_jobs))
        result: Iterator[StudyFits]
        if self.own_rows:
            result = (self._fit_own_rows(part, seed, n_jobs) for part in parts)
        elif n_jobs == 1:
            result = (self.fit(self._drawn(part, seed)) for part in parts)
        else:
            result = self._fit_while_drawing(parts, seed, n_jobs)
        return StudyFits.joined(_with_progress(result, parts))

    def _drawn(self, portion: range, seed: int) -> Floats:
        return self.responses(len(portion), seed=seed, first=portion.start)

    def _fit_while_drawing(self, portions: list[range], seed: int, n_jobs: int) -> Iterator[StudyFits]:
        """Draw the next portion while this one is fitted: drawing holds the interpreter, so that more threads
        for it would only be in each other's way; the compiled fits do not."""
        with ThreadPoolExecutor(1) as drawer:
            upcoming = drawer.submit(self._drawn, portions[0], seed)
            for following in [*portions[1:], None]:
                responses = upcoming.result()
                if following is not None:
                    upcoming = drawer.submit(self._drawn, following, seed)
                yield self.fit(responses, n_jobs=n_jobs)
                del responses  # so that no more than two portions are held

    def fit(self, responses: Floats, *, n_jobs: int = 1, alone: bool = False) -> StudyFits:
        """Fit given ratings, shape (n, n_ratings) in the order of the assignment. Where they are all
        alike there is no variance, and everything that depends on one is NaN. `alone` says that no other study
        has these rows, so that preparing for many does not pay."""
        if not self.closed_form:
            return self._fit_rows(responses, n_jobs, alone)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._fit_complete(responses)

    def responses(self, n: int, *, seed: int, first: int = 0) -> Floats:
        """The ratings of simulated studies, shape (n, n_ratings), in the order of the assignment."""
        if self.losses == NO_LOSSES:
            latent = draw_many(self.parameters.recoded(), self.design, seed, first=first, n=n)
            return respond(latent, self.response, points=self.points)
        drawn = np.empty((n, self.design.n_ratings))
        for place in range(n):
            drawn[place] = self.collected(seed, first + place).rating
        return drawn

    @property
    def own_rows(self) -> bool:
        """Whether each study has rows of its own: ratings get lost or workers are excluded."""
        return own_rows(self.losses, self.exclusion)

    def collected(self, seed: int, replicate: int) -> CollectedRatings:
        """What comes back from one study: its ratings, those that can be analysed, and who is left out."""
        rng = replicate_generator(seed, replicate)
        latent = draw_ratings(self.parameters.recoded(), self._shown[0], rng)
        given = respond(latent, self.response, points=self.points)
        known = levels(self.parameters, self.response, self.points)
        again = self._shown[1]
        return come_back(given, self.design, again, self.losses, self.exclusion, rng, levels=known)

    @cached_property
    def _shown(self) -> tuple[Design, Codes]:
        return what_is_shown(self.design, self.exclusion)

    def _fit_own_rows(self, replicates: range, seed: int, n_jobs: int) -> StudyFits:
        from humeval_power.blas import one_blas_thread

        scores = None if self.family == "gaussian" else self._levels
        nothing = StudyFits.nothing(LOST, len(self.components), scores)

        def one(replicate: int) -> StudyFits:
            back = self.collected(seed, replicate)
            rows = remaining(self.design.assignment, back.kept)
            if rows is None:
                return nothing
            n_documents = 0 if rows.document is None else int(rows.document.max()) + 1
            design = Design(
                "table",
                int(rows.worker.max()) + 1,
                int(rows.item.max()) + 1,
                0.0,
                explicit=rows,
                n_documents=n_documents,
            )
            if self._leaves_balance:
                design = replace(self.design, n_workers=design.n_workers)
            study = replace(self, design=design, losses=NO_LOSSES, exclusion="none")
            try:
                return study.fit(back.rating[back.kept][None], alone=True)
            except InputError:  # no worker with both systems is left for an analysis of differences
                return nothing

        with one_blas_thread():
            if n_jobs == 1:
                return StudyFits.joined([one(replicate) for replicate in replicates])
            with ThreadPoolExecutor(n_jobs) as pool:
                return StudyFits.joined(list(pool.map(one, replicates)))

    @property
    def _leaves_balance(self) -> bool:
        """Whether a balanced design stays one of fewer workers: nothing is lost but all of a worker's ratings."""
        ruled = isinstance(self.exclusion, QualityControl)
        return ruled and self.design.is_balanced and not self.losses.loses_rows

    @property
    def closed_form(self) -> bool:
        """Whether mean squares are enough to fit."""
        by_search = self.by_iteration or (self.fits_documents and self.estimator == "ml")
        linear = self.family == "gaussian"
        return self.design.is_balanced and linear and not by_search and not self.own_rows

    @property
    def by_mean_squares(self) -> bool:
        """Whether studies are drawn by their mean squares: those of Gaussian ratings are independent of each
        other, unless an intercept and its slope are correlated."""
        values = self.parameters
        correlated = values.correlation_worker != 0 or values.correlation_item != 0
        gaussian = self.response == "gaussian" and values.latent is None and not self.losses.careless
        return self.closed_form and gaussian and not correlated

    @property
    def drawn_together(self) -> int:
        """How many studies to ask for at once: few enough to wait for, and no block of squares is drawn twice."""
        if self.by_mean_squares:
            return _BLOCK
        return _FITTED if self.family == "gaussian" else _FITTED_SLOWLY

    def blocks(self, work: Callable[..., Any], *arguments: Any, n: int, seed: int) -> list[Block]:
        """Studies 0 to n - 1 as blocks of work(self, *arguments, seed, first, n, n_jobs=k)."""
        each = _SECONDS * self.design.n_ratings
        return [
            Block(work, (self, *arguments, seed, *part), each * part.n, part.n)
            for part in spans(n, self.drawn_together)
        ]

    @cached_property
    def _levels(self) -> Floats:
        """The ratings that there can be, for an analysis of categories."""
        result = levels(self.parameters, self.response, self.points)
        assert result is not None  # checked by whoever asks for a family of categories
        return result

    @cached_property
    def _strata(self) -> BalancedStudy:
        from humeval_power.studies.power.formula import BalancedStudy

        return BalancedStudy(self.design, self.analysis, self.estimator, self.ignore_documents)

    @cached_property
    def variances(self) -> Floats:
        coded = self.parameters.recoded()
        names = (*COMPONENTS, *(DOCUMENTS if self.design.n_documents else ()), "sd_residual")
        return np.array([getattr(coded, name) for name in names]) ** 2

    def _from_mean_squares(self, n: int, *, seed: int, first: int) -> StudyFits:
        parts = []
        for block in range(first // _BLOCK, -(-(first + n) // _BLOCK)):
            squares, noise = self._strata.drawn(
                replicate_generator(seed, block),
                self.variances,
                n=_BLOCK,
                interaction=self.parameters.sd_worker_item**2,
            )
            rows = slice(max(first - block * _BLOCK, 0), min(first + n - block * _BLOCK, _BLOCK))
            parts.append(self._fit_squares(squares[:, rows], self.parameters.difference + noise[rows]))
        return StudyFits.joined(parts)

    def _fit_complete(self, responses: Floats) -> StudyFits:
        return self._fit_squares(*self._strata.squares(responses))

    def _fit_squares(self, squares: Floats, estimate: Floats) -> StudyFits:
        fits = self._strata.fitted(squares)
        return StudyFits(
            estimate=estimate,
            standard_error=fits.standard_error,
            adjusted=fits.standard_error,
            satterthwaite=fits.satterthwaite,
            kenward_roger=fits.kenward_roger,
            zero=fits.zero.T,
            status=fits.status,
        )

    def _fit_rows(self, responses: Floats, n_jobs: int, alone: bool) -> StudyFits:
        if self.family == "gaussian":
            return self._fit_tables(responses, n_jobs, alone)
        return self._fit_categories(responses, n_jobs)

    @cached_property
    def _problem(self) -> object:
        from humeval_power.estimation.crossed.problem import CrossedProblem

        rows = self.design.assignment
        build = (
            CrossedProblem.of_differences if self.analysis == "differences" else CrossedProblem.of_design
        )
        document = rows.document if self.fits_documents else None
        return build(rows.worker, rows.item, rows.system, document=document)

    def _fit_tables(self, responses: Floats, n_jobs: int, alone: bool) -> StudyFits:
        from humeval_power.estimation.crossed.fits import fit_batch
        from humeval_power.estimation.crossed.problem import CrossedProblem

        problem = self._problem
        assert isinstance(problem, CrossedProblem)
        batch = fit_batch(
            problem,
            responses,
            start=self.variances[: len(self.components)] / max(self.variances[-1], 1e-12),
            restricted=self.estimator == "reml",
            n_jobs=n_jobs,
            side_by_side=not alone,
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

    @cached_property
    def _latent_problem(self) -> object:
        from humeval_power.estimation.latent.engine import LatentProblem

        rows = self.design.assignment
        document = rows.document if self.fits_documents else None
        return LatentProblem.of_design(rows.worker, rows.item, rows.system, document=document)

    @cached_property
    def _latent_start(self) -> Start | None:
        """The generating values, where ratings arise as they are analysed."""
        from humeval_power.estimation.latent.engine import Start

        latent = self.parameters.latent
        if latent is None or latent.link != self.link:
            return None
        return Start(
            np.array([getattr(latent, name) for name in self.components]),
            np.array(latent.thresholds),
            np.array([latent.effect]),
        )

    def _fit_categories(self, responses: Floats, n_jobs: int) -> StudyFits:
        from humeval_power.estimation.latent.engine import LatentProblem, fit_latent_batch

        problem = self._latent_problem
        assert isinstance(problem, LatentProblem)
        values = self._levels
        batch = fit_latent_batch(
            problem,
            np.searchsorted((values[1:] + values[:-1]) / 2, responses),
            n_categories=len(values),
            link=self.link,
            start=self._latent_start,
            restricted=self.estimator == "reml",
            n_jobs=n_jobs,
        )
        weights = np.resize([1.0, 0.25], batch.sd.shape[1])  # a slope counts at x = -1/2 and +1/2
        return StudyFits(
            estimate=batch.effect,
            standard_error=batch.standard_error,
            adjusted=batch.standard_error_adjusted,
            satterthwaite=batch.df,
            kenward_roger=batch.df,
            zero=batch.sd == 0,
            status=batch.status,
            scale=LatentScale(batch.thresholds, batch.sd**2 @ weights, values, logit=self.link == "logit"),
        )


def _with_progress(parts: Iterable[StudyFits], replicates: list[range]) -> list[StudyFits]:
    """The parts of a block, of these replicates; who waits for it is told of each."""
    fits: list[StudyFits] = []
    first, end = replicates[0].start, replicates[-1].stop
    for part, these in zip(parts, replicates, strict=True):
        fits.append(part)
        part_done((these.stop - first) / (end - first))
    return fits


# Tests of one study against simulated studies without an effect, or with one at the margin.


def null_statistics(
    replication: Replication, *, effect: float = 0.0, n: int, seed: int, n_jobs: int = 1
) -> NullStatistics:
    """t of `n` studies simulated with a true difference of `effect` and fitted alike: the distance of
    the estimate from `effect` in standard errors, for categories on the latent scale.

    effect : 0, or minus the margin of a rule that has one (its `null_effect`).
    """
    null = replace(replication, parameters=replication.parameters.with_difference(effect))
    blocks = null.blocks(null_t, effect, n=n, seed=seed)
    return NullStatistics.of(np.concatenate(list(run_blocks(blocks, n_jobs=n_jobs))))


def null_t(
    null: Replication, effect: float, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> NDArray[np.float64]:
    """The work of a block: t of those of studies `first` to `first + n - 1` that could be fitted."""
    fits = null.fits(n, seed=seed, first=first, n_jobs=n_jobs)
    usable = fits.status == 0
    distance = fits.estimate - fits.moved(effect)
    return np.asarray(distance[usable] / fits.adjusted[usable])


def simulated_test(
    fit: Fit,
    design: Design,
    rule: DecisionRule,
    *,
    assumed: Parameters | None = None,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
) -> EffectTest:
    """Compare a fit's t with its simulated null distribution.

    Rule 'bootstrap' simulates at the fitted parameters (parametric bootstrap: Davison and Hinkley 1997,
    section 4.2.3); 'calibrated' at `assumed` ones, and is right only if those are. The interval is
    estimate +- the simulated critical value times the standard error; `df` is NaN. A rule with a margin
    is compared with studies whose true difference lies at the margin; those at the upper margin of an
    equivalence are the mirror image of those at the lower one, so that one simulation serves both.

    Raises InputError: the calibrated rule without assumed parameters.
    """
    if rule.df == "calibrated" and assumed is None:
        raise InputError(
            "The calibrated rule needs the parameters that the plan assumed (--assumed FILE); taken from "
            "the data it would be a bootstrap (--df bootstrap)."
        )
    base = fit.parameters if rule.df == "bootstrap" or assumed is None else assumed
    replication = Replication(base, design, rule.estimator, rule.analysis)
    wald = effect_test(fit, replace(rule, df="kenward-roger"))
    if wald.reason:
        return replace(wald, rule=rule)
    null = null_statistics(replication, effect=rule.null_effect, n=n_simulations, seed=seed, n_jobs=n_jobs)
    failed = 1.0 - len(null.t) / n_simulations
    if failed > MOST_FAILURES:
        reason = (
            f"{100 * failed:.0f} % of the simulated studies could not be fitted, and the others are no "
            "fair sample; more ratings of each worker and item are needed"
        )
        return without_test(wald.estimate, wald.standard_error, math.nan, rule, reason=reason)
    estimate, error = np.array([wald.estimate]), np.array([wald.standard_error])
    p_value = float(simulated_p(estimate, error, null, rule.alternative, margin=rule.margin)[0])
    sides = {"non-inferior": (1.0,), "equivalent": (1.0, -1.0)}.get(rule.alternative, ())
    reach = null.critical_value(rule.alpha, rule.alternative) * wald.standard_error
    return EffectTest(
        estimate=wald.estimate,
        standard_error=wald.standard_error,
        df=math.nan,
        p_value=p_value,
        interval=(wald.estimate - reach, wald.estimate + reach),
        significant=p_value <= rule.alpha,
        rule=rule,
        p_values=tuple(
            float(simulated_p(sign * estimate, error, null, "non-inferior", margin=rule.margin)[0])
            for sign in sides
        ),
    )
