"""What records of plans with looks hold, in plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.planning.looks.how_many import Growth, LooksChoice
from humeval_power.planning.looks.long_run import OperatingPoint
from humeval_power.planning.looks.pool import PROCEDURES, PoolStudy
from humeval_power.planning.looks.rating_looks import LookPlan, LookRow


def looks_record(
    plan: LookPlan,
    points: Sequence[OperatingPoint],
    *,
    choices: Sequence[LooksChoice],
    growth: Sequence[Growth],
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
            "used": calibration.used,
            "at_plan": calibration.at_plan,
            "worst": calibration.worst,
            "worst_worker_sd": calibration.worst_worker_sd,
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
            "n_workers": row.n_workers,
            "n_items": row.n_items,
            "n_ratings": row.n_ratings,
            "size_share": row.size_share,
            "information_share": row.information_share,
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
