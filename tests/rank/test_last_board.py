"""The board before this one: its ranks beside those of now, the look that it counts, and what is refused."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import refusal_of, run, run_json

import humeval_power as hp
from humeval_power.comparisons.rank.last_board import Move
from humeval_power.comparisons.rank.result import pairs_chart
from humeval_power.errors import InputError

NAMES = ("a", "b", "c", "d")


def scores(folder: Path, n: int, names: tuple[str, ...] = NAMES) -> Path:
    """The first n of the same items; each system is better than the one before."""
    drawn = np.random.default_rng(3).normal(size=(400, len(NAMES))) + 0.3 * np.arange(len(NAMES))
    path = folder / f"scores{n}{len(names)}.csv"
    pd.DataFrame(drawn, columns=list(NAMES))[list(names)].head(n).to_csv(path, index=False)
    return path


def board(folder: Path, n: int, *more: str, names: tuple[str, ...] = NAMES) -> tuple[Path, dict]:
    path = folder / f"board{n}.json"
    run("rank", "scores", scores(folder, n, names), *more, "--json", "-o", path)
    return path, json.loads(path.read_text())


def ranks(record: dict) -> dict[str, list[int]]:
    return {each["system"]: [each["rank_low"], each["rank_high"]] for each in record["systems"]}


def test_a_look_is_counted_from_the_record_of_the_last(tmp_path: Path) -> None:
    first, one = board(tmp_path, 40, "--look", "1")
    second, two = board(tmp_path, 120, "--last-board", str(first))
    _, three = board(tmp_path, 400, "--last-board", str(second))
    assert [each["look"] for each in (one, two, three)] == [1, 2, 3]
    # 6 alpha / (pi j)^2, so that all of endless looks have alpha together
    levels = [6 * 0.05 / (math.pi * j) ** 2 for j in (1, 2, 3)]
    assert [each["alpha"] for each in (one, two, three)] == pytest.approx(levels)
    by_hand = run_json("rank", "scores", scores(tmp_path, 120), "--look", 2)
    assert by_hand["systems"] == two["systems"]


def test_ranks_stand_beside_those_of_the_last_board(tmp_path: Path) -> None:
    first, one = board(tmp_path, 20, "--look", "1", names=NAMES[:3])
    _, two = board(tmp_path, 400, "--last-board", str(first))
    before, now = map(ranks, (one, two))
    known = two["last_board"]
    assert known["joined"] == ["d"]
    assert known["n_compared"] == 3
    assert {each["system"]: each["before"] for each in known["moves"]} == {
        name: before[name] for name in before if before[name] != now[name]
    }
    assert all(each["now"] == now[each["system"]] for each in known["moves"])
    assert known["moves"]
    text = run("rank", "scores", scores(tmp_path, 400), "--last-board", first).stdout
    assert "Since the last board" in text
    assert "d joined" in text
    assert one["last_board"] is None


def test_a_folder_that_was_written_is_the_last_board(tmp_path: Path) -> None:
    folder = tmp_path / "board"
    run("rank", "scores", scores(tmp_path, 40), "-o", folder)
    result = hp.rank.scores(pd.read_csv(scores(tmp_path, 400)), last_board=folder)
    assert result.last is not None
    assert set(result.last.ranks) == set(NAMES)
    assert result.found.board.look is None  # that of before was no look, and this one is none


@each_case(
    ("before", "now", "direction", "apart"),
    [
        ((3, 7), (1, 4), "up", False),
        ((3, 7), (1, 2), "up", True),
        ((1, 4), (2, 4), "narrower", False),
        ((2, 3), (1, 3), "wider", False),
        ((1, 2), (3, 5), "down", True),
    ],
)
def test_ranks_move_up_down_or_become_narrower(before, now, direction, apart) -> None:
    move = Move("a", before, now)
    assert (move.direction, move.is_apart) == (direction, apart)


def test_what_the_looks_before_do_not_leave_is_refused(tmp_path: Path) -> None:
    look, record = board(tmp_path, 40, "--look", "3")
    once, _ = board(tmp_path, 60)
    table = scores(tmp_path, 120)
    for words, said in (
        (("--last-board", look, "--look", 3), "is look 3"),
        (("--last-board", look, "--alpha", 0.1), "--alpha 0.05"),
        (("--last-board", once, "--look", 2), "nothing is left"),
        (("--last-board", table), "JSON"),
    ):
        assert said in refusal_of("rank", "scores", table, *words)
    changed = tmp_path / "changed.json"
    for key, value in (("alpha", "x"), ("look", True), ("systems", [1, 2]), ("only_system", "nobody")):
        changed.write_text(json.dumps({**record, key: value}))
        with pytest.raises(InputError, match="does not agree"):
            hp.rank.scores(pd.read_csv(table), last_board=changed)
    changed.write_text(json.dumps({**record, "schema": "humeval_power/rank_battles/2"}))
    with pytest.raises(InputError, match="rank_scores/2"):
        hp.rank.scores(pd.read_csv(table), last_board=changed)


def test_a_record_in_the_place_of_a_table_is_named(tmp_path: Path) -> None:
    path, _ = board(tmp_path, 40)
    message = refusal_of("rank", "battles", path)
    assert "is a record of humeval-power (rank_scores), which holds no rows" in message


@pytest.mark.parametrize("n_systems", [4, 40])
def test_the_matrix_of_pairs_has_a_cell_for_each_difference_that_is_shown(n_systems: int) -> None:
    drawn = np.random.default_rng(5).normal(size=(50, n_systems)) + np.linspace(0, 2, n_systems)
    known = hp.rank.scores(pd.DataFrame(drawn, columns=[f"s{k}" for k in range(n_systems)])).found.board
    chart = pairs_chart(known)
    first = 0 if chart.y.names else 1
    cells = {
        (int(row) - first, column, series.name == "shown to be better")
        for series in chart.series
        if series.kind == "cells"
        for row, low, high in zip(series.y, series.low, series.high, strict=True)
        for column in range(int(low), int(high))
    }
    places = {each.system: place for place, each in enumerate(known.places)}
    shown = [(places[one.better], places[one.worse]) for one in known.pairs if one.significant]
    assert shown
    assert cells == {(i, j, True) for i, j in shown} | {(j, i, False) for i, j in shown}
    assert sum(int(row[1]) for row in chart.table().rows) == known.n_apart
