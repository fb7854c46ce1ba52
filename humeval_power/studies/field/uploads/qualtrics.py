"""Qualtrics: surveys with a loop & merge block for each worker slot, as files that its import reads
(QSF).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from humeval_power.safe_text import csv_text
from humeval_power.studies.field.form import Content, FormRow, Question, RatingForm, Uploader
from humeval_power.studies.field.uploads.html import (
    by_criterion,
    filled,
    mapping_toml,
    question_names,
    readme,
    web_text,
)

# A survey of Qualtrics as the file that its import reads (QSF): blocks, the flow between them, and
# questions.

Json = dict[str, object]

_SURVEY = "SV_000000000000001"  # the platform gives a new one
_FROM_LINK = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "slot")
_BOX = "white-space: pre-wrap; unicode-bidi: isolate; border: 1px solid #767676; padding: 0.8em; margin: 0.6em 0;"
_SHOWN = (
    f'${{lm://Field/2}}<div dir="auto" style="{_BOX}">${{lm://Field/1}}</div>'  # a loop: source, and text
)


def in_html(text: str) -> str:
    """A text as a field or question shows it; nothing in it is piped text."""
    return web_text(text).replace("&#10;", "<br>")


def fields_of(one: FormRow) -> tuple[str, str]:
    """The fields of a loop: the text, and what stands above it in a box of its own, '' where nothing does."""
    above = f'<div dir="auto" style="{_BOX} background: #f4f4f4;">{in_html(one.source)}</div>'
    return in_html(one.text), above if one.source else ""


class QualtricsSurvey:
    """One survey as its platform's own files are made: blocks, the flow between them, options and
    questions."""

    def __init__(self, form: RatingForm, name: str, slots: Sequence[str]) -> None:
        self.form, self.slots = form, slots
        self.title = f"{form.title} ({name})"
        self.questions: list[Json] = []
        self.blocks: list[Json] = []
        self._flow_ids = (f"FL_{number}" for number in count(1))

    def text(self) -> str:
        """The file."""
        intro = self._block(
            "Instructions", [self._shown("instructions", in_html(self.form.instructions))], {}
        )
        flow = self._flow(intro, {slot: self._slot_block(slot) for slot in self.slots})
        self.blocks.append(
            {"Type": "Trash", "Description": "Trash / Unused Questions", "ID": self._block_id()}
        )
        made = [
            _element("BL", "Survey Blocks", None, self.blocks),
            _element("FL", "Survey Flow", None, flow),
            _element("QC", "Survey Question Count", str(len(self.questions)), None),
            *(
                _element("SQ", str(one["QuestionID"]), str(one["DataExportTag"]), one)
                for one in self.questions
            ),
        ]
        survey = json.loads(filled("survey.json"))  # what does not depend on the study
        survey["SurveyEntry"]["SurveyName"] = self.title
        survey["SurveyElements"] += made
        return json.dumps(survey, ensure_ascii=True) + "\n"

    def _block_id(self) -> str:
        return f"BL_{len(self.blocks) + 1:015d}"

    def _block(self, name: str, questions: Sequence[str], options: Json) -> str:
        """Add a block; its id."""
        usual = {"BlockLocking": "false", "RandomizeQuestions": "false", "BlockVisibility": "Expanded"}
        block: Json = {
            "Type": "Standard" if self.blocks else "Default",
            "SubType": "",
            "Description": name,
            "ID": self._block_id(),
            "BlockElements": [{"Type": "Question", "QuestionID": one} for one in questions],
            "Options": {**usual, **options},
        }
        self.blocks.append(block)
        return str(block["ID"])

    def _slot_block(self, slot: str) -> str:
        """A block that goes through what a slot is shown: a loop for each, in order."""
        shown = {str(one.order): fields_of(one) for one in self.form.of_slot(slot)}
        fields = {loop: {"1": text, "2": above} for loop, (text, above) in shown.items()}
        options: Json = {"Looping": "Static", "LoopingOptions": {"Static": fields, "Randomization": "None"}}
        named = zip(question_names(self.form), self.form.questions, strict=True)
        blocks = [self._shown(f"{slot}_text", _SHOWN)]
        blocks += [self._question_block(f"{slot}_{name}", question) for name, question in named]
        return self._block(f"Slot {slot}", blocks, options)

    def _add(self, tag: str, text: str, about: Json) -> str:
        question_id = f"QID{len(self.questions) + 1}"
        common = {
            "QuestionText": text,
            "DefaultChoices": False,
            "DataExportTag": tag,
            "QuestionDescription": tag,
            "GradingData": [],
            "Language": [],
            "NextAnswerId": 1,
            "QuestionID": question_id,
            "DataVisibility": {"Private": False, "Hidden": False},
        }
        self.questions.append({**common, **about})
        return question_id

    def _shown(self, tag: str, text: str) -> str:
        """A text without a question; its id."""
        settings = {"Settings": {"Type": "None"}}
        about = {"QuestionType": "DB", "Selector": "TB", "ChoiceOrder": [], "NextChoiceId": 1}
        return self._add(tag, text, {**about, "Configuration": _PLAIN, "Validation": settings})

    def _question_block(self, tag: str, question: Question) -> str:
        """A question that has to be answered; its id."""
        make = _slider if self.form.is_slider else _choices
        settings = {"ForceResponse": "ON", "ForceResponseType": "ON", "Type": "None"}
        about = {**make(self.form, question), "Validation": {"Settings": settings}}
        return self._add(tag, in_html(question.text), about)

    def _flow(self, intro: str, of_slot: Mapping[str, str]) -> Json:
        """What comes after what: the slot is taken from the link, or else drawn so that slots are even."""
        root = next(self._flow_ids)
        embedded = self._embedded([{**_field(name), "Type": "Recipient"} for name in _FROM_LINK])
        drawn = {
            "Type": "BlockRandomizer",
            "FlowID": next(self._flow_ids),
            "SubSet": 1,
            "EvenPresentation": True,
            "Flow": [
                self._embedded([{**_field("slot"), "Type": "Custom", "Value": slot}]) for slot in of_slot
            ],
        }
        branches = [self._branch("Empty", None, [drawn])]
        branches += [self._branch("EqualTo", slot, [self._step(block)]) for slot, block in of_slot.items()]
        flow = [embedded, self._step(intro, "Block"), *branches]
        used = int(next(self._flow_ids).removeprefix("FL_"))
        return {
            "Type": "Root",
            "FlowID": root,
            "Flow": flow,
            "Properties": {"Count": used - 1, "RemovedFieldsets": []},
        }

    def _step(self, block: str, kind: str = "Standard") -> Json:
        return {"Type": kind, "ID": block, "FlowID": next(self._flow_ids)}

    def _embedded(self, data: Sequence[Json]) -> Json:
        return {"Type": "EmbeddedData", "FlowID": next(self._flow_ids), "EmbeddedData": list(data)}

    def _branch(self, operator: str, value: str | None, steps: Sequence[Json]) -> Json:
        """Steps for those whose slot is empty, or this one."""
        test: Json = {"LogicType": "EmbeddedField", "LeftOperand": "slot", "Operator": operator}
        if value is not None:
            test["RightOperand"] = value
        test |= {"Type": "Expression", "Description": f"If slot {operator} {value or ''}".strip()}
        return {
            "Type": "Branch",
            "FlowID": next(self._flow_ids),
            "Description": "New Branch",
            "BranchLogic": {"0": {"0": test, "Type": "If"}, "Type": "BooleanExpression"},
            "Flow": list(steps),
        }


def _element(kind: str, first: str, second: str | None, payload: object) -> Json:
    return {
        "SurveyID": _SURVEY,
        "Element": kind,
        "PrimaryAttribute": first,
        "SecondaryAttribute": second,
        "TertiaryAttribute": None,
        "Payload": payload,
    }


def _choices(form: RatingForm, question: Question) -> Json:
    numbered = dict(enumerate(form.points, start=1))
    return {
        "QuestionType": "MC",
        "Selector": "SAHR",
        "SubSelector": "TX",
        "Configuration": {**_PLAIN, "LabelPosition": "BELOW"},
        "Choices": {
            str(at): {"Display": in_html(question.choice(point))} for at, point in numbered.items()
        },
        "ChoiceOrder": list(numbered),
        "RecodeValues": {str(at): str(point) for at, point in numbered.items()},
        "NextChoiceId": len(numbered) + 1,
    }


def _slider(form: RatingForm, question: Question) -> Json:
    low, high = form.points[0], form.points[-1]
    labels = {
        str(at): {"Display": in_html(text)} for at, text in enumerate(question.labels.values(), start=1)
    }
    about: Json = {
        "QuestionType": "Slider",
        "Selector": "HSLIDER",
        "Configuration": {
            **_PLAIN,
            "CSSliderMin": low,
            "CSSliderMax": high,
            "GridLines": 10,
            "SnapToGrid": False,
            "NumDecimals": "0",
            "ShowValue": True,
            "CustomStart": False,
            "NotApplicable": False,
            "MobileFirst": True,
        },
        "Choices": {"1": {"Display": "&#160;"}},
        "ChoiceOrder": ["1"],
        "NextChoiceId": 2,
    }
    return {**about, "Labels": labels} if labels else about


def _field(name: str) -> Json:
    return {
        "Description": name,
        "Field": name,
        "VariableType": "String",
        "DataVisibility": [],
        "AnalyzeText": False,
    }


_PLAIN: Json = {"QuestionDescriptionOption": "UseText"}


_MOST_COLUMNS = (
    2_000  # of answers in one survey: a bound of ours, for an export that sheets and people can read
)
_PREVIEWS = ("Survey Preview", "Survey Test", "Offline Survey Preview", "1", "2", "17")


def qualtrics_files(form: RatingForm) -> Mapping[str, Content]:
    """The files of a study: one survey or more (survey-1.qsf, ...), slots.csv, loops.csv, mapping.toml and
    README.md.

    A survey holds as many slots as give at most 2,000 columns of answers, one at least.
    """
    groups = _groups(form)
    surveys = {f"survey-{number}.qsf": slots for number, slots in enumerate(groups, start=1)}
    return {
        **{
            name: QualtricsSurvey(form, name.removesuffix(".qsf"), slots).text()
            for name, slots in surveys.items()
        },
        "slots.csv": csv_text(
            ["survey", "slot", "outputs", "add to the link"],
            [
                [name, slot, str(len(form.of_slot(slot))), f"?slot={slot}"]
                for name, slots in surveys.items()
                for slot in slots
            ],
        ),
        "loops.csv": csv_text(
            ["survey", "slot", "loop", "code", "field 1", "field 2"], _loops(form, surveys)
        ),
        "mapping.toml": _mapping(form),
        "README.md": _readme(form, surveys),
    }


def _groups(form: RatingForm) -> list[list[str]]:
    """The slots of each survey, as even as can be."""
    n_columns = sum(len(form.of_slot(slot)) for slot in form.slots) * len(form.questions)
    n_surveys = min(-(-n_columns // _MOST_COLUMNS), len(form.slots))
    size = -(-len(form.slots) // n_surveys)
    return [list(form.slots[at : at + size]) for at in range(0, len(form.slots), size)]


def _loops(form: RatingForm, surveys: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    for name, slots in surveys.items():
        for slot in slots:
            for one in form.of_slot(slot):
                yield [name, slot, str(one.order), one.code, *fields_of(one)]


def _mapping(form: RatingForm) -> str:
    after = "_1" if form.is_slider else ""  # the only bar of a slider
    labelled = [(one, point) for one in form.questions for point in one.labels]
    return mapping_toml(
        "qualtrics",
        by_criterion(form, [f"{{slot}}_{name}{after}" for name in question_names(form)]),
        {
            "worker": "PROLIFIC_PID",
            "time_s": "Duration (in seconds)",
            "status": "Status",
            "timestamp": "RecordedDate",
        },
        split={"slot": "{order}_{slot}"},
        slots={f"{one.order}_{one.slot}": {"code": one.code} for one in form.shown},
        words={} if form.is_slider else {one.choice(point): point for one, point in labelled},
        drop_rows={"Status": _PREVIEWS},
    )


def _readme(form: RatingForm, surveys: Mapping[str, Sequence[str]]) -> str:
    several = len(surveys) > 1
    files = "each of survey-1.qsf, survey-2.qsf, ..." if several else "survey-1.qsf"
    return readme(
        "Qualtrics",
        (
            f"Make a new survey from a file (QSF) of {files}.",
            "Preview it: the text of an output stands in the box, and its questions below it. Then delete "
            "the preview's answers, or leave them: `import` leaves previews out.",
            "Where a recruiting platform wants people back, set the end of the survey to redirect to its "
            "address with the completion code.",
            "Publish. Give each worker the survey's link with the slot behind it, as slots.csv says it: "
            f"`{_LINK}?slot={form.slots[0]}`; from Prolific `{_LINK}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}`, "
            "then the survey draws the slot.",
            "When all is done, export the data as CSV, with numeric values.",
        ),
        exports="survey-1.csv survey-2.csv ..." if several else "survey-1.csv",
        notes=_NOTES,
    )


_LINK = "https://.../jfe/form/SV_..."
_NOTES = (
    "Each slot is a block with loop & merge: a loop for each output, in the order of the assignment "
    "(field 1 is the text, field 2 what stands above it). So a worker sees one output after the other, "
    "and the answers come back in columns such as 3_w01_q1: loop 3 of slot w01. mapping.toml says which "
    "code that was.",
    f"A survey holds as many slots as give at most {_MOST_COLUMNS:,} columns of answers, so that its "
    "export can be read; this bound is ours. One mapping reads all of them.",
    "Without a slot in the link, a randomizer draws one, evenly over those who *begin*. People who leave "
    "use one up: where each slot must be filled once, give the links of slots.csv, or watch who is "
    "missing and hand out those.",
    "Workers are told apart by PROLIFIC_PID. Without Prolific add any id to the link under that name, or "
    'write worker = "ResponseId" in mapping.toml.',
    "For the seconds on each output, add a timing question named w01_time, ... to each block before you "
    'publish, and seconds = "{slot}_time_Page Submit" under [columns].',
    "The files were made after surveys that Qualtrics exported (blocks, static loops, branches on "
    "embedded data, the randomizer); the format is not documented, and they were not tried in an account. "
    "If one is refused, loops.csv has what each loop shows, to be pasted into loop & merge by hand.",
)
QUALTRICS = Uploader("qualtrics", qualtrics_files, sliders=True)
