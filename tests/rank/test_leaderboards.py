"""Boards against recomputed goldens, slow twins and theory: pairs, ranks, tiers, newcomers, further data."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from cases import each_case
from drawn_battles import drawn
from reference.slow_boards import half_point_law, longest_chains, slow_holm, slow_max_t
from scipy import optimize, stats

import humeval_power as hp
from humeval_power.clusters import Clusters
from humeval_power.comparisons.rank.battles import Battles
from humeval_power.comparisons.rank.bradley_terry import (
    Newcomer,
    fit_battles,
    herfindahl_df,
    known_of_systems,
)
from humeval_power.comparisons.rank.leaderboard import (
    StrengthEstimates,
    breaks,
    direct_votes,
    holm,
    leaderboard,
    level_of_look,
    max_t,
    rank_battles,
    rank_scores,
    sign_tests,
    stratified_covariance,
    tiers,
    times_needed,
    times_until_alone,
)
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.errors import InputError

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden/leaderboards.json").read_text()
)  # other programs' answers


def numbered(codes: list[int]) -> Clusters:
    names, place = np.unique(codes, return_inverse=True)
    return Clusters(place, tuple(map(str, names)))


@pytest.mark.parametrize("golden", GOLDEN["scores"])
def test_scores_in_clusters_have_the_goldens_pairs_ranks_and_tiers(golden: dict) -> None:
    scores = np.array(golden["scores"])
    names = tuple(map(str, range(scores.shape[1])))
    found = rank_scores(
        ScoreTable(scores, names, clusters=numbered(golden["clusters"])), alpha=golden["alpha"]
    )
    assert found.df == pytest.approx(golden["df"])
    pairs = {(int(one.better), int(one.worse)): one for one in found.board.pairs}
    wanted = (golden[key] for key in ("better", "worse", "p_two_sided", "holm_ordered"))
    for better, worse, p, corrected in zip(*wanted, strict=True):
        assert pairs[better, worse].p_value == pytest.approx(p, abs=1e-6)
        assert pairs[better, worse].corrected_p == pytest.approx(corrected, abs=1e-6)
    places = {int(one.system): one for one in found.board.places}
    for key in ("rank_low", "rank_high", "tier_low", "tier_high"):
        assert [getattr(places[k], key) for k in range(len(names))] == golden[key]
    assert list(found.board.breaks) == golden["breaks"]


@pytest.mark.parametrize("golden", GOLDEN["battles"])
def test_strengths_errors_and_leverages_are_the_goldens(golden: dict) -> None:
    met = golden_battles(golden)
    fit, K = fit_battles(met, with_order=golden["order"]), golden["n_systems"]
    assert fit.strengths == pytest.approx(golden["strength"], abs=1e-6)
    assert fit.log_likelihood == pytest.approx(golden["log_likelihood"], abs=1e-6)
    assert fit.covariance[:K, :K] == pytest.approx(np.array(golden["covariance_model"]), abs=1e-6)
    assert met.clusters is not None
    information, leverage = known_of_systems(fit, fit.of_battles(met), met.clusters)
    assert leverage == pytest.approx(golden["leverage_of_voters"], abs=1e-6)
    assert herfindahl_df(information) == pytest.approx(golden["df_of_systems"], abs=1e-6)


@pytest.mark.parametrize("golden", GOLDEN["scores"])
def test_signs_of_clusters_have_the_goldens_p_values(golden: dict) -> None:
    clusters = numbered(golden["clusters"])
    sums = clusters.sums(np.array(golden["scores"]))
    rows, columns = np.array(golden["better"]), np.array(golden["worse"])
    found = sign_tests(sums, rows, columns, level=golden["alpha"], seed=1)
    assert found.adjusted == pytest.approx(golden["signs_stepdown"], abs=1e-9)
    signs = np.array(list(itertools.product((1, -1), repeat=clusters.n_clusters)))
    for q, (i, j) in enumerate(zip(rows, columns, strict=True)):
        apart = sums[:, i] - sums[:, j]
        assert found.alone[q] == np.mean(signs @ apart >= apart.sum() - 1e-9)
    for j in range(sums.shape[1]):
        others = sums - sums[:, [j]]
        size = np.sqrt((others**2).sum(axis=0))
        kept = np.arange(sums.shape[1]) != j
        tau = (signs @ others)[:, kept] / size[kept]
        seen = (others.sum(axis=0)[kept] / size[kept]).max()
        expected = 1.0 if seen < 0 and j not in columns else np.mean(tau.max(axis=1) >= seen - 1e-9)
        assert found.best[j] == expected


def test_drawn_signs_are_all_signs_but_for_their_error() -> None:
    rng = np.random.default_rng(15)
    sums = rng.normal(size=(14, 4)) + np.array([0.0, 0.1, 0.4, 1.0])
    rows, columns = np.array([3, 3, 3, 2, 2, 1]), np.array([0, 1, 2, 0, 1, 0])
    every = sign_tests(sums, rows, columns, level=0.05, seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("humeval_power.comparisons.rank.leaderboard._ALL", 0)
        drawn = sign_tests(sums, rows, columns, level=0.05, seed=1)
    assert drawn.adjusted == pytest.approx(every.adjusted, abs=0.02)  # 3 errors of 10,000 draws
    assert drawn.best == pytest.approx(every.best, abs=0.02)


def test_signs_are_refused_where_they_could_find_nothing() -> None:
    scores = np.random.default_rng(16).normal(size=(5, 3))
    with pytest.raises(InputError, match=r"no p-value below 0\.0625"):
        rank_scores(ScoreTable(scores, tuple("abc")), test="signs")
    table = ScoreTable(np.tile(scores, (2, 1)), tuple("abc"), clusters=numbered([0, 1, 2, 3, 4] * 2))
    with pytest.raises(InputError, match="signs of whole tasks"):
        rank_scores(table, tasks="fixed", test="signs")


def golden_battles(golden: dict) -> Battles:
    names = tuple(map(str, range(golden["n_systems"])))
    met = (np.array(golden[key]) for key in ("first", "second", "outcome"))
    return Battles(names, *met, numbered(golden["voter"]))


def firth_by_search(met: Battles, *, with_order: bool) -> np.ndarray:
    """Strengths about their mean where the log-likelihood with Jeffreys' prior is highest, from single battles."""
    K, with_tie = len(met.systems), met.n_ties > 0

    def worth(x: np.ndarray) -> float:
        strength = np.r_[0.0, x[: K - 1]]
        order = x[K - 1] if with_order else 0.0
        p = len(x)
        total, information = 0.0, np.zeros((p, p))
        for a, b, outcome in zip(met.first, met.second, met.outcome, strict=True):
            eta = strength[a] - strength[b] + order
            weight = np.array([math.exp(eta / 2), math.exp(x[-1]) if with_tie else 0.0, math.exp(-eta / 2)])
            share = weight / weight.sum()
            row = np.zeros(p)
            if a:
                row[a - 1] += 1
            if b:
                row[b - 1] -= 1
            if with_order:
                row[K - 1] = 1
            statistics = np.outer([0.5, 0.0, -0.5], row)
            if with_tie:
                statistics[1, -1] = 1.0
            mean = share @ statistics
            information += (statistics - mean).T @ np.diag(share) @ (statistics - mean)
            total += math.log(share[1 - outcome])
        return -total - 0.5 * float(np.linalg.slogdet(information)[1])

    start = np.zeros(K - 1 + with_order + with_tie)
    found = optimize.minimize(worth, start, method="BFGS", options={"gtol": 1e-7})
    strength = np.r_[0.0, found.x[: K - 1]]
    return strength - strength.mean()


@pytest.mark.parametrize("ties", [False, True])
def test_undefeated_systems_have_firths_strengths(ties: bool) -> None:
    # Systems 0 and 1 never lose to the others, 4 never wins: no maximum without the penalty.
    first = np.array([0, 1, 0, 2, 1, 2, 3, 3, 4, 2, 0, 3])
    second = np.array([1, 0, 2, 1, 3, 3, 2, 4, 2, 4, 3, 2])
    outcome = np.array([1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 0 if ties else 1, 0 if ties else -1])
    met = Battles(tuple("abcde"), first, second, outcome)
    fit = fit_battles(met)
    assert fit.penalised
    assert fit.strengths == pytest.approx(firth_by_search(met, with_order=True), abs=1e-5)


@each_case("golden", GOLDEN["newcomer"] + GOLDEN["newcomer_ties"])
def test_bounds_of_newcomers_are_the_goldens(golden: dict) -> None:
    n = np.array(golden["battles"])
    points = golden.get("half_points", 2 * golden.get("wins", 0))
    strengths = np.array(golden["opponents"])
    one = Newcomer(strengths, np.ones(len(n), dtype=int), n, points, 0.0, golden.get("ln_tie"))
    level = golden["alpha"] if one.missed == 0 else 2 * golden["alpha"]  # two-sided where it lost
    assert one.bounds(level)[0] == pytest.approx(golden["lower_bound"], abs=1e-6)
    assert one.p_no_better(strengths) == pytest.approx(golden["p_not_above_each"], abs=1e-6)


@each_case("tie", [None, -0.3])
@each_case("points", [0, 1, 4, 7, 9, 10])
def test_tails_of_newcomers_are_those_of_all_results(tie: float | None, points: int) -> None:
    sides = np.array([1, -1, 1, -1, 1])
    strengths = np.array([0.3, -0.2, 0.9, 0.0, -0.4])
    one = Newcomer(strengths, sides, np.ones(5, dtype=int), points, 0.2, tie)
    law = half_point_law(strengths, sides, 0.7, 0.2, tie)
    better = sum(chance for half, chance in law.items() if half >= points)
    worse = sum(chance for half, chance in law.items() if half <= points)
    assert one.p_no_better(np.array([0.7]))[0] == pytest.approx(better)
    assert one.p_no_worse(np.array([0.7]))[0] == pytest.approx(worse)


def test_holm_and_max_t_are_their_slow_twins() -> None:
    rng = np.random.default_rng(3)
    K = 5
    rows, columns = np.triu_indices(K, 1)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    p = np.round(rng.beta(0.3, 2, len(pairs)) / 2, 5)
    known = dict(zip(pairs, p.tolist(), strict=True))
    assert holm(p) == pytest.approx([slow_holm(known)[pair] for pair in pairs])
    draws = rng.standard_normal((300, K)) @ rng.standard_normal((K, K))
    expected = slow_max_t(known, pairs, draws)
    assert max_t(p, rows, columns, draws)[0] == pytest.approx([expected[pair] for pair in pairs])


@pytest.mark.parametrize("golden", GOLDEN["tukey"])
def test_the_largest_of_independent_pairs_is_tukeys(golden: dict) -> None:
    K = golden["K"]
    rows, columns = np.triu_indices(K, 1)
    draws = np.random.default_rng(4).standard_normal((10_000, K))
    _, largest = max_t(np.full(len(rows), 0.5), rows, columns, draws)
    found = float(np.quantile(largest, 1 - golden["alpha"], method="higher"))
    level = stats.studentized_range.sf(found * math.sqrt(2), K, np.inf)
    low, high = stats.binom.interval(0.998, 10_000, golden["alpha"])
    assert low / 10_000 <= level <= high / 10_000


@pytest.mark.parametrize("golden", GOLDEN["relation"])
def test_tiers_and_breaks_are_the_goldens(golden: dict) -> None:
    better = np.array(golden["better"], dtype=bool)
    low, high = tiers(better)
    assert (low.tolist(), high.tolist()) == (golden["tier_low"], golden["tier_high"])
    assert list(breaks(better)) == golden["breaks"]


def test_tiers_are_the_longest_chains() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        apart = np.triu(rng.random((7, 7)) < 0.4, 1)
        low, high = tiers(apart)
        chains = [longest_chains(apart, k) for k in range(7)]
        longest = 1 + max(above for above, _ in chains)
        assert low.tolist() == [1 + above for above, _ in chains]
        assert high.tolist() == [longest - below for _, below in chains]


def test_further_data_are_the_goldens() -> None:
    for one in GOLDEN["times"]:
        found = times_needed(one["difference"], one["standard_error"], one["critical"], power=one["power"])
        assert found == pytest.approx(one["times"])
    for one in GOLDEN["direct_votes"]:
        found = direct_votes(
            one["difference"],
            one["variance"],
            one["information"],
            one["critical"],
            power=one["power"],
            design_effect=one["design_effect"],
        )
        assert found == pytest.approx(one["votes"])
    for one in GOLDEN["alone"]:
        theta = np.array(one["theta"])
        error = np.full(len(theta) - 1, one["standard_error_to_leader"])
        found = times_until_alone(theta, error, one["critical"], np.array(one["draws"]), power=one["power"])
        assert found == pytest.approx(one["times"])


def independent(value: np.ndarray) -> StrengthEstimates:
    K = len(value)
    infinite = np.full((K, K), np.inf)
    return StrengthEstimates(
        tuple(f"s{k}" for k in range(K)), value, np.eye(K), infinite, value, value, 10**6
    )


def test_who_may_be_first_is_decided_by_its_rivals_alone() -> None:
    # Of 5 independent systems the second is out at Bonferroni's t over its 4 rivals, and not yet below it.
    critical = stats.norm.isf(0.05 / 4) * math.sqrt(2)
    for gap, out in ((critical * 1.001, True), (critical * 0.999, False)):
        value = np.array([gap, 0.0, -9.0, -9.0, -9.0])
        places = {one.system: one for one in leaderboard(independent(value)).places}
        assert places["s1"].may_be_first != out
        assert places["s0"].may_be_first


def test_two_systems_are_a_t_test_without_correction() -> None:
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(12, 2))
    pair = next(rank_scores(ScoreTable(scores, ("a", "b"))).board.pairs)
    assert pair.corrected_p == pytest.approx(stats.ttest_rel(scores[:, 0], scores[:, 1]).pvalue)


def test_one_system_named_beforehand_is_corrected_for_its_own_pairs() -> None:
    value = np.linspace(3, 0, 9)
    board = leaderboard(independent(value), only="s4")
    assert board.n_pairs == 8
    p = {(one.better, one.worse): one.p_value / 2 for one in board.pairs}
    expected = slow_holm(p)
    for one in board.pairs:
        assert one.corrected_p == pytest.approx(expected[one.better, one.worse])
    with pytest.raises(InputError, match="There is no system 's9'"):
        leaderboard(independent(value), only="s9")


def test_a_difference_that_never_varies_has_the_sign_tests_p_value() -> None:
    base = np.random.default_rng(7).normal(size=8)
    found = next(rank_scores(ScoreTable(np.column_stack([base, base + 1.0]), ("a", "b"))).board.pairs)
    assert (found.better, found.p_value) == ("b", 2**-7)


def test_few_clusters_refuse_the_drawn_law() -> None:
    scores = np.random.default_rng(8).normal(size=(41, 20))
    with pytest.raises(InputError, match="too narrow with 41 clusters"):
        rank_scores(ScoreTable(scores, tuple(map(str, range(20)))), test="max-t")


def test_the_drawn_law_finds_what_holm_finds_and_more() -> None:
    rng = np.random.default_rng(9)
    scores = np.linspace(0, 0.5, 12) + rng.normal(size=(400, 12))
    table = ScoreTable(scores, tuple(map(str, range(12))))
    one, other = rank_scores(table).board.tested, rank_scores(table, test="max-t").board.tested
    assert (other.significant >= one.significant).all()
    # the drawn p-value is at most Holm's, and three Monte Carlo errors of a probability at .05
    near = other.corrected_p <= one.corrected_p + 3 * math.sqrt(0.05 * 0.95 / 10_000)
    assert near[one.corrected_p < 0.1].all()


def test_parts_share_alpha_and_are_never_compared() -> None:
    rng = np.random.default_rng(10)
    n = 600
    first = np.r_[rng.integers(0, 2, n), rng.integers(2, 4, n)]
    second = np.where(first < 2, 1 - first, 5 - first)
    eta = np.where((first == 0) | (first == 3), 0.3, -0.3)
    outcome = np.where(rng.random(2 * n) < 1 / (1 + np.exp(-eta)), 1, -1)
    met = Battles(tuple("abcd"), first, second, outcome)
    board = rank_battles(met, position_bias=False).board
    for one in board.pairs:
        assert {one.better, one.worse} in ({"a", "b"}, {"c", "d"})
        # alone, a pair has no correction: here it has that for two parts
        assert one.corrected_p == pytest.approx(min(2 * one.p_value, 1.0))
    assert [one.rank_high <= 2 for one in board.places] == [True] * 4


def test_fixed_tasks_are_strata() -> None:
    rng = np.random.default_rng(11)
    codes = np.repeat(np.arange(6), [3, 5, 4, 8, 2, 6])
    scores = rng.normal(size=(28, 3)) + rng.normal(0, 2, (6, 3))[codes]
    covariance, df, _ = stratified_covariance(scores, numbered(codes.tolist()))
    for i, j in itertools.combinations(range(3), 2):
        d, variance, squares = scores[:, i] - scores[:, j], 0.0, 0.0
        for task in range(6):
            inside = d[codes == task]
            part = (len(inside) / 28) ** 2 * inside.var(ddof=1) / len(inside)
            variance, squares = variance + part, squares + part**2 / (len(inside) - 1)
        found = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        assert found == pytest.approx(variance)
        assert df[i, j] == pytest.approx(variance**2 / squares)


def test_fixed_tasks_need_items_in_every_task() -> None:
    scores = np.random.default_rng(12).normal(size=(6, 3))
    with pytest.raises(InputError, match="needs the column of the tasks"):
        rank_scores(ScoreTable(scores, tuple("abc")), tasks="fixed")
    table = ScoreTable(scores, tuple("abc"), clusters=numbered([0, 0, 1, 1, 1, 2]))
    with pytest.raises(InputError, match="2 items or more in every task"):
        rank_scores(table, tasks="fixed")


def test_all_looks_at_a_living_board_share_alpha() -> None:
    levels = [level_of_look(0.05, look) for look in range(1, 200_000)]
    assert sum(levels) == pytest.approx(0.05, rel=1e-4)
    assert level_of_look(0.05, None) == 0.05


def test_more_battles_are_those_of_one_table_and_the_next_look() -> None:
    rng = np.random.default_rng(14)
    met = drawn(rng, strengths=np.array([0.0, 0.3, 0.6]), n=300, users=20)
    assert met.clusters is not None
    half = np.arange(met.n) < 150

    def some(kept: np.ndarray) -> Battles:
        of = (met.first[kept], met.second[kept], met.outcome[kept])
        return Battles(met.systems, *of, met.clusters.only(kept) if met.clusters else None)

    grown = hp.rank.battles(some(half), look=1).update(some(~half))
    whole = hp.rank.battles(met, look=2)
    assert grown.found.board.look == 2
    for one, other in zip(grown.found.board.places, whole.found.board.places, strict=True):
        assert (one.value, one.low) == pytest.approx((other.value, other.low))
    assert grown.figure().axes
    assert list(grown.to_frame()["system"]) == [one.system for one in whole.found.board.places]


@pytest.mark.slow
@pytest.mark.parametrize(("K", "G"), [(8, 12), (20, 41)])
def test_systems_as_good_are_told_apart_as_often_as_alpha_says_at_most(K: int, G: int) -> None:
    # Skewed and unequal: every second system has exponential deviations, and clusters differ in size.
    rng = np.random.default_rng(13)
    sizes = np.maximum(np.round(np.exp(rng.normal(1, 0.7, G))), 1).astype(int)
    codes = np.repeat(np.arange(G), sizes)
    wrong = missed = 0
    n_boards = 300
    for _ in range(n_boards):
        own = rng.normal(size=(G, K))
        own[:, ::2] = rng.exponential(size=own[:, ::2].shape) - 1
        scores = own[codes] + rng.normal(0, 0.5, (len(codes), K))
        board = rank_scores(
            ScoreTable(scores, tuple(map(str, range(K))), clusters=numbered(codes.tolist()))
        ).board
        wrong += board.n_apart > 0
        missed += not board.places[int(rng.integers(K))].may_be_first
    high = stats.binom.ppf(0.999, n_boards, 0.06)  # 0.05, and what skewness costs (docs/rank.md)
    assert wrong <= high
    assert missed <= high
