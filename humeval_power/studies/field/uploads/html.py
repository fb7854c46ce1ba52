"""A rating form as one page for each worker slot: it works offline and gives back a CSV.

The mapping that reads a platform's answers back, and the page that says what to do with its files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from humeval_power.safe_text import html_text, json_text, toml_text
from humeval_power.studies.field.form import Content, FormRow, Question, RatingForm, Uploader
from humeval_power.study import FIELDS


def question_names(form: RatingForm) -> tuple[str, ...]:
    """What a platform calls the questions: q1, q2, ..., whatever their criteria are called."""
    return tuple(f"q{number}" for number in range(1, len(form.questions) + 1))


def by_criterion(form: RatingForm, names: Sequence[str]) -> dict[str, str]:
    """The name of each question on a platform, by its criterion."""
    return {one.criterion: name for one, name in zip(form.questions, names, strict=True)}


def has_source(form: RatingForm) -> bool:
    """Whether something stands above any of the texts."""
    return any(one.source for one in form.shown)


def labels_in_words(question: Question) -> str:
    """The labels after a question, where a platform has no other place for them: ' (1 = bad, 5 = good)'."""
    said = ", ".join(f"{point} = {label}" for point, label in sorted(question.labels.items()))
    return f" ({said})" if said else ""


def mapping_toml(
    platform: str,
    ratings: Mapping[str, str],
    columns: Mapping[str, str],
    *,
    split: Mapping[str, str] | None = None,
    slots: Mapping[str, Mapping[str, str]] | None = None,
    words: Mapping[str, float] | None = None,
    drop_rows: Mapping[str, Sequence[str]] | None = None,
    keep_rows: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """A mapping as `import` reads it.

    ratings : the template of the columns of ratings, by criterion; of one alone the criterion is not named.
    columns : the column of each part of a rating: worker and code, slot and order as far as there are columns of
        them (a repeat has the code of what it repeats), seconds, and what else is known of the answer.
    split, slots : texts that hold several parts, and what is shown where no column says it.
    """
    lines = ['schema = "humeval_power/mapping/1"', f"platform = {toml_text(platform)}"]
    if len(ratings) == 1:
        lines.append(f"ratings = {toml_text(next(iter(ratings.values())))}")
    else:
        named = ", ".join(
            f"{toml_text(name, key=True)} = {toml_text(text)}" for name, text in ratings.items()
        )
        lines.append(f"ratings = {{ {named} }}")
    lines += ["", "[columns]", *(f"{part} = {toml_text(name)}" for part, name in columns.items())]
    if split:
        lines += [
            "",
            "[split]",
            *(f"{toml_text(name, key=True)} = {toml_text(text)}" for name, text in split.items()),
        ]
    for title, rows in (("keep_rows", keep_rows), ("drop_rows", drop_rows)):
        if rows:
            lines += ["", f"[{title}]"]
            lines += [
                f"{toml_text(name, key=True)} = [{', '.join(map(toml_text, values))}]"
                for name, values in rows.items()
            ]
    if words:
        lines += [
            "",
            "[words]",
            *(f"{toml_text(text, key=True)} = {number:g}" for text, number in words.items()),
        ]
    if slots:
        lines += [
            "",
            "[slots]",
            *(f"{toml_text(name, key=True)} = {_inline(parts)}" for name, parts in slots.items()),
        ]
    return "\n".join(lines) + "\n"


def _inline(parts: Mapping[str, str]) -> str:
    return f"{{ {', '.join(f'{name} = {toml_text(text)}' for name, text in parts.items())} }}"


def readme(title: str, steps: Sequence[str], *, exports: str, notes: Sequence[str] = ()) -> str:
    """The page beside the files: the steps in their order, how answers come back, and what to know.

    exports : the files that the platform gives back, as they are typed after `import`.
    """
    back = (
        f"Bring the answers back. On the page of the study: at Collect, as \u201c{FIELDS['exports'].label}\u201d, "
        f"all of them. In a terminal: `humeval-power import {exports} --map mapping.toml --assignment "
        "../assignment.csv --key KEY -o ratings.csv`, with the key that was written beside this folder."
    )
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate((*steps, back), start=1))
    said = "\n".join(f"- {note}" for note in notes)
    return f"# {title}\n\n{numbered}\n" + (f"\n{said}\n" if said else "")


_HOLE = re.compile("@([a-z_]+)@")  # of the page, filled in one go: what fills it is not looked at
_NOTES = (
    "A page asks nothing of the network: send it as a file, or put it on any web server. Nothing is sent "
    "either: the answers are what the worker downloads and gives you.",
    "Each page is the work of one slot. A link may say who the worker is: `@page@?worker=Ann`; Prolific's "
    "`?PROLIFIC_PID={{%PROLIFIC_PID%}}` and MTurk's `?workerId=...` work too. Else the page asks.",
    "Answers stay in the worker's browser until they are handed in, so that work can be stopped and taken up again "
    "in the same browser.",
    "Keys: a digit chooses that point of the scale, Enter goes on.",
)


def _write(form: RatingForm) -> Mapping[str, Content]:
    columns: tuple[str, ...] = ("worker", "slot", "batch", "order", "code", "kind", "seconds")
    if len(form.questions) > 1:
        columns = (*columns, "criterion")
    return {
        **{f"{slot}.html": _page(form, slot) for slot in form.slots},
        "mapping.toml": mapping_toml("table", {"": "rating"}, {name: name for name in columns}),
        "README.md": readme(
            "Rating form",
            (
                f"Give each worker one page, such as `{form.slots[0]}.html`.",
                "Each worker opens it in a browser, rates, downloads the answers at the end, and sends you "
                f"the file `answers-{form.slots[0]}-....csv`.",
            ),
            exports="answers-*.csv",
            notes=[note.replace("@page@", f"{form.slots[0]}.html") for note in _NOTES],
        ),
    }


def _page(form: RatingForm, slot: str) -> str:
    questions = [
        {
            "criterion": one.criterion,
            "text": one.text,
            "labels": {str(at): text for at, text in one.labels.items()},
        }
        for one in form.questions
    ]
    study = {
        "slot": slot,
        "title": form.title,
        "instructions": form.instructions,
        "low": form.points[0],
        "high": form.points[-1],
        "slider": form.is_slider,
        "questions": questions,
        "shown": [_shown(one) for one in form.of_slot(slot)],
    }
    content = json.dumps(study, ensure_ascii=False)
    # another study, or this one changed, does not go on with the answers of before
    known = {"id": hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16], **study}
    style, script = _part("form.css"), _part("form.js")
    parts = {
        "title": html_text(form.title),
        "style_digest": _digest(style),
        "script_digest": _digest(script),
        "style": style,
        "script": script,
        "study": json_text(json.dumps(known, ensure_ascii=False)).replace("<", "\\u003c"),
    }
    return _HOLE.sub(lambda hole: parts[hole[1]], _part("form.html"))


def _shown(one: FormRow) -> dict[str, str | int]:
    return {
        "batch": one.batch,
        "order": one.order,
        "code": one.code,
        "kind": one.kind,
        "source": one.source,
        "text": one.text,
    }


@cache
def _part(name: str) -> str:
    return files("humeval_power.studies.field.uploads").joinpath("page", name).read_text("utf-8")


def _digest(content: str) -> str:
    """What the page's policy knows a script or style by, so that nothing else in it runs."""
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


HTML = Uploader("html", _write, sliders=True)


# Files out of templates, and text for platforms that show HTML and fill in placeholders of their own.

_NO_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# What a placeholder is made of (${...}, {{...}}, [[...]]), what ends a line, characters of four bytes, which
# uploads refuse, and at the start what a spreadsheet would run.
_CODED = re.compile(r"[$`{}\[\]\t\n\r\x85\u2028\u2029\U00010000-\U0010ffff]|^[=+\-@]")


def web_text(text: str) -> str:
    """A text as HTML on one line, of characters of at most three bytes, in which no platform finds a placeholder.

    Line breaks stay as references: the element that holds it keeps white space. A character that HTML does not know
    is shown as the sign for it.
    """
    known = _NO_CHARACTERS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _CODED.sub(lambda match: f"&#{ord(match[0])};", escape(known))


def json_page(values: object) -> str:
    """Values as a JSON file that people can read too."""
    return json_text(json.dumps(values, ensure_ascii=False, indent=1)) + "\n"


def filled(name: str, **values: object) -> str:
    """A file of the folder of templates, filled in. What people wrote in it has been through `web_text`."""
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("humeval_power.studies.field.uploads"),
        autoescape=False,  # what people wrote comes as `web_text`, which escapes more than the engine does
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
