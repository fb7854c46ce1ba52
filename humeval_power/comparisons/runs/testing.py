"""Systems compared by repeated runs: one pair, or all pairs with a correction.

Scores of systems on items in several runs: generations, prompts or seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import bare
from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.clustered import ClusteredMean, clustered_mean
from humeval_power.inference.corrections import correct
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.ratings import Ratings
from humeval_power.rules import Alternative, DecisionRule
from humeval_power.runs_parameters import GENERATIONS, PROMPTS, RunsFamily, RunsKind, RunsParameters
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.many_systems import fit_and_test
from humeval_power.studies.fit.wald import EffectTest, finished_test, without_test

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """One score for each item, system and run that there is; all arrays have the shape (n_scores,).

    `item`, `system` and `run` are codes into the names. `run_column` is what the table calls the runs, `numbered`
    whether their labels are numbers. `clusters` are those of the items, None where nobody named any;
    `suspects` are columns that look like such.
    """

    item: Codes
    system: Codes
    run: Codes
    score: Floats
    item_names: tuple[str, ...]
    system_names: tuple[str, ...]
    run_names: tuple[str, ...]
    run_column: str = "run"
    metric: str = "score"
    clusters: Clusters | None = None
    suspects: tuple[ClusterSuspect, ...] = ()
    source: str = ""
    sha256: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite(self.score).all():
            raise InputError("Every score of a run must be a finite number.")
        if self.n_systems < 2 or self.n_items < 2:
            raise InputError(
                f"At least 2 systems and 2 items are needed; got {self.n_systems} and {self.n_items:,}."
            )
        if self.clusters is not None and self.clusters.n_items != self.n_items:
            raise InputError(
                f"There are {self.n_items:,} items, and clusters of {self.clusters.n_items:,} items."
            )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_names)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.system_names)

    @property
    def n_labels(self) -> int:
        """Number of different labels of runs."""
        return len(self.run_names)

    @property
    def numbered(self) -> bool:
        """Whether all labels of runs are whole numbers."""
        return all(name.lstrip("+-").isdecimal() for name in self.run_names)

    @property
    def counts(self) -> Codes:
        """Scores of each item under each system, shape (n_items, n_systems)."""
        cells = self.item * self.n_systems + self.system
        return np.bincount(cells, minlength=self.n_items * self.n_systems).reshape(-1, self.n_systems)

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(np.isin(self.score, (0.0, 1.0)).all())

    def cell_sums(self, values: Floats) -> Floats:
        """Sums of values (n_scores,) for each item and system, shape (n_items, n_systems)."""
        cells = self.item * self.n_systems + self.system
        sums = np.bincount(cells, weights=values, minlength=self.n_items * self.n_systems)
        return np.asarray(sums.reshape(-1, self.n_systems), dtype=np.float64)

    def pair(self, first: str, second: str) -> RunTable:
        """The scores of two systems, the first of which becomes A (code 0); labels of runs keep their codes."""
        unknown = [name for name in (first, second) if name not in self.system_names]
        if unknown or first == second:
            known = ", ".join(self.system_names)
            raise InputError(f"Two different systems are compared; there are {known}.")
        codes = [self.system_names.index(name) for name in (first, second)]
        kept = np.isin(self.system, codes)
        return replace(
            self,
            item=self.item[kept],
            system=np.where(self.system[kept] == codes[1], 1, 0).astype(np.int64),
            run=self.run[kept],
            score=self.score[kept],
            system_names=(first, second),
        )


# Are runs nested in items (generations), or the same for all items (prompts, seeds)? What a table says of
# it.

Layout = Literal["own labels", "shared labels", "shared numbers"]

STRONG_EVIDENCE = 0.001  # of a p-value that contradicts how the runs are read
_SHARED = 0.9  # of items with all labels, from which labels count as the same for all


@dataclass(frozen=True, slots=True)
class RunsReading:
    """What a table's runs look like.

    `kind` is None where the table does not say. `layout`: each item has labels of its own, all have the same
    words, or the same numbers. `named` is the kind that the column's name speaks for. `p_level` tests whether
    runs of one label differ from others over all items, `p_slope` whether they favour a system: small values mean
    that a label stands for something shared. NaN where it cannot be tested.
    """

    kind: RunsKind | None
    layout: Layout
    named: RunsKind | None
    column: str
    n_labels: int
    n_items: int
    n_complete: int
    runs: tuple[int, int]
    p_level: float
    p_slope: float

    @property
    def looks_shared(self) -> bool:
        """Whether the scores themselves say that runs of one label share something."""
        p_values = [p for p in (self.p_level, self.p_slope) if not math.isnan(p)]
        return bool(p_values) and min(p_values) * len(p_values) <= STRONG_EVIDENCE


def read_kind(table: RunTable) -> RunsReading:
    """What the labels, the column's name and the scores of a table say of its runs."""
    cells = (table.item * table.n_systems + table.system) * table.n_labels + table.run
    different = np.unique(cells)
    of_item = np.bincount(different // (table.n_systems * table.n_labels), minlength=table.n_items)
    complete = np.flatnonzero(of_item == table.n_systems * table.n_labels)
    named = named_kind(table.run_column)
    layout: Layout = "own labels"
    if len(complete) >= _SHARED * table.n_items:
        layout = "shared numbers" if table.numbered else "shared labels"
    kind: RunsKind | None
    if layout == "own labels":
        kind = None if named == "crossed" else "nested"
    elif named is not None:
        kind = named
    else:
        kind = "crossed" if layout == "shared labels" else None
    counts = table.counts[table.counts > 0]
    level, slope = _shared_effects(table, complete)
    return RunsReading(
        kind=kind,
        layout=layout,
        named=named,
        column=table.run_column,
        n_labels=table.n_labels,
        n_items=table.n_items,
        n_complete=len(complete),
        runs=(int(counts.min()), int(counts.max())),
        p_level=level,
        p_slope=slope,
    )


def named_kind(column: str) -> RunsKind | None:
    """The kind that a column's name speaks for; None for 'run' and other names that say nothing."""
    word = bare(column)
    for stem in (word, word.removesuffix("id"), word.removesuffix("name"), word.removesuffix("s")):
        if stem in PROMPTS:
            return "crossed"
        if stem in GENERATIONS:
            return "nested"
    return None


def _shared_effects(table: RunTable, complete: np.ndarray) -> tuple[float, float]:
    """p-values of runs' levels and of runs' differences between systems, by analysis of variance of the items
    that are complete; the latter is the smallest over the systems' contrasts with the first, times their number."""
    n, k, m = len(complete), table.n_systems, table.n_labels
    if n < 2 or m < 2:
        return math.nan, math.nan
    cube = np.full((table.n_items, k, m), np.nan)
    cube[table.item, table.system, table.run] = table.score
    values = cube[complete]
    slopes = [_runs_differ(values[:, place] - values[:, 0]) for place in range(1, k)]
    known = [p for p in slopes if not math.isnan(p)]
    slope = min(1.0, len(known) * min(known)) if known else math.nan
    return _runs_differ(values.mean(axis=1)), slope


def _runs_differ(values: Floats) -> float:
    """p-value of columns in a two-way table (items, runs) without replicates; NaN where nothing varies."""
    from scipy import special

    n, m = values.shape
    rows, columns, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = float(np.sum((values - rows[:, None] - columns[None, :] + mean) ** 2)) / ((n - 1) * (m - 1))
    between = n * float(np.sum((columns - mean) ** 2)) / (m - 1)
    if rest <= 1e-12 * max(between, 1e-300):
        return math.nan if between <= 0 else 0.0
    return float(special.fdtrc(m - 1, (n - 1) * (m - 1), between / rest))


# What a test of two systems by repeated runs finds: the difference, its test, and where its error comes
# from.

FACTORS = (1.0, 2.0, 4.0, math.inf)  # times as many runs


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsRule:
    """How two systems are compared: the kind of runs, what scores are taken for, and the test.

    `margin` is a difference of scores, in their unit.
    """

    kind: RunsKind
    family: RunsFamily = "gaussian"
    alternative: Alternative = "two-sided"
    margin: float | None = None
    alpha: float = 0.05

    def on(self, scale: RatingScale) -> DecisionRule:
        """The rule for scores that are moved to [0, 1]."""
        margin = None if self.margin is None else self.margin / scale.width
        if margin is not None and not 0 < margin <= 1:
            raise InputError(
                f"A margin is a difference of scores, above 0 and at most {scale.width:g} here; got "
                f"{self.margin:g}."
            )
        crossed_binary = self.kind == "crossed" and self.family == "binary"
        return DecisionRule(
            alternative=self.alternative,
            margin=margin,
            alpha=self.alpha,
            family="binary" if crossed_binary else "gaussian",
            link="logit" if crossed_binary else "probit",
        )


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """A source of the variance of the estimated difference; `falls` where more runs make it smaller."""

    source: str
    variance: float
    falls: bool


@dataclass(frozen=True, slots=True)
class MoreRuns:
    """The standard error with `factor` times as many runs of the same items; runs of each system."""

    factor: float
    runs: tuple[float, float]
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsComparison:
    """Two systems compared by repeated runs; the effect is B - A, everything in the unit of the scores.

    `runs` are the mean numbers of runs of an item by A and B. `parts` of the error's variance add up; of crossed
    right-or-wrong answers they and `parameters` are on the scale of log odds. `items` is the mean of the items'
    differences: the test itself of nested runs; of crossed ones what holds for these very prompts alone.
    `parameters` is None where scores vary too little to say. `at_zero` names variances that were estimated as zero.
    """

    systems: tuple[str, str]
    rule: RunsRule
    means: tuple[float, float]
    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    significant: bool
    reason: str
    n_items: int
    n_scores: int
    runs: tuple[float, float]
    n_labels: int
    items: ClusteredMean
    clustered: bool
    parts: tuple[ErrorPart, ...]
    parameters: RunsParameters | None
    at_zero: tuple[str, ...] = ()
    odds_ratio: tuple[float, float, float] | None = None
    remarks: tuple[str, ...] = ()

    @property
    def removable(self) -> float:
        """Share of the error's variance that more runs remove; NaN where it is not known."""
        total = sum(part.variance for part in self.parts)
        return sum(part.variance for part in self.parts if part.falls) / total if total > 0 else math.nan

    @property
    def more_runs(self) -> tuple[MoreRuns, ...]:
        """The standard error with more runs of each item: of the test where nothing is added."""
        share = self.removable
        if math.isnan(share) or not self.standard_error > 0:
            return ()
        return tuple(
            MoreRuns(
                factor,
                (factor * self.runs[0], factor * self.runs[1]),
                self.standard_error * math.sqrt(1 - share + share / factor),
            )
            for factor in FACTORS
        )


def scale_of(table: RunTable) -> RatingScale:
    """The scale of the scores: [0, 1] where they lie on it, else from the lowest to the highest."""
    low, high = float(table.score.min()), float(table.score.max())
    if low >= 0 and high <= 1 and low < high:
        return RatingScale(0.0, 1.0)
    if not low < high:
        raise InputError(f"All scores are {low:g}: nothing varies, and nothing can be compared.")
    return RatingScale(low, high)


def _comparison(
    table: RunTable,
    rule: RunsRule,
    means: np.ndarray,
    test: EffectTest,
    scale: RatingScale,
    **further: Any,
) -> RunsComparison:
    """The comparison by a test on [0, 1], in the unit of the scores; `further` are the fields that hang on the kind
    of runs."""
    low, high = (scale.width * end for end in test.interval)
    fields: dict[str, Any] = {
        "systems": (table.system_names[0], table.system_names[1]),
        "rule": rule,
        "means": (float(means[:, 0].mean()), float(means[:, 1].mean())),
        "estimate": scale.width * test.estimate,
        "standard_error": scale.width * test.standard_error,
        "df": test.df,
        "p_value": test.p_value,
        "interval": (low, high),
        "significant": test.significant,
        "reason": test.reason,
        "n_items": table.n_items,
        "n_scores": len(table.score),
        "runs": (float(table.counts[:, 0].mean()), float(table.counts[:, 1].mean())),
        "clustered": table.clusters is not None,
        **further,
    }
    return RunsComparison(**fields)


def cell_means(table: RunTable) -> np.ndarray:
    """Means over the runs of each item under each system, shape (n_items, n_systems)."""
    return np.asarray(table.cell_sums(table.score) / table.counts)


# Two systems under the same prompts or seeds for all items: prompts are a sample as items are.


def compare_crossed(table: RunTable, rule: RunsRule) -> RunsComparison:
    """Compare two systems over prompts and items that are both samples.

    table : of two systems, at least two prompts.
    """
    if len(np.unique(table.run)) < 2:
        raise InputError(
            f"There is a single run ({table.run_column}): from one prompt or seed nothing can be said about "
            "others. Compare the systems under it by 'compare scores'."
        )
    scale, means = scale_of(table), cell_means(table)
    rule_in_units = rule.on(scale)
    fitted = None
    try:
        fitted, tested = fit_and_test(as_ratings(table, scale), rule_in_units)
    except FitError as error:
        difference = float((means[:, 1] - means[:, 0]).mean()) / scale.width
        tested = without_test(difference, math.nan, math.nan, rule_in_units, reason=str(error).rstrip("."))
    result = None if fitted is None else fitted.parameters
    latent = None if not isinstance(fitted, LatentFit) else fitted.latent
    return _comparison(
        table,
        rule,
        means,
        tested,
        scale,
        n_labels=len(np.unique(table.run)),
        items=clustered_mean(means[:, 1] - means[:, 0], table.clusters),
        parts=() if result is None else _parts(table, result, tested, scale.width),
        parameters=None if result is None else _parameters(result, rule, means, scale, tested),
        at_zero=() if fitted is None else tuple(_NAMES.get(name, name) for name in fitted.boundary),
        odds_ratio=None if latent is None else _odds_ratio(tested),
        remarks=() if fitted is None else _notes(fitted.not_identified),
    )


def as_ratings(table: RunTable, scale: RatingScale) -> Ratings:
    """The scores as ratings on [0, 1], each run a worker, clusters of items documents."""
    labels, run = np.unique(table.run, return_inverse=True)
    clusters = table.clusters
    return Ratings(
        worker=run.astype(np.int64),
        item=table.item,
        system=table.system,
        rating=scale.to_unit(table.score),
        worker_names=tuple(table.run_names[code] for code in labels),
        item_names=table.item_names,
        system_names=table.system_names,
        scale=scale,
        source=table.source or "table",
        document=None if clusters is None else clusters.codes[table.item],
        document_names=() if clusters is None else clusters.labels,
    )


_NAMES = {
    "sd_worker_slope": "sd_prompt_slope",
    "sd_worker_intercept": "sd_prompt_level",
    "sd_item_slope": "sd_item",
    "sd_item_intercept": "sd_item_level",
    "sd_document_slope": "sd_cluster_slope",
    "sd_document_intercept": "sd_cluster_level",
}


def _notes(not_identified: tuple[str, ...]) -> tuple[str, ...]:
    if not not_identified:
        return ()
    names = ", ".join(_NAMES.get(name, name) for name in not_identified)
    return (f"This table cannot tell apart: {names}.",)


def _parts(
    table: RunTable, parameters: Parameters, test: EffectTest, width: float
) -> tuple[ErrorPart, ...]:
    """The variance of the difference in a complete table of this size; of answers that are right or wrong what
    items and prompts leave of the test's own, on the scale of log odds."""
    latent: Parameters | Latent = parameters if parameters.latent is None else parameters.latent
    unit = width if parameters.latent is None else 1.0
    n, m, clusters = table.n_items, len(np.unique(table.run)), table.clusters
    parts = [
        ErrorPart(f"system x {table.run_column}", latent.sd_worker_slope**2 / m, True),
        ErrorPart("items", latent.sd_item_slope**2 / n, False),
    ]
    if clusters is not None:
        share = float(np.sum((clusters.sizes / n) ** 2))
        parts.append(ErrorPart(f"clusters ({clusters.name})", latent.sd_document_slope**2 * share, False))
    known = sum(part.variance for part in parts)
    if test.latent is not None:
        rest = max(test.latent.standard_error**2 - known, 0.0)
    else:
        rest = 4 * parameters.sd_residual**2 / len(table.score)
    parts.append(ErrorPart("single scores", rest, True))
    return tuple(ErrorPart(part.source, part.variance * unit**2, part.falls) for part in parts)


def _parameters(
    parameters: Parameters, rule: RunsRule, means: np.ndarray, scale: RatingScale, test: EffectTest
) -> RunsParameters | None:
    baseline = float(means.mean())
    latent: Parameters | Latent = parameters if parameters.latent is None else parameters.latent
    if rule.family == "binary" and not 0 < baseline < 1:
        return None
    unit = scale.width if parameters.latent is None else 1.0
    items = latent.sd_item_slope**2 + latent.sd_document_slope**2
    level = math.hypot(latent.sd_item_intercept, latent.sd_document_intercept)
    return RunsParameters(
        kind="crossed",
        family=rule.family,
        sd_item=unit * math.sqrt(items),
        icc=latent.sd_document_slope**2 / items if items > 0 else 0.0,
        sd_prompt_slope=unit * latent.sd_worker_slope,
        sd_residual=0.0 if parameters.latent is not None else unit * parameters.sd_residual,
        sd_item_level=unit * level,
        sd_prompt_level=unit * latent.sd_worker_intercept,
        baseline=baseline,
        effect=scale.width * test.estimate,
    )


def _odds_ratio(test: EffectTest) -> tuple[float, float, float] | None:
    """How many times the odds of a right answer B has, with its interval, for one item and prompt."""
    if test.latent is None:
        return None
    return (
        math.exp(test.latent.estimate),
        math.exp(test.latent.interval[0]),
        math.exp(test.latent.interval[1]),
    )


# Two systems whose answers are generated anew for each item: items are the sample, generations noise
# about them.


@dataclass(frozen=True, slots=True)
class NestedVariances:
    """Variances of nested runs: of items' true differences, between clusters of them (part of it), and of single
    generations of A and B; `noise` is what the generations add to an item's observed difference, by system.
    `unknown` marks systems with a single generation of each item."""

    items: float
    between: float
    runs: tuple[float, float]
    noise: tuple[float, float]
    unknown: tuple[bool, bool]
    at_zero: bool


def compare_nested(table: RunTable, rule: RunsRule) -> RunsComparison:
    """Compare two systems by the mean of the items' differences, their runs being averaged first.

    table : of two systems, every item with one run of each at least.

    Averaging is right here: the runs of an item have nothing in common with those of another, so that the items'
    differences are independent but for their clusters. The error is CR2's with Bell and McCaffrey's df; without
    clusters that is the paired t test.
    """
    scale, means = scale_of(table), cell_means(table)
    items = clustered_mean(means[:, 1] - means[:, 0], table.clusters)
    in_unit = items.estimate / scale.width, items.standard_error / scale.width
    tested = finished_test(*in_unit, items.df, rule.on(scale))
    variances = nested_variances(table)
    n, clusters = table.n_items, table.clusters
    size = 1.0 if clusters is None else float(np.sum(clusters.sizes.astype(np.float64) ** 2)) / n
    parts = [ErrorPart("items", (variances.items - variances.between) / n, falls=False)]
    if clusters is not None:
        parts.append(ErrorPart(f"clusters ({clusters.name})", variances.between * size / n, falls=False))
    parts += [
        ErrorPart(f"runs of {name}", noise / n, falls=True)
        for name, noise in zip(table.system_names, variances.noise, strict=True)
    ]
    return _comparison(
        table,
        rule,
        means,
        tested,
        scale,
        n_labels=table.n_labels,
        items=items,
        parts=tuple(parts),
        parameters=_parameters_of_nested(variances, rule, means),
        at_zero=("sd_item",) if variances.at_zero else (),
        remarks=tuple(
            f"{name!r} has one run of each item: what its runs vary by cannot be told from the items."
            for name, unknown in zip(table.system_names, variances.unknown, strict=True)
            if unknown
        ),
    )


def nested_variances(table: RunTable) -> NestedVariances:
    """Variances by the method of moments: analysis of variance within cells, and of the items' differences."""
    counts, means = table.counts.astype(np.float64), cell_means(table)
    centered = table.score - means[table.item, table.system]
    squares = table.cell_sums(centered**2).sum(axis=0)
    df = (counts - 1).sum(axis=0)
    within = np.divide(squares, df, out=np.zeros(2), where=df > 0)
    noise = within * (1 / counts).mean(axis=0)
    total, between = _spread(means[:, 1] - means[:, 0], table.clusters)
    floor = 1e-12 * max(total, 1e-300)
    alone = (
        total - between - float(noise.sum())
    )  # of an item's own, beside its cluster: may come out below zero
    items = between + max(alone, 0.0)
    return NestedVariances(
        items=items if items > floor else 0.0,
        between=between,
        runs=(float(within[0]), float(within[1])),
        noise=(float(noise[0]), float(noise[1])),
        unknown=(not df[0] > 0, not df[1] > 0),
        at_zero=items <= floor,
    )


def _spread(differences: Floats, clusters: Clusters | None) -> tuple[float, float]:
    """Variance of an item's difference, and how much of it lies between clusters (at least 0)."""
    total = float(differences.var(ddof=1))
    if clusters is None or clusters.one_each:
        return total, 0.0
    n, g, sizes = clusters.n_items, clusters.n_clusters, clusters.sizes.astype(np.float64)
    means = clusters.sums(differences) / sizes
    among = float(sizes @ (means - differences.mean()) ** 2) / (g - 1)
    within = float(np.sum((differences - means[clusters.codes]) ** 2)) / (n - g)
    between = (among - within) * (g - 1) / (n - float(sizes @ sizes) / n)
    return (within + between, between) if between > 0 else (total, 0.0)


def _parameters_of_nested(
    variances: NestedVariances, rule: RunsRule, means: Floats
) -> RunsParameters | None:
    baseline = float(means.mean())
    if rule.family == "binary" and not 0 < baseline < 1:
        return None
    return RunsParameters(
        kind="nested",
        family=rule.family,
        sd_item=variances.items**0.5,
        icc=variances.between / variances.items if variances.items > 0 else 0.0,
        sd_run_a=variances.runs[0] ** 0.5,
        sd_run_b=variances.runs[1] ** 0.5,
        baseline=baseline,
        effect=float((means[:, 1] - means[:, 0]).mean()),
    )


@dataclass(frozen=True, slots=True)
class RunsComparisons:
    """Every pair of systems, in the order of the systems; `p_adjusted` are Holm's (1979), `significant` what
    they decide. Of a single pair they are those of its test."""

    pairs: tuple[RunsComparison, ...]
    p_adjusted: tuple[float, ...]

    @property
    def significant(self) -> tuple[bool, ...]:
        """Which claims are shown after the correction."""
        return tuple(
            bool(p <= pair.rule.alpha) for p, pair in zip(self.p_adjusted, self.pairs, strict=True)
        )


def compare_pair(table: RunTable, rule: RunsRule) -> RunsComparison:
    """Compare the two systems of a table as its kind of runs asks."""
    if rule.family == "binary" and not table.is_binary:
        raise InputError("The family 'binary' is for scores of 0 and 1: take --family gaussian.")
    if rule.kind == "nested" and table.counts.max() < 2:
        raise InputError(
            "Each item has one run of each system, so that nothing repeats: compare them by 'compare scores' or, "
            "if all items have the same prompts, say --crossed and name the column with --run."
        )
    return compare_nested(table, rule) if rule.kind == "nested" else compare_crossed(table, rule)


def compare_all(table: RunTable, rule: RunsRule, *, systems: Sequence[str] = ()) -> RunsComparisons:
    """Compare every pair of systems, with Holm's correction where there are several."""
    names = tuple(systems) or table.system_names
    pairs = tuple(compare_pair(table.pair(a, b), rule) for a, b in combinations(names, 2))
    p_values = [pair.p_value for pair in pairs]
    return RunsComparisons(pairs, tuple(float(p) for p in correct(p_values, "holm")))
