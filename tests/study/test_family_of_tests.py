"""One family of tests: its corrected p-values are those of every table, picture, record, letter and sentence."""

import json
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from test_joint_fit import random_table
from test_many_systems import ratings_of

from humeval_power.errors import InputError
from humeval_power.files.documents.reading import checked_document
from humeval_power.inference.corrections import correct
from humeval_power.rules import ComparisonFamily, DecisionRule, FamilyOfTests
from humeval_power.saying.numbers import p_cell
from humeval_power.saying.render.terminal import as_terminal
from humeval_power.saying.result import json_ready
from humeval_power.studies.analyze.calls import analyze, analyze_criteria
from humeval_power.studies.analyze.family import family_of_record, family_record, family_words
from humeval_power.studies.analyze.figures import heat_map_chart
from humeval_power.studies.fit.joint_comparison import compare_jointly
from humeval_power.studies.fit.many_systems import CorrectedP, group_letters, indistinct_groups

NAMES = "pqrs"
CRITERIA = ("adequacy", "fluency", "style")
SDS = (0.1, 0.05, 0.1, 0.05, 0.15)


def one_criterion(seed, name, *, kept=1.1, step=0.08, K=4):
    """Ratings of systems whose means lie `step` apart; random_table's own lie 0.05 apart."""
    rows = random_table(seed, m=6, n=14, K=K, kept=kept, sds=SDS)
    rows.rating += (step - 0.05) * rows.system
    return replace(ratings_of(rows, NAMES[:K]), criterion=name)


def study(**given):
    return {name: one_criterion([5, place], name, **given) for place, name in enumerate(CRITERIA)}


def two_criteria():
    """The last two, of three systems."""
    return {name: one_criterion([5, place], name, K=3) for place, name in enumerate(CRITERIA) if place}


def analysed(by_name, **family):
    return analyze_criteria(by_name, family=ComparisonFamily(**family))


@pytest.fixture(scope="module")
def joint():
    """Three criteria of four systems by the joint model, with its check, and the raw p-values of all."""
    return analysed(study(), model="joint")


def raw_and_corrected(result):
    return np.array([(row.p_value, row.corrected_p_value) for row in result.rows]).T


@pytest.mark.slow  # by Holm: the next test
@pytest.mark.parametrize(("correction", "theirs"), [("bonferroni", "bonferroni"), ("bh", "fdr_bh")])
def test_the_p_values_of_all_criteria_are_corrected_together(correction, theirs):
    result = analysed(study(), model="joint", correction=correction)
    raw, corrected = raw_and_corrected(result)
    assert len(raw) == 18
    assert corrected == pytest.approx(multipletests(raw, method=theirs)[1])
    assert (corrected > raw).any()


def test_every_output_of_several_criteria_shows_the_same_p_values(joint):
    raw, corrected = raw_and_corrected(joint)
    assert len(raw) == 18
    assert corrected == pytest.approx(multipletests(raw, method="holm")[1])
    in_records = [pair for one in joint.content()["criteria"] for pair in one["pairs"]]
    assert [pair["corrected_p_value"] for pair in in_records] == corrected.tolist()
    assert [pair["p_value"] for pair in in_records] == raw.tolist()
    assert [pair["significant"] for pair in in_records] == (corrected <= 0.05).tolist()
    frame = joint.to_frame()
    assert frame["corrected_p_value"].tolist() == corrected.tolist()
    assert frame["significant"].tolist() == (corrected <= 0.05).tolist()
    assert joint.to_frame()["criterion"].tolist() == [name for name in CRITERIA for _ in range(6)]
    for place, result in enumerate(joint.results.values()):
        mine = corrected[6 * place : 6 * place + 6]
        chart = heat_map_chart(result.analysis, result.ranking.unit, result.ranking.shown_order)
        drawn = [text.split("\n")[1] for each in chart.series for text in each.texts]
        assert sorted(drawn) == sorted(p_cell(p) for p in mine)
        assert f"{(mine <= 0.05).sum()} of 6 comparisons" in chart.words
        assert sorted(pair.corrected_p for pair in result.ranking.pairs) == sorted(mine)
        lines = [line.strip() for line in as_terminal(result.body(), details=True).splitlines()]
        for pair in result.ranking.pairs:
            row = next(line for line in lines if line.startswith(f"{pair.left} - {pair.right} "))
            assert row.rstrip(" *").endswith(p_cell(pair.corrected_p))
            assert row.endswith("*") == (pair.corrected_p <= 0.05)


@pytest.mark.slow
def test_letters_and_groups_go_by_the_p_values_of_the_whole_family():
    """A pair that is told apart under its criterion alone shares a letter after the correction of all of them."""
    by_name = study(step=0.045)
    together, alone = analysed(by_name, model="joint"), analysed(by_name, model="joint", over="criterion")
    moved = 0
    for name in CRITERIA:
        one, other = together.results[name].analysis, alone.results[name].analysis
        means = {mean.system: mean.mean for mean in one.means}
        assert one.groups == indistinct_groups(one.results, means)
        letters = group_letters(one.groups)
        order = sorted(means, key=lambda system: -means[system])
        for pair in one.results:
            if abs(order.index(pair.first) - order.index(pair.second)) == 1:
                shared = set(letters[pair.first]) & set(letters[pair.second])
                assert bool(shared) == (pair.corrected_p > 0.05)
        moved += one.groups != other.groups
    assert moved


def test_each_criterion_by_itself_is_what_it_is_alone():
    by_name = two_criteria()
    result = analysed(by_name, model="joint", over="criterion")
    for name, ratings in by_name.items():
        alone = analyze(ratings, family=ComparisonFamily(model="joint", over="criterion"))
        assert result.results[name].rows == alone.rows
    lead = result.body().lead
    assert lead.endswith("after Holm's correction over the comparisons of each criterion by themselves.")
    assert result.results["style"].content()["family_of_tests"]["n_tests"] == 3


def test_the_check_by_the_other_variances_is_corrected_over_all_criteria_too(joint):
    raw = [one.test.p_value for result in joint.results.values() for one in result.analysis.check.results]
    shown = [one.corrected_p for result in joint.results.values() for one in result.analysis.check.results]
    assert shown == pytest.approx(multipletests(raw, method="holm")[1])
    assert any(result.analysis.check.parted for result in joint.results.values())
    for result in joint.results.values():
        check = result.analysis.check
        apart = [
            (one.first, one.second)
            for one, other in zip(result.analysis.results, check.results, strict=True)
            if (one.corrected_p <= 0.05) != (other.corrected_p <= 0.05)
        ]
        assert list(check.parted) == apart


def test_the_family_is_said_alike_everywhere_and_read_back_from_the_record(joint):
    words = "after Holm's correction over 18 comparisons under 3 criteria"
    lead = joint.body().lead
    assert lead.endswith(f"differences are shown {words}.")
    assert lead.startswith("Under ")
    for (
        name,
        result,
    ) in joint.results.items():  # who may be first, as the analysis of each criterion says it
        first = result.ranking.stand_out
        assert (
            f"under {name} it is open whether {', '.join(first[:-1])} or {first[-1]} is the best;"
            in f"u{lead[1:]}"
        )
        assert f"which of {len(first)} systems is the best" in result.ranking.decision or len(first) == 4
    for result in joint.results.values():
        text = " ".join(str(result).split())
        assert text.count(words) == 2  # the decision, and above the table
        assert (
            words in heat_map_chart(result.analysis, result.ranking.unit, result.ranking.shown_order).words
        )
        assert family_of_record(result.content()["family_of_tests"]) == result.analysis.tests
    document = json.loads(json.dumps(json_ready({"schema": joint.schema, **joint.content()})))
    checked_document(document, schema=joint.schema, place="analysis.json")
    assert document["family_of_tests"]["criteria"] == list(CRITERIA)
    assert document["family_of_tests"]["n_tests"] == 18


@pytest.mark.parametrize(
    ("family", "n_tests", "criteria", "words"),
    [
        ({}, 28, (), "after Holm's correction over 28 comparisons"),
        ({"correction": "none"}, 3, (), "without correction for 3 comparisons"),
        ({"correction": "bh"}, 3, ("a", "b", "c"), "of the false discovery rate over 3 criteria"),
        (
            {"correction": "max-t", "model": "joint"},
            1,
            (),
            "after the max-t correction over 1 comparison",
        ),
    ],
)
def test_a_family_in_words(family, n_tests, criteria, words):
    tests = FamilyOfTests(ComparisonFamily(**family), n_tests, criteria)
    assert family_words(tests).endswith(words)
    assert family_of_record(json.loads(json.dumps(family_record(tests)))) == tests


@pytest.fixture(scope="module")
def two():
    """The analysis of two systems with a raw p-value below 5 %."""
    result = analyze(one_criterion([1, 3], "style", step=0.12, K=2), n_simulations=20, diagnostics=False)
    assert result.tested.p_value < 0.05
    return result


def test_two_systems_under_several_criteria_are_decided_by_the_corrected_p_value(two):
    tests = FamilyOfTests(ComparisonFamily(), 3, CRITERIA)
    lost = two.recorrected(tests, CorrectedP([0.2]))
    assert "No difference is shown between p and q" in lost.decision
    assert "(p = 0.200 after Holm's correction over 3 criteria)" in lost.decision
    assert "is better than" in two.decision
    assert lost.rows[0].corrected_p_value == 0.2
    assert lost.rows[0].significant is False
    effect = lost.content()["effect"]
    assert (effect["p_value"], effect["corrected_p_value"]) == (two.tested.p_value, 0.2)
    assert effect["significant"] is False
    assert "Corrected p = 0.200, after Holm's correction over 3 criteria" in " ".join(str(lost).split())
    kept = two.recorrected(tests, CorrectedP([0.04]))
    assert "is better than" in kept.decision
    assert "p = 0.040 after Holm's correction" in kept.decision


def test_a_single_test_has_no_family(two):
    assert "family_of_tests" not in two.content()
    assert "corrected_p_value" not in two.content()["effect"]
    assert "corrected_p_value" not in two.to_frame()


def test_a_margin_that_only_the_raw_p_value_keeps_is_not_shown():
    rule = DecisionRule(alternative="non-inferior", margin=0.2)
    result = analyze(
        one_criterion([1, 3], "style", step=0.05, K=2), rule=rule, n_simulations=20, diagnostics=False
    )
    tests = FamilyOfTests(ComparisonFamily(), 3, CRITERIA)
    assert "is non-inferior" in result.decision
    kept = result.recorrected(tests, CorrectedP([0.01])).decision
    assert "is non-inferior" in kept
    assert "p = 0.010 after Holm's correction" in kept
    lost = result.recorrected(tests, CorrectedP([0.3])).decision
    assert lost.startswith("Non-inferiority within 0.2 of q and p is not shown: p = 0.300 after Holm's")


def test_a_record_whose_decision_is_not_that_of_its_corrected_p_value_is_refused(two):
    tests = FamilyOfTests(ComparisonFamily(), 3, CRITERIA)
    record = json.loads(
        json.dumps(
            {"schema": two.schema, **two.recorrected(tests, CorrectedP([0.2])).content()},
            default=str,
        )
    )
    checked_document(record, schema=two.schema, place="analysis.json")
    record["effect"]["significant"] = True
    with pytest.raises(InputError, match=r"contradicts the p-value 0\.2"):
        checked_document(record, schema=two.schema, place="analysis.json")


def test_max_t_over_several_criteria_is_refused_with_its_remedies():
    by_name = two_criteria()
    with pytest.raises(InputError, match=r"correction='holm' .*correct_over='criterion'"):
        analysed(by_name, model="joint", correction="max-t")
    within = analysed(by_name, model="joint", correction="max-t", over="criterion")
    for name, ratings in by_name.items():
        family = ComparisonFamily(model="joint", correction="max-t")
        alone = compare_jointly(ratings, rule=DecisionRule(), family=family)
        assert [one.corrected_p for one in within.results[name].analysis.results] == [
            one.corrected_p for one in alone.results
        ]


def test_criteria_that_were_compared_by_another_family_are_refused():
    by_name = two_criteria()
    with pytest.raises(InputError, match="Take one family for both"):
        analyze_criteria(by_name, analyze, family=ComparisonFamily(correction="bh"))


@pytest.mark.r
def test_corrections_are_those_of_r():
    rng = np.random.default_rng(3)
    p = np.round(np.concatenate([rng.random(20), rng.random(8) / 100, [0.5, 0.5, 0.0, 1.0]]), 6)
    words = ", ".join(map(repr, p.tolist()))
    for correction, theirs in (("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "BH")):
        script = f"cat(sprintf('%.17g', p.adjust(c({words}), '{theirs}')))"
        said = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True).stdout
        assert correct(p, correction) == pytest.approx([float(word) for word in said.split()], abs=1e-15)


@pytest.mark.slow
def test_the_whole_family_errs_as_seldom_as_it_says_where_no_system_differs():
    """400 studies of 3 criteria, 3 equal systems, 6 workers and 14 items, each with 9 tests: something is found in
    at most 5 % of them; in more of them if each criterion is a family by itself, and in many without correction."""
    n, found = 400, np.zeros(3)
    family = ComparisonFamily(model="joint", variances="common")
    for seed in range(n):
        raw = [
            [
                one.test.p_value
                for one in compare_jointly(ratings, rule=DecisionRule(), family=family).results
            ]
            for place in range(3)
            for ratings in [one_criterion([17, seed, place], "x", step=0.0, K=3)]
        ]
        over_all = correct(np.concatenate(raw), "holm")
        each = np.concatenate([correct(p, "holm") for p in raw])
        found += [(p <= 0.05).any() for p in (over_all, each, np.concatenate(raw))]
    all_of_them, of_each, uncorrected = found / n
    error = np.sqrt(0.05 * 0.95 / n)
    assert all_of_them <= 0.05 + 3 * error
    assert all_of_them + error < of_each
    assert uncorrected > 0.05 + 9 * error, (all_of_them, of_each, uncorrected)


def test_no_criterion_shows_stars_of_raw_p_values(joint):
    text = as_terminal(joint.body(), details=True)
    starred = re.findall(r"([\d.]+) \*$", text, flags=re.MULTILINE)
    assert all(float(value) <= 0.05 for value in starred)
    raw, corrected = raw_and_corrected(joint)
    n = (corrected <= 0.05).sum()
    assert 0 < n < (raw <= 0.05).sum()
    assert len(starred) == 2 * n  # in the table of all criteria, and in that of each
