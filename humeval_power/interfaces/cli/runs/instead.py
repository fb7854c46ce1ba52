"""`--run COLUMN` of `compare scores` and `accuracy test`: the same as `runs test` of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from humeval_power.api import runs

if TYPE_CHECKING:
    from humeval_power.reporting.runs.test import RunsTestResult

run_option = click.option(
    "--run",
    "run_column",
    metavar="COLUMN",
    help="Column of the run: generation, prompt, seed. Then as `runs test`, which has more options.",
)
_TAKEN = {"files", "item", "system", "score", "systems", "drop_missing", "cluster", "alpha", "run_column"}
_OF_OUTPUT = {"as_json", "format", "details", "output", "force", "code", "quiet", "jobs", "seed"}


def test_of_runs(files: Sequence[str], column: str) -> RunsTestResult:
    """Compare the systems of one table by its runs, with what was typed of this command.

    Raises
    ------
    click.UsageError
        Several files, or options that tests of runs do not have.
    """
    context = click.get_current_context()
    asked = context.params
    if len(files) != 1:
        raise click.UsageError("--run needs one table, with a row for each item, system and run.")
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP):
            continue
        is_of_means = name == "question" and asked[name] == "mean"
        if name not in _TAKEN | _OF_OUTPUT and not is_of_means:
            raise click.UsageError(
                f"{parameter.opts[0]} is no option of tests of runs, which compare means: leave it out, or see "
                "'humeval-power runs test --help'."
            )
    scores = asked.get("score") or (None,)
    if len(scores) > 1:
        raise click.UsageError("--run takes one --score.")
    from humeval_power.interfaces.formats.runs import read_runs

    table = read_runs(
        files[0],
        item=asked.get("item"),
        system=asked.get("system"),
        run=column,
        score=scores[0],
        systems=asked.get("systems") or (),
        cluster=asked.get("cluster"),
        drop_missing=bool(asked.get("drop_missing")),
    )
    return runs.test(table, alpha=asked["alpha"])
