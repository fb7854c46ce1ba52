"""What documents, covariates and correlations change, as a part of a document and as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from humeval_power.reporting.document import Block, Paragraph, Section, Table
from humeval_power.reporting.numbers import interval_words, p_cell
from humeval_power.reporting.records import Record

if TYPE_CHECKING:
    from humeval_power.inference.study.adjustment import Adjustment
    from humeval_power.inference.study.wald import EffectTest
    from humeval_power.scales import RatingScale


def adjustment_sections(
    found: Adjustment | None, tested: EffectTest, scale: RatingScale
) -> tuple[Section, ...]:
    """The effect with and without, the covariates and the correlations; no section where there is none."""
    if found is None:
        return ()
    return (Section("Adjustment", tuple(_blocks(found, tested, scale))),)


def _blocks(found: Adjustment, tested: EffectTest, scale: RatingScale) -> Iterator[Block]:
    rows = (("adjusted", *_cells(tested)), ("workers and items alone", *_cells(found.unadjusted)))
    head = ("effect", "on [0, 1]", "SE", f"{100 * tested.rule.confidence:g} % interval", "df", "p")
    yield Table(head, rows)
    yield Paragraph(
        f"Adjusted for {adjusted_words(found)}. The second row is for comparison: which model counts is fixed "
        "before the ratings are seen."
    )
    if found.covariates:
        level = 100 * found.covariates[0].test.rule.confidence
        yield Table(
            ("covariate", "on [0, 1]", "raw", f"{level:g} % interval", "df", "p"),
            tuple((one.label, *_with_raw(one.test, scale)) for one in found.covariates),
        )
    if found.correlations:
        yield Table(
            ("correlation of intercept and slope", "estimate", "chi-square", "p"),
            tuple(
                (one.factor, f"{one.value:.3f}", f"{one.fall:.2f}", p_cell(one.p_value))
                for one in found.correlations
            ),
        )


def adjusted_words(found: Adjustment) -> str:
    """What is in the model besides workers and items."""
    parts = [f"{found.n_documents:,} documents"] if found.n_documents else []
    parts += list(dict.fromkeys(one.covariate for one in found.covariates))
    parts += [f"a correlation of {one.factor}s' intercepts and slopes" for one in found.correlations]
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _cells(test: EffectTest) -> tuple[str, ...]:
    if test.reason:
        estimate = "none" if math.isnan(test.estimate) else f"{test.estimate:.4f}"
        return estimate, "none", "none", "none", "none"
    df = f"{test.df:.1f}" if math.isfinite(test.df) else "-"
    interval = interval_words(*test.interval)
    return f"{test.estimate:.4f}", f"{test.standard_error:.4f}", interval, df, p_cell(test.p_value)


def _with_raw(test: EffectTest, scale: RatingScale) -> tuple[str, ...]:
    estimate, _, *rest = _cells(test)
    return estimate, f"{scale.effect_to_raw(test.estimate):.4g}", *rest


def adjustment_content(found: Adjustment | None) -> Record:
    """The same as plain values; nothing for a model of workers and items alone."""
    if found is None:
        return {}
    return {
        "adjustment": {
            "n_documents": found.n_documents,
            "covariates": [
                {"covariate": one.covariate, "label": one.label, **_test(one.test)}
                for one in found.covariates
            ],
            "correlations": [
                {"factor": one.factor, "value": one.value, "chi_square": one.fall, "p_value": one.p_value}
                for one in found.correlations
            ],
            "unadjusted": _test(found.unadjusted),
        }
    }


def _test(test: EffectTest) -> Record:
    return {
        "estimate": test.estimate,
        "standard_error": test.standard_error,
        "df": test.df,
        "p_value": test.p_value,
        "interval": list(test.interval),
        "reason": test.reason or None,
    }
