"""`humeval-power runs budget`: items against generations, or against prompts, for a sum of money."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from humeval_power.api import runs
from humeval_power.interfaces.cli.numbers import Money, RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import decorated
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.runs.planned import (
    cluster_options,
    effect_range,
    parameter_options,
    parameters_of,
    plan_of,
    rule_options,
)

if TYPE_CHECKING:
    from humeval_power.reporting.runs.budget import RunsBudgetResult


_OWN = (
    click.option("--total", type=Money(), required=True, help="What there is to spend."),
    click.option(
        "--effect",
        type=RealNumber(),
        required=True,
        help="True difference B - A, in the unit of the scores; of right and wrong a share.",
    ),
    click.option(
        "--cost-per-call", type=Money(), required=True, help="One answer of one system to one item."
    ),
    click.option(
        "--cost-per-item", type=Money(), default="0", show_default=True, help="An item: to write, to grade."
    ),
    click.option(
        "--cost-per-prompt",
        type=Money(),
        default="0",
        show_default=True,
        help="Crossed: a prompt to write.",
    ),
    click.option("--max-items", type=WholeNumber(min=2), help="How many items there are at all."),
    click.option("--max-runs", type=WholeNumber(min=2), help="Most runs, or prompts, looked at. [100]"),
)


def _command(
    total: Decimal,
    effect: float,
    cost_per_call: Decimal,
    cost_per_item: Decimal,
    cost_per_prompt: Decimal,
    max_items: int | None,
    max_runs: int | None,
    **given: Any,
) -> RunsBudgetResult:
    """Divide a budget between items and runs, or items and prompts.

    Each item costs its own price and the calls of both systems. What a pilot
    or the options say scores vary by decides which split finds most.
    """
    effect_range(given).check([effect])
    return runs.budget(
        parameters_of(given),
        plan_of(2, 2, 2, given),
        effect=effect,
        total=total,
        cost_per_call=cost_per_call,
        cost_per_item=cost_per_item,
        cost_per_prompt=cost_per_prompt,
        max_items=max_items,
        max_runs=max_runs,
    )


budget = click.command("budget", cls=Command, help=_command.__doc__)(
    decorated(
        with_result()(_command),
        (*_OWN, *parameter_options, *cluster_options, *rule_options),
    )
)
