"""What to know before trusting, or paying for, a plan."""

from __future__ import annotations

import math

from humeval_power.costs import Cost, fee_on, money, rewards_of
from humeval_power.designs import Design
from humeval_power.differences import Difference
from humeval_power.inference.study.formula import FEW_WORKERS
from humeval_power.planning.plan.candidates import LEAST_SECOND, rests_on_few
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.answer_words import found_words, of_hundred, on_scale, points_words
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.plan.rules import rules_caveats
from humeval_power.reporting.plan.systems_words import goal_clause
from humeval_power.reporting.rule_words import ENOUGH_WORKERS, is_too_bold, size_sentence
from humeval_power.reporting.values import share
from humeval_power.rules import claim
from humeval_power.study_counts import share_of

SAME = 0.005  # as the checklist takes an effect for the observed one
LARGE_GAP = 0.02  # between formula and simulation, beyond Monte Carlo error


def plan_caveats(plan: Plan, design: Design, cost: Cost | None) -> tuple[str, ...]:
    """Sentences, the gravest first."""
    return (
        *_observed_effect(plan),
        *_below_target(plan),
        *rules_caveats(plan),
        *_few_workers(plan, design),
        *_proof(plan),
        *_one_rating(plan),
        *_few_second_items(plan),
        *_criteria(plan),
        *_zero_variances(plan),
        *_parameters(plan),
        *design.notes,
        *_one_reward(plan, design, cost),
        *(() if cost is None else cost.notes),
    )


def is_observed_effect(plan: Plan) -> bool:
    """Whether the plan is for the very difference that its parameters were estimated with."""
    observed = plan.parameters.difference
    if plan.many is not None or plan.source.ratings is None:  # the means are assumed, and those of no pilot
        return False
    return observed != 0 and math.isclose(abs(plan.effect), abs(observed), rel_tol=SAME)


def _observed_effect(plan: Plan) -> list[str]:
    if not is_observed_effect(plan):
        return []
    return [
        f"The plan is for {plan.effect:+.3g}, the difference that the pilot showed. Such power says nothing "
        "that the pilot's p-value does not, and is too high where a promising pilot was followed up."
    ]


def promised_power(plan: Plan) -> float:
    """The power that the plan promises: as simulated, or by formula where it was not."""
    predicted = plan.predicted
    return predicted.analytic if math.isnan(predicted.simulated) else predicted.simulated


def is_below_target(plan: Plan) -> bool:
    """Whether the power is below the target by more than its Monte Carlo error."""
    upper = plan.predicted.interval[1]
    reached = plan.predicted.analytic if math.isnan(upper) else upper
    return reached < plan.target_power


def plan_answer(plan: Plan, said: Difference | None = None) -> str:
    """How many of 100 such studies succeed, and whether that is what was wanted."""
    predicted = plan.predicted
    interval = None if math.isnan(predicted.simulated) else predicted.interval
    reached, target = of_hundred(promised_power(plan), interval), of_hundred(plan.target_power)
    difference = said or Difference(plan.effect, plan.scale)
    if plan.many is not None:
        size = f"{points_words(difference.value, plan.scale)} {on_scale(plan.scale)}"
        goal = goal_clause(plan.many.goal, plan.rule).replace("this much", size)
        of_such = f"in {reached} of 100 such studies, {goal}"
    else:
        found = found_words(difference.between(plan.pair), plan.rule, plan.scale)
        of_such = f"of 100 such studies, {reached} would {found}"
    if is_below_target(plan):
        return f"Not met: {of_such}; {target} were wanted."
    near = promised_power(plan) < plan.target_power and reached.split()[0] != target
    within = ", within the error of the simulation" if near else ""
    return f"{of_such[0].upper()}{of_such[1:]}; {target} was the target{within}."


def _below_target(plan: Plan) -> list[str]:
    if not is_below_target(plan):
        return []
    if plan.rule.margin is not None:
        return [
            f"The power, {share(promised_power(plan))}, is below the target of {plan.target_power:g}: a study of "
            f"this size will often fail to show {claim(plan.rule)} where it is true."
        ]
    return [
        f"The power, {share(promised_power(plan))}, is below the target of {plan.target_power:g}: a study of "
        "this size will often miss the difference that it is meant to find, and exaggerate it when it "
        "does not."
    ]


def _few_workers(plan: Plan, design: Design) -> list[str]:
    """For a test that is too bold with so few workers, and for a formula that is rough with so few."""
    n_workers, rule = design.n_workers, plan.rule
    if is_too_bold(rule, n_workers):
        return [
            f"With {n_workers} workers, fewer than {ENOUGH_WORKERS[rule.df]}, the test rejects more often "
            f"than alpha {rule.alpha:g} says, and part of the power is false alarm. "
            f"{size_sentence(rule)}".rstrip()
        ]
    if n_workers < FEW_WORKERS:
        return [f"With {n_workers} workers the power by formula is rough; trust the simulation."]
    return []


def _proof(plan: Plan) -> list[str]:
    predicted, rule = plan.predicted, plan.rule
    if math.isnan(predicted.simulated):
        return ["The power was computed by formula and has not been simulated for this plan."]
    if rule.is_simulated or rule.analysis != "ratings":
        return ["The formula does not describe the planned test; only the simulated power counts."]
    low, high = predicted.interval
    gap = max(low - predicted.analytic, predicted.analytic - high, 0.0)
    if not gap or abs(predicted.simulated - predicted.analytic) <= LARGE_GAP:
        return []
    if plan.rules is not None:
        return ["The formula leaves nobody out and takes all for careful; only the simulated power counts."]
    return ["Formula and simulation differ by more than chance; trust the simulation."]


def _one_rating(plan: Plan) -> list[str]:
    if plan.counts.ratings_per_item > 1:
        return []
    return [
        "With one rating per item and system the test is exact, but item variance and noise cannot be told "
        "apart, and agreement cannot be measured."
    ]


def _few_second_items(plan: Plan) -> list[str]:
    counts = plan.counts
    work = counts.n_items * counts.ratings_per_item
    second = work - counts.n_workers
    if not counts.paired or not rests_on_few(second, counts.n_workers):
        return []
    return [
        f"Hardly any of the {counts.n_workers:,} workers has a second item to rate: {second} in all. On a scale of "
        "few points such a study can end without a test, because workers explain all of its ratings. Take "
        f"{work:,} workers, or {work - LEAST_SECOND:,} at most."
    ]


def _criteria(plan: Plan) -> list[str]:
    many = plan.many
    if many is None or many.n_criteria == 1:
        return []
    found = []
    if many.family.over == "all" and many.family.correction != "none":
        others = "the other" if many.n_criteria == 2 else f"each of the other {many.n_criteria - 1}"
        found.append(
            f"The power is that of one criterion, as if the tests of {others} found as much: each criterion has "
            "its share of alpha."
        )
    if plan.costs is not None:
        found.append(
            "Who rates an output rates it under all criteria at once, and is paid for that once: the price of a "
            "rating has to cover all of them."
        )
    return found


def _zero_variances(plan: Plan) -> list[str]:
    coded = plan.parameters.recoded()
    zero = [
        words
        for name, words in (("sd_worker_slope", "workers"), ("sd_item_slope", "items"))
        if getattr(coded, name) == 0
    ]
    if not zero:
        return []
    of_what = "between systems" if plan.many is not None else with_names("B - A", plan.pair)
    return [
        f"The plan assumes that the difference {of_what} does not vary between {' or between '.join(zero)}. "
        "An estimate of zero from a small pilot does not show that; power planned from it is too hopeful."
    ]


def _parameters(plan: Plan) -> list[str]:
    if plan.source.ratings is not None:
        return [
            "The standard deviations are estimates from a pilot and uncertain, the more so the fewer its "
            "workers. The power is what they imply, not a guarantee."
        ]
    return [
        f"The standard deviations are assumed ({plan.source.name}), not estimated from a pilot of these "
        "systems, items and workers. The power holds as far as they do."
    ]


def _one_reward(plan: Plan, design: Design, cost: Cost | None) -> list[str]:
    """What Prolific is paid beyond the total: the rewards of a study are rounded up and all the same."""
    if cost is None or plan.costs is None or not plan.costs.fee.is_prolific:
        return []
    loads = design.worker_loads[design.worker_loads > 0]
    shown = loads + sum(
        share_of(float(rate), loads)
        for rate in (plan.costs.checks_per_rating, plan.costs.repeats_per_rating)
    )
    outputs = shown.tolist()
    once, apart = (rewards_of(outputs, plan.costs, alike=alike).total for alike in (True, False))
    work = fee_on(cost.ratings + cost.attention_checks + cost.repeats, plan.costs.fee).total
    if once == work:
        return []
    reward, paid, own, counted = (
        money(one, cost.currency) for one in (plan.costs.reward(max(outputs)), once, apart, work)
    )
    uneven = "" if once == apart else f"; a study for each slot costs {own}"
    return [
        f"Prolific pays everyone in a study the same: one study of {len(outputs):,} places at {reward}, "
        f"for {max(outputs):,} outputs, costs {paid} with the fee, where the total has {counted}{uneven}."
    ]
