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
from humeval_power.inference.corpus import (
    DEFAULT_SWAPS,
    RandomisationTest,
    paired_randomisation_test,
)
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import (
    Function,
    alpha_option,
    decorated,
    force_option,
    json_option,
    quiet_option,
    result_options,
    seed_option,
)
from humeval_power.interfaces.cli.output import (
    emit,
    note,
    refuse_to_overwrite,
    say,
    wrapped,
    write_directory,
)
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.formats.corpora import read_corpus
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.simulation.study import replicate_generator

LEAST_CORRELATION = 0.95
SLOPE_OFF = 0.1  # from 1
SCALE_OFF = 1.1  # ratio of the two estimates of b0


def _metric_facts(counts: SentenceCounts) -> list[tuple[str, str]]:
    a, b = counts.values
    name = METRIC_NAMES[counts.metric]
    return [
        ("Metric", f"{name} of A {a:.2f}, of B {b:.2f}; B - A = {b - a:+.2f} on {len(counts):,} sentences"),
        ("", counts.signature),
    ]


def estimate_text(counts: SentenceCounts, fit: DeltaLaplace, check: Additivity) -> str:
    """What swaps do, whether their effects add up, and what to type next."""
    facts = _metric_facts(counts)
    p0 = f"{fit.zero_share:.3f}  (SE {fit.zero_share_error:.3f})  share of swaps that change nothing"
    facts.append(("P0", p0))
    if fit.zero_share == 1:
        facts.append(("b0", "none: A and B count alike in every sentence, so there is nothing to test."))
        return _lines(facts)
    facts += [
        (
            "b0",
            f"{fit.scale:.1f}  (SE {fit.scale_error:.1f})  by maximum likelihood, as Card et al. (2020)",
        ),
        ("", f"{fit.matched_scale:.1f}  matching the spread of the effects: for power"),
        ("Null SD", f"{fit.null_sd:.3f}  of the difference when sentences are swapped at random"),
        (
            "Adding up",
            f"true effect of {len(check.true):,} random swaps against the sum of single ones: "
            f"correlation {check.correlation:.3f}, slope {check.slope:.3f}, rms error {check.error:.3f}",
        ),
    ]
    facts += [("Caution", text) for text in cautions(fit, check)]
    how = f"--p0 {fit.zero_share:.3g} --b0 {fit.matched_scale:.3g}"
    # On a line of its own, so that it can be copied whole.
    return f"{_lines(facts)}\nNext:\n  humeval-power corpus power --n {len(counts)} --effect 1 {how}"


def cautions(fit: DeltaLaplace, check: Additivity) -> list[str]:
    """What a reader must know before planning with these estimates."""
    found = []
    if check.correlation < LEAST_CORRELATION or abs(check.slope - 1) > SLOPE_OFF:
        found.append(
            "single effects do not add up here, so that power computed from them is off; "
            "more sentences make them add up better."
        )
    ratio = fit.matched_scale / fit.scale
    if not 1 / SCALE_OFF < ratio < SCALE_OFF:
        tails = "heavier" if ratio > 1 else "lighter"
        found.append(
            f"the effects have {tails} tails than a Laplace distribution; plan with b0 = "
            f"{fit.matched_scale:.1f}, which has their spread."
        )
    return found


def test_text(counts: SentenceCounts, result: RandomisationTest, alpha: float) -> str:
    """The randomisation test and its verdict."""
    how = f"all {result.n_swaps:,} swaps" if result.exact else f"{result.n_swaps:,} random swaps"
    verdict = "significant" if result.p_value <= alpha else "not significant"
    p = f"p = {result.p_value:.4g}: {verdict} at {alpha:g}"
    facts = [*_metric_facts(counts), ("Test", f"paired randomisation, {how}"), ("Result", p)]
    if result.p_interval is not None:
        low, high = result.p_interval
        facts.append(("", f"with endless swaps p lies between {low:.4g} and {high:.4g} (95 %)"))
    return _lines(facts)


def _lines(facts: list[tuple[str, str]]) -> str:
    return "\n".join(wrapped(text, bullet=f"{label:<10}") for label, text in facts)


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
    from humeval_power.reporting.corpus import swap_figure
    from humeval_power.reporting.figure_style import figure_bytes

    figure = swap_figure(effects, check, fit, metric=METRIC_NAMES[counts.metric])
    rows = [f"{line},{effect:.12g}" for line, effect in enumerate(effects, start=1)]
    return {
        "estimate.json": to_json(record),
        "effects.csv": "\n".join(["line,effect", *rows]) + "\n",
        "effects.png": figure_bytes(figure, "png"),
        "effects.svg": figure_bytes(figure, "svg"),
    }
