"""A form as a document: a title, whose questions these are, and each field with its state."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.reporting.document import Document, Field, FieldState, Paragraph, Section
from humeval_power.reporting.report.fields import FormField, State

STATES: dict[State, FieldState] = {"filled": "filled", "suggested": "check", "open": "open"}
LEGEND = (
    "Filled: known from the source named. Check: follows from it, to be checked by a person. Open: only the "
    "authors can answer it."
)


@dataclass(frozen=True, slots=True)
class FormPage:
    """A form with a title and a note on whose questions these are."""

    title: str
    note: str
    fields: tuple[FormField, ...]

    @property
    def sections(self) -> dict[str, list[FormField]]:
        """The fields by the heading that they stand under: section, and criterion where there is one."""
        found: dict[str, list[FormField]] = {}
        for field in self.fields:
            heading = field.section if field.criterion is None else f"{field.section}: {field.criterion}"
            found.setdefault(heading, []).append(field)
        return found

    def document(self) -> Document:
        """The form for people: how much of it is filled, and every field."""
        criteria = list(dict.fromkeys(field.criterion for field in self.fields if field.criterion))
        return Document(
            self.title,
            lead=f"{how_filled([STATES[field.state] for field in self.fields])} {self.note}".strip(),
            sections=(
                Section("", (Paragraph(LEGEND),)),
                *(
                    Section(heading, tuple(_shown(field, criteria) for field in fields))
                    for heading, fields in self.sections.items()
                ),
            ),
        )


def how_filled(states: list[FieldState]) -> str:
    """How many fields are in each state."""
    filled, check, left = (states.count(state) for state in ("filled", "check", "open"))
    to_check = f", {check} to be checked" if check else ""
    return f"{filled} of {len(states)} fields are filled{to_check}, {left} open."


def _shown(field: FormField, criteria: list[str]) -> Field:
    place = f".{criteria.index(field.criterion) + 1}" if field.criterion else ""
    return Field(
        f"{field.key}{place}",
        f"{field.number} {field.prompt}",
        STATES[field.state],
        answer=field.answer or "",
        source=field.source or "",
    )
