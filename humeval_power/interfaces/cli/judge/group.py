"""`humeval-power judge`: what an automatic judge of further items is worth in human ratings."""

from __future__ import annotations

import math
from dataclasses import asdict

import click

from humeval_power.interfaces.cli.judge.estimate import PLAIN_HURTS
from humeval_power.interfaces.cli.judge.estimate import command as estimate
from humeval_power.interfaces.cli.judge.study import command as study
from humeval_power.interfaces.cli.judge.study import correlation_option, extra_option
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import result_options
from humeval_power.interfaces.cli.output import emit, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.judge.efficiency import PredictionPower

command = click.Group(
    "judge",
    help="""What is an automatic judge worth in human ratings?

    A judge scores many items, humans rate a few: prediction-powered inference
    combines them without trusting the judge. 'mean' is for independent human
    values, 'study' for workers who rate items, 'estimate' for finished data.
    """,
)
command.add_command(estimate)
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
@result_options
def mean_command(
    n: int,
    extra: int,
    correlation: float,
    sd: float,
    sd_judge: float | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How precise is a mean of human values with a judge's help?

    The correlation is that of the judge with the human values as they are,
    noise and all. For a comparison the values are differences B - A.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    found = PredictionPower(n, extra, correlation, sd, sd if sd_judge is None else sd_judge)
    record = {
        "schema": "humeval_power/judge_mean/1",
        **asdict(found),
        "weight": found.weight,
        "variance": found.variance,
        "human_variance": found.human_variance,
        "plain_variance": found.plain_variance,
        "effective_n": found.effective_n,
        "plain_effective_n": found.plain_effective_n,
        "command": typed_command(),
    }
    emit(to_json(record) if as_json else _mean_text(found), output=output, force=force)


def _mean_text(found: PredictionPower) -> str:
    saved = found.effective_n - found.n
    facts = [
        (
            "Data",
            f"{found.n:,} items with a human value, {found.extra:,} more with the judge's score, "
            f"correlation {found.correlation:g}",
        ),
        ("Humans", f"standard error {math.sqrt(found.human_variance):.4g} of the human values alone"),
        (
            "Judge",
            f"standard error {math.sqrt(found.variance):.4g} at the best weight of the judge, "
            f"{found.weight:.3f}: as {found.effective_n:.1f} human values, {saved:.1f} more",
        ),
        (
            "Weight 1",
            f"standard error {math.sqrt(found.plain_variance):.4g}: as {found.plain_effective_n:.1f} "
            "human values"
            if found.extra
            else "not defined: it needs items that only the judge has scored (--extra)",
        ),
    ]
    lines = [wrapped(text, bullet=f"{label:<11}") for label, text in facts]
    if found.extra and found.plain_variance > found.human_variance:
        lines.append(wrapped(PLAIN_HURTS, bullet=f"{'Caution':<11}"))
    return "\n".join(lines)
