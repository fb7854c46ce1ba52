"""Observed detectable effects of a collection, and the decomposition of the variance of ratings."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import run, run_json
from reference.golden import shared_golden
from scipy import stats

from humeval_power.comparisons.agreement.reliability import outputs_of, variance_decomposition, variances
from humeval_power.comparisons.assessment.pairs import observed_mde
from humeval_power.comparisons.assessment.scenario import GammaScores, score_tests
from humeval_power.comparisons.judge.plan import data_efficiency, observed_correlation
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import wilson_interval


def test_first_and_stable_threshold_are_the_golden_ones(shared: Path) -> None:
    golden = shared_golden(shared, "05b_observed_mde")
    found = observed_mde(golden["absdiff"], golden["p"], fewest_above=1)
    result = golden["result"]
    assert found.first is not None
    assert found.stable is not None
    assert (found.first.difference, found.stable.difference) == (result["smallest"], result["stable"])
    assert [t.rate for t in found.curve] == pytest.approx(result["rates"])
    assert [t.n_above for t in found.curve] == result["n_at_or_above"]
    assert [t.difference for t in found.curve] == result["thresholds"]


def test_both_thresholds_agree_where_the_rate_only_rises(shared: Path) -> None:
    golden = shared_golden(shared, "05_mde_wei")["observed_mde"]
    data, result = pd.DataFrame(golden["data"]), golden["result"]
    found = observed_mde(data["absdiff"], data["p"], fewest_above=10)
    assert found.first == found.stable
    assert found.first is not None
    assert found.first.difference == result["stable_threshold"]
    assert (found.first.n_above, found.first.rate) == (result["n_above"], result["rate_at"])


def slow_thresholds(size: list[float], p: list[float], fewest: int) -> tuple[float | None, float | None]:
    """First and stable threshold as they are defined, by trying every difference."""

    def rate(least: float) -> float:
        above = [q for d, q in zip(size, p, strict=True) if d >= least]
        return sum(q < 0.05 for q in above) / len(above)

    counted = [d for d in sorted(set(size)) if sum(e >= d for e in size) >= fewest]
    first = [d for d in counted if rate(d) >= 0.95]
    stable = [d for d in counted if all(rate(e) >= 0.95 for e in counted if e >= d)]
    return min(first, default=None), min(stable, default=None)


@each_case("seed", range(20))
def test_thresholds_agree_with_their_definition_ties_included(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = np.round(rng.exponential(2, 80), 1)
    p = np.where(size + rng.normal(0, 1, 80) > 2, 0.01, 0.5)
    found = observed_mde(rng.choice([-1, 1], 80) * size, p, fewest_above=5)
    values = [None if t is None else t.difference for t in (found.first, found.stable)]
    assert tuple(values) == slow_thresholds(list(size), list(p), 5)


def test_thresholds_with_few_comparisons_above_do_not_count() -> None:
    found = observed_mde(np.arange(1, 31), np.where(np.arange(1, 31) > 12, 0.001, 0.5))
    assert found.first is None
    assert found.stable is None
    # 18 of 18 are significant from 13 on, but 18 are not 20
    assert observed_mde(
        np.arange(1, 31), np.where(np.arange(1, 31) > 12, 0.001, 0.5), fewest_above=18
    ).first


def test_the_interval_of_a_threshold_is_wilsons() -> None:
    found = observed_mde(np.arange(1.0, 41), np.where(np.arange(40) == 39, 0.5, 0.001))
    assert found.first is not None
    assert found.first.interval == wilson_interval(39, 40)


def test_selection_makes_the_observed_threshold_smaller_than_the_detectable_effect() -> None:
    # 600 ratings of each system: 95 % power needs 3.2 points; sorted by what was observed, 95 % of the
    # comparisons beyond a smaller difference are significant, because difference and p share their luck.
    rng = np.random.default_rng(4)
    drawn = []
    for effect in rng.normal(0, 2.5, 60):
        a, b = (GammaScores(mean, 25).draw(rng, (4, 600)) for mean in (75, 75 + effect))
        drawn.append(score_tests(a, b, test="mann-whitney"))
    found = observed_mde(
        np.concatenate([each.estimate for each in drawn]),
        np.concatenate([each.p_value for each in drawn]),
    )
    assert found.first is not None
    assert found.first.difference < 3.24


@pytest.mark.parametrize(
    ("difference", "p"), [([], []), ([1, 2], [0.1]), ([1, np.nan], [0.1, 0.1]), ([1, 2], [0.1, 1.1])]
)
def test_a_collection_that_makes_no_sense_is_refused(difference: list, p: list) -> None:
    with pytest.raises(InputError):
        observed_mde(difference, p)


def simulated_table(
    n_items: int, repeats: np.ndarray, *, quality: float, noise: float, seed: int
) -> SimpleNamespace:
    """Ratings of two systems: quality and noise are standard deviations, `repeats` (2 n_items,)."""
    rng = np.random.default_rng(seed)
    item, system = np.repeat(np.arange(n_items), 2), np.tile([0, 1], n_items)
    rows = np.repeat(np.arange(2 * n_items), repeats)
    rating = (0.1 * system + quality * rng.normal(size=2 * n_items))[rows] + noise * rng.normal(
        size=len(rows)
    )
    return SimpleNamespace(
        item=item[rows], system=system[rows], rating=rating, worker=np.zeros(len(rows), int)
    )


def test_the_variances_are_those_of_the_textbook_on_a_balanced_table() -> None:
    table = simulated_table(30, np.full(60, 4), quality=1.0, noise=2.0, seed=1)
    values = np.stack([table.rating[table.system == s].reshape(30, 4) for s in (0, 1)])
    within = values.var(axis=2, ddof=1).mean()
    between = 4 * values.mean(axis=2).var(axis=1, ddof=1).mean()
    quality, noise = variances(outputs_of(table), np.ones(60))
    assert noise == pytest.approx(within, rel=1e-12)
    assert quality == pytest.approx((between - within) / 4, rel=1e-12)


def test_the_variances_are_unbiased_on_an_unbalanced_table() -> None:
    repeats = np.random.default_rng(2).integers(1, 6, 80)
    found = np.array(
        [
            variances(outputs_of(simulated_table(40, repeats, quality=1.0, noise=1.5, seed=s)), np.ones(80))
            for s in range(400)
        ]
    )
    error = found.std(axis=0) / np.sqrt(400)
    assert found.mean(axis=0) == pytest.approx([1.0, 2.25], abs=4 * error.max())


def test_drawing_outputs_again_is_weighting_them() -> None:
    table = simulated_table(12, np.full(24, 3), quality=1.0, noise=1.0, seed=3)
    times = np.random.default_rng(3).integers(0, 4, 12)
    rows = [np.flatnonzero(table.item == item) for item in np.repeat(np.arange(12), times)]
    copied = SimpleNamespace(
        item=np.repeat(np.arange(len(rows)), 6),
        system=table.system[np.concatenate(rows)],
        rating=table.rating[np.concatenate(rows)],
    )
    outputs = outputs_of(table)
    weighted = variances(outputs, times[outputs.item].astype(float))
    assert weighted == pytest.approx(variances(outputs_of(copied), np.ones(2 * len(rows))))


def test_the_interval_of_the_reducible_share_is_near_the_exact_one() -> None:
    # Balanced Gaussian ratings have an exact F interval (Shrout and Fleiss 1979); percentiles of 1,000
    # resamples of 300 items come within a few hundredths of it.
    table = simulated_table(300, np.full(600, 3), quality=1.0, noise=1.5, seed=5)
    found = variance_decomposition(table)
    quality, noise = variances(outputs_of(table), np.ones(600))
    ratio = (noise + 3 * quality) / noise
    edges = [ratio / stats.f.ppf(q, 598, 1200) for q in (0.975, 0.025)]
    exact = [(f - 1) / (f + 2) for f in edges]
    assert [found.reducible.low, found.reducible.high] == pytest.approx(exact, abs=0.03)
    assert found.gamma.value == pytest.approx(1 / found.reducible.value - 1)
    assert found.gamma.low == pytest.approx(1 / found.reducible.high - 1)


def test_pure_noise_has_no_reducible_share() -> None:
    rng = np.random.default_rng(1)
    tables = [
        simulated_table(40, np.full(80, 3), quality=0.0, noise=1.0, seed=s)
        for s in rng.integers(99, size=4)
    ]
    found = [variance_decomposition(table, n_resamples=50) for table in tables]
    assert any(each.at_zero and each.reducible.value == 0 and np.isinf(each.gamma.value) for each in found)


def test_single_ratings_cannot_be_decomposed() -> None:
    with pytest.raises(InputError, match="single rating"):
        variance_decomposition(simulated_table(9, np.ones(18, int), quality=1, noise=1, seed=1))


def test_data_efficiencies_are_the_golden_ones(shared: Path) -> None:
    for row in shared_golden(shared, "15_ppi")["wei_link"]:
        found = data_efficiency(row["gamma"], row["rho_f"])
        assert found == pytest.approx(row["DE"], rel=1e-12)
        raw = observed_correlation(row["gamma"], row["rho_f"])
        assert raw == pytest.approx(row["rho_raw"], rel=1e-12)
        assert found == pytest.approx(1 / (1 - raw**2), rel=1e-12)


def test_table_3_follows_from_table_2_in_its_first_column_only(shared: Path) -> None:
    published = pd.read_csv(shared / "published" / "wei2022_table3_data_efficiency.csv")
    phi = pd.read_csv(shared / "published" / "wei2022_table2_variance.csv")["reducible_share"]
    golden = shared_golden(shared, "05_mde_wei")["wei_table3_recomputed"]
    for column, share in zip(("WMT21", "pSQM zh-en", "pSQM en-de"), phi, strict=True):
        found = [data_efficiency(1 / share - 1, rho) for rho in published["correlation"]]
        assert found == pytest.approx([row[column.replace(" ", "_").replace("-", "")] for row in golden])
        same = np.round(found, 2) == published[column]
        assert same.all() == (column == "WMT21")


def test_no_noise_at_all_explains_the_printed_efficiency_of_a_weak_metric() -> None:
    # rho = .2: eq. (2) is largest without noise, 1 / (1 - .04); the paper prints 1.11 and 2.94.
    assert data_efficiency(0.0, 0.2) == pytest.approx(1 / 0.96)
    assert data_efficiency(0.5, 0.2) < data_efficiency(0.0, 0.2) < 1.11


def test_limits_of_the_data_efficiency() -> None:
    assert data_efficiency(0.0, 1.0) == np.inf
    assert data_efficiency(np.inf, 1.0) == 1.0
    assert data_efficiency(2.0, 0.8, n=100, extra=0) == 1.0
    assert data_efficiency(2.0, 0.8, n=1, extra=10**9) == pytest.approx(data_efficiency(2.0, 0.8))


@pytest.mark.parametrize(
    "values", [(-1, 0.5, {}), (1, 1.5, {}), (1, 0.5, {"n": 3}), (1, 0.5, {"n": 0, "extra": 3})]
)
def test_impossible_efficiencies_are_refused(values: tuple) -> None:
    with pytest.raises(InputError):
        data_efficiency(values[0], values[1], **values[2])


def test_the_command_reports_thresholds_groups_and_the_caution(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame(
        {"pair": ["x", "y"] * 30, "diff": np.arange(60) / 10, "p": np.where(np.arange(60) > 20, 0.001, 0.6)}
    ).to_csv(path, index=False)
    found = run("assessment", "observed-mde", path, "--by", "pair")
    # 39 of 39 at or above 2.1 are significant, and 39 of 41 (95.1 %) from 1.9 on
    assert "First   1.9" in found.stdout
    assert "Read this first" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80
    record = run_json("assessment", "observed-mde", path)
    assert record["schema"] == "humeval_power/observed_mde/1"
    assert record["groups"][0]["first"]["n_above"] == 41


def test_every_bad_cell_of_a_collection_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("difference,p\n1,0.2\nmuch,0.3\n2,1.4\n,0.1\n")
    said = run("assessment", "observed-mde", path, code=2).stderr
    assert "row 3" in said
    assert "'much'" in said
    assert "row 4" in said
    assert "row 5" in said


def test_a_collection_without_p_values_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("difference,rating\n1,0.2\n2,3\n")
    assert "no column was found for: p" in run("assessment", "observed-mde", path, code=2).stderr


def test_decompose_tells_quality_noise_and_what_a_metric_saves(tmp_path: Path) -> None:
    table = simulated_table(60, np.full(120, 3), quality=0.1, noise=0.15, seed=6)
    frame = pd.DataFrame(
        {
            "worker": np.tile(["a", "b", "c"], 120),
            "item": table.item,
            "system": table.system,
            "rating": np.clip(100 * (0.5 + table.rating), 0, 100).round(3),
        }
    )
    path = tmp_path / "ratings.csv"
    frame.to_csv(path, index=False)
    options = ["decompose", str(path), "--scale", "0:100", "--resamples", "200"]
    found = run("assessment", *options)
    assert "120 of them with two or more" in " ".join(found.stdout.split())
    assert max(map(len, found.stdout.splitlines())) <= 80
    record = run_json("assessment", *options)
    gamma = record["gamma"]["value"]
    assert record["data_efficiency"][0]["data_efficiency"] == pytest.approx((1 + gamma) / gamma)
