"""`humeval-power da decompose`: quality and noise in ratings, and what a metric could save."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import click

from humeval_power.inference.item_bootstrap import DEFAULT_RESAMPLES, Measure
from humeval_power.interfaces.cli.numbers import WholeNumber, number_list
from humeval_power.interfaces.cli.options import TableOptions, result_options, seed_option, table_options
from humeval_power.interfaces.cli.output import emit, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json

SCHEMA = "humeval_power/variance_decomposition/1"
_CORRELATIONS = "1,0.9,0.7,0.5,0.2"


@click.command("decompose", cls=Command)
@click.argument("file", metavar="RATINGS")
@table_options
@click.option(
    "--correlation",
    metavar="LIST",
    default=_CORRELATIONS,
    show_default=True,
    callback=number_list(float),
    help="Correlations of a metric with true quality to look at.",
)
@click.option("--resamples", type=WholeNumber(min=1), help="Resamples of items for the intervals.")
@seed_option
@result_options
def command(
    file: str,
    table: TableOptions,
    correlation: tuple[float, ...],
    resamples: int | None,
    seed: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How much of the variance of ratings is quality, and how much is noise?

    RATINGS is a table as 'check' reads it, in which outputs were judged more
    than once. A metric can explain quality only: what is left limits how many
    ratings any metric can save.
    """
    from humeval_power.inference.agreement.variance_decomposition import variance_decomposition
    from humeval_power.interfaces.cli.loading import load_ratings
    from humeval_power.planning.judge.efficiency import data_efficiency, observed_correlation

    if output is not None:
        refuse_to_overwrite([output], force=force)
    ratings = load_ratings(file, table, require_pair=False)
    found = variance_decomposition(
        ratings, n_resamples=resamples or DEFAULT_RESAMPLES, seed=1 if seed is None else seed
    )
    gamma = found.gamma
    rows = [
        {
            "correlation": rho,
            "correlation_with_ratings": observed_correlation(gamma.value, rho),
            "data_efficiency": data_efficiency(gamma.value, rho),
            "interval": [data_efficiency(gamma.high, rho), data_efficiency(gamma.low, rho)]
            if math.isfinite(gamma.low)
            else None,
        }
        for rho in correlation
    ]
    record = {
        "schema": SCHEMA,
        **asdict(found),
        "scale_width": ratings.scale.width,
        "data_efficiency": rows,
        "source": ratings.source,
        "command": typed_command(),
    }
    if as_json:
        text = to_json(record)
    else:
        width = ratings.scale.width
        scale = f"{ratings.scale.low:g} to {ratings.scale.high:g}"
        facts = [
            (
                "Ratings",
                f"{found.n_ratings:,} of {found.n_outputs:,} outputs (item and system), "
                f"{found.n_repeated:,} of them with two or more",
            ),
            ("Total", f"variance {_shown(found.total, width**2)} on the scale {scale}"),
            ("Quality", f"variance {_shown(found.quality, width**2)} between outputs of a system"),
            ("Noise", f"variance {_shown(found.noise, width**2)} between ratings of one output"),
            ("Gamma", f"{_shown(found.gamma)}  noise over quality"),
            ("Reducible", f"{_shown(found.reducible)}  share of quality: all a metric can explain"),
        ]
        lines = [wrapped(words, bullet=f"{label:<11}") for label, words in facts]
        if found.at_zero:
            lines.append(
                wrapped(
                    "Ratings of one output differ as much as those of different ones: no quality is seen, "
                    "and no metric can save anything here.",
                    bullet=f"{'Caution':<11}",
                )
            )
        text = "\n".join([*lines, "", _efficiencies(rows), "", wrapped(_READ)])
    emit(text, output=output, force=force)


_READ = (
    "Data efficiency 1.2: ratings with the metric as control variate are worth 1.2 times as many without "
    "(Wei et al. 2022, eq. 2). Intervals are 95 %, from items drawn again."
)


def _efficiencies(rows: Sequence[Mapping[str, object]]) -> str:
    header = ["metric's correlation with quality", "with ratings", "data efficiency", "interval"]
    lines = []
    for row in rows:
        interval = row["interval"]
        low, high = interval if isinstance(interval, list) else (math.nan, math.nan)
        lines.append(
            [
                f"{row['correlation']:g}",
                f"{row['correlation_with_ratings']:.3f}",
                f"{row['data_efficiency']:.3f}",
                f"{low:.3f} to {high:.3f}" if math.isfinite(low + high) else "",
            ]
        )
    return text_table(header, lines, indent="")


def _shown(measure: Measure, unit: float = 1.0) -> str:
    if not math.isfinite(measure.value):
        return "not defined: no quality is seen"
    value = f"{unit * measure.value:.4g}"
    if math.isnan(measure.low):
        return f"{value} (no interval: {measure.reason or 'not defined'})"
    if not math.isfinite(measure.low):
        return f"{value} (no interval: in nearly every resample there is no quality)"
    if not math.isfinite(measure.high):
        return f"{value} ({unit * measure.low:.4g} and up: in some resamples there is no quality)"
    return f"{value} ({unit * measure.low:.4g} to {unit * measure.high:.4g})"
