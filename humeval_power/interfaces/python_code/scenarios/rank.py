"""`rank`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import call
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
