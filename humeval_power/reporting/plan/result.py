"""What the search for a plan found, in lines of text and as a record."""

from __future__ import annotations

from dataclasses import asdict

from humeval_power.differences import Difference
from humeval_power.parameters import PRESETS
from humeval_power.planning.plan.assurance import QUANTILES, pilot_advice
from humeval_power.planning.plan.bottleneck import in_words
from humeval_power.planning.plan.request import Option, PlanResult
from humeval_power.planning.study.analytic import HalfwayPower, halfway_power
from humeval_power.planning.study.limits import Ceiling
from humeval_power.planning.study.required import counts_precision
from humeval_power.reporting.plan.looks import look_choice_record, look_facts
from humeval_power.reporting.records import Record, versions
from humeval_power.reporting.rule_words import PARITY, halfway_words, margin_words
from humeval_power.study_counts import StudyCounts

SCHEMA = "humeval_power/plan_search/1"


def size_in_words(counts: StudyCounts) -> str:
    """Workers, items, ratings per item and all ratings."""
    pairing = "" if counts.paired else ", other workers for each system"
    total = 2 * counts.n_items * counts.ratings_per_item
    return (
        f"{counts.n_workers:,} workers, {counts.n_items:,} items, {counts.ratings_per_item:,} ratings per "
        f"item and system{pairing}: {total:,} ratings, about {total / counts.n_workers:,.0f} for each worker"
    )


def plan_facts(result: PlanResult, said: Difference | None = None) -> list[tuple[str, str]]:
    """(label, sentence) of everything a person should read before carrying the plan out; `said` is the effect
    as the user said it."""
    request, chosen = result.request, result.chosen
    halfway = plan_halfway(result)
    why = "the smallest of interest" if halfway is None else "the true difference assumed"
    facts = [
        ("Effect", f"{said or understood_effect(result)}, {why}"),
        *([] if halfway is None else [("Margin", margin_words(request.rule, request.assumed.scale))]),
        *_assumed_facts(result),
        ("Test", str(request.rule)),
        ("Searched", f"{result.n_candidates:,} designs within the limits"),
        ("Plan", size_in_words(chosen.counts)),
        ("Cost", f"{chosen.cost}"),
        ("Formula", ", ".join(f"power {power:.3f} ({name})" for name, power in chosen.powers.items())),
    ]
    if chosen.simulated is not None:
        low, high = chosen.simulated.interval
        facts.append(
            (
                "Power",
                f"{chosen.simulated.power:.3f} by {chosen.simulated.n_simulations:,} simulated studies "
                f"(95 % Monte Carlo interval {low:.3f} to {high:.3f})",
            )
        )
    facts += look_facts(result)
    if halfway is not None:
        facts.append(("Halfway", halfway_words(halfway)))
    if not result.reached:
        ways = "; or ".join(result.would_do)
        facts.append(("Not met", result.reason + (f" What would do: {ways}." if ways else "")))
    facts.append(("Blocking", in_words(result.bottleneck, chosen.counts)))
    facts += _uncertainty_facts(result)
    facts += [("Fees", str(result.split))] if result.split is not None else []
    facts += [("Note", text) for text in (*chosen.cost.notes, *_notes(chosen.counts))]
    facts += [] if halfway is None else [("Note", PARITY)]
    return facts


def understood_effect(result: PlanResult) -> Difference:
    """The effect that was planned for, with the scale of the study."""
    return Difference(result.request.effect, result.request.assumed.scale)


def _assumed_facts(result: PlanResult) -> list[tuple[str, str]]:
    """What the plan was made from, and how much the answer hangs on it, where there were several."""
    request, powers = result.request, result.chosen.powers
    if len(powers) == 1:
        return []
    names = list(powers)
    lowest, highest = (choose(names, key=lambda name: powers[name]) for choose in (min, max))
    facts = (
        [("Assumed", f"{', '.join(names)} ({request.assumed.chosen})")] if request.assumed.chosen else []
    )
    planned = f"{names[0]}, the first that was named"
    if request.robust:
        planned = f"{lowest}, under which this plan has the least power"
    elif request.cautious:
        planned = f"{names[0]}, which asks for most; --preset NAME plans for another"
        if names[0] in PRESETS:
            planned += ". It is a published setting, which varies more than most fits of ratings do"
    return [
        *facts,
        ("Planned", f"for {planned}"),
        (
            "Hangs",
            f"your answer hangs on this: the power of the plan is {powers[lowest]:.2f} ({lowest}) to "
            f"{powers[highest]:.2f} ({highest}), by formula",
        ),
    ]


def alone_rows(result: PlanResult) -> list[list[str]]:
    """Cells of the table of entries: the power of the plan under each, and what it asks for on its own."""
    rows = []
    for one in result.alone:
        power = f"{result.chosen.powers[one.name]:.3f}"
        if one.counts is None or one.cost is None:
            rows.append([one.name, power, "-", "-", "-", f"not met: {one.best:.3f}"])
        else:
            sizes = (one.counts.n_workers, one.counts.n_items, one.counts.ratings_per_item)
            rows.append([one.name, power, *map(str, sizes), f"{one.cost:,.2f}"])
    return rows


def _assumed_record(result: PlanResult) -> Record:
    request, powers = result.request, result.chosen.powers
    return {
        "chosen_because": request.assumed.chosen,
        "planned_for": min(powers, key=lambda name: powers[name]) if request.robust else next(iter(powers)),
        "power": dict(powers),
        "power_range": [min(powers.values()), max(powers.values())],
        "alone": [
            {
                "name": one.name,
                "design": None if one.counts is None else asdict(one.counts),
                "cost": None if one.cost is None else str(one.cost),
                "best_power": one.best,
            }
            for one in result.alone
        ],
        "origins": {entry.name: entry.origin for entry in request.assumed.entries},
    }


def plan_halfway(result: PlanResult) -> HalfwayPower | None:
    """Power of the chosen design halfway to the margin, at the parameters it is judged by; None for a
    rule without a margin."""
    if result.request.rule.margin is None:
        return None
    powers = result.chosen.powers
    name = min(powers, key=lambda one: powers[one]) if result.request.robust else next(iter(powers))
    precision = counts_precision(result.request.settings[name], result.chosen.counts)
    return halfway_power(result.request.rule, precision=precision)


def _uncertainty_facts(result: PlanResult) -> list[tuple[str, str]]:
    found = result.assurance
    if found is None:
        return []
    target = result.request.target
    return [
        (
            "Pilot",
            f"its variances are uncertain: expected power (assurance) {found.expected:.2f}, 80 % interval "
            f"{found.quantile(0.1):.2f} to {found.quantile(0.9):.2f}; the chance that this study really has "
            f"power {target:g} is {100 * found.chance_of(target):.0f} %",
        )
    ]


def _notes(counts: StudyCounts) -> list[str]:
    notes = []
    if counts.ratings_per_item == 1:
        notes.append(
            "With one rating per item and system the test is exact, but item variance and noise cannot be "
            "told apart, and agreement cannot be measured."
        )
    if counts.n_workers < 5:
        notes.append(
            f"With {counts.n_workers} workers the test is not exact; run 'calibrate' for this design."
        )
    return notes


def pilot_table() -> list[tuple[str, str]]:
    """How much larger than estimated a safe plan takes the worker mean square, by size of the pilot."""
    return [(str(line.n_workers), f"{line.multiplier:.2f}") for line in pilot_advice()]


def option_row(option: Option, *, robust: bool) -> list[str]:
    """Cells of the table of options; the formula's power is that of the first setting, or the worst."""
    counts, simulated = option.counts, option.simulated
    return [
        f"{counts.n_workers}",
        f"{counts.n_items}",
        f"{counts.ratings_per_item}",
        "yes" if counts.paired else "no",
        f"{option.cost.total:,}",
        f"{min(option.powers.values()) if robust else next(iter(option.powers.values())):.3f}",
        "-" if simulated is None else f"{simulated.power:.3f}",
    ]


def plan_search_record(
    result: PlanResult, *, seed: int, command: str = "", said: Difference | None = None
) -> Record:
    """The whole result as plain values; `said` as in `plan_facts`."""
    request = result.request
    found = result.assurance
    return {
        "understood": str(said or understood_effect(result)),
        "schema": SCHEMA,
        "effect": request.effect,
        "target_power": request.target,
        "budget": None if request.budget is None else str(request.budget),
        "robust": request.robust,
        "reached": result.reached,
        "reason": result.reason,
        "would_do": list(result.would_do),
        "chosen": _option_record(result.chosen),
        "neighbours": [_option_record(option) for option in result.neighbours],
        "front": [
            {**asdict(point.counts), "cost": str(point.cost), "power": point.power}
            for point in result.front
        ],
        "bottleneck": {
            "factor": result.bottleneck.factor,
            "more_workers": result.bottleneck.more_workers,
            "more_items": result.bottleneck.more_items,
            "more_ratings": result.bottleneck.more_ratings,
            "with_endless_items": _ceiling_record(result.bottleneck.with_endless_items),
            "with_endless_workers": _ceiling_record(result.bottleneck.with_endless_workers),
        },
        "assurance": None
        if found is None
        else {
            "expected_power": found.expected,
            "chance_of_target": found.chance_of(request.target),
            "quantiles": {f"{share:g}": found.quantile(share) for share in QUANTILES},
        },
        **_halfway_record(result),
        "looks": look_choice_record(result),
        "n_candidates": result.n_candidates,
        "assumed": _assumed_record(result),
        "settings": {name: parameters.as_dict() for name, parameters in request.settings.items()},
        "costs": request.costs.as_dict(),
        "rule": asdict(request.rule),
        "seed": seed,
        "versions": versions(),
        "command": command,
    }


def _halfway_record(result: PlanResult) -> Record:
    found = plan_halfway(result)
    return {} if found is None else {"halfway_to_margin": asdict(found)}


def _option_record(option: Option) -> Record:
    simulated = option.simulated
    return {
        **asdict(option.counts),
        "n_ratings": 2 * option.counts.n_items * option.counts.ratings_per_item,
        "cost": str(option.cost.total),
        "cost_parts": {name: str(amount) for name, amount in option.cost.parts.items()},
        "currency": option.cost.currency,
        "analytic_power": dict(option.powers),
        "power": None if simulated is None else simulated.power,
        "power_interval": None if simulated is None else list(simulated.interval),
        "n_simulations": 0 if simulated is None else simulated.n_simulations,
    }


def _ceiling_record(ceiling: Ceiling) -> Record:
    return {"power": ceiling.power, "detectable_effect": ceiling.detectable_effect}
