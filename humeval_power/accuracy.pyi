"""Two classifiers on one test set: their tests, power, and what was claimed of them."""

from humeval_power.clusters import Clusters as Clusters
from humeval_power.comparisons.accuracy.agreement import OVERLAP as OVERLAP
from humeval_power.comparisons.accuracy.agreement import AssumedAgreement as AssumedAgreement
from humeval_power.comparisons.accuracy.agreement import KnownAgreement as KnownAgreement
from humeval_power.comparisons.accuracy.calls import bounds as bounds
from humeval_power.comparisons.accuracy.calls import claims as claims
from humeval_power.comparisons.accuracy.calls import estimate as estimate
from humeval_power.comparisons.accuracy.calls import leaderboard as leaderboard
from humeval_power.comparisons.accuracy.calls import overlap as overlap
from humeval_power.comparisons.accuracy.calls import pairs_of_leaderboard as pairs_of_leaderboard
from humeval_power.comparisons.accuracy.calls import test as test
from humeval_power.comparisons.accuracy.claims import PRIORS as PRIORS
from humeval_power.comparisons.accuracy.claims import Claim as Claim
from humeval_power.comparisons.accuracy.counts import Answers as Answers
from humeval_power.comparisons.accuracy.counts import PairedCounts as PairedCounts
from humeval_power.comparisons.accuracy.counts import UnpairedAccuracy as UnpairedAccuracy
from humeval_power.comparisons.accuracy.files import read_answers as read_answers
from humeval_power.comparisons.accuracy.files import read_claims as read_claims
from humeval_power.comparisons.accuracy.files import read_counts as read_counts
from humeval_power.comparisons.accuracy.files import read_leaderboard as read_leaderboard
from humeval_power.comparisons.accuracy.files import read_overlap as read_overlap
from humeval_power.comparisons.accuracy.files import read_pairs as read_pairs
from humeval_power.comparisons.accuracy.files import read_system_pairs as read_system_pairs
from humeval_power.comparisons.accuracy.paired import PairedAccuracy as PairedAccuracy
from humeval_power.comparisons.accuracy.paired import largest_difference as largest_difference
