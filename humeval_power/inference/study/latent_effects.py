"""A latent effect on the scales that people read: ratings, and the chance of a better one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from humeval_power.errors import ParametersError
from humeval_power.kernels.latent.moments import normal_expectation, shares_given
from humeval_power.latent import LARGEST_EFFECT, Latent

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LatentEffects:
    """One difference B - A in the words of each scale, over the workers and items that the study stands for.

    `expected` is the difference of expected ratings on [0, 1]. `better` is the chance that B's rating beats A's,
    half of the ties included, where the same worker rates both outputs for the same item. `averaged` is the
    latent difference in units of one rating's spread, workers and items included: the coefficient of a model
    without random effects (probit; for logit with two categories the difference of log odds, else none).
    """

    latent: float
    expected: float
    better: float
    averaged: float | None


def effects_of(latent: Latent) -> LatentEffects:
    """The effect of latent parameters on every scale."""
    return LatentEffects(
        latent=latent.effect,
        expected=latent.difference,
        better=chance_of_better(latent),
        averaged=population_averaged(latent),
    )


def effects_at(latent: Latent, effect: float) -> LatentEffects:
    """Every scale at another latent effect, thresholds and deviations as they are: each rises with the effect,
    so the ends of its interval are those of the latent one. Beyond the largest effect nothing changes any
    more: all ratings of a system are in one category."""
    return effects_of(replace(latent, effect=max(-LARGEST_EFFECT, min(LARGEST_EFFECT, effect))))


def expected_at(latent: Latent, effect: float) -> float:
    """Difference of expected ratings on [0, 1] at another latent effect."""
    return replace(latent, effect=max(-LARGEST_EFFECT, min(LARGEST_EFFECT, effect))).difference


def slope_to_expected(latent: Latent) -> float:
    """Expected difference on [0, 1] for each unit of the latent effect, on average from 0 to the effect: what
    turns the latent standard error into one on [0, 1] with the same t."""
    effect = latent.effect if abs(latent.effect) > _NEAR_ZERO else _NEAR_ZERO
    return expected_at(latent, effect) / effect


def latent_margin(latent: Latent, margin: float) -> float:
    """The latent effect at which the expected ratings differ by `margin` on [0, 1]; infinite where no effect
    makes them differ so much."""
    try:
        return latent.with_difference(margin).effect
    except ParametersError:
        return math.inf


def chance_of_better(latent: Latent) -> float:
    """P(B's rating > A's) + P(equal) / 2 for one worker and one item (and document) that both share.

    Given the worker and the item the two ratings are independent; what they share and what parts them are two
    independent normal variables, over which the chance is averaged by quadrature.
    """
    logit = latent.link == "logit"
    factors = ("worker", "item", "document")
    same, across = (latent.shared(factors, same_system=each) for each in (True, False))
    nodes, weights = normal_expectation()
    common = math.sqrt(max(0.0, (same + across) / 2)) * nodes
    apart = math.sqrt(max(0.0, (same - across) / 2)) * nodes
    centre, half = np.meshgrid(common, apart, indexing="ij")
    thresholds = np.array(latent.thresholds)
    of_a = shares_given(centre - half - latent.effect / 2, thresholds, logit=logit)
    of_b = shares_given(centre + half + latent.effect / 2, thresholds, logit=logit)
    below = np.cumsum(of_a, axis=-1) - of_a / 2
    return float(weights @ (of_b * below).sum(axis=-1) @ weights)


def population_averaged(latent: Latent) -> float | None:
    """The effect of a model without random effects."""
    if latent.link == "probit":
        return latent.effect / math.sqrt(1.0 + latent.variance)
    if latent.family == "ordinal":
        return None
    a, b = (latent.shares(system) for system in (0, 1))
    return math.log(b[1] / b[0]) - math.log(a[1] / a[0])


_NEAR_ZERO = 1e-4  # a latent effect below which the expected difference is proportional to it
