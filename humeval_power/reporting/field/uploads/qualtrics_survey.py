"""A survey of Qualtrics as the file that its import reads (QSF): blocks, the flow between them, and
questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count

from humeval_power.reporting.field.form import Question, RatingForm, Shown
from humeval_power.reporting.field.uploads.mapping_text import question_names
from humeval_power.reporting.field.uploads.web import filled, web_text

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


def fields_of(one: Shown) -> tuple[str, str]:
    """The fields of a loop: the text, and what stands above it in a box of its own, '' where nothing does."""
    above = f'<div dir="auto" style="{_BOX} background: #f4f4f4;">{in_html(one.source)}</div>'
    return in_html(one.text), above if one.source else ""


class Survey:
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
        told = {str(one.order): fields_of(one) for one in self.form.of_slot(slot)}
        fields = {loop: {"1": text, "2": above} for loop, (text, above) in told.items()}
        options: Json = {"Looping": "Static", "LoopingOptions": {"Static": fields, "Randomization": "None"}}
        named = zip(question_names(self.form), self.form.questions, strict=True)
        asked = [self._shown(f"{slot}_text", _SHOWN)]
        asked += [self._asked(f"{slot}_{name}", question) for name, question in named]
        return self._block(f"Slot {slot}", asked, options)

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

    def _asked(self, tag: str, question: Question) -> str:
        """A question that has to be answered; its id."""
        make = _slider if self.form.is_slider else _choices
        settings = {"ForceResponse": "ON", "ForceResponseType": "ON", "Type": "None"}
        about = {**make(self.form, question), "Validation": {"Settings": settings}}
        return self._add(tag, in_html(question.text), about)

    def _flow(self, intro: str, of_slot: Mapping[str, str]) -> Json:
        """What comes after what: the slot is taken from the link, or else drawn so that slots are even."""
        root = next(self._flow_ids)
        told = self._embedded([_from_link(name) for name in _FROM_LINK])
        drawn = {
            "Type": "BlockRandomizer",
            "FlowID": next(self._flow_ids),
            "SubSet": 1,
            "EvenPresentation": True,
            "Flow": [self._embedded([_set("slot", slot)]) for slot in of_slot],
        }
        branches = [self._branch("Empty", None, [drawn])]
        branches += [self._branch("EqualTo", slot, [self._step(block)]) for slot, block in of_slot.items()]
        flow = [told, self._step(intro, "Block"), *branches]
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


def _from_link(name: str) -> Json:
    return {**_field(name), "Type": "Recipient"}


def _set(name: str, value: str) -> Json:
    return {**_field(name), "Type": "Custom", "Value": value}


def _field(name: str) -> Json:
    return {
        "Description": name,
        "Field": name,
        "VariableType": "String",
        "DataVisibility": [],
        "AnalyzeText": False,
    }


_PLAIN: Json = {"QuestionDescriptionOption": "UseText"}
