"""Scores of repeated generations, prompts or seeds: which kind they are, and the test that goes with it."""

from humeval_power.api.runs import check as check
from humeval_power.api.runs import test as test
from humeval_power.inference.runs.run_table import RunTable as RunTable
from humeval_power.interfaces.formats.runs import read_runs as read_runs
from humeval_power.runs_parameters import RunsParameters as RunsParameters
