"""Scores of systems on the same items: which test, what effect size, what power."""

from humeval_power.comparisons.scores.calls import check as check
from humeval_power.comparisons.scores.calls import gate as gate
from humeval_power.comparisons.scores.calls import primer as primer
from humeval_power.comparisons.scores.calls import primer_table as primer_table
from humeval_power.comparisons.scores.calls import prospective as prospective
from humeval_power.comparisons.scores.calls import scores as scores
from humeval_power.comparisons.scores.files import read_scores as read_scores
from humeval_power.comparisons.scores.scenario import NormalScores as NormalScores
from humeval_power.comparisons.scores.scenario import ResampledScores as ResampledScores
from humeval_power.comparisons.scores.score_table import ScoreTable as ScoreTable
