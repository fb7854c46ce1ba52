"""Tables of plans with looks: what is there at each, boundaries, the long run, how many looks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.planning.looks.calibration import Calibration
from humeval_power.planning.looks.how_many import Growth, LooksChoice
from humeval_power.planning.looks.long_run import OperatingPoint
from humeval_power.planning.looks.pool import PROCEDURES, PoolStudy
from humeval_power.planning.looks.rating_looks import LookPlan
from humeval_power.planning.looks.systems_looks import SystemsLookPlan
from humeval_power.reporting.document import Table
from humeval_power.reporting.numbers import interval_words, percent

LONG_RUN = "'power' without an effect: false positives; shares by last look"
PROCEDURE_WORDS = {"fixed": "one look", "interim": "interim looks", "interim-futility": "with futility"}


def rows_table(plan: LookPlan | SystemsLookPlan) -> Table:
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
    header += [*(["futile if p >"] if futile else []), "spent, if z"]
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
    return Table(tuple(header), tuple(table))


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


def calibration_words(calibration: Calibration) -> str:
    """What simulation did to the boundaries."""
    return (
        f"nominal levels times {calibration.used:.3f}: {calibration.at_plan:.3f} would do at the planned "
        f"parameters, {calibration.worst:.3f} at the worst worker SD tried ({calibration.worst_worker_sd:.3g} "
        f"of {calibration.worker_sds[0]:.3g} to {calibration.worker_sds[-1]:.3g}); the smallest, at most 1, "
        "is used."
    )


def points_table(points: Sequence[OperatingPoint], *, noun: str, currency: str = "") -> Table:
    """Operating characteristics, one row an effect."""
    priced = not math.isnan(points[0].expected_cost)
    futile = any(point.futility_rate > 0 for point in points)
    header = ["effect", "power", "(one look)", *(["futile"] if futile else [])]
    header += [f"look {look + 1}" for look in range(min(len(points[0].stopping), 4))]
    header += [noun, *([currency] if priced else [])]
    table = tuple(
        (
            f"{point.effect:.4g}",
            f"{point.power if point.effect else point.rejection_rate:.3f}",
            f"{point.fixed_power:.3f}" if point.effect else "",
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
            f"{point.bias:+.4f}",
            f"{point.corrected_bias:+.4f}",
            "" if math.isnan(point.type_m) else f"{point.type_m:.2f}",
        )
        for point in points
    )
    header = ["effect", "bias at stopping", "after correction", "exaggeration if significant"]
    return Table(tuple(header), tuple(table))


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


def growth_table(growth: Sequence[Growth], chosen: str) -> Table:
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
