"""`runs`, and `--run` of other commands, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Code, Value, call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed


def check(typed: Typed, source: Source) -> None:
    """Which kind of runs a table holds."""
    source.let("result", call("hp.runs.check", _table(typed, source)))


def test(typed: Typed, source: Source) -> None:
    """Systems compared by repeated runs."""
    asked: dict[str, Value] = {
        name: typed.given(name) for name in ("kind", "family", "alternative", "margin", "alpha")
    }
    source.let("result", call("hp.runs.test", _table(typed, source), **asked))


def _table(typed: Typed, source: Source) -> Code:
    named = {name: typed.given(name) for name in ("item", "system", "run", "score", "systems", "cluster")}
    found = call("hp.runs.read_runs", typed["file"], **named, drop_missing=typed.given("drop_missing"))
    source.let("table", found)
    return Code("table")


def of_column(typed: Typed, source: Source) -> None:
    """The same from `--run COLUMN` of another command."""
    typed.allow("question")
    scores = typed["score"] or (None,)
    named = {name: typed.given(name) for name in ("item", "system", "systems", "cluster", "drop_missing")}
    found = call("hp.runs.read_runs", *typed["files"], **named, run=typed["run_column"], score=scores[0])
    source.let("table", found)
    source.let("result", call("hp.runs.test", Code("table"), alpha=typed.given("alpha")))
