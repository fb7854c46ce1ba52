"""What the files of Mechanical Turk, Qualtrics and Google Forms say is what the form says, and nothing in a text is
taken for a part of them."""

import csv
import html
import io
import json
import re
import tomllib

import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.studies.field.form import FormRow, RatingForm
from humeval_power.studies.field.uploads import UPLOADERS
from humeval_power.studies.field.uploads.html import web_text
from tests.field import platform_crowd
from tests.field.form_cases import TEXTS, form_of

NAMES = ("mturk", "qualtrics", "google-forms")
SCALES = ("1:5", "0:100", "-3:3", "0:10")


def as_shown(text):
    """What a person sees of a text: HTML has no NUL and no lone surrogates, and one kind of line break."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "\ufffd", text)


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@each_case("text", TEXTS)
def test_a_text_of_the_web_reads_back_and_holds_no_sign_that_a_platform_acts_on(text):
    coded = web_text(text)
    assert html.unescape(coded) == as_shown(text)
    assert not re.search(r"[$`{}\[\]<>\"'\t\n\r\x85\u2028\u2029]", coded)
    assert not coded.startswith(("=", "+", "-", "@"))
    assert max(map(ord, coded), default=0) < 0x10000


@each_case("name", NAMES)
@each_case("scale", SCALES)
@each_case("criteria", [("quality",), ("a b", "slot", 'quo"te')])
def test_every_folder_has_its_page_and_a_mapping_of_all_criteria(name, scale, criteria):
    files = UPLOADERS[name].write(form_of(scale=scale, criteria=criteria))
    assert files["README.md"].startswith("# ")
    mapping = tomllib.loads(files["mapping.toml"])
    if len(criteria) == 1:
        assert isinstance(mapping["ratings"], str)
    else:
        assert tuple(mapping["ratings"]) == criteria


def test_hits_have_the_columns_of_the_page_and_the_texts_of_the_form():
    form = form_of(batches=3)
    files = UPLOADERS["mturk"].write(form)
    rows = table(files["hits.csv"])
    assert set(re.findall(r"\$\{(\w+)\}", files["template.html"])) == set(rows[0])
    assert len(rows) == len({(one.slot, one.batch) for one in form.shown})
    found = [
        (
            row["slot"],
            int(row["batch"]),
            int(row[f"order_{place}"]),
            row[f"code_{place}"],
            row[f"text_{place}"],
        )
        for row in rows
        for place in range(1, 4)
        if row[f"code_{place}"] != "none"
    ]
    wanted = sorted(form.shown, key=lambda one: (one.slot, one.order))
    assert [one[:4] for one in found] == [(one.slot, one.batch, one.order, one.code) for one in wanted]
    for (*_, text), one in zip(found, wanted, strict=True):
        assert html.unescape(text) == (as_shown(one.text) or "\xa0")
    assert not any(cell.startswith(("'", "=", "@")) for row in rows for cell in row.values())
    assert all(cell for row in rows for cell in row.values())


def test_a_hit_that_is_too_large_is_refused_with_all_others():
    form = form_of(slots=2, load=4)
    shown = [
        FormRow(one.slot, one.batch, one.order, one.kind, one.code, "é" * 20_000, "", one.right)
        for one in form.shown
    ]
    with pytest.raises(InputError) as told:
        UPLOADERS["mturk"].write(RatingForm("t", "i", form.questions, form.scale, tuple(shown)))
    assert [problem.place for problem in told.value.problems] == [
        "slot w001, batch 1",
        "slot w002, batch 1",
    ]
    assert "Mechanical Turk takes 65,535" in str(told.value)


def loops_of(files):
    """(slot, loop) -> text and source, of all surveys; every question of a slot with its payload."""
    loops, asked = {}, {}
    for name in (one for one in files if one.endswith(".qsf")):
        elements = json.loads(files[name])["SurveyElements"]
        questions = {one["PrimaryAttribute"]: one["Payload"] for one in elements if one["Element"] == "SQ"}
        blocks = next(one["Payload"] for one in elements if one["Element"] == "BL")
        for block in blocks:
            if block.get("Options", {}).get("Looping") != "Static":
                continue
            slot = block["Description"].removeprefix("Slot ")
            looping = block["Options"]["LoopingOptions"]
            assert looping["Randomization"] == "None"
            for loop, fields in looping["Static"].items():
                loops[slot, int(loop)] = (fields["1"], fields["2"])
            asked[slot] = [questions[one["QuestionID"]] for one in block["BlockElements"]]
    return loops, asked


@pytest.mark.parametrize(("slots", "criteria", "n_surveys"), [(3, 2, 1), (300, 3, 4)])
def test_surveys_loop_through_what_each_slot_is_shown(slots, criteria, n_surveys):
    form = form_of(slots=slots, criteria=tuple(f"c{number}" for number in range(criteria)))
    files = UPLOADERS["qualtrics"].write(form)
    assert sum(name.endswith(".qsf") for name in files) == n_surveys
    loops, asked = loops_of(files)
    assert set(loops) == {(one.slot, one.order) for one in form.shown}
    for one in form.shown:
        cells = (re.sub("</?div.*?>", "", cell) for cell in loops[one.slot, one.order])
        text, source = (html.unescape(cell.replace("<br>", "\n")) for cell in cells)
        assert (text, source) == (as_shown(one.text), as_shown(one.source))
    for slot in form.slots:
        tags = [f"{slot}_text", *(f"{slot}_q{number}" for number in range(1, criteria + 1))]
        assert [one["DataExportTag"] for one in asked[slot]] == tags
        assert all(one["Validation"]["Settings"]["ForceResponse"] == "ON" for one in asked[slot][1:])
    assert [row["slot"] for row in table(files["slots.csv"])] == list(form.slots)
    codes = {(row["slot"], int(row["loop"])): row["code"] for row in table(files["loops.csv"])}
    assert codes == {(one.slot, one.order): one.code for one in form.shown}
    told = tomllib.loads(files["mapping.toml"])["slots"]
    assert told == {f"{one.order}_{one.slot}": {"code": one.code} for one in form.shown}


@pytest.mark.parametrize("scale", ["1:5", "-3:3"])
def test_choices_of_a_survey_count_as_their_points(scale):
    form = form_of(scale=scale, labels={2: "so <so>"})
    files = UPLOADERS["qualtrics"].write(form)
    question = loops_of(files)[1]["w001"][1]
    points = [int(question["RecodeValues"][str(choice)]) for choice in question["ChoiceOrder"]]
    assert points == list(form.points)
    shown = [
        html.unescape(question["Choices"][str(choice)]["Display"]) for choice in question["ChoiceOrder"]
    ]
    assert shown == ["2: so <so>" if point == 2 else str(point) for point in form.points]
    assert tomllib.loads(files["mapping.toml"])["words"] == {"2: so <so>": 2}


def test_a_survey_goes_to_the_slot_of_the_link_or_draws_one():
    files = UPLOADERS["qualtrics"].write(form_of())
    elements = json.loads(files["survey-1.qsf"])["SurveyElements"]
    flow = next(one["Payload"] for one in elements if one["Element"] == "FL")
    ids = re.findall(r'"FlowID": "(\w+)"', json.dumps(flow))
    assert len(ids) == len(set(ids)) == flow["Properties"]["Count"]
    told, _, drawn, *branches = flow["Flow"]
    assert {one["Field"] for one in told["EmbeddedData"]} >= {"slot", "PROLIFIC_PID"}
    randomizer = drawn["Flow"][0]
    assert (randomizer["SubSet"], randomizer["EvenPresentation"]) == (1, True)
    assert [one["EmbeddedData"][0]["Value"] for one in randomizer["Flow"]] == ["w001", "w002", "w003"]
    tests = [one["BranchLogic"]["0"]["0"] for one in branches]
    assert [(one["Operator"], one["RightOperand"]) for one in tests] == [
        ("EqualTo", slot) for slot in ("w001", "w002", "w003")
    ]
    blocks = next(one["Payload"] for one in elements if one["Element"] == "BL")
    names = {one["ID"]: one["Description"] for one in blocks}
    assert [names[one["Flow"][0]["ID"]] for one in branches] == ["Slot w001", "Slot w002", "Slot w003"]
    questions = {one["PrimaryAttribute"] for one in elements if one["Element"] == "SQ"}
    assert {part["QuestionID"] for one in blocks for part in one.get("BlockElements", [])} == questions


def test_a_large_study_has_several_scripts_and_each_slot_stands_in_one():
    form = form_of(slots=30, load=10)
    long = [
        FormRow(
            one.slot, one.batch, one.order, one.kind, one.code, f"{number} " + "é" * 1_000, "", one.right
        )
        for number, one in enumerate(form.shown)
    ]
    files = UPLOADERS["google-forms"].write(RatingForm("t", "i", form.questions, form.scale, tuple(long)))
    studies = platform_crowd.studies_of(files)
    assert [name for name in files if name.endswith(".gs")] == ["form-1.gs", "form-2.gs"]
    assert [slot["name"] for study in studies for slot in study["slots"]] == list(form.slots)
    shown = {
        (slot["name"], one["order"], one["code"]): study["texts"][one["text"]][1]
        for study in studies
        for slot in study["slots"]
        for one in slot["shown"]
    }
    assert shown == {(one.slot, one.order, one.code): one.text for one in long}


def test_a_text_that_several_workers_see_stands_in_a_script_once():
    form = form_of(slots=4, load=6)
    same = [
        FormRow(one.slot, one.batch, one.order, one.kind, one.code, f"text {one.order}", "")
        for one in form.shown
    ]
    files = UPLOADERS["google-forms"].write(RatingForm("t", "i", form.questions, form.scale, tuple(same)))
    (study,) = platform_crowd.studies_of(files)
    assert sorted(study["texts"]) == [["", f"text {order}"] for order in range(1, 7)]
