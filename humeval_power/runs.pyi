"""Scores of repeated generations, prompts or seeds: which kind they are, their test, and how many to plan."""

from humeval_power.api.runs import budget as budget
from humeval_power.api.runs import check as check
from humeval_power.api.runs import test as test
from humeval_power.inference.runs.run_table import RunTable as RunTable
from humeval_power.interfaces.formats.runs import read_runs as read_runs
from humeval_power.interfaces.formats.runs_pilot import read_pilot as read_pilot
from humeval_power.runs_parameters import RunsParameters as RunsParameters
from humeval_power.scenarios.runs.ceilings import ceilings as ceilings
from humeval_power.scenarios.runs.ceilings import farthest_effect as farthest_effect
from humeval_power.scenarios.runs.crossed import CrossedRuns as CrossedRuns
from humeval_power.scenarios.runs.nested import NestedRuns as NestedRuns
from humeval_power.scenarios.runs.plan import RunsPlan as RunsPlan
from humeval_power.scenarios.runs.scenario import runs_scenario as runs_scenario
