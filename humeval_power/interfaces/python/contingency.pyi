"""F1, precision, recall and MCC: randomisation test and power."""

from humeval_power.api.contingency import estimate as estimate
from humeval_power.api.contingency import test as test
from humeval_power.interfaces.formats.corpora import read_labels as read_labels
from humeval_power.scenarios.contingency.scenario import ContingencyStudy as ContingencyStudy
from humeval_power.scenarios.contingency.tables import binary_recalls as binary_recalls
from humeval_power.scenarios.contingency.tables import correlated_errors as correlated_errors
from humeval_power.scenarios.contingency.tables import counted as counted
from humeval_power.scenarios.contingency.tables import equal_agreement as equal_agreement
from humeval_power.scenarios.contingency.tables import observed_tables as observed_tables
from humeval_power.scenarios.contingency.tables import place_of_positive as place_of_positive
