"""Power of comparisons whose items come in clusters: each replicate, the formula, and what is named."""

import numpy as np
import pytest
from cases import each_case, few_fast

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores import calls as compare
from humeval_power.comparisons.scores import scenario as scenario_file
from humeval_power.comparisons.scores.effect_sizes import TestSettings
from humeval_power.comparisons.scores.power import retrospective_power
from humeval_power.comparisons.scores.scenario import ResampledClusters
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.comparisons.scores.tests import run_test
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean
from humeval_power.studies.power.estimate import estimate_power


def study(n_clusters=40, *, shift=0.2, seed=2):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_clusters), rng.integers(2, 9, n_clusters))
    values = shift + 0.5 * rng.standard_normal(n_clusters)[codes] + rng.standard_normal(len(codes))
    return np.round(values, 3), Clusters.of(codes.tolist())


VALUES, CLUSTERS = study()


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_each_replicate_is_tested_as_one_study_is(alternative, monkeypatch):
    drawn, original = [], scenario_file._tested_of_clusters

    def keep(sums, sizes, scenario):
        drawn.append((sums, sizes))
        return original(sums, sizes, scenario)

    monkeypatch.setattr(scenario_file, "_tested_of_clusters", keep)
    found = ResampledClusters(9, VALUES, CLUSTERS, 0.3, alternative).draw(20, seed=4)
    sums, sizes = (np.concatenate(each) for each in zip(*drawn, strict=True))
    for row in range(20):
        # equal values within a cluster have its sum, and CR2 knows no more of a cluster
        values = np.concatenate(
            [np.full(int(n), total / n) for total, n in zip(sums[row], sizes[row], strict=True)]
        )
        codes = np.repeat(np.arange(9), sizes[row].astype(int))
        expected = clustered_mean(values, Clusters.of(codes.tolist()))
        assert found.standard_error[row] == pytest.approx(expected.standard_error, rel=1e-9)
        assert found.df[row] == pytest.approx(expected.df, rel=1e-9)
        assert found.p_value[row] == pytest.approx(expected.p_value(0.0, alternative), rel=1e-9)


@pytest.mark.parametrize("normal", [False, True])
def test_replicates_belong_to_the_seed_alone(normal):
    scenario = ResampledClusters(12, VALUES, CLUSTERS, normal=normal)
    whole = scenario.draw(4200, seed=3)
    part = scenario.draw(2300, seed=3, n_jobs=2)
    assert (part.p_value == whole.p_value[:2300]).all()
    later = scenario.draw(100, seed=3, first=2000)
    assert (later.estimate == whole.estimate[2000:2100]).all()


def test_another_effect_moves_the_mean_alone():
    moved = ResampledClusters(30, VALUES, CLUSTERS).with_effect(0.9)
    assert moved.true_effect == 0.9
    drawn = moved.draw(3000, seed=1).estimate
    assert drawn.mean() == pytest.approx(0.9, abs=5 * drawn.std() / np.sqrt(3000))


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("n", [20, 60])
def test_the_formula_is_near_the_simulation(n, normal):
    # the formula takes the CR2 error as its own truth: within 0.05 of the simulation of 4,000 studies
    scenario = ResampledClusters(n, VALUES, CLUSTERS, normal=normal)
    simulated = estimate_power(scenario, n_simulations=4000, seed=1)
    assert scenario.computed().power == pytest.approx(simulated.power, abs=0.05)


def settings(**given):
    return TestSettings(n_resamples=200, **given)


@each_case(
    ("test", "question"),
    [
        ("t", "mean"),
        ("permutation", "mean"),
        ("sign", "better"),
        ("sign", "median"),
        ("wilcoxon", "pseudomedian"),
    ],
)
@each_case("power_by", ["bootstrap", "normal", "formula"])
def test_every_test_has_a_power_by_clusters(test, question, power_by):
    found = retrospective_power(
        VALUES,
        test=test,
        question=question,
        settings=settings(),
        clusters=CLUSTERS,
        power_by=power_by,
        n_simulations=150,
    )
    assert found.unit == "clusters"
    assert found.at.n == CLUSTERS.n_clusters
    assert found.items_per_unit == pytest.approx(CLUSTERS.n_items / CLUSTERS.n_clusters)
    powers = [point.power for point in found.curve]
    assert powers[-1] > powers[0]
    assert found.at.power == pytest.approx(found.at.formula or found.at.power, abs=0.15)


def whole_studies(name, question, n_studies):
    """How often the test itself rejects when whole clusters are drawn again: slow, and item by item."""
    rng, members, rejected = np.random.default_rng(5), CLUSTERS.members(), 0
    for _ in range(n_studies):
        picked = rng.integers(CLUSTERS.n_clusters, size=CLUSTERS.n_clusters)
        values = np.concatenate([VALUES[members[g]] for g in picked])
        codes = np.repeat(np.arange(len(picked)), [len(members[g]) for g in picked])
        found = run_test(name, values, settings(), question=question, clusters=Clusters.of(codes.tolist()))
        rejected += found.p_value <= 0.05
    return rejected / n_studies


@few_fast(("name", "question"), [("sign", "better"), ("wilcoxon", "pseudomedian")], fast=1)
def test_the_t_test_in_the_place_of_signs_and_ranks_is_as_powerful(name, question):
    found = retrospective_power(
        VALUES, test=name, question=question, settings=settings(), clusters=CLUSTERS, n_simulations=2000
    )
    # 300 studies: a share has a standard error of at most 0.029
    assert whole_studies(name, question, 300) == pytest.approx(found.at.power, abs=0.1)


def test_the_effect_that_matters_is_in_the_units_of_its_question():
    asked = {"settings": settings(), "clusters": CLUSTERS, "power_by": "formula", "effect": 0.3}
    mean = retrospective_power(VALUES, test="t", question="mean", **asked)
    assert mean.effect == 0.3
    ranks = retrospective_power(VALUES, test="wilcoxon", question="pseudomedian", **asked)
    assert ranks.effect == pytest.approx(0.3)
    assert ranks.at.power == pytest.approx(mean.at.power, abs=0.1)
    better = retrospective_power(VALUES, test="sign", question="better", **asked)
    assert better.effect == 0.3
    assert better.at.power > 0.99


def test_signs_that_are_alike_in_every_cluster_have_no_power_to_name():
    ones = np.where(np.arange(20) % 2 == 0, 1.0, 2.0)
    clusters = Clusters.of(np.repeat(range(5), 4).tolist())
    assert (
        retrospective_power(ones, test="sign", question="better", settings=settings(), clusters=clusters)
        is None
    )
    with pytest.raises(InputError, match="At least 2 clusters"):
        ResampledClusters(1, VALUES, CLUSTERS)


def test_numbers_of_clusters_can_be_chosen():
    table = ScoreTable(np.column_stack([np.zeros_like(VALUES), VALUES]), ("A", "B"), clusters=CLUSTERS)
    found = compare.scores(
        table, question="mean", power_by="formula", power_sizes=(10, 80)
    ).comparison.power
    assert [point.n for point in found.curve] == [10, 40, 80]
    assert "clusters give a power" in str(compare.scores(table, question="mean", power_by="formula"))
