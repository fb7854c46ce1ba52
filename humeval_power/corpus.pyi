"""BLEU and other metrics of a corpus: randomisation test and power."""

from humeval_power.api.corpus import estimate as estimate
from humeval_power.api.corpus import test as test
from humeval_power.interfaces.formats.corpora import read_corpus as read_corpus
from humeval_power.interfaces.formats.item_clusters import read_cluster_lines as read_cluster_lines
from humeval_power.scenarios.corpus import PRESETS as PRESETS
from humeval_power.scenarios.corpus import CorpusStudy as CorpusStudy
