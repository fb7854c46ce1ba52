"""Items out of documents: designs, tables, and the ratings drawn for them."""

from dataclasses import replace

import numpy as np
import pytest

from humeval_power.designs import counterbalanced, crossed, from_table, k_per_item, with_documents
from humeval_power.errors import DesignError
from humeval_power.parameters import preset
from humeval_power.simulation.study import Losses, draw_ratings, remaining, replicate_generator, simulate

PLAIN = preset("low")
HALF = {"sd_document_intercept": 0.05, "sd_document_slope": 0.05}


def varied():
    return replace(PLAIN, **HALF)


def test_documents_share_the_items_and_a_note_says_what_is_left_over():
    design = with_documents(k_per_item(5, 11, ratings_per_item=2), 4)
    assert np.bincount(design.document_of_item).tolist() == [3, 3, 3, 2]
    assert "3 documents have 3 items, 1 has 2" in design.notes[-1]
    assert (design.assignment.document == design.document_of_item[design.assignment.item]).all()
    assert design.items_per_document == 11 / 4
    assert "11 items in 4 documents" in str(design)
    assert np.isnan(crossed(2, 4).items_per_document)


@pytest.mark.parametrize("n_documents", [0, 1, 12, 2.5])
def test_documents_that_cannot_be_are_refused(n_documents):
    with pytest.raises(DesignError):
        with_documents(crossed(3, 11), n_documents)


def test_a_table_keeps_its_documents():
    whole = with_documents(crossed(3, 8), 4)
    rows = whole.assignment
    back = from_table(rows.worker, rows.item, rows.system, document=rows.document)
    assert back.is_balanced
    assert back.n_documents == 4
    np.testing.assert_array_equal(back.document_of_item, whole.document_of_item)
    uneven = from_table(rows.worker, rows.item, rows.system, document=np.minimum(rows.item // 2, 2))
    assert uneven.is_crossed
    assert not uneven.is_balanced


def test_an_item_in_two_documents_stays_where_it_was_seen():
    rows = crossed(4, 6).assignment
    session = rows.worker % 2
    design = from_table(rows.worker, rows.item, rows.system, document=session)
    assert design.kind == "table"
    assert design.document_of_item is None
    assert not design.is_balanced
    np.testing.assert_array_equal(design.assignment.document, session)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DesignError, match="worker, item, system and document"):
        from_table([0, 1], [0, 1], [0, 1], document=[0])


def test_documents_change_no_other_draw():
    """Without a variance between documents the ratings are those of the same design without documents."""
    for design in (crossed(4, 12), counterbalanced(4, 12)):
        plain = draw_ratings(PLAIN.recoded(), design, replicate_generator(3, 0))
        nested = draw_ratings(PLAIN.recoded(), with_documents(design, 3), replicate_generator(3, 0))
        np.testing.assert_array_equal(plain, nested)


def test_what_documents_add_is_one_value_for_each_document_and_system():
    design = with_documents(crossed(4, 12), 3)
    rows = design.assignment
    added = draw_ratings(varied().recoded(), design, replicate_generator(3, 0))
    added -= draw_ratings(PLAIN.recoded(), design, replicate_generator(3, 0))
    assert len(np.unique(np.round(added, 9))) == 6
    for document in range(3):
        for system in range(2):
            of = added[(rows.document == document) & (rows.system == system)]
            assert np.ptp(of) < 1e-12


def test_the_variance_between_documents_is_the_one_asked_for():
    design = with_documents(crossed(2, 400), 200)
    values = varied().recoded()
    silent = replace(
        values,
        sd_worker_intercept=0,
        sd_worker_slope=0,
        sd_item_intercept=0,
        sd_item_slope=0,
        sd_residual=1e-9,
    )
    drawn = np.concatenate(
        [
            draw_ratings(silent, design, replicate_generator(1, i)).reshape(2, 200, 2, 2)[0, :, 0]
            for i in range(40)
        ]
    )
    difference, mean = drawn[:, 1] - drawn[:, 0], drawn.mean(axis=1)
    assert np.std(difference) == pytest.approx(values.sd_document_slope, rel=0.04)
    assert np.std(mean) == pytest.approx(values.sd_document_intercept, rel=0.04)


def test_correlations_of_intercepts_with_slopes_are_drawn():
    base = replace(PLAIN.recoded(), sd_worker_intercept=0.1, sd_worker_slope=0.1)
    design = crossed(500, 2)
    quiet = replace(base, sd_item_intercept=0, sd_item_slope=0, sd_residual=1e-9, correlation_worker=0.6)
    table = draw_ratings(quiet, design, replicate_generator(1, 0)).reshape(500, 2, 2)[:, 0]
    slope, intercept = table[:, 1] - table[:, 0], table.mean(axis=1)
    assert np.corrcoef(slope, intercept)[0, 1] == pytest.approx(0.6, abs=0.1)
    assert np.std(slope) == pytest.approx(0.1, rel=0.1)


def test_parameters_that_vary_between_documents_need_a_design_that_has_them():
    with pytest.raises(DesignError, match="how many documents"):
        simulate(varied(), crossed(4, 12), seed=1)


def test_a_simulated_table_names_the_document_before_the_item():
    frame = simulate(varied(), with_documents(crossed(4, 12), 3), seed=1).to_frame()
    assert list(frame) == ["worker", "document", "item", "system", "rating"]
    assert frame["document"].nunique() == 3
    assert list(simulate(PLAIN, crossed(4, 12), seed=1).to_frame()) == [
        "worker",
        "item",
        "system",
        "rating",
    ]


def test_what_remains_after_losses_numbers_its_documents_anew():
    design = with_documents(crossed(4, 12), 3)
    rows = design.assignment
    left = remaining(rows, rows.document != 0)
    assert left.document.max() == 1
    assert remaining(rows, rows.document == 0) is None
    lossy = simulate(varied(), design, seed=1, losses=Losses(missing=0.3))
    assert len(lossy.document) == len(lossy.rating)
