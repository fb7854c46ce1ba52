"""What the questions about a scenario found, as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from humeval_power.planning.power import PowerEstimate
from humeval_power.planning.questions import Answer, Detectable, RequiredN
from humeval_power.reporting.records import Record, versions

Rows = Sequence[Mapping[str, object]]


def answer_record(name: str, result: Answer, *, given: Record, seed: int, command: str) -> Record:
    """Power of a scenario; `given` is what the user said of it."""
    return {
        "schema": f"humeval_power/{name}_power/1",
        "effect": result.scenario.true_effect,
        "alpha": result.scenario.alpha,
        "computed": None if result.computed is None else asdict(result.computed),
        "simulated": None if result.simulated is None else _simulated(result.simulated),
        **_provenance(given, seed, command),
    }


def detectable_record(
    name: str, found: Sequence[Detectable], *, given: Record, seed: int, command: str
) -> Record:
    """Minimum detectable effect, one entry for each way in which it was found."""
    return {
        "schema": f"humeval_power/{name}_mde/1",
        "found": [asdict(each) for each in found],
        **_provenance(given, seed, command),
    }


def required_record(name: str, found: RequiredN, *, given: Record, seed: int, command: str) -> Record:
    """Required size; `n` is None where the largest size searched does not reach the target."""
    return {
        "schema": f"humeval_power/{name}_size/1",
        "found": asdict(found),
        **_provenance(given, seed, command),
    }


def rows_record(name: str, rows: Rows, *, given: Record, seed: int, command: str) -> Record:
    """A surface: one row for each cell."""
    return {
        "schema": f"humeval_power/{name}_surface/1",
        "rows": [dict(row) for row in rows],
        **_provenance(given, seed, command),
    }


def _simulated(estimate: PowerEstimate) -> Record:
    return {
        "power": estimate.power,
        "interval": list(estimate.interval),
        "rejection_rate": estimate.rejection_rate,
        "type_m": estimate.type_m,
        "type_s": estimate.type_s,
        "mean_estimate": estimate.mean_estimate,
        "n_simulations": estimate.n_simulations,
        "n_failed": estimate.n_failed,
    }


def _provenance(given: Record, seed: int, command: str) -> Record:
    return {"given": given, "seed": seed, "versions": versions(), "command": command}
