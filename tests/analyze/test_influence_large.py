"""Leaving workers out of large tables: searches that begin near their end, and fewer of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from seven import seven

from humeval_power.designs import k_per_item
from humeval_power.estimation.crossed.choice import few_fits
from humeval_power.estimation.fitting import fit
from humeval_power.inference.analyze.diagnostics import MOST_LEFT_OUT, most_left_out
from humeval_power.simulation.study import SimulatedRatings, simulate


def test_a_search_that_begins_at_the_whole_study_ends_where_any_other_does():
    drawn = simulate(
        seven(0.5, 0.1, 0.1, 0.1, 0.0, 0.1, 0.15), k_per_item(40, 700, ratings_per_item=3), seed=2
    )
    kept = drawn.worker > 0
    rest = SimulatedRatings(
        drawn.worker[kept] - 1, drawn.item[kept], drawn.system[kept], drawn.rating[kept]
    )
    with few_fits():
        near, far = fit(rest, near=fit(drawn)), fit(rest)
    assert near.criterion == pytest.approx(far.criterion, rel=1e-10)
    assert near.parameters.effect == pytest.approx(far.parameters.effect, rel=1e-7)
    assert near.standard_error == pytest.approx(far.standard_error, rel=1e-6)


@pytest.mark.parametrize(("n_ratings", "expected"), [(12_000, MOST_LEFT_OUT), (250_000, 10), (10**7, 3)])
def test_fewer_workers_are_left_out_where_a_refit_takes_long(n_ratings, expected):
    assert most_left_out(SimpleNamespace(n_ratings=n_ratings, n_workers=1000)) == expected
    assert most_left_out(SimpleNamespace(n_ratings=n_ratings, n_workers=2)) == 2
