"""Argilla 2: records of each worker slot, and scripts that make the datasets and fetch what was answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from humeval_power.reporting.field.form import Content, RatingForm, Uploader
from humeval_power.reporting.field.uploads.mapping_text import (
    has_source,
    mapping_toml,
    question_names,
    readme,
)
from humeval_power.safe_text import json_text

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
                "labels": {str(point): _label(point, one.labels.get(point)) for point in form.points},
            }
            for one, name in zip(form.questions, names, strict=True)
        ],
    }
    columns = {"worker": "user", **{name: name for name in ("slot", "batch", "order", "code")}}
    several = len(names) > 1
    return {
        "study.json": _json(about),
        **{f"records/{slot}.json": _records(form, slot) for slot in form.slots},
        "datasets.py": _MAKE,
        "answers.py": _FETCH,
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


def _label(point: int, label: str | None) -> str:
    return str(point) if label is None else f"{point} = {label}"


def _records(form: RatingForm, slot: str) -> str:
    above = has_source(form)
    return _json(
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


def _json(values: object) -> str:
    return json_text(json.dumps(values, ensure_ascii=False, indent=1)) + "\n"


_CLIENT = """
import json
import os
from pathlib import Path

import argilla as rg

here = Path(__file__).parent
study = json.loads((here / "study.json").read_text(encoding="utf-8"))
client = rg.Argilla(api_url=os.environ["ARGILLA_API_URL"], api_key=os.environ["ARGILLA_API_KEY"])
"""

_MAKE = f'''"""Make an Argilla workspace and dataset for each worker slot; run it once."""
{_CLIENT}
for path in sorted((here / "records").glob("*.json")):
    name = f"{{study['name']}}-{{path.stem}}"
    workspace = rg.Workspace(name=name, client=client).create()
    settings = rg.Settings(
        guidelines=study["instructions"],
        fields=[
            *([rg.TextField(name="source", title="Source")] if study["source"] else []),
            rg.TextField(name="text", title="Text to rate"),
        ],
        questions=[
            rg.LabelQuestion(name=one["name"], title=one["title"], labels=one["labels"])
            for one in study["questions"]
        ],
        metadata=[
            rg.TermsMetadataProperty(name="slot", client=client),
            rg.IntegerMetadataProperty(name="batch", client=client),
            rg.IntegerMetadataProperty(name="order", client=client),
            rg.TermsMetadataProperty(name="code", client=client),
        ],
        distribution=rg.TaskDistribution(min_submitted=1),
    )
    dataset = rg.Dataset(name=name, workspace=workspace, settings=settings, client=client).create()
    dataset.records.log(json.loads(path.read_text(encoding="utf-8")))
    print("made", name)
'''

_FETCH = f'''"""Fetch the answers of all worker slots into answers.json."""
{_CLIENT}
criteria = {{one["name"]: one["criterion"] for one in study["questions"]}}


def named(key):
    """A question by its criterion: q1.responses becomes adequacy.responses."""
    question, dot, rest = key.partition(".")
    return f"{{criteria[question]}}.{{rest}}" if dot and question in criteria else key


answers = []
for path in sorted((here / "records").glob("*.json")):
    name = f"{{study['name']}}-{{path.stem}}"
    dataset = client.datasets(name=name, workspace=client.workspaces(name))
    records = dataset.records.to_list(flatten=True)
    answers += [{{named(key): value for key, value in record.items()}} for record in records]
(here / "answers.json").write_text(json.dumps(answers, ensure_ascii=False, default=str), encoding="utf-8")
print(len(answers), "records")
'''

ARGILLA = Uploader("argilla", "Argilla", _write)
