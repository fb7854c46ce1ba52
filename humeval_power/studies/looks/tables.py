"""Tables of plans with looks: what is there at each, boundaries, the long run, how many looks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from humeval_power.rules import DecisionRule, claim
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Block, Paragraph, Table
from humeval_power.saying.numbers import POWER_LABEL, interval_words, percent, power_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.calibration import LooksCalibration
from humeval_power.studies.looks.dropping import DroppingPlan
from humeval_power.studies.looks.how_many import PROCEDURES, LooksChoice, PoolGrowth, PoolStudy
from humeval_power.studies.looks.judgement_plan import OperatingPoint
from humeval_power.studies.looks.rating_looks import LookPlan, LookRow
from humeval_power.studies.looks.repeated import RepeatedPoint, StopExpectation, StopWhen
from humeval_power.studies.looks.stopping_rule import StoppingRule
from humeval_power.studies.looks.systems_looks import SystemsLookPlan

LONG_RUN = "'power' without an effect: false positives; shares by last look"
PROCEDURE_WORDS = {"fixed": "one look", "interim": "interim looks", "interim-futility": "with futility"}


def rows_table(plan: LookPlan | SystemsLookPlan | DroppingPlan) -> Table:
    """What there is at each look, and what stops the study there."""
    rows = plan.rows
    cost = {"cost": lambda look: f"{rows[look].cost:,.0f}"}
    return table(
        range(len(rows)),
        {
            "look": lambda look: str(look + 1),
            "workers": lambda look: f"{rows[look].n_workers:,}",
            "items": lambda look: f"{rows[look].n_items:,}",
            "ratings": lambda look: f"{rows[look].n_ratings:,}",
            **(cost if plan.costs is not None else {}),
            "of all": lambda look: percent(rows[look].size_share),
            "information": lambda look: percent(rows[look].information_share),
            "SE": lambda look: f"{rows[look].precision.standard_error:.4f}",
            "df": lambda look: f"{rows[look].precision.df:.1f}",
        },
    )


def boundaries_table(bounds: Boundaries) -> Table:
    """The boundaries, look by look."""
    stops = [math.isfinite(value) for value in bounds.futility]
    futile = {"futile if p >": lambda look: f"{bounds.futility_p[look]:.3f}" if stops[look] else "-"}
    return table(
        range(bounds.n_looks),
        {
            "look": lambda look: str(look + 1),
            "significant if p <=": lambda look: f"{bounds.nominal[look]:.5f}",
            "that is z": lambda look: f"{bounds.efficacy[look]:.3f}",
            **(futile if any(stops) else {}),
            "alpha spent": lambda look: f"{bounds.spent[look]:.4f}",
        },
        "Alpha spent: up to this look, where the statistic is normal.",
    )


def errors_table(plan: LookPlan | SystemsLookPlan) -> Table:
    """How often each procedure finds a difference where there is none."""
    return table(
        plan.errors,
        {
            "procedure": lambda each: each.procedure,
            "false positives": lambda each: f"{each.rate:.3f}",
            "interval": lambda each: interval_words(*each.interval, digits=3),
        },
        f"{plan.n_simulations:,} simulated studies without an effect, alpha {plan.bounds.rule.alpha:g}",
    )


def calibration_words(calibration: LooksCalibration) -> str:
    """What simulation did to the boundaries."""
    return (
        f"levels times {calibration.used:.3f}, so that alpha is kept however much workers differ, with SDs from "
        f"{calibration.worker_sds[0]:.3g} to {calibration.worker_sds[-1]:.3g}: the planned parameters alone allow "
        f"{calibration.at_plan:.3f}, the worst SD ({calibration.worst_worker_sd:.3g}) {calibration.worst:.3f}; "
        "more than 1 is not used"
    )


def points_table(points: Sequence[OperatingPoint], *, noun: str, currency: str = "") -> Table:
    """Operating characteristics, one row an effect."""
    priced = not math.isnan(points[0].expected_cost)
    futile = any(point.futility_rate > 0 for point in points)
    header = ["effect", POWER_LABEL.lower(), "(one look)", *(["futile"] if futile else [])]
    header += [f"look {look + 1}" for look in range(min(len(points[0].stopping), 4))]
    header += [noun, *([currency] if priced else [])]
    rows = tuple(
        (
            f"{point.effect:.4g}",
            power_words(point.power if point.effect else point.rejection_rate),
            power_words(point.fixed_power) if point.effect else "",
            *([f"{point.futility_rate:.3f}"] if futile else []),
            *(f"{share:.2f}" for share in point.stopping[:4]),
            f"{point.expected_size:,.0f}",
            *([f"{point.expected_cost:,.0f}"] if priced else []),
        )
        for point in points
    )
    return Table(tuple(header), rows)


def bias_table(points: Sequence[OperatingPoint]) -> Table:
    """Bias of the estimate at stopping and of the corrected one."""
    return table(
        points,
        {
            "effect": lambda point: f"{point.effect:.4g}",
            "bias at stopping": lambda point: f"{point.bias:+z.4f}",
            "after correction": lambda point: f"{point.corrected_bias:+z.4f}",
            "exaggeration if significant": lambda point: (
                "" if math.isnan(point.type_m) else f"{point.type_m:.2f}"
            ),
        },
    )


# A study that its intervals stop.

HOLDS = (
    "The interval holds at every look at once, whatever ends the study: also money, or patience. It is wider than "
    "the plain one, which would miss more often than it says."
)


def stops_blocks(
    points: Sequence[StopExpectation], all_workers: int, rule: DecisionRule, scale: RatingScale | None
) -> Iterator[Block]:
    """For each true difference how many workers it takes, what that saves and costs in power; the same if decisions
    alone stopped the study, which is the price of the other reasons; what the interval is worth."""
    width, unit = (1.0, "") if scale is None else (scale.width, ", in points")
    yield table(
        points,
        {
            "effect": lambda point: f"{point.effect * width:.4g}",
            POWER_LABEL.lower(): lambda point: power_words(point.power),
            "(one look)": lambda point: power_words(point.fixed_power),
            "workers": lambda point: f"{point.workers:.1f}",
            "saved": lambda point: percent(1 - point.workers / all_workers),
            "covers": lambda point: f"{point.coverage:.3f}",
            "bias": lambda point: f"{point.bias * width:+z.4f}",
            "at a decision": lambda point: (
                "" if math.isnan(point.decision_bias) else f"{point.decision_bias * width:+z.4f}"
            ),
        },
        f"by true difference{unit}, of {all_workers} workers",
    )
    yield table(
        points,
        {
            "effect": lambda point: f"{point.effect * width:.4g}",
            "power": lambda point: f"{point.decision_power:.3f}",
            "workers": lambda point: f"{point.decision_workers:.1f}",
        },
        "if decisions alone stopped it",
    )
    of = (
        "'power' without a difference: false positives"
        if rule.margin is None
        else f"'power' is the share of studies that show {claim(rule)}"
    )
    yield Paragraph(
        f"{of}. 'Bias at a decision' is that of estimates where a decision ended the study before the last look. "
        f"{HOLDS}"
    )


def stops_lead(
    point: RepeatedPoint, stop_when: StopWhen, all_workers: int, scale: RatingScale | None
) -> str:
    """How many studies find the difference, after how many workers, and what that costs."""
    sizes = stop_when.sizes(scale)
    reasons = ["the difference is decided"] if stop_when.decision else []
    if "equivalence" in sizes:
        reasons.append(f"the interval lies within {sizes['equivalence']} of no difference")
    if "half_width" in sizes:
        reasons.append(f"the interval reaches at most {sizes['half_width']} to each side")
    saved = percent(1 - point.workers / all_workers)
    return (
        f"Of 100 such studies, {of_hundred(point.power, point.power_interval)} would find the difference, "
        f"{of_hundred(point.fixed_power)} with one look at the end. They stop when {' or '.join(reasons)}: on "
        f"average after {point.workers:.1f} of {all_workers} workers, {saved} fewer."
    )


def choices_table(choices: Sequence[LooksChoice]) -> Table:
    """How many looks."""
    return table(
        choices,
        {
            "looks": lambda each: str(each.n_looks),
            "power": lambda each: f"{each.power:.3f}",
            "ratings: no effect": lambda each: percent(each.expected[0]),
            "half of it": lambda each: percent(each.expected[1]),
            "all of it": lambda each: percent(each.expected[2]),
            "": lambda each: "<- enough" if each.recommended else "",
        },
    )


def growth_table(growth: Sequence[PoolGrowth], chosen: str) -> Table:
    """Information by kind of look."""
    return table(
        growth,
        {
            "looks by": lambda each: f"{each.kind}{' *' if each.kind == chosen else ''}",
            "workers at first": lambda each: str(each.first_workers),
            "information at each look": lambda each: ", ".join(map(percent, each.information_shares[:5])),
            "SE at end": lambda each: f"{each.standard_error:.4f}",
            "ratings": lambda each: f"{each.n_ratings:,}",
        },
    )


def pool_table(study: PoolStudy) -> Table:
    """Average power, and judgements spent, by planned budget."""
    header = ("planned", *PROCEDURE_WORDS.values(), "spent", "spent, futility")
    curves = {name: study.curve(name) for name in PROCEDURES}
    return Table(
        header,
        tuple(
            (
                f"{budget:,.0f}",
                *(f"{curves[name][1][row]:.3f}" for name in PROCEDURES),
                *(f"{curves[name][0][row]:,.0f}" for name in PROCEDURES[1:]),
            )
            for row, budget in enumerate(study.budgets)
        ),
    )


def savings_table(study: PoolStudy, *, at: Sequence[float]) -> Table:
    """Judgements saved at the power that one look has at each budget."""
    rows = []
    for budget in at:
        saved = (study.saving(name, budget=budget) for name in PROCEDURES[1:])
        shown = ("not reached" if math.isnan(share) else percent(share) for share in saved)
        rows.append((f"{budget:,.0f}", *shown))
    return Table(("one look at", *(PROCEDURE_WORDS[name] for name in PROCEDURES[1:])), tuple(rows))


# What records of plans with looks hold, in plain values.


def rows_record(rows: Sequence[LookRow]) -> list[Record]:
    """What there is at each look."""
    return [
        {
            **values(row, "n_workers", "n_items", "n_ratings", "size_share", "information_share"),
            **values(row.precision, "standard_error", "df"),
            "cost": finite(row.cost),
        }
        for row in rows
    ]


def boundaries_record(bounds: Boundaries) -> Record:
    """Boundaries: z and nominal p for success and futility, and the error spent. Null: never."""
    return {
        **rule_record(bounds.rule),
        "information": list(bounds.information),
        "z": [finite(value) for value in bounds.efficacy],
        "nominal_p": [float(value) for value in bounds.nominal],
        "futility_z": [finite(value) for value in bounds.futility],
        "futility_p": [finite(float(value)) for value in bounds.futility_p],
        "spent": [float(value) for value in bounds.spent],
        "calibration_factor": bounds.calibration,
    }


def rule_record(rule: StoppingRule) -> Record:
    """What boundaries are made by."""
    return {
        "efficacy": str(rule.efficacy),
        "futility": "none" if rule.futility is None else str(rule.futility),
        "alpha": rule.alpha,
        "alternative": rule.alternative,
    }


def finite(value: Any) -> Any:
    """A value of a record: null for a number that is none."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
