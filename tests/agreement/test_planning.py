"""Plans of agreement against drawn mean squares and tables, and reliability of studies against draws of systems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cli import run, run_json
from scipy import stats

import humeval_power as hp
from humeval_power.comparisons.agreement.generalisability import (
    StudySize,
    generalisability,
    relative_error,
    variance_of_two,
)
from humeval_power.comparisons.agreement.planning import (
    AgreementTarget,
    Reliability,
    bonett_outputs,
    cheapest,
    delta_sd,
    designs,
    half_widths,
    kappa_outputs,
)
from humeval_power.comparisons.agreement.strata import correlations, two_way
from humeval_power.designs import crossed
from humeval_power.parameters import Parameters
from humeval_power.studies.power.formula import effect_precision

KNOWN = Parameters(
    baseline=0.6,
    effect=0.05,
    sd_worker_intercept=0.1,
    sd_worker_slope=0.05,
    sd_item_intercept=0.1,
    sd_item_slope=0.1,
    sd_residual=0.2,
)


@pytest.mark.parametrize(
    ("agreement", "share", "raters", "widths"),
    [  # METHODS 25.2, by another program: 30, 100, 300 and 3,000 outputs
        (0.5, 0.15, 3, (0.28, 0.24, 0.22, 0.21)),
        (0.5, 0.05, 10, (0.15, 0.087, 0.058, 0.037)),
        (0.7, 0.05, 5, (0.17, 0.13, 0.11, 0.099)),
        (0.5, 0.01, 20, (0.14, 0.074, 0.043, 0.014)),
    ],
)
def test_half_widths_are_those_of_the_methods(agreement, share, raters, widths):
    found = [half_widths(Reliability(agreement, share), raters, n).mean() for n in (30, 100, 300, 3_000)]
    assert found == pytest.approx(widths, rel=0.08)


def test_the_delta_methods_sd_is_that_of_four_thousand_drawn_studies():
    known, m, n = Reliability(0.35, 0.15), 10, 1_000
    rng, e = np.random.default_rng(3), known.error_share
    expected = e + m * known.agreement, e + n * known.rater_share, e
    df = n - 1, m - 1, (n - 1) * (m - 1)
    output, rater, error = (
        value * rng.chisquare(d, 4_000) / d for value, d in zip(expected, df, strict=True)
    )
    parts = (output - error) / m, (rater - error) / n, error
    drawn = (parts[0] / sum(parts)).std()
    assert delta_sd(known, m, n) == pytest.approx(drawn, rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize(("raters", "outputs", "per_output"), [(5, 80, None), (12, 90, 3)])
def test_planned_half_widths_are_those_of_simulated_tables(raters, outputs, per_output):
    known = Reliability(0.4, 0.1)
    rng, widths = np.random.default_rng(6), []
    for study in range(300):
        parts = rng.normal(size=(outputs, 1)) * 0.4**0.5 + rng.normal(size=raters) * 0.1**0.5
        table = parts + rng.normal(size=(outputs, raters)) * 0.5**0.5
        kept = np.zeros(table.shape, dtype=bool)
        for i in range(outputs):
            kept[i, rng.choice(raters, per_output or raters, replace=False)] = True
        output, rater = np.nonzero(kept)
        found = correlations(
            two_way(output, rater, table[kept]), confidence=0.95, seed=study, n_draws=2_000
        ).other_raters
        widths.append((found.high - found.low) / 2)
    planned = half_widths(known, raters, outputs, ratings_per_output=per_output).mean()
    assert planned == pytest.approx(np.mean(widths), rel=0.1)


def test_sizes_for_fixed_raters_are_the_published_ones():
    # Bonett (2002): 67.38, 157.35, 87.43; Donner and Eliasziw (1992)
    of = [bonett_outputs(Reliability(rho, 0.0), k, 0.1) for rho, k in ((0.7, 3), (0.35, 3), (0.5, 5))]
    assert of == [68, 158, 88]
    kappas = [kappa_outputs(*one, 0.1) for one in ((0.6, 0.3), (0.6, 0.1), (0.8, 0.5))]
    assert kappas == pytest.approx([295.02, 704.78, 138.29], abs=0.01)


def test_the_fewest_outputs_have_the_width_and_a_tenth_fewer_have_not():
    known, target = Reliability(0.5, 0.05), AgreementTarget(half_width=0.1)
    found = designs(known, target, (3, 8, 15))
    assert found[0].n_outputs is None
    assert found[0].floor > 0.1
    for one in found[1:]:
        assert one.half_width <= 0.1
        assert target.width(known, one.n_raters, round(0.88 * one.n_outputs)) > 0.1
    assert cheapest(found).n_raters == 8
    dear = AgreementTarget(half_width=0.1, cost_per_output=100.0)
    assert cheapest(designs(known, dear, (8, 15))).n_raters == 15


def test_assurance_takes_more_outputs_than_the_average():
    known = Reliability(0.5, 0.05)
    average, sure = (
        designs(known, AgreementTarget(half_width=0.1, assurance=share), (10,))[0].n_outputs
        for share in (None, 0.9)
    )
    assert sure > average


def test_the_plan_says_first_what_is_cheapest_and_what_no_number_of_outputs_reaches():
    said = " ".join(run("agreement", "plan", "--agreement", 0.5, "--raters", "3,5,10").stdout.split())
    assert "10 raters and" in said
    assert "With 5 raters or fewer no number of outputs will do" in said
    none = run("agreement", "plan", "--agreement", 0.5, "--raters", 3, "--half-width", 0.05, code=3).stdout
    assert "None of these numbers of raters" in " ".join(none.split())


def test_a_pilot_gives_what_its_shares_give(tmp_path):
    rng = np.random.default_rng(8)
    level, own = rng.normal(size=60), rng.normal(size=6)
    rows = [
        f"{i},{j},{np.clip(np.round(3 + level[i] + 0.5 * own[j] + rng.normal()), 1, 5):g}"
        for i in range(60)
        for j in range(6)
    ]
    path = tmp_path / "pilot.csv"
    path.write_text("\n".join(["item,rater,rating", *rows]))
    record = run_json("agreement", "plan", path, "--raters", "10,15", "--half-width", 0.15)
    known = hp.agreement.pilot_reliability(hp.agreement.read_rated(path))
    report = run_json("agreement", "report", path)["rows"][0]["measures"][0]
    assert record["known"]["agreement"] == known.agreement
    assert known.agreement == pytest.approx(report["other_raters"]["value"], rel=1e-12)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ((), "--agreement"),
        (("--agreement", 0.9, "--rater-share", 0.2), "leave nothing to error"),
        (("--agreement", 0.5, "--raters", "2", "--ratings-per-output", 3), "must be at least 3"),
    ],
)
def test_plans_that_cannot_be_are_refused(words, rule):
    assert rule in " ".join(run("agreement", "plan", *words, code=2).stderr.split())


@pytest.mark.parametrize(("workers", "items"), [(5, 40), (12, 100)])
def test_reliability_and_power_are_one_number(workers, items):
    # E rho^2 = d^2 / (1 + d^2) with d the difference over the standard error of the engine
    difference = 0.07
    variance = effect_precision(KNOWN, crossed(workers, items)).variance
    size = StudySize(n_raters=workers, n_items=items)
    assert 2 * relative_error(KNOWN, size) == pytest.approx(variance, rel=1e-12)
    found = generalisability(KNOWN, variance_of_two(difference), size)
    delta = difference / math.sqrt(variance)
    assert found.ranking == pytest.approx(delta**2 / (1 + delta**2), rel=1e-12)
    assert found.right_for(difference) == pytest.approx(stats.norm.cdf(delta), rel=1e-12)


def test_pairs_and_kendall_correlations_are_those_of_drawn_systems():
    found = generalisability(KNOWN, 0.02**2, StudySize(n_raters=10, n_items=100))
    rng = np.random.default_rng(5)
    true = rng.normal(size=(20_000, 2)) * 0.02
    first, second = (true + rng.normal(size=true.shape) * math.sqrt(found.relative) for _ in range(2))

    def signs(values):
        return np.sign(values[:, 0] - values[:, 1])

    # 20,000 pairs: four standard errors of a share, twice that of a correlation
    assert (signs(first) == signs(true)).mean() == pytest.approx(found.pair_right, abs=0.014)
    assert (signs(first) * signs(true)).mean() == pytest.approx(found.tau, abs=0.028)
    assert (signs(first) * signs(second)).mean() == pytest.approx(found.tau_again, abs=0.028)


def test_a_published_d_study_is_reproduced():
    # METHODS 25.3: system .02, system x rater .01, x item .02, error .3; 5 raters, 50 items
    of = Parameters(
        baseline=0.5,
        effect=0.0,
        sd_worker_intercept=0.0,
        sd_worker_slope=math.sqrt(2 * 0.01),
        sd_item_intercept=0.0,
        sd_item_slope=math.sqrt(2 * 0.02),
        sd_residual=math.sqrt(0.3),
    )
    found = generalisability(of, 0.02, StudySize(n_raters=5, n_items=50))
    assert found.ranking == pytest.approx(0.8475, abs=1e-4)
    assert (found.pair_right, found.tau, found.tau_again) == pytest.approx(
        (0.8723, 0.7446, 0.6437), abs=1e-4
    )


def test_a_study_says_its_ceilings_and_asks_for_one_kind_of_systems():
    words = ("agreement", "study", "--preset", "high", "--workers", "5,10", "--items", "50,200")
    record = run_json(*words, "--sd-systems", 0.05)
    last, (workers, items) = record["rows"][-1], record["ceilings"]
    assert last["ranking"] < items["ranking"] < 1
    assert last["ranking"] < workers["ranking"] < 1
    assert "one of them" in " ".join(run(*words, code=2).stderr.split())
    both = run(*words, "--sd-systems", 0.05, "--effect", 0.1, code=2).stderr
    assert "one of them" in " ".join(both.split())
