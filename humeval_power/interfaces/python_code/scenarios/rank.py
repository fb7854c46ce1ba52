"""`rank`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Code, call, flat
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import GapError, Typed


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
