"""The design of a table with many workers and items, whose cells are too many to be counted."""

import numpy as np
import pytest

from humeval_power.designs import crossed, from_table


def test_the_design_of_a_sparse_table_needs_no_room_for_its_cells():
    codes = np.arange(100_000)
    design = from_table(np.tile(codes, 2), np.tile(codes, 2), np.repeat([0, 1], 100_000))  # 2e10 cells
    assert (design.n_workers, design.n_items, design.ratings_per_item) == (100_000, 100_000, 1.0)


@pytest.mark.parametrize("n_repeats", [1, 2])
def test_a_full_table_is_crossed_and_one_of_its_size_with_other_cells_is_not(n_repeats):
    cells = np.tile(np.indices((3, 4, 2)).reshape(3, -1), n_repeats)
    full = from_table(*cells)
    assert full.explicit is None
    assert str(full) == str(crossed(3, 4, n_repeats=n_repeats))
    assert from_table(*cells[:, :-1]).explicit is not None
    cells[:, -1] = cells[:, 0]
    assert from_table(*cells).explicit is not None
