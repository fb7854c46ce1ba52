"""What a plan document says of the rules by which the analysis leaves out workers, as plain values."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from humeval_power.planning.plan.planned_rules import PlannedRules


def rules_content(planned: PlannedRules) -> dict[str, Any]:
    """The section as plain values."""
    cost = planned.cost
    return {
        "limits": asdict(planned.rules),
        "checks": planned.checks,
        "repeats": planned.repeats,
        "careless": planned.careless,
        "cost": {
            "careful_out": cost.out.careful,
            "careless_out": _null(cost.out.careless),
            "power": _null(cost.power),
            "without": _null(cost.without),
            "all_careful": _null(cost.all_careful),
            "n_simulations": cost.n_simulations,
        },
    }


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
