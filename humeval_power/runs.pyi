"""Scores of repeated generations, prompts or seeds: which kind they are, their test, and how many to plan."""

from humeval_power.comparisons.runs.calls import budget as budget
from humeval_power.comparisons.runs.calls import check as check
from humeval_power.comparisons.runs.calls import test as test
from humeval_power.comparisons.runs.files import read_pilot as read_pilot
from humeval_power.comparisons.runs.files import read_runs as read_runs
from humeval_power.comparisons.runs.scenario import CrossedRuns as CrossedRuns
from humeval_power.comparisons.runs.scenario import NestedRuns as NestedRuns
from humeval_power.comparisons.runs.scenario import RunsPlan as RunsPlan
from humeval_power.comparisons.runs.scenario import ceilings as ceilings
from humeval_power.comparisons.runs.scenario import farthest_effect as farthest_effect
from humeval_power.comparisons.runs.scenario import runs_scenario as runs_scenario
from humeval_power.comparisons.runs.testing import RunTable as RunTable
from humeval_power.runs_parameters import RunsParameters as RunsParameters
