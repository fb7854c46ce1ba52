"""`humeval-power accuracy bounds`: what a test set can show where the agreement is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import RECOMMENDED, Compat, PairedTest
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, power_target_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.accuracy.bounds import BoundsResult


paired_test_option = click.option(
    "--test",
    "test_name",
    type=click.Choice(get_args(PairedTest)),
    default=RECOMMENDED,
    show_default=True,
    help="Version of McNemar's test.",
)


@click.command("bounds", cls=Command)
@click.option("--n", type=WholeNumber(min=2), required=True, help="Items in the test set.")
@click.option(
    "--baseline", type=RealNumber(), required=True, help="Accuracy of A, the baseline, as a share."
)
@paired_test_option
@power_target_option
@alpha_option
@click.option(
    "--compat",
    type=click.Choice(get_args(Compat)),
    help="The columns of Card et al. (2020), Tables 2 and 9, as they computed them.",
)
@with_result()
def bounds(
    n: int, baseline: float, test_name: PairedTest, target: float, alpha: float, compat: Compat | None
) -> BoundsResult:
    """The smallest improvement a test set can show, agreement not known.

    Under the least and the most agreement that the accuracies allow, half-way
    between them, and as regressions on GLUE and SQuAD 2.0 systems predict it.
    """
    from humeval_power.api import accuracy_claims

    return accuracy_claims.bounds(n, baseline, test=test_name, power=target, alpha=alpha, compat=compat)
