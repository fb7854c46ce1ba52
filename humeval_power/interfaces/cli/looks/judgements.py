"""`humeval-power looks scores|preference|accuracy`: looks at independent judgements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from humeval_power.errors import InputError
from humeval_power.inference.looks.boundaries import boundaries
from humeval_power.inference.looks.futility import ConditionalPowerFutility
from humeval_power.interfaces.cli.family import (
    ACCURACIES,
    PREFERENCES,
    EffectRange,
    points_words,
    score_range,
    share_words,
)
from humeval_power.interfaces.cli.looks.figures import figure_files, figure_paths
from humeval_power.interfaces.cli.looks.options import (
    LooksOptions,
    curve_of,
    effects_of,
    effects_option,
    figures_option,
    looks_options,
)
from humeval_power.interfaces.cli.looks.text import (
    LONG_RUN,
    bias_text,
    boundaries_text,
    facts_text,
    points_text,
)
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import (
    Function,
    decorated,
    default_jobs,
    result_options,
    run_options,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite
from humeval_power.interfaces.cli.preference.group import preference_words
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.planning.looks.long_run import operating_characteristics
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.planning.workload import comparison_workload
from humeval_power.reporting.looks.records import judgements_record
from humeval_power.scenarios.accuracy.agreement import KnownAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy
from humeval_power.scenarios.assessment.scenario import DirectAssessment
from humeval_power.scenarios.looks.judgements import AssessmentLooks, PairedLooks
from humeval_power.scenarios.looks.replicates import LookSource
from humeval_power.scenarios.preference import Preference

INDEPENDENT = (
    "Judgements are taken as independent. Where annotators or items have levels of their own the false "
    "positives are many more: 'looks study' says how many."
)


_SCORES = (0.0, 100.0)


def _check(effect: float, effects: tuple[float, ...] | None, allowed: EffectRange) -> None:
    allowed.check([effect])
    allowed.check(effects or (), name="--effects")


def _common(command: Function) -> Function:
    options = (
        looks_options(efficacy="pocock", one_sided=False),
        effects_option,
        run_options,
        figures_option,
        result_options,
    )
    return decorated(command, options)


@click.command("scores", cls=Command)
@click.option("--n", type=WholeNumber(min=2), required=True, help="Scores of each system at the end.")
@click.option(
    "--effect", type=RealNumber(), required=True, help="True difference of means B - A, in points."
)
@click.option(
    "--mean", type=RealNumber(), default=75.0, show_default=True, help="Mean score of A, of 0 to 100."
)
@click.option(
    "--sd",
    type=RealNumber(0, 100, min_open=True),
    default=25.0,
    show_default=True,
    help="SD of single scores.",
)
@_common
def scores(n: int, effect: float, mean: float, sd: float, **common: Any) -> None:
    """Direct assessment: independent scores, Mann and Whitney's U at each look."""
    looks: LooksOptions = common["looks"]
    _check(effect, common["effects"], score_range(mean, *_SCORES))
    assessment = DirectAssessment(n, mean=mean, sd=sd, effect=effect, alpha=looks.alpha)
    words = [f"{n:,} scores of each system, mean {mean:g} and {mean + effect:g}, SD {sd:g}; Mann-Whitney U"]
    said = points_words(effect, *_SCORES)
    _answer(lambda at: AssessmentLooks(assessment, at), effect, words, "points", said, **common)


@click.command("preference", cls=Command)
@click.option("--n", type=WholeNumber(), required=True, help="Judgements at the end.")
@click.option(
    "--effect", type=RealNumber(), required=True, help="Share that prefers B among non-ties, minus 1/2."
)
@click.option(
    "--tie-share", type=RealNumber(), default=0.0, show_default=True, help="Probability of a tie."
)
@_common
def preference(n: int, effect: float, tie_share: float, **common: Any) -> None:
    """Head-to-head judgements: the exact sign test at each look."""
    looks: LooksOptions = common["looks"]
    _check(effect, common["effects"], PREFERENCES)
    study = Preference(n, preference=effect, tie_share=tie_share, alpha=looks.alpha)
    words = [f"{n:,} judgements, {100 * tie_share:g} % ties; sign test ({study.test})"]
    said = preference_words(study)
    _answer(
        lambda at: PairedLooks(study, at),
        effect,
        words,
        "share",
        said,
        **common,
    )


@click.command("accuracy", cls=Command)
@click.option("--n", type=WholeNumber(), required=True, help="Items of the test set.")
@click.option(
    "--effect", type=RealNumber(), required=True, help="True difference of accuracy, B - A, as a share."
)
@click.option(
    "--agreement",
    type=RealNumber(),
    required=True,
    help="Share of items where both are right or both wrong.",
)
@_common
def accuracy(n: int, effect: float, agreement: float, **common: Any) -> None:
    """Two systems on the same items: McNemar's mid-p test at each look."""
    looks: LooksOptions = common["looks"]
    _check(effect, common["effects"], ACCURACIES)
    known = KnownAgreement(agreement)
    study = PairedAccuracy(n, difference=effect, agreement=known, test="mid-p", alpha=looks.alpha)
    words = [f"{n:,} items; {known.label}; McNemar (mid-p)"]
    said = share_words(effect)
    _answer(
        lambda at: PairedLooks(study, at),
        effect,
        words,
        "share",
        said,
        **common,
    )


def _answer(
    make: Callable[[tuple[float, ...]], LookSource],
    effect: float,
    words: Sequence[str],
    unit: str,
    said: str,
    *,
    looks: LooksOptions,
    effects: tuple[float, ...] | None,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    figures: str | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    written = [] if output is None else [output]
    written += [] if figures is None else [*map(str, figure_paths(figures))]
    refuse_to_overwrite(written, force=force)
    source, rule = make(looks.at), looks.rule
    if isinstance(rule.futility, ConditionalPowerFutility) and rule.futility.under == "design":
        raise click.UsageError(
            "Conditional power under the design is for 'looks study'; use conditional-power:LIMIT:trend here."
        )
    note(INDEPENDENT)
    sizes = source.sizes
    bounds = boundaries(rule, [size / sizes[-1] for size in sizes])
    n = DEFAULT_SIMULATIONS if simulations is None else simulations
    used = DEFAULT_SEED if seed is None else seed
    n_jobs = jobs or default_jobs()
    work = comparison_workload("da", sizes[-1], n_simulations=(2 + len(effects or ())) * n, n_jobs=n_jobs)
    tell_work(work, n_simulations=n)

    def at(wanted: Sequence[float]) -> list[Any]:
        return operating_characteristics(
            source, bounds, effects=wanted, n_simulations=n, seed=used, n_jobs=n_jobs
        )

    points = at(effects_of(effects, effect))
    pictures: dict[str, str | bytes] = {}
    if figures is not None:
        possible = [each for each in curve_of(effect) if _possible(source, each)]
        pictures = figure_files(bounds, points, at(possible), sizes=sizes, unit=unit)
    if as_json:
        from humeval_power.interfaces.formats.documents.reading import to_json

        record = judgements_record(
            bounds,
            points,
            sizes=sizes,
            words=words,
            n_simulations=n,
            seed=used,
            command=typed_command(),
        )
        text = to_json({"understood": said, **record})
    else:
        facts = [
            ("Effect", said),
            *(("Study" if number == 0 else "", line) for number, line in enumerate(words)),
            ("Looks", f"after {', '.join(f'{size:,}' for size in sizes)} judgements"),
            ("Rule", str(rule)),
            ("Studies", f"{n:,} simulated at each effect"),
        ]
        parts = [
            facts_text(facts),
            boundaries_text(bounds),
            f"{LONG_RUN}\n{points_text(points, noun='judged')}",
            bias_text(points),
        ]
        text = "\n\n".join(parts)
    emit(text, output=output, force=force, beside=pictures, folder=figures)


def _possible(source: LookSource, effect: float) -> bool:
    try:
        source.with_effect(effect)
    except InputError:
        return False
    return True
