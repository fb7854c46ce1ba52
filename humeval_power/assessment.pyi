"""Direct assessment: independent ratings without worker effects (Wei, Kocmi and Federmann 2022)."""

from humeval_power.comparisons.assessment.calls import decompose as decompose
from humeval_power.comparisons.assessment.calls import observed_mde as observed_mde
from humeval_power.comparisons.assessment.calls import test as test
from humeval_power.comparisons.assessment.files import read_observed as read_observed
from humeval_power.comparisons.assessment.files import read_rated as read_rated
from humeval_power.comparisons.assessment.pairs import RatedOutputs as RatedOutputs
from humeval_power.comparisons.assessment.scenario import DirectAssessment as DirectAssessment
from humeval_power.comparisons.assessment.scenario import GammaScores as GammaScores
from humeval_power.comparisons.assessment.scenario import score_tests as score_tests
