"""What a worker will see first: the first task as the study has it now, before any form is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_INSTRUCTIONS, DEFAULT_TITLE
from humeval_power.doors.page.workspace.studies import (
    OpenedStudy,
    as_typed,
    criteria_of,
    question_about,
    usual_question,
)
from humeval_power.doors.page.workspace.written import is_within
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.doors.page.workspace.text_reading import TextsRead

_LONGEST = 20_000  # bytes of instructions that are shown
_FEWEST_LABELLED = 2  # points that need words for a rater to know which end is good


@dataclass(frozen=True, slots=True)
class Preview:
    """The first task of a worker.

    points : of the scale, with their words; of a slider its ends.
    usual : what nobody has said and stands there as usual, each with the field that says it otherwise.
    """

    title: str
    instructions: str
    above: str
    text: str
    questions: tuple[str, ...]
    points: tuple[str, ...]
    is_slider: bool
    usual: tuple[tuple[str, str], ...]


def preview_of(study: OpenedStudy, texts: TextsRead) -> Preview | None:
    """The first task that the forms of a study would show; None where its scale is none that workers can choose
    from, which the forms say themselves."""
    from humeval_power.errors import InputError
    from humeval_power.scales import RatingScale
    from humeval_power.studies.field.form import needs_slider

    values = study.file.values
    try:
        scale = RatingScale.parse(str(values["scale"]))
    except (KeyError, InputError):
        return None
    low, high = round(scale.low), round(scale.high)
    is_slider = needs_slider(scale)
    labels: Mapping[int, str] = FIELDS["labels"].kind.read(values["labels"]) if study.has("labels") else {}
    criteria, instructions = criteria_of(study), _instructions(study)
    unworded = [one for one in criteria if not question_about(study, one)]
    usual = [
        ("title", "the title") if not study.has("title") else None,
        ("instructions", "the instructions") if not instructions else None,
        ("ask-0", "the question" if len(criteria) == 1 else f"the questions about {', '.join(unworded)}")
        if unworded
        else None,
        ("labels", "no words for the points of the scale") if len(labels) < _FEWEST_LABELLED else None,
    ]
    return Preview(
        title=str(values.get("title") or DEFAULT_TITLE),
        instructions=instructions or DEFAULT_INSTRUCTIONS,
        above=texts.first[0],
        text=texts.first[1],
        questions=tuple(question_about(study, one) or usual_question(one) for one in criteria),
        points=tuple(
            f"{point} {labels.get(point, '')}".strip()
            for point in ((low, high) if is_slider else range(low, high + 1))
        ),
        is_slider=is_slider,
        usual=tuple(one for one in usual if one is not None),
    )


def _instructions(study: OpenedStudy) -> str:
    """What somebody wrote; "" where nobody did, or not in the folder of the study."""
    path = as_typed(study.file.values.get("instructions"))
    if not path or not is_within(study, path) or not (study.folder / path).is_file():
        return ""
    with (study.folder / path).open("rb") as file:
        return file.read(_LONGEST).decode(errors="replace").strip()
