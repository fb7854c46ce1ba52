"""`rank`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, flat
from humeval_power.interfaces.python_code.scenarios.questions import Kind
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import GapError, Typed

_LARGEST = 0.45  # where the search for an effect of battles ends


def battles(typed: Typed, source: Source) -> None:
    """A leaderboard from battles."""
    if typed["table"] == "-":
        raise GapError("standard input is read once")
    read = call(
        "hp.rank.read_battles",
        typed["table"],
        systems=list(typed["systems"]) or None,
        cluster=typed["cluster"],
    )
    found = call(
        "hp.rank.battles",
        source.let("table", read),
        **{name: typed.given(name) for name in ("ties", "position_bias", "alpha", "seed")},
    )
    source.let("result", found)


def scores(typed: Typed, source: Source) -> None:
    """A leaderboard from scores."""
    if "-" in typed["files"]:
        raise GapError("standard input is read once")
    score = typed["score"]
    read = call(
        "hp.compare.read_scores",
        *typed["files"],
        **{name: typed.given(name) for name in ("item", "system", "cluster")},
        scores=None if score is None else [score],
        systems=list(typed["systems"]) or None,
        drop_missing=typed.given("drop_missing"),
    )
    table = Code(f"next(iter({flat(source.let('tables', read))}.values()))")
    kept = {name: typed.given(name) for name in ("lower_is_better", "alpha", "seed")}
    source.let("result", call("hp.rank.scores", table, **kept))


def _build(typed: Typed, _source: Source, n: Value, effect: Value) -> Call:
    systems, alpha = typed["n_systems"], typed.given("alpha")
    if typed["sd"] is not None:
        typed.allow("tie_share", "design_effect")
        return call("hp.rank.neighbour_scores", n, effect, sd=typed["sd"], n_systems=systems, alpha=alpha)
    return call(
        "hp.rank.NeighbourBattles",
        n,
        effect=effect,
        n_systems=systems,
        tie_share=typed.given("tie_share"),
        design_effect=typed.given("design_effect"),
        alpha=alpha,
    )


def _largest(typed: Typed, _comparison: Code) -> Value:
    return _LARGEST if typed["sd"] is None else 10.0 * float(typed["sd"])


RANK = Kind(_build, _largest)
