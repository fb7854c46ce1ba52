"""A panel of workers judges items, several each, and says which of two outputs it prefers, or neither."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np
from scipy import special

from humeval_power.errors import InputError, Problem
from humeval_power.inference.noncentral_t import noncentral_t_tail
from humeval_power.inference.preference.expected_precision import StrengthPrecision, strength_precision
from humeval_power.inference.preference.latent_scale import LatentPreference, latent_preference
from humeval_power.inference.preference.panel import Panel
from humeval_power.inference.preference.panel_model import Codes, PanelFits, PanelModel
from humeval_power.latent import Link
from humeval_power.scenarios.blocks import draw_in_blocks
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Floats, Replicates

BLOCK = 128  # replicates drawn together; part of what a seed means
MOST_WORKERS = 1000  # whose information is inverted at once for the formula
_METHOD = "formula (expected information, noncentral t)"
_Z = np.linspace(-9.0, 9.0, 4001)  # normal deviates over which exaggeration is summed


@dataclass(frozen=True)
class PanelPreference:
    """Judgements of a panel, the true preference, and how workers and items vary.

    `preference` is the share that prefers B, ties counted half, minus 1/2; `tie_share` the share of ties; both
    over workers, items and the two orders of presentation. `position_bias` is the share that prefers what
    is shown first where neither is stronger, minus 1/2. The standard deviations of workers' and items' own
    strengths are on the scale of the link.
    """

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
        if problems:
            raise InputError(problems)
        _ = self.latent  # refuses shares that no judges have

    @property
    def true_effect(self) -> float:
        """Share that prefers B, ties counted half, minus 1/2."""
        return self.preference

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

    def with_effect(self, effect: float) -> PanelPreference:
        """The same panel with another preference and the same share of ties."""
        return replace(self, preference=effect)

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
        found = self.latent.preferred(strength) - 0.5
        total = float(weight.sum())
        if total == 0:
            return math.nan, math.nan
        size = float(weight @ np.abs(found)) / (total * abs(self.preference))
        return size, float(weight[strength < 0].sum()) / total

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test studies `first` to `first + n - 1`. A study whose model has no highest likelihood is
        no failure: the sign tests of workers and of items decide, as they do for a finished one."""
        return draw_in_blocks(self._draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=BLOCK)

    def _draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        model, latent = self._model, self.latent
        eta = self._strength + self._noise(rng, size)
        if latent.sd_worker:
            eta += latent.sd_worker * rng.standard_normal((size, self.panel.n_workers))[:, model.worker]
        if latent.sd_item:
            eta += latent.sd_item * rng.standard_normal((size, self.panel.n_items))[:, model.item]
        outcomes = (eta > latent.threshold).astype(np.int64) - (eta < -latent.threshold)
        fits = model.fits(outcomes, link=self.link, start=latent)
        return self._decided(model, fits, outcomes)

    def _noise(self, rng: np.random.Generator, size: int) -> Floats:
        shape = size, self.panel.n_judgements
        return rng.standard_normal(shape) if self.link == "probit" else rng.logistic(size=shape)

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
