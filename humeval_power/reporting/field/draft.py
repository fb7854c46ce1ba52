"""A draft of a mapping: what an export tells by itself, and all that the person needs to say the rest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as MappingType
from dataclasses import replace

from humeval_power.checking.columns import shortened
from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import EXTRAS, Mapping
from humeval_power.checking.exports.rating_blocks import (
    answers_in_words,
    criteria_in_words,
    is_free_text,
    without_criteria,
)
from humeval_power.checking.exports.reshape import kept_rows
from humeval_power.checking.exports.templates import FIELDS, Template

MAPPING_SCHEMA = "humeval_power/mapping/1"
_MOST = 200  # columns that are listed
_FEW = 12  # different cells of a column that may say which rows count
_NEEDED = ("worker", "item", "system")


def draft_text(export: Export) -> str:
    """The TOML of a draft; lines that the person has to decide on are comments.

    Returns
    -------
    str
        A file that is read as the mapping once what is missing is said.
    """
    return "\n".join(_lines(export)) + "\n"


def _lines(export: Export) -> Iterator[str]:
    left = _free_text(export)
    if left:
        assert export.mapping is not None  # the criteria are its
        export = replace(export, mapping=without_criteria(export.mapping, left))
    mapping = export.mapping
    yield f"# Where the ratings stand in {_one_line(export.source)}. It is read as {export.platform}: {export.why}."
    yield "# Change what is wrong, say what is missing; lines with # are remarks, or off."
    yield "#"
    yield "# In names, {slot} stands for what only tells columns apart, and {worker}, {item}, {system},"
    yield "# {criterion} for a part of the rating itself; {value} for the rating, where a column is marked."
    yield ""
    yield f"schema = {json.dumps(MAPPING_SCHEMA)}"
    yield f"platform = {json.dumps(export.platform)}"
    yield from _ratings(mapping)
    if left:
        yield f"# Text, and no ratings: {', '.join(map(_one_line, left))}"
    yield "# Answers that are no rating, besides blank cells, and columns to take over as they are:"
    yield f"missing = {_listing([] if mapping is None else mapping.missing)}"
    yield f"keep = {_listing([] if mapping is None else mapping.keep)}"
    yield ""
    yield from _columns(mapping, export.told)
    yield ""
    yield from _errors(mapping)
    yield "# A text that holds several parts, such as s01__sysA:"
    split = {} if mapping is None else {name: one.text for name, one in mapping.split.items()}
    yield from _table("split", split, '# "item" = "{item}__{system}"')
    yield ""
    yield from _slots(export)
    yield from _words(export)
    yield from _conditions(export)
    yield "# Questions with one right answer; the table gets a row of the kind check for each answer:"
    yield from _table("checks", {} if mapping is None else mapping.checks, '# "Q9_check" = "2"')
    yield ""
    yield from _listed(export)


def _ratings(mapping: Mapping | None) -> Iterator[str]:
    if mapping is not None and mapping.errors is not None:
        return
    if mapping is None:
        yield '# ratings = ["Q{slot}"]   # the columns that hold ratings; or one for each criterion:'
        yield '# ratings = { adequacy = "Adequacy_{slot}", fluency = "Fluency_{slot}" }'
    elif all(one.criterion is None for one in mapping.ratings):
        yield f"ratings = {_listing([one.template.text for one in mapping.ratings])}"
    else:
        named = ", ".join(
            f"{_quoted(one.criterion or '')} = {_quoted(one.template.text)}" for one in mapping.ratings
        )
        yield f"ratings = {{ {named} }}"


def _errors(mapping: Mapping | None) -> Iterator[str]:
    """How errors are weighed, where rows are errors."""
    errors = None if mapping is None else mapping.errors
    if errors is None:
        return
    yield "# Rows are errors; a rating is minus the sum of their weights. Columns of the kind of an error:"
    yield "[errors]"
    yield f"category = {_quoted(errors.category)}"
    yield f"severity = {_quoted(errors.severity)}"
    yield "# category | severity, * for any; the first that fits counts:"
    yield "[errors.weights]"
    yield from (f"{_quoted(key)} = {weight:.12g}" for key, weight in errors.weights.items())
    yield ""


def _columns(mapping: Mapping | None, by_name: MappingType[str, Template]) -> Iterator[str]:
    """Where the parts of a rating stand; without a mapping as far as names of columns tell (by_name)."""
    yield "[columns]"
    known = by_name if mapping is None else mapping.columns
    told = {part: one.text for part, one in known.items()}
    named = set() if mapping is None else {part for one in mapping.ratings for part in one.template.parts}
    named |= set() if mapping is None else {part for one in mapping.split.values() for part in one.parts}
    coded = "code" in named or "code" in told
    for part in (*FIELDS, *EXTRAS):
        if part in told:
            yield f"{part} = {_quoted(told[part])}"
        elif part in _NEEDED and part not in named and not (coded and part != "worker"):
            yield f'# {part} = "..."   # needed, here or in another way'
        elif part == "code" and not coded and not {"item", "system"} & (set(told) | named):
            yield '# code = "..."   # in the place of item and system, where outputs were shown by codes'


def _slots(export: Export) -> Iterator[str]:
    """What each slot is, where the names of the columns do not tell."""
    mapping = export.mapping
    if mapping is None or not any("slot" in one.template.parts for one in mapping.ratings):
        return
    told = set(mapping.columns) | {part for one in mapping.split.values() for part in one.parts}
    if {"item", "system"} <= told or "code" in told:
        return
    slots: dict[str, str] = {}
    for one in mapping.ratings:
        for name in map(str, export.frame.columns):
            if (parts := one.template.match(name)) is not None:
                slots.setdefault(parts["slot"], export.asked.get(name, name))
    yield "# What was shown in each slot:"
    yield "[slots]"
    for slot, asked in slots.items():
        known = mapping.slots.get(slot, {"item": "...", "system": "..."})
        said = ", ".join(f"{part} = {_quoted(text)}" for part, text in known.items())
        off = "" if slot in mapping.slots else "# "
        yield f"{off}{_quoted(slot)} = {{ {said} }}   # {shortened(_one_line(asked), width=60)}"
    yield ""


def _words(export: Export) -> Iterator[str]:
    found = _answers_in_words(export)
    known = {} if export.mapping is None else export.mapping.words
    if not (found or known):
        return
    yield "# The number of each answer in words (how often it was given):"
    yield "[words]"
    for text, number in known.items():
        yield f"{_quoted(text)} = {number:.12g}"
    for text, times in found.items():
        if text not in known:
            yield f"# {_quoted(text)} =    # {times:,}"
    yield ""


def _answers_in_words(export: Export) -> MappingType[str, int]:
    """Answers that are no numbers, by how often they stand in the columns of ratings."""
    mapping = export.mapping
    if mapping is None:
        return {}
    kept, _ = kept_rows(export.frame, mapping, what="rows")
    found, _ = answers_in_words(export.frame.loc[kept], mapping, mapping.ratings)
    return dict(found.most_common())


def _free_text(export: Export) -> list[str]:
    """The criteria that are comments, where others are ratings."""
    if export.mapping is None:
        return []
    found = criteria_in_words(export.frame, export.mapping)
    return [name for name, words in found.items() if is_free_text(name, words)]


def _conditions(export: Export) -> Iterator[str]:
    """Columns that may say which rows count, with what stands in them."""
    where = () if export.mapping is None else export.mapping.where
    dropped, kept = (
        {one.column: one.values for one in where if one.drop is drop} for drop in (True, False)
    )
    if kept:
        yield "# Rows to keep, by what stands in a column; all others are left out:"
        yield "[keep_rows]"
        yield from (f"{_quoted(name)} = {_listing(values)}" for name, values in kept.items())
    yield "# Rows to leave out, by what stands in a column (or [keep_rows]: leave out all others):"
    yield "[drop_rows]"
    yield from (f"{_quoted(name)} = {_listing(values)}" for name, values in dropped.items())
    for name in map(str, export.frame.columns):
        bare = "".join(letter for letter in name.casefold() if letter.isalnum())
        if (
            name not in dropped
            and name not in kept
            and ("status" in bare or bare in ("finished", "approve", "reject", "type", "itemtype"))
        ):
            yield f"# {_quoted(name)} = [...]   # it holds {_counts(export, name)}"
    yield ""


def _counts(export: Export, name: str) -> str:
    counts = Counter(str(cell) for cell in export.frame[name].fillna(""))
    shown = ", ".join(
        f"{_one_line(text) or 'blank'} ({times:,})" for text, times in counts.most_common(_FEW)
    )
    return shortened(shown, width=200)


def _listed(export: Export) -> Iterator[str]:
    names = [str(name) for name in export.frame.columns]
    yield f"# All {len(names):,} columns{' (the first)' if len(names) > _MOST else ''}:"
    for name in names[:_MOST]:
        asked = export.asked.get(name)
        yield f"#   {_one_line(name)}" + (f"   ({shortened(_one_line(asked), width=70)})" if asked else "")


def _table(name: str, values: MappingType[str, str], otherwise: str) -> Iterator[str]:
    yield f"[{name}]"
    yield from (f"{_quoted(key)} = {_quoted(text)}" for key, text in values.items())
    if not values:
        yield otherwise


def _listing(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _one_line(text: str) -> str:
    """Text that stays inside a comment."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
