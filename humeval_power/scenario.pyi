"""What every scenario is, and one of your own generator and test."""

from humeval_power.planning.power import PowerEstimate as PowerEstimate
from humeval_power.planning.power import estimate_power as estimate_power
from humeval_power.scenarios.computed import Computable as Computable
from humeval_power.scenarios.computed import ComputedPower as ComputedPower
from humeval_power.scenarios.contract import Replicates as Replicates
from humeval_power.scenarios.contract import Scenario as Scenario
from humeval_power.scenarios.functions import FunctionScenario as FunctionScenario
from humeval_power.scenarios.resample import ResampledRatings as ResampledRatings
