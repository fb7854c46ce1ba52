"""The answer of `power` as text."""

from __future__ import annotations

import math

from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference
from humeval_power.inference.replication import NO_LOSSES
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.planning.analytic import AnalyticPower
from humeval_power.planning.comparison import disagree
from humeval_power.planning.halfway import HalfwayPower
from humeval_power.planning.limits import ceiling_with_items, ceiling_with_workers
from humeval_power.planning.power import PowerEstimate
from humeval_power.planning.surface import Cell
from humeval_power.reporting.rule_words import PARITY, halfway_words, margin_words
from humeval_power.scenarios.rating_study import RatingStudy


def power_text(
    cell: Cell,
    simulated: PowerEstimate | None,
    analytic: AnalyticPower | None,
    settings: Assumptions,
    said: Difference,
    unit: float,
    halfway: HalfwayPower | None = None,
) -> str:
    """The power for people, at most 80 characters wide; `said` is the effect as it was understood."""
    study = cell.study
    difference = study.true_effect
    effect = str(said)
    if unit != 1.0:
        effect += f" (coefficient {difference / unit:g} under -1/+1 coding)"
    has_margin = study.rule.margin is not None
    facts = [
        ("Effect", effect),
        *([("Margin", margin_words(study.rule, settings.scale))] if has_margin else []),
        ("Setting", cell.setting),
        ("Study", str(study.design)),
        ("Test", str(study.rule)),
    ]
    if analytic is not None:
        facts += _analytic_facts(analytic, has_margin=has_margin)
    if simulated is not None:
        facts += _simulated_facts(simulated)
    if halfway is not None:
        facts.append(("Halfway", halfway_words(halfway)))
    if analytic is not None and simulated is not None:
        if study.losses != NO_LOSSES:
            cost = analytic.power - simulated.power
            facts.append(("Losses", f"as planned the power is {analytic.power:.3f}; they cost {cost:.3f}"))
        elif disagree(analytic, simulated):
            facts.append(("Caution", _disagreement(analytic)))
    if analytic is not None and (difference > 0 or has_margin) and not analytic.is_rough:
        facts += _ceiling_facts(study)
    if has_margin:
        facts.append(("Note", PARITY))
    return "\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts)


def _analytic_facts(analytic: AnalyticPower, *, has_margin: bool) -> list[tuple[str, str]]:
    precision = analytic.precision
    rough = "; rough, with so few workers" if analytic.is_rough else ""
    worth = ", type M and S are not defined without a difference"
    if math.isfinite(analytic.type_m):
        worth = f", type M {analytic.type_m:.2f}, type S {analytic.type_s:.4f}"
    if has_margin:
        worth = ""
    return [
        (
            "Formula",
            f"power {analytic.power:.3f}{worth}  "
            f"(SE {precision.standard_error:.4f}, df {precision.df:.1f}{rough})",
        )
    ]


def _simulated_facts(estimate: PowerEstimate) -> list[tuple[str, str]]:
    low, high = estimate.interval
    zero = ", ".join(f"{name} {100 * rate:.0f} %" for name, rate in estimate.boundary_rates.items())
    worth = [
        ("Type M", f"{estimate.type_m:.2f}  (a significant estimate exaggerates this many times)"),
        ("Type S", f"{estimate.type_s:.4f}  (share of significant estimates with the wrong sign)"),
    ]
    if not estimate.directed:
        worth = [("Type M/S", "not defined: nothing is found that could be exaggerated or reversed")]
    elif not math.isfinite(estimate.type_m):
        worth = [("Type M/S", "not known: no simulated study was significant")]
    fits = (
        "Fits",
        f"{estimate.n_simulations:,} simulated, {estimate.n_failed:,} failed{_failed_share(estimate)}",
    )
    if estimate.too_many_failed:
        return [("Power", "none: too many of the simulated studies could not be fitted"), fits]
    return [
        ("Power", f"{estimate.power:.3f}  (95 % Monte Carlo interval {low:.3f} to {high:.3f})"),
        *worth,
        ("At zero", f"{zero}  (estimated as zero; those fits are kept)"),
        fits,
    ]


def _failed_share(estimate: PowerEstimate) -> str:
    if not estimate.n_failed:
        return ""
    return f" ({100 * estimate.failure_rate:.3g} %; they count as not significant)"


def _disagreement(analytic: AnalyticPower) -> str:
    why = "with so few workers the formula is rough" if analytic.is_rough else "the formula is off here"
    return (
        f"Formula and simulation differ by more than Monte Carlo error and 0.02: {why}; "
        "trust the simulation."
    )


def _ceiling_facts(study: RatingStudy) -> list[tuple[str, str]]:
    design = study.design
    if design.kind not in ("crossed", "k-per-item") or study.rule.df == "normal":
        return []
    k = None if design.is_crossed else design.ratings_per_item
    items = ceiling_with_items(study.parameters, n_workers=design.n_workers, rule=study.rule)
    workers = ceiling_with_workers(
        study.parameters, n_items=design.n_items, ratings_per_item=k, rule=study.rule
    )
    return [
        ("Limits", f"power {items.power:.3f} with these workers and endless items;"),
        ("", f"power {workers.power:.3f} with these items and endless workers"),
    ]
