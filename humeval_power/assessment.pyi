"""Direct assessment: independent ratings without worker effects (Wei, Kocmi and Federmann 2022)."""

from humeval_power.api.assessment import decompose as decompose
from humeval_power.api.assessment import observed_mde as observed_mde
from humeval_power.api.assessment import test as test
from humeval_power.inference.assessment.pairs import RatedOutputs as RatedOutputs
from humeval_power.interfaces.formats.assessment.rated import read_rated as read_rated
from humeval_power.interfaces.formats.observed import read_observed as read_observed
from humeval_power.scenarios.assessment.gamma_scores import GammaScores as GammaScores
from humeval_power.scenarios.assessment.scenario import DirectAssessment as DirectAssessment
from humeval_power.scenarios.assessment.scenario import score_tests as score_tests
