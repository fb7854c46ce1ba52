"""Two classifiers on one test set: their tests, power, and what was claimed of them."""

from humeval_power.api.accuracy import bounds as bounds
from humeval_power.api.accuracy import claims as claims
from humeval_power.api.accuracy import estimate as estimate
from humeval_power.api.accuracy import leaderboard as leaderboard
from humeval_power.api.accuracy import test as test
from humeval_power.scenarios.accuracy.agreement import OVERLAP as OVERLAP
from humeval_power.scenarios.accuracy.agreement import KnownAgreement as KnownAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy as PairedAccuracy
from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy as UnpairedAccuracy
