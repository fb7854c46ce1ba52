"""The questions of HEDS 3.0 (Belz and Thomson 2024): their numbers and element ids, and our short prompts.

The form and its texts are at https://nlp-heds.github.io; they carry no licence and are not copied here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from importlib.resources import files
from itertools import chain, count
from typing import Any, Literal, NamedTuple

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError, Problem
from humeval_power.studies.report.fields import UNNAMED, FieldPrompt, FormField, Given, field_of

FORM_LINK = "https://nlp-heds.github.io"
CRITERIA_ID = "heds-criteria-criterion"
OTHER_TEXT = "-other_text"
LAST_STANDS_FIRST = ("2.4", "2.5")  # the form shows the option with the highest number, no language, first

Kind = Literal["radio", "check", "text", "integer"]
_KINDS: dict[str, Kind] = {"radio": "radio", "check": "check", "text": "text", "integer": "integer"}
SECTIONS = {
    "1": "Paper and resources",
    "2": "Systems",
    "3": "Outputs, workers and design",
    "4": "Criteria",
    "5": "Ethics",
}


class HedsQuestion(NamedTuple):
    """A question of the form. `n_options` is 0 for a text; options are numbered from 1."""

    number: str
    kind: Kind
    element_id: str
    n_options: int
    is_per_criterion: bool
    prompt: str
    own: str
    files: str

    @property
    def field_prompt(self) -> FieldPrompt:
        """The question as a field asks it."""
        own = (self.own,) if self.own else ()
        return FieldPrompt(
            self.element_id, self.number, self.prompt, SECTIONS[self.number[0]], own, self.files
        )

    @property
    def option_ids(self) -> tuple[str, ...]:
        """The element ids of the options by their numbers in the form, none for a text."""
        ids = [f"{self.element_id}-{place}" for place in range(1, self.n_options + 1)]
        if self.number in LAST_STANDS_FIRST:
            ids = [*ids[1:], ids[0]]
        return tuple(ids)


@cache
def heds_questions() -> tuple[HedsQuestion, ...]:
    """All 62 in the order of the form."""
    lines = files(__package__).joinpath("heds3.tsv").read_text(encoding="utf-8").splitlines()
    questions = []
    for line in lines[1:]:
        number, kind, element_id, n_options, per_criterion, *texts = line.split("\t")
        questions.append(
            HedsQuestion(number, _KINDS[kind], element_id, int(n_options), per_criterion == "yes", *texts)
        )
    return tuple(questions)


def question_of(number: str) -> HedsQuestion | None:
    """The question of a number, None where the form has none of it."""
    return next((one for one in heds_questions() if one.number == number), None)


# The options of closed questions of HEDS 3.0 in words of our own, and answers that choose among them.

_MOST_LISTED = 20  # options that a message or a comment names one by one
LANGUAGES = "languages in English, by the names of ISO 639-1, other, none"


class Chosen(NamedTuple):
    """Options of a question by number, from 1, and what the authors add in their own words."""

    options: tuple[int, ...]
    details: str = ""


@cache
def _words() -> dict[str, tuple[str, ...]]:
    lines = files(__package__).joinpath("heds3_options.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines[1:]]
    return {
        number.strip(): tuple(words.split("|")) for numbers, words in pairs for number in numbers.split(",")
    }


def words_of(question: HedsQuestion) -> tuple[str, ...]:
    """The options of a question in words, in the order of their numbers; none for a text."""
    return _words()[question.number] if question.n_options else ()


def options_listed(question: HedsQuestion) -> str:
    """All options of a question in one line; of languages only what they are."""
    words = words_of(question)
    return "; ".join(words) if len(words) <= _MOST_LISTED else LANGUAGES


def option_words(question: HedsQuestion, options: Sequence[int]) -> str:
    """'English, German.': an answer that is nothing but the options it chooses."""
    words = words_of(question)
    said = ", ".join(words[number - 1] for number in options)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def chosen_words(question: HedsQuestion, chosen: Chosen) -> tuple[str, ...]:
    """The words that read back as the same answer: the details stand behind the first option."""
    words = [words_of(question)[number - 1] for number in chosen.options]
    return (f"{words[0]}: {chosen.details}", *words[1:]) if chosen.details else tuple(words)


def read_choice(question: HedsQuestion, value: object) -> Chosen | str:
    """The options that an answer chooses; where it chooses none, a sentence that says what it must be.

    An option is its words, whatever their capitals, or its number; `words: details` adds a text of one's own.
    """
    parts = value if isinstance(value, list) else [value]
    options: list[int] = []
    details: list[str] = []
    for part in parts:
        option = _option(question, part)
        if isinstance(option, str):
            return option
        options.append(option.options[0])
        details += [option.details] if option.details else []
    if question.kind == "radio" and len(options) > 1:
        return f"takes one option. {_allowed(question)}"
    return Chosen(tuple(dict.fromkeys(options)), " ".join(details))


def _option(question: HedsQuestion, part: object) -> Chosen | str:
    words = [word.casefold() for word in words_of(question)]
    if isinstance(part, int) and not isinstance(part, bool):
        if 1 <= part <= len(words):
            return Chosen((part,))
        return f"has the options 1 to {len(words)}. {_allowed(question)}"
    if not isinstance(part, str):
        return _allowed(question)
    head, _, details = part.partition(":")
    said = " ".join(head.split()).casefold()
    if said in words:
        return Chosen((words.index(said) + 1,), details.strip())
    near = difflib.get_close_matches(said, words, n=2, cutoff=0.6)
    guess = " or ".join(repr(words_of(question)[words.index(word)]) for word in near)
    did = f"{shortened(head)!r} is no option; did you mean {guess}? " if near else ""
    return f"{did}{_allowed(question)}"


def _allowed(question: HedsQuestion) -> str:
    several = "one or several" if question.kind == "check" else "one"
    return f"Choose {several} of: {options_listed(question)}. Details follow a colon, as in 'other: ...'."


# HEDS fields in the JSON that the official web form saves and reads.

Elements = dict[str, Any]
Suggestions = Literal["marked", "left out"]
MARK = "[to be checked] "
_NOT_PLAIN = re.compile(r"[<>&|\"'`\\]|[^\S ]")


def heds_json(
    fields: Sequence[FormField],
    *,
    into: Mapping[str, Any] | None = None,
    criteria: Mapping[str, str] | None = None,
    suggestions: Suggestions = "marked",
) -> Elements:
    """The elements of the form by id, ready to be written as JSON and read by the form.

    into : what the form saved before; what is answered there is kept, whatever the fields say.
    criteria : other names for criteria, by the name in the fields. suggestions : suggested texts carry a
    mark in front, or are left out; an option that is only suggested is never chosen.

    Raises InputError: An `into` that is not a file of the form.
    """
    elements: Elements = deepcopy(dict(into or {}))
    _check_elements(elements)
    names, keys = criteria or {}, dict[str, str]()
    for name in dict.fromkeys(field.criterion for field in fields if field.criterion is not None):
        keys[name] = unlike(plain_name(names.get(name, name)), keys.values())
    if keys:
        _add_criteria(elements, keys.values())
    questions = {question.element_id: question for question in heds_questions()}
    for field in fields:
        question = questions.get(field.key)
        if question is None:
            raise InputError(f"{field.key!r} is not an element of HEDS 3.0.")
        key = "" if field.criterion is None else keys[field.criterion]
        if question.n_options:
            _add_options(elements, question, key, field)
        else:
            _add_text(elements, question.element_id, question.number, key, _text(field, suggestions))
    return elements


def plain_name(name: str) -> str:
    """A criterion's name that the form can show and find again: it writes names into its page as HTML."""
    return " ".join(_NOT_PLAIN.sub(" ", name).split()) or "criterion"


def unlike(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it where it is taken."""
    numbered = (f"{name} {number}" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def _add_criteria(elements: Elements, keys: Iterable[str]) -> None:
    """All criteria, exactly one of them the one that is shown."""
    element = elements.setdefault(CRITERIA_ID, {})
    for part in ("data", "control", "text"):
        element.setdefault(part, {})
    control = element["control"]
    for key in keys:
        control.setdefault(key, False)
    if sum(value is True for value in control.values()) != 1:
        shown = next((key for key, value in control.items() if value is True), next(iter(control)))
        for key in control:
            control[key] = key == shown


def _add_text(elements: Elements, element_id: str, number: str, key: str, text: str) -> None:
    if not text:
        return
    element = elements.setdefault(element_id, {})
    data = element.setdefault("data", {})
    element.setdefault("control", {})
    element.setdefault("number", number)
    if not str(data.get(key) or "").strip():
        data[key] = text


def _add_options(elements: Elements, question: HedsQuestion, key: str, field: FormField) -> None:
    """Every option, chosen or not; a group in which something is chosen already stays as it is."""
    if field.state != "filled":
        return
    if any(_value(elements, element_id, key) is True for element_id in question.option_ids):
        return
    for place, element_id in enumerate(question.option_ids, start=1):
        element = elements.setdefault(element_id, {})
        for part in ("data", "control", "text"):
            element.setdefault(part, {})
        element.setdefault("number", question.number)
        element["data"][key] = place in field.options
    chosen = option_words(question, field.options)
    details = (field.answer or "").removeprefix(chosen).strip()
    _add_text(elements, question.element_id + OTHER_TEXT, question.number, key, details)


def _text(field: FormField, suggestions: Suggestions) -> str:
    if field.state == "open" or field.answer is None:
        return ""
    if field.state == "filled":
        return field.answer
    return "" if suggestions == "left out" else MARK + field.answer


def _value(elements: Mapping[str, Any], element_id: str, key: str) -> object:
    return elements.get(element_id, {}).get("data", {}).get(key)


def _check_elements(elements: Elements) -> None:
    """Raise InputError where something is not an element of the form."""
    problems = []
    for name, element in elements.items():
        parts = (
            [element.get(part, {}) for part in ("data", "control", "text")] if _is_object(element) else []
        )
        if not parts or not all(map(_is_object, parts)):
            rule = "is not an element that the HEDS form saves."
            problems.append(Problem(rule, "Give the file that its download button wrote.", column=name))
    if problems:
        raise InputError(problems)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def fields_of_elements(elements: Mapping[str, Any]) -> tuple[FormField, ...]:
    """The fields of a file of the form as it was filled in, section 4 once for each of its criteria.

    A text that still carries the mark of a suggestion is one.

    Raises InputError: not a file of the form.
    """
    _check_elements(dict(elements))
    criteria = list(elements.get(CRITERIA_ID, {}).get("control", {})) or [UNNAMED]
    once = [question for question in heds_questions() if not question.is_per_criterion]
    per_criterion = [question for question in heds_questions() if question.is_per_criterion]
    before = [_read(elements, question, None) for question in once if question.number < "4"]
    within = [_read(elements, question, name) for name in criteria for question in per_criterion]
    return (
        *before,
        *within,
        *(_read(elements, question, None) for question in once if question.number > "4"),
    )


def _read(elements: Mapping[str, Any], question: HedsQuestion, criterion: str | None) -> FormField:
    key = criterion or ""
    chosen = tuple(
        place
        for place, element_id in enumerate(question.option_ids, start=1)
        if _value(elements, element_id, key) is True
    )
    ids = (question.element_id, question.element_id + OTHER_TEXT)
    texts = [str(_value(elements, element_id, key) or "").strip() for element_id in ids]
    said = " ".join([*([option_words(question, chosen)] if chosen else []), *filter(None, texts)])
    if question.n_options and not chosen:
        said = ""  # a description of an option that nobody chose
    is_certain = not any(text.startswith(MARK.strip()) for text in texts)
    given = Given(said.replace(MARK, ""), "the file of the form", is_certain, chosen)
    return field_of(question.field_prompt, given, criterion=criterion)
