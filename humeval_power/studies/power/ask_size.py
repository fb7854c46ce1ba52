"""`humeval-power size`: the fewest workers, items, documents or ratings per item for a target power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from humeval_power.asking.command import Use
from humeval_power.asking.declared import (
    EFFECT,
    SIZE,
    TO_PLAN,
    TO_POWER,
    VARIATION,
    Page,
    Part,
    costs,
    study_command,
)
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import METHOD
from humeval_power.choices import MOST_WORKERS, SearchMethod, Sought
from humeval_power.fields import own, word
from humeval_power.studies.resolve import (
    NO_DIFFERENCE,
    analysed_as,
    assumptions_of,
    cost_model_of,
    documents_of,
    effect_needed,
    effect_or_known,
    on_one_criterion,
    only_setting,
    prices_of,
    rule_of,
    settled,
    source_needed,
    warn_beyond,
)
from humeval_power.studies.resolve_systems import systems_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.assumptions import Assumptions
    from humeval_power.parameters import Parameters
    from humeval_power.studies.power.result_size import StudySize
    from humeval_power.studies.power.systems_study import SystemsStudy


def _sought(_said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
    sought = str(typed.get("sought")).replace("-", "_")
    return ("workers", "items", "budget") if sought == "budget" else (sought,)


@study_command(
    ("size",),
    {
        **study_fields(
            *("ratings", "variation", "effect", "systems", "design", "test", "cost"),
            but=("criterion", "correlated", "check_families", "budget", "spend_budget"),
            pilot=FIELDS["pilot"],
            power=FIELDS["power"],
            workers=replace(FIELDS["workers"], start=""),
            max_workers=replace(FIELDS["max_workers"], note="that a budget may pay."),
        ),
        "sought": own(
            word(Sought),
            "What to find; give the others (without ratings of each item every worker rates every item; for "
            "documents, the items of each or of all; for a budget prices, and neither workers nor items).",
            "What to find",
            option="find",
            start="workers",
            words={
                "workers": "The fewest workers",
                "items": "The fewest items",
                "documents": "The fewest documents",
                "ratings-per-item": "The fewest ratings of each item",
                "budget": "The smallest budget",
            },
            needed=True,
        ),
        "method": replace(
            METHOD, kind=word(SearchMethod), note=": at once by formula, or proved by simulation too."
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
            *costs("max_workers"),
        ),
        (TO_POWER, TO_PLAN),
        journey="plan",
        live={"method": "analytic"},
    ),
)
def command(study: StudyValues, sought: Sought, method: SearchMethod, run: Run) -> StudySize:
    """The fewest workers, items, documents or ratings per item that reach the target; or the least money.

    A budget pays for as many workers and items as are cheapest at your prices.
    Found by formula and proved by simulation; a proof of more than a minute
    only with --simulations. Ends with 3, and the reason, if no practical number
    will do. Of several systems (--n-systems 8) the target is that of
    --goal.
    """
    if sought == "budget":
        study.refuse(("workers", "items"), "is what a budget pays for: leave it out.")
    study, rule = on_one_criterion(study, rule_of(study))
    several = systems_of(study, rule)
    from humeval_power.studies.power.calls import study_size
    from humeval_power.studies.power.typed import (
        all_assumed,
        assumed_of_several,
        study_of_several,
        tell_work,
    )

    about: Parameters | SystemsStudy
    assumed: Assumptions | None
    if several is not None:
        sized = several.study.with_(
            workers=2, items=2, ratings_per_item=None, paired=True, documents=None, items_per_document=None
        )
        about, said, scale = study_of_several(replace(several, study=sized))
        name, assumed = about.setting, assumed_of_several(study, rule)
    else:
        known = assumptions_of(study)
        effect = effect_or_known(study, known) or NO_DIFFERENCE
        settings, said = settled(study, known, effect)[0]
        assumed = all_assumed(study, settings, effect)
        rule = analysed_as(study, rule, settings)
        name, about = only_setting(settings)
        warn_beyond(study, settings, [said])
        scale = settings.scale
    return study_size(
        about,
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
        assumed=assumed,
        scale=scale,
        costs=cost_model_of(study) if sought == "budget" else prices_of(study),
        max_workers=study.max_workers or MOST_WORKERS,
        ahead=lambda work: tell_work(work, n_simulations=run.simulations()),
    )
