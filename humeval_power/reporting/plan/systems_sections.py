"""The numbers of a plan of several systems in sections: what it finds, what is assumed, and how it decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from humeval_power.costs import Cost
from humeval_power.designs import Design
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.document import Fact, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import interval_words
from humeval_power.reporting.plan.looks import expectation_sentence, looks_sentence
from humeval_power.reporting.plan.sections import is_simulated
from humeval_power.reporting.plan.systems_words import GOAL_NAMES, family_sentences, goal_clause
from humeval_power.reporting.values import plain, share
from humeval_power.systems import GOALS, Goal, SystemsParameters

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

    from humeval_power.planning.plan.planned_systems import PlannedSystems


def systems_headline(
    plan: Plan, planned: PlannedSystems, design: Design, cost: Cost | None
) -> Iterator[Fact]:
    """The design, its power and its price."""
    yield "Systems", f"{len(plan.systems):,}"
    if planned.criteria:
        yield "Criteria", f"{len(planned.criteria):,}"
    yield "Workers", f"{design.n_workers:,}"
    yield "Items", f"{design.n_items:,}"
    yield "Ratings per item, system", f"{design.ratings_per_item:g}"
    yield "Ratings" + (" per criterion" if planned.criteria else ""), f"{design.n_ratings:,}"
    power = plan.predicted.simulated if is_simulated(plan) else plan.predicted.analytic
    yield f"Power at {plan.effect:g}", share(power)
    if cost is not None:
        yield "Total cost", str(cost)


def systems_power_section(plan: Plan, planned: PlannedSystems) -> Section:
    """What the plan promises, what else the study finds, its limits, and the curves."""
    predicted = plan.predicted
    said = f"By formula {share(predicted.analytic)}"
    if is_simulated(plan):
        said = (
            f"{share(predicted.simulated)} in {predicted.n_simulations:,} simulated studies (95 % Monte "
            f"Carlo interval {interval_words(*predicted.interval, digits=3)}); by formula "
            f"{share(predicted.analytic)}"
        )
    of_one = " on any one criterion" if planned.n_criteria > 1 else ""
    goal = goal_clause(planned.goal, plan.rule)
    promise = (
        f"{said}. The target was {plan.target_power:g}. This is the probability that {goal}{of_one}, if the means "
        f"below and the parameters ({plan.source.name}) are right."
    )

    def draw() -> Figure:
        from humeval_power.reporting.plan.goals_figure import goals_figure

        return goals_figure(plan, planned)

    curve = Picture(
        "power",
        draw,
        words="The chance to reach each goal by formula, for differences around the one that is planned for.",
        caption="By formula; the point is the simulated power.",
    )
    blocks = (Paragraph(promise), _goals_table(plan, planned), Paragraph(_limits(plan, planned)))
    return Section("Power", (*blocks, curve) if plan.rule.margin is None else blocks)


def _goals_table(plan: Plan, planned: PlannedSystems) -> Table:
    """All goals that these means have: by formula, and in the simulations of the power."""
    from humeval_power.planning.plan.planned_systems import goal_shares

    formula = goal_shares(planned, plan.counts, plan.rule)
    simulated = {one.goal: (one.share, one.interval) for one in planned.shares}
    if is_simulated(plan):
        simulated[planned.goal] = plan.predicted.simulated, plan.predicted.interval

    def row(goal: Goal) -> tuple[str, ...]:
        name = GOAL_NAMES[goal] + (" (the goal)" if goal == planned.goal else "")
        if goal not in simulated:
            return name, share(formula[goal]), "-", "-"
        value, interval = simulated[goal]
        return name, share(formula[goal]), share(value), interval_words(*interval, digits=3)

    found = [goal for goal in GOALS if formula[goal] == formula[goal]]
    return Table(
        ("chance that the study finds", "formula", "simulated", "interval"), tuple(map(row, found))
    )


def _limits(plan: Plan, planned: PlannedSystems) -> str:
    """What this design finds with the target power, and what more of one thing alone could reach."""
    from humeval_power.planning.plan.goal_power import smallest_effect
    from humeval_power.planning.plan.planned_systems import goal_power
    from humeval_power.planning.plan.systems_limits import endless_items, endless_workers

    target, rule = plan.target_power, plan.rule
    found = smallest_effect(planned, plan.counts, target, rule)
    what = "difference" if rule.margin is None else "margin"
    said = f"With power {target:g} the study does this for a {what} of {found:.3g} or more."
    if found > 1:
        said = f"There is no {what} on [0, 1] for which the study does this with power {target:g}."
    items = goal_power(planned, endless_items(plan.counts), rule)
    workers = goal_power(planned, endless_workers(plan.counts), rule)
    return (
        f"{said} Its limits: {share(items)} with these workers and endless items, {share(workers)} with these "
        "items and endless workers."
    )


def systems_assumed_section(plan: Plan, planned: PlannedSystems) -> Section:
    """The means and standard deviations that the power is computed from."""
    parameters = planned.parameters
    said = (
        f"The power is computed for these means on [0, 1], whose difference of interest is {plan.effect:g}. "
        f"Standard deviations are from {plan.source.name}. A worker's own difference between two systems has "
        "the sum of their two variances."
    )
    shared = Table(
        ("What varies for all systems alike", "SD"),
        (
            ("How high workers rate", plain(parameters.sd_worker)),
            ("How high items are rated", plain(parameters.sd_item)),
            *(
                [("How high documents are rated", plain(parameters.sd_document))]
                if parameters.has_documents
                else ()
            ),
            ("Ratings beyond all that (noise)", plain(parameters.sd_residual)),
        ),
    )
    return Section("What is assumed", (Paragraph(said), _systems_table(parameters), shared), is_detail=True)


def _systems_table(parameters: SystemsParameters) -> Table:
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
    return Table(tuple(columns), rows, caption=f"How {kinds} differ about a system")


def family_section(planned: PlannedSystems, plan: Plan) -> Section:
    """How the study decides."""
    expected = expectation_sentence(plan)
    when = "There is one look, when all ratings are in." if plan.looks is None else looks_sentence(plan)
    sentences = (*family_sentences(planned, plan.rule), when, *([] if expected is None else [expected]))
    return Section("Tests", tuple(map(Paragraph, sentences)), is_detail=True)
