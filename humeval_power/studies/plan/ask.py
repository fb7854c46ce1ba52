"""`humeval-power plan`: the design that a pilot, a price and a deadline allow."""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.adapting import searched
from humeval_power.asking.command import HERE, Use, needs, study_in_use
from humeval_power.asking.declared import EFFECT, VARIATION, Page, Part, costs, study_command
from humeval_power.asking.form import Next
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import SCORE_CORRELATION, TABLE, table_of
from humeval_power.assumptions import Assumptions
from humeval_power.choices import DEFAULT_ESTIMAND, LARGEST_COUNT, USUAL_METRIC_CORRELATION
from humeval_power.differences import Difference
from humeval_power.errors import InputError, Problem, refuse
from humeval_power.exclusions import NO_RULES
from humeval_power.fields import NUMBERS, day, flag, listed, number_list, own, real, whole, word
from humeval_power.rules import WITH_MARGIN, DecisionRule
from humeval_power.studies.resolve import EFFECT as EFFECT_FIELDS
from humeval_power.studies.resolve import (
    NO_DIFFERENCE,
    OBSERVED,
    EffectInput,
    analysed_as,
    assumptions_of,
    cost_model_of,
    effect_of,
    goal_of,
    judges_of,
    losses_of,
    rule_of,
    schedule_of,
    settled,
    warn_beyond,
)
from humeval_power.studies.resolve_systems import observed_means, systems_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.plan.result import PlanSearchResult
    from humeval_power.systems import SystemsParameters

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


_WAYS = ("preset", "parameters", "values", "pilot")


@study_command(
    ("plan",),
    {
        "pilot": table_of("[PILOT]", "pilot", label="Or the ratings of your pilot"),
        **study_fields(
            *("question", "systems", "variation", "effect", "search", "test", "losses", "cost", "judges"),
            *("looks", "criteria", "shares"),
            but=("effect_range", "effect_raw_range", "effect_latent_range", "correlated", "check_families"),
            instead={
                **TABLE,
                "systems": FIELDS["systems"],
                "scale": replace(FIELDS["scale"], note=TABLE["scale"].note),
            },
            pool=replace(
                FIELDS["pool"],
                note="The plan counts what their draw saves, and identical outputs.",
                page_help="What the page \u201cWhich items to rate\u201d writes.",
                main=False,
                further=True,
            ),
            effect=replace(
                FIELDS["effect"],
                note="on [0, 1]: the smallest of interest; with a margin the one assumed. [0 with a margin]",
            ),
            items_range=replace(
                FIELDS["items_range"],
                needed=True,
                label="Items there are",
                unit="items",
                start="50:300:25",
                page_help="One number, or from : to : step.",
            ),
            workers_range=replace(FIELDS["workers_range"], label="Or these numbers of workers"),
            max_workers=replace(FIELDS["max_workers"], start="40", slider=(2, 100)),
            n_systems=replace(FIELDS["n_systems"], page_help="Two, where nothing is given."),
            cost_per_rating=replace(FIELDS["cost_per_rating"], start="0.10"),
            max_ratings_per_worker=replace(
                FIELDS["max_ratings_per_worker"],
                kind=whole(1, largest=LARGEST_COUNT),
            ),
            looks_by=replace(
                FIELDS["looks_by"],
                kind=word(_TWO_KINDS),
                note=": items for the same workers, workers for the same items, or more ratings of the same items.",
            ),
        ),
        "observed_power": own(
            flag(),
            "Take the pilot's own estimate as the effect. This is not a plan; it says why.",
            "Take the pilot's own estimate as the difference",
            usual=False,
            further=True,
        ),
        "beside": own(
            listed(number_list(int, least=1, repeats=True), "W,N,K", NUMBERS),
            "A design to show beside those found: workers, items, ratings of each item and, of items out of "
            "documents, documents. Such as 20,100,3.",
            "A design to show beside them",
            further=True,
        ),
        "correlation": own(
            real(0, 1),
            SCORE_CORRELATION,
            "Correlation of the metric with people on one item",
            usual=USUAL_METRIC_CORRELATION,
            note=", over items, where they were drawn by it from a pool.",
            option="metric-correlation",
            further=True,
        ),
        "created": own(day(), "Date of the plan. [today]", "Date of the plan", option="date", further=True),
    },
    arguments=("pilot",),
    use=_SEARCHES,
    simulates=True,
    endings=(".json",),
    needs=(
        needs(
            "--cost-per-rating, or --pay-per-hour with --seconds-per-rating",
            ("cost_per_rating", "pay_per_hour"),
        ),
        needs(
            "--effect or --effect-raw, the smallest effect of interest",
            (*EFFECT_FIELDS, "observed_power", "margin", "margin_raw", "system_means"),
            unless={"alternative": WITH_MARGIN},
        ),
    ),
    page=Page(
        "The plan",
        "The cheapest design that finds the difference: searched by formula, proved by simulation, and sealed so "
        "that nobody can change it unseen.",
        (
            EFFECT,
            Part(
                "What is possible",
                (
                    *("items_range", "max_workers", "workers_range", "ratings_per_item_range"),
                    *("n_systems", "power"),
                ),
            ),
            Part(
                VARIATION.title,
                _WAYS,
                "Give one of them, or none: then the plan is for what is typical of public ratings.",
                one_of=_WAYS,
            ),
            *costs("budget", "spend_budget"),
            Part(
                "Caution",
                ("robust", "safe", "assurance", "observed_power"),
                folded=True,
            ),
        ),
        (
            Next(("assign",), "Say who rates what", ("plan",), {"plan": "plan.json"}, sets={"key": "1"}),
            *(
                Next(
                    ("report",),
                    f"Preregister it ({name})",
                    ("plan",),
                    {"plan": "plan.json"},
                    sets={"form": form},
                )
                for name, form in (("OSF", "osf"), ("AsPredicted", "aspredicted"))
            ),
            Next(("power",), "Power of the planned study", ("plan",), {"plan": "plan.json"}),
        ),
        journey="plan",
    ),
)
def command(
    study: StudyValues,
    observed_power: bool,
    beside: tuple[int, ...] | None,
    correlation: float,
    created: datetime.date | None,
    run: Run,
) -> PlanSearchResult:
    """The cheapest design that finds the effect, within a budget if you have one.

    PILOT is a table of ratings to take the variances from; or give
    --parameters, --preset or --values. Several systems are planned for with
    --n-systems or --systems A,B,C: their variances are those of any two, or of
    a pilot of several, or of an analysis with --model joint. Without any of
    them the plan is for what is typical of public ratings of texts on such a
    scale, beside a cautious and a hopeful end. Designs are ranked by formula,
    and the cheapest that reaches the power is proved by simulation; beside it
    stand a safer one and what all the --budget buys. -o plan.json writes the plan alone, sealed; -o
    plan/ a folder with it, its page and pictures; both are what --plan reads.
    Ends with 3 if the target cannot be reached.
    """
    from humeval_power.studies.plan.calls import make_plan
    from humeval_power.studies.power.typed import tell_work

    _check_not_late()
    rule = rule_of(study)
    limits = {
        **{name: getattr(study, name) for name in _LIMITS},
        **{name: getattr(study, f"{name}_range") for name in _RANGES},
        **{name: getattr(study, field) for name, field in _OF_DOCUMENTS.items()},
        "target": study.power,
        "robust": study.robust,
        "question": study.question,
        "exclusions": study.exclusions,
        "exclude_if": study.exclude_if or NO_RULES,
        "estimand": study.estimand,
        "created": created,
        "seed": run.seed,
        "n_jobs": run.n_jobs,
    }
    several = systems_of(study, rule, usual=True)
    assumed: Any
    said: Difference | None
    if several is None:
        assumed, said, remarks = _planned_effect(study, observed=observed_power)
        rule = analysed_as(study, rule, assumed)
        warn_beyond(study, assumed, [said])
        limits |= {"assurance": study.assurance, "safe": study.safe, "n_simulations": run.typed}
        limits |= {"ahead": partial(tell_work, n_simulations=run.simulations())}
    else:
        said, remarks = None, several.remarks
        if observed_power:
            remarks = (*remarks, observed_means(several))
        elif differences := several.differences():
            said = differences[0]
        assumed = dict(several.at([] if said is None else [one.value for one in differences]))
        limits |= {"family": several.family, "goal": goal_of(study)}
        limits |= {"criteria": study.criteria or (), "sources": several.sources}
        limits |= {"n_simulations": run.typed}
    if study.pool is not None:
        assumed, sources = _over_pool(study, assumed, limits.get("sources"), rule, correlation)
        limits |= {} if sources is None else {"sources": sources}
    return make_plan(
        assumed,
        effect=said,
        costs=cost_model_of(study),
        rule=rule,
        losses=losses_of(study),
        exclusion=study.exclusion,
        looks=schedule_of(study, several.scale if several is not None else assumed.scale),
        judges=judges_of(study),
        beside=beside,
        remarks=remarks,
        **limits,
    )


def _over_pool(
    study: StudyValues,
    assumed: Assumptions | dict[str, SystemsParameters],
    sources: Assumptions | None,
    rule: DecisionRule,
    correlation: float,
) -> tuple[Any, Assumptions | None]:
    """What is assumed of items that were drawn from a pool, under names that say so, and where it comes from.
    Raises InputError: picked items or unequal probabilities, other numbers of items than were drawn, other
    systems, documents, or ratings in categories: all at once."""
    from humeval_power.inference.chosen_items import (
        explained_by_draw,
        item_sd_factor,
        over_the_pool,
        systems_over_the_pool,
    )
    from humeval_power.studies.items.files import read_pool

    pool = read_pool(study.pool)
    entries = assumed.entries if isinstance(assumed, Assumptions) else ()
    n, sizes = pool.n_chosen, study.items_range or ()
    draw = (
        f"Draw as many: humeval-power more items ... --n {sizes[0] if sizes else 100}, or search {n} items."
    )
    problems = [
        Problem(rule, remedy, place=pool.source)
        for wrong, rule, remedy in (
            (
                pool.by_hand,
                "the items were picked and not drawn: they save nothing.",
                "Leave the pool out.",
            ),
            (
                pool.unequal,
                "the items were drawn with unequal probabilities, whose variance only ratings can tell.",
                "Leave the pool out, or draw with equal ones.",
            ),
            (tuple(sizes) != (n,), f"{n:,} items are chosen; the plan searches other numbers.", draw),
            (
                bool(study.documents),
                "documents are not offered with a pool: items of one are alike, and were drawn one by one.",
                "Leave out the documents, or the pool.",
            ),
            (
                rule.is_latent or any(one.parameters.latent is not None for one in entries),
                "ratings in categories: what a draw saves was worked out for means.",
                "Leave out their shares (family gaussian).",
            ),
        )
        if wrong
    ]
    refuse(problems)
    explained, real = explained_by_draw(pool), 1.0 - pool.identical_share
    factor = item_sd_factor(
        pool, explained=explained, correlation=correlation, estimand=study.estimand or DEFAULT_ESTIMAND
    )
    words = f"over {Path(pool.source).name}: SD of items' differences x {factor:.3f}"
    words += "" if real == 1.0 else f", all SDs x {real:.3f} (identical outputs)"

    def called(name: str) -> str:
        return f"{name}, {words}"

    if isinstance(assumed, Assumptions):
        new = (
            replace(
                one,
                name=called(one.name),
                parameters=over_the_pool(one.parameters, factor, real),
                uncertainty=None,
            )
            for one in entries
        )
        return replace(assumed, entries=tuple(new)), None
    of = {called(name): systems_over_the_pool(one, factor, real) for name, one in assumed.items()}
    if sources is not None:
        renamed = (replace(one, name=called(one.name), uncertainty=None) for one in sources.entries)
        sources = replace(sources, entries=tuple(renamed))
    return of, sources


def _check_not_late() -> None:
    """Refuse to write a plan of a study whose ratings are there."""
    file, output = study_in_use(), click.get_current_context().params.get("output")
    if file is None or output in (None, "-"):
        return
    from humeval_power.studies.plan.files import refuse_after_ratings

    refuse_after_ratings(file.fields, Path())


def _planned_effect(
    study: StudyValues, *, observed: bool
) -> tuple[Assumptions, Difference, tuple[str, ...]]:
    """What to plan from, in categories of the shares if there are any, the effect to plan for, and a warning
    where it is the one that the pilot showed. Raises InputError: the pilot's own effect, where there is no
    pilot."""
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
