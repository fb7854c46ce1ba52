"""Two classifiers on one test set: their tests, power, and what was claimed of them."""

from humeval_power.api.accuracy import estimate as estimate
from humeval_power.api.accuracy import test as test
from humeval_power.api.accuracy_claims import bounds as bounds
from humeval_power.api.accuracy_claims import claims as claims
from humeval_power.api.accuracy_claims import leaderboard as leaderboard
from humeval_power.api.accuracy_claims import overlap as overlap
from humeval_power.api.accuracy_claims import pairs_of_leaderboard as pairs_of_leaderboard
from humeval_power.clusters import Clusters as Clusters
from humeval_power.inference.accuracy.answers import Answers as Answers
from humeval_power.inference.accuracy.counts import PairedCounts as PairedCounts
from humeval_power.interfaces.formats.accuracy.answers import read_answers as read_answers
from humeval_power.interfaces.formats.accuracy.overlap import read_overlap as read_overlap
from humeval_power.interfaces.formats.accuracy.overlap import read_system_pairs as read_system_pairs
from humeval_power.interfaces.formats.accuracy.pairs import read_pairs as read_pairs
from humeval_power.interfaces.formats.accuracy.results import read_claims as read_claims
from humeval_power.interfaces.formats.accuracy.results import read_counts as read_counts
from humeval_power.interfaces.formats.accuracy.results import read_leaderboard as read_leaderboard
from humeval_power.planning.accuracy.claims import Claim as Claim
from humeval_power.planning.accuracy.detectable import PRIORS as PRIORS
from humeval_power.scenarios.accuracy.agreement import OVERLAP as OVERLAP
from humeval_power.scenarios.accuracy.agreement import AssumedAgreement as AssumedAgreement
from humeval_power.scenarios.accuracy.agreement import KnownAgreement as KnownAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy as PairedAccuracy
from humeval_power.scenarios.accuracy.paired import largest_difference as largest_difference
from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy as UnpairedAccuracy
