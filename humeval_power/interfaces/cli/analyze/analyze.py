"""`humeval-power analyze`: a finished study, decided as planned."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from humeval_power.api.study import studies_like
from humeval_power.errors import FitError, InputError
from humeval_power.estimation.fit import Fit
from humeval_power.inference.study.many_systems import FamilyCorrection
from humeval_power.inference.study.wald import EffectTest
from humeval_power.interfaces.cli.analyze.criteria import (
    correct_criteria_option,
    criteria_option,
    family_rows,
    family_text,
    load_criteria,
)
from humeval_power.interfaces.cli.analyze.looks import SUCCESS, sequential_part
from humeval_power.interfaces.cli.analyze.many import (
    ManyOptions,
    analyse_systems,
    many_options,
    systems_text,
)
from humeval_power.interfaces.cli.analyze.text import two_text
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.options import (
    TableOptions,
    default_jobs,
    result_options,
    rule_options,
    run_options,
    table_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, wrapped, write_set
from humeval_power.interfaces.cli.plan.options import (
    amend_option,
    load_plan,
    plan_option,
    plan_reference,
    table_by_plan,
)
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.analyze import deviations, power_at_interest
from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.planning.study.analytic import FEW_WORKERS, EffectPrecision
from humeval_power.planning.study.calibration import size_of_test
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.analysis_record import analysis_record, criteria_record, systems_record
from humeval_power.reporting.records import json_ready
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.safe_text import display_width, file_stems, one_line

Analysed = tuple[dict[str, object], str, dict[str, str | bytes]]  # record, text, pictures by file name


@click.command("analyze", cls=Command)
@click.argument("file", metavar="RATINGS")
@table_options
@plan_option
@amend_option
@effect_options(
    "Smallest difference B - A on [0, 1] that would matter. [the plan's]",
    option="--effect-of-interest",
    parameter="effect_of_interest",
)
@many_options
@criteria_option
@correct_criteria_option
@click.option(
    "--ledger", metavar="FILE", help="Ledger of the looks of a plan that has looks. [beside the plan]"
)
@click.option("--secret", metavar="FILE", help="Secret of that ledger's digests. [beside the ledger]")
@click.option("--pictures", metavar="DIR", help="Write diagnostic pictures to DIR, with a sentence each.")
@rule_options
@run_options
@result_options
def command(
    file: str,
    table: TableOptions,
    plan: str | None,
    amend: str | None,
    effect_of_interest: TypedEffects | None,
    many: ManyOptions,
    criteria: str | None,
    correct_criteria: FamilyCorrection,
    ledger: str | None,
    secret: str | None,
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
    by its own fit or (--model joint) all in one. --criteria goes through
    several criteria. -o writes the analysis as JSON, for 'report'.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    several = many.several
    planned = load_plan(plan, amend)
    if planned is not None and several:
        raise click.UsageError("A plan compares two systems: leave out --all-pairs and --baseline.")
    if planned is not None and criteria is not None:
        raise click.UsageError("A plan is for one criterion: give --criterion NAME, not --criteria.")
    if criteria is None and correct_criteria != "none":
        raise click.UsageError("--correct-criteria is for several criteria: add --criteria all.")
    if criteria is not None and table.criterion is not None:
        raise click.UsageError("Give --criterion for one criterion or --criteria for several, not both.")
    if planned is not None:
        # a rule typed beside the plan is a deviation, and stays
        rule = planned.rule if rule == DEFAULT_RULE else rule
        table = table_by_plan(planned, table)
    if rule.is_simulated:
        raise click.UsageError(
            f"For --df {rule.df} use 'fit': its reference distribution is simulated there."
        )
    if several and rule.margin is not None:
        raise click.UsageError(
            "Equivalence and non-inferiority are decided for one pair: give --systems A,B."
        )
    simulation = {
        "n_simulations": simulations or DEFAULT_SIMULATIONS,
        "seed": DEFAULT_SEED if seed is None else seed,
        "n_jobs": jobs or default_jobs(),
    }

    def analyse(ratings: Ratings) -> Analysed:
        if several:
            return _several(ratings, rule, many, draw=pictures is not None)
        wanted = _interest(effect_of_interest, ratings, planned)
        record, text = _two(ratings, rule, planned, plan, (ledger, secret), wanted, simulation)
        if pictures is None:
            return record, text, {}
        files, told = _pictures(ratings, rule)
        return record, f"{text}\n\n{told}", files

    if criteria is None:
        ratings = load_ratings(file, table, require_pair=not several)
        with compiled_kernels():
            record, text, files = analyse(ratings)
    else:
        by_name = load_criteria(file, table, criteria, require_pair=not several)
        with compiled_kernels():
            analysed = {}
            for name, ratings in by_name.items():
                try:
                    analysed[name] = analyse(ratings)
                except FitError as error:
                    raise FitError(f"Criterion {name!r}: {error}") from error
        record, text, files = _together(analysed, correct_criteria, rule)
    written: dict[Path, str | bytes] = {}
    if pictures is not None:
        written |= {Path(pictures, name): content for name, content in files.items()}
    if output not in (None, "-"):
        written[Path(str(output))] = to_json(record)
    write_set(written, force=force)
    if pictures is not None:
        note(f"Written to {pictures}: {', '.join(files)}")
    if output not in (None, "-"):
        note(f"Written: {output}")
    as_json = as_json or output == "-"
    say(to_json(record) if as_json else text, nl=not as_json)


def _interest(typed: TypedEffects | None, ratings: Ratings, plan: Plan | None) -> float | None:
    """The smallest difference that would matter on [0, 1]: as typed, else the plan's."""
    if typed is None:
        return None if plan is None else plan.effect
    found = typed.one(ratings.scale)
    if not (abs(found.value) if typed.raw else found.value) > 0:
        raise InputError(f"{typed.option}: the smallest difference that would matter is above 0.")
    return abs(found.value)


def _two(
    ratings: Ratings,
    rule: DecisionRule,
    plan: Plan | None,
    plan_path: str | None,
    looks_files: tuple[str | None, str | None],
    effect: float | None,
    simulation: dict[str, Any],
) -> tuple[dict[str, object], str]:
    from humeval_power.estimation.fitting import fit
    from humeval_power.inference.study.intervals import parameter_intervals
    from humeval_power.inference.study.wald import difference_test, effect_test

    fitted = fit(ratings, estimator=rule.estimator)
    tested = difference_test(ratings, rule) if rule.analysis == "differences" else effect_test(fitted, rule)
    size = None
    n_simulations = simulation["n_simulations"]
    work = studies_like(fitted, ratings, rule, True, n_simulations, simulation["n_jobs"])
    tell_work(work, n_simulations=n_simulations)
    if fitted.n_workers < FEW_WORKERS and not tested.reason:
        size = size_of_test(fitted.parameters, ratings.design(), rule=rule, **simulation)
    interest = None
    if effect is not None and not tested.reason:
        smallest = min(fitted.n_workers, fitted.n_items) - 1
        precision = EffectPrecision(
            tested.standard_error**2, _df(fitted, tested), smallest, fitted.n_workers
        )
        interest = power_at_interest(
            effect, fitted.parameters, precision, ratings.design(), rule=rule, plan=plan
        )
    found = None if plan is None else deviations(plan, ratings, rule)
    looks = None
    if plan is not None and plan_path is not None and plan.looks is not None:
        looks = sequential_part(plan, plan_path, looks_files[0], ratings, secret=looks_files[1])
        found = (
            *deviations(plan, ratings, rule, stopped_at=looks.stopped_at),
            *looks.deviations,
        )
    record = analysis_record(
        ratings,
        fitted,
        tested,
        size=size,
        interest=interest,
        deviations=found,
        agreement=_agreement(ratings, fitted),
        plan=None if plan_path is None else plan_reference(plan_path),
        sequential=None if looks is None else looks.record,
        command=typed_command(),
    )
    between: Any = json_ready(record["agreement"])
    ranges = parameter_intervals(fitted, ratings) if fitted.converged else {}
    shown = None if looks is None else looks.record["decision"] in SUCCESS
    text = two_text(
        ratings, fitted, tested, ranges, size, interest, found, between["between"], by_looks=shown
    )
    return record, text if looks is None else f"{text}\n\n{looks.text}"


def _agreement(ratings: Ratings, fitted: Fit) -> dict[str, object]:
    from humeval_power.inference.agreement.agreement import agreement
    from humeval_power.inference.agreement.reliability import intraclass_correlations
    from humeval_power.inference.agreement.repeatability import repeatability
    from humeval_power.reporting.agreement.record import agreement_record

    per_output = ratings.design().ratings_per_item
    correlations = intraclass_correlations(fitted, ratings_per_output=per_output)
    return agreement_record(agreement(ratings), repeatability(ratings), correlations)


def _pictures(ratings: Ratings, rule: DecisionRule) -> tuple[dict[str, str | bytes], str]:
    from humeval_power.estimation.fitting import fit
    from humeval_power.interfaces.cli.analyze.pictures import diagnostics

    files, sentences = diagnostics(ratings, fit(ratings, estimator=rule.estimator), rule)
    return files, "Diagnostics\n" + "\n".join(wrapped(one, bullet="  - ") for one in sentences)


def _df(fitted: Fit, tested: EffectTest) -> float:
    """The df with which the standard error is known, also where the rule refers to the normal."""
    if math.isfinite(tested.df):
        return tested.df
    return fitted.df_kenward_roger if math.isfinite(fitted.df_kenward_roger) else fitted.df_satterthwaite


def _several(ratings: Ratings, rule: DecisionRule, many: ManyOptions, *, draw: bool) -> Analysed:
    analysis = analyse_systems(ratings, rule, many)
    record = systems_record(ratings, analysis, command=typed_command())
    text = systems_text(ratings, analysis)
    if not draw:
        return record, text, {}
    from humeval_power.interfaces.cli.analyze.pictures import system_pictures

    files, sentence = system_pictures(analysis, ratings.criterion)
    return record, f"{text}\n\n{wrapped(sentence)}", files


def _together(analysed: dict[str, Analysed], correction: FamilyCorrection, rule: DecisionRule) -> Analysed:
    """The analyses of several criteria as one."""
    rows = family_rows({name: one[0] for name, one in analysed.items()}, correction, rule=rule)
    record = criteria_record(
        {name: one[0] for name, one in analysed.items()},
        correction=correction,
        family=[asdict(row) for row in rows],
        command=typed_command(),
    )
    parts = [family_text(rows, correction)]
    for name, one in analysed.items():
        heading = one_line(name)
        parts.append(f"{heading}\n{'=' * display_width(heading)}\n\n{one[1]}")
    files = {
        f"{stem}-{file}": content
        for stem, one in zip(
            file_stems(list(analysed), nameless="criterion"), analysed.values(), strict=True
        )
        for file, content in one[2].items()
    }
    return record, "\n\n".join(parts), files
