"""Tables of plans with looks: what is there at each, boundaries, the long run, how many looks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from humeval_power.rules import DecisionRule, claim
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Block, Paragraph, Table
from humeval_power.saying.numbers import POWER_LABEL, interval_words, percent, power_words
from humeval_power.saying.quantities import values
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.calibration import LooksCalibration
from humeval_power.studies.looks.dropping import DroppingPlan
from humeval_power.studies.looks.how_many import PROCEDURES, LooksChoice, PoolGrowth, PoolStudy
from humeval_power.studies.looks.judgement_plan import OperatingPoint
from humeval_power.studies.looks.rating_looks import LookPlan, LookRow
from humeval_power.studies.looks.repeated import REASONS, RepeatedPoint, StopExpectation, StopWhen
from humeval_power.studies.looks.systems_looks import SystemsLookPlan

LONG_RUN = "'power' without an effect: false positives; shares by last look"
PROCEDURE_WORDS = {"fixed": "one look", "interim": "interim looks", "interim-futility": "with futility"}


def rows_table(plan: LookPlan | SystemsLookPlan | DroppingPlan) -> Table:
    """What there is at each look, and what stops the study there."""
    priced = plan.costs is not None
    header = ["look", "workers", "items", "ratings", *(["cost"] if priced else []), "of all"]
    header += ["information", "SE", "df"]
    table = tuple(
        (
            str(number),
            f"{row.n_workers:,}",
            f"{row.n_items:,}",
            f"{row.n_ratings:,}",
            *([f"{row.cost:,.0f}"] if priced else []),
            percent(row.size_share),
            percent(row.information_share),
            f"{row.precision.standard_error:.4f}",
            f"{row.precision.df:.1f}",
        )
        for number, row in enumerate(plan.rows, start=1)
    )
    return Table(tuple(header), tuple(table))


def boundaries_table(bounds: Boundaries, *, z: bool = True) -> Table:
    """The boundaries, look by look."""
    futile = any(math.isfinite(value) for value in bounds.futility)
    header = ["look", "significant if p <=", *(["that is z"] if z else [])]
    header += [*(["futile if p >"] if futile else []), "alpha spent"]
    table = []
    for look in range(bounds.n_looks):
        stops = math.isfinite(bounds.futility[look])
        table.append(
            (
                str(look + 1),
                f"{bounds.nominal[look]:.5f}",
                *([f"{bounds.efficacy[look]:.3f}"] if z else []),
                *([f"{bounds.futility_p[look]:.3f}" if stops else "-"] if futile else []),
                f"{bounds.spent[look]:.4f}",
            )
        )
    return Table(
        tuple(header), tuple(table), "Alpha spent: up to this look, where the statistic is normal."
    )


def errors_table(plan: LookPlan | SystemsLookPlan) -> Table:
    """How often each procedure finds a difference where there is none."""
    return Table(
        ("procedure", "false positives", "interval"),
        tuple(
            (each.procedure, f"{each.rate:.3f}", interval_words(*each.interval, digits=3))
            for each in plan.errors
        ),
        caption=f"{plan.n_simulations:,} simulated studies without an effect, alpha {plan.bounds.rule.alpha:g}",
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
    table = tuple(
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
    return Table(tuple(header), tuple(table))


def bias_table(points: Sequence[OperatingPoint]) -> Table:
    """Bias of the estimate at stopping and of the corrected one."""
    table = tuple(
        (
            f"{point.effect:.4g}",
            f"{point.bias:+z.4f}",
            f"{point.corrected_bias:+z.4f}",
            "" if math.isnan(point.type_m) else f"{point.type_m:.2f}",
        )
        for point in points
    )
    header = ["effect", "bias at stopping", "after correction", "exaggeration if significant"]
    return Table(tuple(header), tuple(table))


# A study that its intervals stop.

HOLDS = (
    "The interval holds at every look at once, whatever ends the study: also money, or patience. It is wider than "
    "the plain one, which would miss more often than it says."
)


def stops_table(points: Sequence[StopExpectation], all_workers: int, scale: RatingScale | None) -> Table:
    """For each true difference how many workers it takes, what that saves and what it costs in power."""
    width = 1.0 if scale is None else scale.width
    header = (
        "effect",
        POWER_LABEL.lower(),
        "(one look)",
        "workers",
        "saved",
        "covers",
        "bias",
        "at a decision",
    )
    rows = tuple(
        (
            f"{point.effect * width:.4g}",
            power_words(point.power),
            power_words(point.fixed_power),
            f"{point.workers:.1f}",
            percent(1 - point.workers / all_workers),
            f"{point.coverage:.3f}",
            f"{point.bias * width:+z.4f}",
            "" if math.isnan(point.decision_bias) else f"{point.decision_bias * width:+z.4f}",
        )
        for point in points
    )
    unit = "" if scale is None else ", in points"
    return Table(header, rows, caption=f"by true difference{unit}, of {all_workers} workers")


def decisions_table(points: Sequence[StopExpectation], scale: RatingScale | None) -> Table:
    """The same if decisions alone stopped the study: the price of the other reasons."""
    width = 1.0 if scale is None else scale.width
    return Table(
        ("effect", "power", "workers"),
        tuple(
            (f"{one.effect * width:.4g}", f"{one.decision_power:.3f}", f"{one.decision_workers:.1f}")
            for one in points
        ),
        caption="if decisions alone stopped it",
    )


def stops_blocks(
    points: Sequence[StopExpectation], all_workers: int, rule: DecisionRule, scale: RatingScale | None
) -> Iterator[Block]:
    """The tables, with what their power is of and what the interval is worth."""
    yield stops_table(points, all_workers, scale)
    yield decisions_table(points, scale)
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


def stops_record(points: Sequence[RepeatedPoint], plan: LookPlan) -> list[dict[str, Any]]:
    """The long run at each true effect on [0, 1]."""
    return [
        {
            **{
                name: _number(value) if isinstance(value, float) else value
                for name, value in asdict(point).items()
            },
            "reasons": dict(zip(REASONS, point.reasons, strict=True)),
            "all_workers": plan.rows[-1].n_workers,
        }
        for point in points
    ]


def choices_table(choices: Sequence[LooksChoice]) -> Table:
    """How many looks."""
    header = ["looks", "power", "ratings: no effect", "half of it", "all of it", ""]
    table = tuple(
        (
            str(each.n_looks),
            f"{each.power:.3f}",
            *(percent(share) for share in each.expected),
            "<- enough" if each.recommended else "",
        )
        for each in choices
    )
    return Table(tuple(header), tuple(table))


def growth_table(growth: Sequence[PoolGrowth], chosen: str) -> Table:
    """Information by kind of look."""
    header = ["looks by", "workers at first", "information at each look", "SE at end", "ratings"]
    table = tuple(
        (
            f"{each.kind}{' *' if each.kind == chosen else ''}",
            str(each.first_workers),
            ", ".join(percent(share) for share in each.information_shares[:5]),
            f"{each.standard_error:.4f}",
            f"{each.n_ratings:,}",
        )
        for each in growth
    )
    return Table(tuple(header), tuple(table))


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
    return Table(
        ("one look at", *(PROCEDURE_WORDS[name] for name in PROCEDURES[1:])),
        tuple(
            (
                f"{budget:,.0f}",
                *(_saved(study.saving(name, budget=budget)) for name in PROCEDURES[1:]),
            )
            for budget in at
        ),
    )


def _saved(share: float) -> str:
    return "not reached" if math.isnan(share) else percent(share)


# What records of plans with looks hold, in plain values.


def looks_record(
    plan: LookPlan,
    points: Sequence[OperatingPoint],
    *,
    choices: Sequence[LooksChoice],
    growth: Sequence[PoolGrowth],
    setting: str,
) -> dict[str, Any]:
    """A rating study with looks: what is there at each, boundaries, errors, the long run."""
    study, calibration = plan.study, plan.calibration
    return {
        "setting": setting,
        "parameters": study.parameters.as_dict(),
        "effect": study.true_effect,
        "looks": {"by": study.looks.kind, "shares": list(study.looks.shares)},
        "method": plan.method,
        "boundaries": boundaries_record(plan.bounds),
        "at_looks": rows_record(plan.rows),
        "calibration": None
        if calibration is None
        else {
            **values(calibration, "used", "at_plan", "worst", "worst_worker_sd"),
            "worker_sds": list(calibration.worker_sds),
            "by_worker_sd": list(calibration.by_worker_sd),
            "n_simulations": calibration.n_simulations,
        },
        "errors_without_effect": [
            {"procedure": each.procedure, "rate": each.rate, "interval": list(each.interval)}
            for each in plan.errors
        ],
        "count_time_error_known_variances": plan.count_time_error,
        "inflation_at_power_0.8": _number(plan.inflation),
        "operating_characteristics": [point_record(point) for point in points],
        "numbers_of_looks": [
            {
                "n_looks": each.n_looks,
                "power": each.power,
                "expected_share": dict(zip(("none", "half", "planned"), each.expected, strict=True)),
                "recommended": each.recommended,
            }
            for each in choices
        ],
        "growth": [
            {
                "by": each.kind,
                "information_shares": list(each.information_shares),
                "standard_error": each.standard_error,
                "n_ratings": each.n_ratings,
                "workers_at_first_look": each.first_workers,
            }
            for each in growth
        ],
        "n_simulations": plan.n_simulations,
    }


def rows_record(rows: Sequence[LookRow]) -> list[dict[str, Any]]:
    """What there is at each look."""
    return [
        {
            **values(row, "n_workers", "n_items", "n_ratings", "size_share", "information_share"),
            "standard_error": row.precision.standard_error,
            "df": row.precision.df,
            "cost": _number(row.cost),
        }
        for row in rows
    ]


def judgements_record(
    bounds: Boundaries,
    points: Sequence[OperatingPoint],
    *,
    sizes: Sequence[int],
    words: Sequence[str],
    n_simulations: int,
) -> dict[str, Any]:
    """Independent judgements with looks."""
    return {
        "study": list(words),
        "sizes": list(sizes),
        "boundaries": boundaries_record(bounds),
        "operating_characteristics": [point_record(point) for point in points],
        "n_simulations": n_simulations,
    }


def pool_record(study: PoolStudy, *, names: Sequence[str], at: Sequence[float]) -> dict[str, Any]:
    """A pool of comparisons under three procedures; savings are at the fixed budgets `at`."""
    curves = {}
    for procedure in PROCEDURES:
        spent, power = study.curve(procedure)
        curves[procedure] = {"mean_spent": spent.tolist(), "mean_power": power.tolist()}
    return {
        "budgets": study.budgets.tolist(),
        "pairs": [
            {"name": name, "difference": float(value)}
            for name, value in zip(names, study.differences, strict=True)
        ],
        "curves": curves,
        "power": dict(zip(PROCEDURES, study.power.tolist(), strict=True)),
        "spent": dict(zip(PROCEDURES, study.spent.tolist(), strict=True)),
        "savings": [
            {
                "fixed_budget": budget,
                **{name: _number(study.saving(name, budget=budget)) for name in PROCEDURES[1:]},
            }
            for budget in at
        ],
        "alpha": study.alpha,
        "n_simulations": study.n_simulations,
    }


def boundaries_record(bounds: Boundaries) -> dict[str, Any]:
    """Boundaries: z and nominal p for success and futility, and the error spent. Null: never."""
    rule = bounds.rule
    return {
        "efficacy": str(rule.efficacy),
        "futility": "none" if rule.futility is None else str(rule.futility),
        "alpha": rule.alpha,
        "alternative": rule.alternative,
        "information": list(bounds.information),
        "z": [_number(value) for value in bounds.efficacy],
        "nominal_p": [float(value) for value in bounds.nominal],
        "futility_z": [_number(value) for value in bounds.futility],
        "futility_p": [_number(float(value)) for value in bounds.futility_p],
        "spent": [float(value) for value in bounds.spent],
        "calibration_factor": bounds.calibration,
    }


def point_record(point: OperatingPoint) -> dict[str, Any]:
    """One row of operating characteristics."""
    names = (
        "effect",
        "power",
        "rejection_rate",
        "futility_rate",
        "expected_size",
        "expected_cost",
        "bias",
        "corrected_bias",
        "type_m",
        "fixed_power",
        "n_usable",
        "n_failed",
    )
    return {
        **{name: _number(getattr(point, name)) for name in names},
        "power_interval": list(point.power_interval),
        "rejection_interval": list(point.rejection_interval),
        "stopping": list(point.stopping),
        "success_by_look": list(point.success_by_look),
    }


def _number(value: float) -> float | int | None:
    return value if math.isfinite(value) else None
