"""`humeval-power judge`: what an automatic judge of further items is worth in human ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.cli.judge.agreement import command as agreement
from humeval_power.interfaces.cli.judge.bias import command as bias
from humeval_power.interfaces.cli.judge.estimate import command as estimate
from humeval_power.interfaces.cli.judge.plan import command as plan
from humeval_power.interfaces.cli.judge.study import command as study
from humeval_power.interfaces.cli.judge.study import correlation_option, extra_option
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.judge.result import JudgeMean


command = click.Group(
    "judge",
    help="""What is an automatic judge worth in human ratings?

    A judge scores many items, humans rate a few: prediction-powered inference
    combines them without trusting the judge. 'mean' is for independent human
    values, 'study' and 'plan' for workers who rate items, 'estimate' for
    finished data; 'agreement' and 'bias' ask how good the judge is.
    """,
)
command.add_command(agreement)
command.add_command(bias)
command.add_command(estimate)
command.add_command(plan)
command.add_command(study)


@command.command("mean")
@click.option("--n", type=WholeNumber(min=2), required=True, help="Items with a human value.")
@extra_option
@correlation_option
@click.option(
    "--sd",
    type=RealNumber(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Standard deviation of the human values.",
)
@click.option("--sd-judge", type=RealNumber(0, min_open=True), help="The same of the judge's. [as humans]")
@with_result()
def mean_command(n: int, extra: int, correlation: float, sd: float, sd_judge: float | None) -> JudgeMean:
    """How precise is a mean of human values with a judge's help?

    The correlation is that of the judge with the human values as they are,
    noise and all. For a comparison the values are differences B - A.
    """
    from humeval_power.api.judge import mean

    return mean(n=n, extra=extra, correlation=correlation, sd=sd, sd_judge=sd_judge)
