"""What every scenario is, and one of your own generator and test."""

from humeval_power.comparisons.resample.scenario import ResampledRatings as ResampledRatings
from humeval_power.comparisons.scenario.functions import FunctionScenario as FunctionScenario
from humeval_power.scenarios.contract import Computable as Computable
from humeval_power.scenarios.contract import ComputedPower as ComputedPower
from humeval_power.scenarios.contract import Replicates as Replicates
from humeval_power.scenarios.contract import Scenario as Scenario
from humeval_power.studies.power.estimate import PowerEstimate as PowerEstimate
from humeval_power.studies.power.estimate import estimate_power as estimate_power
