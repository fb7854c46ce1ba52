"""`humeval-power accuracy claims` and `leaderboard`: could test sets have shown what was claimed?"""

from __future__ import annotations

import click

from humeval_power.api import accuracy
from humeval_power.inference.mcnemar import PairedTest
from humeval_power.interfaces.cli.accuracy.bounds import paired_test_option
from humeval_power.interfaces.cli.family import Decorator
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, power_target_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.planning.accuracy.detectable import PRIORS, Prior
from humeval_power.reporting.accuracy.claims import ClaimsResult
from humeval_power.reporting.accuracy.leaderboard import LeaderboardResult

_PERCENT = ("The accuracies are taken as per cent.",)


def _overlap(default: Prior) -> Decorator:
    return click.option(
        "--overlap",
        type=click.Choice(list(PRIORS)),
        default=default,
        show_default=True,
        help="How the agreement of two systems is guessed from the baseline.",
    )


@click.command("claims", cls=Command)
@click.argument("table")
@_overlap("glue")
@paired_test_option
@power_target_option
@alpha_option
@with_result(ClaimsResult)
def claims(table: str, overlap: Prior, test_name: PairedTest, target: float, alpha: float) -> ClaimsResult:
    """Could test sets have shown the improvements that were claimed?

    TABLE has a row for each claim: task, n, baseline, improvement (or accuracy)
    and perhaps name. Each claim is compared with the smallest improvement that
    its test set finds, and with what a regression on all other claims expects.
    """
    from humeval_power.interfaces.formats.accuracy.results import read_claims

    read, percent = read_claims(table)
    return accuracy.claims(
        read,
        overlap=overlap,
        test=test_name,
        power=target,
        alpha=alpha,
        remarks=_PERCENT if percent else (),
    )


@click.command("leaderboard", cls=Command)
@click.argument("table")
@click.option("--n", type=WholeNumber(min=2), required=True, help="Items in the test set.")
@_overlap("squad")
@paired_test_option
@power_target_option
@alpha_option
@with_result(LeaderboardResult)
def leaderboard(
    table: str, n: int, overlap: Prior, test_name: PairedTest, target: float, alpha: float
) -> LeaderboardResult:
    """Which submissions to a leaderboard were improvements one can trust?

    TABLE has a row for each submission: system, date (2020-05-06), accuracy on
    the test set and perhaps validation, the accuracy on the validation set.
    """
    from humeval_power.interfaces.formats.accuracy.results import read_leaderboard

    read, percent = read_leaderboard(table)
    return accuracy.leaderboard(
        read,
        n=n,
        overlap=overlap,
        test=test_name,
        power=target,
        alpha=alpha,
        remarks=_PERCENT if percent else (),
    )
