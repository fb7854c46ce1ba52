"""Scores of several runs: generations of an answer, prompts, seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.inference.runs.run_table import RunTable
    from humeval_power.reporting.runs.kind import RunsKindResult


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
