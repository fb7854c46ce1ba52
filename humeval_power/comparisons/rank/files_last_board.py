"""The record of a board, as `-o` and `--json` write it, read back as the last board."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humeval_power.comparisons.rank.last_board import LastBoard, Ranks
from humeval_power.comparisons.rank.leaderboard import alpha_of_looks
from humeval_power.errors import refusal
from humeval_power.files.json_text import read_object

_HINT = "Give the record of the last board: its folder, its record.json, or what --json wrote."


def read_last_board(path: str | Path, *, schema: str) -> LastBoard:
    """The ranks of the last board, from its record or from the folder that `-o` wrote.

    Raises
    ------
    InputError
        Another document, or a board of another kind.
    """
    place = Path(path) / "record.json" if Path(path).is_dir() else Path(path)
    record = read_object(place, hint=_HINT)
    if record.get("schema") != schema:
        rule = f"has the schema {str(record.get('schema'))[:60]!r}; {schema!r} is needed."
        raise refusal(rule, _HINT, str(place))
    look, alpha, only = record.get("look"), record.get("alpha"), record.get("only_system")
    systems = record.get("systems")
    rows = systems if isinstance(systems, list) else []
    ranks = dict(pair for pair in map(_ranks, rows) if pair is not None)
    if not (
        len(ranks) == len(rows) >= 2
        and isinstance(alpha, float)
        and 0 < alpha < 0.5
        and (look is None or (type(look) is int and 0 < look < 10**6))
        and (only is None or only in ranks)
    ):
        rule = "has a board that does not agree with itself: alpha, look, or the ranks of its systems."
        raise refusal(rule, "Write it again, or undo the change.", str(place))
    return LastBoard(ranks, alpha_of_looks(alpha, look), look, only, str(path))


def _ranks(row: Any) -> tuple[str, Ranks] | None:
    """The name and the ranks of a row, where it has them."""
    if not isinstance(row, Mapping):
        return None
    name, low, high = row.get("system"), row.get("rank_low"), row.get("rank_high")
    if type(name) is not str or type(low) is not int or type(high) is not int or not 1 <= low <= high:
        return None
    return name, (low, high)
