"""Length and place: what a judge gives for them, beside a loop, theory and other programs; and the commands."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run, run_json, text_of
from scipy import stats

from humeval_power.comparisons.judge.result_bias import JudgeLength
from humeval_power.comparisons.judge.surface import LengthBias, PositionBias, length_bias, position_bias
from humeval_power.comparisons.judge.table import JudgedTable
from humeval_power.errors import InputError


def outputs(
    rng: np.random.Generator, n: int = 120, *, favour: float = 0.0, better: float = 0.5, slope: float = 0.8
) -> JudgedTable:
    """n items under two systems, two ratings of each; length goes with quality (`better`), the judge squeezes the
    truth (`slope`) and may favour length."""
    item, system = np.repeat(np.arange(n), 2), np.tile([0, 1], n)
    shared = np.repeat(rng.standard_normal(n), 2)
    length = rng.gamma(4, 30, 2 * n) + 20 * system
    standard = (length - length.mean()) / length.std(ddof=1)
    truth = 0.3 * system + better * standard + 0.5 * shared + 0.5 * rng.standard_normal(2 * n)
    judge = slope * truth + favour * standard + 0.3 * rng.standard_normal(2 * n)
    human = truth + 0.7 * rng.standard_normal((2, 2 * n))
    return JudgedTable(
        item=np.tile(item, 2),
        system=np.tile(system, 2),
        human=human.ravel(),
        judge=np.tile(judge, 2),
        item_names=tuple(map(str, range(n))),
        system_names=("A", "B"),
        worker=np.repeat([0, 1], 2 * n),
        worker_names=("w1", "w2"),
        length=np.tile(length, 2),
    )


def test_favour_is_two_stage_least_squares_and_distortion_a_slope_within_systems() -> None:
    table = outputs(np.random.default_rng(1), favour=0.2)
    found = length_bias(table)
    length = table.lengths
    z = ((length - length.mean()) / length.std(ddof=1)).ravel()
    system = np.tile([0, 1], 120)
    dummies = np.column_stack([system == 0, system == 1]).astype(float)
    h = [np.full(240, np.nan), np.full(240, np.nan)]
    for place, worker in enumerate((0, 1)):
        rows = table.worker == worker
        h[place][table.item[rows] * 2 + table.system[rows]] = table.human[rows]
    score = table.judge_means.ravel()
    x = np.vstack([np.column_stack([dummies, z, one]) for one in h])
    w = np.vstack([np.column_stack([dummies, z, one]) for one in h[::-1]])
    first = w @ np.linalg.lstsq(w, x, rcond=None)[0]  # the first stage, then the second
    by_stages = np.linalg.lstsq(first, np.tile(score, 2), rcond=None)[0]
    assert found.favour is not None
    assert found.favour.estimate == pytest.approx(by_stages[2], rel=1e-9)
    error = score - (h[0] + h[1]) / 2
    within = np.linalg.lstsq(np.column_stack([dummies, z]), error, rcond=None)[0]
    assert found.distortion is not None
    assert found.distortion.estimate == pytest.approx(within[2], rel=1e-9)


def test_a_judge_that_squeezes_the_truth_distorts_by_length_and_favours_none() -> None:
    """400 tables, no favour: 5 % find one (Monte Carlo error 1.1 points), and nearly all find a distortion."""
    rng, favoured, distorted = np.random.default_rng(2), 0, 0
    for _ in range(400):
        found = length_bias(outputs(rng))
        assert found.favour is not None
        assert found.distortion is not None
        favoured += found.favour.p_value <= 0.05
        distorted += found.distortion.p_value <= 0.05 and found.distortion.estimate < 0
    assert stats.binom.ppf(0.0005, 400, 0.05) <= favoured <= stats.binom.ppf(0.9995, 400, 0.05)
    assert distorted > 200


def test_a_favour_is_covered_as_often_as_said() -> None:
    rng, inside = np.random.default_rng(3), 0
    for _ in range(400):
        found = length_bias(outputs(rng, n=60, favour=0.3))
        assert found.favour is not None
        inside += found.favour.interval[0] <= 0.3 <= found.favour.interval[1]
    assert inside >= stats.binom.ppf(0.0005, 400, 0.95)


def test_one_rating_an_output_cannot_tell_favour() -> None:
    table = outputs(np.random.default_rng(4))
    once = JudgedTable(**{**vars(table), "human": np.where(table.worker == 0, table.human, np.nan)})
    found = length_bias(once)
    assert isinstance(found, LengthBias)
    assert found.favour is None
    assert found.n_twice == 0
    assert found.distortion is not None


def test_ratings_all_alike_are_given_as_the_reason_and_not_their_number() -> None:
    table = outputs(np.random.default_rng(4))
    alike = JudgedTable(**{**vars(table), "human": np.full(len(table.human), 3.0)})
    lead = JudgeLength(found=length_bias(alike)).answer().lead
    assert "240 outputs by two people do not tell good outputs from bad ones" in lead
    assert "needed" not in lead


def test_lengths_all_alike_are_refused() -> None:
    table = outputs(np.random.default_rng(4))
    with pytest.raises(InputError, match="are alike"):
        length_bias(JudgedTable(**{**vars(table), "length": np.full(len(table.item), 7.0)}))


def both_orders(n_first: int, n_second: int, n_same: int) -> PositionBias:
    """Pairs whose verdicts go to the first in both orders, to the second, or to B."""
    kinds = np.repeat([1, -1, 0], [n_first, n_second, n_same])
    item = np.tile(np.arange(len(kinds)), 2)
    position = np.repeat([-0.5, 0.5], len(kinds))
    preference = np.where(np.tile(kinds, 2) == 0, 1.0, np.tile(kinds, 2) * np.sign(position))
    return position_bias(preference, position, item)


def test_pairs_that_follow_the_place_have_the_exact_sign_test() -> None:
    found = both_orders(14, 4, 30)
    assert (found.first, found.second, found.same, found.one_order) == (14, 4, 30, 0)
    assert found.p_value == pytest.approx(stats.binomtest(14, 18).pvalue, rel=1e-12)
    shift = np.repeat([1.0, -1.0, 0.0], [14, 4, 30])
    assert found.shift == pytest.approx(10 / 48)
    interval = stats.ttest_1samp(shift, 0).confidence_interval()
    assert found.interval == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_no_pair_that_follows_the_place_has_a_bound() -> None:
    found = both_orders(0, 0, 40)
    assert found.shift == 0
    assert found.p_value == 1
    assert found.interval[1] == pytest.approx(1 - 0.025 ** (1 / 40))


def test_a_loop_over_pairs_counts_the_same() -> None:
    rng = np.random.default_rng(5)
    item, side = rng.integers(0, 30, 150), rng.choice([-0.5, 0.5], 150)
    preference = rng.choice([-1.0, 0.0, 1.0], 150)
    found = position_bias(preference, side, item)
    counts = {"first": 0, "second": 0, "same": 0, "one": 0}
    for one in range(30):
        means = [
            np.mean(preference[chosen] * 2 * place)
            for place in (-0.5, 0.5)
            if (chosen := (item == one) & (side == place)).any()
        ]
        if len(means) == 2:
            whole = sum(means)
            counts["first" if whole > 1e-9 else "second" if whole < -1e-9 else "same"] += 1
        elif means:
            counts["one"] += 1
    assert (found.first, found.second, found.same, found.one_order) == tuple(counts.values())


def test_pairs_in_one_order_tell_nothing() -> None:
    with pytest.raises(InputError, match="both orders"):
        position_bias(np.ones(9), np.full(9, 0.5), np.arange(9))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    made = outputs(np.random.default_rng(6), favour=0.4)
    frame = pd.DataFrame(
        {
            "item": made.item,
            "system": np.array(["A", "B"])[made.system],
            "worker": np.array(["w1", "w2"])[made.worker],
            "human": made.human.round(3),
            "judge": made.judge.round(3),
            "words": made.length.round(),
        }
    )
    frame.to_csv(tmp_path / "len.csv", index=False)
    return tmp_path / "len.csv"


def test_the_command_keeps_the_questions_about_length_apart(table: Path) -> None:
    said = text_of("judge", "length", table, "--length", "words")
    assert "favours longer outputs among those that people value alike" in said
    assert "distorts" in said
    once = pd.read_csv(table)
    once = once[once["worker"] == "w1"]
    once.to_csv(table, index=False)
    said = text_of("judge", "length", table, "--length", "words")
    assert "cannot be told: 0 outputs have ratings of two people" in said
    assert "favours longer" not in said


def test_the_command_counts_verdicts_that_follow_the_place(tmp_path: Path) -> None:
    rows = [f"{item},{place},{place if item < 12 else 'B'}" for item in range(40) for place in "AB"]
    path = tmp_path / "verdicts.csv"
    path.write_text("\n".join(["item,position,preference", *rows]))
    found = run_json("judge", "position", path)
    assert (found["first"], found["second"], found["same"]) == (12, 0, 28)
    said = text_of("judge", "position", path)
    assert "favours what is shown first" in said
    path.write_text("\n".join(["item,preference", "1,A", "2,B"]))
    assert "no column of places" in run("judge", "position", path, code=2).stderr
