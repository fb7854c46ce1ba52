"""Label Studio: the interface, a file of tasks for each worker slot, and a script that makes the projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import quoteattr

from humeval_power.safe_text import visible
from humeval_power.studies.field.form import Content, FormRow, Question, RatingForm, Uploader
from humeval_power.studies.field.uploads.html import (
    by_criterion,
    filled,
    has_source,
    json_page,
    labels_in_words,
    mapping_toml,
    question_names,
    readme,
)

_NOTES = (
    "Label Studio's open edition gives no task to a chosen annotator: a project for each slot keeps the plan. Open "
    "each to the one annotator who fills the slot.",
    "Leave the order of tasks as it is (sequential): it is part of the plan.",
    "Skipped tasks are in the JSON as cancelled annotations; `import` leaves them out and counts them.",
    "The script uses the package label-studio-sdk (written for its versions 1 and 2); it was not run against a "
    "server. By hand: make a project, paste config.xml as its labeling interface, import tasks/SLOT.json.",
)


def _write(form: RatingForm) -> Mapping[str, Content]:
    names = question_names(form)
    columns = {"worker": "annotator", "seconds": "lead_time", "timestamp": "created_at"}
    columns |= {name: name for name in ("slot", "batch", "order", "code")}
    return {
        "config.xml": _config(form, names),
        **{f"tasks/{slot}.json": _tasks(form, slot) for slot in form.slots},
        "study.json": _study(form),
        "projects.py": filled("label_studio_projects.py.txt"),
        "mapping.toml": mapping_toml(
            "label-studio",
            by_criterion(form, names),
            columns,
            drop_rows={"was_cancelled": ["true"]},
        ),
        "README.md": readme(
            "Label Studio",
            (
                "Say where your Label Studio is and who you are: `export LABEL_STUDIO_URL=https://... "
                "LABEL_STUDIO_API_KEY=...`.",
                "`pip install label-studio-sdk`, then `python projects.py`: it makes a project for each slot, "
                f"such as '{form.slots[0]} {form.title}', with its tasks in their order.",
                "Give each project to the annotator who fills the slot.",
                "When all is done, export each project as JSON.",
            ),
            exports="w01.json w02.json ...",
            notes=_NOTES,
        ),
    }


def _config(form: RatingForm, names: tuple[str, ...]) -> str:
    """The labeling interface. A choice is shown with its label, and comes back as its number."""
    above = ['  <Text name="source" value="$source" valueType="text"/>'] if has_source(form) else []
    lines = [
        line
        for question, name in zip(form.questions, names, strict=True)
        for line in _question_lines(form, question, name)
    ]
    return "\n".join(
        ("<View>", *above, '  <Text name="text" value="$text" valueType="text"/>', *lines, "</View>", "")
    )


def _question_lines(form: RatingForm, question: Question, name: str) -> Iterator[str]:
    labels = labels_in_words(question) if form.is_slider else ""
    yield f"  <Header value={_attribute(question.text + labels)}/>"
    if form.is_slider:
        yield (
            f'  <Number name="{name}" toName="text" min="{form.points[0]}" max="{form.points[-1]}" step="1" '
            'slider="true" required="true"/>'
        )
        return
    yield f'  <Choices name="{name}" toName="text" choice="single-radio" showInline="true" required="true">'
    for point in form.points:
        shown = question.choice(point)
        yield (
            f'    <Choice value={_attribute(shown)} alias="{point}" hotkey="{point}"/>'
            if (len(form.questions) == 1 and 0 <= point <= 9)
            else f'    <Choice value={_attribute(shown)} alias="{point}"/>'
        )
    yield "  </Choices>"


def _attribute(text: str) -> str:
    """A value of the interface. A dollar sign would name a field of the task: a wide one looks the same."""
    return quoteattr(visible(text).replace("$", "\uff04"), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _tasks(form: RatingForm, slot: str) -> str:
    above = has_source(form)
    tasks = [{"data": _data(one, above=above)} for one in form.of_slot(slot)]
    return json_page(tasks)


def _data(one: FormRow, *, above: bool) -> dict[str, str | int]:
    """The fields of a task. What kind it is stays out: annotators may see them."""
    shown = {"source": one.source, "text": one.text} if above else {"text": one.text}
    return {**shown, "slot": one.slot, "batch": one.batch, "order": one.order, "code": one.code}


def _study(form: RatingForm) -> str:
    """What the script says of the study."""
    about = {"title": form.title, "instructions": form.instructions}
    return json_page(about)


LABEL_STUDIO = Uploader("label-studio", _write, sliders=True)
