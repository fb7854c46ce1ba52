"""Who rated what: the numbers of the pattern, its words, and the grid that shows it."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.studies.fit.who_rated_what import (
    MOST_COLUMNS,
    MOST_ROWS,
    assignment_chart,
    cell_map,
    same_assignment,
    who_rated_what,
)

Cell = tuple[int, int, str]


def ratings_of(cells: Iterable[Cell]) -> Ratings:
    rows = [(f"w{w:04d}", f"i{i:04d}", s, 1 + (w + i) % 5) for w, i, s in cells]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(table, require_pair=False, source="table")


def blocks(seed: int, n_blocks: int = 4, size: tuple[int, int] = (3, 10)) -> list[Cell]:
    """Complete blocks of workers and items, whose names do not show which block they are of."""
    rng = np.random.default_rng(seed)
    workers, items = (rng.permutation(n_blocks * each) for each in size)
    return [
        (int(workers[w]), int(items[i]), system)
        for w in range(len(workers))
        for i in range(len(items))
        for system in "AB"
        if w // size[0] == i // size[1]
    ]


def test_a_complete_paired_table_is_said_to_be_that() -> None:
    found = who_rated_what(ratings_of((w, i, s) for w in range(4) for i in range(6) for s in "AB"))
    assert (found.kind, found.pairing, found.share) == ("complete", "all systems", 1.0)
    assert list(found.words()) == [
        "Complete: each of the 4 workers rated each of the 6 items.",
        "Paired: a worker who rated an item rated it under both systems.",
    ]


def test_blocks_are_found_however_their_workers_are_named() -> None:
    ratings = ratings_of(blocks(3))
    found = who_rated_what(ratings)
    assert found.kind == "blocks"
    assert [(part.n_workers, part.n_items, part.n_cells) for part in found.parts] == [(3, 10, 30)] * 4
    grid = cell_map(ratings)
    expected = np.kron(np.eye(4, dtype=int), np.full((3, 10), 3))
    assert grid.labels == ("A only", "B only", "both")
    np.testing.assert_array_equal(grid.levels, expected)


def test_workers_of_the_same_items_stand_together_in_a_connected_table() -> None:
    # Five groups of items; each of five kinds of worker rates two groups that follow each other.
    rng = np.random.default_rng(8)
    workers, items = rng.permutation(15), rng.permutation(40)
    cells = [
        (int(workers[w]), int(items[i]), "A")
        for w in range(15)
        for i in range(40)
        if i // 8 in (w // 3, w // 3 + 1)
    ]
    ratings = ratings_of(cells)
    grid = cell_map(ratings)
    kinds = [int(np.flatnonzero(workers == code)[0]) // 3 for code in grid.worker_order]
    assert who_rated_what(ratings).kind == "connected"
    assert kinds == sorted(kinds) or kinds == sorted(kinds, reverse=True)


def test_pairing_counts_the_systems_that_a_worker_saw_of_an_item() -> None:
    some = who_rated_what(ratings_of([(0, 0, "A"), (0, 0, "B"), (0, 1, "A"), (1, 0, "C"), (1, 1, "B")]))
    assert (some.pairing, some.n_cells, some.n_several, some.n_all) == ("some", 4, 1, 0)
    assert "in 1 of 4 pairs the worker rated the item under two systems or more" in " ".join(some.words())
    none = who_rated_what(ratings_of((w, i, "AB"[(w + i) % 2]) for w in range(4) for i in range(4)))
    assert none.pairing == "none"
    one = who_rated_what(ratings_of((w, i, "A") for w in range(4) for i in range(4)))
    assert one.pairing == "one system"


def test_items_shared_by_two_workers_are_those_that_a_loop_counts() -> None:
    rng = np.random.default_rng(5)
    cells = [(w, i, "AB"[w % 2]) for w in range(7) for i in range(20) if rng.random() < 0.4]
    ratings = ratings_of([*cells, *((w, 0, "A") for w in range(7))])
    of = [set(ratings.item[ratings.worker == w].tolist()) for w in range(ratings.n_workers)]
    counts = [len(of[v] & of[w]) for w in range(len(of)) for v in range(w)]
    shared = who_rated_what(ratings).items_shared
    assert shared is not None
    assert (shared.minimum, shared.median, shared.maximum) == (min(counts), np.median(counts), max(counts))


def test_nobody_shares_an_item_with_anybody() -> None:
    found = who_rated_what(ratings_of((w, 5 * w + i, s) for w in range(3) for i in range(5) for s in "AB"))
    assert "No two workers rated the same item: how far they agree cannot be told." in list(found.words())


def test_a_thousand_workers_and_five_thousand_items_are_put_together_without_losing_a_rating() -> None:
    rng = np.random.default_rng(1)
    cells = {(int(w), i) for i in range(5_000) for w in rng.choice(1_000, 3, replace=False)}
    ratings = ratings_of((w, i, s) for w, i in cells for s in "AB")
    grid = cell_map(ratings)
    assert grid.levels.shape == (MOST_ROWS, MOST_COLUMNS)
    assert grid.is_binned
    assert not grid.is_pair
    assert int(grid.workers_in_row.sum()) == 1_000
    assert int(grid.items_in_column.sum()) == 5_000
    assert sorted(grid.worker_order.tolist()) == list(range(1_000))
    chart = assignment_chart(grid, ratings.worker_names, "who", "Who?", "A grid.")
    assert chart.x.label == "Rows: 1,000 workers, 20 to 21 a row; columns: 5,000 items, 52 to 53 a column"
    assert chart.y.names == ("",) * 48


def test_shades_are_quarters_of_the_largest_share() -> None:
    # One worker sees four of four systems of an item, another two, another one.
    cells = (
        [(0, i, s) for i in (0, 1) for s in "ABCD"]
        + [(1, i, s) for i in (0, 1) for s in "AB"]
        + [(2, 0, "A")]
    )
    grid = cell_map(ratings_of(cells))
    assert grid.labels == ("25 %", "50 %", "all")
    by_code = grid.levels[np.argsort(grid.worker_order)][:, np.argsort(grid.item_order)]
    assert by_code.tolist() == [[3, 3], [2, 2], [1, 0]]


def test_the_same_assignment_is_known_again() -> None:
    one, other = ratings_of(blocks(3)), ratings_of(blocks(3)[:-1])
    assert same_assignment(one, ratings_of(reversed(blocks(3))))
    assert not same_assignment(one, other)


def test_check_tells_it_in_words_and_in_numbers(tmp_path: Path) -> None:
    rows = [f"w{w},i{i},{s},{c},{1 + (w + i) % 5}" for w, i, s in blocks(3) for c in ("easy", "hard")]
    path = tmp_path / "ratings.csv"
    path.write_text("worker,item,system,criterion,rating\n" + "\n".join(rows) + "\n")
    shown = run("check", path)
    assert shown.stdout.count("Who rated what\n  - 120 of the 480 pairs") == 1
    record = json.loads(run("check", path, "--json").stdout)
    for each in record["criteria"]:
        who = each["who_rated_what"]
        assert (who["kind"], who["n_parts"], who["n_cells"]) == ("blocks", 4, 120)
        assert who["parts"][0] == {"n_workers": 3, "n_items": 10, "n_cells": 30}
        assert who["share_of_cells"] == pytest.approx(0.25)


def test_check_says_once_what_criteria_share_and_sets_side_by_side_what_differs(tmp_path: Path) -> None:
    ratings = [
        (f"w{w},i{i},{s},{c}", 1 + (3 * w + i) % 5)
        for c in ("fluency", "coverage", "thin", "alone")
        for w in range(4 if c != "thin" else 2)
        for i in range(6)
        for s in ("AB" if c != "alone" else "A")
    ]
    path = tmp_path / "ratings.csv"
    rows = [f"{key},{20 * value if ',coverage' in key else value}" for key, value in ratings]
    path.write_text("worker,item,system,criterion,rating\n" + "\n".join(rows) + "\n")
    shown = run("check", path).stdout
    lines = shown.splitlines()
    assert lines[1] == "3 of 4 criteria can be analysed, each by itself. alone cannot be: it has only"
    assert sum(line.split()[:5] == ["fluency", "48", "1", "to", "5"] for line in lines) == 1
    assert sum(line.split()[:5] == ["coverage", "48", "0", "to", "100"] for line in lines) == 1
    titles = [line for line in lines if line.startswith(("Who rated what", "Design"))]
    groups = ("alone", "coverage, fluency", "thin")
    assert titles == [f"{title}: {group}" for title in ("Design", "Who rated what") for group in groups]
    assert "The scale of each criterion is taken from its ratings, and they differ." in shown
    assert "The scale is taken" not in shown
    rows = [line.split() for line in lines[lines.index("Means") :]]
    assert ["alone", "3", "-"] in rows
    assert ["thin", "2.917", "2.917"] in rows
    assert shown.count("The effect is B - A") == 1


def test_check_says_which_column_it_took_as_what(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    rows = [f"w{w},i{i},{s},{1 + (w + i) % 5}" for w in range(3) for i in range(4) for s in "AB"]
    path.write_text("annotator,doc_id,model,score\n" + "\n".join(rows) + "\n")
    shown = run("check", path, "--item", "doc_id")
    assert "worker from 'annotator', item from 'doc_id'" in shown.stdout
