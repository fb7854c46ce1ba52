"""BLEU and other metrics of a corpus: randomisation test and power."""

from humeval_power.choices import PRESETS as PRESETS
from humeval_power.comparisons.corpus.calls import estimate as estimate
from humeval_power.comparisons.corpus.calls import test as test
from humeval_power.comparisons.corpus.files import read_corpus as read_corpus
from humeval_power.comparisons.corpus.scenario import CorpusStudy as CorpusStudy
from humeval_power.files.tables import read_cluster_lines as read_cluster_lines
