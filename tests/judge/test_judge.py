"""What a judge is worth: closed forms, estimates from data, studies of workers and items, the command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run, run_json
from reference.golden import shared_golden
from scipy import stats
from seven import seven

from humeval_power.comparisons.judge.means import fold_weights, folds, judged_means
from humeval_power.comparisons.judge.plan import PredictionPower, judged_study, with_judge
from humeval_power.designs import k_per_item
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters, preset
from humeval_power.studies.power.formula import analytic_power, effect_precision


def test_variances_and_effective_numbers_are_the_golden_ones(shared: Path) -> None:
    for row in shared_golden(shared, "15_ppi")["ppi"]:
        found = PredictionPower(row["n"], row["N"], row["rho"], np.sqrt(row["vY"]), np.sqrt(row["vF"]))
        assert found.weight == pytest.approx(row["lam"], rel=1e-12)
        assert found.variance == pytest.approx(row["var"], rel=1e-12)
        assert found.human_variance == pytest.approx(row["var_classic"], rel=1e-12)
        assert found.effective_n == pytest.approx(row["n_eff"], rel=1e-12)


def test_the_variance_at_the_best_weight_is_the_known_formula() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        n, extra = (int(value) for value in rng.integers(2, 5000, 2))
        rho, sd, sd_judge = rng.uniform(-1, 1), rng.uniform(0.1, 5), rng.uniform(0.1, 5)
        found = PredictionPower(n, extra, rho, sd, sd_judge)
        assert found.variance == pytest.approx(sd**2 / n * (1 - rho**2 * extra / (extra + n)), rel=1e-9)
        near = [found.variance_at(found.weight + shift) for shift in (-0.01, 0.01)]
        assert min(near) > found.variance


def test_weight_1_can_be_worse_than_no_judge() -> None:
    # rho = .3, n = 100, N = 1000: 1 - .6 + 1 over 100, and 1 over 1000
    found = PredictionPower(100, 1000, 0.3, 1, 1)
    assert found.plain_variance == pytest.approx(1.4 / 100 + 1 / 1000)
    assert found.plain_effective_n == pytest.approx(66.7, abs=0.05)
    assert found.effective_n == pytest.approx(108.9, abs=0.05)


def test_no_further_items_mean_no_help() -> None:
    found = PredictionPower(50, 0, 0.9, 1, 1)
    assert (found.weight, found.variance, found.plain_effective_n) == (0, found.human_variance, 0)


def simulated(rng: np.random.Generator, n: int, extra: int, rho: float) -> tuple[np.ndarray, ...]:
    """Human values with mean 0.4 and a judge that correlates by rho with them, of another scale."""
    f = rng.standard_normal(n + extra)
    y = 0.4 + rho * f[:n] + np.sqrt(1 - rho**2) * rng.standard_normal(n)
    return y, 50 + 10 * f[:n], 50 + 10 * f[n:]


def slow_tuned(y: np.ndarray, f: np.ndarray, extra: np.ndarray, fold: np.ndarray) -> float:
    """The cross-fitted estimate in loops over folds and values."""
    total = 0.0
    for each in range(fold.max() + 1):
        other_y, other_f = y[fold != each], f[fold != each]
        weight = np.cov(other_y, other_f)[0, 1] / ((1 + len(y) / len(extra)) * np.var(other_f, ddof=1))
        for value, score in zip(y[fold == each], f[fold == each], strict=True):
            total += value - weight * (score - extra.mean())
    return total / len(y)


@pytest.mark.parametrize("n", [13, 37, 120])
def test_the_estimate_is_that_of_a_loop_over_folds(n: int) -> None:
    y, f, extra = simulated(np.random.default_rng(n), n, 400, 0.6)
    found = judged_means(y, f, extra, seed=3)
    assert found.cross_fitted is not None
    assert found.cross_fitted.estimate == pytest.approx(
        slow_tuned(y, f, extra, folds(n, seed=3)), rel=1e-12
    )


def test_humans_alone_are_students_interval() -> None:
    y, f, extra = simulated(np.random.default_rng(2), 40, 100, 0.5)
    found = judged_means(y, f, extra).human
    scipy = stats.ttest_1samp(y, 0)
    assert found.interval == pytest.approx(tuple(scipy.confidence_interval()))
    assert found.p_value == pytest.approx(scipy.pvalue)


def test_weight_1_agrees_with_ppi_py() -> None:
    # ppi_python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci(alpha=.05) with lam=1, which divides by n
    # and N where we divide by n - 1 and N - 1, and takes the normal for Student's law.
    grid = np.arange(300)
    f = np.sin(grid) + 0.3 * np.cos(7 * grid)
    y = 1 + 0.7 * f[:80] + 0.5 * np.cos(3.1 * grid[:80])
    found = judged_means(y, f[:80], f[80:]).plain
    estimate, low, high = PPI_PY
    assert found.estimate == pytest.approx(estimate, rel=1e-9)
    error = (high - low) / 2 / 1.959963984540054
    of_values, of_extra = np.var(y - f[:80]) / 80, np.var(f[80:]) / 220
    assert np.sqrt(of_values + of_extra) == pytest.approx(error, rel=1e-9)
    assert found.standard_error**2 == pytest.approx(of_values * 80 / 79 + of_extra * 220 / 219, rel=1e-12)


PPI_PY = (0.9998057594776528, 0.8642502051265832, 1.1353613138287224)


def test_a_useless_judge_gets_a_weight_near_zero_and_costs_little() -> None:
    rng = np.random.default_rng(5)
    y, extra = rng.normal(size=400), rng.normal(size=4000)
    found = judged_means(y, rng.normal(size=400), extra)
    assert abs(found.tuned.weights[0]) < 0.15
    assert found.efficiency > 0.97
    assert found.plain_hurts


def test_a_judge_that_never_varies_changes_nothing() -> None:
    y = np.random.default_rng(6).normal(size=30)
    found = judged_means(y, np.full(30, 7.0), np.full(50, 7.0))
    assert found.tuned.estimate == pytest.approx(found.human.estimate)
    assert (found.tuned.weights, found.correlation) == ((0,), 0)
    assert "same of all labelled items" in found.reason


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rho"), [(20, 0.7), (100, 0.7), (100, 0.3)])
def test_intervals_cover_as_often_as_they_say(n: int, rho: float) -> None:
    rng = np.random.default_rng(7)
    hits, runs = np.zeros(3), 1500
    squares = 0.0
    for seed in range(runs):
        found = judged_means(*simulated(rng, n, 1000, rho), seed=seed)
        means = (found.human, found.plain, found.tuned)
        # plain weight 1 multiplies a judge of sd 10 and is honest too, only wide
        hits += [m.interval[0] <= 0.4 <= m.interval[1] for m in means]
        squares += (found.tuned.estimate - 0.4) ** 2
    low, high = stats.binom.interval(0.998, runs, 0.95)
    assert (hits[:2] >= low).all()
    assert (hits <= high).all()
    assert hits[2] >= low
    if n == 100:
        expected = PredictionPower(n, 1000, rho, 1, 10).variance
        # the estimated weight adds one or two per cent; 1,500 squares are known to 4 standard errors
        assert squares / runs == pytest.approx(expected, rel=0.02 + 4 * np.sqrt(2 / runs))


def test_folds_are_even_and_every_value_is_in_one() -> None:
    for n in (4, 5, 19, 20, 101):
        size = np.bincount(folds(n, seed=1))
        assert size.sum() == n
        assert size.max() - size.min() <= 1
        assert len(size) == max(2, min(10, n // 2))


def test_the_weight_of_a_fold_does_not_see_the_fold() -> None:
    y, f, extra = simulated(np.random.default_rng(8), 30, 60, 0.5)
    fold = folds(30, seed=1)
    f, extra = f[:, None], extra[:, None]
    before = fold_weights(y, f, extra, fold)
    y[fold == 2] += 100
    after = fold_weights(y, f, extra, fold)
    assert before[2, 0] == pytest.approx(after[2, 0], rel=1e-12)
    assert (abs(before - after) > 1e-6).sum() == len(before) - 1


@pytest.mark.parametrize(
    ("human", "judge_scores", "extra"),
    [
        ([1], [1], [1, 2, 3]),
        ([1, 2, 3], [1, 2], [1, 2, 3]),
        ([1, 2, 3], [[1, 2], [2, 3], [3, 4]], [1, 2]),
        ([1, 2, np.nan], [1, 2, 3], [1, 2]),
    ],
)
def test_data_without_an_answer_are_refused(human: list, judge_scores: list, extra: list) -> None:
    with pytest.raises(InputError):
        judged_means(human, judge_scores, extra)


def small(effect: float = 0.15) -> Parameters:
    """The parameters of the golden rows: Tw = .11, Ti = .14, s = .26 as SDs of differences."""
    return seven(0.6, effect, 0.01, 0.11, 0.04, 0.14, 0.26)


def test_a_crossed_study_has_the_golden_variance_with_a_judge(shared: Path) -> None:
    for row in shared_golden(shared, "15_ppi")["crossed"]:
        helped = with_judge(small(), correlation=row["rI"], n_items=row["n"], extra=row["N_unlabelled"])
        design = k_per_item(row["m"], row["n"], ratings_per_item=row["k"])
        assert effect_precision(small(), design).variance == pytest.approx(row["var_base"], rel=1e-6)
        assert effect_precision(helped, design).variance == pytest.approx(row["var_ppi"], rel=1e-6)


def test_a_perfect_judge_of_endless_items_leaves_workers_and_noise() -> None:
    found = judged_study(
        small(), n_workers=10, n_items=100, ratings_per_item=3, correlation=1.0, extra=10**9
    )
    assert found.efficiency == pytest.approx(1.118, abs=5e-4)
    floor = 0.11**2 / 10 + 2 * 0.26**2 / 300
    assert found.judged.precision.variance == pytest.approx(floor, rel=1e-5)


def test_the_smaller_study_with_a_judge_is_as_powerful_and_the_next_smaller_is_not() -> None:
    options = {"n_workers": 8, "correlation": 0.8, "extra": 2000}
    parameters = preset("low").with_difference(0.08)
    found = judged_study(parameters, n_items=60, **options)
    assert found.fewer is not None
    assert found.fewer_power is not None
    assert found.fewer_power.power >= found.alone.power
    less = with_judge(parameters, correlation=0.8, n_items=found.fewer.n_items - 1, extra=2000)
    from humeval_power.designs import crossed

    assert analytic_power(less, crossed(8, found.fewer.n_items - 1)).power < found.alone.power
    assert found.ratings_saved == 2 * 8 * (60 - found.fewer.n_items)


def test_a_judge_without_correlation_saves_nothing() -> None:
    found = judged_study(small(), n_workers=6, n_items=40, correlation=0.0, extra=500)
    assert found.efficiency == pytest.approx(1)
    assert found.ratings_saved == 0


def test_a_study_without_an_effect_has_no_power_to_keep() -> None:
    with pytest.raises(InputError, match="effect"):
        judged_study(small(0.0), n_workers=6, n_items=40, correlation=0.5, extra=500)


def test_the_command_tells_what_a_mean_gains_and_warns_of_weight_1() -> None:
    line = ["judge", "mean", "--n", "100", "--extra", "1000", "--correlation"]
    hurts = run(*line, "0.3").stdout
    assert "108.9 human values" in hurts
    assert "66.7" in hurts
    assert "Read this first" in hurts
    assert "Read this first" not in run(*line, "0.9").stdout


def test_the_command_tells_what_a_study_saves() -> None:
    values = "sd_worker_slope=0.11,sd_item_slope=0.14,sd_residual=0.26"
    options = ["--workers", "10", "--items", "100", "--ratings-per-item", "3", "--effect", "0.1"]
    record = run_json(
        "judge", "study", "--values", values, *options, "--extra", "1000", "--correlation", "0.8"
    )
    assert record["efficiency"] == pytest.approx(1.0654, abs=1e-4)
    assert record["largest_efficiency"] == pytest.approx(1.118, abs=1e-3)
    assert record["ratings_saved"] == 6 * (100 - record["items_needed"])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """60 items rated by humans twice, 240 by the judge alone, two systems."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(300):
        quality = rng.normal(size=2)
        for system in range(2):
            score = round(50 + 10 * quality[system] + 3 * system, 1)
            if item >= 60:
                rows.append((f"i{item:03}", "AB"[system], "", score))
            for _ in range(2 if item < 60 else 0):
                human = 3 + 0.3 * system + 0.6 * quality[system] + 0.5 * rng.normal()
                rows.append((f"i{item:03}", "AB"[system], round(human, 3), score))
    path = tmp_path / "judged.csv"
    pd.DataFrame(rows, columns=["item", "system", "human", "judge"]).to_csv(path, index=False)
    return path


def test_the_command_estimates_a_difference_from_a_table(table: Path) -> None:
    record = run_json("judge", "estimate", table, "--seed", "4")
    assert (record["n"], record["extra"]) == (60, 240)
    frame = pd.read_csv(table)
    means = frame.groupby(["item", "system"])[["human", "judge"]].mean().unstack()
    human = means["human"]["B"] - means["human"]["A"]
    scores = means["judge"]["B"] - means["judge"]["A"]
    rated = human.notna()
    expected = judged_means(human[rated], scores[rated], scores[~rated], seed=4)
    assert record["tuned"]["estimate"] == pytest.approx(expected.tuned.estimate)
    assert record["tuned"]["interval"] == pytest.approx(list(expected.tuned.interval))


def test_turning_the_systems_round_turns_the_sign(table: Path) -> None:
    one, other = (run_json("judge", "estimate", table, "--systems", pair) for pair in ("A,B", "B,A"))
    assert one["human"]["estimate"] == pytest.approx(-other["human"]["estimate"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("item,system,human\na,A,1\nb,A,2\n", "no column was found for: judge"),
        ("item,judge,human\na,x,1\nb,2,2\n", "'x'"),
        ("system,judge,human\nA,1,1\nB,2,2\n", "no column was found for: item"),
        ("item,system,judge,human\na,A,1,1\na,B,2,2\na,C,2,2\n", "B - A: At least 2 items"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    assert words in run("judge", "estimate", path, code=2).stderr


def test_the_variance_with_a_judge_is_that_of_simulated_studies() -> None:
    # 6 workers x 30 items, all crossed, judge of correlation .8 on 200 further items; the estimate is
    # corrected by the judge's mean, with the best weight. 20,000 studies know a variance to 1 %.
    m, n, extra, rho = 6, 30, 200, 0.8
    p = small()
    rng = np.random.default_rng(9)
    runs = 20_000
    quality = rng.standard_normal((runs, n + extra))
    judged = rho * quality + np.sqrt(1 - rho**2) * rng.standard_normal((runs, n + extra))
    human = (
        p.effect
        + p.sd_worker_slope * rng.standard_normal((runs, m)).mean(axis=1)
        + p.sd_item_slope * quality[:, :n].mean(axis=1)
        + np.sqrt(2 / (m * n)) * p.sd_residual * rng.standard_normal(runs)
    )
    weight = rho * p.sd_item_slope / (1 + n / extra)
    corrected = human - weight * (judged[:, :n].mean(axis=1) - judged[:, n:].mean(axis=1))
    found = judged_study(p, n_workers=m, n_items=n, correlation=rho, extra=extra)
    for drawn, analytic in ((human, found.alone), (corrected, found.judged)):
        assert drawn.var() == pytest.approx(analytic.precision.variance, rel=4 * np.sqrt(2 / runs))


def test_what_an_estimate_rests_on_is_written_with_it(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run("judge", "estimate", table, "-o", folder)
    names = {"index.html", "record.json", "table.csv", "estimates.svg", "estimates.png"}
    assert {path.name for path in folder.iterdir()} == names
    rows = pd.read_csv(folder / "table.csv").set_index("weighting")
    record = json.loads((folder / "record.json").read_text())
    assert [rows.loc["tuned", "low"], rows.loc["tuned", "high"]] == pytest.approx(
        record["tuned"]["interval"]
    )
    assert record["seed"] == 1
