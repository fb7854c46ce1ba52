"""The smallest number of workers, items, documents or ratings per item that reaches a target power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, DesignKind, SizeSought, Sought
from humeval_power.costs import CostModel, cost_of, least_of_a_worker
from humeval_power.designs import (
    Design,
    both_nested,
    check_load,
    counterbalanced,
    crossed,
    items_nested,
    k_per_item,
    with_documents,
    workers_nested,
)
from humeval_power.errors import DesignError, InputError
from humeval_power.inference.student_t import critical_values, equivalence_power
from humeval_power.kernels.crossed import balanced_documents
from humeval_power.parameters import FURTHER_DEVIATIONS, STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule, claim
from humeval_power.saying.answer_words import of_hundred, points_words
from humeval_power.saying.numbers import counted
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import check_documents
from humeval_power.studies.power.analytic import (
    Ceiling,
    ceiling_with_items,
    ceiling_with_workers,
    check_target,
    detectable,
    little,
)
from humeval_power.studies.power.estimate import PowerEstimate, Progress, estimate_power, part_of
from humeval_power.studies.power.formula import (
    T_LAW_WORKERS,
    EffectPrecision,
    analytic_power,
    effect_precision,
    power_at,
    smallest_df,
)
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import Ahead, measured_workload
from humeval_power.study_counts import NO_DOCUMENTS, Documents, StudyCounts

if TYPE_CHECKING:
    from humeval_power.studies.power.systems_goals import SystemsPower

# Designs from the counts and words that people give.


def build_design(
    n_workers: int,
    n_items: int,
    ratings_per_item: int | None,
    *,
    paired: bool = True,
    kind: DesignKind | None = None,
    max_ratings_per_worker: int | None = None,
    documents: Documents = NO_DOCUMENTS,
    together: bool = False,
    n_systems: int = 2,
) -> Design:
    """The design of so many workers and items, which may come out of documents.

    Fully crossed without a number of ratings per item, otherwise k of the workers on each item; or, of two
    systems, one of the nested and counterbalanced designs by name.

    Raises DesignError: options that contradict each other, or a design that cannot be built.
    """
    if kind in _WHOLE_DESIGNS:
        if n_systems > 2:
            raise DesignError(
                f"A {kind} design halves workers or items, one half for each of two systems; {n_systems} were "
                "asked for. Take every worker on every item, or a number of ratings per item, paired or unpaired."
            )
        if ratings_per_item is not None or not paired:
            raise DesignError(
                f"A {kind} design says itself who rates what: leave out ratings per item and pairing."
            )
        design = check_load(_WHOLE_DESIGNS[kind](n_workers, n_items), max_ratings_per_worker)
    elif ratings_per_item is None:
        if not paired or kind in ("k-per-item", "split"):
            raise DesignError("This design needs a number of ratings per item: --ratings-per-item.")
        design = check_load(crossed(n_workers, n_items, n_systems=n_systems), max_ratings_per_worker)
    else:
        if kind == "crossed" and ratings_per_item != n_workers:
            raise DesignError(
                f"In a crossed design each item has a rating from every worker, {n_workers}; "
                f"{ratings_per_item} were asked for."
            )
        paired = paired and kind != "split"
        most = n_items * ratings_per_item * (1 if paired else n_systems)
        if n_workers > most:
            raise DesignError(
                f"{counted(n_items, 'item')} with {counted(ratings_per_item, 'rating')} per system: "
                f"that is work for at most {counted(most, 'worker')}; "
                f"{n_workers} were asked for. Ask for fewer workers, or more items or ratings per item."
            )
        design = k_per_item(
            n_workers,
            n_items,
            ratings_per_item=ratings_per_item,
            paired=paired,
            max_ratings_per_worker=max_ratings_per_worker,
            n_systems=n_systems,
        )
    n_documents = documents.of(n_items)
    if not n_documents:
        return design
    return check_load(with_documents(design, n_documents, together=together), max_ratings_per_worker)


_WHOLE_DESIGNS: Mapping[DesignKind | None, Callable[[int, int], Design]] = {
    "workers-nested": workers_nested,
    "items-nested": items_nested,
    "both-nested": both_nested,
    "counterbalanced": counterbalanced,
}


@lru_cache(maxsize=8)
def design_of(
    counts: StudyCounts, *, kind: DesignKind | None = None, max_ratings_per_worker: int | None = None
) -> Design:
    """The assignment of a study of this size; every worker on every item is a crossed design.

    The same size gives the same object: what a formula takes from it is then found once.
    """
    return build_design(
        counts.n_workers,
        counts.n_items,
        None if counts.is_complete or kind in _WHOLE_DESIGNS else counts.ratings_per_item,
        paired=counts.paired,
        kind=kind,
        max_ratings_per_worker=max_ratings_per_worker,
        documents=Documents(counts.n_documents) if counts.n_documents else NO_DOCUMENTS,
        n_systems=counts.n_systems,
    )


# Precision of many regular designs at once: m workers, n items, k ratings per item and system.

Floats = NDArray[np.float64]


class RegularPrecision(NamedTuple):
    """Variance of the estimated difference B - A on [0, 1] and its df, one entry for each design."""

    variance: Floats
    df: Floats


class Dimensions(NamedTuple):
    """Shape of the space of pairs (worker, item): counts of its parts.

    overlap : squared cosine between a worker's and an item's direction that meet.
    """

    meeting: Floats  # planes of one worker and one item direction
    confounded: Floats  # directions that workers and items share
    worker: Floats
    item: Floats
    residual: Floats
    overlap: Floats
    load: Floats  # items per worker
    ratings: Floats  # workers per item


class Variances(NamedTuple):
    """Variances under difference coding; numbers, or arrays that broadcast against the designs'."""

    worker_intercept: ArrayLike
    worker_slope: ArrayLike
    item_intercept: ArrayLike
    item_slope: ArrayLike
    residual: ArrayLike
    worker_item: ArrayLike = 0.0
    document_intercept: ArrayLike = 0.0
    document_slope: ArrayLike = 0.0

    @classmethod
    def of(cls, parameters: Parameters) -> Variances:
        """From parameters under any coding."""
        coded = parameters.recoded()
        return cls(*(getattr(coded, name) ** 2 for name in (*STANDARD_DEVIATIONS, *FURTHER_DEVIATIONS)))


def regular_precision(
    variances: Variances | Parameters,
    *,
    workers: ArrayLike,
    items: ArrayLike,
    ratings_per_item: ArrayLike,
    paired: bool = True,
    documents: ArrayLike = 0,
) -> RegularPrecision:
    """Variance and df for arrays of m, n and k that broadcast against each other.

    documents : how many the items come out of; 0 where they stand alone. With documents the df is exact for
        complete designs; else what the items of a document add is split between the document and the
        noise, and the df is within about a tenth.

    Unpaired: k workers see an item under A and k others under B. The variance is that of the paired
    design; the df, too, is taken from it, although worker and item intercepts blur what such a study
    learns about its slopes: usually 0.9 to 1.5 times the exact df, and up to four times where intercepts
    vary far more than slopes. It serves to rank designs; powers are reported from the exact one.
    """
    v = variances if isinstance(variances, Variances) else Variances.of(variances)
    arrays = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (workers, items, ratings_per_item, documents, *v))
    )
    m, n, k, nested, *parts = arrays
    if nested.any():
        return _nested(m, n, k, nested, Variances(*parts), paired=paired)
    w0, w1, i0, i1, noise, shared, *_ = parts
    share = 0.0 if paired else 2.0 * shared
    variance = w1 / m + i1 / n + (2 * noise + share) / (n * k)
    shape = dimensions(m, n, k)
    of_differences = _information(shape, w1, i1, 2.0 * noise, residual_weight=2.0)
    of_means = _information(shape, w0, i0, 0.5 * noise, residual_weight=0.5)
    information = of_differences.copy()
    information[..., 2, 2] += _schur(of_means)
    weight = np.stack([1 / m, 1 / n, 2 / (n * k)], axis=-1)
    spread = np.einsum("...a,...ab,...b->...", weight, pseudo_inverse(information), weight)
    return RegularPrecision(np.asarray(variance), 2.0 * variance**2 / spread)


def _nested(
    m: Floats, n: Floats, k: Floats, documents: Floats, v: Variances, *, paired: bool
) -> RegularPrecision:
    """Items in documents: each document as an item of which a worker gives several ratings. What its items
    add is the document's as far as workers share them, and noise as far as they do not."""
    each = n / documents
    on_document = np.minimum(m, each * k)  # workers who see anything of it
    pairs = each * k / on_document  # items that one of them sees
    shared = (1 - 1 / k) / (1 - 1 / m)  # none at one rating per item, all where every worker rates it
    intercept, slope = np.asarray(v.item_intercept), np.asarray(v.item_slope)
    as_items = Variances(
        v.worker_intercept,
        v.worker_slope,
        np.asarray(v.document_intercept) + shared * intercept / each,
        np.asarray(v.document_slope) + shared * slope / each,
        (np.asarray(v.residual) + (1 - shared) * k * slope / 2) / pairs,
        np.asarray(v.worker_item) / pairs,
    )
    precision = regular_precision(
        as_items, workers=m, items=documents, ratings_per_item=on_document, paired=paired
    )
    complete = (k == m) & paired
    size = balanced_documents.DocumentsSize(*np.stack([m, documents, each]))
    parts = (
        *(v.worker_intercept, v.worker_slope, v.item_intercept, v.item_slope),
        *(v.document_intercept, v.document_slope, v.residual),
    )
    expected = balanced_documents.expected_mean_squares(size, np.stack(parts))
    exact = balanced_documents.kenward_roger_df(expected, balanced_documents.degrees_of_freedom(size))
    return RegularPrecision(precision.variance, np.where(complete, exact, precision.df))


def dimensions(m: Floats, n: Floats, k: Floats) -> Dimensions:
    """The parts of the space of m workers' and n items' pairs, k of them with each item."""
    smaller = np.minimum(m, n) - 1
    overlap = np.clip((m / k - 1) / smaller, 0.0, 1.0)
    confounded = np.where(overlap > 1 - 1e-9, smaller, 0.0)
    meeting = smaller - confounded
    worker, item = m - 1 - smaller, n - 1 - smaller
    residual = np.maximum(n * k - 1 - 2 * meeting - confounded - worker - item, 0.0)
    return Dimensions(meeting, confounded, worker, item, residual, overlap, n * k / m, k)


def _information(
    shape: Dimensions, worker: Floats, item: Floats, noise: Floats, *, residual_weight: float
) -> Floats:
    """Expected information of (worker variance, item variance, residual variance), shape (..., 3, 3).

    In every part of the space V = noise + load x worker e e' + ratings x item c c'.
    """
    load, ratings, q = shape.load, shape.ratings, shape.overlap
    w = residual_weight
    result = np.zeros((*load.shape, 3, 3))

    def add(count: Floats, variance: Floats, slopes: tuple[ArrayLike, ArrayLike, ArrayLike]) -> None:
        vector = np.stack([np.broadcast_to(slope, load.shape) for slope in slopes], axis=-1)
        outer = vector[..., :, None] * vector[..., None, :]
        result[...] += (0.5 * count / variance**2)[..., None, None] * outer

    add(shape.confounded, noise + load * worker + ratings * item, (load, ratings, w))
    add(shape.worker, noise + load * worker, (load, 0.0, w))
    add(shape.item, noise + ratings * item, (0.0, ratings, w))
    add(shape.residual, noise, (0.0, 0.0, w))
    # planes: e = (1, 0), c = (sqrt q, sqrt(1 - q)); p = V^-1
    a = noise + load * worker + ratings * item * q
    b = ratings * item * np.sqrt(q * (1 - q))
    d = noise + ratings * item * (1 - q)
    det = a * d - b * b
    p11, p12, p22 = d / det, -b / det, a / det
    cos, sin = np.sqrt(q), np.sqrt(1 - q)
    pc1, pc2 = p11 * cos + p12 * sin, p12 * cos + p22 * sin  # p c
    half = 0.5 * shape.meeting
    entries = {
        (0, 0): load**2 * p11**2,
        (0, 1): load * ratings * pc1**2,
        (0, 2): w * load * (p11**2 + p12**2),
        (1, 1): ratings**2 * (cos * pc1 + sin * pc2) ** 2,
        (1, 2): w * ratings * (pc1**2 + pc2**2),
        (2, 2): w**2 * (p11**2 + 2 * p12**2 + p22**2),
    }
    for (row, column), value in entries.items():
        result[..., row, column] += half * value
        if row != column:
            result[..., column, row] += half * value
    return result


def _schur(information: Floats) -> Floats:
    """Information about the residual variance with the other two unknown."""
    inverse = pseudo_inverse(information[..., :2, :2])
    cross = information[..., :2, 2]
    return np.asarray(information[..., 2, 2] - np.einsum("...a,...ab,...b->...", cross, inverse, cross))


def pseudo_inverse(matrix: Floats) -> Floats:
    """Inverse of symmetric matrices (..., q, q); directions in which they are flat are left out."""
    diagonal = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    scale = np.where(diagonal > 0, diagonal, 1.0)
    outer = scale[..., :, None] * scale[..., None, :]
    return np.asarray(np.linalg.pinv(matrix / outer, rcond=1e-9, hermitian=True) / outer)


def powers(
    effect: ArrayLike,
    precision: RegularPrecision,
    *,
    smallest: ArrayLike = np.inf,
    rule: DecisionRule = DEFAULT_RULE,
) -> Floats:
    """Power for a positive effect, or for any under a rule with a margin; arrays that broadcast: the
    vectorised twin of analytic.power_at.

    smallest : min(workers, items) - 1, needed by the rule 'min' alone.
    """
    if rule.df == "normal":
        df: ArrayLike = math.inf
    else:
        df = smallest if rule.df == "min" else precision.df
    critical = critical_values(df, rule.tail)
    error = np.sqrt(precision.variance)
    if rule.alternative == "equivalent":
        return equivalence_power(effect, error, precision.df, margin=rule.margin or 0.0, critical=critical)
    ratio = (np.asarray(effect) + (rule.margin or 0.0)) / error
    below = special.nctdtr(precision.df, ratio, critical)
    certain = np.where(ratio > critical, 0.0, 1.0)  # where the tail is too far out to be computed
    return np.asarray(1.0 - np.where(np.isnan(below), certain, below))


MOST = 100_000  # larger studies are not searched
PRACTICAL = 10_000  # beyond, half as many must do clearly worse
MOST_UNPAIRED = 1000  # their exact precision needs matrices of twice this order
PROOF_SECONDS = 60.0  # of a proof that nobody asked for by a number of simulations
_MOST_RAISES = 25  # of a size whose proof falls short


@dataclass(frozen=True, slots=True)
class RequiredSize:
    """The answer: the smallest size found, or None and the reason why none will do.

    `analytic` is its power by formula, of several systems that of every goal and None where none will do;
    `simulated` the proof, None where none was asked for, or where it would take `proof_seconds` and nobody asked
    for so many simulations.
    """

    sought: Sought
    target: float
    counts: StudyCounts | None
    analytic: float | SystemsPower | None = None
    simulated: PowerEstimate | SystemsPower | None = None
    reason: str = ""
    proof_seconds: float | None = None


def counts_power(
    parameters: Parameters, counts: StudyCounts, *, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """Power of a regular study by formula."""
    return power_at(parameters.difference, counts_precision(parameters, counts), rule=rule).power


def counts_precision(parameters: Parameters, counts: StudyCounts) -> EffectPrecision:
    """Variance and df of a regular study: paired ones without their assignment (see `regular_precision`),
    unpaired ones exactly."""
    check_documents(parameters.recoded(), counts.n_documents)
    if not counts.paired:
        return effect_precision(parameters, design_of(counts))
    precision = regular_precision(
        parameters,
        workers=counts.n_workers,
        items=counts.n_items,
        ratings_per_item=counts.ratings_per_item,
        paired=counts.paired,
        documents=counts.n_documents,
    )
    variance, df = float(precision.variance), float(precision.df)
    return EffectPrecision(variance, df, smallest_df(counts), counts.n_workers)


def required_size(
    parameters: Parameters,
    sought: SizeSought,
    *,
    workers: int | None = None,
    items: int | None = None,
    ratings_per_item: int | None = None,
    paired: bool = True,
    documents: Documents = NO_DOCUMENTS,
    power: float = 0.8,
    rule: DecisionRule = DEFAULT_RULE,
    proves: bool = True,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    ahead: Ahead | None = None,
    progress: Progress | None = None,
    scale: RatingScale | None = None,
) -> RequiredSize:
    """Search one size with the others fixed, by formula, then prove the answer by simulation.

    Where the simulated power stays below the target by more than its Monte Carlo error, the size is
    raised step by step (with few workers the formula is approximate). More than 10,000 are no practical
    answer where half of them do as well, since the target lies so near what no number exceeds.

    documents : that the items come out of; with so many items each, more items are more documents. Documents
        that are sought have so many items each, or share the `items`.
    proves : without it the answer is that of the formula alone.
    n_simulations : studies of each proof. None are 2,000, unless they take more than a minute: then there is no
        proof.
    ahead : is told of the work of one proof before the first, and may refuse it.
    progress : is told how many studies are simulated, and how many there may be.
    scale : in whose points the reason speaks of differences.
    Raises InputError: a size that is missing, an effect of zero, which no study can find, or one beyond the
    margin of the rule, where its claim is wrong.
    """
    check_target(power, rule)
    check_effect(parameters.difference, rule)
    _check_ratings_per_item(sought, workers, ratings_per_item, paired)
    make, lowest, highest = _search_space(sought, workers, items, ratings_per_item, paired, documents)

    def reaches(value: int) -> bool:
        return counts_power(parameters, make(value), rule=rule) >= power

    smallest = smallest_true(reaches, lowest, highest)
    at = make(highest if smallest is None else smallest)
    by_document = documents.items_each is not None
    limit = _limit(parameters, sought, at, power, rule, by_document=by_document)
    half = None
    if smallest is not None and smallest > PRACTICAL and limit is not None and not limit.is_clear:
        smaller = make(max(smallest // 2, lowest))
        does_as_well = counts_power(parameters, smaller, rule=rule) >= power - little(power)
        half = smaller if does_as_well else None
    if smallest is None or half is not None:
        why = _why(
            sought, at, limit, parameters, power, rule, by_document=by_document, half=half, scale=scale
        )
        most = counts_power(parameters, make(highest), rule=rule)
        return RequiredSize(sought, power, None, most, None, why)
    study = RatingStudy(parameters, design_of(at), rule=rule)
    by_formula = analytic_power(parameters, study.design, rule=rule).power
    if not proves:
        return RequiredSize(sought, power, at, by_formula, None)
    n_studies = n_simulations or DEFAULT_SIMULATIONS
    work = measured_workload([study], n_simulations=n_studies, n_jobs=n_jobs)
    if n_simulations is None and work.seconds > PROOF_SECONDS:
        return RequiredSize(sought, power, at, by_formula, None, proof_seconds=work.seconds)
    if ahead is not None:
        ahead(work)
    beyond = max(5, smallest // 4)
    values = range(smallest, min(smallest + beyond, highest) + 1, -(-beyond // _MOST_RAISES))
    for proof, value in enumerate(values):
        counts = make(value)
        if value > smallest:
            study = RatingStudy(parameters, design_of(counts), rule=rule)
        simulated = estimate_power(
            study,
            n_simulations=n_studies,
            seed=seed,
            n_jobs=n_jobs,
            progress=part_of(progress, proof, proof + 1),
        )
        if not (simulated.too_many_failed or simulated.interval[1] < power):
            break
    if simulated.too_many_failed:
        why = (
            f"{100 * simulated.failure_rate:.0f} % of the studies simulated with {value:,} {sought} could not be "
            "fitted, so that no power is known. Plan more ratings of each worker and item."
        )
        return RequiredSize(sought, power, None, counts_power(parameters, counts, rule=rule), None, why)
    return RequiredSize(
        sought, power, counts, analytic_power(parameters, study.design, rule=rule).power, simulated
    )


def check_effect(effect: float, rule: DecisionRule) -> None:
    """Refuse a true effect that no size of study could find, or that makes the rule's claim wrong."""
    if rule.margin is None:
        if effect <= 0:
            raise InputError(f"Give the effect of interest: a positive difference B - A; got {effect:g}.")
    elif not rule.can_show(effect):
        inside = f"above {-rule.margin:g}"
        if rule.alternative == "equivalent":
            inside = f"between {-rule.margin:g} and {rule.margin:g}"
        raise InputError(
            f"Where the true difference is {effect:g} the systems are not {rule.alternative} within "
            f"{rule.margin:g}, and a larger study says so more surely: give an --effect {inside}."
        )


def _search_space(
    sought: SizeSought,
    workers: int | None,
    items: int | None,
    k: int | None,
    paired: bool,
    documents: Documents,
) -> tuple[Callable[[int], StudyCounts], int, int]:
    needed = 1 if paired else 2
    if sought == "documents":
        return _documents_space(_given("workers", workers), items, k, paired, documents)

    def counts(m: int, n: int, ratings: int) -> StudyCounts:
        return StudyCounts(m, n, ratings, paired, n_documents=documents.of(n))

    if sought == "workers":
        n = _given("items", items)
        most = MOST if k is None else min(MOST if paired else MOST_UNPAIRED, n * needed * k)
        return lambda m: counts(m, n, k or m), max(2, needed * (k or 1)), most
    if sought == "items":
        m = _given("workers", workers)
        least = documents.number or (documents.items_each or 1) + 1  # items of two documents
        if least > MOST:
            name = "documents" if documents.number else "items_per_document"
            raise InputError(
                f"{name} must leave at most {MOST:,} items to look for; got {least:,} at least."
            )
        if k is not None:
            least = max(least, -(-m // (needed * k)))  # work for all of them
        return lambda n: counts(m, n, k or m), least, MOST
    m, n = _given("workers", workers), _given("items", items)
    return lambda value: counts(m, n, value), 1, m // needed


def _documents_space(
    m: int, items: int | None, k: int | None, paired: bool, documents: Documents
) -> tuple[Callable[[int], StudyCounts], int, int]:
    """Documents of so many items each, or that share so many items."""
    if documents.number is not None or (documents.items_each is None) == (items is None):
        raise InputError(
            "The number of documents is what is sought: give the items of each document, or the items that "
            "all of them share."
        )
    each = documents.items_each
    if each is None:
        n = _given("items", items)
        return lambda d: StudyCounts(m, n, k or m, paired, n_documents=d), 2, n
    return lambda d: StudyCounts(m, d * each, k or m, paired, n_documents=d), 2, max(2, MOST // each)


def _check_ratings_per_item(sought: SizeSought, workers: int | None, k: int | None, paired: bool) -> None:
    if sought == "ratings-per-item":
        return
    if k is None and not paired:
        raise InputError("An unpaired design needs a number of ratings per item: --ratings-per-item.")
    if k is not None and k < 1:
        raise InputError(f"The number of ratings per item must be at least 1; got {k}.")
    needed = (k or 0) * (1 if paired else 2)
    if k is not None and sought == "items" and workers is not None and workers >= 2 and needed > workers:
        raise InputError(
            f"{k} ratings per item and system need {needed} different workers; there are {workers}."
        )


def _given(name: str, value: int | None) -> int:
    if value is None:
        raise InputError(f"Give the number of {name}: it is not what is sought.")
    if value < 2:
        raise InputError(f"The number of {name} must be at least 2; got {value}.")
    return value


def _limit(
    parameters: Parameters,
    sought: SizeSought,
    best: StudyCounts,
    power: float,
    rule: DecisionRule,
    *,
    by_document: bool,
) -> Ceiling | None:
    if by_document and sought in ("items", "documents"):
        return ceiling_with_items(parameters, n_workers=best.n_workers, target=power, rule=rule)
    if sought == "items":
        return ceiling_with_items(
            parameters,
            n_workers=best.n_workers,
            n_documents=best.n_documents,
            target=power,
            rule=rule,
        )
    if sought == "workers":
        return ceiling_with_workers(
            parameters,
            n_items=best.n_items,
            ratings_per_item=_limit_ratings(best),
            n_documents=best.n_documents,
            target=power,
            rule=rule,
        )
    return None


def _limit_ratings(counts: StudyCounts) -> int | None:
    """Ratings per item that stay fixed as workers are added; None where all of them rate every item."""
    return None if counts.is_complete else counts.ratings_per_item


def _why(
    sought: SizeSought,
    best: StudyCounts,
    limit: Ceiling | None,
    parameters: Parameters,
    power: float,
    rule: DecisionRule,
    *,
    by_document: bool,
    half: StudyCounts | None,
    scale: RatingScale | None,
) -> str:
    """Why no size will do, or none that is practical: what no number exceeds, and what would do.

    half : half of the size that is too large to be practical, None where none was found.
    """
    effect = parameters.difference
    found = f"find a difference of {points_words(effect, scale)}"
    thing, verb = "difference", "find"
    if rule.margin is not None:
        found, thing, verb = f"show {claim(rule)}", "margin", "show"
    if limit is None:
        smallest = detectable(counts_precision(parameters, best), effect=effect, power=power, rule=rule)
        reached = counts_power(parameters, best, rule=rule)
        most = f"all {best.n_workers} workers on every item"
        if sought == "documents":
            most = f"every one of the {best.n_items} items from a document of its own"
        return (
            f"Even with {most} {of_hundred(reached)} of 100 such studies {found}; "
            f"the smallest {thing} that {of_hundred(power)} {verb} is {points_words(smallest, scale, digits=3)}. "
            "More workers or items are needed."
        )
    fixed, other = (
        (f"{best.n_items} items", "items")
        if sought == "workers"
        else (f"{best.n_workers} workers", "workers")
    )
    if best.n_documents and not by_document:
        joined = "of" if sought == "workers" else "and"
        fixed, other = f"{fixed} {joined} {best.n_documents} documents", "documents"
    rough = " The formula is rough with so few workers." if best.n_workers < T_LAW_WORKERS else ""
    clearly = _enough(parameters, sought, other, best, power, rule, clearly=True)
    would_do = f" {clearly:,} {other} would do." if clearly else ""
    if limit.reachable:
        needed = f"more than {MOST:,}"
        if half is not None:
            of_half = counts_power(parameters, half, rule=rule)
            needed = f"{_number(sought, best):,}, half of which have {of_half:.4f}"
        return (
            f"No practical number of {sought} will do: with {fixed} the share of such studies that {found} cannot "
            f"pass {limit.power:.4f}, and {power:g} takes {needed}.{would_do}{rough}"
        )
    least_found = points_words(limit.detectable_effect, scale, digits=3)
    text = (
        f"No number of {sought} will do: with {fixed} {of_hundred(limit.power)} of 100 such studies {found} at "
        f"best, and the smallest {thing} that {of_hundred(power)} {verb} is {least_found}."
    )
    enough = _enough(parameters, sought, other, best, power, rule)
    if not enough:
        return text + would_do + rough
    in_practice = f"; in practice {clearly:,} would do" if clearly and clearly != enough else ""
    return f"{text} At least {enough:,} {other} are needed{in_practice}.{rough}"


def _number(sought: SizeSought, counts: StudyCounts) -> int:
    """What was sought, of these counts."""
    if sought == "documents":
        return counts.n_documents
    return counts.n_workers if sought == "workers" else counts.n_items


def _enough(
    parameters: Parameters,
    sought: SizeSought,
    other: str,
    best: StudyCounts,
    power: float,
    rule: DecisionRule,
    *,
    clearly: bool = False,
) -> int | None:
    """The number of the other factor from which the sought one can do it, or `clearly`: in practice."""

    def does(limit: Ceiling) -> bool:
        return limit.is_clear if clearly else limit.reachable

    def reaches(value: int) -> bool:
        if other == "documents":
            wider = replace(best, n_items=max(best.n_items, value), n_documents=value)
            limit = _limit(parameters, sought, wider, power, rule, by_document=False)
            return limit is not None and does(limit)
        if other == "workers":
            return does(ceiling_with_items(parameters, n_workers=value, target=power, rule=rule))
        return does(
            ceiling_with_workers(
                parameters,
                n_items=value,
                ratings_per_item=_limit_ratings(best),
                target=power,
                rule=rule,
            )
        )

    return smallest_true(reaches, 2, MOST)


# The cheapest study that reaches a target: of every number of workers the fewest items, the cheapest of these.

_FIRST = 8  # numbers of workers that are looked at, over all of them
_NEARER = 4  # and then on each side of the best


def cheapest_size(
    size_of: Callable[[int], RequiredSize], costs: CostModel, *, least: int, most: int
) -> RequiredSize:
    """The cheapest of the studies `size_of(workers)`, each with the fewest items that reach the target.

    Costs fall and then rise with the number of workers, but for steps of an item, so that the cheapest is found to
    within such a step. Of equals it has the fewest workers; where none reaches the target it is that of the most.
    One whose workers give fewer ratings than is practical at these costs counts only where all do.

    Raises InputError: no number of workers that an item can have.
    """
    if most < least:
        raise InputError(f"An item needs {least} workers: max_workers must be at least that; got {most}.")
    known: dict[int, RequiredSize] = {}

    def rank(workers: int) -> tuple[bool, float, int]:
        if workers not in known:
            known[workers] = size_of(workers)
        counts = known[workers].counts
        if counts is None:
            return True, math.inf, workers
        is_thin = counts.ratings_of_a_worker < least_of_a_worker(costs)
        return is_thin, cost_of(counts, costs).cents, workers

    looked_at = sorted(set(np.geomspace(least, most, _FIRST).round().astype(int).tolist()))
    while not known.keys() >= set(looked_at):
        best = min(looked_at, key=rank)
        if known[best].counts is None:
            return known[most]
        place = looked_at.index(best)
        below, above = looked_at[max(place - 1, 0)], looked_at[min(place + 1, len(looked_at) - 1)]
        grid = np.append(np.linspace(below, best, _NEARER), np.linspace(best, above, _NEARER))
        looked_at = sorted(set(grid.round().astype(int).tolist()))
    return known[min(looked_at, key=rank)]
