"""F1, precision, recall and MCC: randomisation test and power."""

from humeval_power.clusters import Clusters as Clusters
from humeval_power.comparisons.contingency.calls import estimate as estimate
from humeval_power.comparisons.contingency.calls import test as test
from humeval_power.comparisons.contingency.files import LabelTable as LabelTable
from humeval_power.comparisons.contingency.files import read_label_table as read_label_table
from humeval_power.comparisons.contingency.scenario import ContingencyStudy as ContingencyStudy
from humeval_power.comparisons.contingency.scenario import binary_recalls as binary_recalls
from humeval_power.comparisons.contingency.scenario import correlated_errors as correlated_errors
from humeval_power.comparisons.contingency.scenario import counted as counted
from humeval_power.comparisons.contingency.scenario import equal_agreement as equal_agreement
from humeval_power.comparisons.contingency.scenario import observed_tables as observed_tables
from humeval_power.comparisons.contingency.scenario import place_of_positive as place_of_positive
from humeval_power.comparisons.corpus.files import read_labels as read_labels
from humeval_power.files.tables import read_cluster_lines as read_cluster_lines
