"""Simulated studies of several systems: fits against the single-table fitter, power against the formula."""

import gc
import math
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from cases import few_fast
from scipy import stats
from statsmodels.stats.multitest import multipletests

from humeval_power.designs import Design, crossed, from_table, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.joint.fit import contrast_precision, fit_joint
from humeval_power.estimation.joint.strands import ContrastFits
from humeval_power.inference.corrections import significant
from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.simulation.rehearsal import CompleteSums
from humeval_power.studies.fit.max_t import CriticalValues, MaxT, factor_of
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_power import systems_formula
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import simulate_systems
from humeval_power.systems import SystemsParameters

UNEVEN = SystemsParameters(
    tuple("abcd"), (0.5, 0.5, 0.6, 0.7), 0.1, (0.05, 0.2, 0.1, 0.02), 0.1, (0.1, 0.12, 0.02, 0.0), 0.2
)
PAIRS = tuple(combinations(range(4), 2))
COMMON = ComparisonFamily(model="joint", variances="common")
OWN = ComparisonFamily(model="joint")
IN_PAIRS = ComparisonFamily()


def contrasts() -> np.ndarray:
    matrix = np.zeros((len(PAIRS), 4))
    for row, (first, second) in enumerate(PAIRS):
        matrix[row, first], matrix[row, second] = -1.0, 1.0
    return matrix


def responses(replication: SystemsReplication, n: int) -> np.ndarray:
    return replication._responses(np.random.default_rng(7), n)


@pytest.mark.parametrize(
    "design",
    [
        crossed(5, 9, n_systems=4),
        crossed(4, 6, n_repeats=2, n_systems=4),
        k_per_item(8, 20, ratings_per_item=3, n_systems=4),
    ],
)
@few_fast("family", [COMMON, OWN], fast=1)
def test_every_simulated_study_is_fitted_as_a_single_table_is(design, family):
    replication = SystemsReplication(UNEVEN, design, family, PAIRS, DEFAULT_RULE)
    ratings = responses(replication, 10)
    if design.is_crossed:
        found = replication.fit_sums(CompleteSums.of_ratings(ratings.reshape(10, *replication._size)))
    else:
        found = replication.fit_rows(ratings)
    rows = design.assignment
    singular = 0
    for study, rating in enumerate(ratings):
        table = SimpleNamespace(worker=rows.worker, item=rows.item, system=rows.system, rating=rating)
        fitted = fit_joint(table, variances=family.variances)
        singular += bool(fitted.boundary)
        assert found.contrasts.boundary[study].all() == bool(fitted.boundary)
        said = contrast_precision(fitted, contrasts())
        fits = found.contrasts
        assert fits.status[study] == 0
        assert fits.estimate[study] == pytest.approx(said.estimate, abs=1e-6)
        # the searches end where a further step would lower the criterion by 1e-8
        assert fits.standard_error[study] == pytest.approx(said.standard_error, rel=2e-4)
        assert fits.adjusted[study] == pytest.approx(said.standard_error_adjusted, rel=2e-4)
        assert fits.kenward_roger[study] == pytest.approx(said.df_kenward_roger, rel=1e-3)
        if family.variances == "common":
            assert fits.satterthwaite[study] == pytest.approx(said.df_satterthwaite, rel=1e-3)
    assert singular > 0


def systems_of(names: str, *, item: float = 0.1, slope: float = 0.12) -> SystemsParameters:
    n = len(names)
    own = tuple(np.linspace(0.02, slope, n))
    return SystemsParameters(tuple(names), tuple(np.linspace(0.4, 0.6, n)), 0.1, own, item, own[::-1], 0.2)


def every_other_item_twice(n_systems: int) -> Design:
    """The items 0, 2, ... are rated by 4 of 9 workers, the others by 2."""
    rng = np.random.default_rng(1)
    cells = [(worker, item) for item in range(24) for worker in rng.permutation(9)[: 4 - 2 * (item % 2)]]
    worker, item = np.repeat(np.array(cells), n_systems, axis=0).T
    return from_table(worker, item, np.tile(np.arange(n_systems), len(cells)), n_systems=n_systems)


TOGETHER = {
    "equal loads": k_per_item(8, 24, ratings_per_item=3, n_systems=3),
    "equal loads, eight systems": k_per_item(6, 12, ratings_per_item=2, n_systems=8),
    "equal loads, more workers than items": k_per_item(20, 8, ratings_per_item=5, n_systems=3),
    "unequal loads": k_per_item(7, 24, ratings_per_item=3, n_systems=3, max_ratings_per_worker=33),
    "eight systems": k_per_item(6, 13, ratings_per_item=2, n_systems=8),
    "more workers than items": k_per_item(20, 9, ratings_per_item=5, n_systems=3),
    "more workers of unequal loads": k_per_item(19, 10, ratings_per_item=4, n_systems=3),
    "unequal replication": every_other_item_twice(3),
}


def some_systems_of_some_items(n_systems: int, *, n_workers: int = 9, n_items: int = 24) -> Design:
    """Every worker rates some systems of some items, now and then twice."""
    rng = np.random.default_rng(3)
    worker, item, system = np.indices((n_workers, n_items, n_systems)).reshape(3, -1)
    rows = np.repeat(np.arange(len(worker)), rng.choice(3, len(worker), p=[0.6, 0.35, 0.05]))
    return from_table(worker[rows], item[rows], system[rows], n_systems=n_systems)


APART = {
    "not together": k_per_item(8, 24, ratings_per_item=3, n_systems=3, paired=False),
    "eight systems, not together": k_per_item(6, 13, ratings_per_item=2, n_systems=8, paired=False),
    "ten systems": some_systems_of_some_items(10),  # matrices of an order that is swept by blocks
    "some systems of some items": some_systems_of_some_items(3),
    "some systems of few items": some_systems_of_some_items(3, n_workers=24, n_items=9),
}


@pytest.mark.parametrize(
    ("shape", "family"),
    [
        (shape, family)
        for shape in (*TOGETHER, *APART)
        for family in (IN_PAIRS, COMMON, OWN)
        if (shape, family) != ("ten systems", IN_PAIRS)  # whose matrices are of two systems
    ],
)
@few_fast("n_tables", [2, 30])
def test_fits_of_many_tables_are_those_of_the_single_pairs_and_tables(shape, family, n_tables):
    design = (TOGETHER | APART)[shape]
    for values in (
        systems_of("abcdefghij"[: design.n_systems]),
        systems_of("abcdefghij"[: design.n_systems], item=0.0, slope=0.02),  # many estimates are at zero
    ):
        pairs = tuple(combinations(range(design.n_systems), 2))
        study = SystemsReplication(values, design, family, pairs, DEFAULT_RULE)
        ratings = responses(study, n_tables)
        ratings[0] = 0.5  # nothing varies: left to the other road, which refuses it
        found = study.fit_rows(ratings).contrasts
        assert (study.together is None) == (
            shape in APART or (family == OWN and not shape.startswith("equal loads"))
        )
        if family.model == "joint":
            said = study.fit_tables(ratings)
        else:
            fields = zip(*(study.fit_pair(place, ratings) for place in range(len(pairs))), strict=True)
            *columns, status, zero = map(np.column_stack, fields)
            said = ContrastFits(*columns, status.max(axis=1), zero)
        assert np.array_equal(found.status, said.status)
        assert found.status[0] != 0
        usable = said.status == 0
        assert usable.sum() >= 2 * n_tables // 3
        # both searches take the same steps; those of a single table treat a singular Hessian otherwise
        close = 1e-9 if family.model == "pairwise" else 1e-5
        for name in ("standard_error", "adjusted", "satterthwaite", "kenward_roger"):
            one, other = (getattr(fits, name)[usable] for fits in (found, said))
            assert one == pytest.approx(other, rel=close, nan_ok=True), name
        assert found.estimate[usable] == pytest.approx(said.estimate[usable], abs=close)
        assert (found.boundary == said.boundary)[usable].mean() > (0.999 if close < 1e-6 else 0.9)


@pytest.mark.parametrize("design", [crossed(5, 12), k_per_item(8, 24, ratings_per_item=3)])
def test_fits_of_two_systems_are_at_zero_as_often_as_in_studies_of_two(design):
    values = SystemsParameters.of_parameters(preset("high"), 2).with_pattern("one", 0.2)
    found = simulate_systems(values, design, IN_PAIRS, DEFAULT_RULE, n_simulations=1000)
    alone = estimate_power(RatingStudy(values.pair(0, 1), design), n_simulations=1000)
    assert 0.05 < alone.boundary_rate < 0.3
    assert found.boundary_rate == pytest.approx(alone.boundary_rate, abs=0.05)
    assert found.boundary_rate_of == (found.boundary_rate,)


def test_power_by_strands_is_that_of_the_single_pairs_and_tables(monkeypatch):
    design = k_per_item(7, 24, ratings_per_item=3, n_systems=4)
    parameters = SystemsParameters.of_parameters(preset("high"), 4).with_pattern("one", 0.25)

    def simulated(family: ComparisonFamily) -> object:
        return simulate_systems(parameters, design, family, DEFAULT_RULE, n_simulations=16)

    families = (IN_PAIRS, COMMON, replace(COMMON, correction="max-t"))
    by_strands = [simulated(family) for family in families]
    monkeypatch.setattr(SystemsReplication, "together", None)
    for family, found in zip(families, by_strands, strict=True):
        said = simulated(family)
        assert (found.shares, found.per_comparison, found.top_group) == (
            said.shares,
            said.per_comparison,
            said.top_group,
        )


def test_systems_that_are_not_rated_together_have_no_strands():
    for design in (
        k_per_item(8, 20, ratings_per_item=2, n_systems=4, paired=False),
        k_per_item(140, 151, ratings_per_item=2, n_systems=4),
    ):
        assert SystemsReplication(UNEVEN, design, IN_PAIRS, PAIRS, DEFAULT_RULE).together is None


@few_fast("family", [COMMON, OWN, IN_PAIRS], fast=1)
def test_studies_are_the_same_in_any_portions_and_on_any_number_of_cores(family):
    for design in (
        crossed(5, 9, n_systems=4),
        k_per_item(8, 12, ratings_per_item=2, n_systems=4),
        k_per_item(7, 12, ratings_per_item=2, n_systems=4),
    ):
        replication = SystemsReplication(UNEVEN, design, family, PAIRS, DEFAULT_RULE)
        n = 600 if design.is_crossed else 8
        whole = replication.fits(n, seed=5)
        parallel = replication.fits(n, seed=5, n_jobs=2)
        tail = replication.fits(n - 3, seed=5, first=3)
        alone = replication.fits(1, seed=5, first=4)
        for name in ("estimate", "standard_error", "kenward_roger"):
            said = getattr(whole.contrasts, name)
            assert np.array_equal(said, getattr(parallel.contrasts, name))
            assert np.array_equal(said[3:], getattr(tail.contrasts, name))
            assert np.array_equal(said[4:5], getattr(alone.contrasts, name))


def test_sums_that_are_drawn_have_the_law_of_sums_of_ratings():
    design = crossed(5, 9, n_systems=4, n_repeats=2)
    drawn = SystemsReplication(UNEVEN, design, OWN, PAIRS, DEFAULT_RULE)._drawn(np.random.default_rng(1))
    replication = SystemsReplication(UNEVEN, design, OWN, PAIRS, DEFAULT_RULE)
    computed = CompleteSums.of_ratings(responses(replication, 256).reshape(256, *replication._size))
    for name in ("means", "workers", "items", "residual"):
        one, two = (getattr(sums, name).reshape(256, -1) for sums in (drawn, computed))
        # 44 means of 256 studies: within four and a half standard errors of each other
        spread = np.sqrt((one.var(axis=0) + two.var(axis=0)) / 256)
        assert (np.abs(one.mean(axis=0) - two.mean(axis=0)) < 4.5 * spread).all()
        # and variances within a factor that F(255, 255) passes once in 10,000 times
        ratio = one.var(axis=0) / two.var(axis=0)
        assert (ratio > 0.6).all()
        assert (ratio < 1.7).all()


@pytest.mark.parametrize("correction", ["none", "bonferroni", "holm", "bh"])
def test_corrections_are_those_of_statsmodels(correction, monkeypatch):
    monkeypatch.setattr(gc, "collect", lambda: 0)  # statsmodels does at every call of Holm's
    rng = np.random.default_rng(2)
    p = rng.uniform(size=(200, 7)) ** 4
    found = significant(p, correction, 0.05)
    for row, values in zip(found, p, strict=True):
        if correction == "none":
            said = values <= 0.05
        else:
            method = {"bh": "fdr_bh"}.get(correction, correction)
            said = multipletests(values, alpha=0.05, method=method)[0]
        assert np.array_equal(row, said)
    assert found.any()
    assert not found.all()
    with_missing = p.copy()
    with_missing[:, 2] = np.nan
    assert not significant(with_missing, correction, 0.05)[:, 2].any()


@pytest.mark.slow
def test_critical_values_of_the_largest_t_are_interpolated_closely():
    correlation = contrasts() @ contrasts().T / 2
    values = CriticalValues(factor_of(correlation), 0.05)
    df = np.array([[0.7, 1.5, 3.3], [7.7, 26.0, 1e9]])
    largest = MaxT(factor_of(correlation), math.inf)
    said = [[largest.at(one).critical_value(0.05) for one in row] for row in df]
    assert values(df) == pytest.approx(np.array(said), rel=2e-4)
    assert values(np.array(12.0)) == pytest.approx(
        stats.studentized_range.isf(0.05, 4, 12) / 2**0.5, rel=2e-4
    )


@pytest.mark.parametrize("alpha", [0.01, 0.001])
def test_the_largest_of_independent_t_is_at_most_at_the_bound_of_bonferroni(alpha):
    """The tail at the points passes the bound by their error, and no value lies between."""
    said = MaxT(factor_of(np.eye(20)), math.inf).critical_value(alpha)
    bound, exact = stats.norm.isf(alpha / 40), stats.norm.isf((1 - (1 - alpha) ** (1 / 20)) / 2)
    assert said <= bound * (1 + 1e-12)
    assert said == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("family", [IN_PAIRS, COMMON, OWN])
def test_two_systems_have_the_simulated_power_of_a_study_of_two(family):
    two = preset("high").with_difference(0.25)
    study = RatingStudy(two, crossed(8, 40))
    said = estimate_power(study, n_simulations=4096)
    parameters = SystemsParameters.of_parameters(two, 2).with_pattern("one", 0.25)
    found = simulate_systems(parameters, crossed(8, 40), family, DEFAULT_RULE, n_simulations=4096)
    # two independent samples of 4,096 studies
    assert found.power == pytest.approx(said.power, abs=4 * math.sqrt(0.5 / 4096))
    assert found.shares["any"] == found.shares["all"] == found.power


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [3, 8, 16])
@pytest.mark.parametrize("family", [IN_PAIRS, COMMON, OWN])
def test_formula_and_simulation_agree(n_systems, family):
    parameters = SystemsParameters.of_parameters(preset("high"), n_systems).with_pattern("one", 0.35)
    design = crossed(12, 60, n_systems=n_systems)
    for correction in ("none", "holm"):
        chosen = replace(family, correction=correction)
        by_formula = systems_formula(parameters, design, chosen, DEFAULT_RULE)
        simulated = simulate_systems(parameters, design, chosen, DEFAULT_RULE, n_simulations=2048)
        # Monte Carlo error of 0.01, and the chi-square law of the estimated variances is an approximation
        for goal, close in (("pair", 0.04), ("any", 0.06), ("first", 0.03)):
            assert by_formula.shares[goal] == pytest.approx(simulated.shares[goal], abs=close), (
                correction,
                goal,
            )
        assert by_formula.top_group == pytest.approx(simulated.top_group, abs=0.06 * n_systems)


def test_formula_and_simulation_agree_where_systems_vary_differently():
    design = crossed(12, 40, n_systems=4)
    for family in (IN_PAIRS, OWN):
        by_formula = systems_formula(UNEVEN, design, family, DEFAULT_RULE)
        simulated = simulate_systems(UNEVEN, design, family, DEFAULT_RULE, n_simulations=2048)
        assert np.array(by_formula.per_comparison) == pytest.approx(simulated.per_comparison, abs=0.05)
        assert simulated.shares["first"] == pytest.approx(by_formula.shares["first"], abs=0.02)


def test_formula_and_simulation_agree_for_k_of_m_workers():
    design = k_per_item(12, 60, ratings_per_item=3, n_systems=4)
    by_formula = systems_formula(UNEVEN, design, IN_PAIRS, DEFAULT_RULE)
    simulated = simulate_systems(UNEVEN, design, IN_PAIRS, DEFAULT_RULE, n_simulations=400)
    # 400 studies: four standard errors
    assert np.array(by_formula.per_comparison) == pytest.approx(simulated.per_comparison, abs=0.1)


def test_holm_keeps_the_family_wise_error_of_equal_systems_and_the_best_is_rarely_shown_wrongly():
    level = SystemsParameters.of_parameters(preset("high"), 4)
    nearly = level.with_means([0.6, 0.6, 0.6, 0.6 + 1e-6])
    found = simulate_systems(
        nearly, crossed(10, 40, n_systems=4), COMMON, DEFAULT_RULE, goal="first", n_simulations=4096
    )
    high = stats.binom.isf(0.001, 4096, 0.05)
    assert found.false_claim * 4096 <= high
    assert found.shares["first"] == pytest.approx(0.25, abs=0.03)
    margin = found.best_margin
    assert margin.shown <= 0.05 / 2
    assert margin.interval[0] < margin.estimate < margin.interval[1]


def test_hsus_interval_covers_the_margin_of_the_best():
    parameters = SystemsParameters.of_parameters(preset("high"), 5).with_pattern("steps", 0.1)
    near, far = (
        simulate_systems(parameters, crossed(m, 200, n_systems=5), COMMON, DEFAULT_RULE, n_simulations=512)
        for m in (5, 60)
    )
    assert far.best_margin.estimate == pytest.approx(0.1, abs=0.02)
    width = [one.best_margin.interval[1] - one.best_margin.interval[0] for one in (near, far)]
    assert width[1] < width[0]
    assert far.best_margin.shown > near.best_margin.shown


def test_likert_ratings_and_incomplete_designs_can_be_simulated():
    parameters = SystemsParameters.of_parameters(preset("low"), 3).with_pattern("steps", 0.2)
    for design in (
        crossed(5, 20, n_systems=3),
        k_per_item(6, 20, ratings_per_item=2, n_systems=3),
        k_per_item(6, 20, ratings_per_item=2, n_systems=3, paired=False),
    ):
        for family in (IN_PAIRS, OWN):
            found = simulate_systems(
                parameters, design, family, DEFAULT_RULE, n_simulations=16, response="likert", points=5
            )
            assert found.n_simulations == 16
            assert 0 <= found.power <= 1


def test_failed_fits_count_as_nothing_found_and_many_leave_no_power():
    parameters = SystemsParameters.of_parameters(preset("low"), 3).with_pattern("one", 0.2)
    same = replace(
        parameters,
        sd_worker=0.0,
        sd_worker_system=(0.0,) * 3,
        sd_item=0.0,
        sd_item_system=(0.0,) * 3,
        sd_residual=1e-3,
    )
    # ratings rounded to two points are all alike: nothing can be fitted
    found = simulate_systems(
        same, crossed(4, 6, n_systems=3), OWN, DEFAULT_RULE, n_simulations=32, response="likert", points=2
    )
    assert found.n_failed == 32
    assert found.too_many_failed
    assert math.isnan(found.power)


def test_one_sided_tests_and_margins_count_their_claims():
    level = SystemsParameters.of_parameters(preset("low"), 3)
    design = crossed(20, 100, n_systems=3)
    rule = DecisionRule(alternative="equivalent", margin=0.15)
    family = replace(COMMON, correction="none")
    found = simulate_systems(level, design, family, rule, n_simulations=2048)
    said = systems_formula(level, design, family, rule)
    assert found.power == pytest.approx(said.power, abs=0.05)
    better = level.with_pattern("steps", 0.1)
    upward = DecisionRule(alternative="greater")
    found = simulate_systems(better, design, family, upward, n_simulations=2048)
    assert found.power == pytest.approx(systems_formula(better, design, family, upward).power, abs=0.05)
    with pytest.raises(InputError, match="one for each comparison"):
        simulate_systems(better, design, family, DecisionRule(df="calibrated"))
