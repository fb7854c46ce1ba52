"""`runs`, and `--run` of other commands, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.scenarios.questions import Kind
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


_OF_PILOT = ("kind", "family")
_DEVIATIONS = (
    "sd_item",
    "icc",
    "sd_prompt_slope",
    "sd_residual",
    "sd_item_level",
    "sd_prompt_level",
    "baseline",
)
_OF_PLAN = ("cluster_size", "cluster_cv", "alternative", "margin", "alpha")


def parameters_of(typed: Typed, source: Source) -> Code:
    """What scores vary by: a pilot's, or as it was typed."""
    if typed["pilot"] is not None:
        typed.refuse((*_DEVIATIONS, "sd_run", "sd_run_a", "sd_run_b"), "changes what the pilot found")
        typed.allow(*_OF_PILOT)
        systems = list(typed["systems"] or ()) or None
        return source.let("parameters", call("hp.runs.read_pilot", typed["pilot"], systems=systems))
    both = typed["sd_run"]
    runs = {name: both if typed[name] is None else typed[name] for name in ("sd_run_a", "sd_run_b")}
    named = {name: typed[name] for name in (*_OF_PILOT, *_DEVIATIONS)}
    typed.allow("systems")
    return source.let("parameters", call("hp.runs.RunsParameters", **named, **runs))


def _planned(typed: Typed, source: Source, n: Value, effect: Value) -> Call:
    parameters = parameters_of(typed, source)
    both, prompts = typed["runs"], typed["prompts"]
    runs = {
        name: prompts or (both if typed[name] is None else typed[name]) for name in ("runs_a", "runs_b")
    }
    plan = call("hp.runs.RunsPlan", n_items=n, **runs, **{name: typed.given(name) for name in _OF_PLAN})
    return call("hp.runs.runs_scenario", parameters, plan, effect=effect)


RUNS = Kind(_planned, lambda _typed, comparison: call("hp.runs.farthest_effect", comparison))


def budget(typed: Typed, source: Source) -> None:
    """A budget divided between items and runs."""
    parameters = parameters_of(typed, source)
    plan = {name: typed.given(name) for name in _OF_PLAN}
    prices = ("cost_per_call", "cost_per_item", "cost_per_prompt", "max_items", "max_runs")
    found = call(
        "hp.runs.budget",
        parameters,
        call("hp.runs.RunsPlan", n_items=2, runs_a=2, runs_b=2, **plan),
        effect=typed["effect"],
        total=typed["total"],
        **{name: typed.given(name) for name in prices},
    )
    source.let("result", found)
