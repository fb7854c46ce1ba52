"""Ratings sorted into categories, and the words for tables that have none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.latent.categories import categories_of
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale


def table(a: list[float], b: list[float], scale: str = "1:5", *, lower: bool = False) -> Ratings:
    """Two workers, half of the items each; the ratings of A, then those of B."""
    n = len(a)
    frame = pd.DataFrame(
        {
            "worker": ["u" if k % 2 else "v" for k in range(n)] * 2,
            "item": [f"i{k // 2}" for k in range(n)] * 2,
            "system": ["A"] * n + ["B"] * n,
            "rating": [*a, *b],
        }
    )
    return ratings_from_table(frame, scale=RatingScale.parse(scale, higher_is_better=not lower))


def test_categories_are_the_points_that_were_used_worst_first() -> None:
    found = categories_of(table([1, 2, 4, 4, 2, 1], [2, 4, 4, 1, 4, 2]), "ordinal")
    assert found.scores == (0.0, 0.25, 0.75)
    assert found.unused == (3.0, 5.0)
    assert np.array_equal(found.code[:6], [0, 1, 2, 2, 1, 0])


def test_where_low_ratings_are_good_the_worst_is_the_highest() -> None:
    found = categories_of(table([1, 2, 4, 4, 2, 1], [2, 4, 4, 1, 4, 2], lower=True), "ordinal")
    assert found.scores == (0.25, 0.75, 1.0)
    assert np.array_equal(found.code[:6], [2, 1, 0, 0, 1, 2])


def test_workers_of_one_rating_are_counted() -> None:
    found = categories_of(table([3, 1, 3, 2, 3, 4], [3, 2, 3, 1, 3, 5]), "ordinal")
    assert found.one_box == 1


def test_one_rating_for_all_is_refused() -> None:
    with pytest.raises(FitError, match="Every rating is 4: there is nothing to compare"):
        categories_of(replace(table([1, 2] * 3, [2, 1] * 3), rating=np.full(12, 0.75)), "ordinal")


def test_a_binary_family_of_three_values_is_refused_and_the_values_are_named() -> None:
    with pytest.raises(InputError, match=r"3 different ones \(1, 2, 3\).*family 'ordinal'"):
        categories_of(table([1, 2, 3, 1, 2, 3], [2, 3, 1, 2, 3, 1]), "binary")


def test_ratings_of_many_values_are_measured() -> None:
    fine = [float(value) for value in range(0, 96, 8)]
    with pytest.raises(InputError, match=r"12 different values, and at most 11.*family 'gaussian'"):
        categories_of(table(fine, fine, "0:100"), "ordinal")


def test_separated_systems_are_refused_with_the_exact_sign_test_on_items() -> None:
    a, b = [1, 2, 3, 1, 2, 3, 2, 2], [3, 4, 5, 4, 5, 4, 4, 3]
    with pytest.raises(FitError) as caught:
        categories_of(table(a, b), "ordinal")
    assert "No rating of 'B' lies below any of 'A'" in str(caught.value)
    assert "rated higher on 4 of 4 items" in str(caught.value)
    assert "p = 0.125" in str(caught.value)  # 2 / 2^4


def test_separation_the_other_way_round_names_the_other_system() -> None:
    with pytest.raises(FitError, match="No rating of 'A' lies below any of 'B'"):
        categories_of(table([5, 5, 5, 5, 5, 5], [5, 4, 3, 5, 4, 2]), "ordinal")


def test_one_rating_across_is_no_separation() -> None:
    found = categories_of(table([1, 2, 3, 1, 2, 4], [3, 4, 5, 4, 5, 4]), "ordinal")
    assert found.n_categories == 5
