"""What stands around a power by formula: growth, prices, parts of the variance, the law of the estimates."""

from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from cases import each_case, few_fast
from scipy import stats

from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import counterbalanced, crossed, k_per_item, with_documents
from humeval_power.fees import PlatformFee
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.formula import (
    EffectPrecision,
    analytic_power,
    chance_of_significance,
    effect_precision,
    estimate_density,
    power_at,
    rule_critical_value,
)
from humeval_power.studies.power.growth import (
    TARGET,
    StudyLike,
    counts_of,
    growth_of_items,
    growth_of_workers,
    spending_of,
)
from humeval_power.studies.power.outlook import (
    Outlook,
    estimates_of,
    find_bottleneck,
    pair_ceilings,
    variance_parts,
)
from humeval_power.studies.power.required import counts_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.study_counts import StudyCounts

PARAMETERS = Parameters(
    baseline=0.5,
    effect=0.12,
    sd_worker_intercept=0.1,
    sd_worker_slope=0.15,
    sd_item_intercept=0.1,
    sd_item_slope=0.2,
    sd_residual=0.2,
    sd_document_slope=0.08,
    sd_document_intercept=0.05,
)
ALONE = replace(PARAMETERS, sd_document_slope=0.0, sd_document_intercept=0.0)
DESIGNS = {
    "crossed": crossed(12, 40),
    "k": k_per_item(12, 40, ratings_per_item=3),
    "split": k_per_item(12, 40, ratings_per_item=3, paired=False),
    "documents": with_documents(crossed(12, 40), 8),
    "k documents": with_documents(k_per_item(12, 40, ratings_per_item=3), 8),
}
RULES = {
    "two-sided": DecisionRule(),
    "greater": DecisionRule(alternative="greater"),
    "normal": DecisionRule(df="normal"),
    "min": DecisionRule(df="min"),
    "non-inferior": DecisionRule(alternative="non-inferior", margin=0.1),
    "equivalent": DecisionRule(alternative="equivalent", margin=0.2),
}
PRICES = CostModel(
    price_per_rating=Decimal("0.12"),
    cost_per_worker=Decimal(3),
    cost_per_item=Decimal("0.5"),
    fee=PlatformFee("a platform", share=Decimal("0.2")),
)


def parameters_of(name: str) -> Parameters:
    return PARAMETERS if "documents" in name else ALONE


def like(name: str, rule: DecisionRule = RULES["two-sided"]) -> StudyLike:
    design, parameters = DESIGNS[name], parameters_of(name)
    counts = counts_of(design)
    assert counts is not None
    return StudyLike(parameters, counts, effect_precision(parameters, design), rule)


@each_case("rule", RULES.values(), ids=RULES)
@each_case("name", DESIGNS)
def test_growth_goes_through_the_power_of_the_study(name, rule):
    study = like(name, rule)
    if not rule.can_show(study.parameters.difference):
        return
    exact = power_at(study.parameters.difference, study.precision, rule=rule).power
    workers, items = growth_of_workers(study), growth_of_items(study)
    assert workers.powers[workers.sizes.index(12)] == pytest.approx(exact, rel=1e-9)
    assert items.powers[items.sizes.index(40)] == pytest.approx(exact, rel=1e-9)
    assert study.power_of(study.counts) == pytest.approx(exact, rel=1e-9)


def test_growth_of_a_crossed_study_is_exact_everywhere():
    study = like("crossed")
    for size, power in zip(*(lambda g: (g.sizes, g.powers))(growth_of_workers(study)), strict=True):
        assert power == pytest.approx(analytic_power(ALONE, crossed(size, 40)).power, rel=1e-6)
    for size, power in zip(*(lambda g: (g.sizes, g.powers))(growth_of_items(study)), strict=True):
        assert power == pytest.approx(analytic_power(ALONE, crossed(12, size)).power, rel=1e-6)


@pytest.mark.parametrize("name", ["k", "split"])
def test_growth_of_others_is_close_to_the_exact_formula(name):
    study = like(name)
    paired = name == "k"
    for workers in (8, 24):
        exact = analytic_power(ALONE, k_per_item(workers, 40, ratings_per_item=3, paired=paired)).power
        # the singular values of the incidence matrix are taken as equal; unpaired, intercepts blur the slopes
        assert float(study.powers(workers, 40)) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("name", ["crossed", "k", "documents"])
def test_growth_without_end_comes_to_the_ceiling(name):
    study = like(name)
    items = growth_of_items(study)
    assert items.ceiling is not None
    assert float(study.powers(12, 10**7)) == pytest.approx(items.ceiling.power, abs=0.005)
    workers = growth_of_workers(study)
    assert workers.ceiling is not None
    most = 10**6 if name != "k" else 120  # workers for whom there is work
    assert float(study.powers(most, 40)) == pytest.approx(workers.ceiling.power, abs=0.005)


@each_case("name", DESIGNS)
@each_case("effect", [0.06, 0.12, 0.3])
def test_enough_is_the_first_size_that_reaches_the_target(name, effect):
    study = like(name)
    study = replace(study, parameters=study.parameters.with_difference(effect))
    for growth, powers in (
        (growth_of_workers(study), lambda size: study.powers(size, 40)),
        (growth_of_items(study), lambda size: study.powers(12, size)),
    ):
        if growth.enough is None:
            assert max(growth.powers) < TARGET
            continue
        assert float(powers(growth.enough)) >= TARGET
        if growth.enough > growth.sizes[0]:
            assert float(powers(growth.enough - 1)) < TARGET
        assert growth.sizes[-1] >= growth.enough


@each_case("name", DESIGNS)
def test_the_parts_of_the_variance_add_up_to_it(name):
    counts = counts_of(DESIGNS[name])
    assert counts is not None
    parts = variance_parts(parameters_of(name), counts)
    exact = effect_precision(parameters_of(name), DESIGNS[name]).variance
    assert sum(parts.values()) == pytest.approx(
        exact, rel=1e-9 if name in ("crossed", "documents") else 0.01
    )
    assert ("documents" in parts) == ("documents" in name)


def test_each_part_of_the_variance_is_what_goes_without_it():
    counts = StudyCounts(12, 40, 12)
    parts = variance_parts(ALONE, counts)
    whole = effect_precision(ALONE, crossed(12, 40)).variance
    calm = replace(ALONE, sd_worker_slope=0.0)
    assert parts["workers"] == pytest.approx(whole - effect_precision(calm, crossed(12, 40)).variance)
    calm = replace(ALONE, sd_item_slope=0.0)
    assert parts["items"] == pytest.approx(whole - effect_precision(calm, crossed(12, 40)).variance)


def test_designs_that_counts_do_not_describe_have_their_estimates_alone():
    study = RatingStudy(ALONE, counterbalanced(12, 40))
    found = Outlook(study, analytic_power(ALONE, study.design))
    assert (found.counts, found.workers, found.parts, found.spending) == (None, None, None, None)
    assert found.curse is not None
    assert counts_of(crossed(6, 10, n_repeats=2)) is None


def test_without_an_effect_there_is_nothing_to_grow():
    study = RatingStudy(ALONE.with_difference(0.0), crossed(12, 40))
    found = Outlook(study, analytic_power(study.parameters, study.design))
    assert (found.workers, found.spending, found.curse, found.effects) == (None, None, None, None)
    assert found.parts is not None
    assert found.estimates.under_null == found.estimates.under_effect


# --- the law of the estimates


def test_the_density_is_that_of_scipy():
    at = np.linspace(-0.3, 0.5, 9)
    precision = EffectPrecision(0.04**2, 13.0, 11, 12)
    assert estimate_density(at, 0.1, precision) == pytest.approx(stats.norm(0.1, 0.04).pdf(at), rel=1e-12)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_significant_estimates_are_as_many_as_the_formula_of_power_says(rule):
    precision = EffectPrecision(0.05**2, 9.3, 7, 8)
    at = np.linspace(-1.5, 1.5, 200_001)
    for effect in (0.0, 0.07, -0.04):
        significant = chance_of_significance(at, precision, rule)
        found = np.trapezoid(estimate_density(at, effect, precision) * significant, at)
        assert found == pytest.approx(power_at(effect, precision, rule=rule).rejection_rate, abs=2e-7)


@pytest.mark.parametrize("rule", [RULES["two-sided"], RULES["greater"]], ids=["two-sided", "greater"])
def test_their_mean_size_is_type_m(rule):
    precision = EffectPrecision(0.05**2, 9.3, 7, 8)
    at = np.linspace(-1.5, 1.5, 200_001)
    density = estimate_density(at, 0.07, precision) * chance_of_significance(at, precision, rule)
    mean = np.trapezoid(np.abs(at) * density, at) / np.trapezoid(density, at)
    found = power_at(0.07, precision, rule=rule)
    assert mean / 0.07 == pytest.approx(found.type_m, rel=1e-4)
    wrong = np.trapezoid(np.where(at < 0, density, 0), at) / np.trapezoid(density, at)
    assert wrong == pytest.approx(found.type_s, abs=1e-5)


@each_case("rule", RULES.values(), ids=RULES)
def test_the_chance_of_significance_is_that_of_drawn_standard_errors(rule):
    precision = EffectPrecision(0.05**2, 9.3, 7, 8)
    rng = np.random.default_rng(20261122)
    drawn = 0.05 * np.sqrt(rng.chisquare(9.3, 40_000) / 9.3)
    reach = rule_critical_value(rule, precision) * drawn
    for estimate in (-0.16, -0.05, 0.03, 0.09, 0.13):
        shown = {
            "two-sided": abs(estimate) > reach,
            "greater": estimate > reach,
            "non-inferior": estimate + (rule.margin or 0) > reach,
            "equivalent": abs(estimate) + reach < (rule.margin or 0),
        }[rule.alternative]
        chance = float(chance_of_significance(np.array([estimate]), precision, rule)[0])
        # 40,000 draws: five standard errors of a share
        assert shown.mean() == pytest.approx(chance, abs=5 * np.sqrt(0.25 / 40_000))


def test_a_known_standard_error_makes_a_sharp_edge():
    precision = EffectPrecision(1.0, np.inf, 9, 10)
    chance = chance_of_significance(np.array([1.9, 2.0, -2.0]), precision, RULES["normal"])
    assert chance.tolist() == [0, 1, 1]


def test_the_drawn_range_holds_nearly_all_estimates():
    precision = EffectPrecision(0.05**2, 9.3, 7, 8)
    found = estimates_of(0.1, precision, RULES["two-sided"])
    for density in (found.under_null, found.under_effect):
        assert np.trapezoid(density, found.at) == pytest.approx(1, abs=5e-4)


def test_the_curse_is_that_of_the_formula_and_goes_away_with_power():
    study = RatingStudy(ALONE, crossed(12, 40))
    found = Outlook(study, analytic_power(ALONE, study.design))
    curse = found.curse
    assert curse is not None
    assert curse.power[0] < 0.05 < 0.95 < curse.power[-1]
    assert all(a > b for a, b in zip(curse.type_m[:-1], curse.type_m[1:], strict=True))
    assert curse.type_m[-1] == pytest.approx(1, abs=0.05)


# --- costs


@pytest.mark.parametrize("costs", [None, PRICES], ids=["ratings", "prices"])
@few_fast("name", DESIGNS, fast=1)
def test_designs_have_the_prices_and_powers_that_they_have_alone(name, costs):
    study = like(name)
    spending = spending_of(study, growth_of_workers(study), growth_of_items(study), costs=costs)
    own = study.counts
    for designs in (spending.front, spending.splits, spending.more_workers, spending.more_items):
        for m, n, k, cost, power in list(zip(*designs.columns, strict=True))[::5]:
            counts = replace(own, n_workers=m, n_items=n, ratings_per_item=k)
            price = 2 * n * k if costs is None else float(cost_of(counts, costs).total)
            assert cost == pytest.approx(price, abs=1e-9)
            assert power == pytest.approx(study.power_of(counts), rel=1e-9)
            assert k == (m if own.is_complete else own.ratings_per_item)


@each_case("costs", [None, PRICES], ids=["ratings", "prices"])
@each_case("name", DESIGNS)
def test_splits_spend_the_sum_and_no_more(name, costs):
    study = like(name)
    grown = growth_of_workers(study), growth_of_items(study)
    budget = Decimal(900)
    spending = spending_of(study, *grown, costs=costs, budget=budget)
    splits = spending.splits
    assert len(splits) > 1
    assert spending.sum == 900
    for m, n, k, cost, _ in zip(*splits.columns, strict=True):
        assert cost <= 900
        counts = replace(study.counts, n_workers=m, n_items=n + 1, ratings_per_item=k)
        assert (2 * (n + 1) * k if costs is None else cost_of(counts, costs).total) > 900


def test_steps_of_prices_are_kept_below_the_sum():
    costs = replace(PRICES, units_per_assignment=25)  # 25 items are paid at once
    study = like("crossed")
    spending = spending_of(study, growth_of_workers(study), growth_of_items(study), costs=costs)
    assert max(spending.splits.cost) <= spending.sum


def test_the_front_is_that_of_all_designs_looked_at_one_by_one():
    study = like("crossed")
    spending = spending_of(study, growth_of_workers(study), growth_of_items(study), costs=PRICES)
    front = spending.front
    assert all(np.diff(front.cost) > 0)
    assert all(np.diff(front.power) > 0)
    m, n = np.meshgrid(np.arange(2, 61), np.arange(2, 401))
    power = study.powers(m, n)
    price = np.array([[float(cost_of(StudyCounts(a, 40, a), PRICES).total) for a in range(2, 61)]])
    each = np.array(
        [[float(cost_of(StudyCounts(a, 140, a), PRICES).total) for a in range(2, 61)]]
    )  # linear in the items at these prices, to the cent
    cost = price + (each - price) * (n - 40) / 100
    for limit in (150.0, 300.0, 600.0):
        best = power[cost <= limit].max()
        found = max(p for c, p in zip(front.cost, front.power, strict=True) if c <= limit)
        assert best - 0.03 <= found <= best + 1e-9  # the front stands at some sums only


def test_where_no_worker_costs_anything_each_has_a_session_to_rate():
    study = like("k")
    k = study.counts.ratings_per_item
    # every number of workers with every number of items, one by one
    m, n = np.meshgrid(np.arange(k, 121), np.arange(2, 601))
    power, ratings = study.powers(m, n), 2 * n * k
    enough = (power >= TARGET) & (ratings >= 20 * m)
    fewest = ratings[enough].min()
    assert (
        ratings[(power >= TARGET) & (m <= n * k)].min() < fewest
    )  # what more workers with less each would save
    for costs in (None, replace(PRICES, cost_per_worker=Decimal(0))):
        spending = spending_of(study, growth_of_workers(study), growth_of_items(study), costs=costs)
        for designs in (spending.front, spending.splits):
            assert all(2 * n * k >= 20 * m for m, n, *_ in zip(*designs.columns, strict=True)), costs
        reaching = [place for place, each in enumerate(spending.front.power) if each >= TARGET]
        first = spending.front.items[reaching[0]] * 2 * k
        assert fewest <= first <= 1.05 * fewest, costs  # the front stands at some sums only


def test_where_a_worker_costs_something_each_may_have_little_to_rate():
    study = replace(like("k"), rule=DecisionRule())
    cheap = replace(PRICES, cost_per_worker=Decimal("0.01"))
    spending = spending_of(study, growth_of_workers(study), growth_of_items(study), costs=cheap)
    k = study.counts.ratings_per_item
    assert any(2 * n * k < 20 * m for m, n, *_ in zip(*spending.front.columns, strict=True))


def test_a_study_like_another_says_what_helps_as_the_exact_formula_does():
    study = like("crossed")
    ceilings = pair_ceilings(ALONE, study.counts, target=TARGET, rule=study.rule)
    own = find_bottleneck(study.counts, power_of=study.power_of, ceilings=ceilings)
    exact = find_bottleneck(
        study.counts, power_of=partial(counts_power, ALONE, rule=study.rule), ceilings=ceilings
    )
    assert own.factor == exact.factor
    assert own.more_workers == pytest.approx(exact.more_workers, rel=1e-6)
    assert own.more_items == pytest.approx(exact.more_items, rel=1e-6)
    split = like("split")
    fast = find_bottleneck(split.counts, power_of=split.power_of, ceilings=ceilings)
    slow = counts_power(ALONE, replace(split.counts, n_items=44)) - counts_power(ALONE, split.counts)
    assert fast.more_items == pytest.approx(slow, abs=0.005)
