"""F1, precision, recall and MCC: randomisation test and power."""

from humeval_power.api.contingency import estimate as estimate
from humeval_power.api.contingency import test as test
from humeval_power.clusters import Clusters as Clusters
from humeval_power.interfaces.formats.contingency import LabelTable as LabelTable
from humeval_power.interfaces.formats.contingency import read_label_table as read_label_table
from humeval_power.interfaces.formats.corpora import read_labels as read_labels
from humeval_power.interfaces.formats.item_clusters import read_cluster_lines as read_cluster_lines
from humeval_power.scenarios.contingency.labels import counted as counted
from humeval_power.scenarios.contingency.labels import place_of_positive as place_of_positive
from humeval_power.scenarios.contingency.scenario import ContingencyStudy as ContingencyStudy
from humeval_power.scenarios.contingency.tables import binary_recalls as binary_recalls
from humeval_power.scenarios.contingency.tables import correlated_errors as correlated_errors
from humeval_power.scenarios.contingency.tables import equal_agreement as equal_agreement
from humeval_power.scenarios.contingency.tables import observed_tables as observed_tables
