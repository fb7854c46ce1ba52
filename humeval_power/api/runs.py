"""Scores of several runs: generations of an answer, prompts, seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.inference.runs.run_table import RunTable
    from humeval_power.reporting.runs.kind import RunsKindResult
    from humeval_power.reporting.runs.test import RunsTestResult
    from humeval_power.rules import Alternative
    from humeval_power.runs_parameters import RunsFamily, RunsKind


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
    from humeval_power.inference.runs.kinds import read_kind
    from humeval_power.reporting.runs.kind import RunsKindResult

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
    from humeval_power.errors import InputError, Problem
    from humeval_power.inference.runs.comparison import RunsRule
    from humeval_power.inference.runs.kinds import read_kind
    from humeval_power.inference.runs.testing import compare_all
    from humeval_power.reporting.runs.kind import ask
    from humeval_power.reporting.runs.test import RunsTestResult

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
