"""The numbers of a plan in sections: who rates what, what it costs, what it promises, what that hangs on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from humeval_power.costs import Cost, fee_on, least_of_a_worker, money, rewards_of
from humeval_power.designs import Codes, Design
from humeval_power.differences import Difference
from humeval_power.parameters import FURTHER_DEVIATIONS, STANDARD_DEVIATIONS
from humeval_power.rules import claim
from humeval_power.saying.answer_words import (
    finding_words,
    of_hundred,
    on_scale,
    points_words,
    rate_words,
    with_names,
)
from humeval_power.saying.chart import Chart, LaterChart
from humeval_power.saying.document import Block, Facts, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, counted, interval_words, level_of, percent
from humeval_power.saying.result import Record
from humeval_power.saying.rule_words import ENOUGH_WORKERS, SD_WORDS, is_too_bold, size_sentence
from humeval_power.saying.values import plain, share, signed
from humeval_power.studies.looks.stopping_rule import boundary_words, futility_words
from humeval_power.studies.plan.candidates import LEAST_SECOND, rests_on_few
from humeval_power.studies.plan.plan import Plan, SequentialOption
from humeval_power.studies.plan.planned_systems import PlannedRules, PlannedSystems
from humeval_power.studies.plan.request import PlanResult
from humeval_power.studies.plan.result_words import (
    COST_NAMES,
    design_words,
    labels_of_settings,
    variances_from,
)
from humeval_power.studies.power.analytic import detectable
from humeval_power.studies.power.formula import T_LAW_WORKERS, effect_precision
from humeval_power.studies.power.outlook import pair_ceilings, without_documents
from humeval_power.studies.power.study_content import category_facts
from humeval_power.study_counts import share_of
from humeval_power.systems import GOAL_WORDS, GOALS, SystemsParameters, goal_clause

if TYPE_CHECKING:
    from humeval_power.studies.looks.rating_looks import LookSchedule


def who_rates_what(plan: Plan, design: Design) -> Section:
    """The design in words, and its numbers."""
    said = design_words(design, plan.systems)
    if design.kind in ("k-per-item", "split"):
        said += f" Who rates which item is drawn at random from seed {design.seed}."
    if design.n_documents:
        left_out = without_documents(plan.study_of_pair())
        why = "" if left_out is None else f": {left_out}"
        said += (
            f" The items come out of {design.n_documents:,} documents, {design.items_per_document:g} of each, and "
            f"the analysis has the documents in its model{why}."
        )
    rows = Table(("Number of", "planned"), tuple(_numbers_of(plan, design)))
    return Section("Who rates what", (Paragraph(said), rows), is_detail=True)


def _numbers_of(plan: Plan, design: Design) -> Iterator[tuple[str, str]]:
    def of_each(loads: Codes) -> str:
        least, most = int(loads.min()), int(loads.max())
        return f"{least:,}" if least == most else f"{least:,} to {most:,}"

    cap, loads = plan.max_ratings_per_worker, design.worker_loads
    yield "Workers", f"{design.n_workers:,}"
    yield "Items", f"{design.n_items:,}"
    if design.n_documents:
        yield "Documents", f"{design.n_documents:,}"
    yield "Ratings of an item under each system", f"{design.ratings_per_item:g}"
    yield "Ratings by each worker", of_each(loads) + ("" if cap is None else f" (at most {cap:,})")
    if plan.costs is not None and plan.costs.checks_per_rating:
        checks = share_of(float(plan.costs.checks_per_rating), loads)
        yield "Attention checks for each worker", of_each(checks)
    if plan.costs is not None and plan.costs.repeats_per_rating:
        repeats = share_of(float(plan.costs.repeats_per_rating), loads)
        yield "Outputs once more for each worker", of_each(repeats)
    yield "Ratings in total", f"{design.n_ratings:,}"


def cost_section(plan: Plan, cost: Cost) -> Section:
    """What each part costs, and what workers earn."""
    rows = [(COST_NAMES[name], f"{amount:,.2f}") for name, amount in cost.parts.items() if amount]
    blocks = [Table(("Part", cost.currency), (*rows, ("Total", f"{cost.total:,.2f}")), has_total=True)]
    model = plan.costs
    if model is None or model.hourly_pay is None:
        return Section("Costs", tuple(blocks), is_detail=True)
    pay = f"{money(model.hourly_pay, model.currency)} an hour, at {model.seconds_per_rating:f} seconds a rating."
    return Section("Costs", (Paragraph(f"Workers earn {pay}"), *blocks), is_detail=True)


def power_section(plan: Plan, design: Design) -> Section:
    """What the plan promises, what else it could find, and the curve."""
    predicted, many = plan.predicted, plan.many
    said = f"By formula {share(predicted.analytic)}"
    if not math.isnan(predicted.simulated):
        said = (
            f"{share(predicted.simulated)} in {predicted.n_simulations:,} simulated studies (95 % Monte "
            f"Carlo interval {interval_words(*predicted.interval, digits=3)}); by formula "
            f"{share(predicted.analytic)}"
        )
    blocks: list[Block] = [
        Paragraph(
            f"{said}. The target was {plan.target_power:g}. This is the probability that {_promised(plan)} "
            f"and the parameters ({labels_of_settings(plan)[plan.source.name]}) are right."
        )
    ]
    if many is not None:
        blocks.append(_goals_table(plan, many))
    blocks += map(Paragraph, _limits(plan, design))

    def draw() -> Chart:
        from humeval_power.studies.plan.result import power_chart

        return power_chart(plan)

    if many is None or plan.rule.margin is None:
        words = "How often the planned study finds true differences around the one it is planned for, by formula."
        blocks.append(LaterChart("power", draw, words=words))
    return Section(POWER_LABEL, tuple(blocks))


def _promised(plan: Plan) -> str:
    """What happens with the power, and if what is true."""
    if plan.many is not None:
        of_one = " on any one criterion" if plan.many.n_criteria > 1 else ""
        return f"{goal_clause(plan.many.goal, plan.rule)}{of_one}, if the means below"
    if plan.rule.margin is None:
        difference = signed(plan.effect) if plan.scale is None else points_words(plan.effect, plan.scale)
        return f"the study finds a difference of {difference}, if it is there"
    true = signed(plan.effect)
    if plan.scale is not None:
        true = f"{signed(plan.scale.effect_to_raw(plan.effect))} points"
    return f"the study shows {claim(plan.rule)}, if the true difference is {true}"


def _goals_table(plan: Plan, planned: PlannedSystems) -> Table:
    """All goals that these means have: by formula, and in the simulations of the power."""
    from humeval_power.studies.plan.planned_systems import goal_shares

    formula = goal_shares(planned, plan.counts, plan.rule)
    simulated = {one.goal: (one.share, one.interval) for one in planned.shares}
    if not math.isnan(plan.predicted.simulated):
        simulated[planned.goal] = plan.predicted.simulated, plan.predicted.interval

    def rows() -> Iterator[tuple[str, ...]]:
        for goal in GOALS:
            name = GOAL_WORDS[goal].name + (" (the goal)" if goal == planned.goal else "")
            cells = ("-", "-")
            if goal in simulated:
                value, interval = simulated[goal]
                cells = share(value), interval_words(*interval, digits=3)
            if not math.isnan(formula[goal]):
                yield name, share(formula[goal]), *cells

    return Table(("chance that the study finds", "formula", "simulated", "interval"), tuple(rows()))


def _limits(plan: Plan, design: Design) -> Iterator[str]:
    """What this design finds with the target power, and what more of one thing alone could reach."""
    if plan.rule.analysis != "ratings" or plan.rule.is_simulated or plan.by_intervals:
        return
    target = plan.target_power
    noun, verb = ("difference", "finds") if plan.rule.margin is None else ("margin", "shows")
    does, of_which = f"{verb} a {noun} of", f"that the study {verb}"
    if plan.many is not None:
        does, of_which = f"does this for a {noun} of", "for which the study does this"
    smallest, ceilings = _limits_of_size(plan, design)
    said = f"With power {target:g} the study {does} {points_words(smallest, plan.scale, digits=3)} or more."
    if smallest > 1:
        said = f"There is no {noun} on [0, 1] {of_which} with power {target:g}."
    if not ceilings:
        yield said
        return
    items, workers, *both = map(share, ceilings)
    of = " of these documents" if both else ""
    whatever = f", {both[0]} with these documents, however many items and workers." if both else "."
    yield (
        f"{said} Limits of the power: {items} with these workers, however many items{of}, "
        f"{workers} with these items, however many workers{whatever}"
    )


def _limits_of_size(plan: Plan, design: Design) -> tuple[float, tuple[float, ...]]:
    """The smallest difference, or margin, with the target power; and the power with endless items, with endless
    workers, and where there are documents with both, of which studies of halves have none."""
    many, target, rule = plan.many, plan.target_power, plan.rule
    if many is not None:
        from humeval_power.studies.plan import systems_search as search
        from humeval_power.studies.plan.planned_systems import goal_power

        grown = [
            search.endless_items,
            search.endless_workers,
            *[search.endless_both] * bool(design.n_documents),
        ]
        powers = tuple(goal_power(many, endless(plan.counts), rule) for endless in grown)
        return search.smallest_effect(many, plan.counts, target, rule), powers
    parameters = plan.parameters.with_difference(plan.effect)
    precision = effect_precision(parameters, design)
    smallest = detectable(precision, effect=plan.effect, power=target, rule=rule)
    if design.kind not in ("crossed", "k-per-item"):
        return smallest, ()
    ceilings = pair_ceilings(parameters, plan.counts, target=target, rule=rule)
    return smallest, tuple(one.power for one in ceilings)


def assumed_section(plan: Plan) -> Section:
    """The means and standard deviations that the power is computed from."""
    if plan.many is not None:
        blocks = tuple(_assumed_of_systems(plan, plan.many.parameters))
        return Section("What is assumed", blocks, is_detail=True)
    coded = plan.parameters.recoded()
    sds = {name: getattr(coded, name) for name in (*STANDARD_DEVIATIONS, *FURTHER_DEVIATIONS)}
    rows = [
        (with_names(SD_WORDS[name], plan.pair), plain(value))
        for name, value in sds.items()
        if value or name in STANDARD_DEVIATIONS
    ]
    said = Paragraph(f"Standard deviations on [0, 1], from {variances_from(plan)}:")
    facts = tuple(category_facts(plan.parameters.with_difference(plan.effect)))
    table = Table(("What varies", "SD"), tuple(rows))
    return Section("What is assumed", (said, table, *((Facts(facts),) if facts else ())), is_detail=True)


def _assumed_of_systems(plan: Plan, parameters: SystemsParameters) -> Iterator[Block]:
    """The mean and the SDs of each system, and what varies for all alike."""
    yield Paragraph(
        f"The power is computed for these means on [0, 1], whose difference of interest is {plan.effect:g}. "
        f"Standard deviations are from {variances_from(plan)}. A worker's own difference "
        "between two systems has the sum of their two variances."
    )
    columns = {
        "system": parameters.names,
        "assumed mean": tuple(f"{mean:.4f}" for mean in parameters.means),
        "SD between workers": tuple(map(plain, parameters.sd_worker_system)),
        "SD between items": tuple(map(plain, parameters.sd_item_system)),
    }
    if parameters.has_documents:
        columns["SD between documents"] = tuple(map(plain, parameters.sd_document_system))
    kinds = "workers, items, and documents," if parameters.has_documents else "workers, and items,"
    rows = tuple(zip(*columns.values(), strict=True))
    yield Table(tuple(columns), rows, caption=f"How {kinds} differ about a system")
    alike = {
        "How high workers rate": parameters.sd_worker,
        "How high items are rated": parameters.sd_item,
        **({"How high documents are rated": parameters.sd_document} if parameters.has_documents else {}),
        "Ratings beyond all that (noise)": parameters.sd_residual,
    }
    cells = tuple((name, plain(sd)) for name, sd in alike.items())
    yield Table(("What varies for all systems alike", "SD"), cells)


def hangs_section(powers: Mapping[str, float], *blocks: Block) -> Section:
    """The power of the same study under all parameters that were looked at, and blocks that say more."""
    said = Paragraph(
        "How much workers, items and ratings vary is assumed. Your answer hangs on this: by formula the power "
        f"of this study is {share(min(powers.values()))} to {share(max(powers.values()))}."
    )
    return Section("What the answer hangs on", (said, *blocks))


def sensitivity_section(plan: Plan) -> Section:
    """The same of a plan alone."""
    labels = labels_of_settings(plan)
    powers = {plan.source.name: plan.predicted.analytic, **plan.sensitivity()}
    labels = {name: label if label == name else f"{label}: {name}" for name, label in labels.items()}
    labels[plan.source.name] += " (planned for)"
    rows = tuple((labels[name], share(power)) for name, power in powers.items())
    return hangs_section(powers, Table(("Assumed", POWER_LABEL), rows))


# What a plan says of the rules by which workers are left out, and of what they cost.


def exclusions_section(plan: Plan) -> Section:
    """The rules, how they are applied, and what they cost."""
    title, rules = "Which ratings are left out", plan.left_out_words
    if not rules:
        none = "None: every rating that is collected is analysed. No rule for leaving any out was planned."
        return Section(title, (Paragraph(none),), is_detail=True)
    said = Paragraph(
        "Only those that these rules name. They are applied without looking at the difference between the systems; "
        "how many ratings each removes is reported, and so is the result without exclusions."
    )
    cost = () if plan.rules is None else (Paragraph(_cost_of_rules(plan.rules)),)
    return Section(title, (said, Points(rules), *cost), is_detail=plan.rules is None)


def _cost_of_rules(planned: PlannedRules) -> str:
    """'The rules leave out about 9 % of the workers (...): power 0.83 instead of 0.86', and what was assumed."""
    cost, careless = planned.cost, planned.careless
    assumed = (
        f"Simulated: {percent(careless)} careless workers"
        if careless
        else "Simulated: careful workers only"
    )
    seen = [f"attention checks ({percent(planned.checks)} of the ratings)"] * bool(planned.checks)
    seen += [f"outputs shown again ({percent(planned.repeats)})"] * bool(planned.repeats)
    assumed += f", {' and '.join(seen)}" if seen else ""
    out = f"The rules leave out about {percent(cost.out.of_all(careless))} of the workers"
    if careless:
        out += (
            f" ({percent(cost.out.careful)} of the careful, {percent(cost.out.careless)} of the careless)"
        )
    if math.isnan(cost.power):
        more = "What this costs in power was not simulated: have that many more workers in reserve."
        return f"{out}. {more} ({assumed}.)"
    other = f"instead of {share(cost.without)} without any rule"
    if careless:
        other = f"instead of {share(cost.all_careful)} if nobody were careless"
        other += f"; without any rule it would be {share(cost.without)}"
    error = math.sqrt(cost.power * (1 - cost.power) / cost.n_simulations)
    return f"{out}: power {share(cost.power)} {other}. ({assumed}; standard errors {error:.3f}.)"


# What to know before trusting, or paying for, a plan.


def plan_caveats(plan: Plan, design: Design, cost: Cost | None) -> Iterator[str]:
    """Sentences, the gravest first."""
    predicted, counts, many, rule = plan.predicted, plan.counts, plan.many, plan.rule
    if is_observed_effect(plan):
        yield (
            f"The plan is for {plan.effect:+.3g}, the difference that the pilot showed. Such power says nothing "
            "that the pilot's p-value does not, and is too high where a promising pilot was followed up."
        )
    if is_below_target(plan):
        fails = "miss the difference that it is meant to find, and exaggerate it when it does not"
        if rule.margin is not None:
            fails = f"fail to show {claim(rule)} where it is true"
        yield (
            f"The power, {share(predicted.power)}, is below the target of {plan.target_power:g}: a study of this "
            f"size will often {fails}."
        )
    if plan.rules is not None and plan.rules.cost.out.careful > 0.15:
        yield (
            f"The rules leave out {percent(plan.rules.cost.out.careful)} of careful workers: too strict for work "
            "of this kind, or too little is seen of a worker. Choose other limits, or more checks, repeats or "
            "ratings of each."
        )
    if is_too_bold(rule, design.n_workers):
        yield (
            f"With {design.n_workers} workers, fewer than {ENOUGH_WORKERS[rule.df]}, the test rejects more often "
            f"than alpha {rule.alpha:g} says, and part of the power is false alarm. {size_sentence(rule)}"
        ).rstrip()
    elif design.n_workers < T_LAW_WORKERS:
        yield f"With {design.n_workers} workers the power by formula is rough; trust the simulation."
    if plan.costs is not None and counts.ratings_of_a_worker < least_of_a_worker(plan.costs):
        each = max(round(counts.ratings_of_a_worker), 1)
        yield (
            f"Each worker gives about {counted(each, 'rating')}: nothing says what one more worker costs "
            "(recruiting, instructions, training), and then many workers with little to rate each look cheapest. "
            "Say it (--cost-per-worker), or limit the workers (--max-workers)."
        )
    yield from _proof(plan)
    if counts.ratings_per_item == 1:
        yield (
            "With one rating per item and system the test is exact, but item variance and noise cannot be told "
            "apart, and agreement cannot be measured."
        )
    work = counts.n_items * counts.ratings_per_item
    second = work - counts.n_workers
    if counts.paired and rests_on_few(second, counts.n_workers):
        yield (
            f"Hardly any of the {counts.n_workers:,} workers has a second item to rate: {second} in all. On a "
            "scale of few points such a study can end without a test, because workers explain all of its ratings. "
            f"Take {work:,} workers, or {work - LEAST_SECOND:,} at most."
        )
    if many is not None and many.n_criteria > 1:
        if many.family.over == "all" and many.family.correction != "none":
            others = "the other" if many.n_criteria == 2 else f"each of the other {many.n_criteria - 1}"
            yield (
                f"The power is that of one criterion, as if the tests of {others} found as much: each criterion "
                "has its share of alpha."
            )
        if plan.costs is not None:
            yield (
                "Who rates an output rates it under all criteria at once, and is paid for that once: the price of "
                "a rating has to cover all of them."
            )
    coded, of_level = plan.parameters.recoded(), {"sd_worker_slope": "workers", "sd_item_slope": "items"}
    if zero := [words for name, words in of_level.items() if getattr(coded, name) == 0]:
        of_what = "between systems" if many is not None else with_names("B - A", plan.pair)
        yield (
            f"The plan assumes that the difference {of_what} does not vary between {' or between '.join(zero)}. "
            "An estimate of zero from a small pilot does not show that; power planned from it is too hopeful."
        )
    if plan.source.ratings is not None:
        yield (
            "How much ratings vary is estimated from a pilot: the fewer its workers, the less is known of it. "
            "The power is what these estimates imply, not a guarantee."
        )
    else:
        yield (
            f"How much ratings vary is assumed ({labels_of_settings(plan)[plan.source.name]}), not estimated from "
            "a pilot of these systems, items and workers. The power holds as far as this assumption does."
        )
    yield from design.notes
    if cost is not None:
        yield from _one_reward(plan, design, cost)
        yield from cost.notes


def is_observed_effect(plan: Plan) -> bool:
    """Whether the plan is for the very difference that its parameters were estimated with."""
    observed = plan.parameters.difference
    if plan.many is not None or plan.source.ratings is None:  # the means are assumed, and those of no pilot
        return False
    return observed != 0 and math.isclose(abs(plan.effect), abs(observed), rel_tol=0.005)


def is_below_target(plan: Plan) -> bool:
    """Whether the power is below the target by more than its Monte Carlo error."""
    upper = plan.predicted.interval[1]
    reached = plan.predicted.analytic if math.isnan(upper) else upper
    return reached < plan.target_power


def plan_answer(plan: Plan, said: Difference | None = None) -> str:
    """How many of 100 such studies succeed, and whether that is what was wanted."""
    predicted = plan.predicted
    interval = None if math.isnan(predicted.simulated) else predicted.interval
    reached, target = of_hundred(plan.predicted.power, interval), of_hundred(plan.target_power)
    difference = said or Difference(plan.effect, plan.scale)
    if plan.many is not None:
        size = f"{points_words(difference.value, plan.scale)} {on_scale(plan.scale)}"
        goal = goal_clause(plan.many.goal, plan.rule).replace("this much", size)
        of_such = f"in {reached} of 100 such studies, {goal}"
    else:
        finds = finding_words(replace(difference, systems=plan.pair), plan.rule, plan.scale)
        of_such = f"of 100 such studies, {reached} would {finds}"
    if is_below_target(plan):
        return f"Not met: {of_such}; {target} were wanted."
    near = plan.predicted.power < plan.target_power and reached.split()[0] != target
    within = ", within the error of the simulation" if near else ""
    return f"{of_such[0].upper()}{of_such[1:]}; {target} was the target{within}."


def _proof(plan: Plan) -> Iterator[str]:
    """What to think of the simulated power beside that by formula."""
    predicted, rule = plan.predicted, plan.rule
    if math.isnan(predicted.simulated):
        yield "The power was computed by formula and has not been simulated for this plan."
        return
    if rule.is_simulated or rule.analysis != "ratings":
        yield "The formula does not describe the planned test; only the simulated power counts."
        return
    low, high = predicted.interval
    differ = abs(predicted.simulated - predicted.analytic) > 0.02
    if low <= predicted.analytic <= high or not differ:
        return
    if plan.rules is not None:
        yield "The formula leaves nobody out and takes all for careful; only the simulated power counts."
    elif plan.drops_systems:
        yield (
            "The formula rates all systems to the end and tests once; with looks that drop systems only the "
            "simulated power counts."
        )
    else:
        yield "Formula and simulation differ by more than chance; trust the simulation."


def _one_reward(plan: Plan, design: Design, cost: Cost) -> Iterator[str]:
    """What Prolific is paid beyond the total: the rewards of a study are rounded up and all the same."""
    if plan.costs is None or not plan.costs.fee.is_prolific:
        return
    loads = design.worker_loads[design.worker_loads > 0]
    shares = (plan.costs.checks_per_rating, plan.costs.repeats_per_rating)
    outputs = (loads + sum(share_of(float(rate), loads) for rate in shares)).tolist()
    once, apart = (rewards_of(outputs, plan.costs, alike=alike).total for alike in (True, False))
    work = fee_on(cost.ratings + cost.attention_checks + cost.repeats, plan.costs.fee).total
    if once == work:
        return
    reward, paid, own, total = (
        money(one, cost.currency) for one in (plan.costs.reward(max(outputs)), once, apart, work)
    )
    uneven = "" if once == apart else f"; a study for each slot costs {own}"
    yield (
        f"Prolific pays everyone in a study the same: one study of {len(outputs):,} places at {reward}, "
        f"for {max(outputs):,} outputs, costs {paid} with the fee, where the total has {total}{uneven}."
    )


# The looks of a plan in words: when, by which boundaries, and what they are expected to save.


def looks_sentence(plan: Plan) -> str:
    """When a planned study is tested before its end, and at which levels."""
    schedule = plan.looks
    assert schedule is not None
    levels = [float(level) for level in plan.look_boundaries().nominal]
    looks = "; ".join(
        f"at {100 * at:.3g} % of the {schedule.looks.kind}, success at p <= {level:.5f}"
        for at, level in zip(schedule.looks.shares, levels, strict=True)
    )
    if schedule.drop_systems:
        return _dropping_sentence(plan, schedule)
    if schedule.stop_when is not None:
        return _intervals_sentence(plan, schedule)
    over = "all looks" if plan.many is None else "all looks and comparisons"
    text = (
        f"The data are tested at {schedule.looks.n_looks} looks "
        f"({boundary_words(schedule.efficacy)} in information time, alpha {plan.rule.alpha:g} over {over}): "
        f"{looks}."
    )
    if plan.many is not None:
        text += f" {_steps(plan.many)}"
    if schedule.factor != 1:
        text += f" The levels were calibrated by simulation (factor {schedule.factor:.3f})."
    if schedule.futility is not None:
        text += f" It stops for {futility_words(schedule.futility)}. {_binding(schedule.futility.binding)}"
    return text


def _binding(binds: bool) -> str:
    if binds:
        return "Futility binds: the boundaries of success count on it."
    return "Futility does not bind: the study may go on."


def _dropping_sentence(plan: Plan, schedule: LookSchedule) -> str:
    """When systems are dropped, and what ends the study."""
    from humeval_power.studies.looks.dropping import drop_alpha
    from humeval_power.studies.looks.result_dropping import NOT_BY_RANK, drop_rule, top_group_words

    alpha, n = plan.rule.alpha, len(plan.systems)
    workers = ", ".join(f"{round(at * plan.counts.n_workers)}" for at in schedule.looks.shares)
    text = (
        f"The study is looked at {schedule.looks.n_looks} times, after {workers} workers, each of whom rates all "
        f"systems that are left on the same items. {drop_rule(alpha)} Two-sided alpha of a comparison over all "
        f"looks is {drop_alpha(alpha, n):.5g} for a drop (2 alpha / (K - 1), at most alpha) and {alpha:g} for a "
        f"claim: {boundary_words(schedule.efficacy)} in information time, calibrated by simulation (factor "
        f"{schedule.factor:.3f}; of the intervals {schedule.interval_factor:.3f}). {NOT_BY_RANK}"
    )
    sizes = {} if schedule.stop_when is None else schedule.stop_when.sizes(plan.scale)
    return text if not sizes else f"{text} Beside a claim {top_group_words(sizes)}."


def _intervals_sentence(plan: Plan, schedule: LookSchedule) -> str:
    """When a study that its intervals stop is looked at, and what ends it."""
    assert schedule.stop_when is not None
    levels = [float(level) for level in plan.look_boundaries().nominal]
    shares = schedule.looks.shares
    looks = "; ".join(
        f"after {round(at * plan.counts.n_workers)} workers at {100 * (1 - level):.4g} %"
        for at, level in zip(shares, levels, strict=True)
    )
    points = "" if plan.scale is None else " points"
    decides = "excludes 0" if plan.rule.margin is None else f"shows {claim(plan.rule)}"
    other = {
        "equivalence": "it lies between -{0} and {0}",
        "half_width": "its half-width is at most {}",
    }
    sizes = schedule.stop_when.sizes(plan.scale)
    why = [f"it {decides}"] * schedule.stop_when.decision
    why += [other[name].format(f"{size}{points}") for name, size in sizes.items()]
    text = (
        f"The study is looked at {len(shares)} times. At each look a repeated confidence interval (Jennison and "
        f"Turnbull 1989) is computed: {looks}; alpha {plan.rule.alpha:g} over all looks: "
        f"{boundary_words(schedule.efficacy)} in information time, calibrated by simulation (factor "
        f"{schedule.factor:.3f}). Collection stops at the first look at which {' or '.join(why)}, "
        "else at the last. The interval of that look is reported, never the plain one."
    )
    if plan.rule.margin is not None:
        text += f" The claim is tested at {plan.rule.alpha / 2:g} a side."
    if schedule.futility is not None:
        text += f" It stops for {futility_words(schedule.futility)}. {_binding(False)}"
    return text


def _steps(many: PlannedSystems) -> str:
    """Of which comparison levels are told, and how they move."""
    n, names = many.n_tests, many.parameters.names
    first, second = (names[place] for place in many.hardest)
    share = f"alpha / {n}" if many.family.correction != "none" else "alpha"
    said = (
        f"These levels are those of {second} - {first}; each of the {counted(n, 'comparison')} has levels by its "
        f"own information, at {share} while none is shown."
    )
    if many.family.correction == "holm":
        said += (
            " A comparison that is shown stays so, and its share of alpha passes to the others, whose levels are "
            "solved anew and which are tested again at the same look (Maurer and Bretz 2013)."
        )
    return f"{said} Collection ends when each comparison is shown or futile."


def expectation_sentence(plan: Plan) -> str | None:
    """Ratings and cost to expect; None without looks or simulation."""
    expected = plan.expected
    if expected is None:
        return None
    text = (
        f"Expected ratings: {expected.ratings_if_effect:,.0f} if the difference of interest is true, "
        f"{expected.ratings_if_none:,.0f} if there is none, of at most {plan.design().n_ratings:,}."
    )
    if not math.isnan(expected.cost_if_effect) and plan.costs is not None:
        text += (
            f" Expected cost: {money(expected.cost_if_effect, plan.costs.currency)} and "
            f"{money(expected.cost_if_none, plan.costs.currency)}."
        )
    return text


def look_facts(result: PlanResult) -> list[tuple[str, str]]:
    """(label, sentence) about the looks of the chosen design; none without looks."""
    looks, wish = result.chosen.sequential, result.request.looks
    if looks is None or wish is None:
        return []
    if wish.drop_systems:
        return _dropping_facts(looks, wish, result)
    rows, levels = looks.plan.rows, looks.plan.first_levels
    facts = [
        ("Looks", f"{wish.looks}; {boundary_words(wish.efficacy)}, by {looks.plan.method}"),
        *(
            (
                "",
                f"look {number}: {row.n_ratings:,} ratings, {100 * row.information_share:.0f} % of the "
                f"information, success at p <= {level:.5f}",
            )
            for number, (row, level) in enumerate(zip(rows, levels, strict=True), start=1)
        ),
        ("Expected", _expected(looks, result)),
    ]
    if wish.stop_when is not None:
        facts.insert(1 + len(rows), ("Stops on", wish.stop_when.words(result.request.assumed.scale)))
    own, naive = looks.plan.errors[0], looks.plan.errors[-1]
    where = "without an effect" if result.request.many is None else "where all systems are equal"
    facts.append(
        (
            "Errors",
            f"{where} these boundaries claim a difference in {rate_words(own.rate, own.interval)} of studies, "
            f"simulated; {level_of(result.request.rule.alpha)} was planned; with {naive.procedure}, "
            f"{percent(naive.rate)}",
        )
    )
    advised = next((choice for choice in looks.choices if choice.recommended), None)
    if advised is not None and advised.n_looks != wish.looks.n_looks:
        facts.append(("Advice", f"{advised.n_looks} equal looks would do: more save less than 2 % each"))
    return facts


def _dropping_facts(
    looks: SequentialOption, wish: LookSchedule, result: PlanResult
) -> list[tuple[str, str]]:
    """The same where looks drop systems."""
    from humeval_power.studies.looks.dropping import DroppingPlan
    from humeval_power.studies.looks.result_dropping import top_group_words, worst_sentence

    plan = looks.plan
    assert isinstance(plan, DroppingPlan)
    at, rule = plan.place, f"{boundary_words(wish.efficacy)}, by {plan.method}"
    levels = zip(plan.rows, plan.bounds.drop[:, at], plan.bounds.claim[:, at], strict=True)
    facts = [("Looks", f"{wish.looks}; systems are dropped; {rule}")]
    facts += [
        (
            "",
            f"look {number}: {row.n_workers} workers, a system is dropped at p <= {drop:.5f}, the best is named "
            f"at p <= {claim_level:.5f}",
        )
        for number, (row, drop, claim_level) in enumerate(levels, start=1)
    ]
    sizes = {} if wish.stop_when is None else wish.stop_when.sizes(result.request.assumed.scale)
    if sizes:
        facts.append(("Top group", top_group_words(sizes)))
    return [*facts, ("Errors", worst_sentence(plan))]


def _expected(looks: SequentialOption, result: PlanResult) -> str:
    expected, most = looks.expected, looks.plan.rows[-1].n_ratings
    text = (
        f"{expected.ratings_if_effect:,.0f} ratings if the effect is true, {expected.ratings_if_none:,.0f} if "
        f"there is none, of at most {most:,}"
    )
    if not math.isnan(expected.cost_if_effect):
        currency = result.request.costs.currency
        text += (
            f"; cost {money(expected.cost_if_effect, currency)} and "
            f"{money(expected.cost_if_none, currency)}, of at most {result.chosen.cost}"
        )
    return text


def stops_sections(result: PlanResult) -> Iterator[Section]:
    """What the chosen design takes at each true difference if its intervals stop it, what that saves, and what it
    costs in power; none of any other study."""
    answer, request = result.chosen.sequential, result.request
    if answer is None or not (answer.stops or answer.drops):
        return
    from humeval_power.studies.looks.repeated import few_workers_note
    from humeval_power.studies.looks.result import stops_blocks
    from humeval_power.studies.looks.result_dropping import expectation_blocks

    if answer.drops:
        blocks = expectation_blocks(answer.drops)
    else:
        workers, scale = answer.plan.rows[-1].n_workers, request.assumed.scale
        blocks = stops_blocks(answer.stops, workers, request.rule, scale)
    few = few_workers_note(answer.plan.rows[0].n_workers)
    yield Section("What it takes", (*blocks, *([] if few is None else [Paragraph(few)])))


def look_choice_record(result: PlanResult) -> Record | None:
    """The looks of the chosen design as plain values; None without looks."""
    from humeval_power.studies.looks.dropping import DroppingPlan
    from humeval_power.studies.looks.result_dropping import drop_record

    looks, wish = result.chosen.sequential, result.request.looks
    if looks is None or wish is None:
        return None
    stops: Record = {} if wish.stop_when is None else {"stop_when": asdict(wish.stop_when)}
    if isinstance(looks.plan, DroppingPlan):
        stops |= drop_record(looks.plan)
    elif stops:
        stops["stops"] = [asdict(one) for one in looks.stops]
    return {
        "by": wish.looks.kind,
        "shares": list(wish.looks.shares),
        "efficacy": str(wish.efficacy),
        "futility": "none" if wish.futility is None else str(wish.futility),
        "information": list(looks.plan.information_shares),
        "nominal": list(looks.plan.first_levels),
        "calibration": None if looks.plan.calibration is None else asdict(looks.plan.calibration),
        "false_positives": [asdict(error) for error in looks.plan.errors],
        "expected": asdict(looks.expected),
        "numbers_of_looks": [asdict(choice) for choice in looks.choices],
        **stops,
    }
