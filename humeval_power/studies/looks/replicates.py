"""Simulated studies as they look at every look, and where a rule stops them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import LookKind, Response
from humeval_power.designs import Codes, Design, from_table
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.kernels.crossed import balanced
from humeval_power.kernels.growing_table import GrowingSums, growing_sums
from humeval_power.kernels.sequential import START, advance
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, Alternative, DecisionRule
from humeval_power.scenarios.contract import BLOCK, Replicates, parts_in_blocks
from humeval_power.simulation.study import portions
from humeval_power.studies.fit.wald import wald_p
from humeval_power.studies.looks.boundaries import Boundaries, going_on
from humeval_power.studies.power.replication import Replication, StudyFits
from humeval_power.studies.power.scenario import RatingStudy, check_response
from humeval_power.studies.power.workload import study_workload

# Where a study is looked at: after shares of its items, workers or ratings, or after whole blocks of
# both.

MOST_LOOKS = 20


@dataclass(frozen=True, slots=True)
class Looks:
    """Looks after given shares of what `kind` names.

    'items': the same workers rate more items; 'workers': more workers rate the same items; 'ratings': the
    same workers and items, each item rated by more workers; 'blocks': each look adds new workers with new
    items, which the earlier workers do not see.
    """

    kind: LookKind
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        problems = []
        if self.kind not in get_args(LookKind):
            words = ", ".join(get_args(LookKind))
            problems.append(f"Looks come by {words}; got {self.kind!r}.")
        refuse([*problems, *share_problems(self.shares)])

    @property
    def n_looks(self) -> int:
        """Number of looks, the last included."""
        return len(self.shares)

    def counts(self, total: int) -> list[int]:
        """How many of `total` units there are at each look."""
        return [round(share * total) for share in self.shares]

    def __str__(self) -> str:
        shares = ", ".join(f"{100 * share:.4g} %" for share in self.shares)
        return f"{self.n_looks} looks by {self.kind}: {shares}"


def equal_looks(kind: LookKind, n_looks: int) -> Looks:
    """`n_looks` looks after equal steps."""
    if not 1 <= n_looks <= MOST_LOOKS:
        raise InputError(f"The number of looks must lie between 1 and {MOST_LOOKS}; got {n_looks}.")
    return Looks(kind, tuple((look + 1) / n_looks for look in range(n_looks)))


def share_problems(shares: Sequence[float]) -> list[str]:
    """What is wrong with shares of a study at which it is looked at."""
    listed = ", ".join(f"{share:g}" for share in shares)
    problems = []
    if not 1 <= len(shares) <= MOST_LOOKS:
        problems.append(f"There must be 1 to {MOST_LOOKS} looks; got {len(shares)}.")
    if any(not 0 < share <= 1 for share in shares) or any(a >= b for a, b in pairwise(shares)):
        problems.append(f"The looks must increase from above 0; got {listed}.")
    if shares and shares[-1] != 1:
        problems.append(f"The last share must be 1, the whole study; got {listed}.")
    return problems


class NestedDesigns(NamedTuple):
    """The final design, the design of what is there at each look, and which rows of the final one that is."""

    final: Design
    designs: tuple[Design, ...]
    rows: tuple[Codes, ...]


def nested_designs(design: Design, looks: Looks) -> NestedDesigns:
    """The designs that a study passes through on its way to `design`.

    Looks by blocks split both workers and items, and keep only ratings within a block: the final design is
    then smaller than `design`, which says how many workers and items there are in all. Raises InputError: a
    look without two workers, two items and both systems, or that adds nothing.
    """
    arrival = _ARRIVALS[looks.kind](design, looks)
    if looks.kind == "blocks":
        kept = arrival >= 0
        design, arrival = _subset(design, np.flatnonzero(kept)), arrival[kept]
    problems: list[str] = []
    designs: list[Design] = []
    rows: list[Codes] = []
    for number in range(looks.n_looks):
        there = np.flatnonzero(arrival <= number)
        if number and len(there) == len(rows[-1]):
            problems.append(f"Look {number + 1} adds no ratings to look {number}.")
        rows.append(there)
        try:
            designs.append(design if len(there) == len(arrival) else _subset(design, there))
        except InputError as error:
            problems += [f"Look {number + 1} cannot be analysed: {one}" for one in error.problems]
    refuse([Problem(problem, "Move or drop looks.") for problem in problems])
    return NestedDesigns(design, tuple(designs), tuple(rows))


def _subset(design: Design, rows: Codes) -> Design:
    """The design of some rows, in their order; a complete one comes back as crossed."""
    whole = design.assignment
    if len(rows) == 0:
        raise InputError("there are no ratings.")
    worker = np.unique(whole.worker[rows], return_inverse=True)[1]
    item = np.unique(whole.item[rows], return_inverse=True)[1]
    document = None
    if whole.document is not None:
        document = np.unique(whole.document[rows], return_inverse=True)[1]
        if document.max() < 1:
            raise InputError("all its items come out of one document; two are needed.")
    return from_table(worker, item, whole.system[rows], document=document, n_systems=design.n_systems)


def _by_items(design: Design, looks: Looks) -> Codes:
    return np.searchsorted(looks.counts(design.n_items), design.assignment.item, side="right")


def _by_workers(design: Design, looks: Looks) -> Codes:
    return np.searchsorted(looks.counts(design.n_workers), design.assignment.worker, side="right")


def _by_ratings(design: Design, looks: Looks) -> Codes:
    """Pairs of worker and item arrive in rounds: every item's first worker, then its second, ... In round r
    item i is with the worker r places after its own first one, so that loads stay even."""
    rows = design.assignment
    pair = rows.worker * design.n_items + rows.item
    pairs, which = np.unique(pair, return_inverse=True)
    worker, item = pairs // design.n_items, pairs % design.n_items
    turn = (worker - item) % design.n_workers
    order = np.lexsort((turn, item))
    first = np.searchsorted(item[order], np.arange(design.n_items))
    turn_of = np.empty(len(pairs), dtype=np.int64)
    turn_of[order] = np.arange(len(pairs)) - first[item[order]]
    place = np.empty(len(pairs), dtype=np.int64)
    place[np.lexsort((item, turn_of))] = np.arange(len(pairs))
    return np.searchsorted(looks.counts(len(pairs)), place[which], side="right")


def _by_blocks(design: Design, looks: Looks) -> Codes:
    """The block of a row, -1 for a worker and an item of different blocks."""
    worker = _by_workers(design, looks)
    return np.where(worker == _by_items(design, looks), worker, -1)


_ARRIVALS = {"items": _by_items, "workers": _by_workers, "ratings": _by_ratings, "blocks": _by_blocks}


Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class OfStudies:
    """A record whose arrays have an entry for each simulated study along their first axis."""

    def part(self, rows: slice | Flags) -> Self:
        """Some of the studies."""
        return self._with({name: values[rows] for name, values in self._arrays().items()})

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """One record from consecutive parts."""
        arrays = [part._arrays() for part in parts]
        return parts[0]._with({name: np.concatenate([one[name] for one in arrays]) for name in arrays[0]})

    def _arrays(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def _with(self, arrays: dict[str, Any]) -> Self:
        return replace(self, **arrays)


@dataclass(frozen=True, slots=True, eq=False)
class LookReplicates(OfStudies):
    """What each simulated study would find at each look, shape (n, K) throughout.

    `p_value` is that of the look alone. `independent_p` is what a test finds that takes all ratings as
    independent. `status` is 0 for a fit that can be used. What a test does not give is NaN.
    """

    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    independent_p: Floats
    status: NDArray[np.int64]
    alternative: Alternative = "two-sided"

    def __len__(self) -> int:
        return len(self.estimate)

    @property
    def usable(self) -> Flags:
        """Which replicates count: those without a failed fit at any look, shape (n,)."""
        return np.asarray(((self.status == 0) & np.isfinite(self.p_value)).all(axis=1))

    @property
    def normal_p(self) -> Floats:
        """p of estimate / standard error as if that were a z: the |t| > 1.96 of much practice."""
        return wald_p(self.estimate, self.standard_error, np.full_like(self.df, np.inf), self.alternative)

    @property
    def score(self) -> Floats:
        """The z with the p-value of the look and the sign of its estimate."""
        if self.alternative == "greater":
            return np.asarray(-special.ndtri(self.p_value))
        return np.asarray(np.copysign(-special.ndtri(self.p_value / 2), self.estimate))

    def shifted(self, by: float) -> LookReplicates:
        """The replicates of Gaussian studies with a true effect larger by `by`: only estimates move."""
        estimate = self.estimate + by
        p_value = wald_p(estimate, self.standard_error, self.df, self.alternative)
        unknown = np.full_like(estimate, np.nan)
        return replace(self, estimate=estimate, p_value=p_value, independent_p=unknown)


class LookSource(Protocol):
    """Something that can be looked at while it grows. Replicate i of a seed does not depend on how many are
    drawn, nor in which portions, nor on `n_jobs`."""

    @property
    def true_effect(self) -> float:
        """The effect that the simulated studies really have."""
        ...

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ratings (judgements, items) that have been collected at each look."""
        ...

    @property
    def drawn_together(self) -> int:
        """Replicates that come from one child of a seed, or are fitted at once: asking for fewer saves nothing."""
        ...

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> LookReplicates:
        """Simulate `n` studies and test each at every look."""
        ...

    def with_effect(self, effect: float) -> LookSource:
        """The same with another true effect."""
        ...


def stacked(looks: Sequence[Replicates], independent_p: Floats | None = None) -> LookReplicates:
    """One record from the tests of each look; of independent judgements their p-values are those that a test for
    such has."""
    names = ("estimate", "standard_error", "df", "p_value", "status")
    tests: dict[str, Any] = {
        name: np.stack([getattr(look, name) for look in looks], axis=1) for name in names
    }
    return LookReplicates(
        **tests, independent_p=tests["p_value"] if independent_p is None else independent_p
    )


def look_blocks(
    draw_block: Callable[[np.random.Generator, int], LookReplicates],
    n: int,
    *,
    seed: int,
    first: int = 0,
    n_jobs: int = 1,
    size: int = BLOCK,
) -> LookReplicates:
    """Replicates `first` to `first + n - 1`, as `parts_in_blocks` draws them."""
    parts = parts_in_blocks(draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=size)
    return LookReplicates.joined(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Stopped:
    """Where each study stopped, shape (n,): the look (from 0), whether it was significant or futile, its
    estimate and the p-value of that look alone; `usable` as in LookReplicates."""

    look: NDArray[np.int64]
    significant: Flags
    futile: Flags
    estimate: Floats
    p_value: Floats
    usable: Flags


def stop(looks: LookReplicates, bounds: Boundaries) -> Stopped:
    """Apply boundaries to the p-values of the looks. Raises InputError: boundaries for another number of
    looks or another alternative."""
    n_looks = looks.estimate.shape[1]
    if bounds.n_looks != n_looks or bounds.rule.alternative != looks.alternative:
        raise InputError(
            f"Boundaries for {bounds.n_looks} looks, {bounds.rule.alternative}, do not fit studies with "
            f"{n_looks} looks, {looks.alternative}."
        )
    with np.errstate(invalid="ignore"):
        success = looks.p_value <= bounds.nominal
        futile = (looks.p_value > bounds.futility_p) & ~success
    ends = success | futile
    ends[:, -1] = True
    look = ends.argmax(axis=1)
    rows = np.arange(len(looks))
    return Stopped(
        look=look,
        significant=success[rows, look],
        futile=futile[rows, look],
        estimate=looks.estimate[rows, look],
        p_value=looks.p_value[rows, look],
        usable=looks.usable,
    )


def stagewise_p(stopped: Stopped, bounds: Boundaries) -> Floats:
    """p-values in the stage-wise ordering, shape (n,): at most alpha exactly for significant studies.

    They are those of z-values with the same p at the look; calibrated boundaries multiply them by alpha over
    what the boundaries spend under normality. A study that stopped for futility claims nothing: 1.
    """
    sides = 2.0 if bounds.two_sided else 1.0
    result = np.ones(len(stopped.look))
    earlier = np.concatenate([[0.0], np.cumsum(bounds.exits(0.0, with_futility=bounds.rule.binding).above)])
    state = START
    for k, at in enumerate(bounds.shares):
        here = np.flatnonzero((stopped.look == k) & ~stopped.futile)
        bound = -special.ndtri(stopped.p_value[here] / sides)
        step = at - state.information
        reach = bound[:, None] * np.sqrt(at) - state.nodes * np.sqrt(state.information)
        # summed row by row: a matrix product's last digit depends on how many rows there are
        tail = (special.ndtr(-reach / np.sqrt(step)) * state.mass).sum(axis=1)
        result[here] = sides * (earlier[k] + tail)
        if k + 1 < bounds.n_looks:
            futility = bounds.futility[k] if bounds.rule.binding else -np.inf
            intervals = going_on(bounds.efficacy[k], futility, two_sided=bounds.two_sided)
            state = advance(state, intervals, information=at, following=bounds.shares[k + 1])
    return np.asarray(np.minimum(result * bounds.rule.alpha / bounds.spent[-1], 1.0))


@dataclass(frozen=True, eq=False)
class SequentialStudy:
    """A study that is looked at as it grows, with the boundaries at which it stops: a scenario whose
    replicates are the studies as they ended, with stage-wise p-values and the naive estimate."""

    source: LookSource
    bounds: Boundaries

    def __post_init__(self) -> None:
        if self.source.n_looks != self.bounds.n_looks:
            raise InputError(
                f"Boundaries for {self.bounds.n_looks} looks do not fit a study with {self.source.n_looks}."
            )

    @property
    def true_effect(self) -> float:
        """The effect of the studies."""
        return self.source.true_effect

    @property
    def alpha(self) -> float:
        """The chance of a false positive over all looks."""
        return self.bounds.rule.alpha

    def with_effect(self, effect: float) -> SequentialStudy:
        """The same with another true effect."""
        return replace(self, source=self.source.with_effect(effect))

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and stop studies `first` to `first + n - 1`."""
        looks = self.source.draw_looks(n, seed=seed, first=first, n_jobs=n_jobs)
        stopped = stop(looks, self.bounds)
        rows = np.arange(n)
        return Replicates(
            estimate=stopped.estimate,
            standard_error=looks.standard_error[rows, stopped.look],
            df=looks.df[rows, stopped.look],
            p_value=np.where(stopped.usable, stagewise_p(stopped, self.bounds), np.nan),
            status=np.where(stopped.usable, 0, 1),
            boundary=np.zeros((n, 0), dtype=np.bool_),
        )


def check_difference(rule: DecisionRule) -> None:
    """Refuse a margin."""
    if rule.margin is not None:
        raise InputError(
            f"Looks are for showing a difference; the alternative '{rule.alternative}' with a margin has no "
            "boundaries here."
        )


MOST_IN_BLOCK = 8192  # replicates


class GrowingStudy:
    """A study of any number of systems that is looked at on its way to a design."""

    design: Design
    looks: Looks

    @property
    def in_a_block(self) -> int:
        """Replicates of a block of work: whole draws."""
        raise NotImplementedError

    @property
    def seconds_each(self) -> float:
        """Of a replicate, about."""
        raise NotImplementedError

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return self.looks.n_looks

    @cached_property
    def nested(self) -> NestedDesigns:
        """The designs at the looks."""
        return nested_designs(self.design, self.looks)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ratings at each look."""
        return tuple(design.n_ratings for design in self.nested.designs)

    @property
    def adds_one_factor(self) -> bool:
        """Whether looks add items alone, or workers alone."""
        return self.looks.kind in ("items", "workers") or self.n_looks == 1


# The rating study looked at as it grows: nested data, refitted at every look.

_FITTED = 256  # studies to ask for at once where each is fitted


@dataclass(frozen=True, eq=False)
class RatingLooks(GrowingStudy):
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
        check_difference(self.rule)
        check_response(self.rule, self.parameters, self.response, self.points)

    @property
    def true_effect(self) -> float:
        """Difference B - A of the model."""
        return self.parameters.difference

    @property
    def shifts(self) -> bool:
        """Whether another effect only moves the estimates."""
        return self.response == "gaussian" and self.parameters.latent is None

    @property
    def by_mean_squares(self) -> bool:
        """Whether mean squares are drawn instead of ratings."""
        complete = all(design.is_crossed and not design.n_documents for design in self.nested.designs)
        linear = self.rule.family == "gaussian" and self.rule.estimator == "reml"
        return complete and self.adds_one_factor and self.shifts and linear

    def with_effect(self, effect: float) -> RatingLooks:
        """The same with a true difference B - A of `effect`."""
        return replace(self, parameters=self.parameters.with_difference(effect))

    def as_numbers(self) -> RatingLooks:
        """The same of ratings as numbers, with the means and variances of those in categories."""
        return replace(self, parameters=replace(self.parameters, latent=None))

    def with_worker_slope(self, sd: float) -> RatingLooks:
        """The same with another SD of workers' own differences B - A."""
        return replace(self, parameters=self.parameters.with_worker_slope(sd))

    @property
    def drawn_together(self) -> int:
        """Replicates that are drawn or fitted at once."""
        return BLOCK if self.by_mean_squares else _FITTED

    @property
    def in_a_block(self) -> int:
        """Several draws of mean squares, or what is fitted at once."""
        return MOST_IN_BLOCK // BLOCK * BLOCK if self.by_mean_squares else _FITTED

    @property
    def seconds_each(self) -> float:
        """Of a study with all its looks, about."""
        work = study_workload(self.design, n_simulations=1, closed_form=self.by_mean_squares)
        return work.seconds * self.n_looks

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> LookReplicates:
        """Simulate studies `first` to `first + n - 1` and fit each at every look."""
        if self.by_mean_squares:
            return look_blocks(self._from_mean_squares, n, seed=seed, first=first, n_jobs=n_jobs)
        final, looks = self._replications[-1], []
        for part in portions(first, n, n_ratings=self.sizes[-1], n_jobs=n_jobs):
            responses = final.responses(len(part), seed=seed, first=part.start)
            looks.append(self.from_responses(responses, n_jobs=n_jobs))
        return LookReplicates.joined(looks)

    def from_responses(self, responses: Floats, *, n_jobs: int = 1) -> LookReplicates:
        """Fit given ratings of the whole study, shape (n, n_ratings) in the order of the final design's
        assignment, at every look."""
        fits, alone = [], []
        for replication, rows in zip(self._replications, self.nested.rows, strict=True):
            there = np.ascontiguousarray(responses[:, rows])
            fits.append(replication.fit(there, n_jobs=n_jobs))
            alone.append(_independent_p(there, replication.design, self.rule))
        return self._decided(fits, alone)

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
        return replace(stacked(tested, np.stack(independent, axis=1)), alternative=self.rule.alternative)

    def _from_mean_squares(self, rng: np.random.Generator, size: int) -> LookReplicates:
        final = self.nested.final
        by_items = self.looks.kind != "workers"
        growing = [d.n_items if by_items else d.n_workers for d in self.nested.designs]
        blocks = [int(count) for count in np.diff(growing, prepend=0)]
        fixed = final.n_workers if by_items else final.n_items
        coded = self.parameters.recoded()
        worker0, worker1, item0, item1, noise, shared = (
            getattr(coded, name) ** 2 for name in (*STANDARD_DEVIATIONS, "sd_worker_item")
        )
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
