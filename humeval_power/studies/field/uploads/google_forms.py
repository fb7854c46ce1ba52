"""Google Forms: a script that makes a form for each worker slot, and gathers what was answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from humeval_power.checking.exports.mapping import literal
from humeval_power.studies.field.form import Content, FormRow, Question, RatingForm, Uploader
from humeval_power.studies.field.uploads.html import (
    by_criterion,
    filled,
    mapping_toml,
    question_names,
    readme,
)

# ScaleItem.setBounds takes a lower bound of 0 or 1 and an upper one from 3 to 10.
_LOWEST, _HIGHEST = (0, 1), range(3, 11)
_MOST_CHARACTERS = 1_000_000  # of texts in one script: a bound of ours, for an editor that has to hold it
_ID_TITLE = "Participant ID"
_TEXT_COLUMNS = ("Timestamp", "worker", "slot", "batch", "order", "code")


def google_forms_files(form: RatingForm) -> Mapping[str, Content]:
    """The files of a study: form.gs, or form-1.gs, ... where it is large; mapping.toml for the answers that they
    gather, mapping-one-form.toml for those that a form keeps itself, and README.md."""
    groups = _groups(form)
    names = (
        ["form.gs"] if len(groups) == 1 else [f"form-{number}.gs" for number in range(1, len(groups) + 1)]
    )
    scripts = {
        name: filled("form.gs", study=_script_text(_study(form, slots)), id_title=_ID_TITLE)
        for name, slots in zip(names, groups, strict=True)
    }
    return {
        **scripts,
        "mapping.toml": _mapping(form),
        "mapping-one-form.toml": _mapping_of_one(form),
        "README.md": _readme(form, names),
    }


def _groups(form: RatingForm) -> list[list[str]]:
    """The slots of each script: as many as its texts leave room for, one at least."""
    groups: list[list[str]] = [[]]
    held: set[tuple[str, str]] = set()
    size = 0
    for slot in form.slots:
        texts = {(one.source, one.text) for one in form.of_slot(slot)}
        more = _size(texts - held)
        if groups[-1] and size + more > _MOST_CHARACTERS:
            groups.append([])
            held, size, more = set(), 0, _size(texts)
        groups[-1].append(slot)
        held |= texts
        size += more
    return groups


def _size(texts: Iterable[tuple[str, str]]) -> int:
    return sum(len(_script_text(text)) for pair in texts for text in pair)


def _script_text(value: object) -> str:
    """A value as a literal of JavaScript in ASCII, that ends no element of a page either."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def _study(form: RatingForm, mine: Sequence[str]) -> dict[str, object]:
    """All that the script asks; a text that several workers see stands in it once."""
    names = by_criterion(form, question_names(form))
    texts: dict[tuple[str, str], int] = {}
    slots = [{"name": slot, "shown": [_place(one, texts) for one in form.of_slot(slot)]} for slot in mine]
    return {
        "title": _line(form.title),
        "instructions": form.instructions,
        "ask": _way_to_ask(form),
        "low": form.points[0],
        "high": form.points[-1],
        "points": [str(point) for point in form.points] if _way_to_ask(form) == "choice" else [],
        "header": [*_TEXT_COLUMNS, *names.values()],
        "questions": [_question(one, form, names[one.criterion]) for one in form.questions],
        "texts": [list(pair) for pair in texts],
        "slots": slots,
    }


def _place(one: FormRow, texts: dict[tuple[str, str], int]) -> dict[str, object]:
    text = texts.setdefault((one.source, one.text), len(texts))
    return {"batch": one.batch, "order": one.order, "code": one.code, "text": text}


def _question(one: Question, form: RatingForm, name: str) -> dict[str, str]:
    """A question with the labels of its ends, and all labels as help where another point has one too or none of
    the ends can carry it."""
    low, high = form.points[0], form.points[-1]
    ends = _way_to_ask(form) == "scale" and set(one.labels) <= {low, high}
    labels = "\n".join(f"{point}: {text}" for point, text in sorted(one.labels.items()))
    options = labels if labels or _way_to_ask(form) != "number" else f"{low} to {high}"
    return {
        "name": name,
        "text": _line(one.text),
        "low": one.labels.get(low, "") if ends else "",
        "high": one.labels.get(high, "") if ends else "",
        "help": "" if ends else options,
    }


def _way_to_ask(form: RatingForm) -> str:
    low, high = form.points[0], form.points[-1]
    if low in _LOWEST and high in _HIGHEST:
        return "scale"
    return "number" if form.is_slider else "choice"


def _line(text: str) -> str:
    """A title: it has one line."""
    return " ".join(text.split())


def _mapping(form: RatingForm) -> str:
    parts = ("worker", "slot", "batch", "order", "code")
    columns = {**{part: part for part in parts}, "timestamp": "Timestamp"}
    return mapping_toml("table", by_criterion(form, question_names(form)), columns)


def _mapping_of_one(form: RatingForm) -> str:
    """The mapping of the answers that Google's own export of a form has: the questions are its columns."""
    several = len(form.questions) > 1
    titles = {
        one.criterion: f"{literal(_line(one.text)).text} [{{slot}}{f' {name}' if several else ''}]"
        for one, name in zip(form.questions, question_names(form), strict=True)
    }
    columns = {"worker": _ID_TITLE, "timestamp": "Timestamp"}
    return mapping_toml("google-forms", titles, columns, split={"slot": "{slot}-{order}-{code}"})


def _readme(form: RatingForm, scripts: Sequence[str]) -> str:
    several = len(scripts) > 1
    project = (
        "a new project for each of form-1.gs, form-2.gs, ..., and put it"
        if several
        else "a new project, and put form.gs"
    )
    low, high = form.points[0], form.points[-1]
    ways = {
        "scale": "The answers are linear scales.",
        "choice": "The answers are choices, because Google's scales begin at 0 or 1 and end at 3 to 10.",
        "number": f"The answers are typed, and checked to lie between {low} and {high}, because Google's "
        "scales end at 10 and there are no sliders.",
    }
    return readme(
        "Google Forms",
        (
            f"Open script.google.com, make {project} in the place of its code. Where a recruiting "
            "platform asks for a completion code, write it at the top.",
            "Run `makeForms`, and allow it what it asks for: to make forms and a spreadsheet of yours. It "
            "stops before Google's limit of time; run it again until it says that all forms are made. "
            "Accounts have a limit of documents a day, too: then run it again on the next day.",
            "The spreadsheet that it names has a sheet `links`: give each worker the link of one slot."
            f" There are {len(form.slots):,}.",
            "When all is done, run `gatherAnswers` (again, until it says that it has all), and download "
            "its sheet `answers` as CSV.",
        ),
        exports="answers-1.csv answers-2.csv ..." if several else "answers.csv",
        notes=(ways[_way_to_ask(form)], *_NOTES),
    )


_NOTES = (
    "A form is one slot, and each output has a page. All answers are required. There is no time for each "
    "output.",
    "Google does not stop a person from filling two forms, or one form twice; `import` finds and says it. "
    "Workers type their id on the first page, and the link for Prolific fills it in.",
    "What a form exports by itself is read too, with mapping-one-form.toml, one file for each form. The "
    "codes stand in the titles of the questions.",
    "The script was run against a stand-in for Google's services, not in an account: make one form first, "
    "answer it, and import the answer.",
)

GOOGLE_FORMS = Uploader("google-forms", google_forms_files, sliders=True)
