"""HEDS 3.0: the form's own ids and types, answers from documents, and nothing that they do not know."""

import json
from dataclasses import replace

import forms_documents as made
import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.saying.render import as_html, as_markdown
from humeval_power.studies.report.config import SOURCE, ReportConfig
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fields import FormField, open_fields, score
from humeval_power.studies.report.heds.criterion import heds_fields, heds_page
from humeval_power.studies.report.heds.form import (
    CRITERIA_ID,
    MARK,
    OTHER_TEXT,
    Chosen,
    heds_json,
    heds_questions,
    plain_name,
)

FIELDS = heds_fields(made.DOCUMENTS)
# REPORTING notes on the form: those a power analysis, a rating table and a fit can answer in full.
FILLABLE = {
    "3.1.1",
    "3.1.3.1",
    "3.1.3.2",
    "3.1.3.3",
    "3.2.1",
    "3.3.3.1",
    "3.3.3.2",
    "4.3.3",
    "4.3.4",
    "4.3.9",
    "4.3.10",
    "4.3.11.1",
    "4.3.11.2",
    "4.3.12.1",
    "4.3.12.2",
}
SUGGESTED = {
    "1.1.2",
    "1.2",
    "3.1.2",
    "3.2.2.2",
    "3.2.3",
    "3.2.5",
    "3.3.1",
    "3.3.2",
    "3.3.5",
    "4.2.2",
    "4.3.1.1",
    "4.3.8",
    "5.2",
}
CONFIG = ReportConfig.from_mapping(
    {
        "paper": "https://example.org/paper",
        "person": {"name": "A. Nyone", "email": "a@example.org"},
        "recruitment": "By notices in the library.",
        "quality_assurance": "Two attention checks.",
        "code_link": "https://example.org/code",
        "preregistration": "https://osf.io/abcde",
        "heds": {"2.3": [3, 20], "3.3.3.1": [2, 4], "3.2.2.1": 2, "5.2": 1},
        "criteria": {"fluency": {"definition": "How well it reads.", "4.2.1": 2}},
    }
)


def field(fields, number) -> FormField:
    return next(field for field in fields if field.number == number)


def test_the_questions_are_those_of_the_form(shared):
    rows = [line.split("\t") for line in (shared / "heds3_fields.tsv").read_text().splitlines()[1:]]
    kinds = {"RadioGroup": "radio", "CheckGroup": "check", "TextInput": "text", "IntegerInput": "integer"}
    theirs = [(n, kinds[kind], i, int(options), bool(many)) for n, kind, i, options, many in rows]
    assert [question[:5] for question in heds_questions()] == theirs


def test_every_question_becomes_one_field_in_the_order_of_the_form():
    assert [(f.number, f.key) for f in FIELDS] == [(q.number, q.element_id) for q in heds_questions()]


def test_documents_alone_answer_no_more_than_they_can():
    filled = {field.number for field in FIELDS if field.state == "filled"}
    suggested = {field.number for field in FIELDS if field.state == "suggested"}
    assert filled <= FILLABLE
    # The kinds and details of quality control and the code's address are only partly in the documents.
    assert suggested <= SUGGESTED | {"3.3.3.1", "3.3.3.2", "3.1.3.3"}
    assert len(filled) == 12
    assert (
        score(FIELDS) == f"12 of 62 fields filled, {len(suggested)} suggested, {50 - len(suggested)} open."
    )


def test_all_fifteen_are_filled_when_the_authors_add_what_a_table_does_not_show():
    filled = {field.number for field in heds_fields(made.DOCUMENTS, CONFIG) if field.state == "filled"}
    assert filled >= FILLABLE


def test_without_documents_and_words_of_the_authors_everything_is_open():
    assert len(open_fields(heds_fields(CriterionDocuments()))) == 62


@pytest.mark.parametrize("number", ["3.1.3.1", "3.1.3.2", "3.1.3.3"])
def test_power_is_open_where_there_was_no_power_analysis(number):
    alone = {**made.ANALYSIS, "power_at_interest": None}
    assert field(heds_fields(CriterionDocuments(analysis=alone)), number).state == "open"


def test_the_power_at_a_difference_of_interest_is_suggested():
    fields = heds_fields(CriterionDocuments(analysis=made.ANALYSIS))
    assert field(fields, "3.1.3.2").state == "suggested"
    assert "At the difference of interest, 0.32 points (0.08 on [0, 1])" in field(fields, "3.1.3.2").answer
    assert field(fields, "3.1.3.1").answer.startswith("By formula, with the parameters of these ratings")


def test_an_answer_needs_a_source_and_an_open_field_has_none():
    with pytest.raises(InputError, match="source"):
        FormField("key", "1", "prompt", "filled", "answer")
    with pytest.raises(InputError, match="open"):
        FormField("key", "1", "prompt", "open", "answer", "source")


def test_answers_say_what_the_documents_say():
    assert field(FIELDS, "3.1.1").answer == "50"
    assert field(FIELDS, "3.2.1").answer == "12"
    assert field(FIELDS, "4.3.3").answer == "5"
    assert field(FIELDS, "4.3.4").answer == "1, 2, 3, 4, 5"
    assert "0.92 in 2,000 simulated studies" in field(FIELDS, "3.1.3.2").answer
    assert field(FIELDS, "3.1.3.2").source == "the plan"
    assert field(FIELDS, "4.3.12.1").answer == "Not assessed: no worker rated the same output twice."


def test_every_number_of_every_answer_is_one_of_the_documents():
    known = [
        *made.values_of(made.ANALYSIS),
        *made.values_of_plan(made.PLAN),
        *(1.0, 2.0, 3.0, 4.0, 5.0),  # the points of the scale, written out
        50.0,  # outputs of each system: 300 ratings, 3 of each of 50 items under two systems
    ]
    for one in FIELDS:
        for number in made.numbers_in(one.answer or ""):
            assert made.is_rounded(number, known), f"{number} in {one.number}: {one.answer}"


def test_a_scale_that_was_only_inferred_is_a_suggestion():
    scale = {**made.ANALYSIS["scale"], "source": "inferred"}
    fields = heds_fields(CriterionDocuments(analysis={**made.ANALYSIS, "scale": scale}))
    assert field(fields, "4.3.3").state == field(fields, "4.3.4").state == "suggested"


def test_outputs_are_counted_where_not_every_item_has_both_systems():
    study = {**made.ANALYSIS, "n_items": 60, "n_ratings": 180, "ratings_per_item": 3.0}
    said = field(heds_fields(CriterionDocuments(analysis=study)), "3.1.1").answer
    assert said.startswith("60 outputs of both systems together, of 60 items")


def test_the_words_of_the_authors_come_first():
    fields = heds_fields(made.DOCUMENTS, CONFIG)
    assert field(fields, "3.2.3").answer == "By notices in the library."
    assert field(fields, "3.2.3").source == SOURCE
    assert field(fields, "1.3.1.1").answer == "A. Nyone"
    assert field(fields, "3.3.1").options == (1,)
    assert field(fields, "2.3").options == (3, 20)
    assert field(fields, "4.3.2").answer == "How well it reads."
    assert "https://example.org/code" in field(fields, "3.1.3.3").answer


def test_that_a_study_is_not_preregistered_is_only_said_when_the_authors_say_it():
    said = ReportConfig.from_mapping({"preregistration": False})
    assert field(heds_fields(made.DOCUMENTS, said), "3.3.1").options == (2,)
    assert field(FIELDS, "3.3.1").state == "open"


@each_case(
    ("table", "words"),
    [
        ({"recruitmint": "x"}, "recruitmint"),
        ({"recruitment": 3}, "must be text"),
        ({"preregistration": True}, "must be a link between quotation marks, or false"),
        ({"heds": {"2.3": [0]}}, "has the options 1 to 20"),
        ({"criteria": {"fluency": {"definition": 3}}}, "must be text"),
        ({"criteria": []}, "must be a table"),
    ],
)
def test_a_table_that_is_not_understood_is_refused(table, words):
    with pytest.raises(InputError, match=words):
        ReportConfig.from_mapping(table)


@each_case(
    ("table", "words"),
    [
        ({"heds": {"9.9": "x"}}, "is no question of HEDS 3.0"),
        ({"heds": {"4.3.2": "x"}}, "sections 1, 2, 3 and 5"),
        ({"heds": {"3.2.1": [1]}}, "must be text"),
        ({"heds": {"3.2.2.1": 4}}, "options 1 to 3"),
        ({"heds": {"3.2.2.1": [1, 2]}}, "takes one option"),
        ({"criteria": {"beauty": {"question": "x"}}}, "fluency"),
    ],
)
def test_an_answer_that_the_form_has_no_place_for_is_refused(table, words):
    with pytest.raises(InputError, match=words):
        heds_fields(made.DOCUMENTS, ReportConfig.from_mapping(table))


def test_several_criteria_have_section_four_each():
    adequacy = CriterionDocuments(analysis={**made.ANALYSIS, "criterion_name": "adequacy"})
    fields = heds_fields(made.DOCUMENTS, further_criteria=[adequacy])
    assert len(fields) == 62 + 21
    assert [f.number for f in fields] == sorted((f.number for f in fields), key=lambda n: n[0])
    assert list(heds_json(fields)[CRITERIA_ID]["control"].items()) == [
        ("fluency", True),
        ("adequacy", False),
    ]


def allowed_ids() -> dict[str, str]:
    found = {CRITERIA_ID: "criteria"}
    for question in heds_questions():
        if question.n_options:
            found |= dict.fromkeys(question.option_ids, "option")
            found[question.element_id + OTHER_TEXT] = "text"
        else:
            found[question.element_id] = "text"
    return found


@pytest.mark.parametrize("config", [ReportConfig(), CONFIG])
def test_the_json_has_only_elements_of_the_form_with_values_of_their_type(config):
    elements = json.loads(json.dumps(heds_json(heds_fields(made.DOCUMENTS, config))))
    kinds = allowed_ids()
    assert set(elements) <= set(kinds)
    for name, element in elements.items():
        assert isinstance(element["data"], dict)
        assert isinstance(element["control"], dict)
        if kinds[name] == "option":
            assert isinstance(element["text"], dict)  # without it the form's own download breaks
            assert all(isinstance(value, bool) for value in element["data"].values())
        elif kinds[name] == "text":
            assert all(isinstance(value, str) and value for value in element["data"].values())
        expected = "fluency" if name.startswith("heds-criteria-criterion-") else ""
        assert kinds[name] == "criteria" or set(element["data"]) == {expected}


def test_every_option_of_an_answered_question_is_written_and_the_chosen_ones_are_true():
    elements = heds_json(heds_fields(made.DOCUMENTS, CONFIG))
    chosen = [elements[f"heds-system-tasks-{place}"]["data"][""] for place in range(1, 21)]
    assert [place for place, value in enumerate(chosen, start=1) if value] == [3, 20]
    registered = "heds-sample_evaluators_design-experimental_design-preregistered"
    assert elements[f"{registered}-1"]["data"][""] is True
    assert elements[f"{registered}-2"]["data"][""] is False
    assert elements[f"{registered}-other_text"]["data"][""] == "https://osf.io/abcde"


def test_the_number_of_workers_is_an_integer_as_the_form_wants_it():
    study = {**made.ANALYSIS, "n_workers": 1234}
    elements = heds_json(heds_fields(CriterionDocuments(analysis=study)))
    element = elements["heds-sample_evaluators_design-evaluators-number_of_evaluators"]
    assert element["data"][""] == "1234"


def test_an_option_that_is_only_suggested_is_not_chosen_and_a_suggested_text_is_marked():
    elements = heds_json(FIELDS)
    assert not any(
        name.startswith("heds-sample_evaluators_design-evaluators-evaluators-payment") for name in elements
    )
    medium = "heds-sample_evaluators_design-experimental_design-collection_method"
    assert elements[medium]["data"][""] == f"{MARK}Platform X."
    assert medium not in heds_json(FIELDS, suggestions="left out")


def test_what_the_user_has_answered_is_kept():
    theirs = heds_json(
        heds_fields(CriterionDocuments(analysis={**made.ANALYSIS, "n_workers": 9})), suggestions="left out"
    )
    theirs["heds-ethics-review_body"] = {"data": {"": "The board."}, "control": {}, "number": "5.1"}
    theirs["heds-criteria-criterion"]["control"] = {"adequacy": True}
    before = json.dumps(theirs)
    merged = heds_json(FIELDS, into=theirs)
    assert json.dumps(theirs) == before
    workers = "heds-sample_evaluators_design-evaluators-number_of_evaluators"
    assert merged[workers]["data"][""] == "9"
    assert merged["heds-ethics-review_body"]["data"][""] == "The board."
    assert merged["heds-criteria-criterion"]["control"] == {"adequacy": True, "fluency": False}
    assert heds_json(FIELDS, into=merged) == merged


def test_a_choice_of_the_user_is_kept_whole():
    fields = heds_fields(made.DOCUMENTS, CONFIG)
    other = heds_fields(made.DOCUMENTS, ReportConfig(heds={"2.3": Chosen((5,))}))
    merged = heds_json(fields, into=heds_json(other))
    assert [place for place in range(1, 21) if merged[f"heds-system-tasks-{place}"]["data"][""]] == [5]


def test_a_file_that_is_not_of_the_form_is_refused():
    with pytest.raises(InputError, match="HEDS form"):
        heds_json(FIELDS, into={"heds-ethics-review_body": "text"})


def test_names_of_criteria_are_plain_and_unlike():
    # The form writes names into its page as HTML and finds them again by what the page then holds.
    assert plain_name('<b>"A" & B</b>\n') == "b A B /b"
    second = replace(made.HOSTILE_DOCUMENTS)
    fields = heds_fields(made.HOSTILE_DOCUMENTS, further_criteria=[second])
    names = list(heds_json(fields)[CRITERIA_ID]["control"])
    assert len(names) == 2
    assert not set("<>&\"'|\n") & set("".join(names))


def test_markdown_and_html_show_every_field_and_no_name_can_act():
    fields = heds_fields(made.HOSTILE_DOCUMENTS)
    shown = heds_page(fields).document()
    text, page = as_markdown(shown), as_html(shown)
    assert text.count("\n- [") == 62
    assert page.count("<article") == 62
    assert "<script" not in page
    assert "<script" not in text.replace("\\<script", "")
    assert "שלום" in text
    assert "שלום" in page


def test_suggestions_and_open_fields_are_told_apart_on_the_page():
    text = as_markdown(heds_page(FIELDS).document())
    assert text.count("**Check.**") == sum(field.state == "suggested" for field in FIELDS)
    assert text.count("**Open.**") == len(open_fields(FIELDS))
