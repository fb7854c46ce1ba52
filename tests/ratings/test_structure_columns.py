"""The columns of documents, covariates and order: how they are read, coded, kept in subsets, and refused."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.ratings import Ratings, ratings_from_table
from tests.cli import run

CELLS = list(itertools.product(range(6), range(12), ["A", "B", "C"]))


def table(**changes: Any) -> pd.DataFrame:
    """6 workers x 12 items in 4 documents x 3 systems, with a length, a group of workers and an order."""
    frame = pd.DataFrame(CELLS, columns=["worker", "item", "system"])
    rng = np.random.default_rng(5)
    frame["rating"] = rng.integers(1, 6, len(frame))
    frame["text"] = [f"d{item // 3}" for item in frame["item"]]
    frame["length"] = 10.0 + 3 * (frame["item"] % 5) + frame["system"].map({"A": 0, "B": 1, "C": 4})
    frame["group"] = frame["worker"].map(
        {0: "lay", 1: "lay", 2: "lay", 3: "expert", 4: "crowd", 5: "crowd"}
    )
    first = (frame["worker"] + frame["item"]) % 2
    frame["first"] = np.where(first == 0, "A", "B")
    return frame.assign(**changes)


def read(frame: pd.DataFrame | None = None, **options: Any) -> Ratings:
    return ratings_from_table(table() if frame is None else frame, **{"systems": ("A", "B"), **options})


def message(frame: pd.DataFrame | None = None, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(frame, **options)
    return "\n".join(map(str, caught.value.problems))


def test_without_the_options_ratings_have_no_structure() -> None:
    ratings = read()
    assert ratings.document is None
    assert ratings.covariates == ()
    assert ratings.n_documents == 0
    assert ratings.covariate_columns.shape == (ratings.n_ratings, 0)


def test_every_rating_has_its_document_and_the_nesting_is_told() -> None:
    ratings = read(document="text")
    assert ratings.document is not None
    names = [ratings.document_names[code] for code in ratings.document]
    assert names == [f"d{int(ratings.item_names[code]) // 3}" for code in ratings.item]
    assert "4 documents with 3 items each; every item is in one document (nested)" in " ".join(
        ratings.notices
    )
    crossed = read(table(text=[f"d{worker % 3}" for worker, _, _ in CELLS]), document="text")
    assert "WARNING: Column 'text'" in " ".join(crossed.notices)
    assert "(crossed)" in " ".join(crossed.notices)


def test_a_document_column_called_document_is_not_taken_for_the_item() -> None:
    frame = table().rename(columns={"text": "document", "item": "sentence"})
    assert read(frame, document="document").n_items == 12
    assert read(frame.rename(columns={"sentence": "segment_id"}), document="document").n_items == 12


def test_numbers_are_in_standard_deviations_and_categories_sum_to_zero() -> None:
    ratings = read(covariates=("length", "group"))
    length, group = ratings.covariates
    raw = table().query("system != 'C'")["length"].to_numpy()
    assert length.values[:, 0] == pytest.approx((raw - raw.mean()) / raw.std())
    assert (length.center, length.scale) == pytest.approx((raw.mean(), raw.std()))
    assert group.levels == ("crowd", "expert", "lay")
    assert group.reference == "lay"
    code = group.raw.astype(int)
    expected = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])[code]
    assert np.array_equal(group.values, expected)
    assert [name for name, _ in group.contrasts] == ["group: crowd", "group: expert", "group: lay"]
    assert np.sum([weights for _, weights in group.contrasts], axis=0) == pytest.approx([0.0, 0.0])
    assert ratings.covariate_columns.shape == (ratings.n_ratings, 3)


def test_order_by_first_system_and_by_place_are_the_same_columns() -> None:
    named = read(order_column="first")
    place = np.where(table()["first"] == table()["system"], 1, 2)
    placed = read(table(first=place), order_column="first")
    lettered = read(table(first=table()["first"] + " first"), order_column="first")
    assert np.array_equal(named.covariates[0].values, placed.covariates[0].values)
    assert np.array_equal(named.covariates[0].values, lettered.covariates[0].values)
    period, carried = named.covariates[0].values.T
    x = named.system - 0.5
    assert set(period) == {-0.5, 0.5}
    assert np.array_equal(carried, 2 * period * x)
    assert np.array_equal(carried > 0, (table().query("system != 'C'")["first"] == "A").to_numpy())


def test_a_pair_of_many_systems_has_its_own_documents_and_coding() -> None:
    frame = table()
    frame = frame[~((frame["text"] == "d3") & (frame["system"] != "C"))]
    every = ratings_from_table(
        frame, document="text", covariates=("length", "group"), order_column="first", require_pair=False
    )
    pair = every.pair("B", "A")
    alone = read(
        frame, systems=("B", "A"), document="text", covariates=("length", "group"), order_column="first"
    )
    assert pair.document_names == alone.document_names == ("d0", "d1", "d2")
    assert np.array_equal(pair.document, alone.document)  # type: ignore[arg-type]
    assert np.array_equal(pair.covariate_columns, alone.covariate_columns)
    assert [one.labels for one in pair.covariates] == [one.labels for one in alone.covariates]


def placed() -> pd.DataFrame:
    """The same table with the place of each of the three outputs that a worker saw of an item."""
    shift = np.array([worker + 2 * item for worker, item, _ in CELLS])
    return table(place=(shift + table()["system"].map({"A": 0, "B": 1, "C": 2})) % 3 + 1)


def test_places_of_more_than_two_outputs_are_a_number_of_places_later() -> None:
    every = ratings_from_table(placed(), order_column="place", require_pair=False)
    (covariate,) = every.covariates
    assert (covariate.kind, covariate.labels) == ("place", ("place: each place later",))
    assert np.array_equal(covariate.values[:, 0], placed()["place"] - 2.0)
    assert (
        "places 1 to 3 of an item's outputs, as a number; its effect is that of one place later"
        in " ".join(every.notices)
    )
    pair, alone = every.pair("B", "C"), read(placed(), systems=("B", "C"), order_column="place")
    rows = placed()[placed()["system"] != "A"]["place"]
    for ratings in (pair, alone):
        assert np.array_equal(ratings.covariate_columns[:, 0], rows - rows.mean())
        assert ratings.covariates[0].kind == "place"


def test_two_places_among_many_systems_are_first_and_second_as_ever() -> None:
    ratings = ratings_from_table(
        placed().query("place < 3").reset_index(drop=True), order_column="place", require_pair=False
    )
    assert ratings.covariates[0].kind == "order"


@each_case("cell", ["4", "0", "2.5", "A", "last", "-1", "\u0663"])
def test_a_place_is_a_whole_number_up_to_the_number_of_systems(cell: str) -> None:
    frame = placed().astype({"place": object})
    frame.loc[5, "place"] = cell
    with pytest.raises(InputError) as caught:
        ratings_from_table(frame, order_column="place", require_pair=False)
    assert f"row 7, column 'place': value '{cell}': the order is the place" in str(caught.value)
    assert "a whole number from 1 to 3: there are 3 systems" in str(caught.value)


def test_places_are_not_mistaken_for_systems_that_are_named_by_numbers() -> None:
    frame = placed().assign(system=placed()["system"].map({"A": "1", "B": "2", "C": "3"}))
    with pytest.raises(InputError, match="cells may be places, or the system that was shown first"):
        ratings_from_table(frame, order_column="place", require_pair=False)


def test_a_row_without_document_or_covariate_is_named_and_so_is_its_remedy() -> None:
    frame = table().astype(object)
    frame.loc[3, "text"] = ""
    frame.loc[4, "length"] = "long"
    frame.loc[6, "group"] = None
    frame.loc[7, "first"] = "left"
    said = message(frame, document="text", covariates=("length", "group"), order_column="first")
    assert "row 5, column 'text': the document is blank" in said
    assert "row 6, column 'length': value 'long': a covariate is a number in every row" in said
    assert "row 8, column 'group': value '': this covariate is missing" in said
    assert "row 9, column 'first': value 'left': the order is the place" in said


def test_rows_that_are_not_analysed_need_no_covariate() -> None:
    frame = table().astype(object)
    frame.loc[frame["system"] == "C", ["text", "length", "group", "first"]] = None
    ratings = read(frame, document="text", covariates=("length", "group"), order_column="first")
    assert np.isfinite(ratings.covariate_columns).all()


@each_case(
    ("changes", "options", "words"),
    [
        ({"length": 7}, {"covariates": ("length",)}, "it is 7 in every analysed row"),
        ({"group": "lay"}, {"covariates": ("group",)}, "it is 'lay' in every analysed row"),
        (
            {"group": [f"team {system}" for *_, system in CELLS]},
            {"covariates": ("group",)},
            "it follows from the system",
        ),
        ({"first": "A"}, {"order_column": "first"}, "it follows from the system"),
        (
            {"double": 2 * table()["length"] + 1},
            {"covariates": ("length", "double")},
            "it follows from the system and length",
        ),
        ({"text": "d"}, {"document": "text"}, "there is only one document"),
        (
            {},
            {"document": "texts"},
            "there is no column 'texts', which --document names. Did you mean 'text'?",
        ),
        ({}, {"covariates": ("worker",)}, "it is the worker, and cannot be what --covariate names as well"),
        ({}, {"covariates": ("length", "length")}, "named twice: --covariate and --covariate"),
        (
            {"group": [f"g{k % 60}" for k in range(len(CELLS))]},
            {"covariates": ("group",)},
            "it has 40 categories",
        ),
    ],
)
def test_what_a_column_cannot_be(changes: dict[str, Any], options: dict[str, Any], words: str) -> None:
    assert words in message(table(**changes), **options)


def test_carry_over_is_left_out_where_the_order_never_changes_for_a_system() -> None:
    """Only A is ever rated first, B stands second or alone in first place: place and system differ, and
    what is left behind is the one combination that never occurs."""
    place = [1 if system == "A" else 1 + (worker + item) % 2 for worker, item, system in CELLS]
    labels = read(table(first=place), order_column="first").covariates[0].labels
    assert labels == ("first: second - first",)


def rated_in_documents(system: str, item: str = "{d}-{at}", column: str = "document") -> pd.DataFrame:
    """Two workers, three documents with two items each, two systems; system: how one of a document is called."""
    return pd.DataFrame(
        [
            (worker, item.format(d=d, at=at), system.format(d=d, s=s), d, 1 + (k + at) % 5)
            for k, (worker, d, s, at) in enumerate(
                itertools.product(("w1", "w2"), ("doc0", "doc1", "doc2"), "AB", (1, 2))
            )
        ],
        columns=["worker", "item", "system", column, "rating"],
    )


def asked_apart(table: pd.DataFrame, **options: Any) -> list[str]:
    read = ratings_from_table(table, require_pair=False, **options)
    return [one for one in read.notices if "Is the document's name part of the system's name?" in one]


@each_case(
    ("system", "item", "column", "template"),
    [
        ("{d}_{s}", "{d}-{at}", "document", "{document}_{system}"),
        ("{s}|{d}", "{d}-{at}", "document", "{system}|{document}"),
        ("{d}_{s}", "{at}", "doc_id", "{document}_{system}"),  # items are counted anew in each document
        ("{d}{s}", "{d}-{at}", "document", "{document}#{system}"),  # no mark tells: an example
        ("{d}_{s}", "{d}-{at}", "remark", "{document}_{system}"),  # no column of documents: the items tell
    ],
)
def test_systems_that_live_in_one_document_each_are_asked_about(
    system: str, item: str, column: str, template: str
) -> None:
    (said,) = asked_apart(rated_in_documents(system, item, column))
    assert said.startswith("WARNING: ")
    assert f'[split] "system" = "{template}"' in said
    assert ("in one document of its own" in said) == (column != "remark")
    pair = (system.format(d="doc0", s="A"), system.format(d="doc0", s="B"))
    table = rated_in_documents(system, item, column)
    assert said in ratings_from_table(table, systems=pair).notices  # also where a pair hides the others
    with pytest.raises(InputError, match=r"there are 6 systems.*Is the document's name part.* Else [a-z']"):
        ratings_from_table(table)
    with pytest.raises(InputError, match=r"no system 'C'.*Is the document's name part.* Else there are: "):
        ratings_from_table(table, systems=(pair[0], "C"))


@pytest.mark.parametrize(("system", "column"), [("{s}", "document"), ("{s}", "remark")])
def test_systems_that_share_documents_are_not_asked_about(system: str, column: str) -> None:
    assert not asked_apart(rated_in_documents(system, column=column))


def test_a_column_that_follows_from_the_system_is_no_document_where_systems_share_items() -> None:
    table = rated_in_documents("{s}", column="remark")
    assert not asked_apart(table.assign(source=table["system"].map({"A": "human", "B": "machine"})))


def test_the_split_that_the_question_proposes_works(tmp_path: Any) -> None:
    path, mapping, out = tmp_path / "t.csv", tmp_path / "mapping.toml", tmp_path / "out.csv"
    rated_in_documents("{d}_{s}").to_csv(path, index=False)
    run("import", path, "--draft", "-o", mapping)
    text = mapping.read_text().replace("[split]\n", '[split]\n"system" = "{document}_{system}"\n', 1)
    mapping.write_text(text)
    run("import", path, "--map", mapping, "-o", out)
    table = pd.read_csv(out)
    assert set(zip(table["system"], table["document"], strict=True)) == set(
        itertools.product("AB", ("doc0", "doc1", "doc2"))
    )
