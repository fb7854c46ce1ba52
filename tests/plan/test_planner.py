"""From a request to a plan: what is chosen, what is promised, and what is said when it cannot be had."""

import functools
import itertools
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from cases import each_case, examples, few_fast
from hypothesis import given
from hypothesis import strategies as st
from seven import seven
from test_search import CLIFF, cost_models

from humeval_power.assumptions import assumptions_of
from humeval_power.costs import CostModel, cost_of
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters, preset
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import of_hundred
from humeval_power.studies.plan.candidates import SearchSpace, cheapest, list_candidates
from humeval_power.studies.plan.request import PlanRequest, PlanResult, Way
from humeval_power.studies.plan.search_and_prove import make_plan
from humeval_power.studies.power.assurance import assurance
from humeval_power.studies.power.required import counts_power
from humeval_power.study_counts import StudyCounts
from humeval_power.uncertainty import Stratum, VarianceUncertainty

LIKERT = seven(0.58, 0.06, 0.07, 0.05, 0.13, 0.15, 0.18)
PRICES = CostModel(price_per_rating=Decimal("0.12"), cost_per_worker=Decimal(3))
SPACE = SearchSpace(workers=range(4, 31, 2), items=range(20, 201, 20), ratings_per_item=range(1, 7))
TIGHT = SearchSpace(workers=range(3, 7), items=range(20, 101, 20), ratings_per_item=range(1, 7))


def pilot_uncertainty(m: int, n: int, parameters: Parameters) -> VarianceUncertainty:
    """What a complete pilot would say whose mean squares are at their expectation (the methods notes 1.1)."""
    noise = parameters.sd_residual**2
    parts = zip(
        (
            parameters.sd_worker_intercept,
            parameters.sd_worker_slope,
            parameters.sd_item_intercept,
            parameters.sd_item_slope,
        ),
        (2 * n, n / 2, 2 * m, m / 2),
        (m - 1, m - 1, n - 1, n - 1),
        strict=True,
    )
    a, b, c, d = (Stratum(sd**2 + noise / load, df, 1 / load) for sd, load, df in parts)
    return VarianceUncertainty(strata=(a, b, c, d), residual=noise, residual_df=2 * (m - 1) * (n - 1))


def plan(
    effect: float = 0.08, *, parameters: Parameters = LIKERT, space=SPACE, n=200, **wanted
) -> PlanResult:
    wanted.setdefault("costs", PRICES)
    assumed = assumptions_of(
        wanted.pop("settings", {"pilot": parameters}), uncertainty=wanted.pop("uncertainty", None)
    )
    return make_plan(PlanRequest(assumed, effect=effect, space=space, **wanted), n_simulations=n)


def brute_force_confident(effect: float, space, uncertainty, confidence: float) -> int:
    """Cents of the cheapest of all designs whose power has the target as its lower quantile."""
    candidates = list_candidates({"p": LIKERT.with_difference(effect)}, space, PRICES)
    for index in np.argsort(candidates.cents, kind="stable"):
        found = assurance(uncertainty, candidates.counts(int(index)), effect=effect)
        if found.quantile(1 - confidence) >= 0.8:
            return int(candidates.cents[index])
    raise AssertionError("no design of the space is sure enough: the test needs a wider one")


# -- the cheapest design, and the best for a budget -----------------------------------------------------


def test_the_chosen_design_is_the_cheapest_that_the_search_finds():
    result = plan()
    candidates = list_candidates({"p": LIKERT.with_difference(0.08)}, SPACE, PRICES)
    index = cheapest(candidates, target=0.8)
    assert index is not None
    assert result.reached
    assert result.chosen.counts == candidates.counts(index)
    assert result.chosen.cost == cost_of(result.chosen.counts, PRICES)
    assert (result.reason, result.would_do) == ("", ())
    assert result.n_candidates == len(candidates)


FREE = replace(PRICES, cost_per_worker=Decimal(0))
WIDE = SearchSpace(workers=range(4, 61, 4), items=range(20, 201, 20), ratings_per_item=range(1, 5))


@functools.cache
def enough_with_twenty_ratings() -> list[tuple[int, Decimal]]:
    """Workers and cost of every design in which each gives twenty ratings, and which finds the difference."""
    with_effect, found = LIKERT.with_difference(0.1), []
    for m, n, k in itertools.product(WIDE.workers, WIDE.items, WIDE.ratings_per_item):
        if k <= m <= n * k and 2 * n * k >= 20 * m:
            counts = StudyCounts(m, n, k)
            if counts_power(with_effect, counts) >= 0.8:
                found.append((m, cost_of(counts, FREE).total))
    return found


@few_fast("budget", [Decimal(40), None, Decimal(25)])
def test_fewer_workers_are_the_cheapest_of_all_designs_in_which_each_gives_twenty_ratings(budget):
    result = plan(0.1, space=WIDE, costs=FREE, budget=budget)
    fewer = [
        cost
        for m, cost in enough_with_twenty_ratings()
        if m < result.chosen.counts.n_workers and (budget is None or cost <= budget)
    ]
    found = min(fewer, default=None)
    ways = {way.name: way.option for way in result.ways}
    assert result.chosen.counts.ratings_of_a_worker < 20
    if found is None:
        assert "fewer workers" not in ways
    else:
        assert ways["fewer workers"].cost.total == found
        assert ways["fewer workers"].counts.ratings_of_a_worker >= 20
        assert ways["fewer workers"].powers["pilot"] >= 0.8


def test_where_workers_have_enough_to_rate_or_cost_something_no_design_has_fewer():
    assert "fewer workers" not in [way.name for way in plan(0.1, space=WIDE).ways]
    assert "fewer workers" not in [way.name for way in plan(space=TIGHT, costs=FREE).ways]


def test_the_promise_is_the_formula_at_the_effect_of_interest_and_not_at_the_pilots():
    result = plan(0.08, parameters=LIKERT.with_difference(0.5))
    expected = counts_power(LIKERT.with_difference(0.08), result.chosen.counts)
    assert result.chosen.powers == {"pilot": pytest.approx(expected, rel=1e-12)}
    assert result.chosen.simulated is not None
    assert result.chosen.simulated.true_effect == pytest.approx(0.08)


@pytest.mark.slow
def test_the_winner_is_proved_by_simulation():
    chosen = plan(n=2000).chosen
    assert chosen.simulated is not None
    assert chosen.simulated.n_simulations == 2000
    # formula and simulation within Monte Carlo error (4 standard errors) and the t law's 0.02
    assert abs(chosen.simulated.power - chosen.powers["pilot"]) <= 4 * 0.5 / 2000**0.5 + 0.02


def test_a_budget_is_a_limit_and_all_of_it_is_spent_only_where_that_is_asked():
    free, limited = plan(), plan(budget=Decimal(10_000))
    assert limited.chosen == free.chosen
    assert limited.reached
    spent = plan(budget=Decimal(300), spend_budget=True)
    candidates = list_candidates({"p": LIKERT.with_difference(0.08)}, SPACE, PRICES)
    within = candidates.worst_power[candidates.cents <= 30_000]
    assert spent.chosen.powers["pilot"] == pytest.approx(float(within.max()), abs=1e-9)
    assert spent.chosen.cost.total <= 300


def test_beside_the_plan_stand_the_cheapest_of_power_090_and_what_all_the_money_buys():
    budget = Decimal(2_000)
    found = {way.name: way.option for way in plan(budget=budget).ways}
    assert list(found) == ["cheapest", "safer", "all the budget"]
    candidates = list_candidates({"p": LIKERT.with_difference(0.08)}, SPACE, PRICES)
    safe = candidates.cents[candidates.worst_power >= 0.9].min()
    most = candidates.worst_power[candidates.cents <= 100 * budget].max()
    cheapest_way, safer, largest = found.values()
    assert cheapest_way == plan().chosen
    assert safer is not None
    assert safer.cost.cents == safe
    assert largest is not None
    assert largest.powers["pilot"] == pytest.approx(float(most), abs=1e-9)
    assert [way.name for way in plan().ways] == ["cheapest", "safer"]


def test_a_way_that_the_budget_closes_holds_nothing():
    needed = plan().chosen.cost.total
    found = {way.name: way.option for way in plan(budget=needed - 1).ways}
    assert found["cheapest"] is found["safer"] is None
    assert found["all the budget"] is not None


def test_of_a_pilot_the_safer_way_has_its_power_on_average_over_what_the_pilot_leaves_open():
    known = pilot_uncertainty(15, 60, LIKERT)
    safer = {way.name: way.option for way in plan(uncertainty=known).ways}["safer"]
    assert safer is not None
    assert assurance(known, safer.counts, effect=0.08).expected >= 0.9


def test_a_design_that_somebody_has_in_mind_stands_beside_whatever_the_limits():
    mind = StudyCounts(34, 210, 5)  # more workers and items than there are to choose from
    ways = {way.name: way.option for way in plan(budget=Decimal(100), beside=mind).ways}
    assert list(ways) == ["cheapest", "safer", "all the budget", "yours"]
    yours = ways["yours"]
    assert yours is not None
    assert yours.counts == mind
    assert yours.powers["pilot"] == pytest.approx(
        counts_power(LIKERT.with_difference(0.08), mind), rel=1e-12
    )
    assert yours.cost == cost_of(mind, PRICES)
    chosen = plan().chosen  # it is no other option than the one that was proved
    assert plan(beside=chosen.counts).ways[-1].option == chosen


def test_every_way_says_the_risk_of_its_power_and_of_nothing_what_was_not_assumed():
    assert [(way.spread, way.chance) for way in plan().ways] == [(None, None)] * 2
    known = pilot_uncertainty(15, 60, LIKERT)
    for way in plan(uncertainty=known, beside=StudyCounts(10, 60, 2)).ways:
        assert way.option is not None
        assert way.spread is not None
        sorted_powers = np.sort(assurance(known, way.option.counts, effect=0.08, seed=1).powers)
        # the twin: of all draws a tenth lies below, a tenth above, and the chance is a count
        assert np.mean(sorted_powers < way.spread.low) == pytest.approx(0.1, abs=1e-3)
        assert np.mean(sorted_powers > way.spread.high) == pytest.approx(0.1, abs=1e-3)
        assert way.chance == np.count_nonzero(sorted_powers >= 0.8) / len(sorted_powers)
    both = {"mild": LIKERT, "hard": replace(LIKERT, sd_worker_slope=0.2)}
    for way in plan(settings=both, space=TIGHT, beside=StudyCounts(6, 60, 3)).ways:
        if way.option is not None:
            assert way.spread is not None
            at_both = [counts_power(one.with_difference(0.08), way.option.counts) for one in both.values()]
            assert (way.spread.low, way.spread.high) == pytest.approx(
                (min(at_both), max(at_both)), rel=1e-12
            )
            assert (way.spread.known_from, way.chance) == ("assumed", None)


@pytest.mark.parametrize(
    ("k", "price", "power", "recommended"),
    [
        (1, "28.80", 0.95, None),  # agreement cannot be measured in either
        (3, "43.20", 0.93, "safer"),  # half as much again, and 0.02 less sure: the limits
        (3, "43.21", 0.93, None),
        (3, "43.20", 0.92, None),
    ],
)
def test_the_recommended_design_has_several_ratings_is_as_sure_and_hardly_dearer(
    k, price, power, recommended
):
    result = plan()

    def option(k: int, price: str, power: float):
        counts, cost = replace(result.chosen.counts, ratings_per_item=k), result.chosen.cost
        nothing = dict.fromkeys(cost.parts, Decimal(0))
        cost = replace(cost, **{**nothing, "ratings": Decimal(price)})
        return replace(result.chosen, counts=counts, cost=cost, powers={"pilot": power}, simulated=None)

    cheapest, other = option(1, "28.80", 0.95), option(k, price, power)
    ways = (Way("cheapest", cheapest), Way("fewer workers", None), Way("safer", other))
    assert replace(result, ways=ways).recommended == recommended
    alone = replace(result, chosen=cheapest, ways=(Way("cheapest", None), Way("yours", other)))
    assert alone.recommended == (None if recommended is None else "yours")
    assert replace(alone, chosen=option(2, "28.80", 0.95)).recommended == "best"


def test_there_is_no_budget_to_spend_where_none_is_said():
    with pytest.raises(InputError, match="`budget`"):
        plan(spend_budget=True)


def test_the_front_that_is_shown_rises_in_cost_and_power_and_keeps_both_ends():
    points = plan().front
    assert all(a.cost < b.cost and a.power < b.power for a, b in itertools.pairwise(points))
    candidates = list_candidates({"p": LIKERT.with_difference(0.08)}, SPACE, PRICES)
    assert points[0].cost == Decimal(int(candidates.cents.min())) / 100
    assert points[-1].power == pytest.approx(float(candidates.power.max()), abs=1e-9)
    assert len(points) <= 40


@pytest.mark.slow
@examples(200)
@given(cost_models(), st.decimals(20, 3000, places=2))
def test_no_plan_overspends_its_budget_by_a_cent(model, budget):
    request = PlanRequest(assumptions_of({"p": LIKERT}), 0.08, TIGHT, model, budget=budget)
    candidates = list_candidates({"p": LIKERT.with_difference(0.08)}, TIGHT, model)
    if int(candidates.cents.min()) > 100 * budget:
        with pytest.raises(InputError, match="the cheapest costs"):
            make_plan(request, n_simulations=1)
    else:
        chosen = make_plan(request, n_simulations=1).chosen
        assert cost_of(chosen.counts, model).total == chosen.cost.total <= budget


def test_a_budget_that_misses_the_target_says_which_budget_would_not():
    needed = plan().chosen.cost.total
    result = plan(budget=needed - Decimal("20"))
    assert not result.reached
    assert result.chosen.cost.total <= needed - 20
    found = of_hundred(result.chosen.powers["pilot"])
    assert (
        f"With {needed - 20} USD {found} of 100 such studies find a difference of 0.08, not 80."
        in result.reason
    )
    assert f"a budget of {needed} USD" in result.would_do
    assert plan(budget=needed).reached


@pytest.mark.parametrize("budget", ["0", "-5", "nan", "inf"])
def test_a_budget_that_is_no_amount_is_refused(budget):
    with pytest.raises(InputError, match="budget"):
        plan(budget=Decimal(budget))


# -- several settings, and the pilot's uncertainty ------------------------------------------------------


@pytest.mark.slow
def test_robust_reaches_the_target_under_the_worst_setting():
    both = {"easy": LIKERT, "hard": seven(0.58, 0.0, 0.07, 0.08, 0.13, 0.2, 0.25)}
    plain, robust = plan(settings=both), plan(settings=both, robust=True)
    assert plain.chosen.powers["easy"] >= 0.8 > plain.chosen.powers["hard"]
    assert min(robust.chosen.powers.values()) >= 0.8
    assert robust.chosen.cost.total > plain.chosen.cost.total
    assert robust.chosen.counts == plan(parameters=both["hard"]).chosen.counts  # here it is always worst


@pytest.mark.slow
def test_a_robust_plan_is_proved_under_its_worst_setting():
    both = {"easy": LIKERT, "hard": seven(0.58, 0.0, 0.07, 0.08, 0.13, 0.2, 0.25)}
    result = plan(settings=both, robust=True, n=2000)
    assert result.chosen.simulated is not None
    assert result.chosen.simulated.power == pytest.approx(result.chosen.powers["hard"], abs=0.06)


def test_an_unreachable_robust_plan_is_explained_by_the_setting_that_fails():
    both = {"low": preset("low"), "high": preset("high")}
    result = plan(
        0.1,
        settings=both,
        robust=True,
        space=SearchSpace(workers=range(3, 11), items=range(20, 201, 20), ratings_per_item=(3,)),
    )
    assert not result.reached
    assert f"with the best {of_hundred(result.chosen.powers['high'])} of 100" in result.reason


@pytest.mark.slow
def test_a_design_with_confidence_reaches_its_quantile():
    known = pilot_uncertainty(20, 60, LIKERT)
    wide = SearchSpace(workers=range(6, 121, 6), items=range(40, 401, 40), ratings_per_item=range(1, 7))
    plain = plan(space=wide, uncertainty=known)
    for confidence in (0.6, 0.9):
        result = plan(space=wide, uncertainty=known, confidence=confidence)
        assert result.assurance is not None
        assert result.reached
        assert result.assurance.quantile(1 - confidence) >= 0.8
        assert result.chosen.cost.total > plain.chosen.cost.total
        # the chance that the study has the target power is the same thing, seen from the other side
        assert result.assurance.chance_of(0.8) >= confidence - 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.6, 0.9])
def test_no_cheaper_design_is_as_sure(confidence):
    known = pilot_uncertainty(20, 60, LIKERT)
    wide = SearchSpace(workers=range(6, 121, 12), items=range(40, 401, 40), ratings_per_item=range(1, 7))
    chosen = plan(space=wide, uncertainty=known, confidence=confidence).chosen
    best = brute_force_confident(0.08, wide, known, confidence)
    # within 2 %: designs are compared by power at the estimates before they are compared by quantile
    assert chosen.cost.cents <= 1.02 * best


def test_a_confidence_that_no_design_gives_is_not_called_reached():
    known = pilot_uncertainty(4, 20, LIKERT)
    result = plan(uncertainty=known, confidence=0.95)
    assert result.assurance is not None
    assert result.assurance.quantile(0.05) < 0.8
    assert not result.reached
    assert result.reason


def test_a_budget_does_not_make_a_confidence_count_as_reached():
    known = pilot_uncertainty(4, 20, LIKERT)
    result = plan(uncertainty=known, confidence=0.95, budget=Decimal(300))
    assert result.assurance is not None
    assert result.assurance.quantile(0.05) < 0.8
    assert not result.reached


def test_confidence_needs_a_pilot():
    with pytest.raises(InputError, match="plan from a pilot"):
        plan(confidence=0.8)


# -- what cannot be had ---------------------------------------------------------------------------------


def test_an_unreachable_target_has_a_reason_and_ways_that_really_work():
    result = plan(0.05, space=TIGHT)
    assert not result.reached
    power = result.chosen.powers["pilot"]
    assert result.reason == (
        f"No design within these limits is enough: with the best {of_hundred(power)} of 100 such studies find a "
        "difference of 0.05, by formula, not 80."
    )
    effect_way = next(way for way in result.would_do if way.startswith("a difference of"))
    detectable = float(effect_way.split()[3])
    found = counts_power(LIKERT.with_difference(detectable), result.chosen.counts)
    assert found == pytest.approx(0.8, abs=0.01)  # the effect is printed with three decimals
    worker_way = next(way for way in result.would_do if "workers with" in way).split()
    wider = SearchSpace(
        workers=(int(worker_way[0]),), items=(int(worker_way[3]),), ratings_per_item=(int(worker_way[6]),)
    )
    widened = plan(0.05, space=wider)
    assert widened.reached
    assert f"({widened.chosen.cost.total} USD)" in " ".join(worker_way)


def test_the_best_there_is_comes_back_when_nothing_reaches_the_target():
    result = plan(0.03, space=TIGHT)
    candidates = list_candidates({"p": LIKERT.with_difference(0.03)}, TIGHT, PRICES)
    assert result.chosen.powers["pilot"] == pytest.approx(float(candidates.power.max()), abs=1e-9)


@each_case("effect", [0.0, -0.1, float("nan"), float("inf"), 5.0])
def test_an_effect_that_cannot_be_of_interest_is_refused(effect):
    with pytest.raises(InputError, match="effect"):
        plan(effect)


@pytest.mark.parametrize("target", [1.2, 1.0, 0.0, 0.02])
def test_a_target_power_that_is_no_goal_is_refused(target):
    with pytest.raises(InputError, match="target power must lie between"):
        plan(target=target)


# -- the same answer again ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing():
    assumed = assumptions_of({"p": LIKERT}, uncertainty=pilot_uncertainty(8, 40, LIKERT))
    request = PlanRequest(assumed, 0.08, SPACE, PRICES)
    one, two = (make_plan(request, n_simulations=300, seed=3, n_jobs=jobs) for jobs in (1, 2))
    assert one.chosen == two.chosen
    assert one.ways == two.ways
    assert one.front == two.front
    assert one.assurance is not None
    assert two.assurance is not None
    np.testing.assert_array_equal(one.assurance.powers, two.assurance.powers)


@pytest.mark.slow
def test_unpaired_plans_are_promised_by_the_power_of_their_own_assignment():
    space = SearchSpace(
        workers=range(6, 31, 4), items=range(20, 201, 30), ratings_per_item=range(1, 4), pairings=(False,)
    )
    result = plan(0.1, space=space, n=2000)
    assert not result.chosen.counts.paired
    assert result.reached
    assert result.chosen.simulated is not None
    assert result.chosen.simulated.interval[1] >= 0.8


def test_another_rule_leads_to_another_design():
    often = SearchSpace(
        workers=SPACE.workers, items=SPACE.items, ratings_per_item=(4, 5, 6)
    )  # with one rating both rules have m - 1 df
    careful = plan(space=often, rule=DecisionRule(df="min"))
    assert careful.chosen.cost.total > plan(space=often).chosen.cost.total


def test_hits_in_copies_are_never_dearer():
    request = PlanRequest(
        assumptions_of({"p": LIKERT}),
        0.05,
        SearchSpace(workers=range(10, 31, 2), items=range(40, 201, 40), ratings_per_item=(10, 12)),
        CostModel(price_per_rating=Decimal("0.1"), fee=CLIFF),
    )
    in_copies = replace(request, costs=replace(request.costs, split_hits=True))
    once, split = (make_plan(r, n_simulations=50) for r in (request, in_copies))
    assert once.split is not None
    assert split.chosen.cost.total <= once.chosen.cost.total - once.split.saving
