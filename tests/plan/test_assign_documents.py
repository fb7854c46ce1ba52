"""Assignments whose items come out of documents, and the place of each output."""

import io

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.designs import crossed, k_per_item, with_documents
from humeval_power.errors import InputError
from humeval_power.studies.plan.assignment import assign
from humeval_power.studies.plan.calls import assign_work


def nested(**changes):
    return with_documents(k_per_item(5, 24, ratings_per_item=2), 6, **changes)


@pytest.mark.parametrize("paired", [True, False])
def test_documents_kept_together_go_to_a_worker_as_a_whole(paired):
    design = with_documents(k_per_item(6, 24, ratings_per_item=2, paired=paired), 6, together=True)
    rows = pd.DataFrame(
        {
            "worker": design.assignment.worker,
            "item": design.assignment.item,
            "document": design.assignment.document,
        }
    )
    seen = rows.drop_duplicates().groupby(["worker", "document"])["item"].nunique()
    assert (seen == 4).all()
    loads = design.worker_loads
    assert loads.max() - loads.min() <= (8 if paired else 4)


def test_documents_that_are_spread_leave_the_deal_as_it_is():
    plain, spread = k_per_item(5, 24, ratings_per_item=2).assignment, nested().assignment
    np.testing.assert_array_equal(plain.worker, spread.worker)
    together = nested(together=True).assignment
    assert not np.array_equal(plain.worker, together.worker)


@pytest.mark.parametrize("order", ["random", "blocked"])
def test_kept_together_a_document_is_shown_in_one_run_in_the_order_of_its_items(order):
    table = assign(nested(together=True), seed=3, order=order).to_frame()
    for _, mine in table.groupby("worker_slot"):
        first = mine[mine["place"] == 1]
        runs = (first["document"] != first["document"].shift()).sum()
        assert runs == first["document"].nunique()
        for _, of in first.groupby("document"):
            assert of["item"].is_monotonic_increasing


@pytest.mark.parametrize("order", ["random", "blocked"])
def test_the_place_says_which_output_a_worker_sees_first_and_is_balanced(order):
    table = assign(nested(), seed=3, order=order, check_rate=0.1, repeat_rate=0.1).to_frame()
    rated = table[table["kind"] == "rating"].sort_values(["worker_slot", "order"])
    assert (table.loc[table["kind"] != "rating", "place"] == "").all()
    again = rated.groupby(["worker_slot", "item"]).cumcount() + 1
    assert (rated["place"] == again).all()
    a_first = rated[rated["system"] == "A"].assign(first=lambda t: t["place"] == 1)
    by_worker = a_first.groupby("worker_slot")["first"].agg(["sum", "size"])
    assert ((2 * by_worker["sum"] - by_worker["size"]).abs() <= 1).all()
    by_item = a_first.groupby("item")["first"].sum()
    assert by_item.between(0, 2).all()
    assert (by_item == 1).mean() > 0.6


def test_the_table_names_documents_and_is_read_back(tmp_path):
    """Ratings entered beside the assignment fit with its documents and its order of showing."""
    drawn = run(
        *("assign", "--workers", 4, "--items", 24, "--documents", 6, "--format", "csv"),
        "--documents-together",
    )
    table = pd.read_csv(io.StringIO(drawn.stdout))
    assert list(table)[3:6] == ["document", "item", "place"]
    rng = np.random.default_rng(1)
    table["rating"] = rng.integers(1, 6, len(table))
    table.to_csv(tmp_path / "ratings.csv", index=False)
    shown = run(
        *("fit", tmp_path / "ratings.csv", "--worker", "worker_slot", "--document", "document"),
        *("--order-column", "place", "--scale", "1:5"),
    )
    assert "document" in shown.output


def test_documents_stay_together_only_where_there_are_some():
    with pytest.raises(InputError, match="say how many"):
        assign_work(crossed(3, 6), documents_together=True)
    few = ("assign", "--workers", 3, "--items", 6)
    run(*few, "--documents-together", code=2)
    run(*few, "--documents", 2, "--items-per-document", 3, code=2)
