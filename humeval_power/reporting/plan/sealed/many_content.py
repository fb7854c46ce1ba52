"""What a plan document says of several systems, or several criteria, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from humeval_power.systems import SystemsParameters

if TYPE_CHECKING:
    from humeval_power.planning.plan.planned_systems import PlannedSystems


def many_content(many: PlannedSystems, powers: Sequence[float]) -> dict[str, Any]:
    """The section as plain values; `powers` are those under the other parameters."""
    return {
        "assumed": _without_names(many.parameters),
        "family": asdict(many.family),
        "goal": many.goal,
        "criteria": list(many.criteria),
        "n_tests": many.n_tests,
        "shares": [{**asdict(share), "interval": list(share.interval)} for share in many.shares],
        "others": [{"name": name, "systems": _without_names(other)} for name, other in many.others],
        "powers": list(powers),
    }


def _without_names(parameters: SystemsParameters) -> dict[str, Any]:
    return {"effect": None, **{name: v for name, v in parameters.as_dict().items() if name != "names"}}
