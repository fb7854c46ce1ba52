"""The options of a panel: workers who judge several items each, and the study that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.family import Given
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.preference.link import link_option

if TYPE_CHECKING:
    from humeval_power.inference.preference.panel import Panel
    from humeval_power.scenarios.preference.panel import PanelPreference


_SIGN_TEST = {"ties": "--ties", "test_name": "--test"}
_NOISE = "beside a noise of 1 with --link probit"

panel_options = (
    click.option(
        "--workers", type=WholeNumber(min=2), help="Workers, if fewer than judgements: each judges several."
    ),
    click.option(
        "--items",
        type=WholeNumber(min=2),
        help="Items, if fewer than judgements: each is judged several times.",
    ),
    click.option(
        "--judgements-per-item",
        type=WholeNumber(min=1),
        help="How often an item is judged, by different workers, instead of --items.",
    ),
    click.option(
        "--sd-worker",
        type=RealNumber(0, 20),
        help=f"SD of workers' own preferences, {_NOISE}. At 0.5 two workers of three lie between 31 and 69 % for "
        "B where all together do not mind.",
    ),
    click.option(
        "--sd-item", type=RealNumber(0, 20), help="SD of items' own preferences, on the same scale."
    ),
    click.option(
        "--position-bias",
        type=RealNumber(-0.5, 0.5, min_open=True, max_open=True),
        help="Share that prefers what is shown first if neither is better, minus 1/2.  [default: 0]",
    ),
    link_option,
)


def is_panel(n: int, given: Given) -> bool:
    """Whether the options describe workers or items with several judgements."""
    if any(given[name] is not None for name in ("sd_worker", "sd_item", "position_bias")):
        return True
    if (given["judgements_per_item"] or 1) > 1:
        return True
    return any(given[name] is not None and given[name] < n for name in ("workers", "items"))


def panel_study(n: int, effect: float, given: Given) -> PanelPreference:
    """The panel of n judgements and a true preference.

    Raises
    ------
    InputError
        Options that do not go together or are missing, all at once.
    """
    if problems := [*_missing(n, given), *_foreign()]:
        raise InputError(problems)
    from humeval_power.scenarios.preference.panel import PanelPreference

    return PanelPreference(
        _panel(n, given),
        preference=effect,
        tie_share=given["tie_share"],
        position_bias=given["position_bias"] or 0.0,
        sd_worker=given["sd_worker"] or 0.0,
        sd_item=given["sd_item"] or 0.0,
        link=given["link"],
        alpha=given["alpha"],
    )


def most_judgements(given: Given) -> int | None:
    """How many judgements so many workers and items can give; None where one of them grows with the study."""
    workers, items = given["workers"], given["items"]
    return None if workers is None or items is None else workers * items


def _panel(n: int, given: Given) -> Panel:
    from humeval_power.inference.preference.panel import Panel

    each = given["judgements_per_item"]
    items = given["items"] if each is None else max(-(-n // each), 2)
    return Panel(n, min(given["workers"] or n, n), min(items or n, n))


def _missing(n: int, given: Given) -> list[Problem]:
    """Options without those that they need, or against those that they exclude."""
    workers, items, each = (given[name] for name in ("workers", "items", "judgements_per_item"))
    several = {"worker": workers is not None and workers < n, "item": (items is not None and items < n)}
    several["item"] |= each is not None and each > 1
    names = {
        "worker": "--workers",
        "item": "--items or --judgements-per-item" if each is None else "--judgements-per-item",
    }
    problems = []
    if items is not None and each is not None:
        problems.append(Problem("--items and --judgements-per-item say the same.", "Give one of them."))
    if each is not None and workers is not None and each > workers:
        rule = f"--judgements-per-item {each}: an item is judged by different workers, and there are {workers}."
        problems.append(Problem(rule, "Take more workers, or fewer judgements of an item."))
    for role, name in names.items():
        if several[role] and given[f"sd_{role}"] is None:
            problems.append(
                Problem(
                    f"--sd-{role} must say how far {role}s differ where {name} gives each several judgements.",
                    "Take it from a pilot ('preference test' estimates it), or try 0.3 and 0.8.",
                )
            )
        elif given[f"sd_{role}"] is not None and (
            workers is None if role == "worker" else items is None and each is None
        ):
            rule = f"--sd-{role} says how {role}s differ, each of which has several judgements."
            problems.append(Problem(rule, f"Give {name} too."))
    if given["position_bias"] is not None and not any(several.values()) and not problems:
        rule = "--position-bias belongs to workers, or items, with several judgements."
        problems.append(Problem(rule, "Give --workers, --items or --judgements-per-item too."))
    return problems


def _foreign() -> list[Problem]:
    """Options of the sign test, which a panel has not."""
    ctx = click.get_current_context(silent=True)
    if ctx is None:
        return []
    return [
        Problem(
            f"{option} belongs to the sign test of independent judgements.",
            "A panel is tested by its model of wins, ties and losses: leave it out.",
        )
        for name, option in _SIGN_TEST.items()
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
