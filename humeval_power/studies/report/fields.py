"""One field of a form, or item of a checklist: what it asks in our words, what is answered, and from what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from humeval_power.errors import InputError
from humeval_power.saying.document import Document, FieldState, FormLine, Paragraph, Section, Table
from humeval_power.saying.numbers import minus_of_numbers

State = Literal["filled", "suggested", "open"]
UNNAMED = "criterion"  # what a criterion without a name is called
GIVEN = "the [report] table"  # the source of what the authors say themselves


class Given(NamedTuple):
    """An answer and where it comes from; one that is not certain is a suggestion to be checked.

    options : the numbers of the form's options that the answer selects, none for a text.
    """

    text: str
    source: str
    is_certain: bool = True
    options: tuple[int, ...] = ()


def given(
    said: str | None, source: str, is_certain: bool = True, options: tuple[int, ...] = ()
) -> Given | None:
    """The answer, None where nothing is known."""
    return Given(said, source, is_certain, options) if said else None


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form.

    'filled' is known from `source`; 'suggested' follows from it but has to be checked by a person; 'open'
    only the authors can answer, and it has no answer. `key` is what the form calls the field, `number`
    what its readers call it, `prompt` our words for what it asks. `criterion` is the name of the criterion
    where a form asks once for each of them.
    """

    key: str
    number: str
    prompt: str
    state: State = "open"
    answer: str | None = None
    source: str | None = None
    options: tuple[int, ...] = ()
    criterion: str | None = None
    section: str = ""

    def __post_init__(self) -> None:
        is_answered = bool(self.answer and self.answer.strip())
        if is_answered != (self.state != "open") or is_answered != bool(self.source):
            raise InputError(
                f"Field {self.number} is {self.state}: an answer and its source belong to a field that is "
                "filled or suggested, and to no other."
            )


class FieldPrompt(NamedTuple):
    """What a form asks, before anything is answered.

    own : the names of the authors' texts that answer it. files : a word of `FILES` for what answers it too.
    answer : passages of a plan that do, '?' in front where they have to be checked. advice : while it is open.
    """

    key: str
    number: str
    prompt: str
    section: str = ""
    own: tuple[str, ...] = ()
    files: str = ""
    answer: str = ""
    advice: str = ""


FILES = {
    "fit": "an analysis, or the parameters of a fit",
    "power": "a plan, or its power",
    "analysis": "an analysis",
    "plan": "a plan",
    "": "",
}


@cache
def prompts(form: Literal["card2020", "arr", "aspredicted", "osf"]) -> tuple[FieldPrompt, ...]:
    """All that a form asks, in its order; the items of Card et al. (2020) are numbered by their keys."""
    lines = files(__package__).joinpath("forms.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return tuple(
        FieldPrompt(key, number, prompt, section, tuple(own.split()), of_files, answer, advice)
        for name, number, key, section, prompt, own, of_files, answer, advice in rows
        if name == form
    )


def fields_of(prompts: Iterable[FieldPrompt], answers: Mapping[str, Given | None]) -> tuple[FormField, ...]:
    """The fields in the order of the form, answered by number and open where there is no answer."""
    return tuple(field_of(question, answers.get(question.number)) for question in prompts)


def field_of(of: FieldPrompt, given: Given | None, *, criterion: str | None = None) -> FormField:
    """One field; open where nothing is given."""
    key, number, prompt, section = of[:4]
    if given is None or not given.text.strip():
        return FormField(key, number, prompt, criterion=criterion, section=section)
    state: State = "filled" if given.is_certain else "suggested"
    return FormField(
        key,
        number,
        prompt,
        state,
        minus_of_numbers(given.text),
        given.source,
        given.options,
        criterion,
        section,
    )


def open_fields(fields: Iterable[FormField]) -> tuple[FormField, ...]:
    """The fields that nobody has answered yet."""
    return tuple(field for field in fields if field.state == "open")


def score(fields: Iterable[FormField]) -> str:
    """'15 of 62 fields filled, 13 suggested, 34 open.'"""
    states = [field.state for field in fields]
    return (
        f"{states.count('filled')} of {len(states)} fields filled, {states.count('suggested')} suggested, "
        f"{states.count('open')} open."
    )


# A form as a document: a title, whose questions these are, and each field with its state.

STATES: dict[State, FieldState] = {"filled": "filled", "suggested": "check", "open": "open"}
LEGEND = (
    "Filled: known from the source named. Check: follows from it, to be checked by a person. Open: only the "
    "authors can answer it."
)


@dataclass(frozen=True, slots=True)
class FormPage:
    """A form with a title and a note on whose questions these are; `caveats` are to be read before all else."""

    title: str
    note: str
    fields: tuple[FormField, ...]
    caveats: tuple[str, ...] = ()

    @property
    def sections(self) -> dict[str, list[FormField]]:
        """The fields by the heading that they stand under: section, and criterion where there is one."""
        result: dict[str, list[FormField]] = {}
        for field in self.fields:
            is_named = field.criterion not in (None, UNNAMED)
            heading = f"{field.section}: {field.criterion}" if is_named else field.section
            result.setdefault(heading, []).append(field)
        return result

    def document(self) -> Document:
        """The form for people: how much of it is filled, and every field."""
        criteria = list(dict.fromkeys(field.criterion for field in self.fields if field.criterion))
        return Document(
            self.title,
            lead=f"{how_filled([STATES[field.state] for field in self.fields])} {self.note}".strip(),
            caveats=self.caveats,
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


def _shown(field: FormField, criteria: list[str]) -> FormLine:
    place = f".{criteria.index(field.criterion) + 1}" if field.criterion else ""
    return FormLine(
        f"{field.key}{place}",
        f"{field.number} {field.prompt}",
        STATES[field.state],
        answer=field.answer or "",
        source=field.source or "",
    )


# The items of the checklist, in the order of Card et al. (2020), section 6: a power analysis before a comparison;
# what others need to plan their own studies, and data and code; an analysis planned before the ratings come in; and
# a human evaluation that says how many workers rated how many items how often.


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One thing that a report should say.

    `state` is 'filled' where the documents give the whole answer. An open item may hold what is
    known so far in `answer`; `advice` says what to add. `source` names where an answer came from. Its key is its
    `number`; no item is of one criterion alone.
    """

    number: str
    section: str
    prompt: str
    state: Literal["filled", "open"]
    answer: str | None = None
    source: str | None = None
    advice: str | None = None
    table: Table | None = None
    criterion: None = None

    def field(self) -> FormLine:
        """The item as it is shown."""
        return FormLine(
            self.number,
            self.prompt,
            self.state,
            self.answer or "",
            self.source or "",
            self.advice or "",
            self.table,
        )


@dataclass(frozen=True, slots=True)
class Checklist:
    """All items in order, the caveats a reader must know, and where the numbers came from."""

    title: str
    items: tuple[ChecklistItem, ...]
    caveats: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]

    @property
    def n_open(self) -> int:
        """Number of items that only the authors can fill."""
        return sum(item.state == "open" for item in self.items)

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections in order."""
        return tuple(dict.fromkeys(item.section for item in self.items))
