"""The histogram of resamples, exact sums, the primer's p of counts, and items helped and hurt in every report."""

from __future__ import annotations

import itertools
import json
import re

import cli
import numpy as np
import pandas as pd
import pytest
from cases import each_case
from reference.golden import shared_golden
from scipy import stats

import humeval_power as hp
from humeval_power.comparisons.scores.answers import TestSettings, exact_sums, resamples_of, sums_of_counts
from humeval_power.comparisons.scores.primer import primer_counts
from humeval_power.comparisons.scores.tests import run_test
from humeval_power.errors import InputError
from humeval_power.saying.render import as_html

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
    error = " ".join(cli.run("compare", "primer", "--n=9", "--helped=8", "--hurt=2", code=2).stderr.split())
    assert "got 8 helped and 2 hurt" in error
    with pytest.raises(InputError):
        hp.compare.primer(0, helped=0, hurt=0)
