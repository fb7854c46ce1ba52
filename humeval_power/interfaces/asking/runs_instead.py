"""`--run COLUMN` of `compare scores` and `accuracy test`: the same as `runs test` of the table."""

from __future__ import annotations

import click

from humeval_power.interfaces.asking.calls import ELSEWHERE, Typed
from humeval_power.interfaces.asking.declared import Calls
from humeval_power.interfaces.asking.expressions import call

_TAKEN = {"files", "item", "system", "scores", "systems", "drop_missing", "cluster", "alpha", "run_column"}


def test_of_runs(given: Typed, calls: Calls) -> None:
    """Compare the systems of one table by its runs, with what was typed of this command.

    Raises
    ------
    click.UsageError
        Several files, or options that tests of runs do not have.
    """
    if len(given["files"]) != 1:
        raise click.UsageError("--run needs one table, with a row for each item, system and run.")
    for parameter in given.context.command.params:
        name = str(parameter.name)
        is_of_means = name == "question" and given[name] == "mean"
        if given.was_stated(name) and name not in {*_TAKEN, *ELSEWHERE, "seed"} and not is_of_means:
            raise click.UsageError(
                f"{parameter.opts[0]} is no option of tests of runs, which compare means: leave it out, or see "
                "'humeval-power runs test --help'."
            )
    scores = given["scores"] or (None,)
    if len(scores) > 1:
        raise click.UsageError("--run takes one --score.")
    named = {name: given.given(name) for name in ("item", "system", "cluster", "drop_missing")}
    systems = list(given["systems"] or ()) or None
    read = call(
        "hp.runs.read_runs",
        *given["files"],
        systems=systems,
        **named,
        run=given["run_column"],
        score=scores[0],
    )
    calls.let("result", call("hp.runs.test", calls.let("table", read), alpha=given.given("alpha")))
