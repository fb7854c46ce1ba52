"""Several systems as `analyze --model joint -o analysis.json` fitted them, to plan from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from humeval_power.errors import InputError, Problem
from humeval_power.files.json_text import read_json
from humeval_power.saying.result import ANALYSES_SCHEMA, ANALYSIS_SCHEMA
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.studies.plan.planned_systems import SystemsPilot


def is_analysis(path: str) -> bool:
    """Whether a file is the record of an analysis, of one criterion or several; what cannot be read is left to
    whoever reads it."""
    try:
        document = read_json(path, hint="")
    except InputError:
        return False
    return isinstance(document, dict) and document.get("schema") in (ANALYSIS_SCHEMA, ANALYSES_SCHEMA)


def read_joint(path: str) -> SystemsPilot:
    """The systems of a record, with their means and standard deviations.

    Raises
    ------
    InputError
        A record of several criteria or without a joint fit, or whose fit did not converge or does not tell its
        variances apart.
    """
    from humeval_power.files.documents.reading import read_document
    from humeval_power.studies.plan.planned_systems import SystemsPilot, systems_of_deviations

    document = read_json(path, hint="")
    if isinstance(document, dict) and document.get("schema") == ANALYSES_SCHEMA:
        rule = "holds the analyses of several criteria, and a study is planned from one."
        remedy = "Write that of the criterion that varies most: analyze --criterion NAME --model joint -o FILE.json"
        raise InputError([Problem(rule, remedy, place=path)])
    record = read_document(path, schema=ANALYSIS_SCHEMA)
    fitted: Mapping[str, Any] | None = record.get("joint_fit")
    if fitted is None:
        rule = "has no joint fit of several systems to plan from."
        raise InputError([Problem(rule, "Write one with: analyze --all-pairs --model joint", place=path)])
    if not fitted["converged"] or fitted["not_identified"]:
        why = "has not converged" if not fitted["converged"] else "does not tell its variances apart"
        remedy = "Plan from a table in which some items have two ratings or more under a system."
        raise InputError([Problem(f"its joint fit {why}.", remedy, place=path)])
    means = record["system_means"]
    names = [str(one["system"]) for one in means]
    scale = record.get("scale")
    return SystemsPilot(
        systems_of_deviations(names, [one["mean"] for one in means], fitted["standard_deviations"]),
        scale=RatingScale(**scale) if isinstance(scale, dict) else None,
        boundary=tuple(fitted["boundary"]),
        ratings=str(record["data"]["source"]) if record.get("data") else None,
    )
