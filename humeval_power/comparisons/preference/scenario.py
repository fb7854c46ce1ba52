"""Independent judges say which of two outputs they prefer, or that they do not mind.

A finished comparison of two outputs: its judgements, their tests, and the panel where some repeat.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.choices import ConditionalTest, Ties
from humeval_power.comparisons.preference.latent_scale import (
    Codes,
    LatentPreference,
    Panel,
    PanelFits,
    PanelModel,
    StrengthPrecision,
    latent_preference,
    strength_precision,
)
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.inference.mcnemar import P_VALUES, at_most, critical_counts
from humeval_power.inference.student_t import noncentral_t_tail
from humeval_power.latent import Link
from humeval_power.scenarios.contract import BlockScenario, ComputedPower, Replicates
from humeval_power.scenarios.discordant_counts import Counts, Floats, approximate_power, enumerated_power

if TYPE_CHECKING:
    from humeval_power.comparisons.preference.latent_scale import PanelTest


# Tests of preferences: wins of B, wins of A, and ties, one entry a study. All are two-sided.


def preference_p(
    wins: ArrayLike, losses: ArrayLike, n: int | Counts, *, ties: Ties, test: ConditionalTest
) -> Floats:
    """p-values of no preference from counts of wins and losses among `n` judgements.

    Excluded and kept ties leave the same tests: a tie says nothing of the sign. With split ties the
    tests are those of a binomial count of n at one half whose distance from n / 2 is that of
    wins + ties / 2.
    """
    won, lost = np.asarray(wins, dtype=np.int64), np.asarray(losses, dtype=np.int64)
    if ties != "split":
        return P_VALUES[test](won, lost)
    total, gap = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.abs(won - lost))
    if test == "asymptotic":
        return np.asarray(2 * special.ndtr(-gap / np.sqrt(np.maximum(total, 1))))
    fewer = (total - gap) // 2
    attained = (total - gap) % 2 == 0
    outside = 2 * at_most(fewer, total)
    if test == "mid-p":
        outside = outside - np.where(attained, at_most(fewer, total) - at_most(fewer - 1, total), 0.0)
    return np.asarray(np.minimum(outside, 1.0))


def critical_losses(total: Counts, n: int, *, ties: Ties, test: ConditionalTest, alpha: float) -> Counts:
    """The largest min(wins, losses) that is significant for each wins + losses of `n` judgements; -1
    where none is."""
    if ties != "split":
        return critical_counts(total, test=test, alpha=alpha)
    gap = smallest_gap(n, test=test, alpha=alpha)
    return np.maximum((total - gap) // 2, -1)


def smallest_gap(n: int, *, test: ConditionalTest, alpha: float) -> int:
    """The smallest |wins - losses| that is significant among n judgements whose ties are split; n + 1
    where none is."""
    guess = int(np.ceil(-special.ndtri(alpha / 2) * np.sqrt(n)))
    near = np.arange(max(guess - 100, 0), min(guess + 100, n) + 1)
    significant = preference_p(near, np.zeros_like(near), n, ties="split", test=test) <= alpha
    return int(near[significant].min()) if significant.any() else n + 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Judgements:
    """Wins of B, ties and losses of one comparison; `preference` (-1, 0, +1), `worker` and `item` (codes
    from 0) and `position` (+1/2 where B was shown first, -1/2 where A was) are there, one for each judgement,
    where the table has a row for each. `systems` are the names of A and B, None where the table has none. `notices`
    say what was assumed in reading it."""

    name: str = ""
    systems: tuple[str, str] | None = None
    wins: int
    ties: int = 0
    losses: int
    preference: NDArray[np.float64] | None = None
    worker: NDArray[np.int64] | None = None
    item: NDArray[np.int64] | None = None
    position: NDArray[np.float64] | None = None
    notices: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Judgements."""
        return self.wins + self.ties + self.losses

    @property
    def is_clustered(self) -> bool:
        """Whether some worker or some item has several judgements."""
        codes = [code for code in (self.worker, self.item) if code is not None]
        return any(len(np.unique(code)) < len(code) for code in codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceTest:
    """The tests of one comparison. Where workers or items repeat: how much the variance differs from that of
    independent judgements, what these would show in 90 % of cases, and what a panel shows."""

    judged: Judgements
    sign_exact: float
    sign_mid_p: float
    score: float
    split: float
    design_effect: float = math.nan
    independent_range: tuple[float, float] | None = None
    panel: PanelTest | None = None

    @property
    def p_value(self) -> float:
        """That to report: of the panel where workers or items repeat, else of the exact sign test."""
        result = math.nan if self.panel is None else self.panel.p_value
        return self.sign_exact if math.isnan(result) else result


def preference_test(judged: Judgements, *, alpha: float, link: Link) -> PreferenceTest:
    """Test whether one output is preferred; `link` is that of the model for workers or items who repeat."""
    won, lost, n = judged.wins, judged.losses, judged.n
    if n == 0:
        raise InputError("There are no judgements.")
    effect, expected, panel = _dependence(judged, alpha, link)
    return PreferenceTest(
        judged=judged,
        sign_exact=float(preference_p(won, lost, n, ties="excluded", test="exact")),
        sign_mid_p=float(preference_p(won, lost, n, ties="excluded", test="mid-p")),
        score=float(preference_p(won, lost, n, ties="kept", test="asymptotic")),
        split=float(preference_p(won, lost, n, ties="split", test="asymptotic")),
        design_effect=effect,
        independent_range=expected,
        panel=panel,
    )


def _dependence(
    judged: Judgements, alpha: float, link: Link
) -> tuple[float, tuple[float, float] | None, PanelTest | None]:
    """The design effect, its range if judgements were independent, and what the panel shows."""
    preference, worker, item = judged.preference, judged.worker, judged.item
    if not judged.is_clustered or preference is None or worker is None or item is None:
        return math.nan, None, None
    from humeval_power.comparisons.preference.latent_scale import (
        design_effect,
        independent_range,
        panel_test,
    )

    effect = design_effect(worker, item, preference)
    expected = independent_range(worker, item, preference)
    panel = panel_test(worker, item, preference, position=judged.position, alpha=alpha, link=link)
    return effect, expected, panel


MOST_ENUMERATED = 10_000_000


@dataclass(frozen=True)
class Preference(BlockScenario):
    """A number of judgements, each from another worker on another item, and the true preference.

    `preference` is the share that prefers B, minus 1/2: among those who have a preference where `ties`
    are excluded, with ties counted half to each system where they are split or kept. `tie_share` is the
    probability of a tie.
    """

    effect_field: ClassVar[str] = "preference"

    n_judgements: int
    _: KW_ONLY
    preference: float
    tie_share: float = 0.0
    ties: Ties = "excluded"
    test: ConditionalTest = "exact"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = []
        if self.n_judgements < 1:
            rule = f"A study has at least one judgement; got {self.n_judgements}."
            problems.append(Problem(rule, ""))
        for name, value, known in (
            ("treatment of ties", self.ties, get_args(Ties)),
            ("test", self.test, get_args(ConditionalTest)),
        ):
            if value not in known:
                problems.append(Problem(f"There is no {name} {value!r}.", f"Choose {', '.join(known)}."))
        if not 0 < self.alpha < 1:
            problems.append(Problem(f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        if not 0 <= self.tie_share < 1:
            rule = f"The share of ties must be at least 0 and below 1; got {self.tie_share:g}."
            problems.append(Problem(rule, ""))
        elif not abs(self.preference) <= self.largest_preference + 1e-12:
            rule = f"A preference of {self.preference:+.4g} is impossible with {self.tie_share:.4g} ties"
            problems.append(Problem(f"{rule}: it is at most {self.largest_preference:.4g}.", ""))
        refuse(problems)

    @property
    def largest_preference(self) -> float:
        """What the preference would be if nobody preferred A."""
        return 0.5 if self.ties == "excluded" else (1 - self.tie_share) / 2

    @property
    def win_share(self) -> float:
        """Probability that a judgement prefers B."""
        return (1 - self.tie_share + self._margin) / 2

    @property
    def loss_share(self) -> float:
        """Probability that a judgement prefers A."""
        return (1 - self.tie_share - self._margin) / 2

    @property
    def _margin(self) -> float:
        return 2 * self.preference * (1 - self.tie_share if self.ties == "excluded" else 1)

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        """Draw and test `size` studies; one in which all are ties is no failure but a study that shows nothing."""
        total = rng.binomial(self.n_judgements, 1 - self.tie_share, size=size)
        share = min(max(self.win_share / (1 - self.tie_share), 0.0), 1.0)
        wins = rng.binomial(total, share)
        losses = total - wins
        weight = self._weight(total)
        estimate = (wins - losses) * weight
        mean = (wins - losses) / np.maximum(total if self.ties == "excluded" else self.n_judgements, 1)
        spread = np.maximum(total * weight * 2 - mean**2, 0.0)  # second moment of -1, 0, +1 less its square
        number = total if self.ties == "excluded" else np.full(size, self.n_judgements)
        p_value = preference_p(wins, losses, self.n_judgements, ties=self.ties, test=self.test)
        error = np.sqrt(spread / np.maximum(number, 1)) / 2
        return Replicates.of_tests(estimate, p_value, standard_error=error)

    def _weight(self, total: Counts) -> Floats:
        number = total if self.ties == "excluded" else np.full(len(total), self.n_judgements)
        return 1 / (2 * np.maximum(number, 1))

    def computed(self) -> ComputedPower:
        """Exact power by enumeration; the normal approximation for very large studies."""
        moved = 1 - self.tie_share
        margin = min(max(self._margin, -moved), moved)
        if self.n_judgements > MOST_ENUMERATED:
            if self.ties == "split":
                raise InputError(f"Split ties are computed up to {MOST_ENUMERATED:,} judgements.")
            return approximate_power(
                self.n_judgements,
                discordant=moved,
                difference=margin,
                true_effect=self.preference,
                alpha=self.alpha,
                per_item=1 / (2 * moved) if self.ties == "excluded" else 0.5,
            )
        return enumerated_power(
            self.n_judgements,
            discordant=moved,
            difference=margin,
            true_effect=self.preference,
            critical=self._critical,
            weight=self._weight,
        )

    def _critical(self, total: Counts) -> Counts:
        n = self.n_judgements
        return critical_losses(total, n, ties=self.ties, test=self.test, alpha=self.alpha)


def judgements_for(
    *, win_share: float, loss_share: float, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Judgements for a power by formula, ties excluded or kept (Connett, Smith & McHugh 1987).

    n = (z_a sqrt(w + l) + z_b sqrt(w + l - (w - l)^2))^2 / (w - l)^2; infinite without a difference.
    """
    from scipy import special

    difference, moved = win_share - loss_share, win_share + loss_share
    if difference == 0:
        return math.inf
    error = math.sqrt(max(moved - difference**2, 0.0))
    z_alpha, z_beta = -float(special.ndtri(alpha / 2)), float(special.ndtri(power))
    return (z_alpha * math.sqrt(moved) + z_beta * error) ** 2 / difference**2


# A panel of workers judges items, several each, and says which of two outputs it prefers, or neither.

BLOCK = 128  # replicates drawn together; part of what a seed means
MOST_WORKERS = 1000  # whose information is inverted at once for the formula
_METHOD = "formula (expected information, noncentral t)"
_Z = np.linspace(-9.0, 9.0, 4001)  # normal deviates over which exaggeration is summed


@dataclass(frozen=True)
class PanelPreference(BlockScenario):
    """Judgements of a panel, the true preference, and how workers and items vary.

    `preference` is the share that prefers B, ties counted half, minus 1/2; `tie_share` the share of ties; both
    over workers, items and the two orders of presentation. `position_bias` is the share that prefers what
    is shown first where neither is stronger, minus 1/2. The standard deviations of workers' and items' own
    strengths are on the scale of the link.
    """

    effect_field: ClassVar[str] = "preference"

    panel: Panel
    _: KW_ONLY
    preference: float
    tie_share: float = 0.0
    position_bias: float = 0.0
    sd_worker: float = 0.0
    sd_item: float = 0.0
    link: Link = "probit"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = [
            Problem(f"The standard deviation of {name} must be at least 0; got {value:g}.", "")
            for name, value in (("workers", self.sd_worker), ("items", self.sd_item))
            if not (math.isfinite(value) and value >= 0)
        ]
        if self.link not in get_args(Link):
            problems.append(
                Problem(f"There is no link {self.link!r}.", f"Choose {', '.join(get_args(Link))}.")
            )
        if not 0 < self.alpha < 1:
            problems.append(Problem(f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        if not 0 <= self.tie_share < 1:
            rule = f"The share of ties must be at least 0 and below 1; got {self.tie_share:g}."
            problems.append(Problem(rule, ""))
        if not abs(self.position_bias) < 0.5:
            rule = f"A position bias lies between -1/2 and 1/2; got {self.position_bias:g}."
            problems.append(Problem(rule, ""))
        refuse(problems)
        _ = self.latent  # refuses shares that no judges have

    @cached_property
    def latent(self) -> LatentPreference:
        """How the judgements arise. What no worker or item repeats is part of the noise."""
        return latent_preference(
            self.preference,
            tie_share=self.tie_share,
            position_bias=self.position_bias,
            sd_worker=self.sd_worker if self.panel.workers_repeat else 0.0,
            sd_item=self.sd_item if self.panel.items_repeat else 0.0,
            link=self.link,
        )

    @property
    def has_formula(self) -> bool:
        """Whether there are few enough workers to compute what is expected."""
        return not self.panel.workers_repeat or self.panel.n_workers <= MOST_WORKERS

    @cached_property
    def precision(self) -> StrengthPrecision:
        """Standard error and df of the latent strength that such a panel will find."""
        return strength_precision(self.panel, self.latent)

    def computed(self) -> ComputedPower:
        """Power by formula, of the t test of the latent strength; exaggeration is that of the preference."""
        error, df = self.precision.standard_error, self.precision.df
        ratio, critical = abs(self.latent.strength) / error, float(special.stdtrit(df, 1 - self.alpha / 2))
        right, wrong = (noncentral_t_tail(critical, df, sign * ratio) for sign in (1, -1))
        type_m, type_s = self._exaggeration(critical) if self.preference else (math.nan, math.nan)
        return ComputedPower(right, right + wrong, type_m, type_s, _METHOD, exact=False)

    def _exaggeration(self, critical: float) -> tuple[float, float]:
        """Type M and Type S, summed over the estimates that a study can find; its standard error is known on
        the df of its precision."""
        error, df = self.precision.standard_error, self.precision.df
        strength = abs(self.latent.strength) + error * _Z
        squared = (strength / (error * critical)) ** 2
        shown = special.gammainc(df / 2, df / 2 * squared) if math.isfinite(df) else squared > 1
        weight = np.exp(-(_Z**2) / 2) * shown
        share = self.latent.preferred(strength) - 0.5
        total = float(weight.sum())
        if total == 0:
            return math.nan, math.nan
        size = float(weight @ np.abs(share)) / (total * abs(self.preference))
        return size, float(weight[strength < 0].sum()) / total

    @property
    def block_size(self) -> int:
        return BLOCK

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        """Draw and test `size` studies. One whose model has no highest likelihood is no failure: the sign tests of
        workers and of items decide, as they do for a finished one."""
        model, latent = self._model, self.latent
        shape = size, self.panel.n_judgements
        eta = self._strength + (
            rng.standard_normal(shape) if self.link == "probit" else rng.logistic(size=shape)
        )
        if latent.sd_worker:
            eta += latent.sd_worker * rng.standard_normal((size, self.panel.n_workers))[:, model.worker]
        if latent.sd_item:
            eta += latent.sd_item * rng.standard_normal((size, self.panel.n_items))[:, model.item]
        outcomes = (eta > latent.threshold).astype(np.int64) - (eta < -latent.threshold)
        fits = model.fits(outcomes, link=self.link, start=latent)
        return self._decided(model, fits, outcomes)

    @cached_property
    def _strength(self) -> Floats:
        """Of B in each judgement, without the worker's and the item's."""
        _, _, position = self.panel.assignment
        return self.latent.strength + self.latent.position_bias * position

    @cached_property
    def _model(self) -> PanelModel:
        worker, item, position = self.panel.assignment
        return PanelModel.of(worker, item, position)

    def _decided(self, model: PanelModel, fits: PanelFits, outcomes: Codes) -> Replicates:
        """Estimates on the scale of the preference, with the p-values that such a study reports."""
        usable = fits.usable
        p_value = np.where(usable, fits.p_value, np.nan)
        p_value[~usable] = model.sign_p(outcomes[~usable])
        estimate = outcomes.mean(axis=1) / 2  # what there is to say without a model
        error = np.full(len(outcomes), np.nan)
        for row in np.flatnonzero(usable):
            ends = fits.strength[row] + fits.standard_error[row] * np.array([-1.0, 0.0, 1.0])
            low, middle, high = fits.latent(int(row), self.link).preferred(ends)
            estimate[row], error[row] = middle - 0.5, (high - low) / 2
        zero = np.stack([fits.sd_worker == 0, fits.sd_item == 0], axis=1)
        kept = [model.by_worker, model.by_item]
        return Replicates(
            estimate,
            error,
            np.where(usable, fits.df, np.nan),
            p_value,
            np.zeros(len(outcomes), dtype=np.int64),
            zero[:, kept],
            tuple(name for name, used in zip(("sd_worker", "sd_item"), kept, strict=True) if used),
        )
