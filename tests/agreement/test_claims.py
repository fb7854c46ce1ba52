"""Intervals of agreement for these raters and for other raters: goldens, slow twins, coverage, refusals."""

import math
import shutil
import subprocess
from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from cli import refusal_of, run, run_json, text_of

import humeval_power as hp
from humeval_power.comparisons.agreement import agreement as agreement_module
from humeval_power.comparisons.agreement.agreement import (
    SharedRatings,
    _leaving_out,
    _values,
    alpha_leaving_out,
    alpha_of_many,
    alphas,
    on_categories,
    shared_ratings,
)
from humeval_power.comparisons.agreement.strata import (
    correlations,
    f_interval,
    half_widths_left,
    of_many,
    two_way,
)
from humeval_power.inference.item_bootstrap import item_resamples, measure_together
from humeval_power.studies.analyze.result_ranking import agreement_blocks

# Shrout and Fleiss (1979), table 2; values of psych 2.2.9's ICC() and of krippendorff 0.9.0
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)
TWO_RATERS = [
    [1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0],
    [1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
]


def cells(table, kept=None):
    """Codes of outputs and raters, and the values, of a table of outputs by raters."""
    output, rater = np.nonzero(np.ones(table.shape, dtype=bool) if kept is None else kept)
    return (
        np.unique(output, return_inverse=True)[1],
        np.unique(rater, return_inverse=True)[1],
        table[output, rater],
    )


def holes(seed=1, shape=(30, 6), share=0.4):
    kept = np.random.default_rng(seed).random(shape) < share
    kept[0] = True
    return kept


def table_file(folder, rows, name="ratings.csv", header="item,rater,rating"):
    path = folder / name
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


def test_the_mean_squares_and_correlations_are_those_of_psych():
    strata = two_way(*cells(SHROUT_FLEISS.astype(float)))
    found = correlations(strata, confidence=0.95)
    assert (strata.outputs, strata.raters, strata.error) == pytest.approx(
        (11.241667, 32.486111, 1.0194444), abs=1e-6
    )
    assert found.other_raters.value == pytest.approx(0.28976378, abs=1e-8)
    assert found.other_raters_mean.value == pytest.approx(0.62005055, abs=1e-8)
    these = found.these_raters
    assert (these.value, these.low, these.high) == pytest.approx(
        (0.71484071, 0.3424648, 0.9458583), abs=1e-7
    )
    assert found.these_raters_mean.value == pytest.approx(0.90931554, abs=1e-8)
    assert f_interval(strata, 0.95) == pytest.approx((0.0187865, 0.7610844), abs=1e-7)
    assert [of_many(end, 4) for end in f_interval(strata, 0.95)] == pytest.approx(
        (0.0711368, 0.9272320), abs=1e-7
    )


def test_the_pivotal_draws_end_where_two_million_of_them_did():
    strata = two_way(*cells(SHROUT_FLEISS.astype(float)))
    as_normal = replace(strata, even_outputs=strata.df_outputs, even_error=strata.df_error)
    found = correlations(as_normal, confidence=0.95, n_draws=200_000).other_raters
    assert (found.low, found.high) == pytest.approx((0.0269, 0.7453), abs=3e-3)


def test_mean_squares_of_a_table_with_holes_are_those_of_least_squares():
    output, rater, score = cells(np.random.default_rng(2).normal(size=(30, 6)), holes())
    strata, n, m = two_way(output, rater, score), output.max() + 1, rater.max() + 1

    def left(*parts):
        design = np.column_stack(parts)
        return np.sum((score - design @ np.linalg.lstsq(design, score, rcond=None)[0]) ** 2)

    of_output, of_rater = np.eye(n)[output], np.eye(m)[rater]
    both = left(of_output, of_rater)
    assert strata.error * strata.df_error == pytest.approx(both, rel=1e-10)
    assert strata.outputs * strata.df_outputs == pytest.approx(left(of_rater) - both, rel=1e-10)
    assert strata.raters * strata.df_raters == pytest.approx(left(of_output) - both, rel=1e-10)


def test_expected_mean_squares_of_a_table_with_holes_are_those_of_their_quadratic_forms():
    # E[y'Qy] = trace(Q V) with V the covariance of outputs: the coefficient is trace(Z'QZ) / df
    output, rater, score = cells(np.zeros((30, 6)), holes(3))
    strata = two_way(output, rater, score)
    of_output, of_rater = np.eye(output.max() + 1)[output], np.eye(rater.max() + 1)[rater]
    onto = of_rater @ np.linalg.pinv(of_rater)
    expected = np.trace(of_output.T @ (np.eye(len(score)) - onto) @ of_output) / strata.df_outputs
    assert strata.per_output == pytest.approx(expected, rel=1e-12)


def test_groups_without_a_common_rater_are_counted_and_only_compared_within():
    kept = np.zeros((20, 6), dtype=bool)
    kept[:10, :3] = kept[10:, 3:] = True
    table = np.random.default_rng(4).normal(size=kept.shape)
    strata = two_way(*cells(table, kept))
    alone = [two_way(*cells(part)) for part in (table[:10, :3], table[10:, 3:])]
    assert strata.n_parts == 2
    assert strata.raters == pytest.approx(sum(one.raters * 2 for one in alone) / 4, rel=1e-10)
    assert strata.error == pytest.approx(sum(one.error * 18 for one in alone) / 36, rel=1e-10)


@pytest.mark.r
def test_mean_squares_of_a_table_with_holes_are_those_of_r(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    output, rater, score = cells(np.random.default_rng(2).normal(size=(30, 6)), holes())
    np.savetxt(
        tmp_path / "t.csv",
        np.column_stack([output, rater, score]),
        delimiter=",",
        header="o,r,y",
        comments="",
    )
    script = 'd <- read.csv("t.csv"); d$o <- factor(d$o); d$r <- factor(d$r)\n'
    script += "cat(format(c(anova(lm(y ~ r + o, d))[2:3, 3], anova(lm(y ~ o + r, d))[2, 3]), digits = 15))"
    (tmp_path / "t.R").write_text(script)
    done = subprocess.run(["Rscript", "t.R"], cwd=tmp_path, capture_output=True, text=True, check=True)
    strata = two_way(output, rater, score)
    ours = strata.outputs, strata.error, strata.raters
    assert ours == pytest.approx([float(one) for one in done.stdout.split()], rel=1e-9)


def test_kappa_ac1_and_nominal_alpha_of_two_raters_are_the_published_ones():
    found = on_categories(*cells(np.array(TWO_RATERS).T))
    values = {name: both.these.value for name, both in found.items()}
    assert values["kappa"] == pytest.approx(0.69387755, abs=1e-8)
    assert values["ac1"] == pytest.approx(0.70660147, abs=1e-8)
    assert values["alpha_nominal"] == pytest.approx(0.70076726, abs=1e-8)
    assert all(
        math.isnan(both.other.low) for both in found.values()
    )  # two raters do not show how raters differ


def test_nominal_alpha_of_tables_with_holes_is_that_of_the_krippendorff_package():
    table, kept = np.random.default_rng(5).integers(0, 3, (30, 6)), holes(6, share=0.6)
    kept[kept.sum(axis=1) < 2] = False
    output, rater, code = cells(table, kept)
    data = np.where(kept, table, np.nan).T
    expected = krippendorff.alpha(data, level_of_measurement="nominal")
    assert on_categories(output, rater, code)["alpha_nominal"].these.value == pytest.approx(
        expected, abs=1e-12
    )
    whole = cells(SHROUT_FLEISS)
    codes = np.unique(whole[2], return_inverse=True)[1]
    assert on_categories(*whole[:2], codes)["alpha_nominal"].these.value == pytest.approx(
        -0.06481481, abs=1e-8
    )


def test_values_without_an_output_or_a_rater_are_those_of_the_table_without_it():
    output, rater, code = cells(np.random.default_rng(7).integers(0, 3, (30, 6)), holes(8))
    n, m = output.max() + 1, rater.max() + 1
    _, without_output, without_rater = _leaving_out(output, rater, code, n, m, 3)

    def directly(kept):
        of = np.unique(output[kept], return_inverse=True)[1], np.unique(rater[kept], return_inverse=True)[1]
        whole, _, _ = _leaving_out(*of, code[kept], of[0].max() + 1, of[1].max() + 1, 3)
        return {name: value[0] for name, value in _values(whole).items()}

    for codes, sums in ((output, without_output), (rater, without_rater)):
        left_out = _values(sums)
        for place in range(codes.max() + 1):
            expected = directly(codes != place)
            assert {name: left_out[name][place] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_the_floor_is_what_the_corrected_methods_say():
    # METHODS: mean half-width of I / (I + W* + E), by another program
    found = [
        half_widths_left(0.5, w, 0.5 - w, m - 1, confidence=0.95).mean()
        for w, m in ((0.15, 3), (0.15, 5), (0.05, 3))
    ]
    assert found == pytest.approx([0.208, 0.140, 0.139], abs=3e-3)


def test_alpha_without_an_output_or_a_rater_is_that_of_the_table_without_it():
    kept = holes(8)
    kept[kept.sum(axis=1) < 2] = False
    output, rater, score = cells(np.random.default_rng(7).integers(0, 3, (30, 6)).astype(float), kept)
    n, m = output.max() + 1, rater.max() + 1
    whole, without_output, without_rater = alpha_leaving_out(output, rater, score, n, m)

    def directly(chosen):
        table = np.full((n, m), np.nan)
        table[output[chosen], rater[chosen]] = score[chosen]
        return krippendorff.alpha(table.T, level_of_measurement="interval")

    assert whole == pytest.approx(directly(output >= 0), abs=1e-12)
    for codes, left_out in ((output, without_output), (rater, without_rater)):
        expected = [directly(codes != place) for place in range(codes.max() + 1)]
        assert left_out == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [(), (-1.3, -0.5, 0.25, 1.0), (-2.3, -1.9, -1.5, -1.0), (0.5,)])
def test_intervals_for_other_raters_hold_their_value_where_those_over_outputs_do_not(cuts):
    # 3 raters and 300 outputs, outputs .35 and raters .15 of the variance; the third cuts put 84 % at the top
    level = "ordinal" if cuts else "interval"

    def drawn(rng, m, n):
        parts = rng.normal(size=(n, 1)) * 0.35**0.5 + rng.normal(size=m) * 0.15**0.5
        values = parts + rng.normal(size=(n, m)) * 0.5**0.5
        output, rater, value = cells(np.digitize(values, cuts).astype(float) if cuts else values)
        values, code = np.unique(value, return_inverse=True)
        size, item, system = np.full(n, m), np.arange(n), np.zeros(n, dtype=int)
        return SharedRatings(output, code, values, size, item, m, 0, rater, system, np.arange(m))

    many = drawn(np.random.default_rng(1), 600, 2_000)
    outputs, raters, error = two_way(many.output, many.worker, many.score(level)).components
    true, studies, hits, over_outputs = outputs / (outputs + raters + error), 400, 0, 0
    resamples = item_resamples(300, n_resamples=200, seed=1)
    for study in range(studies):
        shared = drawn(np.random.default_rng([2, study]), 3, 300)
        found = alpha_of_many(shared, level, 0.95, study, n_draws=1_000)
        alone = measure_together(alphas(shared, level), resamples, reason="-")
        hits += found.low <= true <= found.high
        over_outputs += alone.low <= true <= alone.high
    assert hits >= 0.92 * studies
    assert over_outputs <= 0.85 * studies


def test_without_other_raters_nothing_is_said_and_two_raters_speak_for_themselves(tmp_path):
    rows = [f"{i},{r},{value}" for r, answers in enumerate(TWO_RATERS) for i, value in enumerate(answers)]
    said = run("agreement", "report", table_file(tmp_path, rows)).stdout
    assert "These 2 raters agree at 0.70" in said
    assert "Two raters hardly show how far other raters would agree." in " ".join(said.split())


def test_the_answer_names_both_claims_first(tmp_path):
    rows = [f"{i},r{j},{value}" for i, row in enumerate(SHROUT_FLEISS) for j, value in enumerate(row)]
    said = text_of("agreement", "report", table_file(tmp_path, rows))
    assert said.startswith("Agreement of raters Other raters like these 4 would agree at")
    assert "However many outputs they rate, agreement of 4 raters is known to within" in said
    record = run_json("agreement", "report", table_file(tmp_path, rows), "--compatible")
    of = {one["measure"]: one for one in record["rows"][0]["measures"]}
    assert of["alpha_interval"]["these_raters"]["value"] == pytest.approx(0.14730785, abs=1e-8)
    assert of["alpha_ordinal"]["these_raters"]["value"] == pytest.approx(0.10905941, abs=1e-8)
    assert of["icc_2_1_f"]["other_raters"]["low"] == pytest.approx(0.0187865, abs=1e-7)


def test_columns_of_raters_give_what_rows_of_ratings_give(tmp_path):
    rows = [f"{i},r{j},{value}" for i, row in enumerate(SHROUT_FLEISS) for j, value in enumerate(row)]
    wide = [",".join(map(str, row)) for row in SHROUT_FLEISS]
    long = run_json("agreement", "report", table_file(tmp_path, rows))
    path = table_file(tmp_path, wide, "wide.csv", "a,b,c,d")
    beside = run_json("agreement", "report", path, "--rater-columns", "a,b,c,d")
    assert beside["rows"][0]["measures"] == long["rows"][0]["measures"]
    assert "--rater-columns A,B,C" in refusal_of("agreement", "report", path)


def test_ratings_that_are_all_the_same_have_a_bound_and_no_coefficient(tmp_path):
    path = table_file(tmp_path, [f"{i},{r},3" for i in range(14) for r in "ab"])
    said = text_of("agreement", "report", path)
    assert "agreement beyond chance is not defined" in said
    assert "at least 81 % of such outputs" in said  # 0.05 ** (1 / 14), Clopper and Pearson


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (["1,a,2", "2,a,3"], "all ratings are by one rater"),
        (["1,a,2", "2,b,3"], "no output was rated by two raters"),
    ],
)
def test_tables_without_two_raters_of_an_output_are_refused_in_one_sentence(rows, rule, tmp_path):
    said = refusal_of("agreement", "report", table_file(tmp_path, rows))
    assert rule in said


def test_systems_are_reported_within_and_no_claim_about_others_is_made_of_all_together():
    found = hp.agreement.report(hp.ratings_from_table(_three_systems(), require_pair=False))
    pooled = found.rows[0]
    assert pooled.found.system is None
    assert not pooled.other.is_defined
    assert all(one.other.low < one.other.value < one.other.high for one in found.systems)
    assert len(found.to_frame().query("measure == 'icc_2_1'")) == 3


def _three_systems():
    import pandas as pd

    rng = np.random.default_rng(9)
    rows = [
        (f"w{w}", f"i{i}", s, int(np.clip(np.round(3 + level + 0.4 * w + rng.normal()), 1, 5)))
        for i, level in enumerate(rng.normal(size=25))
        for s in "ABC"
        for w in range(4)
    ]
    return pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])


def _systems_file(folder, **ratings):
    """A table of outputs by 3 raters: a list of ratings of each output, by system."""
    rows = [
        f"{i},r{j},{system},{value}"
        for system, outputs in ratings.items()
        for i, values in enumerate(outputs)
        for j, value in enumerate(values)
    ]
    return table_file(folder, rows, header="item,rater,system,rating")


def _noisy(n, seed, raters=3, levels=5):
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n) * 1.2
    return (
        np.clip(np.round(3 + level[:, None] + rng.normal(size=(n, raters))), 1, levels).astype(int).tolist()
    )


def _said(path, *words):
    return text_of("agreement", "report", path, "--scale", "1:5", *words)


def test_no_interval_is_stated_where_nothing_shows_how_outputs_differ(tmp_path):
    agreed = [[1 + i % 4] * 3 for i in range(12)]
    path = table_file(
        tmp_path, [f"{i},r{j},{v}" for i, row in enumerate(agreed) for j, v in enumerate(row)]
    )
    (row,) = run_json("agreement", "report", path, "--scale", "1:5")["rows"]
    for one in row["measures"]:
        for claim in ("these_raters", "other_raters"):
            assert (one[claim]["low"], one[claim]["high"]) == (None, None)
    assert "1.00 to 1.00" not in _said(path)
    assert "was 1.00 among the 3 raters (without an interval)." in _said(path)
    alone = table_file(tmp_path, ["1,a,2", "1,b,3", "1,c,2"], "one.csv")
    (row,) = run_json("agreement", "report", alone, "--scale", "1:5")["rows"]
    assert {one["these_raters"]["low"] for one in row["measures"]} == {None}


def test_agreement_below_chance_is_0_with_a_comment_and_an_interval_only_where_there_is_one(tmp_path):
    rng = np.random.default_rng(1)
    noise = rng.integers(1, 6, size=(40, 3))
    path = table_file(tmp_path, [f"{i},r{j},{v}" for i, row in enumerate(noise) for j, v in enumerate(row)])
    (row,) = run_json("agreement", "report", path, "--scale", "1:5")["rows"]
    (icc,) = [one["other_raters"] for one in row["measures"] if one["measure"] == "icc_2_1"]
    assert icc["value"] == icc["low"] == 0 < icc["high"]
    assert "Outputs differ no more than error makes them differ" in _said(path)
    # each output has the same sum: outputs differ far less than chance would make them
    same = [f"{i},r{j},{1 + (i + j) % 3}" for i in range(30) for j in range(3)]
    (row,) = run_json("agreement", "report", table_file(tmp_path, same, "same.csv"), "--scale", "1:5")[
        "rows"
    ]
    (icc,) = [one["other_raters"] for one in row["measures"] if one["measure"] == "icc_2_1"]
    assert (icc["value"], icc["low"], icc["reason"]) == (
        0,
        None,
        "outputs differ less than chance makes them",
    )


def test_what_is_true_of_one_system_is_not_said_of_all(tmp_path):
    few, yes_or_no = _noisy(3, 2), [[1 if i % 4 else 2, 1, 1 if i % 9 else 2] for i in range(40)]
    path = _systems_file(tmp_path, s1=few, s2=_noisy(40, 2), s3=yes_or_no, s4=[[3], [4]])
    said = _said(path)
    assert "(fewest: s1, 3 outputs; 1 system below 10)" in said
    assert "(fewest: s1," not in said.split("Few ratings differ from the commonest")[1].split(":")[0]
    assert "Of s4 no output was rated by two raters" in said
    assert "draws of the variances of outputs, raters and error (Weerahandi 1993) for s1 and s2" in said
    assert "jackknives over outputs and over raters (Gwet 2014) for s3" in said
    assert "with many raters, with" not in said
    assert "Measures, s4" not in _said(path, "--details")


def test_one_system_of_which_agreement_is_defined_is_named(tmp_path):
    path = _systems_file(tmp_path, good=_noisy(30, 3), flat=[[3, 3, 3]] * 8)
    assert (
        "Agreement is defined of one system alone, good. Other raters like these 3 would agree at"
        in _said(path)
    )
    flat = _systems_file(tmp_path, one=[[3, 3, 3]] * 14, two=[[3, 3, 3]] * 8)
    said = _said(flat)
    assert "All raters gave every output of a system the same rating (22 outputs)" in said
    assert "at least 69 % of such outputs of two" in said  # 0.05 ** (1 / 8)


def test_systems_that_agree_alike_have_two_names_and_one_level(tmp_path):
    same = _noisy(30, 4)
    lead = _said(_systems_file(tmp_path, a=same, b=same)).split("Krippendorff")[0]
    assert " on a (" in lead
    assert " on b (" in lead
    fine = [[2 * i % 23, 2 * i % 23 + 1, 2 * i % 23 + 2] for i in range(30)]
    mixed = _systems_file(tmp_path, a=same, b=fine)
    rows = run_json("agreement", "report", mixed, "--scale", "0:30")["rows"]
    assert {one["leading"] for one in rows} == {"alpha_interval"}
    assert "Krippendorff's interval alpha" in text_of("agreement", "report", mixed, "--scale", "0:30")


@pytest.mark.slow
def test_a_caveat_names_the_systems_that_it_is_about_and_begins_with_a_capital(tmp_path):
    parts = [f"{i},r{j + 2 * (i > 9)},apart,{1 + (i + j * i) % 5}" for i in range(20) for j in range(2)]
    whole = [f"{i},r{j},whole,{v}" for i, row in enumerate(_noisy(20, 5, 4)) for j, v in enumerate(row)]
    path = table_file(tmp_path, [*parts, *whole], header="item,rater,system,rating")
    assert "Within apart, raters and outputs fall into 2 groups" in _said(path)
    alone = table_file(tmp_path, parts, "alone.csv", "item,rater,system,rating")
    assert "Raters and outputs fall into 2 groups" in _said(alone)


def test_one_system_is_measured_once(monkeypatch):
    calls = []

    def counted(ratings, *, system=None):
        calls.append(system)
        return shared_ratings(ratings, system=system)

    ratings = hp.ratings_from_table(_three_systems().query("system == 'A'"), require_pair=False)
    hp.agreement.report(ratings)  # imports what binds the function
    monkeypatch.setattr(agreement_module, "shared_ratings", counted)
    found = hp.agreement.report(ratings)
    assert len(found.rows) == 1
    assert calls == [0]


def test_problems_of_columns_of_raters_are_named_as_in_the_file(tmp_path):
    rows = ["1,2,x", "3,3,4", "2,y,2", "9,1,1"]
    path = table_file(tmp_path, rows, "wide.csv", "ann,bob,cy")
    said = refusal_of("agreement", "report", path, "--rater-columns", "ann,bob,cy", "--scale", "1:5")
    for where in (
        "row 2, column 'cy': value 'x'",
        "row 4, column 'bob': value 'y'",
        "row 5, column 'ann': value '9'",
    ):
        assert where in said
    assert "'rating'" not in said


def test_nothing_is_said_of_a_comparison_where_none_is_made(tmp_path):
    path = _systems_file(tmp_path, a=_noisy(12, 3), b=_noisy(12, 4))
    alone = table_file(
        tmp_path, ["1,x,a,2", "1,y,a,3", "2,x,a,5", "2,y,a,4"], "one.csv", "item,rater,system,rating"
    )
    for one in (path, alone):
        said = run("agreement", "report", one, "--scale", "1:5").stderr
        for words in ("turns it round", "only one system", "compares the systems"):
            assert words not in said


def test_an_analysis_puts_the_interval_of_other_workers_beside_its_own_value():
    entry = {"measure": "Krippendorff's alpha, ordinal", "value": 0.31, "interval": [0.2, 0.4]}
    entry |= {"value_other": 0.152, "interval_other": [0.0, 0.394]}
    record = {"between": [entry], "within": []}
    shown, _ = agreement_blocks({"fluency": record})
    assert shown.rows == (("Krippendorff's alpha, ordinal", "0.31", "0.20 to 0.40", "0.15 (0.00 to 0.39)"),)
