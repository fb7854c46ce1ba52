"""What is kept of a fit: everything needed to plan from it and to judge it, as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from humeval_power.reporting.records import Record
from humeval_power.reporting.row_flow import flow_record
from humeval_power.reporting.study.fits.adjustment import adjustment_content

if TYPE_CHECKING:  # documents know the schemas, and need nothing else
    from humeval_power.estimation.fit import Fit
    from humeval_power.estimation.latent.fit import LatentFit
    from humeval_power.inference.study.adjustment import Adjustment
    from humeval_power.inference.study.family_check import FamilyCheck
    from humeval_power.inference.study.intervals import IntervalMethod, Intervals
    from humeval_power.inference.study.wald import EffectTest
    from humeval_power.planning.power import PowerEstimate
    from humeval_power.ratings import Ratings


def fit_content(
    ratings: Ratings,
    fit: Fit | LatentFit,
    test: EffectTest,
    *,
    size: PowerEstimate | None = None,
    intervals: tuple[IntervalMethod, Intervals] | None = None,
    adjustment: Adjustment | None = None,
    check: FamilyCheck | None = None,
) -> Record:
    """A fit with everything needed to plan from it and to judge it.

    `size` is the simulated rate of false positives of the test, where it was looked at; `intervals`
    those of the parameters, and how they were found; `adjustment` what documents and covariates change;
    `check` the test as categories, where it was asked for.
    """
    scale = ratings.scale
    low, high = test.interval
    margin: Record = {}
    if test.rule.margin is not None:
        margin = {
            "p_values": list(test.p_values),
            "raw_margin": abs(scale.effect_to_raw(test.rule.margin)),
        }
    raw = sorted((scale.effect_to_raw(low), scale.effect_to_raw(high)))
    ranges: Record | None = None if intervals is None else {"method": intervals[0], **_lists(intervals[1])}
    record: Record = {
        "parameters": fit.parameters.as_dict(),
        "standard_errors": dict(fit.standard_errors),
        "intervals": ranges,
        "uncertainty": None if fit.uncertainty is None else fit.uncertainty.as_dict(),
        "estimator": fit.estimator,
        "engine": fit.engine,
        "effect": {
            "estimate": test.estimate,
            "standard_error": test.standard_error,
            "df": test.df,
            "p_value": test.p_value,
            "interval": [low, high],
            "significant": None if test.reason else test.significant,
            "reason": test.reason or None,
            **margin,
            "rule": asdict(test.rule),
            "raw": {
                "estimate": scale.effect_to_raw(test.estimate),
                "standard_error": test.standard_error * scale.width,
                "interval": raw,
            },
            "df_satterthwaite": fit.df_satterthwaite,
            "df_kenward_roger": fit.df_kenward_roger,
            "simulated_size": None if size is None else size.rejection_rate,
            "simulated_size_interval": None if size is None else list(size.rejection_interval),
        },
        **adjustment_content(adjustment),
        "criterion": fit.criterion,
        "n_ratings": fit.n_ratings,
        "n_workers": fit.n_workers,
        "n_items": fit.n_items,
        "design": str(ratings.design()),
        "ratings_per_item": ratings.design().ratings_per_item,
        "converged": fit.converged,
        "message": fit.message,
        "n_optima": fit.n_optima,
        "boundary": list(fit.boundary),
        "not_identified": list(fit.not_identified),
        "identified_combinations": list(fit.identified_combinations),
        "scale": asdict(scale),
        "systems": list(ratings.system_names),
        "criterion_name": ratings.criterion,
        **flow_record(ratings),
        "notices": list(ratings.notices),
        "data": {"source": ratings.source},
    }
    probed = getattr(fit, "monte_carlo", None)  # a fit of categories has none
    if probed is not None:
        record["monte_carlo"] = asdict(probed)
    if check is not None:
        from humeval_power.reporting.study.fits.family_words import family_content

        record["family_check"] = family_content(check)
    if fit.parameters.latent is None:
        return record
    from humeval_power.reporting.study.fits.latent_content import with_categories

    return with_categories(record, ratings, fit, test)


def _lists(intervals: Intervals) -> Record:
    return {name: [low, high] for name, (low, high) in intervals.items()}
