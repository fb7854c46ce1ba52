"""`humeval-power size`: the fewest workers, items, documents or ratings per item for a target power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.choices import SearchMethod, Sought
from humeval_power.fields import own, word
from humeval_power.interfaces.asking.command import Use
from humeval_power.interfaces.asking.declared import Page, Part, study_command
from humeval_power.interfaces.asking.resolve import (
    NO_DIFFERENCE,
    analysed_as,
    assumptions_of,
    documents_of,
    effect_needed,
    effect_of,
    only_setting,
    rule_of,
    settled,
    source_needed,
    warn_beyond,
)
from humeval_power.interfaces.asking.resolve_systems import Systems, systems_of, tell_remarks
from humeval_power.interfaces.asking.study_page import EFFECT, SIZE, TO_PLAN, TO_POWER, VARIATION
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.asking.vocabulary import METHOD, PILOT
from humeval_power.interfaces.cli.run import Run
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.reporting.study.size import StudySize
    from humeval_power.reporting.study.systems_answers import SystemsSizeResult


def _sought(_said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(typed.get("sought")).replace("-", "_"),)


@study_command(
    ("size",),
    {
        **study_fields(
            *("ratings", "variation", "effect", "systems", "design", "test"),
            but=("criteria", "criterion", "correlated", "check_families"),
            pilot=PILOT,
            power=FIELDS["power"],
            workers=replace(FIELDS["workers"], start=""),
        ),
        "sought": own(
            word(Sought),
            "What to find; give the others (without --ratings-per-item every worker rates every item; for "
            "documents, --items-per-document or the --items of all).",
            "What to find",
            option="find",
            start="workers",
            words={
                "workers": "The fewest workers",
                "items": "The fewest items",
                "documents": "The fewest documents",
                "ratings-per-item": "The fewest ratings of each item",
            },
            needed=True,
        ),
        "method": replace(
            METHOD, kind=word(SearchMethod), help="By formula at once, or proved by simulation too."
        ),
    },
    use=Use(seeks=_sought),
    simulates=True,
    needs=(source_needed, effect_needed),
    page=Page(
        "Smallest study",
        "How many workers, items or ratings of each item does it take to find a difference?",
        (
            Part(
                "The study",
                ("sought", "power", *SIZE.fields),
                "Leave empty what is to be found, and give the others.",
            ),
            EFFECT,
            VARIATION,
        ),
        (TO_POWER, TO_PLAN),
        journey="plan",
        live={"method": "analytic"},
    ),
)
def command(
    study: StudyValues, sought: Sought, method: SearchMethod, run: Run
) -> StudySize | SystemsSizeResult:
    """The fewest workers, items, documents or ratings per item that reach the target.

    Found by formula and proved by simulation; a proof of more than a minute
    only with --simulations. Ends with 3, and the reason, if no practical number
    will do. Of several systems (--n-systems 8) the target is that of
    --goal.
    """
    rule = rule_of(study)
    several = systems_of(study, rule)
    if several is not None:
        return _of_systems(several, sought, method, run)
    from humeval_power.api.study_power import study_size
    from humeval_power.interfaces.cli.work_ahead import tell_work

    settings, said = settled(study, assumptions_of(study), effect_of(study) or NO_DIFFERENCE)[0]
    rule = analysed_as(study, rule, settings)
    name, parameters = only_setting(settings)
    warn_beyond(settings, [said])
    return study_size(
        parameters,
        sought,
        effect=said,
        workers=study.workers,
        items=study.items,
        ratings_per_item=None if sought == "ratings-per-item" else study.ratings_per_item,
        paired=study.paired,
        documents=documents_of(study),
        power=study.power,
        rule=rule,
        method=method,
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=name,
        scale=settings.scale,
        ahead=lambda work: tell_work(work, n_simulations=run.simulations()),
    )


def _of_systems(several: Systems, sought: Sought, method: SearchMethod, run: Run) -> SystemsSizeResult:
    study = several.study
    workers, items = study.workers, study.items
    documents = documents_of(study)
    by_document = sought == "documents" and documents.items_each is not None
    missing = [
        f"--{name}"
        for name, value in (("workers", workers), ("items", items))
        if name != sought and value is None and not (name == "items" and by_document)
    ]
    if missing:
        raise click.UsageError(f"Give {' and '.join(missing)}.")
    if by_document and items is not None:
        raise click.UsageError("Find documents of so many items each, or that share --items: not both.")
    tell_remarks(several)
    name, parameters = several.only_at_differences()
    per_item = None if sought == "ratings-per-item" else study.ratings_per_item
    most = workers or (2 if per_item is None else per_item + 1)  # more: not every worker rates every item
    if per_item is None and not study.paired:
        raise click.UsageError("Give --ratings-per-item: an unpaired study has that many for each output.")
    from humeval_power.api.systems_power import systems_size
    from humeval_power.designs import crossed
    from humeval_power.study_counts import StudyCounts

    any_size = crossed(2, 2, n_systems=parameters.n_systems)
    return systems_size(
        several.with_design(name, parameters, any_size),
        sought,
        StudyCounts(most, items or 2, per_item or most, study.paired, n_systems=parameters.n_systems),
        documents=documents,
        power=study.power,
        method=method,
        n_simulations=run.simulations(),
        seed=run.seed,
        n_jobs=run.n_jobs,
    )
