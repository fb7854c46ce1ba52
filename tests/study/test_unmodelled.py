"""Columns that look like documents, sessions, an order or time, and what leaving them out would do."""

import json

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import run

from humeval_power.checking.suspects import documents_in_names, suspected_columns
from humeval_power.designs import crossed, k_per_item, with_documents
from humeval_power.parameters import Parameters
from humeval_power.ratings import ratings_from_table
from humeval_power.simulation.study import simulate
from humeval_power.studies.fit.calls import check
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.scenario import RatingStudy

ROLES = {"worker": "worker", "item": "item", "system": "system"}
VALUES = Parameters(
    baseline=0.5,
    effect=0.0,
    sd_worker_intercept=0.05,
    sd_worker_slope=0.02,
    sd_item_intercept=0.05,
    sd_item_slope=0.05,
    sd_residual=0.1,
    sd_document_intercept=0.05,
    sd_document_slope=0.12,
)


def table_of(design=None, seed=3):
    design = design or with_documents(crossed(6, 40), 8)
    return simulate(VALUES, design, seed=seed).to_frame()


def kinds(table, **more):
    return {one.column: (one.kind, one.option) for one in suspected_columns(table, ROLES, **more)}


def test_each_kind_of_column_is_named():
    table = table_of()
    rng = np.random.default_rng(1)
    sitting = table.groupby(["worker", "item"]).ngroup()
    flipped = rng.integers(0, 2, sitting.max() + 1)[sitting]
    table["place"] = 1 + ((table["system"] == "B") ^ (flipped == 1)).astype(int)
    table["shown_first"] = np.where(flipped == 1, "B", "A")
    table["trial"] = table.groupby("worker")["item"].transform(lambda one: rng.permutation(len(one)) + 1)
    table["session"] = (table["trial"] - 1) // 30
    table["started"] = "2026-03-01 10:00"
    table.loc[5:, "started"] = "2026-03-01 11:00"
    table["age"] = table["worker"].map(
        {name: 20 + i for i, name in enumerate(sorted(set(table["worker"])))}
    )
    table["comment"] = "fine"
    assert kinds(table) == {
        "document": ("documents", "--document"),
        "place": ("order", "--order-column"),
        "shown_first": ("order", "--order-column"),
        "trial": ("position", "--covariate"),
        "session": ("sessions", "--document"),
        "started": ("time", "--covariate"),
    }
    assert "document" not in kinds(table, taken=["document"])


def test_places_of_many_systems_are_named_and_other_numbers_are_not():
    table = table_of(with_documents(crossed(4, 12), 4)).drop(columns="document")
    third = table[table["system"] == "A"].assign(system="C")
    table = pd.concat([table, third]).sort_values(["worker", "item", "system"], ignore_index=True)
    turn = table.groupby(["worker", "item"]).ngroup() % 3
    table["place"] = (turn + table.groupby(["worker", "item"]).cumcount()) % 3 + 1
    table["grade"] = np.random.default_rng(1).integers(1, 4, len(table))
    table["stage"] = turn + 1
    assert kinds(table) == {"place": ("order", "--order-column")}


def test_a_few_categories_of_items_are_no_documents_and_blank_cells_are_passed_over():
    table = table_of()
    table["genre"] = np.where(table["item"] < "i20", "news", "talk")
    table["document"] = table["document"].mask(table["document"] == "d1")
    table["rating_again"] = table["rating"]
    assert kinds(table) == {}


@each_case(
    ("names", "found"),
    [
        (["d1-s1", "d1-s2", "d2-s1", "d2-s2"], ["d1", "d1", "d2", "d2"]),
        (["a_1_1", "a_1_2", "a_2_1", "a_2_2"], ["a_1", "a_1", "a_2", "a_2"]),
        (["i-1", "i-2", "i-3"], None),
        (["a-1", "b-1", "c-1"], None),
        (["i01", "i02"], None),
        (["d1-s1", "d1-s2", "d2-s1", "x"], None),
    ],
)
def test_documents_are_read_off_the_names_of_items(names, found):
    assert documents_in_names(names) == found


@pytest.mark.parametrize("in_names", [False, True])
def test_leaving_documents_out_is_told_with_its_rate_of_false_positives(in_names):
    table = table_of()
    if in_names:
        table["item"] = table["document"] + "-" + table["item"]
        table = table.drop(columns="document")
    ratings = ratings_from_table(table, scale=None)
    (found,) = check(ratings, table=table).unmodelled[0]
    assert found.suspect.column == (None if in_names else "document")
    assert found.n_simulations == 10_000
    span = ratings.scale.high - ratings.scale.low
    assert found.size == pytest.approx(VALUES.sd_document_slope / span, rel=0.6)
    truth = RatingStudy(VALUES, with_documents(crossed(6, 40), 8), ignore_documents=True)
    rate = estimate_power(truth, n_simulations=4000).rejection_rate
    assert found.rate == pytest.approx(rate, abs=0.25)  # at what one table shows
    assert 0.2 < found.rate < 0.8
    assert f"{100 * found.rate:.2g} % (10,000 simulated studies)" in str(check(ratings, table=table))


def test_an_incomplete_table_has_its_rate_by_formula():
    table = table_of(with_documents(k_per_item(6, 40, ratings_per_item=3), 8))
    ratings = ratings_from_table(table)
    (found,) = check(ratings, table=table).unmodelled[0]
    assert found.n_simulations == 0
    assert found.rate > 0.08


def test_an_order_that_is_not_balanced_moves_the_difference():
    """B is always second, and the second output is rated higher."""
    design = with_documents(crossed(8, 40), 40)
    table = simulate(VALUES, design, seed=4).to_frame().drop(columns="document")
    rng = np.random.default_rng(2)
    pair = table.groupby(["worker", "item"]).ngroup()
    b_second = (rng.random(pair.max() + 1) < 0.85)[pair]
    table["place"] = np.where((table["system"] == "B") == b_second, 2, 1)
    table["rating"] += 0.2 * (table["place"] == 2)
    ratings = ratings_from_table(table)
    (found,) = check(ratings, table=table).unmodelled[0]
    assert found.suspect.kind == "order"
    span = ratings.scale.high - ratings.scale.low
    assert found.size == pytest.approx(0.2 * 0.7 / span, rel=0.1)
    assert found.rate > 0.5


def test_named_columns_are_not_suspected_again():
    table = table_of()
    ratings = ratings_from_table(table, document="document")
    assert check(ratings, table=table).unmodelled == ((),)


def test_the_command_tells_it(tmp_path):
    table_of().to_csv(tmp_path / "ratings.csv", index=False)
    shown = run("check", tmp_path / "ratings.csv")
    text = " ".join(shown.output.split())
    assert "Column 'document' looks like documents that items come out of" in text
    assert "it would raise false positives from 5 % to" in text
    record = json.loads(run("check", tmp_path / "ratings.csv", "--format", "json").stdout)
    (one,) = record["unmodelled"]
    assert (one["column"], one["option"], one["kind"]) == ("document", "--document", "documents")
    assert 0.1 < one["false_positive_rate"] < 1


def test_a_table_of_three_systems_names_columns_without_a_rate():
    table = table_of()
    third = table[table["system"] == "A"].assign(system="C")
    table = pd.concat([table, third], ignore_index=True)
    ratings = ratings_from_table(table, require_pair=False)
    (found,) = check(ratings, table=table).unmodelled[0]
    assert np.isnan(found.rate)
