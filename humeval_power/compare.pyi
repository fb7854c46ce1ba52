"""Scores of systems on the same items: which test, what effect size, what power."""

from humeval_power.api.compare import check as check
from humeval_power.api.compare import gate as gate
from humeval_power.api.compare import primer as primer
from humeval_power.api.compare import primer_table as primer_table
from humeval_power.api.compare import prospective as prospective
from humeval_power.api.compare import scores as scores
from humeval_power.inference.compare.score_table import ScoreTable as ScoreTable
from humeval_power.interfaces.formats.compare.reading import read_scores as read_scores
from humeval_power.scenarios.compare.scores import NormalScores as NormalScores
from humeval_power.scenarios.compare.scores import ResampledScores as ResampledScores
