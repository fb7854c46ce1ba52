"""Leaderboards: systems in an order by scores or by battles, and how sure it is."""

from humeval_power.api.rank import battles as battles
from humeval_power.api.rank import scores as scores
from humeval_power.inference.rank.battles import Battles as Battles
from humeval_power.interfaces.formats.rank import read_battles as read_battles
from humeval_power.scenarios.rank.neighbours import NeighbourBattles as NeighbourBattles
from humeval_power.scenarios.rank.neighbours import neighbour_scores as neighbour_scores
