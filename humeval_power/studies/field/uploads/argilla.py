"""Argilla 2: records of each worker slot, and scripts that make the datasets and fetch what was answered."""

from __future__ import annotations

import re
from collections.abc import Mapping

from humeval_power.studies.field.form import Content, RatingForm, Uploader
from humeval_power.studies.field.uploads.html import (
    filled,
    has_source,
    json_page,
    mapping_toml,
    question_names,
    readme,
)

_NOTES = (
    "Argilla gives records to whoever of a workspace comes first: a workspace and dataset for each slot keep "
    "the plan. Add to each workspace the one annotator who fills the slot.",
    "Argilla chooses the order itself: ask annotators to sort the records by `order`, or the plan's order is lost.",
    "It does not say how long an answer took.",
    "Written for the package argilla 2 (its Settings, LabelQuestion, records.to_list); it was not run against a "
    "server.",
)


def _write(form: RatingForm) -> Mapping[str, Content]:
    names = question_names(form)
    about = {
        "name": re.sub(r"[^a-z0-9]+", "-", form.title.lower()).strip("-") or "study",
        "instructions": form.instructions,
        "source": has_source(form),
        "questions": [
            {
                "name": name,
                "criterion": one.criterion,
                "title": one.text,
                "labels": {str(point): one.choice(point) for point in form.points},
            }
            for one, name in zip(form.questions, names, strict=True)
        ],
    }
    columns = {"worker": "user", **{name: name for name in ("slot", "batch", "order", "code")}}
    several = len(names) > 1
    return {
        "study.json": json_page(about),
        **{f"records/{slot}.json": _records(form, slot) for slot in form.slots},
        "datasets.py": filled("argilla_datasets.py.txt"),
        "answers.py": filled("argilla_answers.py.txt"),
        "mapping.toml": mapping_toml(
            "argilla",
            {"": "response"},
            {**columns, "criterion": "question"} if several else columns,
            keep_rows={"response_status": ["submitted"]},
        ),
        "README.md": readme(
            "Argilla",
            (
                "Say where your Argilla is and who you are: `export ARGILLA_API_URL=https://... "
                "ARGILLA_API_KEY=...` (of an owner).",
                "`pip install 'argilla>=2,<3'`, then `python datasets.py`: it makes a workspace and a dataset for "
                "each slot.",
                "Add to each workspace the annotator who fills the slot.",
                "When all is done, `python answers.py` writes answers.json.",
            ),
            exports="answers.json",
            notes=_NOTES,
        ),
    }


def _records(form: RatingForm, slot: str) -> str:
    above = has_source(form)
    return json_page(
        [
            {
                "id": one.key,
                **({"source": one.source or "-"} if above else {}),
                "text": one.text,
                "slot": one.slot,
                "batch": one.batch,
                "order": one.order,
                "code": one.code,
            }
            for one in form.of_slot(slot)
        ]
    )


ARGILLA = Uploader("argilla", _write)
