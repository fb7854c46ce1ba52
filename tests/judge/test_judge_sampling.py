"""Outputs drawn with known probabilities: allocation, draws, the mean that follows, its coverage, the command."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from cli import refusal_of, run, run_json, text_of
from scipy import stats

from humeval_power.comparisons.judge.assisted import label_mean, post_stratified
from humeval_power.comparisons.judge.sampling import (
    active_probabilities,
    draw_strata,
    draw_systematic,
    inclusion_probabilities,
    inverse_weighted_mean,
    neyman_spreads,
    plan_sample,
    strata_of,
    stratified_mean,
)
from humeval_power.errors import InputError
from humeval_power.inference.item_sampling import allocate

ENDLESS = 10**12  # outputs, so that the pool is the population


@each_case(
    ("size", "spread", "n", "drawn"),
    [  # METHODS of the project: computed by hand
        ([400, 300, 200, 100], [0.1, 0.2, 0.3, 0.6], 60, [11, 17, 16, 16]),
        ([50, 40, 8, 2], [0.1, 0.1, 1, 3], 30, [11, 9, 8, 2]),
        ([200] * 5, [1] * 5, 100, [20] * 5),
        ([3, 997], [1, 1], 20, [2, 18]),
        ([3, 997], [0, 1], 20, [2, 18]),
        (
            [56, 56, 25, 48],
            [0.229, 0.001, 0.706, 0.865],
            130,
            [55, 2, 25, 48],
        ),  # full up one after the other
    ],
)
def test_labels_are_allocated_by_size_and_spread(
    size: list[int], spread: list[float], n: int, drawn: list[int]
) -> None:
    assert allocate(np.array(size), n, spread=np.array(spread, dtype=float)).tolist() == drawn


def test_any_allocation_keeps_to_its_limits() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        size = rng.integers(2, 60, rng.integers(1, 6))
        n = int(rng.integers(2 * len(size), size.sum() + 1))
        drawn = allocate(size, n, spread=rng.random(len(size)) * rng.integers(0, 2, len(size)))
        assert drawn.sum() == n
        assert (drawn >= 2).all()
        assert (drawn <= size).all()


def test_probabilities_in_proportion_to_size_are_at_most_1() -> None:
    found = inclusion_probabilities(np.array([1.0, 1, 2, 3, 9]), 3)
    assert found == pytest.approx([0.285714, 0.285714, 0.571429, 0.857143, 1], abs=1e-6)


def test_outputs_are_drawn_as_often_as_their_probabilities_say() -> None:
    rng = np.random.default_rng(3)
    probability = inclusion_probabilities(rng.random(12) + 0.05, 5)
    drawn = [draw_systematic(probability, rng) for _ in range(20_000)]
    assert {len(set(one.tolist())) for one in drawn} == {5}
    often = np.bincount(np.concatenate(drawn), minlength=12) / 20_000
    assert np.abs(often - probability).max() < 4 * np.sqrt(0.25 / 20_000)


def test_strata_keep_equal_scores_together_and_blank_ones_apart() -> None:
    yes_or_no = strata_of(np.repeat([0.0, 1.0], [70, 30]), 100)
    assert yes_or_no.size.tolist() == [70, 30]
    score = np.append(np.arange(100.0), [np.nan] * 7)
    found = strata_of(score, 50)
    assert found.size.tolist() == [20] * 5 + [7]
    assert found.place(np.array([-5.0, 19.0, 19.5, 400.0, np.nan])).tolist() == [0, 0, 1, 4, 5]
    assert strata_of(np.arange(30.0), 12).size.tolist() == [15, 15]
    assert strata_of(np.append(np.arange(30.0), np.nan), 12).size.tolist() == [
        15,
        16,
    ]  # one alone has no spread


def test_the_mean_of_two_strata_is_welchs_test() -> None:
    """(y_1 + y_2) / 2 of strata of one size is half the difference of y_1 and -y_2."""
    rng = np.random.default_rng(4)
    first, second = rng.normal(1, 1, 12), rng.normal(2, 3, 9)
    code = np.repeat([0, 1], [12, 9])
    found = stratified_mean(np.concatenate([first, second]), code, np.array([ENDLESS, ENDLESS]))
    welch = stats.ttest_ind(first, -second, equal_var=False)
    assert found.estimate == pytest.approx((first.mean() + second.mean()) / 2, rel=1e-12)
    assert found.df == pytest.approx(welch.df, rel=1e-9)
    assert found.p_value == pytest.approx(welch.pvalue, rel=1e-9)
    assert 2 * np.array(found.interval) == pytest.approx(np.array(welch.confidence_interval()), rel=1e-9)


def test_the_variance_is_that_of_a_loop_over_strata() -> None:
    rng = np.random.default_rng(5)
    size, n = np.array([90, 40, 25]), np.array([9, 5, 4])
    labels, code = rng.normal(0, 1, 18), np.repeat([0, 1, 2], n)
    whole = parts = pool = 0.0
    means = [labels[code == h].mean() for h in range(3)]
    middle = sum(size[h] / 155 * means[h] for h in range(3))
    for h in range(3):
        s2 = sum((y - means[h]) ** 2 for y in labels[code == h]) / (n[h] - 1)
        one = (size[h] / 155) ** 2 * s2 / n[h]
        whole += one + size[h] / 155 * (means[h] - middle) ** 2 / 155
        pool += one * (1 - n[h] / size[h])
        parts += one**2 / (n[h] - 1)
    found = stratified_mean(labels, code, size)
    assert found.estimate == pytest.approx(middle, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(whole, rel=1e-12)
    assert found.pool_error**2 == pytest.approx(pool, rel=1e-12)
    assert found.df == pytest.approx(whole**2 / parts, rel=1e-12)


def test_strata_of_a_judges_yes_and_no_are_post_stratification() -> None:
    rng = np.random.default_rng(6)
    judge = rng.random(300) < 0.4
    labels = (rng.random(60) < np.where(judge[:60], 0.8, 0.1)).astype(float)
    by_answer = post_stratified(labels, judge[:60], judge[60:], confidence=0.95)
    size = np.array([(~judge).sum(), judge.sum()])
    found = stratified_mean(labels, judge[:60].astype(int), size, binary=True)
    assert found.estimate == pytest.approx(by_answer.estimate, rel=1e-12)
    variance = 0.0
    centres = [(labels[answer].sum() + 0.5) / (answer.sum() + 1) for answer in (~judge[:60], judge[:60])]
    for share, q, n in zip(size / 300, centres, np.bincount(judge[:60].astype(int)), strict=True):
        variance += share**2 * q * (1 - q) / (n - 1)
    variance += size[0] / 300 * size[1] / 300 * (centres[1] - centres[0]) ** 2 / 300
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-12)
    assert found.standard_error == pytest.approx(by_answer.standard_error, rel=0.03)


def test_labels_all_alike_have_the_bound_of_labels() -> None:
    zero = stratified_mean(np.zeros(20), np.repeat([0, 1], 10), np.array([50, 50]))
    assert zero.interval == label_mean(np.zeros(20)).interval
    yes = stratified_mean(np.ones(20), np.repeat([0, 1], 10), np.array([50, 50]), binary=True)
    assert 0.7 < yes.interval[0] < 1
    assert yes.interval[1] == pytest.approx(1)


def test_equal_probabilities_are_prediction_powered_inference_at_weight_1() -> None:
    rng = np.random.default_rng(7)
    score = rng.random(400)
    chosen = rng.choice(400, 80, replace=False)
    labels = (rng.random(80) < score[chosen]).astype(float)
    found = inverse_weighted_mean(labels, np.full(80, 0.2), score[chosen], score)
    error = labels - score[chosen]
    assert found.estimate == pytest.approx(score.mean() + error.mean(), rel=1e-12)
    rate = found.estimate
    of_labels = error.var(ddof=1) / 80 * 0.8
    assert found.pool_error**2 == pytest.approx(of_labels, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(of_labels + rate * (1 - rate) / 400, rel=1e-12)
    assert found.df == pytest.approx((error**2).sum() ** 2 / (error**4).sum(), rel=1e-12)


def calibrated(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    rate = rng.beta(0.4, 0.4, 1000)
    return (rng.random(1000) < rate).astype(float), rate


def overconfident(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    rate = rng.beta(0.4, 0.4, 1000)
    log_odds = np.log((rate + 1e-9) / (1 - rate + 1e-9))
    score = 1 / (1 + np.exp(-(2 * log_odds + rng.standard_normal(1000))))
    return (rng.random(1000) < rate).astype(float), score


def useless(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return (rng.random(1000) < 0.5).astype(float), rng.random(1000)


@few_fast("judged", [overconfident, calibrated, useless])
@few_fast("n_studies, n", [(250, 40), (1000, 40), (1000, 100)])
def test_intervals_cover_and_strata_are_no_worse_than_labels(
    judged: Callable, n_studies: int, n: int
) -> None:
    """Studies of a rate of one half: coverage of .95 with a Monte Carlo error of .007 in 1,000 of them."""
    rng = np.random.default_rng(8)
    inside, estimates = np.zeros(2), []
    for _ in range(n_studies):
        people, score = judged(rng)
        strata = strata_of(score, n)
        chosen = draw_strata(strata, allocate(strata.size, n), rng)
        by_strata = stratified_mean(people[chosen], strata.code[chosen], strata.size, binary=True)
        probability = active_probabilities(score, n)
        one = draw_systematic(probability, rng)
        weighted = inverse_weighted_mean(people[one], probability[one], score[one], score)
        inside += [each.interval[0] <= 0.5 <= each.interval[1] for each in (by_strata, weighted)]
        estimates.append([by_strata.estimate, weighted.estimate])
    few = np.sqrt(1000 / n_studies)  # how much wider Monte Carlo errors are
    assert (inside / n_studies > 0.95 - 4 * 0.007 * few).all()
    assert np.abs(np.mean(estimates, axis=0) - 0.5).max() < 0.01 * few
    spread = np.std(estimates, axis=0)
    assert spread[0] < (1 + 0.08 * few) * 0.5 / np.sqrt(n)
    if judged is calibrated:  # the labels' part of Beta(.4, .4) falls to .83 by the judge's doubt
        assert (spread < (0.83 + 0.02 * few) * 0.5 / np.sqrt(n)).all()


@few_fast("n_studies", [250, 1000])
def test_differences_of_numbers_are_covered(n_studies: int) -> None:
    rng, inside = np.random.default_rng(9), 0
    for _ in range(n_studies):
        score = rng.standard_normal(500)
        people = 0.7 * score + 0.7 * rng.standard_normal(500)
        strata = strata_of(score, 40)
        chosen = draw_strata(strata, allocate(strata.size, 40), rng)
        low, high = stratified_mean(people[chosen], strata.code[chosen], strata.size).interval
        inside += low <= 0 <= high
    assert abs(inside / n_studies - 0.95) < 4 * 0.007 * np.sqrt(1000 / n_studies)


def test_neyman_never_has_a_rate_of_more_than_twice_another() -> None:
    score = np.repeat(np.arange(5.0), 40)
    strata = strata_of(score, 50)
    people = np.where(np.arange(200) % 2, 1.0, -1.0) * np.repeat([0, 0, 0.1, 1, 5], 40)
    spread = neyman_spreads(strata, score, people)
    assert spread.max() == pytest.approx(2 * spread.min())
    with pytest.raises(InputError, match="labels of the pilot"):
        neyman_spreads(strata, score[:160], people[:160])
    with pytest.raises(InputError, match="Within no stratum"):
        neyman_spreads(strata, score, np.ones(200))


def test_a_draw_is_the_same_with_the_same_seed() -> None:
    score = np.random.default_rng(1).random(200)
    first, second, other = (plan_sample(score, 40, seed=seed).chosen.tolist() for seed in (5, 5, 6))
    assert first == second != other


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """scores.csv, sample.csv of 100 of them, and rated.csv with their labels."""
    people, score = calibrated(np.random.default_rng(4))
    table = pd.DataFrame({"item": [f"q{place}" for place in range(1000)], "judge": score.round(6)})
    table.to_csv(tmp_path / "scores.csv", index=False)
    run("judge", "sample", tmp_path / "scores.csv", "--n", "100", "-o", tmp_path / "sample.csv")
    sample = pd.read_csv(tmp_path / "sample.csv")
    table["human"] = np.where(table["item"].isin(sample["item"]), people, np.nan)
    table.to_csv(tmp_path / "rated.csv", index=False)
    return tmp_path


def test_the_sample_goes_into_the_estimate(drawn: Path) -> None:
    found = run_json("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "sample.csv")
    table, sample = (pd.read_csv(drawn / name) for name in ("rated.csv", "sample.csv"))
    both = sample.merge(table, on="item")
    share = both.groupby("stratum")["stratum_size"].first() / 1000
    assert found["tuned"]["estimate"] == pytest.approx(
        float((share * both.groupby("stratum")["human"].mean()).sum()), rel=1e-9
    )
    assert found["method"] == "stratified"
    assert found["efficiency"] > 1.2
    said = run("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "sample.csv").stdout
    assert "by strata of the judge's score" in said
    assert "no others in their" in said


def test_the_sample_gives_the_items_of_an_assignment(drawn: Path) -> None:
    run("assign", "--item-names", drawn / "sample.csv", "--workers", "5", "-o", drawn / "work.csv")
    assert set(pd.read_csv(drawn / "work.csv")["item"]) == set(pd.read_csv(drawn / "sample.csv")["item"])


def test_outputs_without_a_score_are_a_stratum_of_the_estimate(drawn: Path) -> None:
    table = pd.read_csv(drawn / "scores.csv")
    table.loc[:99, "judge"] = np.nan
    table.to_csv(drawn / "scores.csv", index=False)
    run("judge", "sample", drawn / "scores.csv", "--n", "60", "-o", drawn / "sample.csv", "--force")
    sample = pd.read_csv(drawn / "sample.csv")
    assert sample.groupby("stratum").size().tolist() == [11, 11, 11, 11, 10, 6]
    people = np.random.default_rng(3).integers(0, 2, 1000)
    table["human"] = np.where(table["item"].isin(sample["item"]), people, np.nan)
    table.to_csv(drawn / "rated.csv", index=False)
    found = run_json("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "sample.csv")
    assert found["n"] == 60
    both = sample.merge(table, on="item")
    share = both.groupby("stratum")["stratum_size"].first() / 1000
    by_hand = float((share * both.groupby("stratum")["human"].mean()).sum())
    assert found["tuned"]["estimate"] == pytest.approx(by_hand, rel=1e-9)


def test_labels_that_are_missing_or_not_drawn_are_said(drawn: Path) -> None:
    table = pd.read_csv(drawn / "rated.csv")
    sample = set(pd.read_csv(drawn / "sample.csv")["item"])
    given = table.index[table["item"].isin(sample)]
    table.loc[given[:4], "human"] = np.nan
    table.loc[table.index[~table["item"].isin(sample)][:3], "human"] = 1
    table.to_csv(drawn / "rated.csv", index=False)
    found = run("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "sample.csv")
    said = " ".join((found.stdout + found.stderr).split())
    assert "3 items with human values are not in the sample and do not count" in said
    assert "4 of 100 items of the sample have no human value" in said
    assert "96 with human values" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one: one.drop(columns="stratum"), "stratum"),
        (lambda one: one.assign(item=one["item"].where(one.index > 0, "nobody")), "no item of the table"),
        (lambda one: pd.concat([one, one[:1]]), "comes twice"),
        (lambda one: one.assign(probability=one["probability"].where(one.index > 0, 1.5)), "at most 1"),
        (lambda one: one.assign(stratum_size=3), "no less than were drawn"),
        (lambda one: one.assign(probability=one["probability"] / 3), "drawn one by one"),
        (lambda one: one[:0], ""),
        (lambda one: one[:60], "60 items are there, and 100 were drawn"),
        (lambda one: one[one["stratum"] < 5], "80 items are there, and 100 were drawn"),
        (lambda one: one.assign(sample_size=one.index), "several numbers were drawn"),
    ],
)
def test_a_sample_that_is_none_is_refused(drawn: Path, change: Callable, words: str) -> None:
    change(pd.read_csv(drawn / "sample.csv")).to_csv(drawn / "other.csv", index=False)
    refused = run("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "other.csv", code=2)
    assert words in " ".join(refused.stderr.split())


@pytest.mark.parametrize("words", [("--active",), ()])
def test_a_sample_of_one_stratum_that_lost_rows_is_refused(drawn: Path, words: tuple[str, ...]) -> None:
    scores = pd.read_csv(drawn / "scores.csv")
    if not words:
        scores.assign(judge=0.5).to_csv(drawn / "scores.csv", index=False)  # alike: one stratum
    sample = drawn / "one.csv"
    run("judge", "sample", drawn / "scores.csv", "--n", "80", *words, "-o", sample)
    pd.read_csv(sample)[:40].to_csv(drawn / "half.csv", index=False)
    refused = run("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "half.csv", code=2)
    assert "40 items are there, and 80 were drawn" in " ".join(refused.stderr.split())


def two_systems(path: Path) -> Path:
    rng = np.random.default_rng(3)
    item = np.arange(60)
    table = pd.concat(
        [
            pd.DataFrame({"item": item, "system": name, "judge": rng.normal(0, 1, 60).round(3)})
            for name in ("old", "new")
        ]
    )
    table.to_csv(path, index=False)
    return path


@each_case(
    ("words", "why"),
    [
        (("--n", "5000"), "Error: --n: value 5000: there are 60 outputs"),
        (("--n", "3"), "at least 10 outputs"),
        (("--n", "20", "--allocation", "neyman"), "from labels alone: give those of a pilot"),
        (("--n", "30", "--active"), "is for the rate of one system"),
        (("--n", "30", "--systems", "old,none"), "none"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    path = two_systems(tmp_path / "two.csv")
    assert why in refusal_of("judge", "sample", path, *words)


@pytest.mark.parametrize(
    ("score", "why"),
    [
        ("0.2,1.5", "probabilities of a yes"),
        ("0,1", "for sure of every output"),
    ],
)
def test_active_needs_a_judge_that_doubts(tmp_path: Path, score: str, why: str) -> None:
    first, second = score.split(",")
    rows = [f"q{place},{first if place % 2 else second}" for place in range(80)]
    (tmp_path / "one.csv").write_text("\n".join(["item,judge", *rows]))
    refused = run("judge", "sample", tmp_path / "one.csv", "--n", "30", "--active", code=2)
    assert why in " ".join(refused.stderr.split())


def test_outputs_drawn_one_by_one_are_weighted(drawn: Path) -> None:
    scores = drawn / "scores.csv"
    run("judge", "sample", scores, "--n", "100", "--active", "-o", drawn / "active.csv")
    sample, table = pd.read_csv(drawn / "active.csv"), pd.read_csv(scores)
    people = calibrated(np.random.default_rng(4))[0]
    table["human"] = np.where(table["item"].isin(sample["item"]), people, np.nan)
    table.to_csv(drawn / "rated.csv", index=False)
    found = run_json("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "active.csv")
    both = sample.merge(table, on="item")
    by_hand = table["judge"].mean() + ((both["human"] - both["judge"]) / both["probability"]).sum() / 1000
    assert found["tuned"]["estimate"] == pytest.approx(by_hand, rel=1e-8)
    table[:900].to_csv(drawn / "part.csv", index=False)
    cut = sample[sample["item"].isin(table["item"][:900])]
    cut.assign(sample_size=len(cut)).to_csv(drawn / "cut.csv", index=False)
    refused = run("judge", "estimate", drawn / "part.csv", "--sample", drawn / "cut.csv", code=2)
    assert "drawn out of 1,000 outputs" in " ".join(refused.stderr.split())


def test_unequal_probabilities_and_workers_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    item = np.arange(200)
    quality = rng.normal(0, 1, 200)
    scores = pd.DataFrame({"item": item, "judge": (quality + rng.normal(0, 0.5, 200)).round(3)})
    scores.to_csv(tmp_path / "scores.csv", index=False)
    pilot = scores.assign(human=np.where(item < 100, quality * (1 + 3 * (quality > 0)), np.nan))
    pilot.to_csv(tmp_path / "pilot.csv", index=False)
    line = ("judge", "sample", tmp_path / "scores.csv", "--n", "60")
    neyman = ("--allocation", "neyman", "--pilot", tmp_path / "pilot.csv")
    for name, how in (("equal.csv", ()), ("neyman.csv", neyman)):
        run(*line, *how, "-o", tmp_path / name)
        chosen = pd.read_csv(tmp_path / name)["item"]
        rated = scores[scores["item"].isin(chosen)].merge(
            pd.DataFrame({"worker": list("abc")}), how="cross"
        )
        rated["human"] = quality[rated["item"]] + rng.normal(0, 0.5, len(rated))
        rest = scores[~scores["item"].isin(chosen)]
        pd.concat([rated, rest]).to_csv(tmp_path / f"rated-{name}", index=False)
    equal = ("judge", "estimate", tmp_path / "rated-equal.csv", "--sample", tmp_path / "equal.csv")
    assert run_json(*equal)["n_workers"] == 3
    unequal = ("judge", "estimate", tmp_path / "rated-neyman.csv", "--sample", tmp_path / "neyman.csv")
    refused = refusal_of(*unequal)
    assert "unequal probabilities, which the model of workers cannot weigh" in refused
    assert run_json(*unequal, "--raters-fixed")["method"] == "stratified"


@pytest.mark.parametrize(
    ("value", "reach"), [(3, "no interval: the labels do not vary"), (1, "interval 0.")]
)
def test_labels_all_alike_are_worth_nothing_that_could_be_counted(
    drawn: Path, value: int, reach: str
) -> None:
    table = pd.read_csv(drawn / "rated.csv")
    table.loc[table["human"].notna(), "human"] = value
    table.to_csv(drawn / "rated.csv", index=False)
    given = "judge", "estimate", drawn / "rated.csv", "--sample", drawn / "sample.csv"
    said = text_of(*given, "-o", drawn / "page")
    assert f"Mean human value is {value} by strata" in said
    assert reach in said
    assert "All labels are alike, so that nothing tells what the draw adds." in said
    assert "times as many" not in said
    assert "nan to nan" not in (drawn / "page" / "index.html").read_text()
    assert run_json(*given)["efficiency"] == 1.0


def test_all_strata_with_too_few_labels_are_named(drawn: Path) -> None:
    table, sample = pd.read_csv(drawn / "rated.csv"), pd.read_csv(drawn / "sample.csv")
    kept = sample[sample["stratum"].isin([1, 3, 4])]["item"]
    table.loc[~table["item"].isin(kept), "human"] = np.nan
    table.to_csv(drawn / "rated.csv", index=False)
    refused = run("judge", "estimate", drawn / "rated.csv", "--sample", drawn / "sample.csv", code=2)
    assert "0 of stratum 2, 0 of stratum 5" in " ".join(refused.stderr.split())
