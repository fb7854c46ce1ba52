"""Raters one by one: is any of them unlike the others in level, in consistency, or towards a system?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.blas import one_blas_thread
from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.comparisons.agreement.agreement import SharedRatings
from humeval_power.comparisons.agreement.strata import MOST_DENSE, additive, information
from humeval_power.inference.corrections import correct
from humeval_power.studies.fit.max_t import CriticalValues, factor_of
from humeval_power.worker_statistics import MIN_ANSWERS, centred

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

ALPHA = 0.05  # of each kind of tests, for all raters together
FEWEST_RATERS = 4  # three would leave two others to show how much raters differ
_MOST_JOINT = 50  # raters up to which the largest of correlated t is taken, and not Sidak's bound
_MOST_CUTS = 256  # of the latent scale: more values of a rating are a slider
_FARTHEST = 8.0  # levels on the latent scale
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class RaterTests:
    """Each rater beside the others; arrays of shape (m,) in the order of `SharedRatings`.

    n_ratings : of outputs that others rated too; with fewer than 10 nothing is tested.
    level : of the ratings on [0, 1], less the mean level of all raters, outputs being equal; level_reach : half of
    its interval, which holds for all raters at once and is about these raters on other outputs; NaN without error.
    noise : mean square about what the others give an output, in mid-ranks, over that of a usual other rater.
    agreement : correlation with the others' mean within systems, in mid-ranks.
    leaning (m, K) : what a rater gives a system beyond the own level, less what the others give it beyond theirs,
    on [0, 1]; NaN where not all systems were rated.
    level_p, noise_p, agreement_p, leaning_p : of being unlike the other raters in that, for noise of having more;
    corrected by Holm for all raters, and for noise and agreement together; NaN where there is no test.
    n_parts : sets of raters and outputs without a link; levels are compared within them.
    """

    n_ratings: Codes
    level: Floats
    level_reach: Floats
    noise: Floats
    agreement: Floats
    leaning: Floats
    level_p: Floats
    noise_p: Floats
    agreement_p: Floats
    leaning_p: Floats
    n_parts: int

    @property
    def usual_agreement(self) -> float:
        """The median of the correlations; NaN without any."""
        known = self.agreement[np.isfinite(self.agreement)]
        return float(np.median(known)) if len(known) else math.nan

    @property
    def is_tested(self) -> Mask:
        """Who is compared with the others in any way."""
        return np.asarray(np.isfinite(self._p).any(axis=0))

    @property
    def is_unlike(self) -> Mask:
        """Who is unlike the others in one way or more."""
        return np.asarray((self._p <= ALPHA).any(axis=0))

    @property
    def _p(self) -> Floats:
        return np.stack([self.level_p, self.noise_p, self.agreement_p, self.leaning_p])


def raters_one_by_one(
    shared: SharedRatings, n_systems: int, *, confidence: float = DEFAULT_CONFIDENCE
) -> RaterTests:
    """Compare each rater with the others.

    Levels are those of least squares with free outputs. Their simultaneous intervals are those of the analysis of
    means (Nelson, Wludyka and Copeland 2005), by the largest of m correlated t. That a level differs from the mean
    says nothing, as every rater's does: whether a rater is unlike the others is the t of a deleted value, with
    m - 2 df. It is taken of statistics that raters of a healthy panel have like draws from one population, whatever
    the scale, all of mid-ranks: the level, on the latent scale of a cumulative probit; the cube root of the mean
    square about what others give; the atanh of the correlation with the others' mean; and what systems get beyond
    the level, F with K - 1 and (K - 1)(m - 2) df. Less noise than usual is no sign, as levels near an end of the
    scale leave less room; too much agreement is. Where half of the ratings or more are one value, mean squares
    follow from levels, and so do differences between systems: neither is tested.
    """
    m, rater = shared.n_workers, shared.worker
    if not m:
        no, none = np.zeros(0), np.zeros((0, n_systems))
        return RaterTests(shared.worker, no, no, no, no, none, no, no, no, no, 0)
    n_ratings = np.bincount(rater, minlength=m)
    tested = n_ratings >= MIN_ANSWERS
    rank = shared.score("ordinal") / len(shared.code)  # ridits: which share of all ratings lies below
    rating = shared.values[shared.code]
    raw, ranked = ([_within(shared, one, system) for system in range(n_systems)] for one in (rating, rank))
    error = [
        sum(one.error for one in some) / max(sum(one.df_error for one in some), 1) for some in (raw, ranked)
    ]

    of_raw = additive(shared.output, rater, rating - rating.mean(), len(shared.size), m)
    precision = _precision(shared, of_raw.part)
    n_parts, part = of_raw.n_parts, of_raw.part
    of_rank = additive(shared.output, rater, rank - rank.mean(), len(shared.size), m).of_rater
    latent, slope = _latent_levels(rank, rank.mean() + centred(of_rank, part), n_ratings)
    variance = error[1] * _latent_variance(slope, n_ratings, precision.variance, part)
    level_p = np.full(m, np.nan)
    for one in range(n_parts):
        some = np.flatnonzero(tested & (part == one))
        level_p[some] = unlike_the_others(latent[some, None], variance[some], df=1)

    noise, agreement, noise_p, agreement_p = _consistency(ranked, tested, is_peaked=shared.is_peaked)
    consistency = _holm(np.concatenate([noise_p, agreement_p]))
    leaning, leaning_p = _leaning(raw, ranked, tested, error[1])
    if shared.is_peaked:
        leaning_p[:] = np.nan
    df_error = sum(one.df_error for one in raw)
    return RaterTests(
        n_ratings=n_ratings,
        level=centred(of_raw.of_rater, part),
        level_reach=np.sqrt((error[0] if error[0] > _TINY else math.nan) * precision.variance)
        * precision.largest(df_error, confidence),
        noise=noise,
        agreement=agreement,
        leaning=leaning,
        level_p=_holm(level_p),
        noise_p=consistency[:m],
        agreement_p=consistency[m:],
        leaning_p=_holm(leaning_p),
        n_parts=n_parts,
    )


def _latent_levels(ridit: Floats, mean: Floats, n_ratings: Codes) -> tuple[Floats, Floats]:
    """Where raters stand on the latent scale of a cumulative probit model (m,), by their mean ridits, and slopes of
    the mean ridit there (m + 1,), the last at the mean of all; zero and one where all ratings are the same.

    All ratings together are cut from a standard normal variable; a rater at a level l gives the same cuts less l.
    Where every rating is another this is sqrt(2) times the probit of the mean; where most are at the top, about the
    probit of the share of them. A mean at an end of the scale counts as half a rating away from it.
    """
    values, counts = np.unique(ridit, return_counts=True)
    if len(values) == 1:
        return np.zeros(len(mean)), np.ones(len(mean) + 1)
    if len(values) > _MOST_CUTS:  # as good as a slider
        values = np.linspace(0.5, _MOST_CUTS - 0.5, _MOST_CUTS) / _MOST_CUTS
        counts = np.ones(_MOST_CUTS, dtype=np.int64)
    cuts, steps = special.ndtri(np.cumsum(counts)[:-1] / counts.sum()), np.diff(values)
    grid = np.linspace(-_FARTHEST, _FARTHEST, 2001)
    given = values[-1] - special.ndtr(cuts - grid[:, None]) @ steps
    slopes = np.exp(-((cuts - grid[:, None]) ** 2) / 2) @ steps / math.sqrt(2 * math.pi)
    room = (values[-1] - values[0]) * 0.5 / (n_ratings + 1)
    latent = np.interp(np.clip(mean, values[0] + room, values[-1] - room), given, grid)
    return latent, np.interp(np.append(latent, latent.mean()), grid, slopes)


def _latent_variance(slope: Floats, n_ratings: Codes, variance: Floats, part: Codes) -> Floats:
    """Variances (m,) of latent levels, where the error variance of a ridit is 1; `slope` as of `_latent_levels`.

    `variance` is that of a level in ridits. 1/n of it (less the part's mean) is of the rater's own ratings, which
    lie the closer together the nearer the level is to an end of the scale: on the latent scale their error is the
    same everywhere, and that of a usual rater. The rest is of those who rated the same outputs, none where all
    rated all. Their ratings are as far apart as usual, and the latent scale enlarges what they add to an extreme
    level: taken as usual, with three ratings of an output and 30 raters, .08 of healthy panels have somebody named.
    """
    size = np.bincount(part)[part]
    own = np.minimum((1 - 1 / size) / np.maximum(n_ratings, 1), variance)
    return np.asarray(own / slope[-1] ** 2 + (variance - own) / slope[:-1] ** 2)


def unlike_the_others(value: Floats, variance: Floats, *, df: int) -> Floats:
    """P-values (n,) of each row of `value` (n, k) coming from where the others do.

    With as much error in each row it is the t, or F, of a deleted value with n - 2 df for each of `df` dimensions;
    with unlike errors rows count by their inverse variance, in which the part between rows is that of the others.
    NaN with fewer than four rows, or where the others do not vary.

    variance : (n,), error variance of each row.
    """
    n = len(value)
    p = np.full(n, np.nan)
    if n < FEWEST_RATERS:
        return p
    for j in range(n):
        others, noise = np.delete(value, j, axis=0), np.delete(variance, j)
        spread = float(((others - others.mean(axis=0)) ** 2).sum()) / (df * (n - 2))
        if not spread > _TINY:
            continue
        between = max(spread - float(noise.mean()), 0.0)
        weight = 1 / np.maximum(between + noise, _TINY)
        mean = weight @ others / weight.sum()
        scale = float(weight @ ((others - mean) ** 2).sum(axis=1)) / (df * (n - 2))
        expected = max(between + variance[j], _TINY) + 1 / weight.sum()
        p[j] = special.fdtrc(
            df, df * (n - 2), float(((value[j] - mean) ** 2).sum()) / (df * scale * expected)
        )
    return p


class _Within(NamedTuple):
    """Of the ratings of one system, (m,): number; levels of raters, NaN where these are not all linked; sums of
    squares about what others give an output, and df; products and squares of ratings and others' means. And the
    error's sum of squares with its df."""

    n: Codes
    level: Floats
    squares: Floats
    df: Floats
    ab: Floats
    aa: Floats
    bb: Floats
    error: float
    df_error: int


def _within(shared: SharedRatings, score: Floats, system: int) -> _Within:
    m, rows = shared.n_workers, shared.system[shared.output] == system
    of, level = shared.worker[rows], np.full(m, np.nan)
    count = np.bincount(of, minlength=m)
    if not rows.any():
        zero = np.zeros(m)
        return _Within(count, level, zero, zero, zero, zero, zero, 0.0, 0)
    outputs, output = np.unique(shared.output[rows], return_inverse=True)
    raters, rater = np.unique(of, return_inverse=True)
    y = score[rows] - score[rows].mean()
    fitted = additive(output, rater, y, len(outputs), len(raters))
    residual = y - fitted.of_output[output] - fitted.of_rater[rater]
    size = np.bincount(output)[output]
    apart = residual * size / (size - 1)  # from the mean of the others, each at the same level
    a, b = centred(y, of), centred(y - fitted.of_rater[rater] - apart, of)
    if fitted.n_parts == 1:
        level[raters] = fitted.of_rater - fitted.of_rater.mean()
    squares, ab, aa, bb = (
        np.bincount(of, one, m).astype(np.float64) for one in (residual * apart, a * b, a * a, b * b)
    )
    df_error = len(y) - len(outputs) - len(raters) + fitted.n_parts
    df = np.maximum(count - 1.0, 0.0)
    return _Within(count, level, squares, df, ab, aa, bb, float(residual @ residual), df_error)


class _Precision(NamedTuple):
    """Variances (m,) of levels less their mean where the error variance is 1, and the largest of their t as a
    function of df and confidence."""

    variance: Floats
    largest: Callable[[int, float], float]


def _precision(shared: SharedRatings, part: Codes) -> _Precision:
    m = shared.n_workers
    known = information(shared.output, shared.worker, len(shared.size), m)
    size = np.bincount(part)[part]

    def sidak(df: int, confidence: float) -> float:
        return float(special.stdtrit(df, (1 + confidence ** (1 / m)) / 2)) if df >= 1 else math.nan

    if m > MOST_DENSE:
        return _Precision(((size - 1) / size) ** 2 / known.diagonal(), sidak)
    together = np.equal.outer(part, part) / size
    with one_blas_thread():
        covariance = np.linalg.inv(known.toarray() + together) - together
    variance = np.maximum(np.diag(covariance), 0.0)

    def largest(df: int, confidence: float) -> float:
        if df < 1 or m > _MOST_JOINT:
            return sidak(df, confidence)
        errors = np.sqrt(variance)
        correlation = np.round(
            covariance / np.outer(errors, errors), 9
        )  # the same for tables alike: found once
        return float(CriticalValues.of(factor_of(correlation), 1 - confidence, True)(np.array(float(df))))

    return _Precision(variance, largest)


def _consistency(
    within: list[_Within], tested: Mask, *, is_peaked: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """Noise and agreement of each rater, and p-values of both before they are corrected."""
    m = len(tested)
    squares, ab, aa, bb, df = (
        np.sum([getattr(one, name) for one in within], axis=0)
        for name in ("squares", "ab", "aa", "bb", "df")
    )
    noise, agreement, noise_p, agreement_p = (np.full(m, np.nan) for _ in range(4))
    some = np.flatnonzero(tested & (df >= 1))
    root = np.cbrt(squares[some] / df[some])
    if len(some) > 1 and root.any():
        noise[some] = (root * (len(some) - 1) / np.maximum(root.sum() - root, _TINY)) ** 3
        if not is_peaked:  # the error of a cube root of a chi-square by Wilson and Hilferty
            p = unlike_the_others(root[:, None], 2 * root.mean() ** 2 / (9 * df[some]), df=1)
            noise_p[some] = np.where(noise[some] > 1, p / 2, 1 - p / 2)
    some = np.flatnonzero(tested & (aa > _TINY) & (bb > _TINY))
    agreement[some] = ab[some] / np.sqrt(aa[some] * bb[some])
    tangent = np.arctanh(np.clip(agreement[some], -0.999, 0.999))
    agreement_p[some] = unlike_the_others(tangent[:, None], 1 / np.maximum(df[some] - 2, 1), df=1)
    return noise, agreement, noise_p, agreement_p


def _leaning(
    raw: list[_Within], ranked: list[_Within], tested: Mask, error: float
) -> tuple[Floats, Floats]:
    """What each rater gives each system beyond the others, on the scale of ratings, and p-values, of mid-ranks: of
    raters of all systems."""
    count, level, levels = (
        np.stack(one, axis=1)
        for one in ([w.n for w in raw], [w.level for w in raw], [w.level for w in ranked])
    )
    (m, k), p = level.shape, np.full(len(level), np.nan)
    leaning = np.full((m, k), np.nan)
    some = np.flatnonzero(tested & np.isfinite(level).all(axis=1) & (k * count >= MIN_ANSWERS).all(axis=1))
    if k < 2 or len(some) < 2:
        return leaning, p
    own, ranks = (one[some] - one[some].mean(axis=1, keepdims=True) for one in (level, levels))
    leaning[some] = (own - own.mean(axis=0)) * len(some) / (len(some) - 1)
    p[some] = unlike_the_others(ranks, error * (1 / count[some]).mean(axis=1), df=k - 1)
    return leaning, p


def _holm(p: Floats) -> Floats:
    """Corrected for those that were tested."""
    result, known = np.full(len(p), np.nan), np.isfinite(p)
    if known.any():
        result[known] = correct(p[known], "holm")
    return result
