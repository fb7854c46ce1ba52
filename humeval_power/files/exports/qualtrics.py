"""Answers out of Qualtrics: three rows of header, and a column for each question and each round of a loop."""

from __future__ import annotations

import re

import pandas as pd

from humeval_power.checking.exports.mapping import (
    Condition,
    Export,
    Mapping,
    RatingColumns,
    Template,
    literal,
)
from humeval_power.checking.rows import FlowStep
from humeval_power.files.exports.platform import Platform, slot_templates
from humeval_power.files.exports.raw import RawExport

_IMPORT_ID = '{"ImportId"'
_ABOUT = {  # columns that every survey has, and that hold no answers
    *("startdate", "enddate", "status", "ipaddress", "progress", "duration (in seconds)", "finished"),
    *("recordeddate", "responseid", "recipientlastname", "recipientfirstname", "recipientemail"),
    *("externalreference", "locationlatitude", "locationlongitude", "distributionchannel", "userlanguage"),
    *("prolific_pid", "study_id", "session_id", "q_recaptchascore", "q_relevantidduplicate"),
}
_PREVIEWS = ("Survey Preview", "Survey Test", "Offline Survey Preview", "1", "2", "17")
_WORKERS = ("PROLIFIC_PID", "workerId", "WorkerId", "ResponseId")
_LOOP = re.compile(r"(\d+)_(.+)")
_TIMING = re.compile(r"_(First Click|Last Click|Page Submit|Click Count|DO(_.*)?|TEXT)$")


def _known_by(export: RawExport) -> str | None:
    if not export.columns or len(export.table) < 2:
        return None
    third = [str(cell).replace(" ", "") for cell in export.table.iloc[1]]
    return "row 3 holds ImportId" if any(cell.startswith(_IMPORT_ID) for cell in third) else None


def _read(export: RawExport) -> Export:
    options = {name: str(text) for name, text in export.table.iloc[0].items()}
    frame = export.table.iloc[2:]
    flow = (FlowStep("read", len(export.table), "rows of the export"),)
    return Export(
        frame=frame,
        mapping=_mapping(frame),
        questions={str(name): text for name, text in options.items()},
        flow=(*flow, FlowStep("dropped", 2, "rows of the header: the questions and their ids")),
        person=next((name for name in _WORKERS if name in frame), None),
    )


def _mapping(frame: pd.DataFrame) -> Mapping | None:
    names = [str(name) for name in frame.columns]
    questions = [name for name in names if name.casefold() not in _ABOUT and not _TIMING.search(name)]
    templates = [text for text in _loops(questions) or slot_templates(questions) if "{slot}" in text]
    if not templates:
        return None
    worker = next((name for name in _WORKERS if name in names), None)
    fields = {} if worker is None else {"worker": literal(worker)}
    for part, name in (
        ("time_s", "Duration (in seconds)"),
        ("status", "Status"),
        ("timestamp", "RecordedDate"),
    ):
        if name in names:
            fields[part] = literal(name)
    several = len(templates) > 1
    return Mapping(
        ratings=tuple(
            RatingColumns(Template(one), _criterion(one) if several else None) for one in templates
        ),
        columns=fields,
        where=(Condition("Status", _PREVIEWS, drop=True),) if "Status" in names else (),
        keep=("Finished",) if "Finished" in names else (),
    )


def _loops(names: list[str]) -> list[str]:
    """The questions of loops, 1_Q5 and 2_Q5 being {slot}_Q5."""
    return list(dict.fromkeys(f"{{slot}}_{match[2]}" for name in names if (match := _LOOP.fullmatch(name))))


def _criterion(template: str) -> str:
    return template.replace("{slot}", "").strip("_ .") or template


QUALTRICS = Platform("qualtrics", _known_by, _read)
