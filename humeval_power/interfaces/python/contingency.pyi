"""F1, precision, recall and MCC: randomisation test and power."""

from humeval_power.api.contingency import estimate as estimate
from humeval_power.api.contingency import test as test
from humeval_power.scenarios.contingency.scenario import ContingencyStudy as ContingencyStudy
