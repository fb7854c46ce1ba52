"""What is kept of a fit of ratings in categories, as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

import numpy as np

from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.study.latent_effects import effects_at, effects_of
from humeval_power.reporting.records import Record

if TYPE_CHECKING:
    from humeval_power.estimation.fit import Fit
    from humeval_power.inference.study.wald import EffectTest
    from humeval_power.ratings import Ratings


def with_categories(record: Record, ratings: Ratings, fit: Fit | LatentFit, test: EffectTest) -> Record:
    """The record of a fit with what only one of categories has: the effect on the latent scale and as a chance,
    the categories, and how well the latent parameters are known."""
    assert isinstance(fit, LatentFit)
    effect = cast(Record, record["effect"])
    return {
        **record,
        "standard_errors": {"effect": test.standard_error},
        "intervals": None,
        "effect": {**effect, **_effect(fit, test)},
        "family": fit.family,
        "categories": {
            "ratings": [float(value) for value in ratings.scale.from_unit(np.array(fit.latent.scores))],
            "shares": [list(shares) for shares in fit.shares],
            "fitted": [list(fit.latent.shares(system)) for system in (0, 1)],
            "unused": list(fit.unused),
            "workers_of_one_rating": fit.one_box,
            "standard_errors": dict(fit.standard_errors),
            "intervals": record["intervals"],
            "covariates": [one._asdict() for one in fit.covariates],
        },
    }


def _effect(fit: LatentFit, test: EffectTest) -> Record:
    """The effect where it is tested, as a chance of a better rating, and averaged over workers and items."""
    found = effects_of(fit.latent)
    latent: Record = {"estimate": found.latent, "standard_error": fit.standard_error_adjusted}
    ends = None
    if test.latent is not None:
        latent = {**asdict(test.latent), "interval": list(test.latent.interval)}
        ends = [effects_at(fit.latent, end) for end in test.latent.interval]
    told: Record = {"latent": latent}
    for name in ("better", "averaged"):
        interval = None if ends is None else [getattr(end, name) for end in ends]
        told[name] = {"estimate": getattr(found, name), "interval": interval}
    return told if found.averaged is not None else {**told, "averaged": None}
