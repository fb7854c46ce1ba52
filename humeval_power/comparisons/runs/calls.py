"""Scores of several runs: generations of an answer, prompts, seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

    from humeval_power.comparisons.runs.result import RunsBudgetResult, RunsKindResult, RunsTestResult
    from humeval_power.comparisons.runs.scenario import RunsPlan
    from humeval_power.comparisons.runs.testing import RunTable
    from humeval_power.rules import Alternative
    from humeval_power.runs_parameters import RunsFamily, RunsKind, RunsParameters


def check(table: RunTable) -> RunsKindResult:
    """Say whether runs are nested in items or crossed with them, and what speaks for it.

    Parameters
    ----------
    table : as `read_runs` reads it.

    Returns
    -------
    RunsKindResult
        `reading.kind` is 'nested', 'crossed', or None where the table does not say.
    """
    from humeval_power.comparisons.runs.result import RunsKindResult
    from humeval_power.comparisons.runs.testing import read_kind

    return RunsKindResult(table=table, reading=read_kind(table))


def test(
    table: RunTable,
    *,
    kind: RunsKind | None = None,
    family: RunsFamily | None = None,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    alpha: float = 0.05,
) -> RunsTestResult:
    """Compare systems by scores of repeated runs.

    Parameters
    ----------
    table : as `read_runs` reads it; of more than two systems all pairs are compared, with Holm's correction.
    kind : 'nested' for generations of each item's answer, 'crossed' for prompts or seeds that are the same for
        all items; None takes what the table's labels and the column's name say.
    family : 'binary' for right or wrong, 'gaussian' for numbers; None takes 'binary' where all scores are 0 or 1.
        It matters for crossed runs, which are then fitted on the scale of log odds.
    alternative, margin : what to show; the margin is a difference of scores, in their unit.
    alpha : level of each test; of several pairs after correction.

    Returns
    -------
    RunsTestResult
        `found.pairs` hold estimate, interval and p-value in the unit of the scores, the parts of the error's
        variance and the `RunsParameters` that planning takes; `to_frame` has a row for each pair.

    Raises
    ------
    InputError
        Runs whose kind the table does not say, runs that do not repeat, a margin that is none.

    References
    ----------
    Miller (2024), Adding error bars to evals; Bell and McCaffrey (2002); Kenward and Roger (1997).
    """
    from humeval_power.comparisons.runs.result import RunsTestResult, ask
    from humeval_power.comparisons.runs.testing import RunsRule, compare_all, read_kind
    from humeval_power.errors import InputError, Problem

    reading = read_kind(table)
    chosen = kind or reading.kind
    if chosen is None:
        raise InputError([Problem(ask(reading), "", place=table.source or None)])
    rule = RunsRule(
        kind=chosen,
        family=family or ("binary" if table.is_binary else "gaussian"),
        alternative=alternative,
        margin=margin,
        alpha=alpha,
    )
    return RunsTestResult(
        table=table,
        reading=reading,
        rule=rule,
        found=compare_all(table, rule),
        said=kind is not None,
    )


def budget(
    parameters: RunsParameters,
    plan: RunsPlan,
    *,
    effect: float,
    budget: Decimal | float,
    cost_per_call: Decimal | float,
    cost_per_item: Decimal | float = 0,
    cost_per_prompt: Decimal | float = 0,
    max_items: int | None = None,
    max_runs: int | None = None,
) -> RunsBudgetResult:
    """Divide a sum between items and generations, or items and prompts, so that an effect is found most often.

    Parameters
    ----------
    parameters : what scores vary by, of a pilot or assumed.
    plan : clusters, test and level; its numbers of items and runs are what is sought.
    effect : true difference B - A, in the unit of the scores.
    budget, cost_per_call, cost_per_item, cost_per_prompt : in one currency. A call is one answer of one system; an
        item costs its price and the calls of both systems; prompts are written once, for crossed runs alone.
    max_items, max_runs : how many items there are at all; most runs or prompts looked at (100 without it).

    Returns
    -------
    RunsBudgetResult
        `budget.best`, `budget.splits` for each number of runs, what one more item, run or prompt would buy
        (`steps`), and the power with endless runs or items (`ceilings`); power by the noncentral t.

    Raises
    ------
    InputError
        A budget that pays for less than two items, nothing that costs anything, an effect that cannot be.
    """
    from decimal import Decimal

    from humeval_power.comparisons.runs.budget import RunsPrices, divide_budget
    from humeval_power.comparisons.runs.result import RunsBudgetResult

    def exact(amount: Decimal | float) -> Decimal:
        return amount if isinstance(amount, Decimal) else Decimal(str(amount))

    prices = RunsPrices(call=exact(cost_per_call), item=exact(cost_per_item), prompt=exact(cost_per_prompt))
    result = divide_budget(
        parameters,
        plan,
        effect=effect,
        total=exact(budget),
        prices=prices,
        most_items=max_items,
        most_runs=max_runs,
    )
    return RunsBudgetResult(budget=result)
