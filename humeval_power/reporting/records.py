"""The JSON documents of the package as plain values: what `fit`, `power` and `surface` hand on."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING

from humeval_power.planning.power import PowerEstimate, Tally

if TYPE_CHECKING:  # the commands that need none of these start faster
    from humeval_power.parameters import Parameters
    from humeval_power.planning.study.analytic import AnalyticPower
    from humeval_power.planning.study.required import RequiredSize
    from humeval_power.planning.study.surface import Cell, CellResult
    from humeval_power.rules import DecisionRule

PARAMETERS_SCHEMA = "humeval_power/parameters/1"
MDE_SCHEMA = "humeval_power/mde/1"
SIZE_SCHEMA = "humeval_power/size/1"
POWER_SCHEMA = "humeval_power/power/1"
SURFACE_SCHEMA = "humeval_power/surface/1"

Record = dict[str, object]
_VERSIONED = ("humeval-power", "numpy", "scipy", "pandas", "numba")


def result_row(result: CellResult, *, effect_unit: float = 1.0) -> Record:
    """One simulated power; `effect_unit` is the difference on [0, 1] that an effect of 1 stands for."""
    row = result.as_dict()
    row["effect"] = result.estimate.true_effect / effect_unit
    return row


def power_record(
    cell: Cell,
    simulated: PowerEstimate | None,
    *,
    analytic: AnalyticPower | None = None,
    seed: int,
    effect_unit: float = 1.0,
    command: str = "",
) -> Record:
    """One power with what it was computed from. `power` is the simulated one where there is one."""
    from humeval_power.planning.study.surface import CellResult

    study = cell.study
    if simulated is not None:
        row = result_row(CellResult(cell, simulated), effect_unit=effect_unit)
    else:
        row = result_row(CellResult(cell, PowerEstimate(Tally(), study.true_effect, study.alpha)))
        row["effect"] = study.true_effect / effect_unit
        if analytic is not None:
            row.update(power=analytic.power, type_m=analytic.type_m, type_s=analytic.type_s)
    record: Record = {
        "schema": POWER_SCHEMA,
        **row,
        "difference": study.true_effect,
        **study_record(cell, seed=seed, command=command),
    }
    if simulated is not None:
        record["rejection_rate"] = simulated.rejection_rate
        record["mean_estimate"] = simulated.mean_estimate
        record["failure_rate"] = simulated.failure_rate
        record["boundary_rates"] = simulated.boundary_rates
    if analytic is not None:
        record["analytic"] = {
            "power": analytic.power,
            "type_m": analytic.type_m,
            "type_s": analytic.type_s,
            "standard_error": analytic.precision.standard_error,
            "df": analytic.precision.df,
        }
    return record


def study_record(cell: Cell, *, seed: int, command: str = "") -> Record:
    """What a simulated number was computed from."""
    study = cell.study
    return {
        "setting": cell.setting,
        "workers": study.design.n_workers,
        "items": study.design.n_items,
        "ratings_per_item": study.design.ratings_per_item,
        "n_ratings": study.design.n_ratings,
        "design": study.design.kind,
        "response": study.response,
        "rule": asdict(study.rule),
        "parameters": study.parameters.as_dict(),
        "seed": seed,
        "versions": versions(),
        "command": command,
    }


def size_record(
    answer: RequiredSize,
    parameters: Parameters,
    *,
    effect: float,
    rule: DecisionRule,
    seed: int,
    command: str = "",
) -> Record:
    """A required size, or why there is none."""
    simulated = answer.simulated
    return {
        "schema": SIZE_SCHEMA,
        "sought": answer.sought,
        "target_power": answer.target,
        "effect": effect,
        "reached": answer.counts is not None,
        "reason": answer.reason,
        "workers": answer.counts.n_workers if answer.counts else None,
        "items": answer.counts.n_items if answer.counts else None,
        "ratings_per_item": answer.counts.ratings_per_item if answer.counts else None,
        "n_ratings": 2 * answer.counts.n_items * answer.counts.ratings_per_item if answer.counts else None,
        "analytic_power": answer.analytic,
        "power": simulated.power if simulated else None,
        "power_interval": list(simulated.interval) if simulated else None,
        "n_simulations": simulated.n_simulations if simulated else 0,
        "rule": asdict(rule),
        "parameters": parameters.as_dict(),
        "seed": seed,
        "versions": versions(),
        "command": command,
    }


def surface_record(
    results: Sequence[CellResult],
    rows: Sequence[Mapping[str, object]],
    *,
    settings: Mapping[str, Parameters],
    rules: Sequence[DecisionRule],
    seed: int,
    effect_unit: float = 1.0,
    command: str = "",
) -> Record:
    """All rows of a surface with what they were computed from."""
    return {
        "schema": SURFACE_SCHEMA,
        "rows": [dict(row) for row in rows],
        "effect_unit": effect_unit,
        "rule": asdict(rules[0]),
        "rules": [asdict(rule) for rule in rules],
        "settings": {name: parameters.as_dict() for name, parameters in settings.items()},
        "response": results[0].cell.study.response,
        "seed": seed,
        "versions": versions(),
        "command": command,
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on."""
    found = {"python": platform.python_version()}
    for package in _VERSIONED:
        found[package] = metadata.version(package)
    return found


def json_ready(value: object) -> object:
    """The same value without NaN and infinities, which JSON does not know: they become None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_ready(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(part) for part in value]
    return value
