"""`humeval-power assessment observed-mde`: from which observed difference on comparisons were significant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.choices import FEWEST_ABOVE, SHARE
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.assessment.observed import ObservedThresholds


@click.command("observed-mde", cls=Command)
@click.argument("file", metavar="COMPARISONS")
@click.option("--by", metavar="COLUMN", help="Look at each group of this column by itself too.")
@click.option(
    "--share",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=SHARE,
    show_default=True,
    help="Share of comparisons above the threshold that must be significant.",
)
@click.option(
    "--fewest-above",
    type=WholeNumber(min=1),
    default=FEWEST_ABOVE,
    show_default=True,
    help="Comparisons that must lie at or above a threshold for it to count.",
)
@alpha_option
@with_result()
def command(file: str, by: str | None, share: float, fewest_above: int, alpha: float) -> ObservedThresholds:
    """From which observed difference on were comparisons significant?

    COMPARISONS is a table with a row for each comparison of two systems, its
    observed difference ('difference' or 'diff') and its p-value ('p').
    """
    from humeval_power.api.assessment import observed_mde
    from humeval_power.interfaces.formats.observed import read_observed

    read = read_observed(file, by)
    return observed_mde(
        read.difference,
        read.p_value,
        groups=read.groups,
        alpha=alpha,
        share=share,
        fewest_above=fewest_above,
        remarks=read.notices,
    )
