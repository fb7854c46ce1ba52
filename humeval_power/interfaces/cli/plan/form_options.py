"""Options of what workers are shown and asked: outputs, questions, labels, checks, and where it is uploaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import DEFAULT_CRITERION, DEFAULT_QUESTION_TEXT, DEFAULT_TITLE, UploaderName
from humeval_power.interfaces.cli.options import Function, collected
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.checking.outputs import Outputs
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.reporting.field.form import Question
    from humeval_power.reporting.field.form_of import Asked


@dataclass(frozen=True, slots=True)
class FormOptions:
    """What was typed of the form; `outputs` are read."""

    outputs: Outputs
    platforms: tuple[str, ...]
    questions: tuple[Question, ...]
    labels: Mapping[int, str]
    check_texts: str | None
    title: str
    instructions: str | None
    scale: str | None

    def asked(self, planned: Plan | None) -> Asked:
        """What workers are told, asked and paid: on the scale and the criteria of the plan, at its prices; or as it
        was typed."""
        agreed = None if planned is None else planned.scale
        if agreed is not None and self.scale is not None:
            raise click.UsageError("The plan says this itself: leave out --scale.")
        if agreed is None and self.scale is None:
            raise click.UsageError("--upload needs the scale of the ratings: add --scale, such as 1:5.")
        from humeval_power.interfaces.formats.file_bytes import read_text
        from humeval_power.interfaces.formats.outputs import read_check_texts
        from humeval_power.reporting.field.form_of import DEFAULT_INSTRUCTIONS, Asked, questions_of

        scale = agreed or RatingScale.parse(self.scale or "")
        told = DEFAULT_INSTRUCTIONS if self.instructions is None else read_text(self.instructions).strip()
        checks = () if self.check_texts is None else read_check_texts(self.check_texts)
        costs = None if planned is None else planned.costs
        criteria = () if planned is None or planned.many is None else planned.many.criteria
        questions = questions_of(criteria, self.questions, self.labels)
        return Asked(scale, self.title, told, questions, checks, costs)


def _question(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """(criterion, text) of each --question."""
    found = []
    for text in texts:
        name, sign, asked = (part.strip() for part in text.partition("="))
        if not (name and sign and asked):
            raise click.BadParameter(
                f"write CRITERION=QUESTION, such as 'fluency=How fluent is this text?'; got {text!r}."
            )
        found.append((name, asked))
    return tuple(found)


def _labels(_ctx: click.Context, _option: click.Parameter, text: str | None) -> dict[int, str]:
    """The words for points of the scale."""
    found: dict[int, str] = {}
    for part in () if text is None else text.split(","):
        point, sign, label = (piece.strip() for piece in part.partition("="))
        if not (sign and label and point.removeprefix("-").isdecimal()):
            raise click.BadParameter(f"write POINT=WORDS,..., such as 1=bad,5=good; got {part.strip()!r}.")
        if int(point) in found:
            raise click.BadParameter(f"the point {point} has two labels.")
        found[int(point)] = label
    return found


_UPLOADERS: tuple[UploaderName, ...] = get_args(UploaderName)
_OPTIONS = (
    click.option(
        "--outputs",
        metavar="PATH",
        help="The texts to rate: a table with a column for each system, or with item, system and text; or a "
        "folder SYSTEM/ITEM.txt, or SYSTEM.txt with a line for each item.",
    ),
    click.option(
        "--upload",
        "platforms",
        multiple=True,
        type=click.Choice(_UPLOADERS),
        metavar="PLATFORM",
        help=f"Write into the folder -o what this platform takes: {', '.join(_UPLOADERS)}; "
        "repeatable. Prolific finds people only: name what shows the texts too. Needs --key, because workers see "
        "codes only.",
    ),
    click.option(
        "--question",
        "questions",
        multiple=True,
        metavar="CRITERION=TEXT",
        callback=_question,
        help=f"What is asked of each text; repeatable. [{DEFAULT_CRITERION}={DEFAULT_QUESTION_TEXT}]",
    ),
    click.option(
        "--labels",
        metavar="POINT=WORDS,...",
        callback=_labels,
        help="Words for points of the scale, such as 1=bad,5=good. [numbers alone]",
    ),
    click.option(
        "--scale",
        "form_scale",
        metavar="LOW:HIGH",
        help="Scale of the ratings, where no plan says it; 0:100 is a slider.",
    ),
    click.option(
        "--check-texts",
        metavar="FILE",
        help="Attention checks: a table with the columns text, right (the point it asks for) and perhaps source. "
        "['please choose 2', for each point]",
    ),
    click.option("--title", default=DEFAULT_TITLE, show_default=True, help="What the study is called."),
    click.option(
        "--instructions", metavar="FILE", help="What workers are told first. [a general sentence]"
    ),
)


def form_options(command: Function) -> Function:
    """Add the options of the form; the command gets `form`, None where nothing is to be uploaded."""
    return collected(command, _OPTIONS, name="form", collect=_collected)


def _collected(values: dict[str, Any]) -> FormOptions | None:
    outputs, platforms = values.pop("outputs"), values.pop("platforms")
    questions, labels = values.pop("questions"), values.pop("labels")
    check_texts, title = values.pop("check_texts"), values.pop("title")
    instructions, scale = values.pop("instructions"), values.pop("form_scale")
    if outputs is None and not platforms:
        typed = {
            "--question": questions,
            "--labels": labels,
            "--check-texts": check_texts,
            "--title": title if title != DEFAULT_TITLE else None,
            "--instructions": instructions,
            "--scale": scale,
        }
        given = [option for option, value in typed.items() if value]
        if given:
            raise click.UsageError(
                f"{', '.join(given)}: there is nothing to upload; add --outputs and --upload."
            )
        return None
    if outputs is None or not platforms:
        raise click.UsageError("--outputs PATH and --upload PLATFORM need each other.")
    from humeval_power.interfaces.formats.outputs import read_outputs
    from humeval_power.reporting.field.form import Question

    asked = tuple(Question(name, text, labels) for name, text in questions)
    return FormOptions(
        read_outputs(outputs), platforms, asked, labels, check_texts, title, instructions, scale
    )


def check_places(output: str | None, key: str | None) -> None:
    """See that there is a folder for what is uploaded, and another place for the key."""
    if key is None:
        raise click.UsageError(
            "--upload needs --key FILE: workers see codes, and only this file says what they stand for."
        )
    if output in (None, "-") or Path(output or "").suffix:
        raise click.UsageError("--upload writes a folder: add -o FOLDER, such as -o upload/.")
