"""From a data frame to checked ratings: what is accepted, what is said, what is refused."""

import decimal
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.origin import infer_scale
from humeval_power.checking.structure import connected_parts
from humeval_power.errors import InputError, ScaleError
from humeval_power.files.exports.platforms import read_export
from humeval_power.files.tables import read_ratings, read_table
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.fit import who_rated_what

CELLS = list(itertools.product(["w1", "w2", "w3"], ["i1", "i2", "i3", "i4"], ["A", "B"]))


def small_table(**changes: Any) -> pd.DataFrame:
    """3 workers x 4 items x 2 systems, ratings 1 to 5 as text; `changes` replace columns."""
    table = pd.DataFrame(CELLS, columns=["worker", "item", "system"])
    table["rating"] = [str(1 + k % 5) for k in range(len(CELLS))]
    return table.assign(**changes)


def with_cell(row: int, column: str, value: object) -> pd.DataFrame:
    """The small table with one cell changed; rows are counted as a spreadsheet does."""
    table = small_table().astype(object)
    values: list[Any] = table[column].tolist()
    values[row - 2] = value
    table[column] = pd.Series(values, dtype=object)
    return table


def message(table: pd.DataFrame, **options: Any) -> str:
    """The error that a table meets, as a terminal tells it."""
    with pytest.raises(InputError) as caught:
        ratings_from_table(table, **options)
    return "\n".join(map(str, caught.value.problems))


def flow_of(ratings: Ratings) -> list[tuple[str, int]]:
    return [(step.step, step.rows) for step in ratings.flow]


def test_codes_point_to_sorted_names_whatever_the_order_of_the_rows() -> None:
    forward = ratings_from_table(small_table())
    backward = ratings_from_table(small_table().iloc[::-1])
    assert forward.worker_names == backward.worker_names == ("w1", "w2", "w3")
    assert forward.item_names == ("i1", "i2", "i3", "i4")
    assert forward.system_names == ("A", "B")
    assert forward.worker.tolist() == backward.worker.tolist()[::-1]
    assert forward.worker.dtype == forward.item.dtype == forward.system.dtype == np.int64


def test_ratings_move_to_the_unit_interval_and_back() -> None:
    ratings = ratings_from_table(small_table(), scale=RatingScale.parse("1:5"))
    raw = [float(1 + k % 5) for k in range(24)]
    assert ratings.rating.tolist() == [(value - 1) / 4 for value in raw]
    assert ratings.raw_rating == pytest.approx(raw)


def test_lower_is_better_turns_the_unit_scale_round() -> None:
    table = small_table()
    up = ratings_from_table(table, scale=RatingScale.parse("1:5"))
    down = ratings_from_table(table, scale=RatingScale.parse("1:5"), lower_is_better=True)
    assert down.rating == pytest.approx(1 - up.rating)
    assert down.raw_rating == pytest.approx(up.raw_rating)


def test_typed_columns_give_the_same_ratings_as_text() -> None:
    text = ratings_from_table(small_table(item=[i for _, i, _ in CELLS]))
    typed = small_table()
    typed["rating"] = typed["rating"].astype(float)
    typed["worker"] = typed["worker"].astype("category")
    assert ratings_from_table(typed).rating.tolist() == text.rating.tolist()
    assert ratings_from_table(typed).worker_names == text.worker_names


def test_ids_keep_their_leading_zeros_and_may_be_called_na() -> None:
    workers = {"w1": "007", "w2": "NA", "w3": "7"}
    ratings = ratings_from_table(small_table(worker=[workers[w] for w, _, _ in CELLS]))
    assert ratings.worker_names == ("007", "7", "NA")


def test_whole_number_ids_in_a_float_column_lose_the_decimal_point() -> None:
    # pandas makes floats of whole numbers where one cell of the column is empty
    ratings = ratings_from_table(small_table(worker=[float(w[1]) for w, _, _ in CELLS]))
    assert ratings.worker_names == ("1", "2", "3")


@each_case(
    ("columns", "said"),
    [
        (["WorkerId", "item", "system", "rating"], "Column 'WorkerId' is read as the worker."),
        (["worker", "segment_id", "system", "rating"], "Column 'segment_id' is read as the item."),
        (["worker", "item", "model_name", "rating"], "Column 'model_name' is read as the system."),
        (["worker", "item", "system", "Score"], "Column 'Score' is read as the rating."),
        (["Worker", "item", "system", "rating"], "Column 'Worker' is read as the worker."),
    ],
)
def test_an_obvious_synonym_is_accepted_and_said(columns: list[str], said: str) -> None:
    assert said in ratings_from_table(small_table().set_axis(columns, axis=1)).notices


def test_a_column_named_by_the_user_wins_over_the_standard_name() -> None:
    table = small_table(prompt=[f"p{i}" for _, i, _ in CELLS])
    assert ratings_from_table(table, item="prompt").item_names == ("pi1", "pi2", "pi3", "pi4")


def test_the_standard_name_wins_over_a_synonym() -> None:
    table = small_table(prompt="one")
    assert ratings_from_table(table).item_names == ("i1", "i2", "i3", "i4")


COLUMN_ERRORS = [
    (
        ["rater", "annotator", "system", "rating"],
        {"item": "system"},
        "table: several columns could be the worker: rater, annotator. Say which: --worker rater",
    ),
    (
        ["who", "what", "system", "rating"],
        {},
        "table: no column was found for: worker, item. The columns are: who, what, system, rating. "
        "Name the right ones: --worker COLUMN --item COLUMN",
    ),
    (
        ["worker", "item", "system", "rating"],
        {"item": "itme"},
        "table: there is no column 'itme', which --item names. Did you mean 'item'?",
    ),
    (
        ["worker", "item", "system", "rating"],
        {"item": "worker"},
        "table, column 'worker': one column cannot be worker and item at once. "
        "Name a different column for each.",
    ),
    (
        ["worker", "item", "rating", "rating"],
        {"system": "item"},
        "table, column 'rating': two columns bear this name. Rename one of them.",
    ),
]


@each_case(("columns", "named", "expected"), COLUMN_ERRORS)
def test_a_column_that_is_not_clear_is_an_error_with_a_remedy(
    columns: list[str], named: dict[str, str], expected: str
) -> None:
    assert expected in message(small_table().set_axis(columns, axis=1), **named)


CELL_ERRORS = [
    (
        with_cell(5, "rating", "Rare"),
        {},
        "table, row 5, column 'rating': value 'Rare': a rating must be a number. "
        "Correct it, or if it means 'no rating', declare it with --missing VALUE.",
    ),
    (
        with_cell(5, "rating", "3,5"),
        {},
        "table, row 5, column 'rating': value '3,5': a rating is written with a decimal point, "
        "not a comma.",
    ),
    (
        small_table(rating=["3,5", "2,5", "1,5"] * (len(CELLS) // 3)),
        {},
        f"value '3,5': a rating is written with a decimal point, not a comma. ({len(CELLS) - 1} more rows with",
    ),
    (with_cell(5, "rating", "inf"), {}, "row 5, column 'rating': value 'inf': a rating must be a number."),
    (with_cell(5, "rating", "1_0"), {}, "row 5, column 'rating': value '1_0': a rating must be a number."),
    (
        with_cell(25, "rating", "9"),
        {"scale": RatingScale.parse("1:5")},
        "table, row 25, column 'rating': value '9': a rating must lie on the declared scale 1 to 5.",
    ),
    (
        with_cell(3, "worker", " "),
        {},
        "table, row 3, column 'worker': the worker is blank, but there is a rating. "
        "Fill in the worker, or delete the row.",
    ),
    (with_cell(3, "item", None), {}, "table, row 3, column 'item': the item is blank"),
    (
        with_cell(4, "worker", "W1"),
        {},
        "table, column 'worker': 'W1' (1 row, first in row 4) and 'w1' (7 rows, first in row 2) "
        "differ only by case or blanks and look like one worker. "
        "Spell them alike; if they are different workers, rename one.",
    ),
    (
        with_cell(4, "system", "a"),
        {"systems": ("A", "B")},
        "column 'system': 'A' (11 rows, first in row 2) and 'a' (1 row, first in row 4) differ only",
    ),
    (
        small_table(worker="w1"),
        {},
        "table, column 'worker': there is only one worker; at least 2 are needed to see how much "
        "workers differ.",
    ),
    (small_table(item="i1"), {}, "column 'item': there is only one item; at least 2 are needed"),
    (
        small_table(rating="4"),
        {},
        "table, column 'rating': all 24 ratings are 4; without differences nothing can be estimated.",
    ),
    (
        small_table(system="A"),
        {},
        "table, column 'system': two systems are compared, but there is only one: A (24).",
    ),
    (
        small_table(system=["A", "B", "C"] * 8),
        {},
        "table, column 'system': there are 3 systems: A (8), B (8), C (8). "
        "'analyze' compares them all: --all-pairs, or each with one of them: --baseline A (with --model joint -o "
        "FILE.json it writes what 'power' and 'plan' take); or choose two, A and B (the effect is B - A): "
        "--systems A,B",
    ),
    (
        small_table(),
        {"systems": ("A", "C")},
        "table: there is no system 'C'. There are: A, B. If it is called 'B' here, name both so: --systems A,B.",
    ),
    (small_table(), {"systems": ("A", "A")}, "a system cannot be compared with itself: 'A'."),
    (
        small_table(criterion=["fluency", "adequacy"] * 12),
        {},
        "table, column 'criterion': there are 2 criteria: adequacy (12), fluency (12). "
        "'analyze' takes them all: --criteria all; or choose one: --criterion adequacy",
    ),
    (
        small_table(criterion="fluency"),
        {"criterion": "fluencey"},
        "table: there is no criterion 'fluencey'. Did you mean 'fluency'?",
    ),
    (
        small_table(),
        {"criterion": "fluency"},
        "there is no criterion 'fluency'. Name its column with --criterion-column COLUMN",
    ),
    (
        small_table(rating="N/A"),
        {},
        "table: no rating is left (24 dropped: rating is missing ('N/A': 24)).",
    ),
    (small_table().head(0), {}, "table: the table has a header but no rows."),
]


@each_case(("table", "options", "expected"), CELL_ERRORS)
def test_a_problem_is_told_with_its_place_its_rule_and_a_remedy(
    table: pd.DataFrame, options: dict[str, Any], expected: str
) -> None:
    assert expected in message(table, **options)


def test_all_problems_are_told_at_once() -> None:
    table = with_cell(5, "rating", "Rare")
    table.loc[10, "worker"] = ""
    table.loc[12, "item"] = "I1"
    with pytest.raises(InputError) as caught:
        ratings_from_table(table)
    assert [problem.column for problem in caught.value.problems] == ["worker", "item", "rating"]


def test_ten_thousand_bad_rows_stay_readable() -> None:
    table = pd.concat([small_table()] * 500, ignore_index=True)
    table["rating"] = [f"bad{k}" if k >= 24 else value for k, value in enumerate(table["rating"])]
    lines = message(table).splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("table, row 26, column 'rating': value 'bad24'")
    assert "and 11,971 more rows like this" in lines[-1]


def test_the_same_bad_value_in_many_rows_is_told_once_with_its_count() -> None:
    table = small_table().astype(object)
    table.loc[3:9, "rating"] = "Invalid"
    lines = message(table).splitlines()
    assert len(lines) == 1
    assert "row 5, column 'rating': value 'Invalid'" in lines[0]
    assert "(6 more rows with this value.)" in lines[0]


def test_rows_are_counted_by_an_index_of_that_name() -> None:
    table = with_cell(5, "rating", "Rare")
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    assert "row 4, column 'rating': value 'Rare'" in message(table)


@each_case("code", [*MISSING_CODES, "n/a", " NA ", None, np.nan])
def test_a_missing_code_drops_the_row_and_is_counted(code: object) -> None:
    ratings = ratings_from_table(with_cell(5, "rating", code))
    assert flow_of(ratings) == [("read", 24), ("dropped", 1), ("analysed", 23)]
    assert ratings.flow[1].reason.startswith("rating is missing (")


def test_a_declared_missing_code_also_matches_other_spellings_of_the_number() -> None:
    table = with_cell(5, "rating", "-1.0")
    ratings = ratings_from_table(table, missing=("-1",))
    assert flow_of(ratings) == [("read", 24), ("dropped", 1), ("analysed", 23)]


def test_the_flow_names_every_reason_in_order_and_adds_up() -> None:
    table = small_table(system=["A", "B", "C"] * 8, criterion=["x"] * 20 + ["y"] * 4).astype(object)
    table.loc[0, "rating"] = "N/A"
    table.loc[len(table)] = ["", "", "", "", ""]
    ratings = ratings_from_table(table, criterion="x", systems=("A", "B"))
    assert [(s.step, s.rows, s.reason) for s in ratings.flow] == [
        ("read", 25, ""),
        ("dropped", 1, "row is empty"),
        ("dropped", 4, "criterion is not 'x'"),
        ("dropped", 6, "system is neither 'A' nor 'B'"),
        ("dropped", 1, "rating is missing ('N/A': 1)"),
        ("analysed", 13, ""),
    ]
    assert ratings.n_ratings == 13


@given(
    cells=st.lists(
        st.tuples(
            st.sampled_from(["w1", "w2", "w3"]),
            st.sampled_from(["i1", "i2", "i3"]),
            st.sampled_from(["A", "B", "C"]),
            st.sampled_from(["1", "2", "5", "", "NA"]),
            st.sampled_from(["x", "y"]),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_every_row_read_is_either_dropped_or_analysed(cells: list[tuple[str, ...]]) -> None:
    table = pd.DataFrame(cells, columns=["worker", "item", "system", "rating", "criterion"])
    try:
        ratings = ratings_from_table(table, criterion="x", systems=("A", "B"))
    except InputError:
        return  # too few workers, items or ratings of that pair
    first, *dropped, last = ratings.flow
    assert first.rows == len(cells)
    assert first.rows - sum(step.rows for step in dropped) == last.rows == ratings.n_ratings
    expected = [float(c[3]) for c in cells if c[2] in "AB" and c[4] == "x" and c[3] not in ("", "NA")]
    assert ratings.raw_rating == pytest.approx(expected)


def test_the_pair_decides_which_system_is_a() -> None:
    ratings = ratings_from_table(small_table(), systems=("B", "A"))
    assert ratings.system_names == ("B", "A")
    assert ratings.system.tolist() == [1, 0] * 12


def test_a_pair_of_many_systems_equals_reading_that_pair() -> None:
    table = small_table(system=["A", "B", "C"] * 8)
    paired = ratings_from_table(table, require_pair=False).pair("C", "A")
    direct = ratings_from_table(table, systems=("C", "A"))
    for field in ("worker", "item", "system", "rating"):
        assert getattr(paired, field).tolist() == getattr(direct, field).tolist()
    assert paired.worker_names == direct.worker_names
    assert paired.item_names == direct.item_names
    assert paired.system_names == direct.system_names == ("C", "A")
    assert flow_of(paired) == flow_of(direct) == [("read", 24), ("dropped", 8), ("analysed", 16)]
    assert paired.notices == direct.notices
    assert paired.scale == direct.scale


def test_the_design_of_a_complete_table_is_crossed() -> None:
    design = ratings_from_table(small_table()).design()
    assert (design.kind, design.n_workers, design.n_items) == ("crossed", 3, 4)


def test_only_two_systems_make_a_design() -> None:
    with pytest.raises(InputError, match="choose them with pair"):
        ratings_from_table(small_table(system=["A", "B", "C"] * 8), require_pair=False).design()


def notice(table: pd.DataFrame, **options: Any) -> str:
    return "\n".join(ratings_from_table(table, **options).notices)


def test_what_is_unusual_is_said() -> None:
    twice = pd.concat([small_table(), small_table().head(3)])
    said = "3 of 24 worker x item x system cells hold more than one rating (up to 2)"
    assert f"{said}, all by 'w1'." in notice(twice)
    by_two = pd.concat([small_table(), small_table().iloc[[0, -1]]])
    assert f"{said.replace('3', '2', 1)}. They are kept" in notice(by_two)
    nested = small_table(item=[i + s for _, i, s in CELLS])
    assert "WARNING: every item belongs to one system only" in notice(nested)
    mostly = small_table(item=[i + (s if i != "i1" else "") for _, i, s in CELLS])
    assert "WARNING: 6 of 7 items were rated under one system only" in notice(mostly)
    split = small_table(worker=[w + s for w, _, s in CELLS])
    assert "WARNING: every worker rated one system only" in notice(split)
    one = small_table(worker=[w + (s if w == "w1" else "") for w, _, s in CELLS])
    assert "2 of 4 workers rated one system only: w1A, w1B." in notice(one)
    blanks = with_cell(3, "worker", " w1 ")
    assert "Blanks around 1 ids in column 'worker' were removed." in notice(blanks)
    bored = pd.concat([small_table()] * 2, ignore_index=True)
    bored.loc[bored["worker"] == "w2", "rating"] = "3"
    assert "1 worker gave the same rating every time, 10 times or more: w2." in notice(bored)
    wide = notice(small_table(), scale=RatingScale.parse("0:100"))
    assert "less than half of the declared scale 0 to 100. Is --scale right?" in wide
    between = notice(with_cell(2, "rating", "2.5"), scale=RatingScale.parse("1:5"))
    assert "1 of 24 ratings lie between the 5 points of the scale 1 to 5." in between
    assert "there is only one system" in notice(small_table(system="A"), require_pair=False)
    assert "The effect is B - A; --systems B,A turns it round" in notice(small_table())


@each_case(
    ("observed", "low", "high", "points"),
    [
        ([0, 1], 0, 1, 2),
        ([2, 4], 1, 5, 5),
        ([1, 6], 1, 7, 7),
        ([0, 9], 0, 10, 11),
        ([-2, 1], -2, 2, 5),
        ([3, 80], 0, 100, None),
        ([0.1, 0.9], 0, 1, None),
        ([1, 4.5], 1, 5, None),
        ([1.7, 13.5], 1.7, 13.5, None),
        ([-25, -0.1], -25, -0.1, None),
    ],
)
def test_the_scale_is_the_first_common_one_that_holds_all_ratings(
    observed: list[float], low: float, high: float, points: int | None
) -> None:
    scale = infer_scale(np.array(observed, dtype=np.float64), higher_is_better=True)
    assert (scale.low, scale.high, scale.points, scale.source) == (low, high, points, "inferred")


def test_an_assumed_scale_is_said_aloud() -> None:
    said = notice(with_cell(2, "rating", "2"))
    assert "The scale is taken from the ratings: 1 to 5 (5 points), higher is better." in said


def test_the_scale_is_the_same_for_every_pair_of_a_table() -> None:
    table = small_table(system=["A", "B", "C"] * 8).astype(object)
    table["rating"] = [{"A": "12", "B": "15", "C": "40"}[s] for s in table["system"]]
    first = ratings_from_table(table, systems=("A", "B")).scale
    assert first == ratings_from_table(table, systems=("A", "C")).scale
    assert (first.low, first.high) == (12, 40)


# Expected counts: the README of the shared data, and Card et al. (2020), Table 12, for pplm_fluency.
REAL_TABLES = [
    ("pplm_fluency.csv", {"require_pair": False}, (15, 1358, 4, 19486)),
    ("pplm_fluency.csv", {"require_pair": False, "item": "prompt"}, (15, 549, 4, 19486)),
    ("squality.csv", {"require_pair": False, "criterion": "overall"}, (4, 100, 3, 900)),
    ("squality.csv", {"systems": ("bart", "human"), "criterion": "overall"}, (4, 100, 2, 600)),
    ("wmt23_sxs_mqm_zhen.csv", {"require_pair": False}, (8, 377, 10, 11310)),
    ("dialogue_eval.csv.gz", {"require_pair": False, "criterion": "fluent"}, (676, 886, 11, 5316)),
    ("vqeghd3.csv", {"require_pair": False}, (24, 8, 9, 1728)),
]


@pytest.mark.parametrize(("name", "options", "counts"), REAL_TABLES)
def test_real_tables_have_the_published_sizes(
    shared_data: Path, name: str, options: dict[str, Any], counts: tuple[int, int, int, int]
) -> None:
    ratings = ratings_from_table(read_table(shared_data / name).frame, **options)
    assert (ratings.n_workers, ratings.n_items, ratings.n_systems, ratings.n_ratings) == counts


def test_passages_as_items_are_said_to_be_nested_in_the_systems(shared_data: Path) -> None:
    # README of the shared data: 1096 of 1358 passages belong to one system only.
    table = read_table(shared_data / "pplm_fluency.csv").frame
    assert "WARNING: 1,096 of 1,358 items were rated under one system only" in notice(
        table, require_pair=False
    )


def test_a_scale_is_a_record_text_or_its_bounds() -> None:
    scale = RatingScale(1, 5, points=5)
    for said in (scale, "1:5", (1, 5), [1.0, 5.0]):
        assert ratings_from_table(small_table(), scale=said).scale == scale
    with pytest.raises(ScaleError, match=r"got '1'"):
        ratings_from_table(small_table(), scale=(1,))


def test_a_table_in_memory_is_read_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    small_table().to_csv(path, index=False)
    from_file, in_memory = read_ratings(path, scale=(1, 5)), read_ratings(small_table(), scale=(1, 5))
    assert in_memory.rating.tolist() == from_file.rating.tolist()
    assert in_memory.system_names == from_file.system_names


def test_ratings_say_what_they_are() -> None:
    said = "24 ratings from table: A, B rated by 3 workers on 4 items, 1 to 5 (5 points)."
    assert str(ratings_from_table(small_table(), scale="1:5")) == said


# The parts of a table that ratings connect are those of a search through its graph.


def expected(worker: np.ndarray, item: np.ndarray, n_workers: int, n_items: int) -> tuple[int, list[int]]:
    size = n_workers + n_items
    edges = coo_array((np.ones(len(worker)), (worker, n_workers + item)), shape=(size, size))
    n_parts, label = connected_components(edges, directed=False)
    return n_parts, label.tolist()


def test_parts_of_sparse_tables_are_those_of_a_search() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        n_workers, n_items, n = (int(one) for one in rng.integers(1, 25, 3))
        worker, item = rng.integers(n_workers, size=n), rng.integers(n_items, size=n)
        n_parts, part = connected_parts(worker, item, n_workers=n_workers, n_items=n_items)
        assert (n_parts, part.tolist()) == expected(worker, item, n_workers, n_items)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_long_chain_of_workers_and_items_is_one_part(shuffled: bool) -> None:
    n = 20_000
    worker, item = np.repeat(np.arange(n), 2)[:-1], np.repeat(np.arange(n), 2)[1:]
    if shuffled:
        rng = np.random.default_rng(1)
        worker, item = rng.permutation(n)[worker], rng.permutation(n)[item]
    n_parts, part = connected_parts(worker, item, n_workers=n, n_items=n)
    assert (n_parts, set(part.tolist())) == (1, {0})


def test_items_shared_by_pairs_are_the_same_in_a_dense_and_in_a_sparse_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    cells = np.unique(rng.integers(40 * 90, size=700))
    found = []
    for largest in (10**6, 0):
        monkeypatch.setattr(who_rated_what, "_DENSE_UP_TO", largest)
        found.append(who_rated_what._items_shared(cells // 90, cells % 90, 40, 90))
    assert found[0] == found[1]
    assert found[0] is not None
    assert found[0].maximum > found[0].minimum


# Tables of ratings in Parquet, and tables so large that how they are read decides.


ROWS = [(f"{w:03d}", f"i{i}", s, 1 + (w + i) % 5) for w in range(3) for i in range(4) for s in "AB"]
TABLE = pd.DataFrame(ROWS, columns=["worker", "item", "system", "rating"])


def as_csv(folder: Path, table: pd.DataFrame) -> Path:
    path = folder / "ratings.csv"
    table.to_csv(path, index=False)
    return path


@each_case(
    "column",
    [
        lambda table: table,
        lambda table: table.assign(worker=table.worker.astype("category")),
        lambda table: table.assign(rating=[decimal.Decimal(f"{one}.50") for one in table.rating]),
        lambda table: table.assign(rating=table.rating.astype(float)),
        lambda table: table.assign(session=pd.Timestamp("2026-01-02T03:04:05")),
        lambda table: table.assign(rating=table.rating.where(table.rating != 3)),
    ],
    ids=["plain", "categories", "decimals", "floats", "timestamps", "nulls"],
)
def test_parquet_gives_the_ratings_of_the_same_table_as_csv(tmp_path: Path, column: object) -> None:
    table = column(TABLE)  # type: ignore[operator]
    table.to_parquet(tmp_path / "ratings.parquet")
    packed, text = read_ratings(tmp_path / "ratings.parquet"), read_ratings(as_csv(tmp_path, table))
    assert packed.worker_names == text.worker_names == ("000", "001", "002")
    assert packed.flow == text.flow
    for field in ("worker", "item", "system", "rating"):
        assert np.array_equal(getattr(packed, field), getattr(text, field))


def test_an_export_in_parquet_is_brought_in_as_text(tmp_path: Path) -> None:
    table = TABLE.assign(rating=TABLE.rating.where(TABLE.rating != 3))
    table.to_parquet(tmp_path / "ratings.parquet")
    packed = read_export(tmp_path / "ratings.parquet", platform="table").frame
    text = read_export(
        as_csv(tmp_path, TABLE.assign(rating=table.rating.astype("Int64"))), platform="table"
    )
    assert packed.to_csv() == text.frame.to_csv()
