"""A crowd that answers what was uploaded, and what each platform then gives back, in the shape of its exports."""

import csv
import io
import json
import random
import re
from pathlib import Path

MTURK_COLUMNS = [
    "HITId",
    "HITTypeId",
    "Title",
    "Description",
    "Keywords",
    "Reward",
    "CreationTime",
    "MaxAssignments",
    "RequesterAnnotation",
    "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds",
    "Expiration",
    "NumberOfSimilarHITs",
    "LifetimeInSeconds",
    "AssignmentId",
    "WorkerId",
    "AssignmentStatus",
    "AcceptTime",
    "SubmitTime",
    "AutoApprovalTime",
    "ApprovalTime",
    "RejectionTime",
    "RequesterFeedback",
    "WorkTimeInSeconds",
    "LifetimeApprovalRate",
    "Last30DaysApprovalRate",
    "Last7DaysApprovalRate",
]


def answers_of(form, seed=3):
    """(slot, order, criterion) -> the point that the slot's worker chose."""
    rng = random.Random(seed)
    return {
        (one.slot, one.order, question.criterion): rng.choice(form.points)
        for one in form.shown
        for question in form.questions
    }


def worker_of(slot):
    return f"A{slot.upper()}"


def _csv(path, rows):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return Path(path)


def mturk_results(files, form, answers, path, *, as_json=False):
    """Batch results: a row for each HIT, answers sorted as text; or all of them as one JSON."""
    hits = list(csv.DictReader(io.StringIO(files["hits.csv"])))
    names = {f"q{number}": one.criterion for number, one in enumerate(form.questions, start=1)}
    rows = []
    for number, hit in enumerate(hits):
        given = {}
        for column in hit:
            place = column.removeprefix("code_")
            if not column.startswith("code_") or hit[column] == "none":
                continue
            for name, criterion in names.items():
                given[f"{name}_{place}"] = str(answers[hit["slot"], int(hit[f"order_{place}"]), criterion])
            given[f"seconds_{place}"] = f"{float(place) + 0.5}"
        about = dict.fromkeys(MTURK_COLUMNS, "x") | {
            "HITId": f"H{number}",
            "AssignmentId": f"AS{number}",
            "WorkerId": worker_of(hit["slot"]),
            "AssignmentStatus": "Submitted",
            "WorkTimeInSeconds": "321",
        }
        if as_json:
            given = {"taskAnswers": json.dumps([given])}
        rows.append((about, hit, given))
    columns = sorted({name for *_, given in rows for name in given})
    header = [
        *MTURK_COLUMNS,
        *(f"Input.{name}" for name in hits[0]),
        *(f"Answer.{name}" for name in columns),
    ]
    lines = [
        [*about.values(), *hit.values(), *(given.get(name, "") for name in columns), "", ""]
        for about, hit, given in rows
    ]
    return [_csv(path / "batch.csv", [[*header, "Approve", "Reject"], *lines])]


def qualtrics_results(files, form, answers, path, *, words=False):
    """An export for each survey: three rows of header, a column for each loop, a preview among the answers."""
    written = []
    slots = list(csv.DictReader(io.StringIO(files["slots.csv"])))
    for survey in dict.fromkeys(row["survey"] for row in slots):
        mine = [row["slot"] for row in slots if row["survey"] == survey]
        questions = _survey_questions(files[survey])
        columns = [
            (f"{one.order}_{slot}_q{number}", slot, one.order, question.criterion)
            for slot in mine
            for one in form.of_slot(slot)
            for number, question in enumerate(form.questions, start=1)
        ]
        bar = "_1" if form.is_slider else ""
        about = ["StartDate", "Status", "Progress", "Duration (in seconds)", "Finished", "RecordedDate"]
        header = [*about, "ResponseId", *(name + bar for name, *_ in columns), "PROLIFIC_PID", "slot"]
        texts = [f"Question of {name},\nwith a line" for name in header]
        rows = [header, texts, [json.dumps({"ImportId": name}) for name in header]]
        for number, slot in enumerate([mine[0], *mine]):
            status = "IP Address" if number else "Survey Preview"
            cells = []
            for name, of_slot, order, criterion in columns:
                point = answers[of_slot, order, criterion]
                shown = (
                    questions[re.sub(r"^\d+_", "", name)].get(point, str(point)) if words else str(point)
                )
                cells.append(shown if of_slot == slot else "")
            worker = worker_of(slot) if number else ""
            start = ["2026-01-02 10:00:00", status, "100", "431", "True", "2026-01-02 10:09:00"]
            rows.append([*start, f"R_{number}", *cells, worker, slot])
        written.append(_csv(path / survey.replace(".qsf", ".csv"), rows))
    return written


def _survey_questions(text):
    """tag -> point -> what the choice says."""
    asked = [one["Payload"] for one in json.loads(text)["SurveyElements"] if one["Element"] == "SQ"]
    return {
        one["DataExportTag"]: {
            int(one["RecodeValues"][key]): choice["Display"] for key, choice in one["Choices"].items()
        }
        for one in asked
        if one["QuestionType"] == "MC"
    }


def studies_of(files):
    """What each script for Google Forms asks."""
    scripts = [text for name, text in files.items() if name.endswith(".gs")]
    return [json.loads(re.search(r"^var STUDY = (.*);$", text, re.M)[1]) for text in scripts]


def gathered_answers(files, form, answers, path):
    """The sheet `answers` that each script makes of all its forms."""
    written = []
    for number, study in enumerate(studies_of(files)):
        rows = [study["header"]]
        for slot in (one["name"] for one in study["slots"]):
            for one in form.of_slot(slot):
                given = [answers[slot, one.order, question.criterion] for question in form.questions]
                place = [worker_of(slot), slot, one.batch, one.order, one.code]
                rows.append(["2026-01-02T10:00:00.000Z", *place, *given])
        written.append(_csv(path / f"answers{number or ''}.csv", rows))
    return written


def form_exports(files, form, answers, path):
    """What each form exports by itself: questions as columns."""
    written, asked = [], studies_of(files)[0]["questions"]
    for slot in form.slots:
        header, row = ["Timestamp", "Participant ID"], ["2026/01/02 10:00:00 AM GMT+1", worker_of(slot)]
        for one in form.of_slot(slot):
            for question, said in zip(form.questions, asked, strict=True):
                name = f" {said['name']}" if len(asked) > 1 else ""
                header.append(f"{said['text']} [{slot}-{one.order}-{one.code}{name}]")
                row.append(answers[slot, one.order, question.criterion])
        written.append(_csv(path / f"form {slot}.csv", [header, row]))
    return written
