"""`humeval-power corpus estimate` and `corpus test`: from the outputs of two systems."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click

from humeval_power.estimation.delta_laplace import DeltaLaplace, fit_delta_laplace
from humeval_power.estimation.sentence_counts import (
    METRIC_NAMES,
    CorpusMetric,
    SentenceCounts,
    Tokenizer,
    sentence_counts,
)
from humeval_power.estimation.swap_effects import Additivity, Floats, additivity, swap_effects
from humeval_power.inference.randomisation_test import (
    DEFAULT_SWAPS,
    RandomisationTest,
    paired_randomisation_test,
)
from humeval_power.interfaces.cli.corpus_text import estimate_text, test_text
from humeval_power.interfaces.cli.invocation import typed_command
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.option_groups import Function, decorated
from humeval_power.interfaces.cli.options import (
    alpha_option,
    force_option,
    json_option,
    quiet_option,
    result_options,
    seed_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, say, write_directory
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.formats.corpora import read_corpus
from humeval_power.interfaces.formats.documents import to_json
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.simulation.study import replicate_generator

ESTIMATE_SCHEMA, TEST_SCHEMA = "humeval_power/corpus_estimate/1", "humeval_power/corpus_test/1"
FILES = ("estimate.json", "effects.csv", "effects.png", "effects.svg")
N_SUBSETS = 1000


def _data_options(command: Function) -> Function:
    path = click.Path(exists=False)
    options = (
        click.option("--system-a", type=path, required=True, help="Outputs of A, one segment a line."),
        click.option("--system-b", type=path, required=True, help="Outputs of B; the effect is B - A."),
        click.option(
            "--reference", type=path, multiple=True, required=True, help="References; repeatable."
        ),
        click.option(
            "--metric",
            type=click.Choice(get_args(CorpusMetric)),
            default="bleu",
            show_default=True,
            help="As sacreBLEU computes it.",
        ),
        click.option(
            "--tokenizer",
            type=click.Choice(get_args(Tokenizer)),
            default="13a",
            show_default=True,
            help="Tokens of BLEU; 'zh' for Chinese, 'char' for characters.",
        ),
        click.option("--lowercase", is_flag=True, help="Count upper and lower case alike."),
    )
    return decorated(command, options)


def _read(given: dict[str, Any]) -> SentenceCounts:
    corpus = read_corpus(given["system_a"], given["system_b"], given["reference"])
    for each in corpus.notices:
        note(each)
    return sentence_counts(
        corpus.system_a,
        corpus.system_b,
        references=corpus.references,
        metric=given["metric"],
        tokenizer=given["tokenizer"],
        lowercase=given["lowercase"],
    )


@click.command("estimate", cls=Command)
@_data_options
@click.option(
    "--subsets",
    type=WholeNumber(min=2),
    default=N_SUBSETS,
    show_default=True,
    help="Random swaps of half the sentences, to see whether single effects add up.",
)
@seed_option
@json_option
@click.option("-o", "--output", metavar="DIR", help="Write estimate.json, effects.csv and a figure to DIR.")
@force_option
@quiet_option
def estimate(
    subsets: int, seed: int | None, as_json: bool, output: str | None, force: bool, **given: Any
) -> None:
    """What do swaps do: P0 and b0 for planning, from two systems' outputs.

    Swaps each sentence between A and B and sees how the difference of the metric
    changes; fits P0 (share of swaps that change nothing) and b0 (spread of the
    others). Checks on these data whether such effects add up, as power needs.
    """
    if output is not None:
        refuse_to_overwrite([Path(output) / name for name in FILES], force=force)
    counts = _read(given)
    effects = swap_effects(counts)
    fit = fit_delta_laplace(effects)
    used = DEFAULT_SEED if seed is None else seed
    check = additivity(counts, effects, rng=replicate_generator(used, 0), n_subsets=subsets)
    record = _estimate_record(counts, fit, check, used)
    if output is not None:
        write_directory(output, _files(counts, effects, check, fit, record), force=force)
        note(f"Written to {output}: {', '.join(FILES)}")
    say(to_json(record) if as_json else estimate_text(counts, fit, check), nl=not as_json)


@click.command("test", cls=Command)
@_data_options
@click.option(
    "--swaps",
    type=WholeNumber(min=1),
    default=DEFAULT_SWAPS,
    show_default=True,
    help="Random swaps.",
)
@alpha_option
@seed_option
@result_options
def test(
    swaps: int,
    alpha: float,
    seed: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
    **given: Any,
) -> None:
    """Is B better than A: the paired randomisation test of a corpus metric.

    Swaps the outputs of a random half of the sentences between the systems,
    computes the metric of both, and counts how often they differ as much as A
    and B do.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    counts = _read(given)
    used = DEFAULT_SEED if seed is None else seed
    result = paired_randomisation_test(counts, n_swaps=swaps, seed=used)
    text = (
        to_json(_test_record(counts, result, alpha, used)) if as_json else test_text(counts, result, alpha)
    )
    emit(text, output=output, force=force)


def _metric_record(counts: SentenceCounts) -> dict[str, object]:
    a, b = counts.values
    return {
        "metric": counts.metric,
        "signature": counts.signature,
        "n_sentences": len(counts),
        "system_a": a,
        "system_b": b,
        "difference": b - a,
    }


def _provenance(seed: int) -> dict[str, object]:
    from humeval_power.reporting.records import versions

    return {"seed": seed, "versions": versions(), "command": typed_command()}


def _estimate_record(
    counts: SentenceCounts, fit: DeltaLaplace, check: Additivity, seed: int
) -> dict[str, object]:
    return {
        "schema": ESTIMATE_SCHEMA,
        **_metric_record(counts),
        "swaps": {
            **asdict(fit),
            "zero_share": fit.zero_share,
            "zero_share_error": fit.zero_share_error,
            "scale_error": fit.scale_error,
        },
        "additivity": {
            "n_subsets": len(check.true),
            "correlation": check.correlation,
            "slope": check.slope,
            "rms_error": check.error,
        },
        **_provenance(seed),
    }


def _test_record(
    counts: SentenceCounts, result: RandomisationTest, alpha: float, seed: int
) -> dict[str, object]:
    return {
        "schema": TEST_SCHEMA,
        **_metric_record(counts),
        **asdict(result),
        "p_value": result.p_value,
        "p_interval": result.p_interval,
        "alpha": alpha,
        "significant": result.p_value <= alpha,
        **_provenance(seed),
    }


def _files(
    counts: SentenceCounts,
    effects: Floats,
    check: Additivity,
    fit: DeltaLaplace,
    record: dict[str, object],
) -> dict[str, str | bytes]:
    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.swap_figure import swap_figure

    figure = swap_figure(effects, check, fit, metric=METRIC_NAMES[counts.metric])
    rows = [f"{line},{effect:.12g}" for line, effect in enumerate(effects, start=1)]
    return {
        "estimate.json": to_json(record),
        "effects.csv": "\n".join(["line,effect", *rows]) + "\n",
        "effects.png": figure_bytes(figure, "png"),
        "effects.svg": figure_bytes(figure, "svg"),
    }
