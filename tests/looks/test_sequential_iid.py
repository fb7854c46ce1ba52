"""Looks at independent judgements: SciPy's tests, recursive integration, and pools of comparisons."""

import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from cli import run, run_json
from scipy import stats

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment, GammaScores
from humeval_power.comparisons.preference.scenario import Preference
from humeval_power.errors import InputError
from humeval_power.studies.looks.boundaries import boundaries, false_positive_rate
from humeval_power.studies.looks.figures import boundary_figure, stopping_figure
from humeval_power.studies.looks.how_many import PROCEDURES, pool_study, wei_rules
from humeval_power.studies.looks.judgement_plan import (
    AssessmentLooks,
    PairedLooks,
    PoolLooks,
    ScoreLaws,
    counted_mann_whitney,
    operating_characteristics,
    pair_of_laws,
    pair_of_samples,
)
from humeval_power.studies.looks.stopping_rule import PValueFutility, StoppingRule, efficacy_of

THIRDS = (1 / 3, 2 / 3, 1.0)
SOURCES = {
    "scores": lambda: AssessmentLooks(DirectAssessment(60, effect=8.0), THIRDS),
    "pool": lambda: PoolLooks(pair_of_laws(GammaScores(75, 25), GammaScores(83, 25)), 60, THIRDS),
    "preference": lambda: PairedLooks(Preference(90, preference=0.15, tie_share=0.2), THIRDS),
    "accuracy": lambda: PairedLooks(
        PairedAccuracy(300, difference=0.05, agreement=KnownAgreement(0.85), test="mid-p"), THIRDS
    ),
}


def pocock(*, futility=None, shares=THIRDS):
    return boundaries(StoppingRule(efficacy_of("pocock"), futility), shares)


@each_case("name", SOURCES)
def test_replicates_belong_to_the_seed_and_not_to_the_portions(name) -> None:
    source = SOURCES[name]()
    whole = source.draw_looks(300, seed=5)
    part = source.draw_looks(120, seed=5, first=180, n_jobs=2)
    for array in ("estimate", "p_value", "status"):
        np.testing.assert_array_equal(getattr(whole, array)[180:], getattr(part, array))


@each_case("name", SOURCES)
def test_estimates_are_centred_on_the_effect_at_every_look(name) -> None:
    source = SOURCES[name]()
    looks = source.draw_looks(2000, seed=2)
    reach = 4.5 * looks.estimate.std(axis=0) / np.sqrt(2000)
    # an effect of a rounded Gamma law is off by the rounding, a preference is a ratio of counts
    assert (np.abs(looks.estimate.mean(axis=0) - source.true_effect) < reach + 0.002).all()
    # Judgements are independent: Cov(early, late) = Var(late).
    correlation = np.corrcoef(looks.estimate.T)[0, 2]
    assert correlation == pytest.approx(np.sqrt(source.sizes[0] / source.sizes[2]), abs=4.5 / np.sqrt(2000))


@pytest.mark.parametrize("name", SOURCES)
def test_without_an_effect_the_error_is_that_of_recursive_integration(name) -> None:
    source = SOURCES[name]().with_effect(0.0)
    if isinstance(source, PoolLooks):  # equal laws: equal means alone are not what U tests
        source = PoolLooks(pair_of_laws(GammaScores(75, 25), GammaScores(75, 25)), 60, THIRDS)
    bounds = pocock(shares=[size / source.sizes[-1] for size in source.sizes])
    n = 8000
    rate = operating_characteristics(source, bounds, effects=[0.0], n_simulations=n, seed=3)[0]
    # The exact sign test is cautious with few judgements; the others may be off by .01.
    low = 0.02 if name == "preference" else 0.04
    assert low <= rate.rejection_rate <= 0.06 + 4 * np.sqrt(0.05 * 0.95 / n)
    assert rate.n_failed == 0


def test_counts_of_values_give_the_mann_whitney_test_of_scipy() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 6, (20, 31)), rng.integers(1, 7, (20, 31))
    counts = [np.stack([np.bincount(row, minlength=7) for row in each]) for each in (a, b)]
    found = counted_mann_whitney(np.arange(7.0), *counts)
    expected = [stats.mannwhitneyu(x, y, method="asymptotic").pvalue for x, y in zip(a, b, strict=True)]
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert found.estimate == pytest.approx(b.mean(axis=1) - a.mean(axis=1))


def test_a_pool_draws_with_replacement_from_its_scores() -> None:
    a, b = [10.0, 20.0, 20.0, 50.0], [20.0, 60.0]
    pair = pair_of_samples(a, b)
    assert pair.values.tolist() == [10, 20, 50, 60]
    assert pair.of_a.tolist() == [0.25, 0.5, 0.25, 0]
    assert pair.difference == pytest.approx(np.mean(b) - np.mean(a))
    looks = PoolLooks(pair, 30, (0.5, 1.0)).draw_looks(4000, seed=1)
    spread = np.sqrt((np.var(a) + np.var(b)) / 30)
    assert looks.estimate[:, 1].std() == pytest.approx(spread, rel=0.06)  # 5 standard errors
    moved = PoolLooks(pair, 30, (0.5, 1.0)).with_effect(0.0)
    assert moved.true_effect == pytest.approx(0.0, abs=1e-12)


def test_rounded_gamma_laws_keep_their_mean_and_power() -> None:
    pair = pair_of_laws(GammaScores(75, 25), GammaScores(77, 25))
    assert pair.of_a.sum() == pytest.approx(1.0)
    assert pair.difference == pytest.approx(2.0, abs=0.05)
    n = 4000
    looks = PoolLooks(pair, 600, (1.0,)).draw_looks(n, seed=8)
    # Mean 75, SD 25, a difference of 2, 600 scores of each: power .5907 by Lehmann's approximation.
    assert (looks.p_value[:, 0] <= 0.05).mean() == pytest.approx(0.5907, abs=4 * 0.5 / np.sqrt(n) + 0.01)


def test_the_futility_rule_costs_what_recursive_integration_says() -> None:
    pair = pair_of_laws(GammaScores(75, 25), GammaScores(77, 25))
    source, bounds = PoolLooks(pair, 600, THIRDS), pocock(futility=PValueFutility(0.5))
    n = 4000
    point = operating_characteristics(source, bounds, effects=[pair.difference], n_simulations=n, seed=2)[0]
    drift = stats.norm.ppf(0.5907) + 1.96
    exits = bounds.exits(drift)
    assert point.futility_rate == pytest.approx(exits.inside[:2].sum(), abs=0.04)
    assert point.power == pytest.approx(exits.above.sum(), abs=0.04)


def test_savings_on_a_pool_are_read_off_the_curves() -> None:
    differences = (0.0, 1.0, 2.0, 4.0, 8.0)
    a = GammaScores(75, 25)
    pairs = [pair_of_laws(a, GammaScores(75 + each, 25)) for each in differences]
    study = pool_study(pairs, budgets=[300, 600, 1200, 2400], n_simulations=256, seed=4)
    fixed_spent, fixed_power = study.curve("fixed")
    assert fixed_spent.tolist() == [300, 600, 1200, 2400]
    assert (np.diff(fixed_power) > 0).all()
    for name in PROCEDURES[1:]:
        spent, power = study.curve(name)
        assert (spent < fixed_spent).all()
        assert (power < fixed_power + 1e-9).all()  # the same draws, a stricter level
        target = np.interp(1200, fixed_spent, fixed_power)
        expected = 1 - np.interp(target, np.maximum.accumulate(power), spent) / 1200
        assert study.saving(name, budget=1200) == pytest.approx(expected)
    assert np.isnan(study.saving("interim", budget=9000))
    # without a difference the whole procedure errs at alpha: 4 standard errors of 1,024 comparisons
    assert study.power[1, :, 0].mean() == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 1024))
    assert study.spent[2, -1, 0] < study.spent[1, -1, 0]  # futility saves where there is nothing


def test_the_rules_of_the_paper_are_pocock_at_thirds() -> None:
    interim, futility = wei_rules()
    assert interim.nominal == pytest.approx([0.0220516] * 3, abs=1e-6)
    assert futility.futility_p[:2] == pytest.approx([0.5, 0.5])
    assert false_positive_rate(interim.nominal, THIRDS, two_sided=True) == pytest.approx(0.05)


def test_a_real_pool_of_direct_assessments_saves_too(shared_data) -> None:
    table = pd.read_csv(shared_data / "wmt23_esa_ende_gpl3.csv")
    by_system = {name: part["rating"].to_numpy() for name, part in table.groupby("system")}
    names = sorted(by_system)[:5]
    pairs = [
        pair_of_samples(by_system[one], by_system[two])
        for position, one in enumerate(names)
        for two in names[position + 1 :]
    ]
    study = pool_study(pairs, budgets=[300, 600, 1200], n_simulations=128)
    assert 0 < study.saving("interim", budget=600) < 1


@each_case(
    ("make", "says"),
    [
        (lambda: AssessmentLooks(DirectAssessment(4), THIRDS), "too few"),
        (lambda: PairedLooks(Preference(10, preference=0.1), (0.5, 0.2, 1.0)), "increase"),
        (
            lambda: PairedLooks(
                PairedAccuracy(100, difference=0.05, agreement=KnownAgreement(0.9), test="unconditional"),
                THIRDS,
            ),
            "mid-p",
        ),
        (lambda: pair_of_samples([1.0], [1.0, 2.0]), "two scores"),
        (lambda: pair_of_samples([1.0, np.nan], [1.0, 2.0]), "numbers"),
        (lambda: pool_study([], budgets=[100, 50]), "no pairs"),
        (lambda: pool_study([ScoreLaws(np.arange(2.0), np.ones(2), np.ones(2))], budgets=[4, 8]), "small"),
    ],
)
def test_impossible_requests_are_refused_with_the_reason(make, says) -> None:
    with pytest.raises(InputError, match=says):
        make()


# The command


@pytest.mark.slow
def test_the_study_command_prints_boundaries_errors_and_the_long_run(tmp_path) -> None:
    words = (
        "study --preset high --workers 10 --items 99 --effect 0.2 --simulations 2000 "
        f"--cost-per-rating 0.1 --futility p:0.5 -o {tmp_path}/out"
    ).split()
    said = run("looks", *words[:-2]).stdout
    assert all(len(line) <= 80 for line in said.splitlines())
    assert "76 %" in said  # information after a third of the ratings
    assert "all ratings taken as independent" in said
    run("looks", *words)
    pictures = {
        f"{name}.{kind}" for name in ("boundaries", "expected_cost", "stopping") for kind in ("png", "svg")
    }
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *pictures,
        "index.html",
        "record.json",
        "table.csv",
    }


def test_the_study_command_gives_a_versioned_record() -> None:
    words = "study --preset low --workers 4 --items 30 --effect 0.1 --simulations 2000"
    record = run_json("looks", *words.split())
    assert record["schema"] == "humeval_power/looks/1"
    assert record["calibration"]["used"] <= 1
    assert record["boundaries"]["calibration_factor"] == pytest.approx(record["calibration"]["used"])
    assert [row["n_items"] for row in record["at_looks"]] == [10, 20, 30]
    assert record["operating_characteristics"][0]["effect"] == 0


@few_fast(
    "words",
    [
        "scores --n 60 --effect 5",
        "preference --n 90 --effect 0.15 --tie-share 0.2 --efficacy lan-demets-pocock",
        "accuracy --n 300 --effect 0.05 --agreement 0.85 --looks 2",
        "pool --simulated 3 --budgets 60,120,240 --at 120",
    ],
    fast=1,
)
def test_commands_for_judgements_answer_within_eighty_columns(words) -> None:
    typed = ("looks", *words.split(), "--simulations", "256")
    assert all(len(line) <= 80 for line in run(*typed).stdout.splitlines())
    record = run_json(*typed)
    assert record["schema"].startswith("humeval_power/looks_")


@pytest.mark.slow
@pytest.mark.parametrize("words", ["preference --n 60 --effect 0.4", "pool --simulated 3 --budgets 60,120"])
def test_pictures_of_judgements_are_written_and_not_over_others(words, tmp_path) -> None:
    typed = ("looks", *words.split(), "--simulations", "64", "-o", tmp_path / "out")
    run(*typed)
    assert {path.suffix for path in (tmp_path / "out").iterdir()} >= {".png", ".svg", ".html", ".json"}
    assert "exist" in run(*typed, code=2).stderr


def test_a_pool_is_read_from_a_table(tmp_path) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"system": ["A", "B"] * 50, "rating": rng.integers(0, 101, 100)})
    path = tmp_path / "pool.csv"
    table.to_csv(path, index=False)
    words = ("looks", "pool", path, "--budgets", "60,120", "--simulations", "64", "--at", "100")
    assert "1 pair," in run(*words).stdout
    table["rating"] = table["rating"].astype(object)
    table.loc[3, "rating"] = "good"
    table.to_csv(path, index=False)
    refused = " ".join(run("looks", "pool", path, code=2).stderr.split())
    assert "row 5, column 'rating': value 'good': is not a number" in refused


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("study --preset high --workers 10 --items 99 --effect 0.2 --looks 0.5,x", "such as 3"),
        ("study --preset high --workers 10 --items 99 --effect 0.2 --efficacy nothing", "no boundary"),
        ("pool", "TABLE"),
        ("scores --n 60 --effect 5 --futility conditional-power:0.2", "looks study"),
    ],
)
def test_options_that_make_no_sense_end_with_2(words, says) -> None:
    assert says in run("looks", *words.split(), code=2).stderr


def test_impossible_looks_are_input_errors() -> None:
    words = ["looks", "study", "--preset", "high", "--workers", "10", "--items", "99", "--effect", "0.2"]
    assert "last share must be 1" in run(*words, "--looks", "0.5,0.9", code=2).stderr
    assert "at least two looks" in run(*words, "--looks", "1", "--futility", "p:0.5", code=2).stderr


# Pictures


def test_the_boundary_picture_shows_the_path_so_far_and_the_futility_region() -> None:
    bounds = pocock(futility=PValueFutility(0.5))
    figure = boundary_figure(bounds, path=[(0.35, 1.2), (0.7, 1.9)])
    axes = figure.axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["significant beyond", "futile within", "this study"]
    path = next(line for line in axes.lines if line.get_label() == "this study")
    assert list(zip(path.get_xdata(), path.get_ydata(), strict=True)) == [(0, 0), (0.35, 1.2), (0.7, 1.9)]
    upper = [line for line in axes.lines if line.get_label() == "significant beyond"][-1]
    assert upper.get_ydata() == pytest.approx(bounds.efficacy)


def test_the_stopping_picture_fills_every_bar() -> None:
    source = SOURCES["accuracy"]()
    bounds = pocock(futility=PValueFutility(0.5), shares=[size / 300 for size in source.sizes])
    points = operating_characteristics(source, bounds, effects=[0.0, 0.05], n_simulations=400, seed=1)
    figure = stopping_figure(points, unit="share")
    lengths = np.zeros(2)
    for bars in figure.axes[0].containers:
        lengths += [bar.get_width() for bar in bars]
    assert lengths == pytest.approx([100.0, 100.0])
