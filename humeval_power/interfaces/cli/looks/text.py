"""Plans with looks for people, at most 80 characters wide."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table
from humeval_power.planning.looks.calibration import Calibration
from humeval_power.planning.looks.how_many import Growth, LooksChoice
from humeval_power.planning.looks.long_run import OperatingPoint
from humeval_power.planning.looks.pool import PROCEDURES, PoolStudy
from humeval_power.planning.looks.rating_looks import LookPlan

LONG_RUN = "Long run ('power' without an effect: false positives; shares by last look):"
_PROCEDURES = {"fixed": "one look", "interim": "interim looks", "interim-futility": "with futility"}


def facts_text(facts: Sequence[tuple[str, str]]) -> str:
    """Labelled lines."""
    return "\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts)


def rows_text(plan: LookPlan) -> str:
    """What there is at each look, and what stops the study there."""
    priced = plan.costs is not None
    header = ["Look", "workers", "items", "ratings", *(["cost"] if priced else []), "of all"]
    header += ["information", "SE", "df"]
    table = [
        [
            str(number),
            f"{row.n_workers:,}",
            f"{row.n_items:,}",
            f"{row.n_ratings:,}",
            *([f"{row.cost:,.0f}"] if priced else []),
            percent(row.size_share),
            percent(row.information_share),
            f"{row.precision.standard_error:.4f}",
            f"{row.precision.df:.1f}",
        ]
        for number, row in enumerate(plan.rows, start=1)
    ]
    return text_table(header, table, indent="")


def boundaries_text(bounds: Boundaries, *, z: bool = True) -> str:
    """The boundaries, look by look."""
    futile = any(math.isfinite(value) for value in bounds.futility)
    header = ["Look", "significant if p <=", *(["that is z"] if z else [])]
    header += [*(["futile if p >"] if futile else []), "spent, if z"]
    table = []
    for look in range(bounds.n_looks):
        stops = math.isfinite(bounds.futility[look])
        table.append(
            [
                str(look + 1),
                f"{bounds.nominal[look]:.5f}",
                *([f"{bounds.efficacy[look]:.3f}"] if z else []),
                *([f"{bounds.futility_p[look]:.3f}" if stops else "-"] if futile else []),
                f"{bounds.spent[look]:.4f}",
            ]
        )
    return text_table(header, table, indent="")


def errors_text(plan: LookPlan) -> str:
    """How often each procedure finds a difference where there is none."""
    lines = []
    for each in plan.errors:
        low, high = each.interval
        lines.append(wrapped(f"{each.procedure}", bullet=f"  {each.rate:.3f}  ({low:.3f} to {high:.3f})  "))
    return "\n".join(
        [
            f"False positives, {plan.n_simulations:,} simulated studies without an effect, alpha "
            f"{plan.bounds.rule.alpha:g}:",
            *lines,
        ]
    )


def calibration_text(calibration: Calibration) -> str:
    """What simulation did to the boundaries."""
    return (
        f"nominal levels times {calibration.used:.3f}: {calibration.at_plan:.3f} would do at the planned "
        f"parameters, {calibration.worst:.3f} at the worst worker SD tried ({calibration.worst_worker_sd:.3g} "
        f"of {calibration.worker_sds[0]:.3g} to {calibration.worker_sds[-1]:.3g}); the smallest, at most 1, "
        "is used."
    )


def points_text(points: Sequence[OperatingPoint], *, noun: str, currency: str = "") -> str:
    """Operating characteristics, one row an effect."""
    priced = not math.isnan(points[0].expected_cost)
    futile = any(point.futility_rate > 0 for point in points)
    header = ["Effect", "power", "(one look)", *(["futile"] if futile else [])]
    header += [f"look {look + 1}" for look in range(min(len(points[0].stopping), 4))]
    header += [noun, *([currency] if priced else [])]
    table = [
        [
            f"{point.effect:.4g}",
            f"{point.power if point.effect else point.rejection_rate:.3f}",
            f"{point.fixed_power:.3f}" if point.effect else "",
            *([f"{point.futility_rate:.3f}"] if futile else []),
            *(f"{share:.2f}" for share in point.stopping[:4]),
            f"{point.expected_size:,.0f}",
            *([f"{point.expected_cost:,.0f}"] if priced else []),
        ]
        for point in points
    ]
    return text_table(header, table, indent="")


def bias_text(points: Sequence[OperatingPoint]) -> str:
    """Bias of the estimate at stopping and of the corrected one."""
    table = [
        [
            f"{point.effect:.4g}",
            f"{point.bias:+.4f}",
            f"{point.corrected_bias:+.4f}",
            "" if math.isnan(point.type_m) else f"{point.type_m:.2f}",
        ]
        for point in points
    ]
    header = ["Effect", "bias at stopping", "after correction", "exaggeration if significant"]
    return text_table(header, table, indent="")


def choices_text(choices: Sequence[LooksChoice]) -> str:
    """How many looks."""
    header = ["Looks", "power", "ratings: no effect", "half of it", "all of it", ""]
    table = [
        [
            str(each.n_looks),
            f"{each.power:.3f}",
            *(percent(share) for share in each.expected),
            "<- enough" if each.recommended else "",
        ]
        for each in choices
    ]
    return text_table(header, table, indent="")


def growth_text(growth: Sequence[Growth], chosen: str) -> str:
    """Information by kind of look."""
    header = ["Looks by", "workers at first", "information at each look", "SE at end", "ratings"]
    table = [
        [
            f"{each.kind}{' *' if each.kind == chosen else ''}",
            str(each.first_workers),
            ", ".join(percent(share) for share in each.information_shares[:5]),
            f"{each.standard_error:.4f}",
            f"{each.n_ratings:,}",
        ]
        for each in growth
    ]
    return text_table(header, table, indent="")


def pool_text(study: PoolStudy, *, at: Sequence[float]) -> str:
    """Average power by planned budget, and savings at equal power."""
    header = ["Planned", *(f"{_PROCEDURES[name]}" for name in PROCEDURES), "spent", "spent, futility"]
    curves = {name: study.curve(name) for name in PROCEDURES}
    table = [
        [
            f"{budget:,.0f}",
            *(f"{curves[name][1][row]:.3f}" for name in PROCEDURES),
            *(f"{curves[name][0][row]:,.0f}" for name in PROCEDURES[1:]),
        ]
        for row, budget in enumerate(study.budgets)
    ]
    lines = [text_table(header, table, indent=""), ""]
    for budget in at:
        saved = {name: study.saving(name, budget=budget) for name in PROCEDURES[1:]}
        words = ", ".join(
            f"{_PROCEDURES[name]} {'not reached' if math.isnan(value) else percent(value)}"
            for name, value in saved.items()
        )
        lines.append(wrapped(words, bullet=f"Saved at the power of one look at {budget:,.0f}: "))
    return "\n".join(lines)


def percent(share: float) -> str:
    """A share in words."""
    return f"{100 * share:.0f} %"
