"""Direct assessment: independent ratings of two systems, compared by a rank or a t test.

The ratings are taken to be independent, as Wei, Kocmi and Federmann (2022) do: neither annotators nor
segments have a level of their own. Where they do, power is lower and the test too bold.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import USUAL_MEAN, USUAL_SD, Below, ScoreTest
from humeval_power.comparisons.assessment.pairs import mean_test, rank_sum_test
from humeval_power.errors import InputError
from humeval_power.inference.student_t import noncentral_t_tail, significant_sizes
from humeval_power.quadrature import gauss_legendre
from humeval_power.scenarios.contract import BLOCK, BlockScenario, ComputedPower, Replicates

# Ratings whose errors follow a Gamma law: most are good, and the worse the rarer.

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = gauss_legendre(200)


@dataclass(frozen=True, slots=True)
class GammaScores:
    """Ratings high - E with E ~ Gamma(shape mu^2 / sd^2, scale sd^2 / mu), where mu = high - mean.

    Wei, Kocmi and Federmann (2022, section 6.1), with mu the mean of the error: their formula read
    literally, mu the mean rating, would turn a mean of 75 into one of 25. Nothing keeps such a rating above
    `low`. `below` says what becomes of those: they are left, clipped to `low`, or drawn again
    ('truncate'). In every case `mean` and `sd` are those of the ratings as they come out.
    """

    mean: float
    sd: float
    low: float = 0.0
    high: float = 100.0
    below: Below = "leave"

    def __post_init__(self) -> None:
        if not self.low < self.mean < self.high:
            raise InputError(
                f"A mean rating must lie inside the scale, {self.low:g} to {self.high:g}; got {self.mean:g}."
            )
        if not (self.sd > 0 and math.isfinite(self.sd)):
            raise InputError(f"The standard deviation of ratings must be above 0; got {self.sd:g}.")
        _ = self.law  # refuses what no Gamma law can give

    @property
    def law(self) -> tuple[float, float]:
        """Shape and scale of the Gamma law of the error, before `below` is applied."""
        return _law(self.high - self.mean, self.sd, self.high - self.low, self.below)

    @property
    def share_below(self) -> float:
        """Probability that the Gamma law puts a rating below `low`, before anything is done about it."""
        shape, scale = self.law
        return float(special.gammaincc(shape, (self.high - self.low) / scale))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Independent ratings of the given shape."""
        width = self.high - self.low
        error = rng.gamma(*self.law, shape)
        if self.below == "clip":
            np.minimum(error, width, out=error)
        elif self.below == "truncate":
            outside = np.flatnonzero(error.ravel() > width)
            flat = error.reshape(-1)
            while len(outside):
                flat[outside] = rng.gamma(*self.law, len(outside))
                outside = outside[flat[outside] > width]
        return np.asarray(self.high - error)

    def better(self, error: Floats) -> Floats:
        """P(E > error) + P(E = error) / 2: the chance that a rating with `error` beats one of these."""
        shape, scale = self.law
        width = self.high - self.low
        beyond = special.gammaincc(shape, error / scale)
        if self.below == "truncate":
            cut = self.share_below
            return np.asarray((beyond - cut) / (1 - cut))
        if self.below == "clip":
            return np.asarray(np.where(error >= width, beyond / 2, beyond))
        return np.asarray(beyond)

    def nodes(self) -> tuple[Floats, Floats]:
        """Errors and weights, both (k,), such that weights @ f(errors) is the mean of f(E)."""
        shape, scale = self.law
        kept = 1.0 if self.below == "leave" else 1 - self.share_below
        # The quantiles are steep at both ends; 3 t^2 - 2 t^3 puts the nodes there.
        t = (_NODES + 1) / 2
        share, weight = t * t * (3 - 2 * t), 3 * _WEIGHTS * t * (1 - t)
        error = scale * special.gammaincinv(shape, kept * share)
        if self.below == "clip":
            return np.append(error, self.high - self.low), np.append(kept * weight, 1 - kept)
        return np.asarray(error), np.asarray(weight)


@lru_cache(maxsize=1024)
def _law(mean: float, sd: float, width: float, below: Below) -> tuple[float, float]:
    """Shape and scale of the Gamma law whose errors, bounded by `width`, have this mean and sd."""
    shape, scale = (mean / sd) ** 2, sd**2 / mean
    if below == "leave":
        return shape, scale
    from scipy import optimize

    def gap(logs: Floats) -> Floats:
        moments = _bounded_moments(math.exp(logs[0]), math.exp(logs[1]), width, below)
        return np.array([moments[0] / mean - 1, moments[1] / sd - 1])

    with np.errstate(all="ignore"):
        try:
            solution = optimize.root(gap, np.log([shape, scale]), method="hybr", tol=1e-13)
            close = bool(np.max(np.abs(gap(solution.x))) < 1e-8)
        except (OverflowError, ValueError, ZeroDivisionError):
            close = False
    if not close:
        how = {"clip": "clipped at", "truncate": "cut off at"}[below]
        raise InputError(
            f"No Gamma law {how} the lower end of the scale has errors of mean {mean:g} and standard "
            f"deviation {sd:g} on a scale {width:g} wide. Give a smaller standard deviation, or leave "
            "ratings below the scale."
        )
    return math.exp(solution.x[0]), math.exp(solution.x[1])


def _bounded_moments(shape: float, scale: float, width: float, below: Below) -> tuple[float, float]:
    """Mean and sd of Gamma errors that are clipped at, or drawn again beyond, `width`.

    From E[X^j; X <= c] = scale^j Gamma(k + j) / Gamma(k) P(k + j, c / scale).
    """
    inside, first, second = (special.gammainc(shape + j, width / scale) for j in range(3))
    one, two = scale * shape * first, scale**2 * shape * (shape + 1) * second
    if below == "truncate":
        one, two = one / inside, two / inside
    else:
        one, two = one + width * (1 - inside), two + width**2 * (1 - inside)
    return float(one), math.sqrt(max(float(two - one**2), 0.0))


_VALUES = 2**22  # ratings held in memory at a time
_NODES_SCENARIO, _WEIGHTS_SCENARIO = gauss_legendre(128)
_LEAST = 1e-9  # least variance of U, in pairs
_REACH = 9.0  # standard deviations beyond which a normal law is not looked at


@dataclass(frozen=True, slots=True)
class DirectAssessment(BlockScenario):
    """`n` independent ratings of each of two systems; A has mean `mean`, B has `mean` + `effect`.

    Means, SDs and the effect are in points of the scale `low` to `high`, 1 more being better; `sd_b` is
    B's standard deviation if it differs. `below` is what becomes of ratings under `low`: see GammaScores.
    The Mann-Whitney test is two-sided with the normal approximation, corrected for ties and, unless
    `continuity` is False, for continuity.
    """

    n: int
    _: KW_ONLY
    mean: float = USUAL_MEAN
    sd: float = USUAL_SD
    effect: float = 0.0
    sd_b: float | None = None
    test: ScoreTest = "mann-whitney"
    below: Below = "leave"
    low: float = 0.0
    high: float = 100.0
    alpha: float = 0.05
    continuity: bool = True

    def __post_init__(self) -> None:
        if self.n < 2:
            raise InputError(f"Each system needs at least 2 ratings; got {self.n}.")
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must lie between 0 and 1; got {self.alpha:g}.")
        _ = self.a, self.b  # refuses impossible ratings

    @property
    def a(self) -> GammaScores:
        """The ratings of A."""
        return GammaScores(self.mean, self.sd, self.low, self.high, self.below)

    @property
    def b(self) -> GammaScores:
        """The ratings of B."""
        sd = self.sd if self.sd_b is None else self.sd_b
        return GammaScores(self.mean + self.effect, sd, self.low, self.high, self.below)

    @property
    def block_size(self) -> int:
        return max(1, min(BLOCK, _VALUES // (2 * self.n)))

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        a, b = (ratings.draw(rng, (size, self.n)) for ratings in (self.a, self.b))
        return score_tests(a, b, test=self.test, continuity=self.continuity)

    def computed(self) -> ComputedPower:
        """Power by the normal approximation of Mann-Whitney's U (Lehmann 1975), or by noncentral t."""
        if self.test == "mann-whitney":
            return _mann_whitney_power(self)
        # Power by the noncentral t; the size of estimates averaged over the law of the estimated
        # variance.
        of_a, of_b = self.a.sd**2 / self.n, self.b.sd**2 / self.n
        sd = math.sqrt(of_a + of_b)
        df = 2.0 * self.n - 2
        if self.test == "welch":
            df = (of_a + of_b) ** 2 * (self.n - 1) / (of_a**2 + of_b**2)
        ratio, critical = self.effect / sd, -float(special.stdtrit(df, self.alpha / 2))
        up, down = (noncentral_t_tail(critical, df, way) for way in (ratio, -ratio))
        size = sd * sum(significant_sizes(ratio, df, critical))
        return _combined(self.effect, up, down, size, method=f"noncentral t, df {df:.1f}")


def score_tests(a: Floats, b: Floats, *, test: ScoreTest, continuity: bool = True) -> Replicates:
    """Two-sided tests of samples of shape (replicates, n_a) and (replicates, n_b).

    The estimate is the mean of b minus the mean of a, whatever the test; a rank test has no standard
    error, and claims the direction of U. Samples that are all alike have no test: status 1.
    """
    if test == "mann-whitney":
        ranked = rank_sum_test(a, b, continuity=continuity)
        estimate, p_value = b.mean(axis=1) - a.mean(axis=1), ranked.p_value
        status, claim = np.where(np.isnan(p_value), 1, 0), np.sign(ranked.superiority - 0.5)
        return Replicates.of_tests(estimate, p_value, status=status, claim=claim)
    estimate, error, df, p_value = mean_test(a, b, pooled=test == "student")
    status = np.where(np.isnan(p_value), 1, 0)
    return Replicates.of_tests(estimate, p_value, standard_error=error, df=df, status=status)


class RankProbabilities(NamedTuple):
    """What the law of U depends on: `p1` = P(A < B) with ties counted half, `p2` and `p3` the mean squares
    of that probability given A's rating and given B's, `tied` = P(A = B), and `slope`, the covariance of
    the two mean ratings' difference with U / n^2 times n."""

    p1: float
    p2: float
    p3: float
    tied: float
    slope: float


@lru_cache(maxsize=4096)
def rank_probabilities(a: GammaScores, b: GammaScores) -> RankProbabilities:
    """Lehmann's (1975, section 2.3) p1, p2, p3 by quadrature, with ties."""
    error_a, weight_a = a.nodes()
    error_b, weight_b = b.nodes()
    given_b = a.better(error_b)  # the chance that a rating of B with this error beats one of A
    given_a = 1 - b.better(error_a)
    p1 = float(weight_b @ given_b)
    width = a.high - a.low
    tied = a.share_below * b.share_below if a.below == "clip" else 0.0
    assert width == b.high - b.low
    mean_a, mean_b = float(weight_a @ error_a), float(weight_b @ error_b)
    slope = float(weight_b @ ((mean_b - error_b) * given_b) - weight_a @ ((mean_a - error_a) * given_a))
    return RankProbabilities(p1, float(weight_a @ given_a**2), float(weight_b @ given_b**2), tied, slope)


def _mann_whitney_power(scenario: DirectAssessment) -> ComputedPower:
    """U and the difference of means are taken as jointly normal; U decides, and says which way."""
    n, chances = scenario.n, rank_probabilities(scenario.a, scenario.b)
    pairs = float(n * n)
    spread = chances.p1 - chances.tied / 4 - chances.p1**2
    variance = pairs * (spread + (n - 1) * (chances.p2 + chances.p3 - 2 * chances.p1**2))
    least = pairs * _LEAST
    null = pairs / 12 * (2 * n + 1 - _expected_tie_term(scenario) / (2 * n * (2 * n - 1)))
    reach = -special.ndtri(scenario.alpha / 2) * math.sqrt(max(null, least)) + (
        0.5 if scenario.continuity else 0.0
    )
    sd_u = math.sqrt(max(variance, least))  # below it rounding is all that is left
    center = pairs * (chances.p1 - 0.5)
    sd_estimate = math.sqrt((scenario.a.sd**2 + scenario.b.sd**2) / n)
    shared = min(max(chances.slope / n * pairs / (sd_u * sd_estimate), -1.0), 1.0)
    up, size_up = _tail((reach - center) / sd_u, scenario.effect, sd_estimate, shared)
    down, size_down = _tail((reach + center) / sd_u, scenario.effect, sd_estimate, -shared)
    return _combined(
        scenario.effect, up, down, size_up + size_down, method="normal approximation of U (Lehmann 1975)"
    )


def _expected_tie_term(scenario: DirectAssessment) -> float:
    """Mean of t^3 - t for the t ratings at the lower end of the scale, where clipping puts them."""
    if scenario.below != "clip":
        return 0.0
    p, q, n = scenario.a.share_below, scenario.b.share_below, scenario.n
    mean, var = n * (p + q), n * (p * (1 - p) + q * (1 - q))
    third = n * (p * (1 - p) * (1 - 2 * p) + q * (1 - q) * (1 - 2 * q))
    return mean**3 + 3 * mean * var + third - mean


def _tail(cut: float, effect: float, sd: float, shared: float) -> tuple[float, float]:
    """P(Z > cut), and the mean of |estimate| over it, for a standard normal Z that correlates by `shared`
    with an estimate of mean `effect`."""
    low = min(max(cut, -_REACH), _REACH)
    z = low + (_NODES_SCENARIO + 1) / 2 * (_REACH - low)
    weight = _WEIGHTS_SCENARIO / 2 * (_REACH - low) * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    mean, rest = effect + shared * sd * z, sd * math.sqrt(max(1 - shared**2, 1e-12))
    above = special.ndtr(mean / rest)
    size = mean * (2 * above - 1) + 2 * rest * np.exp(-((mean / rest) ** 2) / 2) / math.sqrt(2 * math.pi)
    return float(special.ndtr(-cut)), float(weight @ size)


def _combined(effect: float, up: float, down: float, size: float, *, method: str) -> ComputedPower:
    """From the chances of significantly positive and negative, and the mean of |estimate| over both."""
    right, wrong = (up, down) if effect >= 0 else (down, up)
    if effect == 0 or right + wrong <= 0:
        return ComputedPower(right, right + wrong, math.nan, math.nan, method, False)
    type_m = size / ((right + wrong) * abs(effect))
    return ComputedPower(right, right + wrong, type_m, wrong / (right + wrong), method, False)
