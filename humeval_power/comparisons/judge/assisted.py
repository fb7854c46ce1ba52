"""One mean from a few human labels and the scores of several judges: regression on the judges, post-stratification.

The labels are a random part of the items that the judges scored. Numbers are regressed on the judges, centred at
their mean over all items; the intercept is the estimate, with Student's t on n - J - 1 degrees of freedom. With one
judge that is PPI++ (Angelopoulos, Duchi and Zrnic 2023) at its best weight. Yes or no and one judge of two values:
post-stratification (Tenenbein 1970) with Wilson's interval at the effective number of labels.

A judge's help where the same workers rate many items: the rating model with the judge as a covariate of items.

The judge's score stands in the model as a centred covariate of the item, alone and times the system; its centre
is the mean over all items that the judge scored, so that the effect is the difference between the systems at that
mean. What workers differ in, and the noise of their ratings, stay in the standard error and its degrees of
freedom (Kenward and Roger 1997). How well the centre is known is added: w^2 Var(f) over the number of items
judged, or over clusters. With n of n + N items rated the item part is Ti^2 (1 - rho^2 N / (N + n)) / n, as in
PPI++ with the best weight (Angelopoulos, Duchi and Zrnic 2023).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.fits import check_ended_well, fit_one
from humeval_power.estimation.crossed.problem import CrossedProblem, Levels
from humeval_power.inference.clustered import (
    clustered_mean,
    student_interval,
    student_p,
    sum_of_variances,
)
from humeval_power.inference.item_bootstrap import wilson_interval

Floats = NDArray[np.float64]
Method = Literal[
    "labels",
    "regression",
    "post-stratified",
    "wilson-regression",
    "cross-fitted",
    "stratified",
    "inverse-weighted",
]

LEAST_LABELS = 10  # for one judge; each further one needs more, see `labels_wanted`
_COLLINEAR = 1e8  # condition of the judges' correlations beyond which one of them says nothing of its own
_MOST_GAIN = 20.0  # times the labels: more is not believed of an interval
_FULL_LEVERAGE = 1 - 1e-9
SAYS_THE_SAME = "The judge says the same of all labelled items, so that it was not used."
_ONE_DECIDES = "One label alone decides a judge's weight: the judge was not used."


@dataclass(frozen=True, slots=True)
class Assisted:
    """A mean or a mean difference by one `method`, in units of the labels.

    `pool_error` is the standard error of the mean of just these items, NaN where it has none; `standard_error`
    that of the population that they come from. `weights` are the judges' coefficients, `used` their places
    among those given. `reason` says why the judges were not used, '' where they were. `r_squared` is the share
    of the labels' variance that the judges explain, freed of what chance explains.
    """

    method: Method
    estimate: float
    standard_error: float
    pool_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    weights: tuple[float, ...] = ()
    used: tuple[int, ...] = ()
    r_squared: float = 0.0
    reason: str = ""


def labels_wanted(n_judges: int) -> int:
    """Labels below which no judge is used: 10, or 12 more than there are judges."""
    return max(LEAST_LABELS, n_judges + 12)


def is_binary(values: Floats) -> bool:
    """Whether all values are 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def assisted_mean(
    labels: Floats,
    judges: Floats,
    extra: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    is_difference: bool = False,
    of_classes: bool = True,
) -> Assisted:
    """The estimate that fits the labels, with the judges where they can be used.

    labels : (n,), human values, finite. judges : (n, J), the scores of the same items.
    extra : (N, J), the scores of items without a label, from the same population.
    is_difference : the labels are differences B - A: then 0 and 1 are no classes. of_classes : of yes and no,
        so that they lie between -1 and 1.
    """
    binary = not is_difference and is_binary(labels)
    n_judges = judges.shape[1]
    alone = label_mean(labels, confidence=confidence, binary=binary, of_classes=of_classes)
    used = usable_judges(judges, extra)
    reason = _why_unused(
        labels, n_judges, len(extra), used, is_difference=is_difference, of_classes=of_classes
    )
    if reason:
        return replace(alone, reason=reason)
    judges, extra = judges[:, used], extra[:, used]
    if binary and len(used) == 1:
        both = np.concatenate([judges[:, 0], extra[:, 0]])
        classes = np.unique(both)
        if len(classes) == 2:
            yes = judges[:, 0] == classes[1]
            if not 2 <= yes.sum() <= len(yes) - 2:
                return replace(alone, reason=_ONE_DECIDES)
            assisted = post_stratified(labels, yes, extra[:, 0] == classes[1], confidence=confidence)
            return replace(assisted, used=tuple(used))
    assisted = regression(labels, judges, extra, confidence=confidence)
    if math.isnan(assisted.estimate):
        return replace(alone, reason=_ONE_DECIDES)
    if binary:
        assisted = wilson_regression(labels, judges, extra, assisted, confidence=confidence)
    return replace(assisted, used=tuple(used))


def label_mean(
    labels: Floats, *, confidence: float = DEFAULT_CONFIDENCE, binary: bool = False, of_classes: bool = True
) -> Assisted:
    """The labels alone: Student's interval, of yes or no Wilson's; where nothing varies the exact bound.

    The bound is of differences of yes and no (`of_classes`), which are no larger than the share of items that
    differ. Other differences have none.
    """
    n, mean = len(labels), float(labels.mean())
    variance = float(labels.var(ddof=1)) if n > 1 else math.nan
    error = math.sqrt(variance / n) if n > 1 else math.nan
    if binary:
        ends = wilson_interval(int(labels.sum()), n, confidence)
        return Assisted("labels", mean, error, math.nan, math.inf, math.nan, ends)
    if n > 1 and variance == 0 and mean == 0:  # differences: none of n items differs
        most = 1 - ((1 - confidence) / 2) ** (1 / n) if of_classes else math.nan
        return Assisted("labels", mean, 0.0, math.nan, n - 1.0, 1.0, (-most, most))
    if n < 2 or variance == 0:
        return Assisted("labels", mean, error, math.nan, n - 1.0, math.nan, (math.nan, math.nan))
    return _student("labels", mean, error, math.nan, n - 1.0, confidence)


def regression(
    labels: Floats, judges: Floats, extra: Floats, *, confidence: float = DEFAULT_CONFIDENCE
) -> Assisted:
    """The intercept of the labels on the judges, centred at their mean over all n + N items.

    SE^2 = s^2 [(X'X)^-1]_00 + beta' S beta / (n + N), S the judges' covariance over all items, df = n - J - 1.
    For the pool of these items the first part times 1 - n / (n + N). NaN where a label has leverage 1.
    """
    n, n_judges = judges.shape
    everywhere = np.concatenate([judges, extra])
    total, df = len(everywhere), n - n_judges - 1
    design = np.column_stack([np.ones(n), judges - everywhere.mean(axis=0)])
    q, r = np.linalg.qr(design)
    if np.max(np.einsum("ij,ij->i", q, q)) > _FULL_LEVERAGE:
        return Assisted("regression", *(math.nan,) * 5, (math.nan, math.nan))
    coefficients = np.linalg.solve(r, q.T @ labels)
    residual = labels - design @ coefficients
    inverse = np.linalg.inv(r)
    of_labels = float(residual @ residual) / df * float(inverse[0] @ inverse[0])
    weights = coefficients[1:]
    of_mean = _variance_of_judged(everywhere, weights)
    squares = float(np.sum((labels - labels.mean()) ** 2))
    explained = 1 - (float(residual @ residual) / df) / (squares / (n - 1)) if squares > 0 else 0.0
    assisted = _student(
        "regression",
        float(coefficients[0]),
        math.sqrt(of_labels + of_mean),
        math.sqrt(of_labels * (1 - n / total)),
        float(df),
        confidence,
    )
    return replace(assisted, weights=tuple(map(float, weights)), r_squared=max(0.0, explained))


def post_stratified(
    labels: Floats, yes: NDArray[np.bool_], extra_yes: NDArray[np.bool_], *, confidence: float
) -> Assisted:
    """Yes or no of people by the answer of one judge; both answers occur among the labels.

    p = F p1 + (1 - F) p0, F the share of yes over all items; Wilson's interval at n_eff = e (1 - e) / V with t
    of n - 2 df, V and e from q_j = (x_j + 1/2) / (n_j + 1), so that no class of the labels is taken for empty.
    """
    n, total = len(labels), len(labels) + len(extra_yes)
    n1 = int(yes.sum())
    n0 = n - n1
    x1, x0 = float(labels[yes].sum()), float(labels[~yes].sum())
    share = (n1 + int(extra_yes.sum())) / total
    p1, p0 = x1 / n1, x0 / n0
    estimate = share * p1 + (1 - share) * p0
    q1, q0 = (x1 + 0.5) / (n1 + 1), (x0 + 0.5) / (n0 + 1)
    of_labels = share**2 * q1 * (1 - q1) / n1 + (1 - share) ** 2 * q0 * (1 - q0) / n0
    variance = of_labels + (q1 - q0) ** 2 * share * (1 - share) / total
    centre = share * q1 + (1 - share) * q0
    worth = centre * (1 - centre) / variance
    squares = float(np.sum((labels - labels.mean()) ** 2))
    within = x1 * (1 - p1) + x0 * (1 - p0)
    explained = max(0.0, 1 - within / (n - 2) / (squares / (n - 1))) if squares > 0 else 0.0
    return Assisted(
        "post-stratified",
        estimate,
        math.sqrt(variance),
        math.sqrt(of_labels * (1 - n / total)),
        n - 2.0,
        math.nan,
        wilson_at(estimate, worth, n - 2.0, confidence),
        (p1 - p0,),
        (0,),
        explained,
    )


def wilson_regression(
    labels: Floats, judges: Floats, extra: Floats, assisted: Assisted, *, confidence: float
) -> Assisted:
    """Yes or no by several or numeric judges: the regression's estimate, Wilson's interval at p (1 - p) / V, V
    by HC3."""
    n, n_judges = judges.shape
    everywhere = np.concatenate([judges, extra])
    design = np.column_stack([np.ones(n), judges - everywhere.mean(axis=0)])
    q, r = np.linalg.qr(design)
    residual = labels - design @ np.linalg.solve(r, q.T @ labels)
    row = design @ np.linalg.inv(r.T @ r)[0]  # of each label in the intercept
    leverage = np.einsum("ij,ij->i", q, q)
    of_labels = float(np.sum((row * residual / (1 - leverage)) ** 2))
    variance = of_labels + _variance_of_judged(everywhere, np.array(assisted.weights))
    estimate = min(max(assisted.estimate, 1 / (2 * n)), 1 - 1 / (2 * n))
    worth = _MOST_GAIN * n
    if variance > 0:
        worth = min(worth, estimate * (1 - estimate) / variance)
    df = n - n_judges - 1.0
    return replace(
        assisted,
        method="wilson-regression",
        estimate=estimate,
        standard_error=math.sqrt(variance),
        pool_error=math.sqrt(of_labels * (1 - n / len(everywhere))),
        p_value=math.nan,
        interval=wilson_at(estimate, worth, df, confidence),
    )


def wilson_at(share: float, n: float, df: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share that so many independent labels would be worth, with t of `df` for z."""
    t = -float(special.stdtrit(df, (1 - confidence) / 2))
    shrunk = 1 + t**2 / n
    centre = (share + t**2 / (2 * n)) / shrunk
    reach = t * math.sqrt(share * (1 - share) / n + t**2 / (4 * n**2)) / shrunk
    return max(0.0, centre - reach), min(1.0, centre + reach)


def usable_judges(judges: Floats, extra: Floats) -> list[int]:
    """Places of the judges that vary among the labelled items and are no copy of those before them."""
    everywhere = np.concatenate([judges, extra])
    kept: list[int] = []
    for place in range(judges.shape[1]):
        if np.ptp(judges[:, place]) <= 1e-12 * max(1.0, float(np.abs(judges[:, place]).max())):
            continue
        chosen = [*kept, place]
        standard = (everywhere[:, chosen] - everywhere[:, chosen].mean(axis=0)) / everywhere[:, chosen].std(
            axis=0
        )
        of_labels = judges[:, chosen] - judges[:, chosen].mean(axis=0)
        of_labels = of_labels / np.linalg.norm(of_labels, axis=0)
        if max(np.linalg.cond(standard.T @ standard), np.linalg.cond(of_labels.T @ of_labels)) < _COLLINEAR:
            kept.append(place)
    return kept


def expected_variance(variance: float, r_squared: float, n: int, extra: float, n_judges: int) -> float:
    """Of the estimate from n labels and so many further items, with what estimating J weights costs.

    Var(Y) / n [1 - R^2 + (1 - R^2) J / (n - J - 2) N / T + R^2 n / T], T = n + N (Cochran 1977, ch. 12).
    """
    total = n + extra
    free = n - n_judges - 2
    if free <= 0:
        return math.inf
    left = (1 - r_squared) * (1 + n_judges / free * extra / total)
    return variance / n * (left + r_squared * n / total)


def labels_for_width(
    half_width: float, variance: float, r_squared: float, total: int, n_judges: int, *, confidence: float
) -> int | None:
    """The fewest of `total` items to label so that the interval reaches no further than `half_width` by
    formula; None where not even all would do. With J = 0: of labels alone."""

    def reach(n: int) -> float:
        df = n - n_judges - 1
        if df < 1:
            return math.inf
        t = -float(special.stdtrit(df, (1 - confidence) / 2))
        of = expected_variance(variance, r_squared, n, total - n, n_judges) if n_judges else variance / n
        return t * math.sqrt(of)

    low, high = labels_wanted(n_judges) if n_judges else 2, total
    if high < low or reach(high) > half_width:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reach(middle) <= half_width else (middle + 1, high)
    return low


def lower_r_squared(r_squared: float, n: int, *, confidence: float = 0.8) -> float:
    """The lower limit of a squared correlation by Fisher's z: what a plan should believe of a pilot."""
    if n <= 3 or r_squared <= 0:
        return 0.0
    z = math.atanh(math.sqrt(min(r_squared, 1 - 1e-12))) - float(special.ndtri(confidence)) / math.sqrt(
        n - 3
    )
    return math.tanh(max(z, 0.0)) ** 2


def _variance_of_judged(everywhere: Floats, weights: Floats) -> float:
    """Of the mean over all items of what the weighted judges say."""
    return float(np.var(everywhere @ weights, ddof=1)) / len(everywhere)


def _why_unused(
    labels: Floats,
    n_judges: int,
    extra: int,
    used: Sequence[int],
    *,
    is_difference: bool,
    of_classes: bool,
) -> str:
    n, wanted = len(labels), labels_wanted(n_judges)
    if extra < 2:
        return "The judge scored no items without a label, so that it adds nothing."
    if n < wanted:
        judges = "a judge" if n_judges == 1 else f"{n_judges} judges"
        return f"{n} labels are too few to weigh {judges}: {wanted} are needed."
    if is_difference and not labels.any():
        none = "No labelled item differs between the systems, so that the judge was not used"
        return f"{none}." if of_classes else f"{none}; other differences than of yes and no have no bound."
    if np.ptp(labels) == 0:
        return "All labels are alike, so that no weight of the judge can be learnt: it was not used."
    if not used:
        return SAYS_THE_SAME
    return ""


def _student(
    method: Method, estimate: float, error: float, pool_error: float, df: float, confidence: float
) -> Assisted:
    p_value = student_p(estimate / error, df) if error > 0 else math.nan
    ends = student_interval(estimate, error, df, confidence)
    return Assisted(method, estimate, error, pool_error, df, p_value, ends)


Codes = NDArray[np.int64]

LEAST_ITEMS = (
    6  # rated ones, and two more for each judge after the first: its coefficients, and how items differ
)
_FLAT = 1e-9  # spread of a judge's scores, relative to their size, that is none


@dataclass(frozen=True, slots=True)
class RatedItems:
    """Ratings of workers, and a judge's scores of those items and of others.

    worker, item, system, rating : (n_ratings,); codes of items are rows of `scores`, systems are 0 (A) and 1 (B).
    scores : (n_items, 2) or (n_items, 2, J), the judges' of each item under A and B; 1 for 2 where there is
    one system.
    clusters : of all items; None where they count as independent.
    """

    worker: Codes
    item: Codes
    system: Codes
    rating: Floats
    scores: Floats
    clusters: Clusters | None = None

    @property
    def is_difference(self) -> bool:
        """Whether two systems are compared."""
        return bool(self.scores.shape[1] == 2)

    @property
    def judged(self) -> Floats:
        """What the judges say of each item's difference B - A, or of the item, shape (n_items,) or (n_items, J)."""
        return np.asarray(
            self.scores[:, -1] - self.scores[:, 0] if self.is_difference else self.scores[:, 0]
        )


@dataclass(frozen=True, slots=True)
class RatedEstimate:
    """An estimate from the rating model, in units of the ratings.

    `weights` are the judges' coefficients, 0 where they are not in the model; `sd_worker`, `sd_item` and
    `sd_cluster` are the SDs of what workers, items (beyond the judge) and clusters differ in, the last NaN
    without clusters.
    """

    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    weights: tuple[float, ...]
    sd_worker: float
    sd_item: float
    sd_residual: float
    sd_cluster: float = math.nan


@dataclass(frozen=True, slots=True)
class RatedMeans:
    """The estimate from workers alone, and with the judge's scores of `n_judged` items, `n_items` of them rated.

    `correlation` is that of the judge with what the items truly differ in, of several judges together the multiple
    one, NaN where items do not differ or no judge is used; `n_clusters` counts those of all items. `used` are
    the places of the judges in the model; `reason` says why there are none: then both are of workers alone.
    """

    human: RatedEstimate
    judged: RatedEstimate
    correlation: float
    n_workers: int
    n_items: int
    n_judged: int
    n_ratings: int
    confidence: float
    n_clusters: int | None = None
    used: tuple[int, ...] = (0,)
    reason: str = ""

    @property
    def efficiency(self) -> float:
        """Variance without the judge over that with it; 1 where none is used."""
        return (self.human.standard_error / self.judged.standard_error) ** 2


def rated_means(rated: RatedItems, *, confidence: float = DEFAULT_CONFIDENCE) -> RatedMeans:
    """Estimate a mean, or a difference between two systems, with the judge and without. InputError: fewer than
    2 workers or 6 rated items, or no further items. FitError: ratings without residual variation, or a fit that
    does not converge."""
    fitted, columns, used = _fits(rated, confidence)
    human = fitted(columns[:, :0])[0]
    judged, explained = fitted(columns) if used else (human, math.nan)
    item_variance = judged.sd_item**2 + (0.0 if math.isnan(judged.sd_cluster) else judged.sd_cluster**2)
    total = math.sqrt(explained**2 + item_variance)
    return RatedMeans(
        human=human,
        judged=judged,
        correlation=explained / total if total > 0 else math.nan,
        n_workers=len(np.unique(rated.worker)),
        n_items=len(np.unique(rated.item)),
        n_judged=len(rated.scores),
        n_ratings=len(rated.rating),
        confidence=confidence,
        n_clusters=None if rated.clusters is None else rated.clusters.n_clusters,
        used=used,
        reason="" if used else SAYS_THE_SAME,
    )


def rated_estimate(rated: RatedItems, *, confidence: float = DEFAULT_CONFIDENCE) -> RatedEstimate:
    """The estimate with the judge alone, as `rated_means` gives it in half the time; it raises the same."""
    fitted, columns, _ = _fits(rated, confidence)
    return fitted(columns)[0]


def _fits(
    rated: RatedItems, confidence: float
) -> tuple[Callable[[Floats], tuple[RatedEstimate, float]], Floats, tuple[int, ...]]:
    """What fits the model with some covariates, which gives the SD that the judges explain too, the covariates,
    and the judges that they are of."""
    if not 0 < confidence < 1:
        raise InputError(f"A confidence must lie between 0 and 1; got {confidence:g}.")
    check_rated(rated)
    items = np.unique(rated.item)
    scale = float(np.std(rated.rating)) or 1.0
    centre = float(np.mean(rated.rating))
    response = (rated.rating - centre) / scale
    judge = rated.judged.reshape(len(rated.scores), -1)
    n_judges = judge.shape[1]
    used = usable_judges(judge[items], np.delete(judge, items, axis=0))
    judge = judge[:, used]
    spread = judge.std(axis=0)
    standard = (judge - judge.mean(axis=0)) / spread
    columns = _judge_columns(rated, standard, used)
    shift = 0.0 if rated.is_difference else centre

    def fitted(covariates: Floats) -> tuple[RatedEstimate, float]:
        problem = _problem(rated, items, covariates)
        fits = fit_one(problem, response, contrasts=np.eye(problem.x.shape[1])[-max(1, len(used)) :])
        check_ended_well(int(fits.status[0]))
        weights = fits.further[0, :, 0] if covariates.shape[1] else np.zeros(len(used))
        of_judges = np.zeros(n_judges)
        of_judges[used] = weights * scale / spread
        # how well the mean of the judges is known, in SDs of the ratings
        said = standard @ weights
        known = clustered_mean(said, rated.clusters)
        error, df = float(fits.standard_error_adjusted[0]), float(fits.df_kenward_roger[0])
        if known.standard_error > 0:
            variance, df = sum_of_variances(error**2, df, known.standard_error**2, known.df)
            error = math.sqrt(variance)
        estimate = shift + scale * float(fits.estimate[0])
        deviations = scale * np.sqrt(fits.gamma[0] * fits.sigma2[0])[1::2]
        one = _estimate(
            estimate,
            scale * error,
            df,
            confidence,
            weights=tuple(map(float, of_judges)),
            deviations=deviations,
            sd_residual=scale * math.sqrt(float(fits.sigma2[0])),
        )
        return one, scale * float(weights[0] if len(used) == 1 else said.std())

    return fitted, columns, tuple(used)


def _judge_columns(rated: RatedItems, centred: Floats, used: list[int]) -> Floats:
    """The covariates of the judges used for each rating: of two systems their means of the item, where these vary,
    and their differences times the system; the last carry the weights."""
    if not rated.is_difference:
        return np.asarray(centred[rated.item])
    times_system = centred[rated.item] * (rated.system - 0.5)[:, None]
    level = rated.scores.mean(axis=1).reshape(len(rated.scores), -1)[:, used]
    level = (level - level.mean(axis=0)) / np.where(level.std(axis=0) > 0, level.std(axis=0), 1.0)
    varies = np.ptp(level[np.unique(rated.item)], axis=0) >= _FLAT
    return np.hstack([level[rated.item][:, varies], times_system])


def _problem(rated: RatedItems, items: Codes, covariates: Floats) -> CrossedProblem:
    worker = np.unique(rated.worker, return_inverse=True)[1]
    item = np.searchsorted(items, rated.item)
    document = None if rated.clusters is None else rated.clusters.only(items).codes[item]
    if rated.is_difference:
        return CrossedProblem.of_design(
            worker,
            item,
            rated.system,
            document=document,
            covariates=covariates if covariates.shape[1] else None,
        )
    ones = np.ones((len(item), 1))
    levels = [Levels(codes, ones) for codes in (worker, item, document) if codes is not None]
    problem = CrossedProblem.of_levels(levels, np.hstack([ones, covariates]))
    return replace(problem, is_difference=True)


def _estimate(
    estimate: float,
    error: float,
    df: float,
    confidence: float,
    *,
    weights: tuple[float, ...],
    deviations: Floats,
    sd_residual: float,
) -> RatedEstimate:
    p_value = student_p(estimate / error, df) if error > 0 else math.nan
    return RatedEstimate(
        estimate=estimate,
        standard_error=error,
        df=df,
        p_value=p_value,
        interval=student_interval(estimate, error, df, confidence),
        weights=weights,
        sd_worker=float(deviations[0]),
        sd_item=float(deviations[1]),
        sd_residual=sd_residual,
        sd_cluster=float(deviations[2]) if len(deviations) > 2 else math.nan,
    )


def check_rated(rated: RatedItems) -> None:
    """Raise InputError where the model cannot be fitted: too few workers or items, or all in one cluster."""
    items = np.unique(rated.item)
    n_workers, extra = len(np.unique(rated.worker)), len(rated.scores) - len(items)
    least = LEAST_ITEMS + 2 * (rated.scores.reshape(*rated.scores.shape[:2], -1).shape[2] - 1)
    if n_workers < 2 or len(items) < least:
        raise InputError(
            f"The rating model with a judge needs at least 2 workers and {least} rated items; there are "
            f"{n_workers} and {len(items)}."
        )
    if extra < 2:
        raise InputError(
            f"At least 2 items are needed that the judge alone has scored; there are {extra}. Without them a judge "
            "adds nothing."
        )
    if not (np.isfinite(rated.rating).all() and np.isfinite(rated.scores).all()):
        raise InputError("Ratings and scores of the judge must be finite numbers.")
    if rated.is_difference and len(np.unique(rated.system)) < 2:
        raise InputError("Ratings of both systems are needed to compare them.")
    if rated.clusters is not None and len(np.unique(rated.clusters.codes[items])) < 2:
        raise InputError(
            "All rated items are in one cluster; at least 2 are needed, and 20 or more are better."
        )
