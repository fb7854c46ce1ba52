"""Leaderboards: systems in an order by scores or by battles, and how sure it is."""

from humeval_power.comparisons.rank.battles import Battles as Battles
from humeval_power.comparisons.rank.calls import battles as battles
from humeval_power.comparisons.rank.calls import scores as scores
from humeval_power.comparisons.rank.files import read_battles as read_battles
from humeval_power.comparisons.rank.scenario import NeighbourBattles as NeighbourBattles
from humeval_power.comparisons.rank.scenario import neighbour_scores as neighbour_scores
