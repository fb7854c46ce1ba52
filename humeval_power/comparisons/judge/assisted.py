"""One mean from a few human labels and the scores of several judges: regression on the judges, post-stratification.

The labels are a random part of the items that the judges scored. Numbers are regressed on the judges, centred at
their mean over all items; the intercept is the estimate, with Student's t on n - J - 1 degrees of freedom. With one
judge that is PPI++ (Angelopoulos, Duchi and Zrnic 2023) at its best weight. Yes or no and one judge of two values:
post-stratification (Tenenbein 1970) with Wilson's interval at the effective number of labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.inference.clustered import student_interval, student_p
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
