"""Agreement beside the ceiling of people, and a judge's bias towards its own family."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run, run_json
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.ceiling import judge_ceiling, own_family_bias
from humeval_power.comparisons.judge.means import jackknife
from humeval_power.comparisons.judge.table import JudgedTable
from humeval_power.errors import InputError

SYSTEMS = ("a", "b", "c", "d")


def drawn(
    seed: int,
    *,
    n_items: int = 60,
    n_workers: int = 6,
    bias: float = 0.0,
    gain: float = 0.0,
    noise: float = 0.6,
    judge_noise: float = 0.4,
    slope: float = 20.0,
) -> JudgedTable:
    """Four systems rated by `n_workers` people each; system a is better by `gain`, and the judge, on another scale,
    gives it `bias` more, in units of the humans."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 0.5, (n_items, 4)) + np.array([gain, 0, 0, 0])
    judged = 50 + slope * (truth + judge_noise * rng.normal(size=truth.shape) + np.array([bias, 0, 0, 0]))
    item, system, worker = (
        part.ravel() for part in np.meshgrid(range(n_items), range(4), range(n_workers), indexing="ij")
    )
    level = 0.3 * rng.normal(size=n_workers)
    human = 3 + truth[item, system] + level[worker] + noise * rng.normal(size=len(item))
    return JudgedTable(
        item,
        system,
        human,
        judged[item, system],
        tuple(f"i{code}" for code in range(n_items)),
        SYSTEMS,
        worker,
        tuple(f"w{code}" for code in range(n_workers)),
    )


def slow_agreement(table: JudgedTable) -> tuple[float, float]:
    """Mean correlations over workers in loops."""
    frame = pd.DataFrame(
        {
            "output": table.item * 4 + table.system,
            "worker": table.worker,
            "h": table.human,
            "j": table.judge,
        }
    )
    human, judge, weights = [], [], []
    for worker in range(len(table.worker_names)):
        mine = frame[frame.worker == worker].set_index("output")
        others = frame[frame.worker != worker].groupby("output").h.mean().reindex(mine.index)
        human.append(np.corrcoef(mine.h, others)[0, 1])
        judge.append(np.corrcoef(mine.j, others)[0, 1])
        weights.append(len(mine))
    return float(np.average(human, weights=weights)), float(np.average(judge, weights=weights))


def test_agreement_is_that_of_a_loop_over_workers() -> None:
    table = drawn(1)
    found = judge_ceiling(table)
    human, judge = slow_agreement(table)
    assert found.human.estimate == pytest.approx(human, rel=1e-10)
    assert found.judge.estimate == pytest.approx(judge, rel=1e-10)
    assert found.difference.estimate == pytest.approx(judge - human, rel=1e-9)
    assert np.mean([one.human for one in found.workers]) == pytest.approx(human, rel=1e-9)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = np.random.default_rng(2).normal(size=20)
    sums = np.column_stack([np.ones(20), values])
    found = jackknife(lambda t: (t[..., 1] / t[..., 0])[..., None], sums, np.ones(20), confidence=0.9)[0]
    scipy = stats.ttest_1samp(values, 0)
    assert found.standard_error == pytest.approx(stats.sem(values))
    assert found.df == pytest.approx(19)
    assert found.interval == pytest.approx(tuple(scipy.confidence_interval(0.9)))
    assert found.p_value == pytest.approx(scipy.pvalue)


def test_the_ceiling_is_what_a_perfect_judge_reaches() -> None:
    # the judge is the truth itself: .25 of variance, and .36 of noise over 5 others
    table = drawn(3, n_items=3000, judge_noise=0.0)
    found = judge_ceiling(table)
    expected = np.sqrt(0.25 / (0.25 + 0.36 / 5))
    assert found.ceiling.estimate == pytest.approx(expected, abs=0.01)
    assert found.share.estimate == pytest.approx(1.0, abs=0.01)


def test_the_share_of_the_ceiling_is_the_correlation_without_noise() -> None:
    table = drawn(4, n_items=3000, noise=1.0)
    # judge: truth of SD .5 and noise of SD .4
    assert judge_ceiling(table).share.estimate == pytest.approx(0.5 / np.hypot(0.5, 0.4), abs=0.02)


def test_differences_of_two_systems_are_correlated_by_themselves() -> None:
    table = drawn(5, n_items=2000)
    found = judge_ceiling(table, ("a", "b"))
    assert found.of == "differences b - a"
    assert found.share.estimate == pytest.approx(0.5 / np.hypot(0.5, 0.4), abs=0.03)


def test_clusters_are_left_out_whole() -> None:
    table = drawn(6)
    codes = np.arange(60) % 12
    clustered = JudgedTable(
        **{name: getattr(table, name) for name in ("item", "system", "human", "judge", "item_names")},
        system_names=SYSTEMS,
        worker=table.worker,
        worker_names=table.worker_names,
        clusters=Clusters.of(list(codes)),
    )
    found, plain = judge_ceiling(clustered), judge_ceiling(table)
    assert found.n_clusters == 12
    assert found.judge.df == pytest.approx(11)
    assert found.judge.estimate == pytest.approx(plain.judge.estimate)


def test_one_worker_sets_no_ceiling() -> None:
    with pytest.raises(InputError, match="column of workers"):
        judge_ceiling(drawn(7, n_workers=1))


def test_a_bias_is_found_in_units_of_the_humans() -> None:
    found = own_family_bias(drawn(8, n_items=2000, bias=0.3, gain=0.5), ("a",))
    assert found.in_human_units.estimate == pytest.approx(0.3, abs=0.04)
    assert found.slope is not None
    assert found.slope.estimate == pytest.approx(20, rel=0.05)
    assert found.is_found
    assert found.p_systems == 0.25


def test_a_better_own_family_is_no_bias() -> None:
    # noise in the ratings must not pass for bias: without its removal the slope would be .5 of itself
    found = own_family_bias(drawn(9, n_items=2000, gain=1.0, noise=1.2, n_workers=2), ("a",))
    assert abs(found.in_human_units.estimate) < 4 * found.in_human_units.standard_error
    assert found.in_human_units.estimate == pytest.approx(0, abs=0.1)
    assert found.reliability < 0.5


def test_the_same_scale_needs_no_slope() -> None:
    table = drawn(10, slope=1.0, bias=0.4)
    found = own_family_bias(table, ("a",), slope="same-scale")
    human, judge = table.human_means, table.judge_means
    weights = np.array([1, -1 / 3, -1 / 3, -1 / 3])
    differences = (judge - human) @ weights
    assert found.bias.estimate == pytest.approx(differences.mean())
    assert found.bias.standard_error == pytest.approx(stats.sem(differences))
    assert found.slope is None


def test_single_ratings_have_no_known_noise() -> None:
    table = drawn(11, n_workers=1)
    with pytest.raises(InputError, match="same scale"):
        own_family_bias(table, ("a",))
    assert own_family_bias(table, ("a",), slope="same-scale").n_items == 60


@pytest.mark.parametrize("own", [("x",), (), SYSTEMS])
def test_families_that_cannot_be_compared_are_refused(own: tuple) -> None:
    with pytest.raises(InputError, match="own family"):
        own_family_bias(drawn(12), own)


@pytest.mark.slow
@pytest.mark.parametrize("gain", [0.0, 0.5])
def test_no_bias_is_found_as_often_as_chance_has_it(gain: float) -> None:
    runs = 600
    found = [
        own_family_bias(drawn(100 + seed, n_items=40, gain=gain, n_workers=3), ("a",))
        for seed in range(runs)
    ]
    low, high = stats.binom.interval(0.999, runs, 0.05)
    assert low <= sum(one.bias.p_value <= 0.05 for one in found) <= high + 0.01 * runs


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The drawn table as a file."""
    drawn_one = drawn(13, bias=0.4)
    assert drawn_one.worker is not None
    frame = pd.DataFrame(
        {
            "item": [drawn_one.item_names[code] for code in drawn_one.item],
            "system": [SYSTEMS[code] for code in drawn_one.system],
            "worker": [f"w{code}" for code in drawn_one.worker],
            "human": drawn_one.human.round(3),
            "judge": drawn_one.judge.round(2),
        }
    )
    path = tmp_path / "judged.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_command_shows_the_judge_a_person_and_the_ceiling(table: Path) -> None:
    record = run_json("judge", "agreement", table)
    expected = judge_ceiling(drawn(13, bias=0.4))
    assert record["judge"]["estimate"] == pytest.approx(expected.judge.estimate, abs=1e-4)
    assert record["ceiling"]["estimate"] == pytest.approx(expected.ceiling.estimate, abs=1e-4)
    pair = run_json("judge", "agreement", table, "--systems", "a,b")
    assert pair["of"] == "differences b - a"


def test_the_command_names_the_bias_and_so_does_an_estimate(table: Path) -> None:
    record = run_json("judge", "bias", table, "--own", "a")
    assert record["name"] == "Own-family bias"
    assert record["is_found"]
    assert record["in_human_units"]["estimate"] == pytest.approx(0.4, abs=0.25)
    frame = pd.read_csv(table, dtype=str)
    frame.loc[frame["item"].str.slice(1).astype(int) >= 30, ["human", "worker"]] = ""
    frame.to_csv(table, index=False)
    shown = run("judge", "estimate", table, "--systems", "a,b", "--own", "a").stdout
    assert "Own-family bias: the judge scores a higher" in " ".join(shown.split())
    told = run_json("judge", "estimate", table, "--own", "a")
    assert len(told["warnings"]) == 1


def test_a_family_that_is_not_there_is_refused(table: Path) -> None:
    assert "--own A" in run("judge", "bias", table, "--own", "z", code=2).stderr
