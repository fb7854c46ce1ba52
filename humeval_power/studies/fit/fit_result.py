"""A fit of the ratings of two systems: what it says, and the parameters that others plan from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from humeval_power.checking.rehearsed import rehearsal_notices
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.parameters import Parameters
from humeval_power.saying.document import Block, Document, Paragraph, Points, Section, Table, table
from humeval_power.saying.numbers import (
    counted,
    in_words,
    interval_words,
    level_of,
    p_cell,
    p_words,
    percent,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import PARAMETERS_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.row_flow import flow_record, left_out_notice
from humeval_power.studies.fit.fit_blocks import (
    INTERACTION_LEFT_OUT,
    AnyFit,
    effect_section,
    effect_words,
    fit_notes,
    fitted_values,
    further_sections,
    parameter_blocks,
)
from humeval_power.studies.fit.wald import EffectTest, effects_at, effects_of

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.comparisons.agreement.leading import LeadingAlphas
    from humeval_power.designs import Design
    from humeval_power.estimation.crossed.interaction_score import InteractionTest
    from humeval_power.estimation.fit import Fit
    from humeval_power.ratings import Ratings
    from humeval_power.scales import RatingScale
    from humeval_power.studies.fit.intervals import IntervalMethod, Intervals
    from humeval_power.studies.fit.wald import Adjustment, FamilyCheck, SpreadTest
    from humeval_power.studies.power.estimate import PowerEstimate


# What documents, covariates and correlations change, as a part of a document and as plain values.


_TESTED = ("estimate", "standard_error", "df", "p_value", "interval")


def adjustment_sections(
    adjustment: Adjustment | None, tested: EffectTest, scale: RatingScale
) -> Iterator[Section]:
    """The effect with and without, the covariates and the correlations; no section where there is none."""
    if adjustment is not None:
        yield Section("Adjustment", tuple(_blocks(adjustment, tested, scale)))


def _blocks(adjustment: Adjustment, tested: EffectTest, scale: RatingScale) -> Iterator[Block]:
    parts = [f"{adjustment.n_documents:,} documents"] if adjustment.n_documents else []
    parts += list(dict.fromkeys(one.covariate for one in adjustment.covariates))
    parts += [f"a correlation of {one.factor}s' intercepts and slopes" for one in adjustment.correlations]
    rows = (("adjusted", *_cells(tested)), ("workers and items alone", *_cells(adjustment.unadjusted)))
    head = ("effect", "on [0, 1]", "SE", f"{level_of(tested.rule.confidence)} interval", "df", "p")
    yield Table(head, rows)
    yield Paragraph(
        f"Adjusted for {in_words(parts)}. The second row is for comparison: which model counts is fixed "
        "before the ratings are seen."
    )
    if adjustment.covariates:
        level, coefficients = 100 * adjustment.covariates[0].test.rule.confidence, []
        for one in adjustment.covariates:
            estimate, _, *rest = _cells(one.test)
            raw = f"{scale.effect_to_raw(one.test.estimate):.4g}"
            coefficients.append((one.label, estimate, raw, *rest))
        heads = ("covariate", "on [0, 1]", "raw", f"{level:g} % interval", "df", "p")
        yield Table(heads, tuple(coefficients))
    if adjustment.correlations:
        yield table(
            adjustment.correlations,
            {
                "correlation of intercept and slope": lambda one: one.factor,
                "estimate": lambda one: f"{one.value:.3f}",
                "chi-square": lambda one: f"{one.fall:.2f}",
                "p": lambda one: p_cell(one.p_value),
            },
        )


def _cells(test: EffectTest) -> tuple[str, ...]:
    if test.reason:
        estimate = "none" if math.isnan(test.estimate) else f"{test.estimate:.4f}"
        return estimate, "none", "none", "none", "none"
    df = f"{test.df:.1f}" if math.isfinite(test.df) else "-"
    interval = interval_words(*test.interval)
    return f"{test.estimate:.4f}", f"{test.standard_error:.4f}", interval, df, p_cell(test.p_value)


def _adjusted(adjustment: Adjustment) -> Record:
    """The same as plain values."""
    return {
        "n_documents": adjustment.n_documents,
        "covariates": [
            {**values(one, "covariate", "label"), **_test(one.test)} for one in adjustment.covariates
        ],
        "correlations": [
            {"factor": one.factor, "value": one.value, "chi_square": one.fall, "p_value": one.p_value}
            for one in adjustment.correlations
        ],
        "unadjusted": _test(adjustment.unadjusted),
    }


def _test(test: EffectTest) -> Record:
    return {**values(test, *_TESTED), "reason": test.reason or None}


# What is kept of a fit: everything needed to plan from it and to judge it, as plain values.


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
    margin: Record = {}
    if test.rule.margin is not None:
        raw_margin = abs(scale.effect_to_raw(test.rule.margin))
        margin = {"p_values": list(test.p_values), "raw_margin": raw_margin}
    raw = sorted(map(scale.effect_to_raw, test.interval))
    ranges: Record | None = None
    if intervals is not None:
        ranges = {"method": intervals[0], **{name: list(ends) for name, ends in intervals[1].items()}}
    record: Record = {
        "parameters": fit.parameters.as_dict(),
        "standard_errors": dict(fit.standard_errors),
        "intervals": ranges,
        "uncertainty": None if fit.uncertainty is None else fit.uncertainty.as_dict(),
        **values(fit, "estimator", "engine"),
        "effect": {
            **values(test, *_TESTED),
            "significant": None if test.reason else test.significant,
            "reason": test.reason or None,
            **margin,
            "rule": asdict(test.rule),
            "raw": {
                "estimate": scale.effect_to_raw(test.estimate),
                "standard_error": test.standard_error * scale.width,
                "interval": raw,
            },
            **values(fit, "df_satterthwaite", "df_kenward_roger"),
            "simulated_size": None if size is None else size.rejection_rate,
            "simulated_size_interval": None if size is None else list(size.rejection_interval),
        },
        **({} if adjustment is None else {"adjustment": _adjusted(adjustment)}),
        **values(fit, "criterion", "n_ratings", "n_workers", "n_items"),
        "design": str(ratings.design()),
        "ratings_per_item": ratings.design().ratings_per_item,
        **values(fit, "converged", "message", "n_optima"),
        **values(fit, "boundary", "not_identified", "identified_combinations"),
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
        record["family_check"] = family_content(check)
    if fit.parameters.latent is None:
        return record
    return with_categories(record, ratings, fit, test)


# What the other family says of the same ratings, in a line, and where the two part.

_END = 0.5  # share of a system's ratings at an end of the scale that makes models part


def family_remarks(ratings: Ratings, tested: EffectTest, check: FamilyCheck | None) -> tuple[str, ...]:
    """One line, and a warning where the models part; nothing without a check."""
    if check is None:
        return ()
    rule = check.rule
    model = f"the {'yes-or-no' if rule.family == 'binary' else 'ordinal'} model ({rule.link})"
    if check.test is None or check.test.reason:
        why = check.reason if check.test is None else check.test.reason
        return (f"As a check, {model} has no answer for these ratings: {why}",)
    other = check.test
    line = (
        f"As a check, {model} of the same ratings: difference {other.estimate:.4f} on [0, 1], "
        f"{level_of(rule.confidence)} interval {interval_words(*other.interval)}, {p_words(other.p_value)}. "
        "The test that was planned decides."
    )
    return (line, *_parting(ratings, tested, check, other))


def _parting(ratings: Ratings, tested: EffectTest, check: FamilyCheck, other: EffectTest) -> Iterator[str]:
    parts = not tested.reason and (
        tested.significant != other.significant
        or abs(tested.estimate - other.estimate) > tested.standard_error / 2
    )
    spread = []
    if check.spread is not None and check.spread.differs:
        spread.append(spread_words(check.spread, ratings))
    if parts:
        seen = "; ".join([*_seen(ratings), *spread]) or "nothing in the ratings says why"
        yield (
            f"WARNING: the linear model and the model of categories part here ({seen}). State beforehand which "
            "of them leads, and show both."
        )
    elif spread:
        yield f"WARNING: {spread[0]}: a difference of means and a shift are then two questions."


def _seen(ratings: Ratings) -> Iterator[str]:
    """What makes the models part."""
    scale = ratings.scale
    for code, name in enumerate(ratings.system_names):
        unit = ratings.rating[ratings.system == code]
        for end in (unit.max(), unit.min()):
            share = float((unit == end).mean())
            if share >= _END:
                yield f"{percent(share)} of the ratings of {name!r} are {float(scale.from_unit(end)):g}"


def spread_words(spread: SpreadTest, ratings: Ratings) -> str:
    """That systems spread differently, in a clause."""
    a, b = ratings.system_names
    return (
        f"on the latent scale the ratings of {b} spread about {spread.ratio:.2f} times as widely as those of {a} "
        f"(approximate score test, {p_words(spread.p_value)})"
    )


def family_content(check: FamilyCheck) -> Record:
    """The check as plain values."""
    test, names = check.test, ("estimate", "interval", "df", "p_value")
    return {
        "rule": asdict(check.rule),
        "reason": check.reason or (test.reason if test is not None else "") or None,
        **(dict.fromkeys(names) if test is None else values(test, *names)),
        "significant": None if test is None or test.reason else test.significant,
        "spread": None if check.spread is None else asdict(check.spread),
    }


@dataclass(frozen=True, kw_only=True)
class FitResult(Result):
    """A fit with its test. The record is the document of parameters that other commands read.

    `fitted` is the fit itself, a `LatentFit` for ratings in categories, `test` that of the effect; `intervals`
    are those of the parameters, found by `interval_method`, None where the fit did not converge. `size` is the
    simulated rate of false positives, where there are few workers; `interaction` the test of a term of worker
    and item that the model leaves out, None where there is none, or where `interaction_left_out` says that its time
    was saved; `adjustment` what documents, covariates and correlations change, None without any. `strict`: a fit
    that did not converge misses its target. `check` is the test of the ratings as categories, where asked for;
    `agreement` says how far other workers would agree.
    """

    schema: ClassVar[str] = PARAMETERS_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".r",)

    ratings: Ratings
    fitted: AnyFit
    test: EffectTest
    agreement: LeadingAlphas
    intervals: Intervals | None = None
    interval_method: IntervalMethod = "asymptotic"
    size: PowerEstimate | None = None
    interaction: InteractionTest | None = None
    interaction_left_out: bool = False
    adjustment: Adjustment | None = None
    strict: bool = False
    check: FamilyCheck | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def parameters(self) -> Parameters:
        """The seven parameters on [0, 1], under -1/2, +1/2 coding; those of categories are in its `latent`."""
        return self.fitted.parameters

    @property
    def design(self) -> Design:
        """Who rated what."""
        return self.ratings.design()

    @property
    def scale(self) -> RatingScale:
        """The scale that was rated on."""
        return self.ratings.scale

    @property
    def missed(self) -> str:
        """That a fit that had to converge did not."""
        failed = self.strict and not self.fitted.converged
        return f"The fit did not converge: {self.fitted.message}." if failed else ""

    def body(self) -> Document:
        """The effect and its test, the parameters, what to know of them, and the ratings."""
        from humeval_power.studies.fit.check import ratings_picture

        fitted = self.fitted
        notices = (Points(self.ratings.notices),) if self.ratings.notices else ()
        documents = f" in {counted(fitted.n_documents, 'document')}" if fitted.n_documents else ""
        size = (
            f"{fitted.n_ratings:,}, by {counted(fitted.n_workers, 'worker')} of "
            f"{counted(fitted.n_items, 'item')}{documents}"
        )
        notes = (
            *fit_notes(self.ratings, fitted, self.test, self.size, self.interaction),
            *((INTERACTION_LEFT_OUT,) if self.interaction_left_out else ()),
            *family_remarks(self.ratings, self.test, self.check),
        )
        return Document(
            f"Fit of {self.ratings.source}",
            lead=effect_words(self.ratings, self.test),
            headline=(("Ratings", size),),
            caveats=(*rehearsal_notices(self.ratings.worker_names), *left_out_notice(self.ratings.flow)),
            sections=(
                effect_section(self.ratings, fitted, self.test),
                *adjustment_sections(self.adjustment, self.test, self.scale),
                Section("Parameters", parameter_blocks(self.ratings, fitted, self.intervals or {})),
                *further_sections(self.ratings, fitted),
                *([Section("Notes", (Points(notes),))] if notes else []),
                Section("Agreement of workers", (Paragraph(self.agreement.sentence),), is_detail=True),
                Section("Ratings", (ratings_picture(self.ratings), *notices), is_detail=True),
            ),
        )

    def content(self) -> Record:
        """Everything needed to plan from the fit and to judge it."""
        shown = None if self.intervals is None else (self.interval_method, self.intervals)
        return fit_content(
            self.ratings,
            self.fitted,
            self.test,
            size=self.size,
            intervals=shown,
            adjustment=self.adjustment,
            check=self.check,
        )

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """A script of R that repeats the fit from its file."""
        from humeval_power.studies.fit.r_script import r_script

        return r_script(self)

    def to_frame(self) -> pd.DataFrame:
        """A row for each parameter: its value on [0, 1], standard error, and the ends of its 95 % interval; of
        categories thresholds, effect and SDs on the latent scale."""
        import pandas as pd

        rows = []
        for name, value in fitted_values(self.fitted).items():
            low, high = (self.intervals or {}).get(name, (math.nan, math.nan))
            error = self.fitted.standard_errors.get(name, math.nan)
            rows.append((name, value, error, low, high))
        return pd.DataFrame(rows, columns=["parameter", "value", "standard_error", "low", "high"])


# What is kept of a fit of ratings in categories, as plain values.


def with_categories(record: Record, ratings: Ratings, fit: Fit | LatentFit, test: EffectTest) -> Record:
    """The record of a fit with what only one of categories has: the effect on the latent scale and as a chance,
    the categories, and how well the latent parameters are known."""
    assert isinstance(fit, LatentFit)
    effects, ends = effects_of(fit.latent), None
    latent: Record = {"estimate": effects.latent, "standard_error": fit.standard_error_adjusted}
    if test.latent is not None:
        latent = {**asdict(test.latent), "interval": list(test.latent.interval)}
        ends = [effects_at(fit.latent, end) for end in test.latent.interval]
    effect = {**cast(Record, record["effect"]), "latent": latent}
    for name in ("better", "averaged"):
        interval = None if ends is None else [getattr(end, name) for end in ends]
        estimate = getattr(effects, name)
        effect[name] = None if estimate is None else {"estimate": estimate, "interval": interval}
    return {
        **record,
        "standard_errors": {"effect": test.standard_error},
        "intervals": None,
        "effect": effect,
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
