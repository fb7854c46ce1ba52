"""`humeval-power analyze`: a finished study, decided as planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from humeval_power.asking.adapting import all_that_were_planned
from humeval_power.asking.command import Use
from humeval_power.asking.declared import TEST, Page, Part, study_command
from humeval_power.asking.form import Next
from humeval_power.asking.output import note
from humeval_power.asking.results import details_wanted, record_wanted
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import TABLE, table_of
from humeval_power.errors import InputError
from humeval_power.exclusions import NO_RULES
from humeval_power.fields import names
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.fit.ask import FORMULA, with_formula
from humeval_power.studies.plan.ask_held import (
    AMEND,
    LEDGER_SECRET,
    load_plan,
    plan_path,
    plan_reference,
    table_by_plan,
)
from humeval_power.studies.resolve import effect_of, family_of, rule_of, tell_one_test
from humeval_power.study import EXAMPLE_RULES, FIELDS

if TYPE_CHECKING:
    from humeval_power.files.tables import SourceTable
    from humeval_power.ratings import Ratings
    from humeval_power.studies.analyze.result import AnalysisResult
    from humeval_power.studies.analyze.result_criteria import CriteriaResult
    from humeval_power.studies.field.worker_quality import WorkerExclusion
    from humeval_power.studies.plan.plan import Plan


# The part of `analyze` that goes through several criteria of one table.


def refuse_criteria(study: StudyValues, *, plan: Plan | None) -> None:
    """Refuse options that do not go together."""
    if plan is not None and plan.many is not None:
        return
    if plan is not None and study.criteria is not None:
        raise click.UsageError("This plan is for one criterion: give --criterion NAME, not --criteria.")
    if study.criteria is not None and study.criterion is not None:
        raise click.UsageError("Give --criterion for one criterion or --criteria for several, not both.")
    several = study.says("comparisons", "baseline")
    if not several:
        study.refuse(["model"], "is for several systems: add --all-pairs or --baseline SYSTEM.")
    if study.criteria is None:
        study.refuse(["correct_over"], "is for several criteria: add --criteria all.")
        if not several:
            remedy = "--all-pairs, --baseline SYSTEM or --criteria all"
            study.refuse(["correction"], f"is for several tests: add {remedy}.")


def load_criteria(
    table: SourceTable, study: StudyValues, wanted: str | Sequence[str], *, require_pair: bool
) -> dict[str, Ratings]:
    """The ratings of each criterion asked for, by name, in the order asked or that of the table.

    wanted : names, as a list or as typed, or 'all'

    Raises InputError: as `read_criteria`.
    """
    from humeval_power.files.tables import criteria_of_table
    from humeval_power.ratings import criteria_notices
    from humeval_power.studies.loading import reading

    names = list(wanted)
    if isinstance(wanted, str):
        names = [part.strip() for part in wanted.split(",") if part.strip()]
    read = criteria_of_table(
        table, "all" if wanted == "all" else names, require_pair=require_pair, **reading(study)
    )
    for notice in dict.fromkeys(one for each in criteria_notices([*read.values()]) for one in each):
        note(f"{table.source}: {notice}")
    return read


@study_command(
    ("analyze",),
    {
        "ratings": table_of(),
        **study_fields(
            *("test", "comparisons", "baseline", "model", "system_variances", "correction", "correct_over"),
            *("ledger", "plan", "pool", "estimand"),
            instead=TABLE,
            effect=replace(
                FIELDS["effect"],
                option="effect-of-interest",
                help="Smallest difference B - A that would matter, on [0, 1]. [the plan's]",
                note="",
                label="Smallest difference that would matter",
                slider=None,
            ),
            effect_raw=replace(
                FIELDS["effect_raw"],
                option="effect-of-interest-raw",
                label="The same in points of the scale",
                start="",
                slider=None,
            ),
            criteria=replace(
                FIELDS["criteria"],
                kind=names(str, "NAMES"),
                note=", one by one: 'all', or some with commas between: values of the column of criteria, or "
                "columns that hold the ratings of one each.",
                label="Several criteria",
                page_help="\u2018all\u2019, or their names with commas between them.",
            ),
            exclude_if=replace(
                FIELDS["exclude_if"],
                note=f", which no plan has sealed: {EXAMPLE_RULES}, or some of it.",
                page_help="Such as seconds=2,same-answer=0.95; the result is shown with and without them. Rules of "
                "the plan are applied by themselves.",
            ),
        ),
        "formula": FORMULA,
        "amend": AMEND,
        "secret": LEDGER_SECRET,
    },
    arguments=("ratings",),
    use=Use(adapts=all_that_were_planned, writes="findings"),
    read_as={"plan": plan_path},
    simulates=True,
    page=Page(
        "Analyse a study",
        "Which system is better, how sure that is and who it rests on: of two systems or many, by several "
        "criteria.",
        (
            Part(
                "The ratings",
                ("ratings", "systems", "criterion", "criteria", "scale", "lower_is_better"),
            ),
            Part("Several systems", ("all_pairs", "baseline", "model", "correction")),
            Part("The plan", ("plan", "effect", "exclude_if")),
            Part("The items", ("pool", "estimand"), folded=True),
            TEST,
        ),
        (
            Next(
                ("report",),
                "Write it up: checklists, datasheet, paragraph for the paper",
                ("plan", "criterion"),
                {"findings": "record.json"},
                sets={"form": "paper"},
            ),
            Next(("fit",), "Variances of two systems, to plan the next study"),
            Next(("check",), "What is in the table"),
        ),
        journey="ratings",
    ),
)
def command(
    study: StudyValues,
    formula: str | None,
    amend: str | None,
    secret: str | None,
    run: Run,
) -> AnalysisResult | CriteriaResult:
    """Decide a finished study by its plan, and say what differs from it.

    RATINGS is a table as 'check' reads it. With --plan the plan's test,
    systems and effect of interest are used, and every deviation is listed.
    With --all-pairs or --baseline several systems are compared, each pair
    by its own fit or (--model joint) all in one. --criteria goes through
    several criteria. All these tests are one family: --correction corrects
    over all of them. Workers beyond the limits that a plan seals are left out,
    and the result is shown with and without them. With --pool, from which items
    were drawn, its strata, probabilities and scores are taken into account, and
    every answer says what it is about. -o analysis.json is read by 'report'; -o analysis/ is
    a page with pictures of the effect, of workers, items and residuals.
    """
    planned, several = load_plan(study.plan, amend), study.says("comparisons", "baseline")
    if planned is not None and planned.many is None and several:
        raise click.UsageError("This plan compares two systems: leave out --all-pairs and --baseline.")
    from humeval_power.files.tables import read_rating_table
    from humeval_power.studies.analyze.calls import analyze_criteria
    from humeval_power.studies.items.files import read_pool
    from humeval_power.studies.loading import check_ratings, excluded

    rule, family = rule_of(study), family_of(study)
    model = with_formula(formula, study)
    table, correlated = model.study, model.correlated
    refuse_criteria(study, plan=planned)
    if planned is not None:
        # a rule typed beside the plan is a deviation, and stays
        rule = planned.rule if rule == DEFAULT_RULE else rule
        table = table_by_plan(planned, table)
        if planned.judges is not None:
            note(
                f"The plan has judges ({', '.join(planned.judges.names)}): this analysis is of people alone; "
                "'judge estimate --plan' takes the judges' scores too."
            )
    wanted: str | Sequence[str] | None = study.criteria
    if planned is not None and planned.family is not None:
        family, several = family_of(study, planned.family), len(planned.systems) > 2
        if planned.criteria and wanted is None:
            wanted = planned.criteria if table.criterion is None else (table.criterion,)
            table = table.with_(criterion=None)
    exclude_if = study.exclude_if or NO_RULES
    source = None if study.plan is None else plan_reference(study.plan)
    pool = None if study.pool is None else read_pool(study.pool)

    def each(ratings: Ratings, exclusion: WorkerExclusion | None = None) -> AnalysisResult:
        from humeval_power.studies.analyze.calls import analyze, looks_of_study
        from humeval_power.studies.power.typed import tell_work

        model.check(ratings)
        looks = None
        if planned is not None and planned.looks is not None:
            looks = looks_of_study(
                *(planned, study.plan, study.ledger, ratings),
                secret=secret,
                exclusion=exclusion,
                pool=pool,
            )
        together = several and (ratings.n_systems > 2 or planned is not None)
        if together and correlated:
            raise click.UsageError(
                "Correlated intercepts and slopes are fitted for two systems (--systems A,B): of several a worker "
                "has a level under each and no slope, and levels that vary unequally are --system-variances own."
            )
        return analyze(
            ratings,
            plan=planned,
            rule=rule,
            family=family if several else None,
            effect=None if together else _interest(study, ratings),
            looks=looks,
            correlated=correlated,
            exclusion=exclusion,
            pool=pool,
            estimand=study.estimand,
            plan_source=source,
            diagnostics=details_wanted() or (together and record_wanted()),
            check_families=study.check_families and not together,
            n_simulations=run.simulations(),
            seed=run.seed,
            n_jobs=run.n_jobs,
            ahead=partial(tell_work, n_simulations=run.simulations()),
        )

    result = read_rating_table(study.ratings)
    if wanted is None:
        ratings = check_ratings(result, table, require_pair=not several)
        if ratings.n_systems == 2 and planned is None:
            tell_one_test(study)
        return each(ratings, excluded(result, [ratings], planned, exclude_if))
    by_name = load_criteria(result, table, wanted, require_pair=not several)
    exclusion = excluded(result, list(by_name.values()), planned, exclude_if)
    return analyze_criteria(by_name, partial(each, exclusion=exclusion), family=family, plan=planned)


def _interest(study: StudyValues, ratings: Ratings) -> float | None:
    """The smallest difference that would matter on [0, 1], None where none was typed."""
    effect = effect_of(study)
    if effect is None:
        return None
    interest = effect.one(ratings.scale)
    if not (abs(interest.value) if effect.raw else interest.value) > 0:
        raise InputError(f"{effect.option}: the smallest difference that would matter is above 0.")
    return abs(interest.value)
