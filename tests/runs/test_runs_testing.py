"""Systems compared by repeated runs: slow twins, SciPy, statsmodels, R, size and coverage."""

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cases import each_case
from runs.tables import crossed_scores, nested_scores, table_of
from scipy import stats

from humeval_power.comparisons.runs.testing import RunsRule, compare_all, compare_pair, nested_variances
from humeval_power.errors import InputError

NESTED, CROSSED = RunsRule(kind="nested"), RunsRule(kind="crossed")


def test_nested_runs_without_clusters_are_the_paired_t_test_of_means() -> None:
    scores = nested_scores(np.random.default_rng(1), effect=0.1)
    found = compare_pair(table_of(scores), NESTED)
    means = scores.mean(axis=2)
    expected = stats.ttest_rel(means[:, 1], means[:, 0])
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval()), rel=1e-9)


def test_variances_are_those_of_a_slow_balanced_analysis() -> None:
    scores = nested_scores(np.random.default_rng(2), n=25, runs=4)
    found = nested_variances(table_of(scores))
    for system in (0, 1):
        by_hand = np.mean([np.var(scores[i, system], ddof=1) for i in range(25)])
        assert found.runs[system] == pytest.approx(by_hand, rel=1e-12)
    differences = scores.mean(axis=2)[:, 1] - scores.mean(axis=2)[:, 0]
    assert found.items == pytest.approx(np.var(differences, ddof=1) - sum(found.runs) / 4, rel=1e-10)


def test_unequal_numbers_of_runs_are_counted_by_item() -> None:
    rng = np.random.default_rng(3)
    scores = nested_scores(rng, n=20, runs=5)
    scores[:8, 0, 2:] = np.nan
    scores[5:, 1, 4:] = np.nan
    found = compare_pair(table_of(scores), NESTED)
    means = np.nanmean(scores, axis=2)
    expected = stats.ttest_rel(means[:, 1], means[:, 0])
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    noise = 0.0
    for system in (0, 1):
        squares = sum(np.nansum((row - np.nanmean(row)) ** 2) for row in scores[:, system])
        counts = np.isfinite(scores[:, system]).sum(axis=1)
        noise += squares / (counts - 1).sum() * np.mean(1 / counts)
    assert sum(part.variance for part in found.parts if part.falls) == pytest.approx(noise / 20, rel=1e-10)


def test_the_parts_of_the_error_add_up_to_that_of_the_test() -> None:
    found = compare_pair(table_of(nested_scores(np.random.default_rng(4))), NESTED)
    assert math.sqrt(sum(part.variance for part in found.parts)) == pytest.approx(
        found.standard_error, rel=1e-10
    )
    assert found.parameters is not None
    told = found.parameters.error_variance(n_items=40, runs_a=3)
    assert math.sqrt(told) == pytest.approx(found.standard_error, rel=1e-10)
    assert found.more_runs[0].standard_error == pytest.approx(found.standard_error)
    endless = found.parameters.error_variance(n_items=40, runs_a=math.inf)
    assert found.more_runs[-1].standard_error == pytest.approx(math.sqrt(endless), rel=1e-10)


def test_variances_are_recovered_on_average() -> None:
    # means of 300 estimates: relative standard errors are about 2 %
    clusters = np.repeat(np.arange(15), 4)
    rng, found = np.random.default_rng(5), []
    for _ in range(300):
        scores = nested_scores(rng, n=60, runs=3, clusters=clusters, icc=0.4)
        one = nested_variances(table_of(scores, clusters=clusters))
        found.append((one.items, one.between, *one.runs))
    items, between, first, second = np.mean(found, axis=0)
    assert items == pytest.approx(0.09, rel=0.08)
    assert between == pytest.approx(0.4 * 0.09, rel=0.2)
    assert (first, second) == pytest.approx((0.16, 0.16), rel=0.03)


def test_crossed_balanced_runs_have_the_closed_form() -> None:
    # no variance at zero: mean squares of (items, prompts), the residual pooled over differences and sums
    scores = crossed_scores(np.random.default_rng(6), n=30, prompts=6)
    d, total = scores[:, 1] - scores[:, 0], scores.sum(axis=1)
    n, m = d.shape
    ms_items, ms_prompts, rest = _mean_squares(d)
    pooled = (rest + _mean_squares(total)[2]) / 2
    found = compare_pair(table_of(scores, column="prompt"), CROSSED)
    assert found.estimate == pytest.approx(d.mean(), rel=1e-10)
    assert found.standard_error == pytest.approx(
        math.sqrt((ms_items + ms_prompts - pooled) / (n * m)), rel=1e-5
    )
    assert found.parameters is not None
    assert found.parameters.sd_prompt_slope**2 == pytest.approx((ms_prompts - pooled) / n, rel=1e-4)
    assert found.parameters.sd_item**2 == pytest.approx((ms_items - pooled) / m, rel=1e-4)
    assert found.parameters.sd_residual**2 == pytest.approx(pooled / 2, rel=1e-4)
    told = found.parameters.error_variance(n_items=n, runs_a=m)
    assert math.sqrt(told) == pytest.approx(found.standard_error, rel=1e-4)


def _mean_squares(d: np.ndarray) -> tuple[float, float, float]:
    """Of rows, columns and the rest of a two-way table."""
    n, m = d.shape
    rows, columns = d.mean(axis=1), d.mean(axis=0)
    rest = np.sum((d - rows[:, None] - columns + d.mean()) ** 2) / ((n - 1) * (m - 1))
    return float(m * rows.var(ddof=1)), float(n * columns.var(ddof=1)), float(rest)


def test_units_of_scores_change_nothing_but_the_unit() -> None:
    scores = crossed_scores(np.random.default_rng(7))
    for rule in (NESTED, CROSSED):
        small = compare_pair(table_of(scores), rule)
        large = compare_pair(table_of(100 * scores + 7), rule)
        assert large.p_value == pytest.approx(small.p_value, rel=1e-6)
        assert large.estimate == pytest.approx(100 * small.estimate, rel=1e-8)
        assert small.parameters is not None
        assert large.parameters is not None
        assert large.parameters.sd_item == pytest.approx(100 * small.parameters.sd_item, rel=1e-4)


def test_swapping_the_systems_turns_the_difference_round() -> None:
    scores = nested_scores(np.random.default_rng(8), effect=0.1)
    there, back = (compare_pair(table_of(s), NESTED) for s in (scores, scores[:, ::-1]))
    assert back.estimate == pytest.approx(-there.estimate)
    assert back.p_value == pytest.approx(there.p_value)


def test_few_prompts_have_few_degrees_of_freedom_and_many_items_do_not_help() -> None:
    scores = crossed_scores(np.random.default_rng(9), n=600, prompts=5, sd_residual=0.1, sd_item=0.05)
    found = compare_pair(table_of(scores, column="prompt"), CROSSED)
    assert 3.5 < found.df < 6
    assert compare_pair(table_of(scores), NESTED).df == pytest.approx(599)


def test_all_pairs_are_corrected_by_holm() -> None:
    rng = np.random.default_rng(10)
    scores = np.concatenate([nested_scores(rng), nested_scores(rng, effect=0.4)], axis=1)
    found = compare_all(table_of(scores), NESTED)
    raw = [pair.p_value for pair in found.pairs]
    from statsmodels.stats.multitest import multipletests

    assert found.p_adjusted == pytest.approx(tuple(multipletests(raw, method="holm")[1]))
    assert [pair.systems for pair in found.pairs][:2] == [("A", "B"), ("A", "C")]


@pytest.mark.parametrize(("margin", "shown"), [(0.4, True), (0.01, False)])
def test_equivalence_is_two_one_sided_tests(margin: float, shown: bool) -> None:
    scores = nested_scores(np.random.default_rng(11))
    rule = RunsRule(kind="nested", alternative="equivalent", margin=margin)
    found = compare_pair(table_of(scores), rule)
    d = scores.mean(axis=2) @ np.array([-1.0, 1.0])
    sides = [
        stats.ttest_1samp(d, -margin, alternative="greater").pvalue,
        stats.ttest_1samp(d, margin, alternative="less").pvalue,
    ]
    assert found.p_value == pytest.approx(max(sides), rel=1e-8)
    assert found.significant is shown


def test_right_or_wrong_answers_of_generations_need_no_model() -> None:
    rng = np.random.default_rng(12)
    scores = (rng.random((50, 2, 4)) < 0.6).astype(float)
    found = compare_pair(table_of(scores), RunsRule(kind="nested", family="binary"))
    shares = scores.mean(axis=2)
    assert found.p_value == pytest.approx(stats.ttest_rel(shares[:, 1], shares[:, 0]).pvalue)
    assert found.parameters is not None
    assert found.parameters.family == "binary"
    # of Bernoulli draws the variance within is p (1 - p): .24 within four standard errors
    assert found.parameters.sd_run_a**2 == pytest.approx(0.24, abs=0.06)


def test_scores_that_do_not_vary_have_no_test_and_a_reason() -> None:
    scores = np.zeros((6, 2, 3))
    scores[:, 1] = 1.0
    found = compare_pair(table_of(scores), RunsRule(kind="nested", family="binary"))
    assert math.isnan(found.p_value)
    assert "does not exist" in found.reason
    separated = compare_pair(table_of(scores, column="prompt"), RunsRule(kind="crossed", family="binary"))
    assert math.isnan(separated.p_value)
    assert separated.reason


def test_items_that_differ_by_noise_alone_are_said_to() -> None:
    scores = nested_scores(np.random.default_rng(1), sd_item=0.0, sd_run=1.0)
    found = compare_pair(table_of(scores), NESTED)
    assert found.at_zero == ("sd_item",)
    assert found.removable == pytest.approx(1.0)
    assert found.more_runs[-1].standard_error == 0.0


def test_one_system_without_repeats_is_told() -> None:
    scores = nested_scores(np.random.default_rng(15))
    scores[:, 0, 1:] = np.nan
    found = compare_pair(table_of(scores), NESTED)
    assert found.parameters is not None
    assert found.parameters.sd_run_a == 0
    assert any("'A' has one run" in remark for remark in found.remarks)


@each_case(
    ("scores", "rule", "words"),
    [
        (np.arange(12.0).reshape(6, 2, 1), NESTED, "nothing repeats"),
        (np.arange(12.0).reshape(6, 2, 1), CROSSED, "single run"),
        (np.arange(24.0).reshape(6, 2, 2), RunsRule(kind="nested", family="binary"), "0 and 1"),
        (np.ones((6, 2, 2)), NESTED, "nothing varies"),
        (
            np.arange(24.0).reshape(6, 2, 2),
            RunsRule(kind="nested", alternative="equivalent", margin=99.0),
            "at most",
        ),
    ],
)
def test_what_cannot_be_tested_is_refused(scores: np.ndarray, rule: RunsRule, words: str) -> None:
    with pytest.raises(InputError, match=words):
        compare_pair(table_of(scores), rule)


@pytest.mark.r
@pytest.mark.parametrize("clustered", [False, True])
def test_lme4_agrees_on_crossed_prompts(tmp_path: Path, clustered: bool) -> None:
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    rng = np.random.default_rng(16)
    scores = crossed_scores(rng, n=24, prompts=6, effect=0.1)
    clusters = np.repeat(np.arange(8), 3)
    scores += rng.normal(0, 0.4, 8)[clusters][:, None, None] * np.array([-0.5, 0.5])[None, :, None]
    scores += rng.normal(0, 0.4, 8)[clusters][:, None, None]
    scores[::5, 1, 2] = np.nan
    data, script, target = tmp_path / "d.csv", tmp_path / "s.R", tmp_path / "o.txt"
    lines = [
        f"i{i},{s - 0.5},p{r},g{clusters[i]},{scores[i, s, r]}"
        for i, s, r in np.ndindex(scores.shape)
        if np.isfinite(scores[i, s, r])
    ]
    data.write_text("\n".join(["item,x,prompt,passage,y", *lines]))
    factors = ["item", "prompt", *(["passage"] if clustered else [])]
    terms = " + ".join(f"(1 | {name}) + (0 + x | {name})" for name in factors)
    script.write_text(
        "suppressMessages({library(lme4); library(pbkrtest)})\n"
        f'd <- read.csv("{data}", stringsAsFactors = TRUE)\n'
        f"f <- lmer(y ~ x + {terms}, d)\n"
        "k <- KRmodcomp(f, update(f, . ~ . - x))$stats\n"
        "v <- as.data.frame(VarCorr(f)); s <- v$sdcor[v$grp == 'prompt.1' & v$var1 %in% 'x']\n"
        "if (!length(s)) s <- v$sdcor[grepl('prompt', v$grp) & v$var1 %in% 'x']\n"
        f'cat(sprintf("%.10g", c(fixef(f)[2], k$Fstat, k$ddf, k$p.value, s)), file = "{target}")\n'
    )
    done = subprocess.run(["Rscript", str(script)], capture_output=True, text=True)
    if "there is no package called" in done.stderr:
        pytest.skip("lme4 or pbkrtest is not installed")
    assert done.returncode == 0, done.stderr
    estimate, f, df, p, slope = map(float, target.read_text().split())
    table = table_of(scores, column="prompt", clusters=clusters if clustered else None)
    found = compare_pair(table, CROSSED)
    # lme4 stops at its own tolerance: four digits of estimates, two of the rest
    assert found.estimate == pytest.approx(estimate, rel=1e-3)
    assert found.df == pytest.approx(df, rel=1e-2)
    assert (found.estimate / found.standard_error) ** 2 == pytest.approx(f, rel=1e-2)
    assert found.p_value == pytest.approx(p, rel=2e-2)
    assert found.parameters is not None
    assert found.parameters.sd_prompt_slope == pytest.approx(slope, rel=1e-2)


def _rejections(tables: list, rule: RunsRule) -> int:
    return sum(compare_pair(table, rule).p_value <= 0.05 for table in tables)


@pytest.mark.slow
def test_clustered_generations_reject_at_the_nominal_rate() -> None:
    clusters = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6])
    rng = np.random.default_rng(17)
    scores = [nested_scores(rng, n=42, clusters=clusters, icc=0.6) for _ in range(2000)]
    low, high = stats.binom.interval(0.998, 2000, 0.05)
    known = _rejections([table_of(each, clusters=clusters) for each in scores], NESTED)
    assert low <= known <= high
    assert _rejections([table_of(each) for each in scores], NESTED) > high  # what ignoring them costs


@pytest.mark.slow
def test_crossed_prompts_reject_at_no_more_than_the_nominal_rate_and_averaging_them_does_not() -> None:
    rng = np.random.default_rng(18)
    scores = [crossed_scores(rng, prompts=5) for _ in range(1000)]
    low, high = stats.binom.interval(0.998, 1000, 0.05)
    assert low <= _rejections([table_of(each, column="prompt") for each in scores], CROSSED) <= high
    assert _rejections([table_of(each) for each in scores], NESTED) > 2 * high
