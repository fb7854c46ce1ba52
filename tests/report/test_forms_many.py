"""Forms of several systems and criteria are as full as those of two, and say the numbers of their record alone."""

import json
import math
import re
from dataclasses import replace

import forms_documents as made
import pytest
from cases import each_case, few_fast
from latex_run import compiled
from many_documents import CRITERIA, JOINT, NAMES, PAIRWISE, many_documents, many_plan

from humeval_power.errors import InputError
from humeval_power.rules import ComparisonFamily
from humeval_power.saying.numbers import p_cell
from humeval_power.saying.render import as_html, as_latex, as_markdown
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.family import Unit
from humeval_power.studies.report.calls import open_fields, report
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fact_record import study_facts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.page import StudyReport
from humeval_power.studies.report.paper import paper_latex
from humeval_power.studies.report.paragraphs import methods_paragraph, paragraphs, signature_of
from humeval_power.studies.report.power_answers import merged_text
from humeval_power.studies.report.prereg import aspredicted_fields, osf_fields

COMMON = ComparisonFamily(model="joint", variances="common", correction="bonferroni", over="criterion")
BASELINE = ComparisonFamily(
    comparisons="baseline", baseline="base", correction="max-t", model="joint", over="criterion"
)
UNCORRECTED = ComparisonFamily(correction="none")
FAMILIES = {
    "joint": JOINT,
    "common": COMMON,
    "baseline": BASELINE,
    "pairwise": PAIRWISE,
    "none": UNCORRECTED,
}
MANY = tuple(f"system {place}" for place in range(20))
HOSTILE = ("<b>base</b>", "50% of a_b & c, #1 $x$", "\\input{x} ~^", f"long {'x' * 55}", "你好 🎉 |[z](y)")
SCALE = RatingScale(1, 5, points=5)


def in_a_paper(fragment):
    head = "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs,array,graphicx}\n"
    return f"{head}\\begin{{document}}\n{fragment}\\end{{document}}\n"


def n_filled(report_):
    content = report_.content()
    return content["n_filled"], content["n_to_check"], content["n_fields"]


def without_plan(documents):
    return tuple(replace(each, plan=None, plan_checksum=None) for each in documents)


@pytest.fixture(params=FAMILIES)
def documents(request):
    return many_documents(FAMILIES[request.param])


@few_fast("form", ["card2020", "heds", "arr"])
def test_a_form_of_several_systems_is_as_full_as_that_of_two(form, documents):
    two = report(CriterionDocuments(analysis={**made.ANALYSIS, "power_at_interest": None}), form=form)
    for one in without_plan(documents):
        assert n_filled(report(one, form=form)) == n_filled(two)
    if form != "heds":
        assert n_filled(report(*without_plan(documents), form=form)) == n_filled(two)


@pytest.mark.parametrize("form", ["card2020", "arr"])
def test_with_a_plan_too(form, documents):
    plan = replace(made.PLAN, costs=None, cost=None)  # the plan of several has no prices here
    two = report(CriterionDocuments(analysis=made.ANALYSIS, plan=plan), form=form)
    assert n_filled(report(*documents, form=form)) == n_filled(two)


def test_heds_has_a_section_for_each_criterion(documents):
    once = report(documents[0], form="heds").content()
    both = report(*documents, form="heds").content()
    of_one = [field for field in once["fields"] if field["criterion"]]
    assert both["n_fields"] == once["n_fields"] + len(of_one)
    for name in CRITERIA:
        own = [field for field in both["fields"] if field["criterion"] == name]
        assert [field["mark"] for field in own] == [field["mark"] for field in of_one]


@each_case("fields", [aspredicted_fields, osf_fields])
@each_case("family", FAMILIES)
def test_a_preregistration_of_several_systems_is_as_full_as_that_of_two(fields, family):
    two = [field.state for field in fields(made.PLAN)]
    many = fields(many_plan(family=FAMILIES[family]))
    assert [field.state for field in many] == two
    said = " ".join(field.answer or "" for field in many)
    assert all(name in said for name in (*NAMES, *CRITERIA))
    assert "B - A" not in said


def test_a_preregistration_says_the_goal_and_the_whole_family_of_tests():
    answers = {field.number: field.answer for field in osf_fields(many_plan())}
    assert "at least one of the true differences is found on any one criterion" in answers["8"]
    assert "Holm's correction over 12 comparisons under 2 criteria" in answers["17"]
    assert "The tests are made once, at the end." in answers["9"]
    one = {field.number: field.answer for field in osf_fields(many_plan(criteria=(), family=BASELINE))}
    assert "rated differently from base" in one["3"]
    assert "max-t correction over 3 comparisons" in one["17"]
    assert "a mean for each system" in one["18"]
    pairs = {field.number: field.answer for field in osf_fields(many_plan(family=PAIRWISE))}
    assert "its first system is coded \u22120.5 and its second 0.5" in pairs["18"]
    plan = many_plan(family=BASELINE)
    sided = replace(plan, rule=replace(plan.rule, alternative="greater"))
    higher = {field.number: field.answer for field in osf_fields(sided)}
    assert "at least one system is rated higher than base" in higher["3"]
    assert "A system is said to be better than base if the p-value" in higher["20"]


def numbers_of(each):
    """The numbers that a form may say: those of the record, on the scale of the ratings too."""
    unit, found = Unit(SCALE), [*made.values_of(each.study)]
    for one in each.facts.comparisons:
        found += [unit.difference(end) for end in (one.estimate, *(one.interval or ()))]
    for one in each.facts.means:
        found += [unit.mean(end) for end in (one.mean, *(one.interval or ()))]
    for name in (
        "sd_worker_intercept",
        "sd_worker_slope",
        "sd_item_intercept",
        "sd_item_slope",
        "sd_residual",
    ):
        values = sorted(pair["parameters"][name] for pair in each.study["pairs"] if pair["parameters"])
        found += [(values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2] if values else []
    n, apart = len(each.facts.comparisons), sum(one.significant is True for one in each.facts.comparisons)
    return [
        *found,
        n,
        apart,
        len(each.facts.systems),
        each.study["family_of_tests"]["n_tests"],
        2,
        *range(1, 6),
    ]


YEARS = re.compile(r"\b(1979|1995|2008|2020)\b|section 6|[A-E]\d |\d\.\d(\.\d)*\.? ")


@few_fast("form", ["card2020", "arr", "heds", "paper", "study"], fast=3)
def test_every_number_of_a_form_is_one_of_the_record(form, documents):
    known = [number for each in documents for number in numbers_of(each)]
    for each in without_plan(documents):
        answers = report(each, form=form)
        text = as_markdown(answers.document()) if form in ("paper", "study") else said_in(answers)
        text = re.sub(r"\*\*\d+ of \d+\*\*|: \*\*\d+\*\*|\| \w[^|]*\| \d+ \| [\d ]*\| \d+ \|.*", "", text)
        for number in made.numbers_in(
            YEARS.sub(" ", re.sub(r"Versions.*|Computed with\S* \S+ \S+", "", text))
        ):
            assert made.is_rounded(number, known), f"{number} is not in the record: {text}"


def said_in(answers):
    return " ".join(field["answer"] or "" for field in answers.content()["fields"])


def test_every_p_value_is_that_after_the_correction(documents):
    """In text and tables of every form: as many as the record has, and none of the raw ones."""
    for each in without_plan(documents):
        corrected = [p_cell(pair["corrected_p_value"]) for pair in each.study["pairs"]]
        raw = {p_cell(pair["p_value"]) for pair in each.study["pairs"]} - set(corrected)
        table = StudyWords(each.facts).tables()[-1]
        assert sorted(row[-1] for row in table.rows) == sorted(corrected)
        for form in ("card2020", "arr", "paper"):
            text = as_markdown(report(each, form=form).document()).replace("\\", "")
            told = set(re.findall(r"\bp ([=<] [\d.]+\d)", text))
            assert told <= {f"= {cell}" if cell[0].isdigit() else cell for cell in corrected}, form
            assert not any(f"p = {cell}" in text for cell in raw if cell[0].isdigit())


def test_the_significant_differences_of_the_text_are_those_of_the_record(documents):
    for each in without_plan(documents):
        apart = [pair for pair in each.study["pairs"] if pair["significant"]]
        text = paragraphs(each)["Results"]
        assert f"{len(apart)} of {len(each.study['pairs'])} differences" in text
        assert len(re.findall(r" is [+\u2212]\d", text)) == len(apart) <= 10


def test_the_table_has_the_signs_and_the_order_of_the_analysis():
    """Each difference is that of the means beside which it stands."""
    for each in many_documents():
        said = each.facts
        mean = {one.system: one.mean for one in said.means}
        place = {name: rank for rank, name in enumerate(said.order)}
        for one in said.ranked_comparisons:
            assert one.estimate == pytest.approx(mean[one.second] - mean[one.first], abs=1e-9)
            assert place[one.second] < place[one.first]
            low, high = one.interval
            assert low < one.estimate < high


def test_against_a_baseline_each_difference_is_from_it():
    for each in many_documents(BASELINE):
        assert {one.first for one in each.facts.ranked_comparisons} == {"base"}
        assert "each criterion" not in StudyWords(each.facts).test()
        assert "3 systems against base" in StudyWords(each.facts).test()
        assert "The intervals cover together." in StudyWords(each.facts).tables()[-1].caption


@each_case(
    ("family", "said"),
    [
        (JOINT, "of the ratings of all 4 systems together, with a mean for each system"),
        (JOINT, "with variances of each system's own"),
        (COMMON, "with variances common to all systems"),
        (PAIRWISE, "fitted to the ratings of each pair of systems by itself"),
        (JOINT, "after Holm's correction over 12 comparisons under 2 criteria"),
        (COMMON, "after Bonferroni's correction over 6 comparisons"),
        (BASELINE, "max-t correction over 3 comparisons"),
        (UNCORRECTED, "without correction"),
    ],
)
def test_sentences_describe_the_model_that_was_fitted(family, said):
    for text in (
        methods_paragraph(*many_documents(family)),
        StudyWords(many_documents(family)[0].facts).test(),
    ):
        assert said in text
        assert "B \u2212 A" not in text


def test_methods_say_once_what_all_criteria_share():
    text = methods_paragraph(*many_documents())
    assert "for fluency and adequacy in a human evaluation" in text
    for sentence in ("8 workers gave 384 ratings of 12 items", "389 rows were read", "We fitted a linear"):
        assert text.count(sentence) == 1
    assert list(paragraphs(*many_documents())) == ["Methods", "Results: fluency", "Results: adequacy"]


@each_case(
    ("texts", "merged"),
    [
        (["One. Two.", "One. Two."], "One. Two."),
        (["One. Two. End.", "One. Three. End."], "One. a: Two. b: Three. End."),
        (["One.", "Three."], "a: One. b: Three."),
        (["One. Two.", "One."], "One. a: Two."),
        (["One.", None], "a: One."),
        ([None, None], None),
    ],
)
def test_texts_of_criteria_are_merged(texts, merged):
    assert merged_text(["a", "b"], texts) == merged


def test_the_signature_says_the_family():
    signature = signature_of(many_documents()[0])
    assert "|systems:4|fit:joint-own|corr:holm|tests:12|n:8x12x8|" in signature
    assert "fit:pairs" in signature_of(many_documents(PAIRWISE)[0])
    assert "systems" not in signature_of(made.DOCUMENTS)


@pytest.mark.slow
def test_twenty_systems_fill_every_form_and_a_paper_that_compiles(tmp_path):
    [study] = many_documents(JOINT, MANY, ("fluency",))
    two = report(CriterionDocuments(analysis=made.ANALYSIS), form="card2020")
    assert n_filled(report(*without_plan([study]), form="card2020")) == n_filled(two)
    source = paper_latex(study)
    assert source.count("Continued.") == math.ceil(190 / 40) - 1
    assert source.count("\\label{tab:human-evaluation-6}") == 1
    compiled(in_a_paper(source), tmp_path)
    assert "Differences of system 1" in paragraphs(study)["Results"]


@pytest.mark.slow
def test_names_of_any_kind_are_shown_in_every_format(tmp_path):
    documents = many_documents(JOINT, HOSTILE, ("<i>fluency</i>", "a|b"), 0.0)
    for form in ("study", "card2020", "heds", "arr", "osf"):
        answers = report(*documents[: 1 if form == "osf" else 2], form=form)
        html, text = as_html(answers.document()), as_markdown(answers.document())
        assert "<b>base" not in html
        assert "<i>fluency" not in html
        assert "你好" in html
        assert "<b>base" not in text.replace("\\<b", "")
        assert json.loads(json.dumps(answers.content()))
        compiled(as_latex(answers.document()), tmp_path)
    compiled(in_a_paper(paper_latex(*documents)), tmp_path)


def test_the_page_shows_findings_and_their_pictures():
    page = report(*many_documents(), form="study")
    assert isinstance(page, StudyReport)
    pictures = {picture.name for picture in page.body().pictures}
    assert {
        f"{name}-{place}" for name in ("ranking", "differences", "agreement") for place in (1, 2)
    } <= pictures
    for picture in page.body().pictures:
        assert picture.content("png")[:4] == b"\x89PNG"
    assert [row["criterion"] for row in page.content()["rows"]] == [
        name for name in CRITERIA for _ in range(6)
    ]
    assert set(page.forms) == {"card2020", "heds", "arr", "paper", "aspredicted", "osf"}


def test_two_systems_in_a_family_over_criteria_show_the_corrected_p_value():
    effect = {**made.ANALYSIS["effect"], "p_value": 0.03, "corrected_p_value": 0.06, "significant": False}
    family = {
        "comparisons": "all-pairs",
        "baseline": None,
        "correction": "holm",
        "model": "pairwise",
        "variances": "own",
        "over": "all",
        "n_tests": 2,
        "criteria": ["fluency", "adequacy"],
    }
    study = {**made.ANALYSIS, "effect": effect, "family_of_tests": family}
    documents = CriterionDocuments(analysis=study)
    for form in ("card2020", "arr", "paper", "study"):
        text = as_markdown(report(documents, form=form).document())
        assert "p = 0.060 after Holm's correction over 2 criteria" in text
        assert "0.030" not in text
    assert "At alpha 0.05 the study has not shown a difference" in paragraphs(documents)["Results"]


def test_what_is_open_has_the_hints_of_two_systems():
    two = open_fields(CriterionDocuments(analysis=made.ANALYSIS), form="arr")
    many = open_fields(*without_plan(many_documents()), form="arr")
    assert [(one.field, one.hint) for one in many.to_do] == [(one.field, one.hint) for one in two.to_do]


def test_a_record_that_does_not_say_its_family_is_refused():
    study = {key: value for key, value in many_documents()[0].study.items() if key != "family_of_tests"}
    with pytest.raises(InputError, match="which tests were made together"):
        report(CriterionDocuments(analysis=study), form="card2020")


def test_a_fit_that_did_not_converge_has_no_result():
    study = dict(many_documents()[0].study)
    study["joint_fit"] = {**study["joint_fit"], "converged": False}
    assert not study_facts(study).has_result
    assert "did not converge" in paragraphs(CriterionDocuments(analysis=study))["Results"]
    text = as_markdown(report(CriterionDocuments(analysis=study), form="study").document())
    assert "There is no result: the model could not be fitted." in text


def test_a_paper_refers_to_its_tables_and_to_the_pictures_that_lie_beside_it(tmp_path):
    documents = many_documents()
    source = paper_latex(*documents)
    labels = re.findall(r"\\label\{([^}]+)\}", source)
    assert len(labels) == len(set(labels)) == 3 + 4
    assert set(re.findall(r"\\ref\{([^}]+)\}", source)) == set(labels)
    page = report(*documents, form="study")
    files = {f"{picture.name}.png": picture for picture in page.body().pictures}
    named = set(re.findall(r"\\includegraphics\[[^]]*\]\{([^}]+)\}", source))
    assert len(named) == 4
    assert named <= set(files)
    for name in named:
        (tmp_path / name).write_bytes(files[name].content("png"))
    compiled(in_a_paper(source), tmp_path)
    log = compiled(in_a_paper(source), tmp_path)  # labels are known the second time
    assert "undefined" not in log
    assert all(name in log for name in named)
    assert "\\ref" not in paper_latex(made.DOCUMENTS)


def test_the_ratings_of_the_pilot_of_several_systems_are_known_again():
    [study] = many_documents(JOINT, NAMES, ("fluency",))
    assert not study.is_of_pilot
    many = study.plan.many
    sds = study.study["joint_fit"]["standard_deviations"]
    own = {
        f"sd_{of}_system": tuple(sds[f"sd_{of}_system of {name}"] for name in NAMES)
        for of in ("worker", "item")
    }
    shared = {name: sds[name] for name in ("sd_worker", "sd_item", "sd_residual")}
    same = replace(many, parameters=replace(many.parameters, **own, **shared))
    plan = replace(study.plan, many=same, parameters=same.pair)
    assert replace(study, plan=plan).is_of_pilot
    assert report(replace(study, plan=plan), form="paper").remarks
