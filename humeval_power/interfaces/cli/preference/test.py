"""`humeval-power preference test`: what the wins, ties and losses of a finished comparison show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api import preference
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, pair_option, rejected_rows_option
from humeval_power.interfaces.cli.preference.link import link_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.latent import Link

if TYPE_CHECKING:  # pandas, which --wins and --losses do without
    from humeval_power.checking.submissions import Rejected
    from humeval_power.reporting.preference.result import PreferenceTestResult


@click.command("test", cls=Command)
@click.argument("table", required=False)
@click.option("--wins", type=WholeNumber(min=0), help="Judgements that prefer B.")
@click.option("--ties", type=WholeNumber(min=0), default=0, show_default=True, help="Ties.")
@click.option("--losses", type=WholeNumber(min=0), help="Judgements that prefer A.")
@pair_option
@link_option
@rejected_rows_option
@alpha_option
@with_result()
def test(
    table: str | None,
    wins: int | None,
    ties: int,
    losses: int | None,
    systems: tuple[str, str] | None,
    link: Link,
    rejected_rows: Rejected | None,
    alpha: float,
) -> PreferenceTestResult:
    """Test a preference, with ties excluded, split or kept.

    From --wins, --ties and --losses; from a TABLE with those columns; or from a
    TABLE with a judgement a row: preference (B, A or tie), worker, item and perhaps
    position (which output was shown first, A or B). In columns system_a and
    system_b systems may change places: --systems says which is A and which B. Where workers or items repeat,
    a model of wins, ties and losses with their variation is fitted and tested.
    """
    if (table is None) == (wins is None or losses is None):
        raise click.UsageError("Give a TABLE, or --wins and --losses.")
    from humeval_power.inference.preference.judgements import Judgements

    if table is None:
        if systems is not None:
            raise click.UsageError("--systems names the systems of a TABLE.")
        return preference.test(
            Judgements(wins=wins or 0, ties=ties, losses=losses or 0), alpha=alpha, link=link
        )
    from humeval_power.interfaces.cli.loading import read_decided
    from humeval_power.interfaces.formats.preference import judgements_of

    judged = judgements_of(read_decided(table, rejected_rows), systems=systems)
    return preference.test(judged, alpha=alpha, link=link)
