"""The questions of planning a leaderboard: which battles, or items, tell two neighbours apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.choices import MOST_RANKED
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.family import PREFERENCES, EffectRange, Family, Given, any_number
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.reporting.rank.wording import WORDING

if TYPE_CHECKING:
    from humeval_power.scenarios.contract import Scenario


_LARGEST = 0.45

_options = (
    click.option(
        "--n-systems",
        type=WholeNumber(min=2, largest=MOST_RANKED),
        required=True,
        help="Systems on the leaderboard.",
    ),
    click.option(
        "--tie-share", type=RealNumber(), default=0.0, show_default=True, help="Ties of systems as strong."
    ),
    click.option(
        "--design-effect",
        type=RealNumber(),
        default=1.0,
        show_default=True,
        help="Variance over that of independent battles; `rank battles` finds it.",
    ),
    click.option(
        "--sd",
        type=RealNumber(min=0, min_open=True),
        help="Rank by scores: the SD of items' differences of two systems.",
    ),
    alpha_option,
)


def build(n: int, effect: float, given: Given) -> Scenario:
    """The scenario of n battles; with --sd of n items that all systems answer."""
    from humeval_power.scenarios.rank.neighbours import NeighbourBattles, neighbour_scores

    if given["sd"] is None:
        return NeighbourBattles(
            n,
            effect=effect,
            n_systems=given["n_systems"],
            tie_share=given["tie_share"],
            design_effect=given["design_effect"],
            alpha=given["alpha"],
        )
    if given["tie_share"] != 0 or given["design_effect"] != 1:
        rule = "--sd ranks by scores, and --tie-share and --design-effect are of battles."
        raise InputError([Problem(rule, "Leave out what is not meant.")])
    return neighbour_scores(n, effect, sd=given["sd"], n_systems=given["n_systems"], alpha=given["alpha"])


def _range(given: Given) -> EffectRange:
    return PREFERENCES if given["sd"] is None else any_number(given)


FAMILY = Family(
    wording=WORDING,
    options=_options,
    build=build,
    size_help="Battles of all systems together; with --sd items.",
    effect_help="Share that prefers the better of two neighbours, ties half, minus 1/2; with --sd the "
    "difference of their means, in the metric's units.",
    largest_effect=lambda given: _LARGEST if given["sd"] is None else 10.0 * float(given["sd"]),
    effect_range=_range,
)
