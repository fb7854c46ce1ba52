"""A template of answers as a result, and what is remembered from study to study."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from humeval_power.safe_text import one_line, toml_text
from humeval_power.saying.document import Document, Facts, Section, Table
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result, versions
from humeval_power.studies.report.config import HINTS, REMEMBERED, HedsAnswer, ReportConfig
from humeval_power.studies.report.fields import (
    FILES,
    UNNAMED,
    ChecklistItem,
    FieldPrompt,
    FormField,
    State,
    prompts,
)
from humeval_power.studies.report.heds.form import (
    SECTIONS,
    Chosen,
    HedsQuestion,
    chosen_words,
    heds_questions,
    options_listed,
    question_of,
)
from humeval_power.studies.report.result import Report

# Where the answer to a field of a form is written: the name of a text, or the number of a HEDS question.

AnsweredForm = Literal["heds", "arr", "card2020", "aspredicted", "osf"]
Place = tuple[str, ...]  # the names that lead to an answer below [report]: ("heds", "2.1")


def places_of(form: AnsweredForm, number: str, criterion: str | None = None) -> tuple[Place, ...]:
    """Where a field is answered; nowhere, where only the files of a study answer it.

    criterion : the name of the criterion that the field is asked for.
    """
    own = prompt_of(form, number).own
    if form == "heds" and criterion is not None:
        return (("criteria", criterion, *(own or (number,))),)
    if own:
        return tuple(tuple(name.split(".")) for name in own)
    if form == "card2020" and number == "criterion" and criterion is not None:
        return (("criteria", criterion, "definition"),)
    return (("heds", number),) if form == "heds" else ()


def prompt_of(form: AnsweredForm, number: str) -> FieldPrompt:
    """What the form asks under a number."""
    asked = (one.field_prompt for one in heds_questions()) if form == "heds" else prompts(form)
    return next(one for one in asked if one.number == number)


def key_text(place: Place) -> str:
    """The key as TOML, such as heds."2.1"."""
    return ".".join(toml_text(name, key=not name[:1].isdigit()) for name in place)


# Everything that the forms of a study ask its authors, each answer once, with what is known of it.

FORM_NAMES: dict[AnsweredForm, str] = {
    "heds": "HEDS",
    "arr": "ARR",
    "card2020": "Card et al.",
    "aspredicted": "AsPredicted",
    "osf": "OSF",
}
Value = str | bool | tuple[str, ...]  # a text, that there is none, or options in words


@dataclass(frozen=True, slots=True)
class FilledField:
    """One field that the answer fills: what its form calls it, and what the files of the study say of it."""

    form: AnsweredForm
    number: str
    prompt: str
    section: str
    state: State
    known: str = ""
    source: str = ""
    criterion: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """An answer of the authors and every field that it fills; a field that only files fill has no place.

    value : what they have said already. is_wanted : a field without it is open, or to be confirmed.
    remembered : what they said of an earlier study, empty where they said nothing.
    """

    place: Place
    questions: tuple[FilledField, ...]
    value: Value | None = None
    remembered: str = ""

    @property
    def is_open(self) -> bool:
        """Whether some field stays open without this answer."""
        return any(one.state == "open" for one in self.questions)

    @property
    def is_wanted(self) -> bool:
        """Whether the authors have something to say or to confirm."""
        return any(one.state != "filled" for one in self.questions)

    @property
    def known(self) -> tuple[FilledField, ...]:
        """What the files say, each text once."""
        said = {one.known: one for one in self.questions if one.known}
        return tuple(said.values())

    @property
    def question(self) -> HedsQuestion | None:
        """The question of HEDS that is asked, None where none is."""
        number = next((one.number for one in self.questions if one.form == "heds"), "")
        return question_of(number)

    @property
    def closed(self) -> HedsQuestion | None:
        """The question, where the answer itself chooses among its options."""
        question = self.question
        is_number = question is not None and self.place[-1:] == (question.number,)
        return question if question is not None and question.n_options and is_number else None

    @property
    def hint(self) -> str:
        """What the answer should say, or which files say it; empty where the question says all."""
        question, closed = self.question, self.closed
        if closed is not None:
            several = "one or several" if closed.kind == "check" else "one"
            return f"{several} of: {options_listed(closed)}"
        name = ".".join(self.place) if self.place[:1] != ("criteria",) else self.place[-1]
        by_form = (FILES[prompt_of(one.form, one.number).files] for one in self.questions)
        files = next(filter(None, by_form), "")
        said = HINTS.get(name) or (f"answered by {files}" if files else "")
        if question is not None and question.n_options:
            said += f'; or heds."{question.number}" = one of: {options_listed(question)}'
        return said


def questions_of(
    form: AnsweredForm, fields: Iterable[FormField | ChecklistItem], criterion: str | None = None
) -> list[FilledField]:
    """The fields of a form as they are filled from the files of a study alone.

    criterion : that of a checklist, whose item on the criterion is asked once for each of them.
    """
    return [
        FilledField(
            form,
            one.number,
            one.prompt,
            one.section,
            one.state,
            one.answer or "",
            one.source or "",
            criterion if one.number == "criterion" else one.criterion,
        )
        for one in fields
    ]


def entries(
    questions: Sequence[FilledField], answers: ReportConfig, memory: ReportConfig
) -> tuple[AnswerEntry, ...]:
    """An entry for each answer in the order of the forms, then those that nothing here asks for."""
    by_place: dict[Place, list[FilledField]] = {}
    without: dict[tuple[str, str], AnswerEntry] = {}
    for one in questions:
        places = places_of(one.form, one.number, one.criterion)
        for place in places:
            by_place.setdefault(place, []).append(one)
        if not places and one.state == "open":
            without.setdefault((one.form, one.number), AnswerEntry((), (one,)))
    said = values_of(answers)
    held = values_of(memory)
    result = [
        AnswerEntry(place, tuple(fields), said.get(place), str(held.get(place, "")))
        for place, fields in by_place.items()
    ]
    kept = [AnswerEntry(place, (), value) for place, value in said.items() if place not in by_place]
    return (*result, *without.values(), *kept)


def values_of(config: ReportConfig) -> dict[Place, Value]:
    """All answers by their place, options in words."""
    values: dict[Place, Value] = {tuple(name.split(".")): text for name, text in config.texts.items()}
    if config.preregistration is not None:
        values[("preregistration",)] = config.preregistration
    questions = {one.number: one for one in heds_questions()}
    tables: dict[Place, Mapping[str, HedsAnswer]] = {("heds",): config.heds}
    tables.update((("criteria", name), one) for name, one in config.criteria.items())
    for table, of_table in tables.items():
        for number, answer in of_table.items():
            chosen = chosen_words(questions[number], answer) if isinstance(answer, Chosen) else answer
            values[(*table, number)] = chosen
    return values


# The template as text: TOML with every open field, its question, a hint, its options, and what is known.

_WIDTH = 98
_MOST_SHOWN = 300  # characters of what the files say: enough to know it again
_HEAD = (
    "Answers for the forms of one study. Write between the quotation marks; what stays empty stays open. "
    "A longer text goes between three quotation marks on each side. Of options, write the words, such as "
    '"yes" or ["English", "German"]; details follow a colon, as in "other: on paper".',
    "Lines that begin with # are for readers alone: 'known' comes from the files of the study, 'suggested' "
    "has to be confirmed by writing it, 'remembered' is used where you write nothing.",
)
_CRITERIA = "Criteria"
_NO_PLACE = "Only files of the study answer these"
_NOT_THERE = ", which no file given here has: rename it or delete it"
_KEPT = "Kept from before; nothing that was asked for now needs it"


def template_text(entries: Sequence[AnswerEntry], *, made_by: str) -> str:
    """The file; `made_by` is the program and its version."""
    shown = [entry for entry in entries if entry.place and (entry.questions or entry.value is not None)]
    per_criterion = [entry for entry in shown if entry.place[0] == "criteria"]
    once = [entry for entry in shown if entry.place[0] != "criteria"]
    without = [entry for entry in entries if not entry.place]
    lines = [*_comment(*_HEAD), *_comment(f"Written by {made_by}."), "", "[report]"]
    for title, part in _by_section(once).items():
        lines += ["", *_title(title)]
        for entry in part:
            lines += _entry(entry, entry.place)
    if without:
        lines += ["", *_title(_NO_PLACE)]
        for entry in without:
            lines += _comment(": ".join(filter(None, (_heading(entry), entry.hint))))
    for name in dict.fromkeys(entry.place[1] for entry in per_criterion):
        is_asked = any(entry.questions for entry in per_criterion if entry.place[1] == name)
        title = f"{_CRITERIA}: {one_line(name)}{'' if is_asked else _NOT_THERE}"
        lines += ["", *_title(title), f"[report.{key_text(('criteria', name))}]"]
        for entry in per_criterion:
            if entry.place[1] == name:
                lines += _entry(entry, entry.place[2:])
    return "\n".join(lines) + "\n"


def _by_section(entries: Sequence[AnswerEntry]) -> dict[str, list[AnswerEntry]]:
    """The entries under the section of the first form that asks for them; what nothing asks for comes last."""
    parts: dict[str, list[AnswerEntry]] = {}
    for entry in entries:
        parts.setdefault(section_of(entry), []).append(entry)
    kept = parts.pop(_KEPT, None)
    return parts if kept is None else {**parts, _KEPT: kept}


def section_of(entry: AnswerEntry) -> str:
    """The heading an entry stands under."""
    if not entry.questions:
        return _KEPT
    first = entry.questions[0]
    if first.form == "heds":
        number = first.number[0]
        return f"HEDS {number}: {SECTIONS[number]}"
    return ": ".join(filter(None, (FORM_NAMES[first.form], first.section)))


def _title(text: str) -> list[str]:
    return [f"# ---- {text} {'-' * max(4, _WIDTH - 8 - len(text))}"]


def _entry(entry: AnswerEntry, place: Place) -> Iterator[str]:
    yield ""
    if entry.questions:
        yield from _comment(_heading(entry))
    known = [f"{_cut(one.known)} ({one.source})" for one in entry.known]
    if entry.questions and not entry.is_wanted and entry.value is None:
        yield from _comment(f"known: {known[0]}" if known else "known", indent="  ")
        yield from _comment(f"to say otherwise: {key_text(place)} = {_empty(entry)}", indent="  ")
        return
    if entry.hint:
        yield from _comment(entry.hint, indent="  ")
    if known:
        word = "known in part" if entry.is_open else "suggested"
        yield from _comment(f"{word}: {'; '.join(known)}", indent="  ")
    if entry.remembered and entry.value is None:
        yield from _comment(f"remembered: {_cut(entry.remembered)}", indent="  ")
    yield f"{key_text(place)} = {_empty(entry) if entry.value is None else value_text(entry.value)}"


def _heading(entry: AnswerEntry) -> str:
    """'Recruitment (HEDS 3.2.3, ARR D2)': the first question in words, and every field that it fills."""
    fields = [f"{FORM_NAMES[one.form]} {one.number}" for one in entry.questions]
    return f"{entry.questions[0].prompt} ({', '.join(dict.fromkeys(fields))})"


def _empty(entry: AnswerEntry) -> str:
    question = entry.closed
    return "[]" if question is not None and question.kind == "check" else '""'


def value_text(value: Value) -> str:
    """An answer as TOML that reads back as the same answer."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _long(value) if "\n" in value else toml_text(value)
    words = [toml_text(word) for word in value]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"


def _long(text: str) -> str:
    """A text of several lines, each on a line of its own."""
    return '"""\n' + "\n".join(toml_text(line)[1:-1] for line in text.split("\n")) + '"""'


def _comment(*paragraphs: str, indent: str = "") -> list[str]:
    return [
        line
        for text in paragraphs
        for line in textwrap.wrap(
            one_line(text),
            _WIDTH,
            initial_indent=f"# {indent}",
            subsequent_indent=f"# {indent}{'  ' if indent else ''}",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 3]}..."


@dataclass(frozen=True, kw_only=True)
class AnswersTemplate(Report):
    """What the forms of a study still ask its authors; `text` is the file that they fill in."""

    schema: ClassVar[str] = "humeval_power/report_template/1"
    endings: ClassVar[tuple[str, ...]] = (".toml",)
    entries: tuple[AnswerEntry, ...]

    @property
    def n_open(self) -> int:
        """Answers without which some field stays open."""
        return sum(bool(entry.place) and entry.is_open and entry.value is None for entry in self.entries)

    @property
    def n_need_files(self) -> int:
        """Open fields that no answer fills, but a file of the study does."""
        return sum(not entry.place for entry in self.entries)

    @property
    def n_answered(self) -> int:
        """Answers that were there already; all of them are in the file."""
        return sum(entry.value is not None for entry in self.entries)

    @property
    def text(self) -> str:
        """The file in TOML."""
        made_by = f"humeval-power {versions()['humeval-power']}"
        return template_text(self.entries, made_by=made_by)

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The file."""
        return self.text

    def body(self) -> Document:
        """How much each section still asks."""
        rows: dict[str, list[AnswerEntry]] = {}
        for entry in self.entries:
            if entry.place:
                title = section_of(entry)
                if entry.place[0] == "criteria":
                    title = "Criterion" if entry.place[1] == UNNAMED else f"Criterion {entry.place[1]}"
                rows.setdefault(title, []).append(entry)
        table = Table(
            ("section", "open", "to confirm", "known", "answered"),
            tuple((title, *map(str, _counts(part))) for title, part in rows.items()),
        )
        return Document(
            "Answers to fill in",
            lead=f"{self.n_open} answers are open, {self.n_answered} are there already and kept; "
            f"{self.n_need_files} more fields need files of the study.",
            sections=(Section("", (table,)),),
        )

    def content(self) -> Record:
        """The counts, and every answer with what is known of it."""
        return {
            "n_open": self.n_open,
            "n_answered": self.n_answered,
            "n_need_files": self.n_need_files,
            "rows": [
                {
                    "key": key_text(entry.place) or None,
                    "section": section_of(entry),
                    "prompt": entry.questions[0].prompt if entry.questions else None,
                    "fields": [f"{one.form} {one.number}" for one in entry.questions],
                    "hint": entry.hint or None,
                    "is_open": entry.is_open,
                    "value": list(entry.value) if isinstance(entry.value, tuple) else entry.value,
                    "known": [one.known for one in entry.known],
                    "remembered": entry.remembered or None,
                }
                for entry in self.entries
            ],
        }


def _counts(part: list[AnswerEntry]) -> tuple[int, int, int, int]:
    """Open, to be confirmed, known from files, answered."""
    unanswered = [entry for entry in part if entry.value is None]
    n_open = sum(entry.is_open for entry in unanswered)
    n_wanted = sum(entry.is_wanted for entry in unanswered)
    return n_open, n_wanted - n_open, len(unanswered) - n_wanted, len(part) - len(unanswered)


# Answers that are the same in every study of a team, as a result and as a file.

_HEAD_REMEMBERED = (
    "# Answers that are the same in every study. An answer of a study's own file comes before them.\n"
)


@dataclass(frozen=True, kw_only=True)
class RememberedAnswers(Result):
    """What is remembered: `texts` by name; `new` and `dropped` are the names that this has changed."""

    schema: ClassVar[str] = "humeval_power/remembered/1"
    texts: Mapping[str, str]
    new: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def config(self) -> ReportConfig:
        """The answers, to be read by forms."""
        return ReportConfig(self.texts)

    @property
    def text(self) -> str:
        """The file in TOML."""
        lines = [
            f"{key_text(tuple(name.split('.')))} = {value_text(said)}" for name, said in self.texts.items()
        ]
        return "\n".join([f"{_HEAD_REMEMBERED}\n[report]", *lines, ""])

    def body(self) -> Document:
        """Every answer."""
        facts = Facts(tuple(self.texts.items()))
        lead = (
            "Used in forms where the answers of a study say nothing."
            if self.texts
            else f"Nothing is remembered yet. What can be remembered: {', '.join(REMEMBERED)}."
        )
        return Document(
            "Remembered answers", lead=lead, sections=(Section("", (facts,)),) if self.texts else ()
        )

    def content(self) -> Record:
        """Every answer, by name."""
        return {
            "rows": [{"key": name, "value": said} for name, said in self.texts.items()],
            "new": list(self.new),
            "dropped": list(self.dropped),
        }
