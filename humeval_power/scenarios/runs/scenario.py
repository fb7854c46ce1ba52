"""The scenario of a plan, by the kind of its runs."""

from __future__ import annotations

from humeval_power.runs_parameters import RunsParameters
from humeval_power.scenarios.runs.crossed import CrossedRuns
from humeval_power.scenarios.runs.nested import NestedRuns
from humeval_power.scenarios.runs.plan import RunsPlan

RunsScenario = NestedRuns | CrossedRuns


def runs_scenario(parameters: RunsParameters, plan: RunsPlan, *, effect: float) -> RunsScenario:
    """What is simulated or computed for a plan and a true difference B - A, in the unit of the scores."""
    if parameters.kind == "nested":
        return NestedRuns(parameters, plan, effect=effect)
    return CrossedRuns(parameters, plan, effect=effect)
