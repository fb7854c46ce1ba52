"""Ratings sorted into categories, and the words for tables that have none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from scipy import special, stats

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.latent.categories import categories_of
from humeval_power.kernels.kernel import kernel
from humeval_power.kernels.latent.cells import cell, curvature, third
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


# One rating's log probability and derivatives against scipy's tails and against differences.


@kernel
def all_of(u, lo, has_u, has_l, logit):
    log_p, a, b, cu, cl = cell(u, lo, has_u, has_l, logit)
    uu, ul, ll = curvature(a, b, cu, cl)
    uuu, uul, ull, lll = third(a, b, cu, cl, logit)
    return np.array([log_p, a, b, uu, ul, ll, uuu, uul, ull, lll])


@each_case("logit", [False, True])
@each_case("x", [-300.0, -40.0, -25.1, -24.9, -3.0, 0.0, 4.0, 30.0])
def test_the_ends_keep_their_digits(x, logit):
    log_f = stats.logistic.logcdf(x) if logit else special.log_ndtr(x)
    density = stats.logistic.logpdf(x) if logit else stats.norm.logpdf(x)
    lowest, highest = all_of(x, 0.0, True, False, logit), all_of(0.0, -x, False, True, logit)
    assert lowest[0] == pytest.approx(log_f, rel=1e-12)
    assert lowest[1] == pytest.approx(np.exp(density - log_f), rel=1e-10)
    assert highest[0] == lowest[0]  # the mirror image
    assert highest[2] == lowest[1]


@each_case("logit", [False, True])
@each_case("bounds", [(-0.3, 0.4), (2.0, 2.5), (-6.0, -5.0), (7.0, 9.0), (-31.0, -29.0), (33.0, 34.0)])
def test_between_two_bounds(bounds, logit):
    lo, u = bounds
    law = stats.logistic if logit else stats.norm
    tail = (law.logcdf(u), law.logcdf(lo)) if u < 0 else (law.logsf(lo), law.logsf(u))
    expected = (
        tail[0] + np.log1p(-np.exp(tail[1] - tail[0])) if lo * u > 0 else np.log(law.cdf(u) - law.cdf(lo))
    )
    assert all_of(u, lo, True, True, logit)[0] == pytest.approx(expected, rel=1e-11)


@each_case("logit", [False, True])
@each_case("bounds", [(-0.3, 0.4), (2.0, 3.5), (-6.0, -5.0), (-27.0, -25.5)])
@each_case(("has_u", "has_l"), [(True, True), (True, False), (False, True)])
def test_each_derivative_is_the_difference_of_the_one_before(bounds, has_u, has_l, logit):
    lo, u = bounds
    step = 1e-5

    def at(du, dl):
        return all_of(u + du, lo + dl, has_u, has_l, logit)

    here = at(0.0, 0.0)
    by_u = (at(step, 0.0) - at(-step, 0.0)) / (2 * step) * has_u
    by_l = (at(0.0, step) - at(0.0, -step)) / (2 * step) * has_l
    np.testing.assert_allclose([here[1], -here[2]], [by_u[0], by_l[0]], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(-here[3:6], [by_u[1], by_l[1], -by_l[2]], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(here[6:10], [-by_u[3], -by_l[3], -by_l[4], -by_l[5]], rtol=1e-5, atol=1e-6)
