"""Plans of agreement against drawn mean squares and tables, and reliability of studies against draws of systems."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from cases import each_case, few_fast
from cli import refusal_of, run, run_json, text_of
from scipy import stats

import humeval_power as hp
from humeval_power.comparisons.agreement import planning
from humeval_power.comparisons.agreement.agreement import on_categories
from humeval_power.comparisons.agreement.planning import (
    AgreementTarget,
    ExpectedCategories,
    FacetSizes,
    Reliability,
    bonett_outputs,
    cheapest,
    designs,
    equal_ratings,
    generalisability,
    half_widths,
    least_raters,
    outputs_of_two_raters,
    relative_error,
    variance_of_two,
)
from humeval_power.comparisons.agreement.strata import correlations, two_way
from humeval_power.designs import crossed
from humeval_power.errors import DesignError, InputError
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


def test_half_widths_of_many_raters_and_outputs_are_those_of_the_delta_method():
    # normal then: 1.96 times the SD by the delta method, which for few raters is far too small
    known, m, n = Reliability(0.35, 0.15), 80, 1_000
    rho, w, e = known.agreement, known.rater_share, known.error_share
    variance = (
        (rho / n) ** 2 * 2 * (e + n * w) ** 2 / (m - 1)
        + ((1 - rho) / m) ** 2 * 2 * (e + m * rho) ** 2 / (n - 1)
        + ((1 - rho) / m + rho * (1 - 1 / n)) ** 2 * 2 * e**2 / ((m - 1) * (n - 1))
    )
    assert half_widths(known, m, n).mean() == pytest.approx(1.96 * math.sqrt(variance), rel=0.05)


@pytest.mark.slow
def test_an_interval_of_high_confidence_has_enough_draws_outside():
    # with 1,500 draws the ends of a 99.9 % interval were the outermost draws, and the width 8 % too small or more
    known = Reliability(0.5, 0.1)
    few, many = (
        half_widths(known, 6, 100, confidence=0.999, n_draws=n, n_studies=60).mean()
        for n in (1_500, 200_000)
    )
    assert few == pytest.approx(many, rel=0.015)


def test_studies_taken_some_at_a_time_are_those_taken_together(monkeypatch):
    together = half_widths(Reliability(0.5, 0.1), 6, 100)
    monkeypatch.setattr(planning, "_TOGETHER", 10_000)
    np.testing.assert_array_equal(half_widths(Reliability(0.5, 0.1), 6, 100), together)


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
    # Bonett (2002): 67.38, 157.35, 87.43
    of = [bonett_outputs(Reliability(rho, 0.0), k, 0.1, 0.95) for rho, k in ((0.7, 3), (0.35, 3), (0.5, 5))]
    assert of == [68, 158, 88]
    # 8 raters of whom 3 rate each output, at 90 %: the same formula, of 3 ratings and z 1.645
    target = AgreementTarget(half_width=0.1, confidence=0.9, ratings_per_output=3)
    assert designs(Reliability(0.7, 0.0), target, (8,))[0].these_raters == math.ceil(
        8 * stats.norm.ppf(0.95) ** 2 * 0.3**2 * 2.4**2 / (6 * 0.2**2) + 1
    )


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


def test_a_width_that_no_study_has_is_not_reached():
    # 1,000 raters with two ratings of each of 50 outputs: raters and outputs cannot be told from error
    target = AgreementTarget(half_width=0.1, ratings_per_output=2, most_outputs=50)
    (found,) = designs(Reliability(0.5, 0.1), target, (1_000,))
    assert (found.n_outputs, found.cost) == (None, None)
    words = ("--expected-agreement", 0.5, "--ratings-per-output", 2, "--rater-counts", 1_000)
    words += ("--max-outputs", 50)
    said = run("agreement", "plan", *words, "--output-counts", "2,3", code=3).stdout
    assert "with up to 50 outputs" in " ".join(said.split())


@pytest.mark.parametrize("raters", [100, 500])
def test_fewer_outputs_than_raters_are_tried(raters):
    known, target = Reliability(0.5, 0.05), AgreementTarget(half_width=0.1, most_outputs=100)
    (found,) = designs(known, target, (raters,))
    assert found.n_outputs < 70
    assert target.width(known, raters, found.n_outputs) <= 0.1
    assert target.width(known, raters, round(0.88 * found.n_outputs)) > 0.1


def test_what_is_left_with_outputs_without_end_is_of_the_same_share_of_studies():
    known, size = Reliability(0.5, 0.15), (3, 200_000)
    for assurance in (None, 0.5, 0.95):
        target = AgreementTarget(half_width=0.4, assurance=assurance)
        floor = target.floor(known, 3)
        assert target.width(known, *size, (2_000, 1_500)) == pytest.approx(floor, rel=0.03)


def test_the_fewest_raters_that_would_do_are_named():
    known, target = Reliability(0.5, 0.15), AgreementTarget(half_width=0.1)
    least = least_raters(known, target)
    assert target.floor(known, least) <= 0.1 < target.floor(known, least - 1)
    words = ("--expected-agreement", 0.5, "--rater-share", 0.15, "--rater-counts", "3,4")
    words += ("--output-counts", 30)
    said = text_of("agreement", "plan", *words, code=3)
    assert f"It takes {least} raters or more." in said
    wide = AgreementTarget(half_width=0.001)
    assert least_raters(known, wide) is None


def test_assurance_takes_more_outputs_than_the_average():
    known = Reliability(0.5, 0.05)
    average, sure = (
        designs(known, AgreementTarget(half_width=0.1, assurance=share), (10,))[0].n_outputs
        for share in (None, 0.9)
    )
    assert sure > average


def test_the_plan_says_first_what_is_cheapest_and_what_no_number_of_outputs_reaches():
    said = text_of("agreement", "plan", "--expected-agreement", 0.5, "--rater-counts", "3,5,10")
    assert "10 raters and" in said
    assert "With 5 raters or fewer no number of outputs will do" in said
    none = run(
        "agreement", "plan", "--expected-agreement", 0.5, "--rater-counts", 3, "--half-width", 0.05, code=3
    ).stdout
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
    record = run_json("agreement", "plan", path, "--rater-counts", "10,15", "--half-width", 0.15)
    known = hp.agreement.pilot_reliability(hp.agreement.read_rated(path))
    report = run_json("agreement", "report", path)["rows"][0]["measures"][0]
    assert record["known"]["agreement"] == known.agreement
    assert known.agreement == pytest.approx(report["other_raters"]["value"], rel=1e-12)


@each_case(
    ("words", "rule"),
    [
        ((), "--expected-agreement"),
        (("--expected-agreement", 0.9, "--rater-share", 0.2), "leave nothing to error"),
        (
            ("--expected-agreement", 0.5, "--rater-counts", "2", "--ratings-per-output", 3),
            "Error: --rater-counts: value 2: must be at least 3",
        ),
        (("--expected-agreement", 0.5, "--confidence", 0.9999), "Error: --confidence: value 0.9999: must"),
    ],
)
def test_plans_that_cannot_be_are_refused(words, rule):
    assert rule in refusal_of("agreement", "plan", *words)


_NO_PLAN = {
    "agreement is 1 in the pilot": lambda i, _: 1 + i % 5,
    "agreement is 0 in the pilot": lambda i, j: 1 + (i + j) % 3,
    "differ by their levels alone": lambda i, j: 1 + i % 15 + j,  # above 11 values: not of mid-ranks
}


@each_case("rule", _NO_PLAN)
def test_a_pilot_that_no_plan_can_be_made_of_is_refused_by_its_name(rule, tmp_path):
    path = tmp_path / "pilot.csv"
    rows = [f"{i},{j},{_NO_PLAN[rule](i, j)}" for i in range(20) for j in range(3)]
    path.write_text("\n".join(["item,rater,rating", *rows]))
    said = refusal_of("agreement", "plan", path, "--scale", "1:20")
    assert rule in said
    assert "pilot.csv" in said


@pytest.mark.parametrize(("workers", "items"), [(5, 40), (12, 100)])
def test_reliability_and_power_are_one_number(workers, items):
    # E rho^2 = d^2 / (1 + d^2) with d the difference over the standard error of the engine
    difference = 0.07
    variance = effect_precision(KNOWN, crossed(workers, items)).variance
    size = FacetSizes(n_raters=workers, n_items=items)
    assert 2 * relative_error(KNOWN, size) == pytest.approx(variance, rel=1e-12)
    found = generalisability(KNOWN, variance_of_two(difference), size)
    delta = difference / math.sqrt(variance)
    assert found.ranking == pytest.approx(delta**2 / (1 + delta**2), rel=1e-12)
    assert found.right_for(difference) == pytest.approx(stats.norm.cdf(delta), rel=1e-12)


def test_pairs_and_kendall_correlations_are_those_of_drawn_systems():
    found = generalisability(KNOWN, 0.02**2, FacetSizes(n_raters=10, n_items=100))
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
    found = generalisability(of, 0.02, FacetSizes(n_raters=5, n_items=50))
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
    assert "one of them" in refusal_of(*words)
    both = run(*words, "--sd-systems", 0.05, "--effect", 0.1, code=2).stderr
    assert "one of them" in " ".join(both.split())


def test_documents_are_not_left_out_in_silence():
    of = dataclasses.replace(KNOWN, sd_document_slope=0.1)
    sizes = {"workers": [5], "items": [40], "sd_systems": 0.05}
    with pytest.raises(DesignError, match="vary between documents"):
        hp.agreement.study(of, **sizes)
    assert hp.agreement.study(of, documents=8, **sizes).body().caveats == ()
    (said,) = hp.agreement.study(KNOWN, documents=8, **sizes).body().caveats
    assert "do not vary between documents" in said


def test_levels_exceed_the_order_where_raters_differ_more_in_what_sets_systems_apart():
    # METHODS 25.3 with one item facet: w0^2 + w1^2 / 4 against w1^2 / 2
    for intercept, is_larger in ((0.04, True), (0.06, False)):
        of = Parameters(
            baseline=0.5,
            effect=0.0,
            sd_worker_intercept=intercept,
            sd_worker_slope=0.1,
            sd_item_intercept=0.0,
            sd_item_slope=0.0,
            sd_residual=0.2,
        )
        found = generalisability(of, 0.02, FacetSizes(n_raters=5, n_items=50))
        assert (found.levels > found.ranking) == is_larger
    said = hp.agreement.study(of, workers=[5], items=[50], sd_systems=0.1).body().sections[-1]
    assert "less than half as much (SD)" in str(said)


def test_the_lead_is_of_the_largest_size_and_a_difference_has_no_sign():
    found = hp.agreement.study(KNOWN, workers=[10, 5], items=[200, 50], effect=-0.05)
    assert found.body().lead.startswith("10 workers and 200 items put two systems that differ by 0.05 on")
    assert {one.size.n_raters for one in found.ceilings} == {10, math.inf}
    with pytest.raises(InputError, match="no order"):
        hp.agreement.study(KNOWN, workers=[10, 5], items=[200, 50], effect=0.0)
    sure = hp.agreement.study(KNOWN, workers=[50], items=[2_000], effect=0.4).body().lead
    assert sure.count("more than 0.99") == 3


@pytest.mark.parametrize(
    ("kappa", "share", "outputs"), [(0.6, 0.3, 295.02), (0.6, 0.1, 704.78), (0.8, 0.5, 138.29)]
)
def test_outputs_of_two_given_raters_are_those_of_bloch_and_kraemer(kappa, share, outputs):
    # METHODS 25.2, half-width .1
    assert outputs_of_two_raters(kappa, share, 0.1, 0.95) == pytest.approx(outputs, abs=0.005)


@pytest.mark.parametrize("measure", ["kappa", "ac1", "alpha_nominal"])
@few_fast("shares", [(0.2, 0.5, 0.3), (0.7, 0.3)])
def test_the_expected_coefficient_is_that_of_many_raters_of_the_latent_scale(measure, shares):
    known = ExpectedCategories(measure, 0.5, 0.1, shares)
    rng = np.random.default_rng(3)
    m, n = 300, 3_000
    parts = rng.normal(size=(n, 1)) * known.output_share**0.5 + rng.normal(size=m) * known.rater_share**0.5
    category = np.digitize(parts + rng.normal(size=(n, m)) * known.error_share**0.5, known.cuts)
    output, rater = (one.ravel() for one in np.indices((n, m)))
    value = on_categories(output, rater, category.ravel())[measure].these.value
    assert value == pytest.approx(0.5, abs=0.02)  # 300 raters and 3,000 outputs: SD below 0.01


def test_equal_ratings_are_those_of_a_bivariate_normal():
    cuts = np.array([-0.4, 0.9])
    ends = [-np.inf, *cuts, np.inf]
    normal = stats.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]])
    expected = sum(
        normal.cdf([high, high], lower_limit=[low, low]) for low, high in itertools.pairwise(ends)
    )
    assert equal_ratings(0.6, cuts) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "m", "n"), [("kappa", 5, 100), ("ac1", 10, 60), ("ac1", 4, 2_000)])
def test_planned_half_widths_of_categories_are_those_of_other_drawn_tables(measure, m, n):
    known = ExpectedCategories(measure, 0.5, 0.05, (0.6, 0.4))
    planned = known.half_widths(
        m, n, ratings_per_output=None, confidence=0.95, seed=1, size=(300, 1)
    ).mean()
    widths = []
    for study in range(300):
        rng = np.random.default_rng([99, study])
        parts = (
            rng.normal(size=(n, 1)) * known.output_share**0.5 + rng.normal(size=m) * known.rater_share**0.5
        )
        category = np.digitize(parts + rng.normal(size=(n, m)) * known.error_share**0.5, known.cuts)
        output, rater = (one.ravel() for one in np.indices((n, m)))
        one = on_categories(output, rater, category.ravel())[measure].other
        widths.append((one.high - one.low) / 2)
    # 25.5 asks 10 %; the half-widths of few raters vary by a half from study to study
    assert planned == pytest.approx(np.mean(widths), rel=0.1 if m > 4 else 0.15)


def test_a_plan_of_kappa_names_the_cheapest_design_and_what_no_number_of_outputs_reaches():
    words = [
        "agreement",
        "plan",
        "--measure",
        "kappa",
        "--expected-agreement",
        "0.6",
        "--shares",
        "0.7,0.3",
    ]
    more = ("--rater-share", "0.05", "--rater-counts", "2,3,8", "--output-counts", "30,100")
    record = run_json(*words, *more)
    by_raters = {one["n_raters"]: one for one in record["rows"]}
    assert by_raters[2]["n_outputs"] is None
    assert by_raters[3]["n_outputs"] is None
    assert record["best"]["n_raters"] == 8
    assert record["best"]["half_width"] <= 0.1
    out = text_of(*words, *more)
    assert out.startswith("Raters and outputs for a known agreement 8 raters and ")
    assert "Two given raters 296 outputs by formula" in out
    assert "Two raters do not show how raters differ" in out


@each_case(
    ("words", "rule"),
    [
        (
            ("--measure", "kappa", "--expected-agreement", "0.6"),
            "depends on how often each category is given",
        ),
        (("--measure", "ac1", "--expected-agreement", "0.6", "--shares", "0.7,0.7"), "add up to 1"),
        (("--measure", "ac1", "--expected-agreement", "0.6", "--shares", "1,0"), "above 0"),
        (
            [
                "--measure",
                "kappa",
                "--expected-agreement",
                "0.95",
                "--shares",
                "0.7,0.3",
                "--rater-share",
                "0.3",
            ],
            "kappa is 0.00 to",
        ),
        (("--expected-agreement", "0.6", "--shares", "0.7,0.3"), "name --measure"),
        (("data/pilot.csv", "--measure", "kappa"), "say nothing of kappa"),
    ],
)
def test_plans_of_categories_that_cannot_be_are_refused(words, rule):
    told = run("agreement", "plan", *words, code=2)
    assert rule in " ".join(told.stderr.split())
