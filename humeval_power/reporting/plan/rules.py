"""What a plan says of the rules by which workers are left out, and of what they cost."""

from __future__ import annotations

import math

from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.plan.planned_rules import PlannedRules
from humeval_power.reporting.document import Paragraph, Points, Section
from humeval_power.reporting.numbers import percent
from humeval_power.reporting.values import share

TITLE = "Which ratings are left out"
MANY_OUT = 0.15  # share of careful workers whom no rule should leave out unnoticed


def exclusions_section(plan: Plan) -> Section:
    """The rules, how they are applied, and what they cost."""
    if not plan.left_out_words:
        none = "None: every rating that is collected is analysed. No rule for leaving any out was planned."
        return Section(TITLE, (Paragraph(none),), is_detail=True)
    said = (
        "Only those that these rules name. They are applied without looking at the difference between "
        "the systems; how many ratings each removes is reported, and so is the result without "
        "exclusions."
    )
    blocks: list[Paragraph | Points] = [Paragraph(said), Points(plan.left_out_words)]
    if plan.rules is not None:
        blocks.append(Paragraph(cost_sentence(plan.rules)))
    return Section(TITLE, tuple(blocks), is_detail=plan.rules is None)


def cost_sentence(planned: PlannedRules) -> str:
    """'The rules leave out about 9 % of the workers (...): power 0.83 instead of 0.86', and what was assumed."""
    cost, careless = planned.cost, planned.careless
    out = f"The rules leave out about {percent(cost.out.of_all(careless))} of the workers"
    if careless:
        out += (
            f" ({percent(cost.out.careful)} of the careful, {percent(cost.out.careless)} of the careless)"
        )
    if math.isnan(cost.power):
        said = f"{out}. What this costs in power was not simulated: have that many more workers in reserve."
        return f"{said} ({_assumed(planned)}.)"
    if careless:
        other = f"instead of {share(cost.all_careful)} if nobody were careless"
        other += f"; without any rule it would be {share(cost.without)}"
    else:
        other = f"instead of {share(cost.without)} without any rule"
    error = math.sqrt(cost.power * (1 - cost.power) / cost.n_simulations)
    return f"{out}: power {share(cost.power)} {other}. ({_assumed(planned)}; standard errors {error:.3f}.)"


def rules_caveats(plan: Plan) -> list[str]:
    """That many careful workers are left out; nothing where they are not."""
    if plan.rules is None or plan.rules.cost.out.careful <= MANY_OUT:
        return []
    return [
        f"The rules leave out {percent(plan.rules.cost.out.careful)} of careful workers: too strict for work of "
        "this kind, or too little is seen of a worker. Choose other limits, or more checks, repeats or ratings "
        "of each."
    ]


def _assumed(planned: PlannedRules) -> str:
    seen = [f"attention checks ({percent(planned.checks)} of the ratings)"] if planned.checks else []
    seen += [f"outputs shown again ({percent(planned.repeats)})"] if planned.repeats else []
    with_each = f", {' and '.join(seen)}" if seen else ""
    who = f"{percent(planned.careless)} careless workers" if planned.careless else "careful workers only"
    return f"Simulated: {who}{with_each}"
