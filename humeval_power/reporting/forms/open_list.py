"""What is left to do in a form: every field that is open or has to be checked, with a hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from humeval_power.reporting.checklist_items import Checklist
from humeval_power.reporting.forms.fields import FormField
from humeval_power.reporting.forms.hints import Form, hint

REPORT_CHECK_SCHEMA = "humeval_power/report_check/1"
Mark = Literal["open", "check"]


@dataclass(frozen=True, slots=True)
class ToDo:
    """A field that needs its authors. 'check' has an answer that a person has to confirm."""

    field: str
    mark: Mark
    prompt: str
    hint: str
    criterion: str | None = None


@dataclass(frozen=True, slots=True)
class OpenList:
    """A form with what is left to do, in its order."""

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

    def record(self) -> dict[str, object]:
        """For --json."""
        return {
            "schema": REPORT_CHECK_SCHEMA,
            "form": self.form,
            "n_fields": self.n_fields,
            "n_filled": self.n_fields - len(self.to_do),
            "n_to_check": self.n_to_check,
            "n_open": self.n_open,
            "fields": [asdict(one) for one in self.to_do],
        }


def of_fields(form: Form, fields: Sequence[FormField]) -> OpenList:
    """What is left in a form."""
    return OpenList(
        form,
        len(fields),
        tuple(
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


def of_checklist(checklist: Checklist) -> OpenList:
    """What is left in the checklist of Card et al."""
    return OpenList(
        "card2020",
        len(checklist.items),
        tuple(
            ToDo(item.key, "open", item.question, item.advice or "")
            for item in checklist.items
            if item.state == "open"
        ),
    )
