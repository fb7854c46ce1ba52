"""`humeval-power accuracy claims` and `leaderboard`: could test sets have shown what was claimed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import PairedTest, PowerOn
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.accuracy.bounds import paired_test_option
from humeval_power.interfaces.cli.accuracy.overlap import PERCENT, agreement_named, overlap_option, together
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, power_target_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.reporting.numbers import counted

if TYPE_CHECKING:
    from humeval_power.reporting.accuracy.claims import ClaimsResult
    from humeval_power.reporting.accuracy.leaderboard import LeaderboardResult


_HOW = "How the agreement of two systems is guessed from the baseline."


@click.command("claims", cls=Command)
@click.argument("table")
@click.option(
    "--sizes", metavar="FILE", help="Items of each task's test set: a table with the columns task and n."
)
@overlap_option("glue", _HOW)
@paired_test_option
@power_target_option
@alpha_option
@with_result()
def claims(
    table: str, sizes: str | None, overlap: str, test_name: PairedTest, target: float, alpha: float
) -> ClaimsResult:
    """Could test sets have shown the improvements that were claimed?

    TABLE has a row for each claim: task, n, baseline, improvement (or accuracy)
    and perhaps name. Rows with N under claimed or sota_comparison are left out.
    Each claim is compared with the smallest improvement that its test set finds,
    and with what a regression on all other claims expects.
    """
    from humeval_power.api import accuracy_claims
    from humeval_power.interfaces.formats.accuracy.results import read_claims

    read, percent, n_left_out = read_claims(table, sizes=sizes)
    left_out = f"{counted(n_left_out, 'row')} left out: no claim of an improvement on the best so far."
    return accuracy_claims.claims(
        read,
        overlap=agreement_named(overlap),
        test=test_name,
        power=target,
        alpha=alpha,
        remarks=(*(PERCENT if percent else ()), *((left_out,) if n_left_out else ())),
    )


@click.command("leaderboard", cls=Command)
@click.argument("table")
@click.option("--n", type=WholeNumber(min=2), required=True, help="Items in the test set.")
@overlap_option("squad", _HOW)
@click.option(
    "--pairs",
    metavar="FILE",
    help="On how many items of the validation set two submissions differ: a table with the columns first, second "
    "and differing. Then no agreement is guessed.",
)
@click.option("--n-validation", type=WholeNumber(min=2), help="Items in the validation set; with --pairs.")
@click.option(
    "--power-on",
    type=click.Choice(get_args(PowerOn)),
    default="test",
    show_default=True,
    help="The set whose size the power is of. Card et al. (2020) took the validation set.",
)
@paired_test_option
@power_target_option
@alpha_option
@with_result()
def leaderboard(
    table: str,
    n: int,
    overlap: str,
    pairs: str | None,
    n_validation: int | None,
    power_on: PowerOn,
    test_name: PairedTest,
    target: float,
    alpha: float,
) -> LeaderboardResult:
    """Which submissions to a leaderboard were improvements one can trust?

    TABLE has a row for each submission: system, date (2020-05-06), accuracy on
    the test set and perhaps validation, the accuracy on the validation set, and
    key, what the table of --pairs calls it.
    """
    together(pairs, n_validation, ("--power-on validation", power_on == "validation"))
    source = click.get_current_context().get_parameter_source("overlap")
    if pairs is not None and source is click.core.ParameterSource.COMMANDLINE:
        raise InputError(
            [Problem("is guessed, and --pairs counts it.", "Leave out one of them.", "--overlap")]
        )
    from humeval_power.api import accuracy_claims
    from humeval_power.interfaces.formats.accuracy.pairs import read_pairs
    from humeval_power.interfaces.formats.accuracy.results import read_leaderboard

    read, percent = read_leaderboard(table)
    known = read_pairs(pairs, read, n_validation=n_validation) if pairs and n_validation else None
    return accuracy_claims.leaderboard(
        read,
        n=n,
        overlap=agreement_named(overlap),
        pairs=known,
        power_on=power_on,
        test=test_name,
        power=target,
        alpha=alpha,
        remarks=PERCENT if percent else (),
    )
