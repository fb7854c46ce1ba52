"""`humeval-power analyze`: a finished study, decided as planned."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, get_args

import click

from humeval_power.errors import InputError
from humeval_power.estimation.fit import Fit
from humeval_power.inference.many_systems import (
    Correction,
    PairResult,
    compare_systems,
    indistinct_groups,
)
from humeval_power.inference.wald import EffectTest
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.fit_text import fit_text, p_text
from humeval_power.interfaces.cli.invocation import typed_command
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.options import (
    TableOptions,
    force_option,
    jobs_option,
    json_option,
    output_option,
    quiet_option,
    rule_options,
    seed_option,
    simulations_option,
    table_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, wrapped, write_directory
from humeval_power.interfaces.cli.plan_options import amend_option, load_plan, plan_option
from humeval_power.interfaces.cli.study_options import default_jobs
from humeval_power.interfaces.cli.text_table import text_table
from humeval_power.interfaces.formats.documents import to_json
from humeval_power.planning.adherence import Deviation, PowerAtInterest, deviations, power_at_interest
from humeval_power.planning.analytic import FEW_WORKERS, EffectPrecision
from humeval_power.planning.calibration import size_of_test
from humeval_power.planning.plan import Plan
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, PowerEstimate
from humeval_power.ratings import Ratings
from humeval_power.reporting.analysis_record import analysis_record, comparison_record
from humeval_power.reporting.records import json_ready
from humeval_power.rules import DEFAULT_RULE, DecisionRule


@click.command("analyze")
@click.argument("file", metavar="RATINGS")
@table_options
@plan_option
@amend_option
@click.option(
    "--effect-of-interest",
    type=click.FloatRange(0, min_open=True),
    help="Smallest difference B - A on [0, 1] that would matter. [the plan's]",
)
@click.option("--all-pairs", is_flag=True, help="Compare every pair of systems.")
@click.option("--baseline", metavar="SYSTEM", help="Compare every other system with this one.")
@click.option(
    "--correction",
    type=click.Choice(get_args(Correction)),
    default="holm",
    show_default=True,
    help="For testing several pairs.",
)
@click.option("--pictures", metavar="DIR", help="Write diagnostic pictures to DIR, with a sentence each.")
@rule_options
@simulations_option
@seed_option
@jobs_option
@json_option
@output_option
@force_option
@quiet_option
def command(
    file: str,
    table: TableOptions,
    plan: str | None,
    amend: str | None,
    effect_of_interest: float | None,
    all_pairs: bool,
    baseline: str | None,
    correction: Correction,
    pictures: str | None,
    rule: DecisionRule,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Decide a finished study by its plan, and say what differs from it.

    RATINGS is a table as 'check' reads it. With --plan the plan's test,
    systems and effect of interest are used, and every deviation is listed.
    With --all-pairs or --baseline several systems are compared, each pair
    by its own fit. -o writes the analysis as JSON, for 'report'.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    several = all_pairs or baseline is not None
    planned = load_plan(plan, amend)
    if pictures is not None and several:
        raise click.UsageError("Pictures are of one comparison: leave out --all-pairs and --baseline.")
    if planned is not None and several:
        raise click.UsageError("A plan compares two systems: leave out --all-pairs and --baseline.")
    if planned is not None:
        rule, table = _by_plan(planned, rule, table)
    if rule.is_simulated:
        raise click.UsageError(
            f"For --df {rule.df} use 'fit': its reference distribution is simulated there."
        )
    ratings = load_ratings(file, table, require_pair=not several)
    with compiled_kernels():
        if several:
            record, text = _several(ratings, rule, baseline, correction)
        else:
            simulation = {
                "n_simulations": simulations or DEFAULT_SIMULATIONS,
                "seed": DEFAULT_SEED if seed is None else seed,
                "n_jobs": jobs or default_jobs(),
            }
            wanted = effect_of_interest or (planned.effect if planned else None)
            record, text = _two(ratings, rule, planned, plan, wanted, simulation)
            if pictures is not None:
                text += "\n\n" + _pictures(ratings, rule, pictures, force=force)
    if output is not None:
        write_directory(Path(output).parent, {Path(output).name: to_json(record)}, force=force)
        note(f"Written: {output}")
    click.echo(to_json(record) if as_json else text, nl=not as_json)


def _by_plan(plan: Plan, rule: DecisionRule, table: TableOptions) -> tuple[DecisionRule, TableOptions]:
    """The plan's rule and systems; a rule typed beside the plan is a deviation and stays."""
    from dataclasses import replace

    chosen = plan.rule if rule == DEFAULT_RULE else rule
    systems = table.systems or plan.systems
    scale = table.scale
    if scale is None and plan.scale is not None:
        scale = f"{plan.scale.low:g}:{plan.scale.high:g}"
        if plan.scale.points:
            scale += f":{plan.scale.points}"
    lower = table.lower_is_better or (plan.scale is not None and not plan.scale.higher_is_better)
    return chosen, replace(table, systems=systems, scale=scale, lower_is_better=lower)


def _two(
    ratings: Ratings,
    rule: DecisionRule,
    plan: Plan | None,
    plan_path: str | None,
    effect: float | None,
    simulation: dict[str, Any],
) -> tuple[dict[str, object], str]:
    from humeval_power.estimation.fitting import fit
    from humeval_power.inference.difference_test import difference_test
    from humeval_power.inference.intervals import parameter_intervals
    from humeval_power.inference.wald import effect_test

    fitted = fit(ratings, estimator=rule.estimator)
    tested = difference_test(ratings, rule) if rule.analysis == "differences" else effect_test(fitted, rule)
    size = None
    if fitted.n_workers < FEW_WORKERS:
        size = size_of_test(fitted.parameters, ratings.design(), rule=rule, **simulation)
    interest = None
    if effect is not None:
        smallest = min(fitted.n_workers, fitted.n_items) - 1
        precision = EffectPrecision(
            tested.standard_error**2, _df(fitted, tested), smallest, fitted.n_workers
        )
        interest = power_at_interest(
            effect, fitted.parameters, precision, ratings.design(), rule=rule, plan=plan
        )
    found = None if plan is None else deviations(plan, ratings, rule)
    record = analysis_record(
        ratings,
        fitted,
        tested,
        size=size,
        interest=interest,
        deviations=found,
        agreement=_agreement(ratings, fitted),
        plan=None if plan_path is None else {"file": Path(plan_path).name},
        command=typed_command(),
    )
    between: Any = json_ready(record["agreement"])
    ranges = parameter_intervals(fitted, ratings)
    return record, _two_text(ratings, fitted, tested, ranges, size, interest, found, between["between"])


def _agreement(ratings: Ratings, fitted: Fit) -> dict[str, object]:
    from humeval_power.inference.agreement import agreement
    from humeval_power.inference.reliability import intraclass_correlations
    from humeval_power.inference.repeatability import repeatability
    from humeval_power.reporting.forms.agreement_record import agreement_record

    per_output = ratings.design().ratings_per_item
    correlations = intraclass_correlations(fitted, ratings_per_output=per_output)
    return agreement_record(agreement(ratings), repeatability(ratings), correlations)


def _pictures(ratings: Ratings, rule: DecisionRule, directory: str, *, force: bool) -> str:
    from humeval_power.estimation.fitting import fit
    from humeval_power.interfaces.cli.analyze_pictures import diagnostics

    files, sentences = diagnostics(ratings, fit(ratings, estimator=rule.estimator), rule)
    write_directory(directory, files, force=force)
    note(f"Written to {directory}: {', '.join(files)}")
    return "Diagnostics\n" + "\n".join(wrapped(one, bullet="  - ") for one in sentences)


def _df(fitted: Fit, tested: EffectTest) -> float:
    """The df with which the standard error is known, also where the rule refers to the normal."""
    if math.isfinite(tested.df):
        return tested.df
    return fitted.df_kenward_roger if math.isfinite(fitted.df_kenward_roger) else fitted.df_satterthwaite


def _two_text(
    ratings: Ratings,
    fitted: Fit,
    tested: EffectTest,
    ranges: Any,
    size: PowerEstimate | None,
    interest: PowerAtInterest | None,
    found: tuple[Deviation, ...] | None,
    between: list[dict[str, Any]],
) -> str:
    parts = [
        fit_text(ratings, fitted, tested, ranges, size),
        _decision(ratings, tested),
        _agreement_text(between),
    ]
    if interest is not None:
        parts.append(_interest_text(interest))
    if found is not None:
        parts.append(_deviations_text(found))
    return "\n\n".join(parts)


def _agreement_text(between: list[dict[str, Any]]) -> str:
    """Agreement overall, in a line for each measure that is defined."""
    lines = []
    for one in between:
        if one["value"] is not None and " within " not in one["measure"]:
            low, high = one["interval"] or (None, None)
            reach = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
            lines.append(f"  {one['measure']}: {one['value']:.2f}{reach}")
    return "Agreement (95 % intervals)\n" + ("\n".join(lines) or "  not defined for this table")


def _decision(ratings: Ratings, tested: EffectTest) -> str:
    a, b = ratings.system_names
    if tested.significant:
        better, worse = (b, a) if tested.estimate > 0 else (a, b)
        text = f"{better} is rated higher than {worse} (p = {p_text(tested.p_value)})."
    else:
        text = (
            f"No difference is shown (p = {p_text(tested.p_value)}). That does not show that there is none: "
            f"the interval reaches from {tested.interval[0]:.3f} to {tested.interval[1]:.3f}."
        )
    return wrapped(text, bullet="Decision  ")


def _interest_text(interest: PowerAtInterest) -> str:
    lines = [
        f"If the true difference is {interest.effect:g}, a study of this design finds it with probability "
        f"{interest.fitted:.2f} at these ratings' variances"
        + ("" if interest.planned is None else f", {interest.planned:.2f} at those the plan assumed")
        + ("." if interest.promised is None else f"; the plan promised {interest.promised:.2f}."),
        f"A significant result here would then exaggerate it {interest.type_m:.2f} times on average, and "
        f"have the wrong sign in {100 * interest.type_s:.2g} % of such studies.",
    ]
    return "\n".join(
        wrapped(line, bullet="Interest  " if i == 0 else " " * 10) for i, line in enumerate(lines)
    )


def _deviations_text(found: tuple[Deviation, ...]) -> str:
    if not found:
        return "Deviations from the plan: none."
    rows = [
        wrapped(f"{one.what}: planned {one.planned}; found {one.actual}", bullet="  - ") for one in found
    ]
    return "Deviations from the plan\n" + "\n".join(rows)


def _several(
    ratings: Ratings, rule: DecisionRule, baseline: str | None, correction: Correction
) -> tuple[dict[str, object], str]:
    if ratings.n_systems < 2:
        raise InputError(f"{ratings.source} has one system; at least two are needed.")
    results = compare_systems(ratings, rule=rule, baseline=baseline, correction=correction)
    means = {
        name: float(ratings.rating[ratings.system == code].mean())
        for code, name in enumerate(ratings.system_names)
    }
    groups = indistinct_groups(results, means) if baseline is None else ()
    record = comparison_record(
        ratings, results, means=means, groups=groups, correction=correction, command=typed_command()
    )
    return record, _several_text(ratings, results, means, groups, correction)


def _several_text(
    ratings: Ratings,
    results: tuple[PairResult, ...],
    means: dict[str, float],
    groups: tuple[tuple[str, ...], ...],
    correction: str,
) -> str:
    rows = [
        [
            f"{result.second} - {result.first}",
            f"{result.test.estimate:.4f}",
            f"{result.test.interval[0]:.4f} to {result.test.interval[1]:.4f}",
            f"{result.test.df:.1f}",
            p_text(result.test.p_value),
            p_text(result.corrected_p) + (" *" if result.significant else "  "),
        ]
        for result in results
    ]
    rule = results[0].test.rule
    parts = [
        wrapped(
            f"{ratings.source}: {ratings.n_ratings:,} ratings, {ratings.n_systems} systems, each pair by its "
            f"own fit ({rule}); p corrected by {correction} over {len(results)} comparisons; differences on "
            "[0, 1], intervals not corrected"
        ),
        text_table(["difference", "estimate", "interval", "df", "p", "corrected"], rows),
        text_table(
            ["system", "mean on [0, 1]"],
            [[name, f"{means[name]:.4f}"] for name in sorted(means, key=lambda name: -means[name])],
        ),
    ]
    if groups:
        lines = [wrapped(", ".join(group), bullet="  - ") for group in groups]
        parts.append("Groups without a significant difference inside\n" + "\n".join(lines))
    return "\n\n".join(parts)
