"""Charts of comparisons: what they draw is what was counted, whatever the systems are called."""

from __future__ import annotations

import numpy as np
import pytest
from cli import run

from humeval_power.comparisons.judge.plan import PredictionPower
from humeval_power.comparisons.judge.result import worth_chart
from humeval_power.comparisons.preference.judgements import Judgements
from humeval_power.comparisons.preference.result import SHOWN, preference_chart
from humeval_power.comparisons.scores import calls as compare
from humeval_power.comparisons.scores.charts import differences_chart, retrospective_chart, scores_chart
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.saying.chart import Level, Spot, interval_chart
from humeval_power.saying.render import as_html, as_html_part
from humeval_power.studies.power.question_results import Solution, computed_chart

HOSTILE = ("<b>A</b>,", "emoji 🐳 $x_1$ " + "long " * 12)
RNG = np.random.default_rng(1)
A = RNG.beta(2, 5, 90)
KINDS = {
    "smooth": np.column_stack([A, A + RNG.normal(0.02, 0.1, 90)]),
    "right or wrong": RNG.integers(0, 2, (90, 2)).astype(float),
    "half alike": np.column_stack([np.zeros(20), np.repeat([0.0, 1.0], 10)]),
    "large": 1e9 + RNG.normal(0, 3, (50, 2)),
}


def compared(scores, **asked):
    table = ScoreTable(scores, HOSTILE)
    return compare.scores(table, question="mean", power_by="formula", n_resamples=200, **asked)


@pytest.mark.parametrize("kind", KINDS)
def test_the_outlines_hold_every_item_once(kind):
    found = compared(KINDS[kind]).comparison
    for chart, n_systems in ((scores_chart(found), 2), (differences_chart(found), 1)):
        outlines = [series for series in chart.series if series.kind == "steps"]
        assert [sum(each.y) for each in outlines] == [len(KINDS[kind])] * n_systems
        for each in outlines:
            assert chart.x.low <= min(each.x)
            assert max(each.x) <= chart.x.high
            assert max(each.y) <= chart.y.high
        counted = [[int(cell.replace(",", "")) for cell in row[1:]] for row in chart.table().rows]
        assert np.sum(counted, axis=0).tolist() == [len(KINDS[kind])] * n_systems


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_text_and_nothing_is_styled_inline(kind):
    result = compared(KINDS[kind])
    part = as_html_part(result.document())
    assert "<b>A" not in part
    assert "style=" not in part
    assert "<img" not in part
    assert len(as_html(result.document())) < 60_000


def test_the_curve_has_the_power_at_hand_and_the_target():
    found = compare.scores(ScoreTable(KINDS["smooth"], ("a", "b")), question="mean", n_simulations=60)
    power = found.comparison.power
    chart = retrospective_chart(power)
    spot, level = chart.marks
    assert isinstance(spot, Spot)
    assert (spot.x, spot.y) == (power.at.n, power.at.power)
    assert isinstance(level, Level)
    assert level.y == power.target
    assert [each.name for each in chart.series] == ["Monte Carlo interval", "simulated", "by formula"]


def test_a_curve_of_a_negative_answer_runs_upwards_and_one_without_points_is_none():
    chart = computed_chart(lambda x: abs(x) / 2, Solution(-1.0, 0.5), label="effect")
    assert chart is not None
    assert (chart.x.low, chart.x.high) == (-2.0, 0.0)
    assert computed_chart(lambda _x: None, Solution(1.0, 0.5), label="effect") is None
    sizes = computed_chart(lambda n: n / 20, Solution(10, 0.5, 0.8, is_size=True), label="n")
    assert sizes is not None
    assert set(sizes.series[0].x) <= set(range(21))


def test_intervals_stand_about_the_value_without_an_effect():
    chart = interval_chart(
        "x",
        [("one", 2.0, (1.0, 3.0)), ("two", 5.0, (5.0, 5.0))],
        axis="d",
        title="How large?",
        words="Two.",
    )
    assert chart.x.low < 0 < 5 < chart.x.high
    assert chart.table().rows[0] == ("one", "2", "1 to 3")
    assert interval_chart("x", [("0", 0.0, (0.0, 0.0))], axis="d", title="?", words="Flat.").svg()


def test_preferences_fill_their_bar():
    judged = [
        Judgements(name=f"set {place}", wins=3 + place, ties=2, losses=5) for place in range(SHOWN + 4)
    ]
    chart = preference_chart(judged)
    last = chart.series[-1]
    assert last.high == pytest.approx((100.0,) * SHOWN)
    assert chart.caption.startswith("4 more")
    assert chart.table().rows[0][0] == "set 0"


def test_the_worth_of_a_judge_is_marked_where_the_plan_is():
    found = PredictionPower(n=100, extra=1000, correlation=0.7, sd=1.0, sd_judge=1.0)
    chart = worth_chart(found)
    spot = chart.marks[0]
    assert isinstance(spot, Spot)
    assert spot.y == pytest.approx(
        180.3279, abs=1e-4
    )  # Angelopoulos et al. 2023: n / (1 - rho^2 N / (N + n))


@pytest.mark.parametrize("differences", [(1, 1, 1, 1, 1, -1), (1, 1, 0)])
def test_few_items_whose_samples_are_often_all_alike_have_a_chart_and_a_table(tmp_path, differences):
    rows = [f"{place},{int(d < 0)},{int(d > 0)}" for place, d in enumerate(differences)]
    table = tmp_path / "scores.csv"
    table.write_text("\n".join(["item,A,B", *rows]) + "\n", encoding="utf-8")
    printed = run("compare", "scores", table, "--question", "mean", "--simulations", "40").stdout
    assert "nan" not in printed.split()
    assert "none" in printed[printed.index("Step 4") :].split()
    run("compare", "scores", table, "--question", "mean", "--simulations", "40", "-o", tmp_path / "all/")
    assert "have no test" in (tmp_path / "all" / "index.html").read_text(encoding="utf-8")
