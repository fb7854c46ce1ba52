"""Power to tell neighbours of a leaderboard apart: formulas against simulation, fits against the analysis."""

import math

import numpy as np
import pytest
from cli import run, run_json
from scipy import stats

from humeval_power.comparisons.rank.battles import Battles
from humeval_power.comparisons.rank.bradley_terry import fit_battles, independent_errors
from humeval_power.comparisons.rank.scenario import NeighbourBattles, fit_tables, neighbour_scores
from humeval_power.errors import InputError


def as_battles(counts: np.ndarray, K: int) -> Battles:
    first, second, outcome = [], [], []
    for (i, j), pair in zip(zip(*np.triu_indices(K, 1), strict=True), counts, strict=True):
        for sign, n in zip((1, 0, -1), pair.astype(int), strict=True):
            first += [i] * n
            second += [j] * n
            outcome += [sign] * n
    names = tuple(f"s{k}" for k in range(K))
    return Battles(names, np.array(first), np.array(second), np.array(outcome))


def sufficient(counts: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of the systems, ties, and battles of the pairs."""
    points = np.zeros((len(counts), K))
    for place, (i, j) in enumerate(zip(*np.triu_indices(K, 1), strict=True)):
        points[:, i] += counts[:, place, 0] + counts[:, place, 1] / 2
        points[:, j] += counts[:, place, 2] + counts[:, place, 1] / 2
    return points, counts[:, :, 1].sum(axis=1), counts[0].sum(axis=1)


@pytest.mark.parametrize("ties", [0.0, 0.3])
def test_many_fits_at_once_are_those_of_the_analysis(ties: float) -> None:
    rng = np.random.default_rng(1)
    counts = rng.multinomial(40, [(1 - ties) / 2, ties, (1 - ties) / 2], size=(5, 6)).astype(float)
    found = fit_tables(*sufficient(counts, 4))
    for place in range(5):
        met = as_battles(counts[place], 4)
        fit = fit_battles(met, with_order=False)
        of = independent_errors(fit).covariance
        assert found.gap[place] == pytest.approx(fit.strengths[1] - fit.strengths[0], abs=1e-7)
        assert found.standard_error[place] == pytest.approx(
            math.sqrt(of[0, 0] + of[1, 1] - 2 * of[0, 1]), rel=1e-6
        )


def test_a_system_that_always_wins_is_a_failed_leaderboard() -> None:
    counts = np.full((1, 3, 3), 5.0)
    counts[0, 0] = counts[0, 1] = (15, 0, 0)  # the first system wins all of its battles
    assert not fit_tables(*sufficient(counts, 3)).found[0]


@pytest.mark.parametrize(("K", "ties"), [(2, 0.0), (6, 0.25)])
def test_power_by_formula_is_that_of_drawn_leaderboards(K: int, ties: float) -> None:
    study = NeighbourBattles(300 * math.comb(K, 2), effect=0.07, n_systems=K, tie_share=ties)
    drawn = study.draw(2_048, seed=1)
    assert drawn.usable.all()
    found = int((drawn.p_value <= 0.05).sum())
    low, high = stats.binom.interval(0.998, 2_048, study.computed().power)
    assert low - 20 <= found <= high + 20  # a hundredth, for the normal law of a logit


def test_without_a_difference_a_pair_is_found_less_often_than_alpha() -> None:
    # One pair of six at the level of all of them together.
    study = NeighbourBattles(3_000, effect=0.0, n_systems=4)
    drawn = study.draw(4_096, seed=2)
    level = 2 * stats.norm.sf(study.critical)
    low, high = stats.binom.interval(0.998, 4_096, level)
    assert low <= (drawn.p_value <= 0.05).sum() <= high
    assert study.computed().rejection_rate == pytest.approx(level)


def test_two_systems_without_ties_need_the_battles_of_a_test_of_a_share() -> None:
    study = NeighbourBattles(400, effect=0.08, n_systems=2)
    share = 0.58
    logit = math.log(share / (1 - share))
    assert study.gap == pytest.approx(logit)
    error = 1 / math.sqrt(400 * share * (1 - share))
    assert study.standard_error() == pytest.approx(error)
    expected = stats.norm.sf(1.959964 - logit / error)
    assert study.computed().power == pytest.approx(expected, abs=1e-6)


def test_a_design_effect_is_so_many_times_fewer_battles() -> None:
    clustered = NeighbourBattles(3_000, effect=0.08, n_systems=4, design_effect=1.5)
    fewer = NeighbourBattles(2_000, effect=0.08, n_systems=4)
    assert clustered.computed() == fewer.computed()
    assert clustered.draw(64, seed=3).p_value == pytest.approx(fewer.draw(64, seed=3).p_value)


def test_replicates_belong_to_the_seed_alone() -> None:
    study = NeighbourBattles(500, effect=0.1, n_systems=3)
    whole = study.draw(600, seed=5)
    assert study.draw(300, seed=5, first=300, n_jobs=2).p_value == pytest.approx(
        whole.p_value[300:], nan_ok=True
    )


def test_neighbours_by_scores_are_a_t_test_at_the_level_of_a_pair() -> None:
    alone = neighbour_scores(100, 0.1, sd=0.4, n_systems=2)
    assert alone.alpha == pytest.approx(0.05)
    many = neighbour_scores(100, 0.1, sd=0.4, n_systems=8)
    assert many.alpha == pytest.approx(0.05 / 28)  # Holm's first step, two-sided


def test_the_commands_answer_and_refuse() -> None:
    record = run_json("rank", "size", "--effect", 0.1, "--n-systems", 4, "--method", "analytic")
    n = record["found"]["n"]
    assert NeighbourBattles(n, effect=0.1, n_systems=4).computed().power >= 0.8
    assert NeighbourBattles(n - 1, effect=0.1, n_systems=4).computed().power < 0.8
    run("rank", "power", "--n", 100, "--effect", 0.6, "--n-systems", 4, code=2)
    run("rank", "power", "--n", 100, "--effect", 0.1, code=2)
    clash = ("--sd-difference", 1, "--tie-share", 0.1)
    assert "--tie-share" in run("rank", "mde", "--n", 100, "--n-systems", 4, *clash, code=2).stderr
    with pytest.raises(InputError, match="ties"):
        NeighbourBattles(100, effect=0.1, n_systems=4, tie_share=0.95)


def test_three_hundred_systems_are_planned_by_the_same_laws() -> None:
    study = NeighbourBattles(1_000_000, effect=0.05, n_systems=300, tie_share=0.2)
    assert study.critical == pytest.approx(-stats.norm.ppf(0.05 / (300 * 299)))
    # all as strong but the two: n battles between each pair, so that a difference has 2 / (K n w) for its variance
    share = (1 - 0.2) / 4  # (p_win + p_loss) / 4 of a battle of systems as strong
    each = 1_000_000 / math.comb(300, 2)
    assert study.standard_error() == pytest.approx(math.sqrt(2 / (300 * each * share)), rel=0.01)
    with pytest.raises(InputError, match="2 to 300"):
        NeighbourBattles(100, effect=0.05, n_systems=301)
