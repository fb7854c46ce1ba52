"""Potato: its configuration, and a file of instances for each worker slot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from humeval_power.safe_text import json_text, toml_text
from humeval_power.studies.field.form import Content, RatingForm, Uploader
from humeval_power.studies.field.uploads.html import (
    by_criterion,
    has_source,
    labels_in_words,
    mapping_toml,
    question_names,
    readme,
)

_NOTES = (
    "Each slot is a batch of its own, its instances in the order of the plan. Whoever comes first gets the first "
    'slot that is free, and keeps it; to give slots to people you know, write `annotators: ["Ann"]` into a group '
    "and take `auto_assign_annotators` out.",
    "An instance is called by slot, order and code, such as `w01-003-X3F9C`: that is how `import` knows it.",
    "For Prolific, add to config.yaml `login: {type: url_direct, url_argument: PROLIFIC_PID}`; for MTurk workerId.",
    "Written by the documentation of Potato of August 2026 (batch assignment, radio, instance_display); it was not "
    "run against a server. Look at a text with `<` in it and at the order before workers do.",
    "The instructions stand in `annotation_task_description`; put them into your invitation too.",
)


def _write(form: RatingForm) -> Mapping[str, Content]:
    names = question_names(form)
    return {
        "config.yaml": "\n".join((*_config(form, names), "")),
        **{f"data/{slot}.jsonl": _instances(form, slot) for slot in form.slots},
        "mapping.toml": mapping_toml(
            "potato",
            by_criterion(form, names),
            {"worker": "user_id"},
            split={"instance_id": "{slot}-{order}-{code}"},
        ),
        "README.md": readme(
            "Potato",
            (
                "`pip install potato-annotation`.",
                "`potato start config.yaml -p 8000` in this folder, and give workers the address.",
                "Their answers are in `annotation_output/`, a folder for each worker.",
            ),
            exports="annotation_output/",
            notes=_NOTES,
        ),
    }


def _config(form: RatingForm, names: tuple[str, ...]) -> Iterator[str]:
    yield f"annotation_task_name: {toml_text(form.title)}"
    yield f"annotation_task_description: {toml_text(form.instructions)}"
    yield "task_dir: ."
    yield "output_annotation_dir: annotation_output"
    yield "data_files: []"
    yield "item_properties: {id_key: id, text_key: text}"
    yield "require_password: false"
    yield "user_config: {allow_all_users: true, users: []}"
    yield "instance_display:"
    yield "  fields:"
    if has_source(form):
        yield '    - {key: source, type: text, label: "Source"}'
    yield '    - {key: text, type: text, label: "Text to rate"}'
    yield "annotation_schemes:"
    for question, name in zip(form.questions, names, strict=True):
        yield "  - annotation_type: radio"
        yield f"    name: {name}"
        yield f"    description: {toml_text(f'{question.text}{labels_in_words(question)}')}"
        yield f"    labels: [{', '.join(toml_text(str(point)) for point in form.points)}]"
        yield "    horizontal: true"
        yield "    label_requirement: {required: true}"
    yield "assignment_strategy: batch"
    yield "num_annotators_per_item: 1"
    yield "max_annotations_per_item: 1"
    yield "batch_assignment:"
    yield "  auto_assign_annotators: true"
    yield "  groups:"
    for slot in form.slots:
        yield f"    - {{name: {toml_text(slot)}, data_file: {toml_text(f'data/{slot}.jsonl')}, max_annotators: 1}}"


def _instances(form: RatingForm, slot: str) -> str:
    above = has_source(form)
    lines = [
        {"id": one.key, **({"source": one.source} if above else {}), "text": one.text}
        for one in form.of_slot(slot)
    ]
    return "".join(json_text(json.dumps(line, ensure_ascii=False)) + "\n" for line in lines)


POTATO = Uploader("potato", _write)
