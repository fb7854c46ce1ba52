"""Options of `humeval-power plan`: what may vary, what is spent, how sure it must be, what the plan says."""

from __future__ import annotations

from typing import Any

import click

from humeval_power.choices import LARGEST_COUNT, MOST_WORKERS
from humeval_power.interfaces.cli.costs import Money
from humeval_power.interfaces.cli.exclusion_options import exclude_if_option
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import Function, collected, date_option

_SURENESS = RealNumber(0, 1, min_open=True, max_open=True)
_LIMITS = (
    click.option("--budget", type=Money(), help="What may be spent at most, in --currency."),
    click.option(
        "--spend-budget", is_flag=True, help="Plan the most powerful design that the budget buys."
    ),
    click.option(
        "--workers",
        metavar="LIST",
        callback=number_list(int, least=2),
        help="Such as 3:40. [2:--max-workers]",
    ),
    click.option(
        "--max-workers",
        type=WholeNumber(min=2),
        default=MOST_WORKERS,
        show_default=True,
        help="Most workers, where --workers does not say.",
    ),
    click.option(
        "--items",
        metavar="LIST",
        callback=number_list(int, least=2, most=1_000_000),
        required=True,
        help="Such as 50:500 or 50:500:10.",
    ),
    click.option(
        "--documents",
        metavar="LIST",
        callback=number_list(int, least=2, most=LARGEST_COUNT),
        help="Numbers of documents that the items may come out of in equal shares, such as 10:40:5. [items "
        "stand alone, or 2:--max-documents]",
    ),
    click.option(
        "--max-documents",
        type=WholeNumber(min=2, largest=LARGEST_COUNT),
        help="Most documents that there are.",
    ),
    click.option(
        "--ratings-per-item",
        metavar="LIST",
        callback=number_list(int, least=1),
        help="Of each item under each system, such as 1:10. [1 to --max-workers]",
    ),
    click.option(
        "--max-ratings-per-worker",
        type=WholeNumber(min=1, largest=LARGEST_COUNT),
        help="What a worker can be asked.",
    ),
    click.option(
        "--pairing",
        type=click.Choice(["paired", "unpaired", "both"]),
        default="paired",
        show_default=True,
        help="Whether the same worker sees an item under both systems.",
    ),
)
_CAUTION = (
    click.option(
        "--robust", is_flag=True, help="Reach the target under every setting, not only the first."
    ),
    click.option(
        "--confidence",
        type=_SURENESS,
        help="Reach the target with this probability, given how little the pilot knows.",
    ),
    click.option(
        "--safe", type=_SURENESS, help="Plan at this upper confidence limit of how workers differ."
    ),
)
_STATED = (
    click.option("--question", default="", help="The question that the study is to answer, for the plan."),
    click.option(
        "--exclude",
        "exclusions",
        multiple=True,
        metavar="TEXT",
        help="A rule for leaving out ratings, in words; repeatable.",
    ),
    exclude_if_option("Leave out workers in the analysis by these rules, sealed with the plan"),
    date_option,
)


def limit_options(command: Function) -> Function:
    """Add the options of the search; the command gets them as `limits`, to be handed to `make_plan`."""
    sizes = ("workers", "max_workers", "items", "documents", "max_documents", "ratings_per_item")
    names = ("budget", "spend_budget", *sizes, "max_ratings_per_worker", "pairing")
    return collected(command, _LIMITS, name="limits", collect=_taken(*names))


def caution_options(command: Function) -> Function:
    """Add the options of how sure the plan must be, as `caution`."""
    return collected(command, _CAUTION, name="caution", collect=_taken("robust", "confidence", "safe"))


def statement_options(command: Function) -> Function:
    """Add what the plan is to say, as `stated`."""
    names = ("question", "exclusions", "exclude_if", "created")
    return collected(command, _STATED, name="stated", collect=_taken(*names))


def _taken(*names: str) -> Any:
    return lambda values: {name: values.pop(name) for name in names}
