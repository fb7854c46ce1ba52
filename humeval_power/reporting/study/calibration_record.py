"""The JSON document of a calibration as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from humeval_power.designs import Design
from humeval_power.parameters import Parameters
from humeval_power.planning.study.calibration import Calibration
from humeval_power.reporting.records import Record, versions
from humeval_power.simulation.study import Response

CALIBRATION_SCHEMA = "humeval_power/calibration/2"


def calibration_record(
    results: Sequence[Calibration],
    *,
    setting: str,
    parameters: Parameters,
    design: Design,
    response: Response,
    seed: int,
    command: str = "",
) -> Record:
    """All tests of one study without an effect, or with one at the margin of the rule, with what they were
    computed from."""
    return {
        "schema": CALIBRATION_SCHEMA,
        "setting": setting,
        "rows": [result.as_dict() for result in results],
        "rule": asdict(results[0].rule),
        "parameters": parameters.with_difference(results[0].rule.null_effect).as_dict(),
        "design": str(design),
        "n_workers": design.n_workers,
        "n_items": design.n_items,
        "ratings_per_item": design.ratings_per_item,
        "n_ratings": design.n_ratings,
        "response": response,
        "seed": seed,
        "versions": versions(),
        "command": command,
    }
