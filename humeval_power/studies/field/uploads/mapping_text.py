"""The mapping that reads a platform's answers back, and the page that says what to do with its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humeval_power.safe_text import toml_text
from humeval_power.studies.field.form import Question, RatingForm
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
