"""The histogram of resamples, exact sums, the primer's p of counts, and items helped and hurt in every report."""

import itertools
import json
import re

import cli
import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import refusal_of, run
from reference.golden import shared_golden
from scipy import stats

import humeval_power as hp
from humeval_power.comparisons.judge.plan import PredictionPower
from humeval_power.comparisons.judge.result import worth_chart
from humeval_power.comparisons.preference.result import SHOWN, preference_chart
from humeval_power.comparisons.preference.scenario import Judgements
from humeval_power.comparisons.scores import calls as compare
from humeval_power.comparisons.scores.charts import differences_chart, retrospective_chart, scores_chart
from humeval_power.comparisons.scores.effect_sizes import (
    TestSettings,
    exact_sums,
    resamples_of,
    sums_of_counts,
)
from humeval_power.comparisons.scores.primer import primer_counts
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.comparisons.scores.tests import run_test
from humeval_power.errors import InputError
from humeval_power.saying.chart import Level, Spot, interval_chart
from humeval_power.saying.render import as_html, as_html_part
from humeval_power.studies.power.question_results import Solution, computed_chart

RIGHT = pd.DataFrame({"A": [0, 1, 1, 0, 0, 1, 0, 1, 0, 1], "B": [1, 1, 0, 1, 1, 0, 1, 1, 0, 0]})
FAST = {"power_by": "formula", "n_resamples": 600}


def plain_sums(differences):
    """Every resample listed: each sum with its probability."""
    n = len(differences)
    sums = [round(sum(draw), 9) for draw in itertools.product(differences, repeat=n)]
    values, counts = np.unique(sums, return_counts=True)
    return dict(zip(values.tolist(), (counts / n**n).tolist(), strict=True))


@each_case(
    "differences",
    [(1, 0, -1, 0, 1), (1, 1, 1), (-1, -1, 0), (2, -1, 0, 5), (0.5, -0.25, 0, 0, 0.25), (3, 3, -6)],
)
def test_exact_sums_have_the_probabilities_of_all_resamples_listed(differences):
    found = exact_sums(np.array(differences, dtype=float))
    plain = plain_sums(differences)
    kept = found.probabilities > 0
    sums = (found.means * len(differences))[kept]
    assert dict(zip(np.round(sums, 9).tolist(), found.probabilities[kept].tolist(), strict=True)) == (
        pytest.approx(plain, rel=1e-9)
    )
    assert found.zero() == pytest.approx(plain.get(0.0, 0.0), rel=1e-9)
    assert found.at_most_zero() == pytest.approx(sum(p for s, p in plain.items() if s <= 0), rel=1e-9)


def test_the_sums_of_many_items_are_those_of_repeated_convolution():
    one = np.array([30, 950, 20]) / 1000  # hurt, same, helped
    total = np.ones(1)
    for _ in range(1000):
        total = np.convolve(total, one)
    # both are good to rounding: 1000 additions of numbers below 1
    assert sums_of_counts(1000, 20, 30).probabilities == pytest.approx(total, abs=1e-12)


def test_the_primers_p_of_counts_has_the_reference_values(shared):
    golden = shared_golden(shared, "13_bootstrap_primer")
    example = primer_counts(10, 4, 3)
    assert example.p_value == pytest.approx(golden["example1"]["p"], rel=1e-12)
    assert example.share_of_zero == pytest.approx(0.137785, abs=5e-7)  # METHODS 13
    assert primer_counts(500, 10, 7).p_value == pytest.approx(golden["example2"]["p"], rel=1e-12)


def test_the_tests_beside_the_primer_are_scipys():
    found = primer_counts(161, 16, 6)
    assert found.exact_p == pytest.approx(stats.binomtest(16, 22).pvalue, rel=1e-12)
    assert found.sign_p == pytest.approx(stats.binomtest(16, 22, alternative="greater").pvalue, rel=1e-12)
    assert found.mid_p == pytest.approx(found.exact_p - stats.binom.pmf(6, 22, 0.5), rel=1e-9)


def test_the_middle_of_the_resamples_leaves_a_fortieth_on_either_side():
    found, sums = primer_counts(200, 30, 12), sums_of_counts(200, 30, 12)
    low, high = found.interval
    assert sums.probabilities[sums.means < low - 1e-9].sum() < 0.025
    assert sums.probabilities[sums.means < low + 1e-9].sum() >= 0.025
    assert sums.probabilities[sums.means > high + 1e-9].sum() <= 0.025
    assert sums.probabilities[sums.means > high - 1e-9].sum() > 0.025


@each_case("counts", [(5, 5, 0), (5, 0, 5), (5, 0, 0), (1, 1, 0), (3, 2, 1)])
def test_counts_at_the_edge_have_a_picture(counts):
    found = hp.compare.primer(counts[0], helped=counts[1], hurt=counts[2])
    assert sum(found.found.resamples.shares) == pytest.approx(1)
    assert found.found.resamples.not_above == pytest.approx(found.found.p_value, abs=1e-12)
    assert "<svg" in as_html(found.document())


@each_case(
    "values",
    [
        np.random.default_rng(1).standard_normal(5000),
        np.repeat([0.1, 0.2, 0.3], [5, 3, 2]),
        np.full(50, 0.25),
        np.array([-np.inf, *np.linspace(-1, 1, 99), np.inf]),
        np.array([np.inf, -np.inf]),
        np.random.default_rng(2).standard_cauchy(10_000),
    ],
)
def test_a_histogram_holds_every_resample_between_finite_edges(values):
    found = resamples_of("t", values, at=0.3)
    assert sum(found.shares) == pytest.approx(1)
    assert np.isfinite(found.edges).all()
    assert (np.diff(found.edges) > 0).all()
    assert len(found.shares) <= 42
    assert found.not_above == pytest.approx(np.mean(values <= 0.3 + 1e-9))


@each_case("test", ["bootstrap", "bootstrap-t", "bootstrap-median", "primer"])
@each_case("null", [0.0, 0.1])
def test_the_p_value_of_a_bootstrap_is_what_its_picture_shows(test, null):
    differences = np.round(np.random.default_rng(3).normal(0.2, 1, 40), 2)
    settings = TestSettings(alternative="greater", n_resamples=4000, null=null)
    found = run_test(test, differences, settings)
    part = {"primer": found.resamples.not_above, "bootstrap-t": 1 - found.resamples.not_above}.get(test)
    if part is not None:  # both count the same resamples; p adds one to those drawn
        assert found.p_value == pytest.approx(part, abs=2 / 4000)
    edges = np.array(found.resamples.edges)
    below = np.array(found.resamples.shares)[edges[1:] <= found.resamples.at + np.diff(edges)[0] / 2].sum()
    # one bin may hold resamples on both sides
    assert abs(below - found.resamples.not_above) <= max(found.resamples.shares) + 1e-9


@each_case("null", [0.0, 0.2, -0.35, 5.0, -5.0])
def test_the_part_of_a_picture_that_is_shaded_is_the_primers_p(null):
    differences = (RIGHT.B - RIGHT.A).to_numpy(dtype=float)
    found = run_test("primer", differences, TestSettings(alternative="greater", null=null)).resamples
    edges, shares = np.array(found.edges), np.array(found.shares)
    assert shares[edges[1:] <= found.cut + 1e-12].sum() == pytest.approx(found.not_above, abs=2e-3)
    assert (shares > 0).all()  # no comb: the means are tenths whatever the null difference is


def test_only_a_bootstrap_has_a_picture_of_resamples():
    for test, shown in (("t", False), ("permutation", False), ("bootstrap", True), ("bootstrap-t", True)):
        found = hp.compare.scores(RIGHT, question="mean", test=test, **FAST)
        assert ("What did the resamples come to?" in as_html(found.document())) is shown
        assert (found.record()["test"]["resamples"] is not None) is shown


def test_clusters_are_drawn_in_the_picture_too():
    found = hp.compare.scores(
        RIGHT, question="mean", test="bootstrap", clusters=[1, 1, 2, 3, 3, 4, 5, 6, 7, 8], **FAST
    )
    assert "resamples of 8 clusters" in found.comparison.test.method
    assert sum(found.comparison.test.resamples.shares) == pytest.approx(1)


def test_reports_of_right_and_wrong_answers_say_what_was_helped_and_hurt():
    found = hp.compare.scores(RIGHT, question="mean", **FAST)
    text = " ".join(str(found).split())
    assert "4 helped (B alone right), 3 hurt (A alone right); both right on 2, both wrong on 1" in text
    assert "B alone was right on 4 items, A alone on 3." in text
    data = found.record()["data_analysis"]
    assert (data["n_helped"], data["n_hurt"], data["n_ties"]) == (4, 3, 3)


def test_reports_of_other_scores_say_where_b_is_higher_but_not_right():
    text = " ".join(str(hp.compare.scores(RIGHT / 2 + 0.1, question="mean", **FAST)).split())
    assert "Of 10 items B scores higher on 4, lower on 3, and the same on 3." in text
    assert "helped" not in text


def test_pairs_and_sets_of_right_and_wrong_answers_are_counted():
    three = RIGHT.assign(C=[1, 1, 1, 1, 1, 1, 0, 1, 0, 1])
    found = hp.compare.scores(three, question="better", test="sign")
    rows = {(row["first"], row["second"]): row for row in found.record()["pairs"]}
    for (first, second), row in rows.items():
        assert row["n_helped"] == int((three[second] > three[first]).sum())
        assert row["n_hurt"] == int((three[second] < three[first]).sum())
    assert re.search(r"B - A +4 : 3 ", str(found))
    assert "helped : hurt" not in str(hp.compare.scores(three + 0.5, question="better", test="sign"))
    sets = hp.compare.scores(
        {"dev": RIGHT, "test": three[["A", "C"]].rename(columns={"C": "B"})},
        question="mean",
        alternative="greater",
        **FAST,
    )
    assert re.search(r"dev +10 +4 : 3 ", str(sets))


def test_the_command_of_counts_says_p_its_picture_and_the_tests(tmp_path):
    words = ("compare", "primer", "--n", "500", "--helped", "10", "--hurt", "7")
    text = cli.run(*words).stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "the primer's p = 0.272" in text
    record = json.loads(cli.run(*words, "--json").stdout)
    assert record["schema"] == "humeval_power/primer/1"
    assert "seed" not in record
    cli.run(*words, "-o", tmp_path / "primer")
    assert {"index.html", "record.json", "table.csv", "resamples.png", "resamples.svg"} == {
        path.name for path in (tmp_path / "primer").iterdir()
    }


def test_impossible_counts_are_refused_by_their_options():
    error = refusal_of("compare", "primer", "--n=9", "--helped=8", "--hurt=2")
    assert "got 8 helped and 2 hurt" in error
    with pytest.raises(InputError):
        hp.compare.primer(0, helped=0, hurt=0)


# Charts of a comparison.


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
