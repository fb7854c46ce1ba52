"""ARR texts, preregistrations and the paragraphs of a paper: true to their documents, silent beyond them."""

import inspect
import json
import math
import re
from dataclasses import replace

import forms_documents as made
import numpy as np
import pytest
from cases import each_case
from own_scripts import without_own_scripts

from humeval_power.choices import DESIGN_KINDS
from humeval_power.comparisons.agreement.result_report import (
    agreement_measures,
    agreement_record,
    agreement_values,
)
from humeval_power.ratings import Ratings
from humeval_power.rules import DEFAULT_FAMILY, DecisionRule, FamilyOfTests
from humeval_power.saying.render import as_html, as_markdown
from humeval_power.saying.result import json_ready
from humeval_power.studies.analyze.family import comparison_content
from humeval_power.studies.fit.many_systems import compare_systems, indistinct_groups
from humeval_power.studies.looks.rating_looks import LookSchedule
from humeval_power.studies.looks.replicates import equal_looks
from humeval_power.studies.looks.stopping_rule import efficacy_of
from humeval_power.studies.report.arr import arr_fields, arr_page
from humeval_power.studies.report.config import ReportConfig
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fact_record import study_facts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.fields import open_fields, prompts
from humeval_power.studies.report.paragraphs import methods_paragraph, paragraphs, results_paragraph
from humeval_power.studies.report.prereg import (
    ASPREDICTED_LENGTH,
    aspredicted_fields,
    aspredicted_page,
    osf_fields,
    osf_page,
)
from humeval_power.study_counts import StudyCounts

KNOWN = [*made.values_of(made.ANALYSIS), *made.values_of_plan(made.PLAN)]
POWER = {
    "schema": "humeval_power/power/1",
    "workers": 12,
    "items": 50,
    "ratings_per_item": 3.0,
    "effect": 0.06,
    "power": 0.741,
    "power_low": 0.722,
    "power_high": 0.760,
    "n_simulations": 2000,
    "difference": 0.06,
    "rule": made.ANALYSIS["effect"]["rule"],
    "seed": 11,
    "versions": {"humeval-power": "0.1.0"},
    "command": "humeval-power power --json -o power.json",
}


def answers(fields):
    return {field.number: field for field in fields}


def assert_known(text, known, extra=()):
    for number in made.numbers_in(text):
        assert made.is_rounded(number, [*known, *extra]), f"{number} is not in the documents: {text}"


def changed(**values):
    return CriterionDocuments(analysis={**made.ANALYSIS, **values})


def test_arr_fields_are_those_of_the_web_form():
    # Names seen in the venue configuration of the form (letter and number, then words).
    assert all(re.fullmatch(rf"{field.number}_[a-z_]+", field.key) for field in prompts("arr"))
    assert {field.number for field in prompts("arr")} >= {
        "B4",
        "B6",
        "C3",
        "C4",
        "D1",
        "D2",
        "D3",
        "D4",
        "D5",
    }


def test_arr_texts_are_filled_from_the_analysis_and_open_beyond_it():
    fields = answers(arr_fields(made.DOCUMENTS))
    assert {number for number, field in fields.items() if field.state == "filled"} == {"B6", "C3", "C4"}
    assert fields["D2"].state == "suggested"
    assert "10.80 USD an hour" in fields["D2"].answer
    assert "12 workers gave 300 ratings of 50 items" in fields["B6"].answer
    assert made.ANALYSIS["command"] in fields["C4"].answer
    for field in fields.values():
        assert_known(field.answer or "", KNOWN)


def test_arr_takes_the_words_of_the_authors():
    said = ReportConfig(
        texts={"recruitment": "By notices.", "payment": "15 EUR an hour.", "consent": "Asked."}
    )
    fields = answers(arr_fields(made.DOCUMENTS, said))
    assert (fields["D2"].state, fields["D2"].answer) == ("filled", "By notices. 15 EUR an hour.")
    assert fields["D3"].answer == "Asked."
    only = answers(arr_fields(made.DOCUMENTS, ReportConfig(texts={"recruitment": "By notices."})))
    assert only["D2"].state == "suggested"


def test_arr_without_documents_is_open():
    assert len(open_fields(arr_fields(CriterionDocuments()))) == len(prompts("arr"))


def test_a_preregistration_takes_no_ratings():
    # Its functions know a plan and the authors' words: there is no way in for an analysis.
    for function in (aspredicted_fields, osf_fields):
        assert set(inspect.signature(function).parameters) <= {"plan", "config", "plan_name", "checksum"}


@each_case("kind", DESIGN_KINDS)
@each_case("analysis", ["ratings", "differences"])
@each_case("alternative", ["two-sided", "greater"])
def test_preregistrations_hold_the_numbers_of_the_plan_and_no_others(kind, analysis, alternative):
    per_item = 3 if kind in ("k-per-item", "split") else 14
    counts = (
        StudyCounts(14, 60, per_item, paired=kind != "split") if per_item == 3 else StudyCounts(14, 60, 14)
    )
    rule = DecisionRule(analysis=analysis, alternative=alternative)
    plan = replace(made.PLAN, counts=counts, design_kind=kind, rule=rule)
    for fields in (aspredicted_fields(plan), osf_fields(plan)):
        for field in fields:
            assert_known(field.answer or "", made.values_of_plan(plan))


def test_aspredicted_has_nine_fields_within_the_length_it_advises():
    fields = aspredicted_fields(made.PLAN)
    assert [field.number for field in fields] == [str(number) for number in range(1, 10)]
    assert {field.number for field in fields if field.state == "filled"} == {"4", "5", "6", "7"}
    assert [field.number for field in open_fields(fields)] == ["1"]  # whether ratings exist, we cannot know
    assert sum(len(field.answer or "") for field in fields) <= ASPREDICTED_LENGTH
    assert "3,200" in aspredicted_page(fields).note


def test_osf_has_25_fields_of_which_the_plan_fills_these():
    fields = answers(osf_fields(made.PLAN, checksum=made.CHECKSUM))
    assert list(fields) == [str(number) for number in range(1, 26)]
    filled = {number for number, field in fields.items() if field.state == "filled"}
    # Sample size, rationale, stopping; design, randomisation; models, transformations, inference,
    # exclusion, missing data, assumptions, script; the question; and what is varied.
    assert filled == {"2", "7", "8", "9", "10", "15", "16", "17", "18", "20", "21", "22", "23", "24"}
    assert made.CHECKSUM in fields["24"].answer


def test_how_halves_are_drawn_is_open_since_no_plan_says_it():
    plan = replace(made.PLAN, counts=StudyCounts(14, 60, 14), design_kind="counterbalanced")
    assert answers(osf_fields(plan))["16"].state == "open"


def test_looks_at_the_data_are_in_the_stopping_rule():
    schedule = LookSchedule(equal_looks("items", 2), efficacy_of("lan-demets-obrien-fleming"))
    plan = replace(made.PLAN, looks=schedule)
    said = answers(osf_fields(plan))["9"].answer
    assert "at 2 looks (Lan and DeMets' spending of O'Brien and Fleming's type in information time" in said
    assert f"success at p <= {plan.look_boundaries().nominal[0]:.5f}" in said


def test_a_plan_for_the_observed_difference_says_so_in_its_preregistration():
    observed = replace(made.PLAN, effect=made.PLAN.parameters.difference)
    assert "restates the pilot's p-value" in answers(osf_fields(observed))["5"].answer


@each_case(
    "documents",
    [
        made.DOCUMENTS,
        CriterionDocuments(analysis=made.ANALYSIS),
        CriterionDocuments(parameters=made.ANALYSIS, power=POWER),
        CriterionDocuments(plan=made.PLAN),
        changed(boundary=["sd_worker_slope"], not_identified=["sd_item_slope"]),
        changed(scale={**made.ANALYSIS["scale"], "higher_is_better": False, "source": "inferred"}),
    ],
)
def test_every_number_of_the_paragraphs_is_in_the_documents(documents):
    known = [*made.values_of(documents.study), *made.values_of(documents.power)]
    known += made.values_of_plan(documents.plan) if documents.plan else []
    known += [4 * 0.08]  # the difference of interest in points of the scale 1 to 5
    texts = paragraphs(documents)
    assert texts["Methods"]
    for text in texts.values():
        assert_known(text, known)


def test_the_search_for_numbers_finds_one_that_was_made_up():
    text = results_paragraph(made.DOCUMENTS)
    assert len(made.numbers_in(text)) > 20
    with pytest.raises(AssertionError, match=r"7\.77"):
        assert_known(text.replace("0.0316", "7.77"), KNOWN)


def test_every_number_of_the_table_is_in_the_analysis():
    for row in tables(made.ANALYSIS)[0].rows:
        assert_known(" ".join(row[1:]), KNOWN)


def test_results_give_both_scales_the_test_and_the_power_at_the_effect_of_interest():
    text, effect = results_paragraph(made.DOCUMENTS), made.ANALYSIS["effect"]
    assert f"is {effect['raw']['estimate']:+#.3g} points on the scale of the ratings, 1 to 5" in text
    assert f"on [0, 1] it is {effect['estimate']:+#.3g}" in text
    assert f"df = {effect['df']:.1f}" in text
    assert "At the difference of interest, 0.32 points (0.08 on [0, 1]), this design" in text
    assert "workers: 12 (planned: 14)" in text


def test_a_negative_number_has_a_minus_sign():
    low = made.ANALYSIS["effect"]["interval"][0]
    assert low < 0
    assert f"\u2212{abs(low):#.3g}" in results_paragraph(made.DOCUMENTS)


def test_no_difference_shown_is_not_called_no_difference():
    text = results_paragraph(made.DOCUMENTS)
    assert made.ANALYSIS["effect"]["significant"] is False
    assert "does not show that there is none" in text


@pytest.mark.parametrize(("estimate", "better"), [(0.1, "new"), (-0.1, "old")])
def test_a_significant_difference_names_the_better_system(estimate, better):
    effect = {**made.ANALYSIS["effect"], "estimate": estimate, "significant": True}
    assert f"significant: {better} was rated higher" in results_paragraph(changed(effect=effect))


def test_a_fit_that_did_not_converge_has_no_result():
    documents = changed(converged=False)
    assert "no result to report" in results_paragraph(documents)
    assert "0.0316" not in results_paragraph(documents)
    assert tables(documents.study) == ()


def test_departures_are_denied_only_where_they_were_looked_for():
    assert "as planned" in results_paragraph(changed(deviations=[]))
    assert "plan" not in results_paragraph(changed(deviations=None, power_at_interest=None))


def test_power_is_never_said_for_the_observed_difference():
    text = results_paragraph(changed(power_at_interest=None))
    assert "power" not in text


def test_few_workers_and_a_bold_test_are_said():
    rule = {**made.ANALYSIS["effect"]["rule"], "df": "normal"}
    effect = {**made.ANALYSIS["effect"], "rule": rule}
    assert "more often than alpha" in results_paragraph(changed(effect=effect))
    effect = {**made.ANALYSIS["effect"], "simulated_size": 0.068}
    assert "a share of 0.068" in results_paragraph(changed(effect=effect))


def test_before_collection_there_are_methods_and_no_results():
    documents = CriterionDocuments(plan=made.PLAN)
    assert list(paragraphs(documents)) == ["Methods"]
    assert "14 workers are to give 360 ratings" in methods_paragraph(documents)


def test_no_documents_no_words():
    assert paragraphs(CriterionDocuments()) == {}


def tables(study):
    return StudyWords(study_facts(study)).tables()


def three_systems() -> dict[str, object]:
    first = made.ratings_of()
    extra = replace(first, rating=first.rating[::-1].copy())
    stacked = Ratings(
        *(
            np.concatenate(columns)
            for columns in (
                (first.worker, extra.worker[extra.system == 1]),
                (first.item, extra.item[extra.system == 1]),
                (first.system, 2 + 0 * extra.system[extra.system == 1]),
                (first.rating, extra.rating[extra.system == 1]),
            )
        ),
        first.worker_names,
        first.item_names,
        ("old", "new", "other"),
        first.scale,
        criterion="fluency",
    )
    results = compare_systems(stacked, rule=DecisionRule())
    means = {"old": 0.5, "new": 0.6, "other": 0.4}
    record = comparison_content(
        stacked,
        results,
        means=means,
        groups=indistinct_groups(results, means),
        tests=FamilyOfTests(DEFAULT_FAMILY, len(results)),
    )
    return dict(json.loads(json.dumps(json_ready(record))))


def test_several_systems_are_reported_pair_by_pair():
    study = three_systems()
    documents = CriterionDocuments(analysis=study)
    text = results_paragraph(documents)
    n_pairs = len(study["pairs"])
    n_apart = sum(pair["significant"] for pair in study["pairs"])
    assert (
        f"{n_apart} of {n_pairs} differences are significant after Holm's correction over {n_pairs} comparisons"
        in text
    )
    assert_known(text, [*made.values_of(study)], (n_apart, n_pairs))
    assert len(tables(study)[-1].rows) == n_pairs
    assert "old, new and other" in methods_paragraph(documents)


def test_agreement_is_read_as_it_was_recorded_and_absent_where_it_was_not():
    record = agreement_record([])
    assert record == {"between": [], "within": [], "n_repeated": None}
    assert agreement_values({"agreement": record}, "between") is None
    assert agreement_measures({"agreement": record}, "within") is None
    assert agreement_values({}, "between") is None
    entry = {"measure": "alpha", "value": None, "interval": None, "reason": "nothing varies"}
    assert agreement_values({"agreement": {"between": [entry]}}, "between") == (
        "alpha: not defined (nothing varies)."
    )


def test_pages_of_all_forms_survive_any_name():
    documents = made.HOSTILE_DOCUMENTS
    plan = documents.plan
    for page in (
        arr_page(arr_fields(documents)),
        aspredicted_page(aspredicted_fields(plan)),
        osf_page(osf_fields(plan)),
    ):
        text, html = as_markdown(page.document()), as_html(page.document())
        assert text.count("\n- [") == html.count("<article") == len(page.fields)
        assert "<script" not in without_own_scripts(html)
        assert "<script" not in text.replace("\\<script", "")


def test_a_plan_that_was_not_simulated_gives_its_formula():
    predicted = replace(
        made.PLAN.predicted, simulated=math.nan, interval=(math.nan, math.nan), n_simulations=0
    )
    plan = replace(made.PLAN, predicted=predicted)
    assert "by formula" in methods_paragraph(CriterionDocuments(plan=plan))
    assert "nan" not in methods_paragraph(CriterionDocuments(plan=plan))
    assert "by formula" in answers(osf_fields(plan))["8"].answer
