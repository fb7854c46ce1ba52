"""Exports as people bring them (invented): the shapes of platforms, and tables that something is wrong with."""

import csv
import io
import json
from collections.abc import Iterable
from itertools import product
from random import Random

WORKERS = [f"A{number:02d}" for number in range(1, 9)]
ITEMS = [f"s{number:02d}" for number in range(1, 13)]
SYSTEMS = ("baseline", "new")
WORDS = ("very bad", "bad", "so-so", "good", "very good")


def _points() -> dict[tuple[str, str, str], int]:
    """The points of each worker, item and system."""
    draw = Random(37)
    of_worker = {worker: draw.gauss(0, 0.5) for worker in WORKERS}
    of_item = {item: draw.gauss(0, 0.5) for item in ITEMS}
    return {
        (worker, item, system): max(
            1,
            min(
                5,
                round(3 + 0.6 * (system == "new") + of_worker[worker] + of_item[item] + draw.gauss(0, 0.7)),
            ),
        )
        for worker, item, system in product(WORKERS, ITEMS, SYSTEMS)
    }


POINTS = _points()


def _csv(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def long_table() -> bytes:
    """A rating a row, under names that say nothing."""
    rows = [(who, what, which, points, "ok") for (who, what, which), points in POINTS.items()]
    return _csv([("who", "what", "which", "mark", "remark"), *rows])


def systems_in_columns() -> bytes:
    """A column for each of two systems and two criteria."""
    names = [f"{system}_{criterion}" for system in SYSTEMS for criterion in ("fluency", "adequacy")]
    rows = [
        (worker, item, *(POINTS[worker, item, system] for system in SYSTEMS for _ in range(2)))
        for worker, item in product(WORKERS, ITEMS)
    ]
    return _csv([("annotator", "segment", *names), *rows])


def workers_in_columns() -> bytes:
    """A sheet with a column for each annotator."""
    rows = [
        (item, system, *(POINTS[worker, item, system] for worker in WORKERS))
        for item, system in product(ITEMS, SYSTEMS)
    ]
    return _csv([("sentence_no", "engine", *WORKERS), *rows])


def mturk_slots() -> bytes:
    """A HIT of four slots a row, answers in words, texts under names of the requester's own."""
    slots = range(4)
    head = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds"]
    head += [f"Input.{name}{slot}" for slot in slots for name in ("sent", "engine")] + [
        f"Answer.{slot}" for slot in slots
    ]
    shown = [pair for item in ITEMS for pair in ((item, "baseline"), (item, "new"))]
    rows = []
    for worker in WORKERS:
        for hit in range(0, len(shown), 4):
            four = shown[hit : hit + 4]
            said = [WORDS[POINTS[worker, *pair] - 1] for pair in four]
            rows.append(
                (
                    f"H{hit}",
                    f"AS{worker}{hit}",
                    worker,
                    "Submitted",
                    90,
                    *(each for pair in four for each in pair),
                    *said,
                )
            )
    return _csv([head, *rows])


def label_studio() -> bytes:
    """Tasks in JSON, with names of data that say nothing, and a skipped annotation."""
    tasks = []
    for number, (item, system) in enumerate(product(ITEMS, SYSTEMS)):
        annotations = [
            {
                "id": number * 100 + place,
                "completed_by": place + 1,
                "was_cancelled": place == 0 and number == 0,
                "lead_time": 9.5,
                "created_at": "2026-01-01T00:00:00Z",
                "result": []
                if place == 0 and number == 0
                else [
                    {
                        "from_name": "score",
                        "to_name": "text",
                        "type": "rating",
                        "value": {"rating": POINTS[worker, item, system]},
                    }
                ],
            }
            for place, worker in enumerate(WORKERS)
        ]
        tasks.append(
            {
                "id": number,
                "data": {"ref": item, "who": system, "text": f"Text {item} {system}"},
                "annotations": annotations,
            }
        )
    return json.dumps(tasks).encode()


def qualtrics() -> bytes:
    """Three rows of header, a question for each text, and a preview."""
    shown = list(product(ITEMS, SYSTEMS))
    columns = [f"{number}_Q5" for number in range(1, len(shown) + 1)]
    head = [
        "StartDate",
        "Status",
        "Progress",
        "Duration (in seconds)",
        "Finished",
        "ResponseId",
        "PROLIFIC_PID",
    ]
    asked = [
        "Start Date",
        "Response Type",
        "Progress",
        "Duration (in seconds)",
        "Finished",
        "Response ID",
        "PROLIFIC_PID",
    ]
    rows = [
        (
            "2026-01-02 10:00:00",
            status,
            100,
            431,
            "True",
            f"R_{place}",
            worker,
            *(POINTS[worker, *pair] for pair in shown),
        )
        for place, worker in enumerate(WORKERS)
        for status in (["IP Address", "Survey Preview"] if place == 0 else ["IP Address"])
    ]
    return _csv(
        [
            [*head, *columns],
            [*asked, *(f"Rate the text\n{item} {system}" for item, system in shown)],
            [json.dumps({"ImportId": name}) for name in (*head, *columns)],
            *rows,
        ]
    )


SHAPES = {
    "long.csv": long_table,
    "two-systems.csv": systems_in_columns,
    "sheet.csv": workers_in_columns,
    "Batch_1_results.csv": mturk_slots,
    "project-1.json": label_studio,
    "Survey.csv": qualtrics,
}


# Tables that something is wrong with.


def words_without_points() -> bytes:
    rows = [(who, what, which, WORDS[points - 1]) for (who, what, which), points in POINTS.items()]
    return _csv([("worker", "item", "system", "rating"), *rows])


def both_in_one_cell() -> bytes:
    rows = [(who, f"{what}__{which}", points) for (who, what, which), points in POINTS.items()]
    return _csv([("worker", "output", "rating"), *rows])


def blank_workers() -> bytes:
    rows = [
        ("" if number % 50 == 0 else who, what, which, points)
        for number, ((who, what, which), points) in enumerate(POINTS.items())
    ]
    return _csv([("worker", "item", "system", "rating"), *rows])


def decimal_commas() -> bytes:
    rows = [(who, what, which, f"{points},5") for (who, what, which), points in POINTS.items()]
    return _csv([("worker", "item", "system", "rating"), *rows])


def two_items() -> bytes:
    """Two columns that could be the item: the second is only its text."""
    rows = [(who, what, f"Text {what}", which, points) for (who, what, which), points in POINTS.items()]
    return _csv([("worker", "segment_id", "source", "system", "rating"), *rows])


BAD = {
    "words.csv": words_without_points,
    "outputs.csv": both_in_one_cell,
    "blank.csv": blank_workers,
    "commas.csv": decimal_commas,
    "twice.csv": two_items,
}
