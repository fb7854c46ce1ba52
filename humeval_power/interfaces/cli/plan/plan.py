"""`humeval-power plan`: the design that a pilot, a price and a deadline allow."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import click

from humeval_power.choices import LARGEST_COUNT
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.exclusions import NO_RULES
from humeval_power.fields import whole, word
from humeval_power.interfaces.asking.command import HERE, StudyCommand, Use
from humeval_power.interfaces.asking.options import FurtherOption, field_option, file_argument
from humeval_power.interfaces.asking.resolve import (
    NO_DIFFERENCE,
    OBSERVED,
    EffectInput,
    analysed_as,
    assumptions_of,
    cost_model_of,
    effect_of,
    losses_of,
    rule_of,
    schedule_of,
    settled,
    warn_beyond,
)
from humeval_power.interfaces.asking.resolve_systems import observed_means, systems_of
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.adapting import searched
from humeval_power.interfaces.cli.options import TABLE_OPTIONS, date_option
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.rules import WITH_MARGIN
from humeval_power.study import DEFAULT_GOAL, EXAMPLE_RULES

if TYPE_CHECKING:
    from humeval_power.assumptions import Assumptions
    from humeval_power.reporting.plan.result import PlanSearchResult

_TWO_KINDS = ("items", "workers", "ratings")
_LIMITS = ("budget", "spend_budget", "max_workers", "max_ratings_per_worker", "pairing")
_RANGES = ("workers", "items", "ratings_per_item")
_OF_DOCUMENTS = {"documents": "documents_range", "max_documents": "max_documents"}


def _planned(result: Any) -> dict[str, Any]:
    """The size that was planned, and where the plan is."""
    counts = result.plan.counts
    return {
        "plan": HERE,
        "workers": counts.n_workers,
        "items": counts.n_items,
        "ratings_per_item": counts.ratings_per_item,
        **({"documents": counts.n_documents, "items_per_document": None} if counts.n_documents else {}),
    }


_SEARCHES = Use(
    seeks=("workers", "ratings_per_item"),
    skips=("plan",),
    adapts=searched,
    writes="plan",
    updates=_planned,
)


@click.command("plan", cls=StudyCommand, use=_SEARCHES)
@file_argument("pilot", metavar="[PILOT]", required=False)
@study_fields(
    *("question", "columns", "systems", "variation", "effect", "search", "test", "losses", "cost", "looks"),
    *("criteria", "criterion", "lower_is_better", "shares"),
    but=("effect_range", "effect_raw_range", "effect_latent_range", "correlated", "check_families"),
    **TABLE_OPTIONS,
    effect=field_option(
        "effect",
        help="Smallest effect of interest: B - A on [0, 1]; with --margin the true difference assumed. [0 with "
        "--margin]",
    ),
    items_range=field_option("items_range", required=True),
    max_ratings_per_worker=field_option(
        "max_ratings_per_worker", kind=whole(1, largest=LARGEST_COUNT), help="What a worker can be asked."
    ),
    looks_by=field_option("looks_by", kind=word(_TWO_KINDS), help="What comes in from look to look."),
    exclude_if=field_option(
        "exclude_if",
        help="Leave out workers in the analysis by these rules, sealed with the plan: "
        f"{EXAMPLE_RULES}, or some of it.",
    ),
)
@click.option(
    "--observed-power",
    cls=FurtherOption,
    is_flag=True,
    help="Take the pilot's own estimate as the effect. This is not a plan; it says why.",
)
@date_option
@with_run
@with_result(endings=(".json",))
@needs(
    "--cost-per-rating, or --pay-per-hour with --seconds-per-rating", ("cost_per_rating", "pay_per_hour")
)
@needs(
    "--effect or --effect-raw, the smallest effect of interest",
    ("effect", "effect_raw", "effect_latent", "observed_power", "margin", "margin_raw", "system_means"),
    unless={"alternative": WITH_MARGIN},
)
def command(
    study: StudyValues,
    observed_power: bool,
    created: datetime.date | None,
    run: Run,
) -> PlanSearchResult:
    """The cheapest design that finds the effect, within a budget if you have one.

    PILOT is a table of ratings to take the variances from; or give
    --parameters, --preset or --values. Several systems are planned for with
    --n-systems or --systems A,B,C: their variances are those of any two, or of
    a pilot of several, or of an analysis by --model joint. Without any of
    them the plan is for what is typical of public ratings of texts on such a
    scale, beside a cautious and a hopeful end. Designs are ranked by formula,
    and the cheapest that reaches the power is proved by simulation; beside it
    stand a safer one and what all the --budget buys. -o plan.json writes the plan alone, sealed; -o
    plan/ a folder with it, its page and pictures; both are what --plan reads.
    Ends with 3 if the target cannot be reached.
    """
    from humeval_power.api.plan import make_plan
    from humeval_power.api.systems_plan import make_systems_plan
    from humeval_power.interfaces.cli.work_ahead import tell_work

    rule = rule_of(study)
    limits = {
        **{name: getattr(study, name) for name in _LIMITS},
        **{name: getattr(study, f"{name}_range") for name in _RANGES},
        "target": study.power,
        "robust": study.robust,
        "question": study.question,
        "exclusions": study.exclusions,
        "exclude_if": study.exclude_if or NO_RULES,
        "created": created,
        "seed": run.seed,
        "n_jobs": run.n_jobs,
    }
    several = systems_of(study, rule, usual=True)
    if several is not None:
        differences = () if observed_power else several.differences()
        remarks = several.remarks
        if observed_power:
            remarks = (*remarks, observed_means(several))
        return make_systems_plan(
            dict(several.at([one.value for one in differences])),
            family=several.family,
            goal=study.goal or DEFAULT_GOAL,
            criteria=study.criteria or (),
            costs=cost_model_of(study),
            rule=rule,
            looks=schedule_of(study),
            sources=several.sources,
            said=differences[0] if differences else None,
            n_simulations=run.typed,
            remarks=remarks,
            losses=losses_of(study),
            exclusion=study.exclusion,
            **{name: getattr(study, field) for name, field in _OF_DOCUMENTS.items()},
            **limits,
        )
    assumed, said, remarks = _planned_effect(study, observed=observed_power)
    rule = analysed_as(study, rule, assumed)
    warn_beyond(assumed, [said])
    n_simulations = run.simulations()
    return make_plan(
        assumed,
        effect=said,
        costs=cost_model_of(study),
        rule=rule,
        losses=losses_of(study),
        exclusion=study.exclusion,
        looks=schedule_of(study),
        assurance=study.assurance,
        safe=study.safe,
        n_simulations=n_simulations,
        ahead=lambda work: tell_work(work, n_simulations=n_simulations),
        remarks=remarks,
        **{name: getattr(study, field) for name, field in _OF_DOCUMENTS.items()},
        **limits,
    )


def _planned_effect(
    study: StudyValues, *, observed: bool
) -> tuple[Assumptions, Difference, tuple[str, ...]]:
    """What to plan from, in categories of the shares if there are any, the effect to plan for, and a warning
    where it is the one that the pilot showed.

    Raises
    ------
    InputError
        The pilot's own effect, where there is no pilot.
    """
    effect, assumed = effect_of(study), assumptions_of(study, usual=True)
    if effect is not None and observed:
        raise click.UsageError(
            "Give the smallest effect of interest, --effect or --effect-raw, or --observed-power: not both."
        )
    if not observed:
        return (*settled(study, assumed, effect or NO_DIFFERENCE)[0], ())
    if assumed.observed is None:
        raise InputError("--observed-power needs a pilot or a parameter file with an estimate of your own.")
    warning = (
        f"Warning: the pilot's own estimate, {assumed.observed:.4g}, is taken as the effect. {OBSERVED}"
    )
    said = Difference(assumed.observed, assumed.scale, systems=assumed.systems)
    there = EffectInput("--observed-power", (said.value,))
    return settled(study, assumed, there)[0][0], said, (warning,)
