"""A template of answers: what is written is read back, what is wrong is told at its line, nothing is lost."""

import tomllib
from pathlib import Path

import forms_documents as made
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from study_files import run

from humeval_power.files.file_bytes import toml_lines
from humeval_power.studies.report.answers_template import value_text
from humeval_power.studies.report.calls import answers_template
from humeval_power.studies.report.config import CRITERION_TEXTS, PERSONS, TEXTS, ReportConfig
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.heds.criterion import heds_fields
from humeval_power.studies.report.heds.form import (
    Chosen,
    chosen_words,
    fields_of_elements,
    heds_json,
    heds_questions,
    read_choice,
    words_of,
)
from humeval_power.studies.report.sources import read_config

RATINGS = "worker,item,system,criterion,rating\nw1,i1,A,clarity,3\nw1,i1,B,{name},4\n"
HOSTILE = 'a "b" \\ # = [x]\nline two\t\u202e\x07 \N{GRINNING FACE} \'\'\' """ end'
CLOSED = [question for question in heds_questions() if question.n_options]


def read(text: str) -> ReportConfig:
    return ReportConfig.from_mapping(tomllib.loads(text)["report"])


def everything_answered(text: str) -> ReportConfig:
    """An answer to every question: the first option, or a text that could break a file."""
    numbered = {
        question.number: Chosen((1,), "but: not all") if question.n_options else HOSTILE
        for question in heds_questions()
    }
    each = {q.number for q in heds_questions() if q.is_per_criterion}
    criterion = {number: said for number, said in numbered.items() if number in each}
    return ReportConfig(
        dict.fromkeys((*TEXTS, *PERSONS), text),
        False,
        {number: said for number, said in numbered.items() if number not in each},
        {HOSTILE: {**criterion, **dict.fromkeys(CRITERION_TEXTS, text)}},
    )


def test_a_template_of_nothing_asks_everything_and_reads_back_as_no_answer() -> None:
    found = answers_template()
    assert read(found.text) == ReportConfig()
    lines = found.text.splitlines()
    for name in (*PERSONS, "recruitment", "payment", "ethics", "data_link", "preregistration"):
        assert f'{name} = ""' in lines
    for question in CLOSED:
        if question.number in ("1.1.1", "1.2", "3.3.1"):  # asked for as a link
            assert f'heds."{question.number}" = one of' in " ".join(found.text.replace("\n#", "").split())
            continue
        key = f'"{question.number}"' if question.is_per_criterion else f'heds."{question.number}"'
        assert f"{key} = {'[]' if question.kind == 'check' else chr(34) * 2}" in lines
    assert max(map(len, lines)) <= 100


def test_the_files_that_a_question_names_are_those_that_answer_it() -> None:
    # The truth is the datasheet itself, filled from each kind of file alone.
    fit = {name: said for name, said in made.ANALYSIS.items() if name != "agreement"}
    documents = {
        "fit": CriterionDocuments(parameters=fit),
        "analysis": CriterionDocuments(analysis=made.ANALYSIS),
        "plan": CriterionDocuments(plan=made.PLAN),
    }
    answered = {
        kind: {field.number for field in heds_fields(each) if field.state != "open"}
        for kind, each in documents.items()
    }
    for question in heds_questions():
        if not question.own:
            by = {kind for kind in answered if question.number in answered[kind]}
            names = {"fit": {"fit", "analysis"}, "analysis": {"analysis"}, "": set()}
            if question.files in names:
                assert by - {"plan"} == names[question.files], question.number
            else:
                assert "plan" in by, question.number


def test_every_answer_is_kept_whatever_it_holds() -> None:
    said = everything_answered(HOSTILE)
    for documents in ((), (CriterionDocuments(),), (made.DOCUMENTS,)):
        found = answers_template(*documents, answers=said)
        assert read(found.text) == said
        assert found.n_answered == len(TEXTS) + len(PERSONS) + 1 + len(heds_questions()) + len(
            CRITERION_TEXTS
        )


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_reads_back_as_itself(text: str) -> None:
    assert tomllib.loads(f"a = {value_text(text)}") == {"a": text}


def test_what_the_files_say_is_shown_as_comments_and_what_they_fill_is_not_asked() -> None:
    text = answers_template(made.DOCUMENTS).text
    fields = {field.number: field for field in heds_fields(made.DOCUMENTS)}
    assert f"known: {fields['3.2.1'].answer} (" in text
    assert '\nheds."3.2.1" = ""' not in text
    assert fields["1.1.2"].state == "suggested"
    assert "suggested: Human evaluation of" in text
    assert '\nexperiment = ""' in text


def test_of_several_criteria_each_has_a_section_and_what_is_asked_once_stands_once() -> None:
    second = CriterionDocuments(analysis={**made.ANALYSIS, "criterion_name": "adequacy"})
    text = answers_template(made.DOCUMENTS, second).text
    lines = text.splitlines()
    assert "[report.criteria.fluency]" in lines
    assert "[report.criteria.adequacy]" in lines
    assert lines.count('recruitment = ""') == 1
    assert lines.count('"4.1.1" = ""') == 2
    notes = [line for line in lines if line.startswith("# ") and "(Card et al. assignment)" in line]
    assert len(notes) == 1


def test_the_table_adds_up_to_what_is_said_above_it() -> None:
    for documents in ((), (made.DOCUMENTS,)):
        found = answers_template(*documents, answers=ReportConfig({"paper": "x"}))
        document = found.body()
        table = document.tables[0]
        assert sum(int(row[1]) for row in table.rows) == found.n_open
        assert sum(int(row[4]) for row in table.rows) == found.n_answered == 1
        assert document.lead.startswith(f"{found.n_open} answers are open, 1 are there already")
        empty = [line for line in found.text.splitlines() if line.endswith((' = ""', " = []"))]
        asked = [line for line in empty if not line.startswith("#")]
        assert len(asked) == sum(int(row[1]) + int(row[2]) for row in table.rows)


def test_a_form_alone_asks_only_its_own_and_keeps_the_rest() -> None:
    said = ReportConfig({"paper": "mine"}, heds={"5.2": Chosen((1,))})
    text = answers_template(form="arr", answers=said).text
    assert "2.1" not in text
    assert "Kept from before" in text
    assert read(text) == said


@each_case("question", CLOSED, ids=lambda question: question.number)
def test_every_option_has_words_that_choose_it(question) -> None:
    words = words_of(question)
    assert len(words) == question.n_options == len({word.casefold() for word in words})
    for place, word in enumerate(words, start=1):
        assert read_choice(question, word.upper()) == Chosen((place,)) == read_choice(question, place)
        assert not set(word) & set(":;|")
        chosen = Chosen((place,), "more: of it")
        assert read_choice(question, list(chosen_words(question, chosen))) == chosen


def test_a_language_is_the_element_that_the_form_shows_under_its_number() -> None:
    # In the page of the form 'heds-system-input_languages-42' is "41. English", and '...-1' is "185. N/A".
    for said in ("English", 41):
        config = ReportConfig.from_mapping({"heds": {"2.4": [said]}})
        elements = heds_json(heds_fields(CriterionDocuments(), config))
        chosen = [
            name
            for name, element in elements.items()
            if "input_languages" in name and element["data"][""] is True
        ]
        assert chosen == ["heds-system-input_languages-42"]
    nothing = ReportConfig.from_mapping({"heds": {"2.4": ["none: pictures"]}})
    elements = heds_json(heds_fields(CriterionDocuments(), nothing))
    assert elements["heds-system-input_languages-1"]["data"][""] is True
    assert elements["heds-system-input_languages-other_text"]["data"][""] == "pictures"
    back = next(one for one in fields_of_elements(elements) if one.number == "2.4")
    assert back.answer == "None. pictures"


WRONG = """[report]
paymnt = "x"
text = '''
paper = 7
'''
paper = 3
"2.1" = ["data"]
heds."2.4" = ["Englsh"]
heds."3.2.2.1" = "maybe"
person.nam = "A"

[report.criteria."a \\"b\\""]
"4.1.1" = "godness"
defintion = "a"
"""


def test_all_that_is_wrong_is_told_at_once_each_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(RATINGS.format(name="fluency"))
    (tmp_path / "answers.toml").write_text(WRONG)
    told = run(
        "report", tmp_path / "ratings.csv", tmp_path / "answers.toml", "-o", tmp_path / "out/", code=2
    )
    said = " ".join(told.stderr.split())
    for words in (
        "line 2, field 'paymnt': value 'x': is not known. Did you mean 'payment'?",
        "line 3, field 'text': value 'paper = 7\\n': is not known.",
        "line 6, field 'paper': value 3: must be text",
        "line 7, field '\"2.1\"': value ['data']: is not known. Write it as heds.\"2.1\".",
        "line 8, field 'heds.\"2.4\"': value ['Englsh']: 'Englsh' is no option; did you mean 'English'",
        "line 9, field 'heds.\"3.2.2.1\"': value 'maybe': Choose one of: yes; no; not applicable.",
        "line 10, field 'person.nam': value 'A': is not known. Did you mean 'person.name'?",
        'line 13, field \'criteria."a \\\\"b\\\\""."4.1.1"\': value \'godness\'',
        "line 14, field",
    ):
        assert words in said, words
    assert not (tmp_path / "out").exists()


def test_the_line_of_a_key_is_found_in_any_notation() -> None:
    text = 'a = 1\n[t]\n"x.y".z = """\nb = 2\n"""\n  q   =  [\n 1]\n[t."u v"]\n# """\nlast = 5\n'
    values = tomllib.loads(text)
    lines = toml_lines(text)
    assert lines[("a",)] == 1
    assert lines[("t", "x.y", "z")] == lines[("t", "x.y")] == 3
    assert ("t", "b") not in lines
    assert (lines[("t", "q")], lines[("t", "u v")], lines[("t", "u v", "last")]) == (6, 8, 10)
    assert values["t"]["u v"]["last"] == 5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[report]\npaper = "abc\n', "is not TOML"),
        ("x = 1\n", "has no table [report]"),
        ('{"schema": "x"}', "is not TOML"),
        ("", "has no table [report]"),
    ],
)
def test_a_file_that_is_no_file_of_answers_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "answers.toml"
    path.write_text(content)
    (tmp_path / "ratings.csv").write_text(RATINGS.format(name="fluency"))
    for given_as in ((path,), ("--answers", path)):
        told = run("report", tmp_path / "ratings.csv", *given_as, code=2).stderr
        assert words in " ".join(told.split())
        assert "answers.toml" in told
    run("report", "--template", path, "--force", code=2)
    assert path.read_text() == content


def test_from_a_table_of_ratings_to_forms_by_way_of_the_template(tmp_path: Path) -> None:
    ratings, answers = tmp_path / "ratings.csv", tmp_path / "answers.toml"
    ratings.write_text(RATINGS.format(name='"flu, <b>=ency"'))
    run("report", ratings, "--template", answers)
    assert "[report.criteria.clarity]" in answers.read_text()
    assert '[report.criteria."flu, <b>=ency"]' in answers.read_text()
    answers.write_text(
        answers.read_text()
        .replace('ethics = ""', 'ethics = "Board 7"  # mine')
        .replace('"4.1.1" = ""', '"4.1.1" = "feature"')
    )
    run("report", ratings, "--template", answers, code=2)
    before = read_config(str(answers))
    run("report", ratings, answers, "--template", answers, "--force")
    assert read_config(str(answers)) == before
    assert set(before.criteria) == {"clarity", "flu, <b>=ency"}
    heds = run("report", ratings, answers, "--form", "heds", "--format", "markdown").stdout
    assert "Board 7" in heds
    assert heds.count("Feature.") == 2
    run("report", ratings, answers, "-o", tmp_path / "out/")
    assert (tmp_path / "out" / "heds.json").is_file()


def test_a_file_that_holds_more_than_answers_is_not_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "humeval.toml"
    path.write_text('[report]\npaper = "x"\n[other]\nkey = 1\n')
    told = run("report", "--template", path, "--force", code=2).stderr
    assert "'other'" in told
    assert "would be lost" in " ".join(told.split())


def test_answers_on_a_criterion_that_is_not_there_are_kept_and_told(tmp_path: Path) -> None:
    ratings, answers = tmp_path / "ratings.csv", tmp_path / "answers.toml"
    ratings.write_text(RATINGS.format(name="fluency"))
    answers.write_text('[report]\npaper = "x"\n[report.criteria.fluancy]\nname = "F"\n')
    told = " ".join(run("report", ratings, answers, "--form", "heds", code=2).stderr.split())
    assert "answers.toml, line 3, field 'criteria.fluancy': is not a criterion of the documents" in told
    assert "Did you mean 'fluency'?" in told
    run("report", ratings, "--template", answers, "--force")
    assert read_config(str(answers)).criteria == {"fluancy": {"name": "F"}}
    assert "Criteria: fluancy, which no file given here has" in answers.read_text()


def test_answers_of_another_file_are_merged_and_those_in_place_come_first(tmp_path: Path) -> None:
    place, other = tmp_path / "answers.toml", tmp_path / "old.toml"
    place.write_text('[report]\npaper = "here"\n')
    other.write_text('[report]\npaper = "there"\ntraining = "none"\n[report.criteria.x]\nname = "X"\n')
    run("report", "--answers", other, "--template", place, "--force")
    found = read_config(str(place))
    assert found.texts == {"paper": "here", "training": "none"}
    assert found.criteria == {"x": {"name": "X"}}


def test_ratings_without_a_result_are_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(RATINGS.format(name="fluency"))
    told = " ".join(run("report", tmp_path / "ratings.csv", code=2).stderr.split())
    assert "analyze RATINGS -o analysis.json" in told
    assert "--template answers.toml" in told
