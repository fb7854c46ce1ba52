"""All pairs by shared resamples: each pair is its own test, corrections by the definition, error rates."""

from __future__ import annotations

import numpy as np
import pytest
from reference import plain_resampling
from scipy import stats
from statsmodels.stats.multitest import multipletests

from humeval_power.comparisons.scores.all_pairs import clusters, compare_scores, replicability
from humeval_power.comparisons.scores.answers import TestSettings, score_differences
from humeval_power.comparisons.scores.bootstrap import bootstrap_t, joint_bootstrap
from humeval_power.comparisons.scores.score_table import ScoreTable, all_pairs
from humeval_power.errors import InputError


def table(n=40, k=4, seed=1, spread=0.3):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, 1)) + rng.standard_normal((n, k)) + spread * np.arange(k)
    return ScoreTable(scores, tuple("ABCDEFGHIJKLMNOP"[:k]))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_every_pair_is_its_own_bootstrap_t(alternative):
    scores, settings = table(), TestSettings(n_resamples=500, seed=3, alternative=alternative)
    joint = joint_bootstrap(scores.scores, all_pairs(4), settings)
    low, high = joint.intervals(settings.confidence)
    for place, (a, b) in enumerate(all_pairs(4)):
        alone = bootstrap_t(score_differences(scores.scores[:, a], scores.scores[:, b]), settings)
        assert joint.p_values()[place] == pytest.approx(alone.p_value, rel=1e-12)
        assert (low[place], high[place]) == pytest.approx(alone.interval, rel=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_romano_wolf_and_max_t_are_those_of_the_definition(alternative):
    settings = TestSettings(n_resamples=300, alternative=alternative)
    joint = joint_bootstrap(table().scores, all_pairs(4), settings)
    turn = {"two-sided": np.abs, "greater": np.asarray, "less": np.negative}[alternative]
    observed, drawn = turn(joint.t), turn(joint.drawn)
    assert joint.romano_wolf() == pytest.approx(plain_resampling.step_down(observed, drawn), rel=1e-12)
    largest = drawn.max(axis=1)
    expected = [(1 + (largest >= t).sum()) / 301 for t in observed]
    assert joint.max_t() == pytest.approx(expected, rel=1e-12)
    assert (joint.romano_wolf() <= joint.max_t() + 1e-12).all()


def test_the_number_of_cores_changes_nothing():
    settings = TestSettings(n_resamples=700)
    one, two = (joint_bootstrap(table().scores, all_pairs(4), settings, n_jobs=jobs) for jobs in (1, 2))
    # matrix products of the same blocks; their sums may differ in the last digit between threads
    np.testing.assert_allclose(one.drawn, two.drawn, rtol=1e-9)


def test_systems_that_agree_everywhere_are_not_apart_and_constant_gaps_are_refused():
    scores = np.column_stack([table().scores, table().scores[:, 0]])
    joint = joint_bootstrap(scores, all_pairs(5), TestSettings(n_resamples=200))
    place = [tuple(pair) for pair in all_pairs(5)].index((0, 4))
    assert joint.p_values()[place] == 1.0
    assert joint.romano_wolf()[place] == 1.0
    with pytest.raises(InputError, match="no spread"):
        joint_bootstrap(np.array([[0.0, 1.0]] * 5), all_pairs(2), TestSettings(n_resamples=10))


@pytest.mark.parametrize(
    ("name", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
def test_corrections_are_statsmodels(name, theirs):
    found = compare_scores(table(), question="mean", settings=TestSettings(), correction=name)
    raw = [pair.test.p_value for pair in found.pairs]
    assert [pair.corrected_p for pair in found.pairs] == pytest.approx(multipletests(raw, method=theirs)[1])
    assert len(found.pairs) == 6


def test_the_pairs_are_scipys_tests_and_b_is_the_later_system():
    found = compare_scores(table(), question="pseudomedian", settings=TestSettings(), correction="none")
    scores = table()
    for pair in found.pairs:
        a, b = scores.column(pair.first), scores.column(pair.second)
        assert pair.corrected_p == pytest.approx(stats.wilcoxon(b - a, method="exact").pvalue, rel=1e-9)


def test_a_baseline_is_compared_with_every_other_system_and_makes_no_clusters():
    found = compare_scores(table(), question="mean", settings=TestSettings(), baseline="B")
    assert [(pair.first, pair.second) for pair in found.pairs] == [("B", "A"), ("B", "C"), ("B", "D")]
    assert found.clusters == ()
    with pytest.raises(InputError, match="no system 'Z'"):
        compare_scores(table(), question="mean", settings=TestSettings(), baseline="Z")


def test_resampling_corrections_are_for_means():
    with pytest.raises(InputError, match="holm"):
        compare_scores(table(), question="median", settings=TestSettings(), correction="max-t")


def test_clusters_are_cut_where_all_before_differ_from_all_after():
    apart = {frozenset(pair) for pair in ("AC", "AD", "BC", "BD", "CD")}
    assert clusters("ABCD", apart) == (("A", "B"), ("C",), ("D",))
    assert clusters("ABCD", apart - {frozenset("BC")}) == (("A", "B", "C"), ("D",))
    assert clusters("ABCD", set()) == (("A", "B", "C", "D"),)


def test_replicability_counts_by_bonferroni_are_those_by_hand():
    # Sorted .001, .01, .02, .5. Fewer than u effects: (4 - u + 1) p_(u) = .004, .03, .04, .5.
    found = replicability([0.02, 0.001, 0.5, 0.01])
    assert found.partial_p == pytest.approx((0.004, 0.03, 0.04, 0.5))
    assert found.count == 3
    assert found.holm_p == pytest.approx((0.04, 0.004, 0.5, 0.03))
    assert found.named == (0, 1, 3)
    assert multipletests([0.02, 0.001, 0.5, 0.01], method="holm")[1] == pytest.approx(found.holm_p)


def test_replicability_by_fisher_is_scipys_combination_of_the_largest():
    p = [0.04, 0.06, 0.03, 0.2]
    found = replicability(p, combination="fisher")
    ordered = sorted(p)
    expected = np.maximum.accumulate([stats.combine_pvalues(ordered[u:]).pvalue for u in range(4)])
    assert found.partial_p == pytest.approx(expected, rel=1e-9)
    assert found.count > replicability(p).count == 0
    with pytest.raises(InputError):
        replicability([])
    with pytest.raises(InputError):
        replicability([1.2])


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["romano-wolf", "max-t"])
def test_any_false_pair_is_as_rare_as_promised(correction):
    rng, any_false, n_studies = np.random.default_rng(8), 0, 400
    for study in range(n_studies):
        scores = rng.standard_normal((60, 1)) + rng.exponential(size=(60, 5))
        found = compare_scores(
            ScoreTable(scores, tuple("ABCDE")),
            question="mean",
            settings=TestSettings(n_resamples=512, seed=study),
            correction=correction,
        )
        any_false += any(pair.significant for pair in found.pairs)
    assert any_false <= stats.binom.ppf(0.999, n_studies, 0.05)
    assert any_false >= stats.binom.ppf(0.001, n_studies, 0.03)  # and it uses the level it has
