"""`humeval-power accuracy overlap`, and the option that takes what it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from humeval_power.choices import PowerOn, Prior
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.family import Decorator
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.scenarios.accuracy.agreement import Agreement

if TYPE_CHECKING:
    from humeval_power.reporting.accuracy.overlap import OverlapResult


PERCENT = ("The accuracies are taken as per cent.",)
Of = Literal["all", "new-best"]


class Overlap(click.Choice[str]):
    """One of the priors, or a file that `accuracy overlap` wrote."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word, or the path of a .json file."""
        if str(value).lower().endswith(".json"):
            return value
        return super().convert(value, param, ctx)


def overlap_option(default: Prior | None, text: str) -> Decorator:
    """How agreement is guessed."""
    return click.option(
        "--overlap",
        type=Overlap(get_args(Prior)),
        default=default,
        show_default=default is not None,
        help=f"{text} Or FILE.json, as `accuracy overlap` wrote it.",
    )


def agreement_named(overlap: str) -> Agreement:
    """The prior of that word, or what the file holds."""
    from humeval_power.planning.accuracy.detectable import PRIORS

    if overlap in PRIORS:
        return next(each for name, each in PRIORS.items() if name == overlap)
    from humeval_power.interfaces.formats.accuracy.overlap import read_overlap

    return read_overlap(overlap)


def together(pairs: str | None, n_validation: int | None, *others: tuple[str, bool]) -> None:
    """Refuse options that need each other, and stand alone; `others` need --pairs where they are given."""
    problems = []
    if pairs is not None and n_validation is None:
        problems.append(
            Problem("needs --n-validation.", "Add it: the items that the pairs were counted on.", "--pairs")
        )
    if pairs is None and n_validation is not None:
        problems.append(
            Problem("needs --pairs.", "Add the table, or leave the number out.", "--n-validation")
        )
    problems += [
        Problem("needs --pairs and --n-validation.", "Add both, or leave it out.", name)
        for name, is_given in others
        if is_given and pairs is None
    ]
    if problems:
        raise InputError(problems)


@click.command("overlap", cls=Command)
@click.argument("table")
@click.option(
    "--pairs", metavar="FILE", help="TABLE is a leaderboard; this has the columns first, second, differing."
)
@click.option("--n-validation", type=WholeNumber(min=2), help="Items that the pairs were counted on.")
@click.option(
    "--of",
    "chosen",
    type=click.Choice(get_args(Of)),
    default="all",
    show_default=True,
    help="All pairs, or each new best with the best before it, as `accuracy leaderboard` finds them; needs --n.",
)
@click.option("--n", type=WholeNumber(min=2), help="Items in the test set; with --of new-best.")
@click.option(
    "--power-on",
    type=click.Choice(get_args(PowerOn)),
    default="test",
    show_default=True,
    help="With --of new-best.",
)
@with_result()
def overlap(
    table: str, pairs: str | None, n_validation: int | None, chosen: Of, n: int | None, power_on: PowerOn
) -> OverlapResult:
    """How often do two systems do alike? Fit a regression to your own pairs.

    TABLE has a row for each pair: baseline, improvement (or accuracy) and
    agreement; or it is a leaderboard whose pairs --pairs counts. What -o
    FILE.json keeps is taken by --overlap of the other commands.
    """
    new_best = chosen == "new-best"
    together(pairs, n_validation, ("--of new-best", new_best), ("--n", n is not None))
    if new_best != (n is not None):
        raise InputError("--of new-best and --n, the items of the test set, go together.")
    from humeval_power.api import accuracy_claims
    from humeval_power.interfaces.formats.accuracy.overlap import read_system_pairs
    from humeval_power.interfaces.formats.accuracy.pairs import read_pairs
    from humeval_power.interfaces.formats.accuracy.results import read_leaderboard

    if pairs is None or n_validation is None:
        read, percent = read_system_pairs(table)
        return accuracy_claims.overlap(read, remarks=PERCENT if percent else ())
    board, percent = read_leaderboard(table)
    counted = read_pairs(pairs, board, n_validation=n_validation)
    found = accuracy_claims.pairs_of_leaderboard(board, counted, new_best_of=n, power_on=power_on)
    return accuracy_claims.overlap(found, remarks=PERCENT if percent else ())
