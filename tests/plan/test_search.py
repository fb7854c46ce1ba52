"""The search over sizes against plain loops, and budgets over random prices."""

import itertools
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from cases import each_case, examples, few_fast
from hypothesis import given
from hypothesis import strategies as st
from seven import seven

from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import k_per_item
from humeval_power.errors import InputError
from humeval_power.fees import PlatformFee
from humeval_power.parameters import preset
from humeval_power.rules import DecisionRule
from humeval_power.studies.plan.candidates import (
    SearchSpace,
    cheapest,
    feasible_sizes,
    front,
    list_candidates,
    most_powerful,
    rests_on_few,
)
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import analytic_power, power_at
from humeval_power.studies.power.required import (
    counts_power,
    counts_precision,
    design_of,
    powers,
    regular_precision,
)
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.study_counts import StudyCounts

LIKERT = seven(0.58, 0.1, 0.07, 0.05, 0.13, 0.15, 0.18)
SLIDER = seven(0.62, 0.06, 0.10, 0.04, 0.12, 0.08, 0.14)
STRONG = seven(0.60, 0.2, 0.05, 0.22, 0.05, 0.28, 0.26)
CLIFF = PlatformFee(
    "cliff",
    share=Decimal("0.2"),
    minimum_per_assignment=Decimal("0.01"),
    extra_share=Decimal("0.2"),
    extra_from=10,
    charged_per="assignment",
)
SIMPLE = CostModel(price_per_rating=Decimal("0.12"), cost_per_worker=Decimal("3.5"))
PRICES = {
    "simple": SIMPLE,
    "dear items": CostModel(price_per_rating=Decimal("0.05"), cost_per_item=Decimal("1.25")),
    "with a cliff": CostModel(price_per_rating=Decimal("0.07"), cost_per_worker=1, fee=CLIFF),
}
# all loads divide, so that the formula of the search and that of the assignment agree closely
GRID = SearchSpace(workers=(4, 6, 12), items=(24, 48, 72, 96), ratings_per_item=(1, 2, 3, 4))


def loop(space, costs, parameters):
    """Every design that can be carried out: (cents, power of its own assignment, counts)."""
    found = []
    for m, n, k in itertools.product(space.workers, space.items, space.ratings_per_item):
        if k > m or (space.max_ratings_per_worker or 10**9) < 2 * -(-n * k // m):
            continue
        counts = StudyCounts(m, n, k)
        power = analytic_power(parameters, design_of(counts)).power
        found.append((cost_of(counts, costs).cents, power, counts))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("parameters", [LIKERT, SLIDER, STRONG], ids=["likert", "slider", "strong"])
@pytest.mark.parametrize("target", [0.5, 0.7, 0.8])
def test_plain_loops_over_a_small_grid_find_the_same_cheapest_design(price, parameters, target):
    reaching = [entry for entry in loop(GRID, PRICES[price], parameters) if entry[1] >= target]
    candidates = list_candidates({"one": parameters}, GRID, PRICES[price])
    index = cheapest(candidates, target=target)
    if not reaching:
        assert index is None
        return
    cents, _, counts = min(reaching, key=lambda entry: (entry[0], -entry[1], entry[2].n_workers))
    assert index is not None
    assert int(candidates.cents[index]) == cents
    assert candidates.counts(index) == counts


@pytest.mark.slow
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("parameters", [LIKERT, SLIDER, STRONG], ids=["likert", "slider", "strong"])
@pytest.mark.parametrize("budget", [Decimal("25.00"), Decimal("60.00"), Decimal("150.00")])
def test_plain_loops_over_a_small_grid_find_the_same_most_powerful_design(price, parameters, budget):
    fitting = [entry for entry in loop(GRID, PRICES[price], parameters) if entry[0] <= 100 * budget]
    candidates = list_candidates({"one": parameters}, GRID, PRICES[price])
    index = most_powerful(candidates, budget_cents=int(100 * budget))
    if not fitting:
        assert index is None
        return
    assert index is not None
    assert candidates.counts(index) == max(fitting, key=lambda entry: entry[1])[2]


@each_case("word", ["kenward-roger", "satterthwaite", "min", "normal"])
@each_case("alternative", ["two-sided", "greater"])
def test_power_of_many_designs_is_that_of_one_at_a_time(word, alternative):
    rule = DecisionRule(df=word, alternative=alternative, alpha=0.04)
    sizes = [(2, 30, 2), (5, 40, 5), (10, 60, 3), (40, 200, 2)]
    m, n, k = (np.array(column) for column in zip(*sizes, strict=True))
    precision = regular_precision(LIKERT, workers=m, items=n, ratings_per_item=k)
    together = powers(LIKERT.difference, precision, smallest=np.minimum(m, n) - 1.0, rule=rule)
    alone = [
        power_at(LIKERT.difference, counts_precision(LIKERT, StudyCounts(*size)), rule=rule).power
        for size in sizes
    ]
    np.testing.assert_allclose(together, alone, rtol=1e-10)


amounts = st.decimals(0, 20, places=2)
shares = st.decimals(0, Decimal("0.3"), places=3)


@st.composite
def cost_models(draw):
    by_assignment = draw(st.booleans())
    cliff = by_assignment and draw(st.booleans())
    return CostModel(
        price_per_rating=draw(st.decimals(Decimal("0.001"), 3, places=3)),
        cost_per_worker=draw(amounts),
        cost_per_item=draw(amounts),
        cost_per_output=draw(amounts),
        rejected_share=draw(shares),
        checks_per_rating=draw(shares),
        fee=PlatformFee(
            "random",
            share=draw(st.decimals(0, Decimal("0.5"), places=3)),
            minimum_per_assignment=draw(amounts) if by_assignment else Decimal(0),
            extra_share=Decimal("0.2") if cliff else Decimal(0),
            extra_from=draw(st.integers(2, 6)) if cliff else None,
            per_worker=draw(amounts),
            charged_per="assignment" if by_assignment else "study",
        ),
        units_per_assignment=draw(st.integers(1, 7)),
        split_hits=draw(st.booleans()),
    )


SMALL = SearchSpace(
    workers=(3, 5, 8, 13), items=(10, 25, 60), ratings_per_item=(1, 2, 3, 5, 8), pairings=(True, False)
)


@pytest.mark.slow
@examples(200)
@given(cost_models(), st.decimals(1, 3000, places=2))
def test_a_budget_is_never_overspent_by_a_cent_and_nothing_better_was_affordable(model, budget):
    candidates = list_candidates({"one": LIKERT}, SMALL, model)
    index = most_powerful(candidates, budget_cents=int(budget * 100))
    exact = [cost_of(candidates.counts(i), model).total for i in range(len(candidates))]
    affordable = [i for i, total in enumerate(exact) if total <= budget]
    assert (index is None) == (not affordable)
    if index is not None:
        assert exact[index] <= budget
        best = max(candidates.worst_power[i] for i in affordable)
        assert candidates.worst_power[index] == pytest.approx(best, abs=1e-9)  # ties are rounded to 1e-9


@examples(60)
@given(cost_models())
def test_no_design_on_the_front_is_dominated_and_every_other_is(model):
    candidates = list_candidates({"one": LIKERT}, SMALL, model)
    best = front(candidates)
    cents, power = candidates.cents[best], candidates.worst_power[best]
    assert (np.diff(cents) > 0).all()
    assert (np.diff(power) > 0).all()
    for i in range(len(candidates)):
        dominating = (cents <= candidates.cents[i]) & (power >= candidates.worst_power[i] - 1e-9)
        assert dominating.any()


@examples(60)
@given(cost_models(), st.sampled_from([0.3, 0.5, 0.7]), st.decimals(Decimal("0.01"), 20, places=2))
def test_doubling_the_price_of_a_worker_never_buys_more_workers(model, target, price):
    chosen = []
    for factor in (1, 2, 4):
        dearer = replace(model, cost_per_worker=factor * price)
        candidates = list_candidates({"one": LIKERT}, SMALL, dearer)
        index = cheapest(candidates, target=target)
        assert index is not None
        chosen.append(candidates.counts(index).n_workers)
    assert chosen == sorted(chosen, reverse=True)


def test_the_power_of_a_candidate_is_the_smallest_over_the_settings():
    settings_by_name = {"likert": LIKERT, "high": preset("high").with_difference(0.1)}
    candidates = list_candidates(settings_by_name, GRID, SIMPLE)
    assert candidates.settings == ("likert", "high")
    for index in (0, 5, len(candidates) - 1):
        counts = candidates.counts(index)
        each = [counts_power(p, counts) for p in settings_by_name.values()]
        np.testing.assert_allclose(candidates.power[:, index], each, rtol=1e-10)
        assert candidates.worst_power[index] == pytest.approx(min(each), rel=1e-10)


@few_fast("limit", [10, 37, 80], fast=1)
def test_nobody_is_asked_for_more_than_the_limit(limit):
    space = SearchSpace(
        workers=range(2, 15),
        items=range(5, 60, 14),
        ratings_per_item=range(1, 7),
        pairings=(True, False),
        max_ratings_per_worker=limit,
    )
    candidates = list_candidates({"one": LIKERT}, space, SIMPLE)
    listed = {
        (c.n_workers, c.n_items, c.ratings_per_item, c.paired)
        for c in map(candidates.counts, range(len(candidates)))
    }
    assert len(listed) == len(candidates)
    for m, n, k, paired in itertools.product(
        space.workers, space.items, space.ratings_per_item, (True, False)
    ):
        needed = k * (1 if paired else 2)
        feasible = needed <= m <= n * needed  # as many workers as an item needs, and work for each
        feasible = feasible and not rests_on_few(n * needed - m, m)
        if feasible:
            heaviest = int(design_of(StudyCounts(m, n, k, paired)).worker_loads.max())
            feasible = heaviest <= limit
        assert feasible == ((m, n, k, paired) in listed), (m, n, k, paired)


def test_unpaired_designs_have_twice_the_workers_on_an_item_and_two_hits():
    space = SearchSpace(workers=(2, 3, 4, 6), items=(12,), ratings_per_item=(1, 2, 3), pairings=(False,))
    candidates = list_candidates({"one": LIKERT}, space, SIMPLE)
    assert not candidates.paired.any()
    assert (2 * candidates.ratings_per_item <= candidates.workers).all()
    for i in range(len(candidates)):
        assert int(candidates.cents[i]) == cost_of(candidates.counts(i), SIMPLE).cents


def test_with_both_pairings_each_design_is_priced_and_judged_in_its_own_way():
    noisy = seven(0.58, 0.1, 0.07, 0.05, 0.13, 0.15, 0.18, sd_worker_item=0.2)
    space = SearchSpace(workers=(6,), items=(30,), ratings_per_item=(2,), pairings=(True, False))
    candidates = list_candidates({"one": noisy}, space, PRICES["with a cliff"])
    assert list(candidates.paired) == [True, False]
    assert candidates.power[0, 0] > candidates.power[0, 1]
    for i in (0, 1):
        assert int(candidates.cents[i]) == cost_of(candidates.counts(i), PRICES["with a cliff"]).cents


def test_a_target_that_no_design_reaches_has_no_cheapest_design():
    candidates = list_candidates({"one": LIKERT.with_difference(0.001)}, GRID, SIMPLE)
    assert cheapest(candidates, target=0.8) is None
    assert most_powerful(candidates, budget_cents=1) is None
    assert most_powerful(candidates) is not None


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            SearchSpace(workers=(3,), items=(20,), ratings_per_item=(5,)),
            "an item needs at least 5 workers, and there are 3",
        ),
        (
            SearchSpace(workers=(5,), items=(20,), ratings_per_item=(3,), pairings=(False,)),
            "at least 6 workers, and there are 5",
        ),
        (
            SearchSpace(workers=(5,), items=(200,), ratings_per_item=(2,), max_ratings_per_worker=20),
            "even 5 workers would give 160 ratings each, above the limit of 20",
        ),
        (
            SearchSpace(workers=range(2, 3000), items=range(2, 3000), ratings_per_item=(1,)),
            "8,988,004 designs are too many",
        ),
    ],
)
def test_a_space_without_a_design_or_with_too_many_says_why(space, message):
    with pytest.raises(InputError, match=message):
        list_candidates({"one": LIKERT}, space, SIMPLE)


@pytest.mark.parametrize(
    ("space", "word"),
    [
        (
            SearchSpace(workers=(40,), items=(20,), ratings_per_item=(1,), max_ratings_per_worker=1),
            "limit of 1",
        ),
        (SearchSpace(workers=(1,), items=(20,), ratings_per_item=(1,)), "2 workers"),
        (SearchSpace(workers=(5,), items=(1,), ratings_per_item=(1,)), "2 items"),
    ],
)
def test_an_empty_space_gives_its_reason_and_not_only_the_fact(space, word):
    with pytest.raises(InputError, match=word):
        list_candidates({"one": LIKERT}, space, SIMPLE)


def test_an_empty_range_is_refused():
    with pytest.raises(InputError):
        list_candidates(
            {"one": LIKERT}, SearchSpace(workers=(), items=(20,), ratings_per_item=(1,)), SIMPLE
        )


def _is_fitted(workers: int, n_studies: int) -> bool:
    """Whether each of so many studies of 100 items, one rating each, has a test on a scale of five points."""
    parameters = seven(0.52, 0.1, 0.09, 0.03, 0.18, 0.03, 0.17)
    study = RatingStudy(
        parameters, k_per_item(workers, 100, ratings_per_item=1), response="likert", points=5
    )
    return estimate_power(study, n_simulations=n_studies).failure_rate == 0


@few_fast("n_studies", [25, 100])
def test_no_design_rests_on_a_few_workers_who_rate_a_second_item(n_studies: int) -> None:
    # 98 workers of 100 items: where two of them repeat themselves, workers explain all ratings: no test.
    assert not _is_fitted(98, n_studies)
    assert _is_fitted(100, n_studies)
    assert _is_fitted(90, n_studies)
    space = SearchSpace(workers=range(88, 105), items=(100,), ratings_per_item=(1,))
    assert np.unique(feasible_sizes(space, True)[0]).tolist() == [88, 89, 90, 100]
    asked = replace(space, workers=(98,))
    assert feasible_sizes(asked, True)[0].tolist() == [98]
