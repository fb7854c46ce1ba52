"""`humeval-power calibrate`: how often tests find an effect where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from humeval_power.api.progress import in_steps, progress
from humeval_power.designs import Design
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import (
    default_jobs,
    force_option,
    json_option,
    quiet_option,
    rule_options,
    run_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, wrapped, write_directory
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    likert_points,
    load_settings,
    only_setting,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.planning.study.calibration import (
    BAND,
    DEFAULT_NULL_STUDIES,
    VERDICT_CONFIDENCE,
    Calibration,
    calibrate,
    calibration_table,
)
from humeval_power.planning.study.designs_of import build_design
from humeval_power.planning.workload import study_workload
from humeval_power.reporting.rule_words import margin_words
from humeval_power.reporting.study.calibration_record import calibration_record
from humeval_power.rules import DecisionRule, claim
from humeval_power.safe_text import table_csv
from humeval_power.scales import RatingScale

FILES = ("calibration.csv", "calibration.png", "calibration.svg", "calibration.json")


@click.command("calibrate", cls=Command)
@study_options
@click.option("--workers", type=WholeNumber(), required=True, help="Number of workers.")
@click.option("--items", type=WholeNumber(), required=True, help="Number of items.")
@rule_options
@run_options
@json_option
@click.option("-o", "--output", metavar="DIR", help="Write calibration.csv, .png, .svg and .json to DIR.")
@force_option
@quiet_option
@source_needed
def command(
    study: StudyOptions,
    workers: int,
    items: int,
    rule: DecisionRule,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How often would a test find an effect where there is none?

    Your test and those that people commonly use decide the same simulated
    studies, in which the systems do not differ. A test of size 0.05 should find
    an effect in 5 % of them. With --margin the systems differ by just the
    margin, and equivalence or non-inferiority should be shown in 5 %.
    """
    if output is not None:
        refuse_to_overwrite([Path(output) / name for name in FILES], force=force)
    settings = load_settings(study)
    setting, parameters = only_setting(settings)
    design = build_design(
        workers,
        items,
        study.ratings_per_item,
        paired=study.paired,
        kind=study.design,
        max_ratings_per_worker=study.max_ratings_per_worker,
    )
    for remark in design.notes:
        note(remark)
    used = DEFAULT_SEED if seed is None else seed
    n_simulations = DEFAULT_NULL_STUDIES if simulations is None else simulations
    work = study_workload(design, n_simulations=n_simulations, n_jobs=jobs or default_jobs())
    tell_work(work, n_simulations=n_simulations)
    with _kernels_for(design, rule), progress("Simulating", total=n_simulations) as advance:
        results = calibrate(
            parameters,
            design,
            rule=rule,
            n_simulations=n_simulations,
            seed=used,
            response=study.response,
            points=likert_points(study, settings),
            n_jobs=jobs or default_jobs(),
            progress=in_steps(advance),
        )
    document = calibration_record(
        results,
        setting=setting,
        parameters=parameters,
        design=design,
        response=study.response,
        seed=used,
        command=typed_command(),
    )
    if rule.margin is not None:
        document = {"understood": margin_words(rule, settings.scale), **document}
    if output is not None:
        write_directory(output, _files(results, document), force=force)
        note(f"Written to {output}: {', '.join(FILES)}")
    say(
        to_json(document) if as_json else calibration_text(results, setting, design, settings.scale),
        nl=not as_json,
    )
    _tell_failures(results)


def _kernels_for(design: Design, rule: DecisionRule) -> AbstractContextManager[None]:
    by_iteration = rule.estimator == "ml" and rule.df == "satterthwaite"
    if design.is_crossed and not by_iteration:
        return nullcontext()
    from humeval_power.interfaces.cli.compiling import compiled_kernels

    return compiled_kernels()


def _files(results: Sequence[Calibration], document: dict[str, object]) -> dict[str, str | bytes]:
    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.study.calibration_figure import calibration_figure

    table = calibration_table(results)
    figure = calibration_figure(table)
    return {
        "calibration.csv": table_csv(table, digits=10),
        "calibration.png": figure_bytes(figure, "png"),
        "calibration.svg": figure_bytes(figure, "svg"),
        "calibration.json": to_json(document),
    }


def calibration_text(
    results: Sequence[Calibration], setting: str, design: Design, scale: RatingScale | None = None
) -> str:
    """The table for people, at most 80 characters wide; the interval is that of the rate judged."""
    rule, simulated = results[0].rule, max(result.estimate.n_simulations for result in results)
    truth = "no difference between the systems"
    if rule.margin is not None:
        truth = f"a true difference B - A of {rule.null_effect:g}, at the margin"
    facts = [
        *([] if rule.margin is None else [("Margin", margin_words(rule, scale))]),
        ("Setting", f"{setting}, {truth}"),
        ("Study", str(design)),
        ("Planned", f"{rule}  (* below)"),
        ("Studies", f"{simulated:,} simulated, the same for every test"),
    ]
    lines = [_line(result) for result in results]
    header = ["test", "significant", "B better", "interval", "verdict"]
    if rule.margin is not None:
        header, lines = _without_direction(header, lines)
    table = text_table(header, lines, indent="")
    return "\n".join(
        [*(wrapped(text, bullet=f"{label:<9}") for label, text in facts), "", table, "", _legend(results)]
    )


def _without_direction(header: list[str], lines: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """The table of a rule with a margin, whose claim has no direction."""
    shown = ["shown" if name == "significant" else name for name in header if name != "B better"]
    return shown, [[cell for place, cell in enumerate(line) if place != 2] for line in lines]


def _line(result: Calibration) -> list[str]:
    label = result.label + (" *" if result.is_rule else "")
    if result.verdict == "not defined":
        return [label, "", "", "", result.verdict]
    low, high = result.judged_interval
    estimate = result.estimate
    return [
        label,
        f"{estimate.rejection_rate:.3f}",
        f"{estimate.power:.3f}",
        f"{low:.3f}-{high:.3f}",
        result.verdict,
    ]


def _legend(results: Sequence[Calibration]) -> str:
    first = next((result for result in results if result.estimate.n_usable), results[0])
    low, high = first.band
    judged = {"two-sided": "significant", "greater": "B better"}.get(first.rule.alternative, "shown")
    text = (
        f"The verdict is on '{judged}' and follows from its interval ({100 * VERDICT_CONFIDENCE:g} %): too bold "
        f"if all of it lies above {first.rule.alpha:g}, too careful if below; calibrated if all of it lies "
        f"between {low:.3g} and {high:.3g}, which is {100 * BAND:g} % either way."
    )
    needed = max((result.needed_simulations or 0 for result in results), default=0)
    if needed:
        text += (
            " Unclear: not shown to be off, nor to be right; about "
            f"{needed:,} studies would tell (--simulations)."
        )
    if any(result.verdict == "not defined" for result in results):
        text += " Not defined: the design lacks the pairs that the test compares."
    if first.rule.margin is not None:
        text += f" Shown: {claim(first.rule)}, which is just not true here. Tests that know no margin are left out."
    if first.rule.alternative == "equivalent":
        text += (
            " The upper margin is the mirror image of the lower one. Where the margin is small against the "
            "standard error every test looks careful, because none can show anything: 'non-inferior' tells "
            "how bold a test is."
        )
    return wrapped(text)


def _tell_failures(results: Sequence[Calibration]) -> None:
    for result in results:
        if result.estimate.n_failed:
            note(
                f"{result.label}: no answer in {result.estimate.n_failed:,} of "
                f"{result.estimate.n_simulations:,} studies. They count as not significant."
            )
