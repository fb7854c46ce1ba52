"""Designs of more than two systems: who rates what, how evenly, and what it costs."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from cases import each_case

from humeval_power.costs import CostModel, cost_of, costs_of_counts
from humeval_power.designs import crossed, from_table, k_per_item
from humeval_power.errors import DesignError
from humeval_power.studies.power.required import build_design, design_of
from humeval_power.study_counts import StudyCounts

SIZES = [(8, 20, 3, 3), (15, 40, 6, 8), (3, 12, 2, 5), (30, 25, 2, 12), (4, 9, 4, 3)]


def cells(design):
    rows = design.assignment
    return Counter(zip(rows.worker.tolist(), rows.item.tolist(), rows.system.tolist(), strict=True))


@each_case(("workers", "items", "k", "systems"), SIZES)
@each_case("paired", [True, False])
def test_every_output_gets_k_different_workers_with_even_loads(workers, items, k, systems, paired):
    design = k_per_item(workers, items, ratings_per_item=k, paired=paired, n_systems=systems)
    found = cells(design)
    assert max(found.values()) == 1
    per_output = Counter((item, system) for _, item, system in found)
    assert set(per_output.values()) == {k}
    assert len(per_output) == items * systems
    assert design.n_ratings == len(found) == items * systems * k
    loads = design.worker_loads
    assert loads.max() - loads.min() <= (systems if paired else 1)


@each_case(("workers", "items", "k", "systems"), SIZES)
def test_unpaired_workers_see_few_outputs_of_an_item_and_all_systems_alike(workers, items, k, systems):
    design = k_per_item(workers, items, ratings_per_item=k, paired=False, n_systems=systems)
    of_item = Counter((worker, item) for worker, item, _ in cells(design))
    assert max(of_item.values()) == -(-k * systems // workers)
    counts = np.zeros((workers, systems))
    for worker, _, system in cells(design):
        counts[worker, system] += 1
    assert np.ptp(counts, axis=1).max() <= 1
    assert np.ptp(counts) <= 1
    assert any("more than one system" in note for note in design.notes) == (k * systems > workers)


def test_paired_workers_see_an_item_under_all_systems():
    design = k_per_item(10, 30, ratings_per_item=3, n_systems=8)
    assert set(Counter((worker, item) for worker, item, _ in cells(design)).values()) == {8}


def test_a_complete_table_is_a_crossed_design():
    rows = crossed(3, 4, n_systems=5).assignment
    again = from_table(rows.worker, rows.item, rows.system, n_systems=5)
    assert again.is_crossed
    assert again.n_ratings == 60
    with pytest.raises(DesignError, match="6 systems, with the codes 0 to 5"):
        from_table(rows.worker, rows.item, rows.system, n_systems=6)


def test_a_limit_of_ratings_counts_all_systems():
    with pytest.raises(DesignError, match="all 8 systems gives 8 ratings"):
        k_per_item(10, 20, ratings_per_item=2, n_systems=8, max_ratings_per_worker=7)
    with pytest.raises(DesignError, match="7 workers would do"):
        k_per_item(5, 20, ratings_per_item=2, n_systems=8, max_ratings_per_worker=48)
    design = k_per_item(7, 20, ratings_per_item=2, n_systems=8, max_ratings_per_worker=48)
    assert design.worker_loads.max() <= 48


def test_nested_designs_are_of_two_systems():
    with pytest.raises(DesignError, match="one half for each of two systems; 3 were asked for"):
        build_design(8, 8, None, kind="workers-nested", n_systems=3)


@pytest.mark.parametrize("paired", [True, False])
def test_costs_of_counts_are_those_of_the_assignment(paired):
    model = CostModel(
        price_per_rating=Decimal("0.10"), cost_per_output=Decimal("0.5"), cost_per_item=Decimal("1")
    )
    counts = StudyCounts(10, 30, 3, paired=paired, n_systems=8)
    rows = design_of(counts).assignment
    table = from_table(rows.worker, rows.item, rows.system, n_systems=8)
    cost = cost_of(counts, model)
    assert cost.n_ratings == 720
    assert cost.ratings == Decimal("72.00")
    assert cost.items == Decimal("30") + Decimal("120")
    assert cost_of(table, model) == cost
    many = costs_of_counts(model, n_workers=10, n_items=30, ratings_per_item=3, paired=paired, n_systems=8)
    assert many == cost.cents
