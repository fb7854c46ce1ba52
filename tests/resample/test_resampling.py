"""Studies drawn from a study's own ratings: what is drawn, moved and tested, and the command `resample`."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import run, run_json
from scipy import stats
from seven import seven

from humeval_power.comparisons.resample.calls import resample
from humeval_power.comparisons.resample.result import resample_chart
from humeval_power.comparisons.resample.scenario import MIXED, RESAMPLED_TESTS, ResampledRatings, copies
from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.parameters import preset
from humeval_power.rules import DecisionRule
from humeval_power.simulation.study import simulate
from humeval_power.studies.fit.wald import effect_test
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import analytic_power

PARAMETERS = seven(0.5, 0.1, 0.05, 0.08, 0.08, 0.1, 0.2)
COMPLETE = simulate(PARAMETERS, crossed(9, 40), seed=3)
INCOMPLETE = simulate(PARAMETERS, k_per_item(12, 50, ratings_per_item=3), seed=4)
UNITS = ("rating", "item", "worker", "both")


def test_copies_are_the_rows_of_each_chosen_code_in_turn() -> None:
    code, chosen = np.array([2, 0, 2, 1]), np.array([2, 0, 2])
    row, choice = copies(code, chosen, 3)
    assert list(zip(row.tolist(), choice.tolist(), strict=True)) == [(0, 0), (2, 0), (1, 1), (0, 2), (2, 2)]


def test_codes_without_rows_are_chosen_in_vain() -> None:
    row, choice = copies(np.array([0, 0]), np.array([1, 0]), 2)
    assert (row.tolist(), choice.tolist()) == ([0, 1], [1, 1])


@each_case("table", [COMPLETE, INCOMPLETE], ids=["complete", "incomplete"])
@each_case("by", UNITS)
def test_what_is_drawn_keeps_together_what_belongs_together(table: object, by: str) -> None:
    scenario = ResampledRatings(table, by=by)  # type: ignore[arg-type]
    drawn = scenario._drawn(np.random.default_rng(1))
    worker, item = scenario.table.worker[drawn.row], scenario.table.item[drawn.row]
    for original, new, moved in (
        (worker, drawn.worker, by in ("worker", "both")),
        (item, drawn.item, by in ("item", "both")),
    ):
        # each new worker (item) is one original; without drawing they are the very same
        assert len(set(zip(new, original, strict=True))) == len(set(new))
        assert moved or (new == original).all()
    sizes = {"workers": len(set(drawn.worker)), "items": len(set(drawn.item))}
    sizes["ratings"] = int((scenario.table.system[drawn.row] == 0).sum())
    for name, wanted in scenario.size.items():
        assert sizes[name] <= wanted if table is INCOMPLETE else sizes[name] == wanted


def test_both_ways_a_rating_occurs_as_often_as_worker_times_item() -> None:
    scenario = ResampledRatings(INCOMPLETE, by="both", workers=20, items=30)
    drawn = scenario._drawn(np.random.default_rng(5))
    count = np.bincount(drawn.row, minlength=len(INCOMPLETE.rating))
    by_worker = {
        w: {drawn.worker[i] for i in np.flatnonzero(INCOMPLETE.worker[drawn.row] == w)} for w in range(12)
    }
    by_item = {
        t: {drawn.item[i] for i in np.flatnonzero(INCOMPLETE.item[drawn.row] == t)} for t in range(50)
    }
    for row in range(len(count)):
        times = len(by_worker[INCOMPLETE.worker[row]]) * len(by_item[INCOMPLETE.item[row]])
        # a worker drawn without a drawn item of theirs leaves no trace, so only present rows are told
        assert count[row] in (0, times)


@each_case("test", RESAMPLED_TESTS)
@each_case("by", UNITS)
def test_replicates_belong_to_the_seed(by: str, test: str) -> None:
    scenario = ResampledRatings(INCOMPLETE, by=by, test=test, shift=0.1)  # type: ignore[arg-type]
    whole = scenario.draw(6, seed=2)
    np.testing.assert_array_equal(whole.p_value[4:], scenario.draw(2, seed=2, first=4, n_jobs=2).p_value)


def test_tables_drawn_from_a_complete_one_are_fitted_as_any_other() -> None:
    scenario = ResampledRatings(COMPLETE, by="both", items=25, workers=7)
    fast = scenario.draw(4, seed=9)
    for number in range(4):
        from humeval_power.simulation.study import replicate_generator

        drawn = scenario._drawn(replicate_generator(9, number))
        table = SimpleNamespace(
            worker=drawn.worker,
            item=drawn.item,
            system=COMPLETE.system[drawn.row],
            rating=COMPLETE.rating[drawn.row],
        )
        found = effect_test(fit(table))
        assert fast.estimate[number] == pytest.approx(found.estimate, rel=1e-6)
        assert fast.p_value[number] == pytest.approx(found.p_value, rel=1e-4)


@each_case("test", RESAMPLED_TESTS)
@each_case("table", [COMPLETE, INCOMPLETE], ids=["complete", "incomplete"])
def test_a_shift_gives_the_population_this_difference(table: object, test: str) -> None:
    scenario = ResampledRatings(table, by="item", test=test, shift=0.25)  # type: ignore[arg-type]
    rows = np.arange(len(scenario.table.rating))
    moved = SimpleNamespace(
        worker=scenario.table.worker,
        item=scenario.table.item,
        system=scenario.table.system,
        rating=scenario._moved(np.random.default_rng(1), rows),
    )
    again = ResampledRatings(moved, by="item", test=test)
    assert again.true_effect == pytest.approx(0.25, abs=1e-7)
    assert scenario.true_effect == 0.25
    assert scenario.with_effect(0.1).true_effect == 0.1


@pytest.mark.slow
def test_moved_ratings_of_a_scale_with_points_stay_on_points_and_keep_the_mean() -> None:
    rng = np.random.default_rng(1)
    rating = rng.integers(0, 5, 4000) / 4
    table = SimpleNamespace(
        worker=np.tile(np.arange(10), 400),
        item=np.repeat(np.arange(400), 10),
        system=np.tile([0, 1], 2000),
        rating=rating,
    )
    scenario = ResampledRatings(table, by="rating", test="ratings-t", shift=0.1, points=5)
    rows = np.arange(4000)
    draws = np.stack([scenario._moved(np.random.default_rng(s), rows) for s in range(60)])
    assert draws * 4 == pytest.approx(np.round(draws * 4), abs=1e-12)
    difference = draws[:, table.system == 1].mean() - draws[:, table.system == 0].mean()
    # 2,000 ratings rounded 60 times, an sd of at most half a point of 1/4
    assert difference == pytest.approx(0.1, abs=4 * 0.125 / np.sqrt(2000 * 60))
    assert (draws[:, table.system == 0] == rating[table.system == 0]).all()


def test_rounding_keeps_the_ties_that_a_rank_test_lives_on() -> None:
    rng = np.random.default_rng(3)
    rating = rng.integers(0, 3, 600) / 2
    table = SimpleNamespace(
        worker=np.tile(np.arange(6), 100),
        item=np.repeat(np.arange(100), 6),
        system=np.tile([0, 1], 300),
        rating=rating,
    )
    rounded, raw = (
        estimate_power(
            ResampledRatings(table, by="rating", test="mann-whitney", shift=0.02, points=points),
            n_simulations=200,
        ).rejection_rate
        for points in (3, None)
    )
    assert rounded < 0.3 < 0.9 < raw  # moved by a trifle, no rating of B would tie with one of A any more


@pytest.mark.slow
def test_drawing_ratings_has_the_power_of_the_t_test() -> None:
    # Ratings drawn one by one are independent: noncentral t with the table's own variances.
    found = estimate_power(
        ResampledRatings(COMPLETE, by="rating", ratings=150, test="ratings-t", shift=0.08),
        n_simulations=2000,
    )
    a, b = (COMPLETE.rating[COMPLETE.system == s] for s in (0, 1))
    error = np.sqrt((a.var() + b.var()) / 150)
    expected = stats.nct.sf(stats.t.isf(0.025, 298), 298, 0.08 / error)
    assert found.power == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 2000))


@pytest.mark.slow
def test_drawing_items_has_the_variance_of_the_item_differences() -> None:
    drawn = ResampledRatings(COMPLETE, by="item", items=60, test="item-means-t").draw(2000, seed=1)
    table = COMPLETE.rating.reshape(-1)
    difference = np.array(
        [
            table[(COMPLETE.item == i) & (COMPLETE.system == 1)].mean()
            - table[(COMPLETE.item == i) & (COMPLETE.system == 0)].mean()
            for i in range(40)
        ]
    )
    assert drawn.estimate.var() == pytest.approx(difference.var() / 60, rel=4 * np.sqrt(2 / 2000))


@pytest.mark.slow
def test_drawing_both_ways_counts_pure_noise_three_times() -> None:
    # Owen (2007): with independent ratings the pigeonhole bootstrap's variance is about three times the
    # true one, whatever is drawn from: it is careful, not bold.
    noise = simulate(seven(0.5, 0.0, 0, 0, 0, 0, 0.2), crossed(30, 30), seed=1)
    drawn = ResampledRatings(noise, by="both", test="ratings-t").draw(1500, seed=1)
    true = 2 * 0.2**2 / 900
    # the table's own variance wanders by 5 %, 1,500 replicates by 15 %
    assert drawn.estimate.var() / true == pytest.approx(3, abs=0.6)


def test_resampling_a_large_study_agrees_with_the_formula() -> None:
    # 60 workers and 150 items stand for the population; studies of 12 x 40 drawn from them
    parameters = preset("low").with_difference(0.1)
    large = simulate(parameters, crossed(60, 150), seed=8)
    scenario = ResampledRatings(large, by="both", workers=12, items=40, shift=0.1)
    found = estimate_power(scenario, n_simulations=600)
    fitted = fit(large).parameters.with_difference(0.1)
    expected = analytic_power(fitted, crossed(12, 40)).power
    assert found.power == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 600) + 0.02)


@each_case(
    ("options", "words"),
    [
        ({"by": "column"}, "drawn by"),
        ({"test": "chi"}, "tests are"),
        ({"by": "item", "workers": 5}, "no number of workers"),
        ({"by": "both", "items": 1}, "at least 2 items"),
        ({"shift": 12}, "between -1 and 1"),
        ({"rule": DecisionRule(df="bootstrap")}, "null"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ResampledRatings(COMPLETE, **options)


def test_a_study_in_which_nothing_can_be_tested_counts_as_failed() -> None:
    tiny = SimpleNamespace(
        worker=np.array([0, 0, 1, 1]),
        item=np.array([0, 0, 1, 1]),
        system=np.array([0, 1, 0, 1]),
        rating=np.array([0.1, 0.4, 0.3, 0.5]),
    )
    for test in RESAMPLED_TESTS:
        drawn = ResampledRatings(tiny, by="both", test=test).draw(30, seed=1)
        assert (drawn.status != 0).any()
        assert not drawn.usable[drawn.status != 0].any()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    COMPLETE.to_frame().to_csv(path, index=False)
    return path


def test_the_command_gives_a_row_for_each_size_and_test(table: Path) -> None:
    options = ["--tests", "mixed,mann-whitney", "--items", "20,40", "--shift", "0.1", "--simulations", "60"]
    found = run("resample", table, *options)
    assert max(map(len, found.stdout.splitlines())) <= 80
    record = run_json("resample", table, *options)
    assert [(row["test"], row["items"]) for row in record["rows"]] == [
        ("mixed", 20),
        ("mann-whitney", 20),
        ("mixed", 40),
        ("mann-whitney", 40),
    ]
    assert record["post_hoc"] is False
    expected = estimate_power(
        ResampledRatings(_ratings(table), by="both", items=40, test=MIXED, shift=0.1), n_simulations=60
    )
    assert record["rows"][2]["power"] == expected.power


def _ratings(path: Path):  # type: ignore[no-untyped-def]
    from humeval_power.ratings import ratings_from_table

    return ratings_from_table(pd.read_csv(path))


def test_without_a_shift_the_command_warns_of_post_hoc_power(table: Path) -> None:
    plain = run("resample", table, "--simulations", "20")
    assert "says nothing that the p-value does not" in " ".join(plain.stdout.split())
    shifted = run("resample", table, "--simulations", "20", "--shift", "0.1")
    assert "p-value" not in shifted.stdout


def test_sizes_that_are_not_drawn_and_unknown_tests_are_refused(table: Path) -> None:
    words = ("--unit", "item", "--workers", "4", "--shift", "0.1")
    assert "no number of workers" in run("resample", table, *words, code=2).stderr
    assert "anova" in run("resample", table, "--tests", "anova", code=2).stderr


def test_without_an_effect_the_command_tells_how_often_a_test_rejects(table: Path) -> None:
    found = run("resample", table, "--shift", "0", "--tests", "mixed,ratings-t", "--simulations", "100")
    assert "rejects" in found.stdout
    assert "type M" not in found.stdout
    careful, bold = (float(line.split()[3]) for line in found.stdout.splitlines()[-2:])
    assert careful < bold


def test_a_folder_shows_the_power_over_the_sizes(table: Path, tmp_path: Path) -> None:
    words = ("--items", "20,40", "--shift", "0.1", "--simulations", "20", "-o", tmp_path / "out")
    run("resample", table, *words)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"index.html", "record.json", "table.csv", "power.svg", "power.png"}
    assert json.loads((tmp_path / "out" / "record.json").read_text())["seed"] is not None


def test_a_size_that_varies_is_the_axis_of_a_curve_for_each_test() -> None:
    rows = [
        {"test": test, "items": n, "effect": 0.1, "power": n / 100, "interval": (0.1, 0.9)}
        for test in ("mixed", "$t$")
        for n in (40, 20)
    ]
    curves = resample_chart(rows)
    assert [each.x for each in curves.series if each.kind == "line"] == [(20, 40), (20, 40)]
    assert curves.x.label == "Items"
    dots = resample_chart([{**row, "items": 20} for row in rows[:3:2]])
    assert dots.y.names == ("mixed", "$t$")
    assert curves.figure.axes[0].get_xlabel() == "Items"


def test_from_python_every_size_goes_with_every_test() -> None:
    told: list[object] = []
    found = resample(
        _table(COMPLETE),
        tests=("mixed", "wilcoxon"),
        items=(10, 20),
        shift=0.1,
        n_simulations=20,
        ahead=told.append,
    )
    assert len(found.cells) == 4
    assert len(told) == 1
    assert set(found.to_frame()["test"]) == {"mixed", "wilcoxon"}
    assert not found.target_missed


def _table(drawn):  # type: ignore[no-untyped-def]
    from humeval_power.ratings import ratings_from_table

    return ratings_from_table(drawn.to_frame())
