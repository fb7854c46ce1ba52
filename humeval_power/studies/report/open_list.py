"""Where an open field of a form can be answered: a line of the configuration, a file, or the form itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from humeval_power.saying.document import Document, FormLine, Section
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.studies.report.answers_template import Place, key_text, places_of, prompt_of
from humeval_power.studies.report.fields import FILES, Checklist, FormField
from humeval_power.studies.report.heds.form import options_listed, question_of
from humeval_power.studies.report.result import Report

Form = Literal["heds", "arr", "aspredicted", "osf"]

_ITSELF = "Answer it in the form itself."


def hint(form: Form, field: FormField) -> str:
    """What to do about a field that is open or only suggested; nothing for one that is filled."""
    if field.state == "filled":
        return ""
    if field.state == "suggested":
        return f"Is this right? {field.answer}"
    files = FILES[prompt_of(form, field.number).files]
    said = [f"Give {files}."] if files else []
    lines = [_line(place) for place in places_of(form, field.number, field.criterion)]
    if lines:
        said.append(f"In your answers: {' and '.join(lines)}{_options(form, field)}")
    return " ".join(said) or _ITSELF


def _line(place: Place) -> str:
    """A line of TOML; its table comes first."""
    table = key_text(("report", *place[:-1]))
    return f'[{table}] {key_text(place[-1:])} = "..."'


def _options(form: Form, field: FormField) -> str:
    """The options of a question of HEDS that has some."""
    question = question_of(field.number) if form == "heds" else None
    is_closed = question is not None and places_of(form, field.number)[0][-1] == field.number
    return f", one of: {options_listed(question)}" if question and question.n_options and is_closed else ""


_MOST_SHOWN = 200  # characters of a suggested answer: enough to know it again, few enough to read them all
Mark = Literal["open", "check"]


@dataclass(frozen=True, slots=True)
class ToDo:
    """A field that needs its authors. 'check' has an answer that a person has to confirm."""

    field: str
    mark: Mark
    prompt: str
    hint: str
    criterion: str | None = None


@dataclass(frozen=True, kw_only=True)
class OpenList(Report):
    """A form with what is left to do, in its order."""

    schema: ClassVar[str] = "humeval_power/report_check/1"
    form: str
    n_fields: int
    to_do: tuple[ToDo, ...]

    @property
    def n_open(self) -> int:
        """Fields without an answer."""
        return sum(one.mark == "open" for one in self.to_do)

    @property
    def n_to_check(self) -> int:
        """Fields with an answer to be confirmed."""
        return len(self.to_do) - self.n_open

    @property
    def n_filled(self) -> int:
        """Fields that nothing is left to do for."""
        return self.n_fields - len(self.to_do)

    def body(self) -> Document:
        """Each field that is open or to be checked, with a hint."""
        fields = tuple(
            FormLine(
                f"{one.field}{'' if one.criterion is None else f'.{one.criterion}'}",
                f"{one.field} {one.prompt}{'' if one.criterion is None else f' ({one.criterion})'}",
                one.mark,
                advice=one.hint if len(one.hint) <= _MOST_SHOWN else f"{one.hint[: _MOST_SHOWN - 3]}...",
            )
            for one in self.to_do
        )
        return Document(
            f"Left to do: {self.form}",
            lead=f"{self.n_filled} of {self.n_fields} fields are filled, {self.n_to_check} to be checked, "
            f"{self.n_open} open.",
            sections=(Section("", fields),),
        )

    def content(self) -> Record:
        """The counts, and every field that is left, with its hint."""
        return {
            **values(self, "form", "n_fields", "n_filled", "n_to_check", "n_open"),
            "fields": [asdict(one) for one in self.to_do],
        }


def of_fields(form: Form, fields: Sequence[FormField], *, strict: bool = False) -> OpenList:
    """What is left in a form."""
    return OpenList(
        form=form,
        strict=strict,
        n_fields=len(fields),
        to_do=tuple(
            ToDo(
                field.number,
                "open" if field.state == "open" else "check",
                field.prompt,
                hint(form, field),
                field.criterion,
            )
            for field in fields
            if field.state != "filled"
        ),
    )


def of_checklist(checklist: Checklist, *, strict: bool = False) -> OpenList:
    """What is left in the checklist of Card et al."""
    return OpenList(
        form="card2020",
        strict=strict,
        n_fields=len(checklist.items),
        to_do=tuple(
            ToDo(item.number, "open", item.prompt, item.advice or "")
            for item in checklist.items
            if item.state == "open"
        ),
    )
