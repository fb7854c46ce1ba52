"""What all sealed files have in common: their kind, their seal, and what was changed by hand since."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.json_text import parse_json
from humeval_power.reporting.plan.history import Amendment, Change
from humeval_power.reporting.plan.sealed.content import agree, amendment_record
from humeval_power.reporting.plan.sealed.seal import (
    LOOKS_SCHEMA,
    PLAN_SCHEMA,
    Values,
    chain_holds,
    changes,
    content_of,
    document_text,
    is_sealed,
    seal,
    value_at,
)

RESTORE = "Restore the file, for example from version control; --amend cannot accept this."
RECORDED = ("created", "versions")
_MOST_NAMED = 6  # changes named in an error
_WRITTEN_BY = {
    PLAN_SCHEMA: "humeval-power plan",
    LOOKS_SCHEMA: "humeval-power looks scores|preference|accuracy -o looks.json",
}
_FOLLOWED_BY = {
    PLAN_SCHEMA: "It is the plan of a rating study: name it where one is followed.",
    LOOKS_SCHEMA: "It is a plan of looks at independent judgements: follow it with 'monitor'.",
}


def schema_of(text: str, *, place: str) -> object:
    """The schema that a text names, None where it names none or is no object."""
    found = parse_json(text, place=place)
    return found.get("schema") if isinstance(found, dict) else None


def sealed_object(text: str, place: str, *, schema: str) -> Values:
    """The JSON object of a text, each name once, of the kind and version that is needed.

    Raises
    ------
    InputError
        Another file.
    """
    found = parse_json(text, place=place)
    stated = found.get("schema") if isinstance(found, dict) else None
    if stated != schema:
        shown = "no schema" if stated is None else f"the schema {stated!r}"
        rule = f"has {shown}; {schema!r} is needed."
        remedy = f"Write one with: {_WRITTEN_BY[schema]}"
        if isinstance(stated, str):
            remedy = _FOLLOWED_BY.get(stated, remedy)
        raise InputError([Problem(rule, remedy, place=place)])
    return dict(found)


def check_seal(values: Values, place: str) -> None:
    """Refuse a file of which it cannot be told what was sealed."""
    if not is_sealed(values):
        rule = (
            "its history, its checksum or its sealed copy was changed by hand, so that it cannot be told "
            "what was planned."
        )
        raise InputError([Problem(rule, RESTORE, place=place)])
    if not chain_holds(values["sealed"], values["history"]):
        raise InputError([Problem("its history does not lead to this plan.", RESTORE, place=place)])


def refuse_edits(values: Values, place: str) -> None:
    """Refuse a file that is not as it was sealed."""
    edits = changes(values["sealed"], content_of(values))
    if edits:
        raise InputError([_changed_by_hand(edits, place)])


def amended_text(
    values: Values,
    content: Values,
    reason: str,
    *,
    date: datetime.date,
    computed: Collection[str],
    place: str,
) -> str:
    """The text of a file that was changed by hand, with the changes in its history.

    values : the file as it is. content : what it says, with everything that is computed as it follows from that.
    computed : the paths of that. One of these may be left alone, or be what follows; nothing else.

    Raises
    ------
    InputError
        No reason, nothing changed, or a computed value or a record of the past that was set by hand.
    """
    if not reason.strip():
        raise InputError("An amendment needs a reason in words.")
    before, edited, problems = values["sealed"], content_of(values), []
    for path in (*computed, *RECORDED):
        stated = value_at(edited, path)
        if stated != value_at(before, path) and not agree(stated, value_at(content, path)):
            rule = "is a record of the past." if path in RECORDED else "is computed, not set."
            remedy = f"Put back {value_at(before, path)!r}."
            problems.append(Problem(rule, remedy, place, None, path, stated, True, "field"))
    if problems:
        raise InputError(problems)
    made = changes(before, content)
    if all(change.path in RECORDED for change in made):
        rule = "is as it was sealed: there is nothing to amend."
        raise InputError([Problem(rule, "Change the plan in the file first.", place=place)])
    amendment = Amendment(date, " ".join(reason.split()), values["checksum"], tuple(made))
    return document_text(seal(content, [*values["history"], amendment_record(amendment)]))


def _changed_by_hand(edits: Sequence[Change], place: str) -> Problem:
    named = "; ".join(map(str, edits[:_MOST_NAMED]))
    more = f"; and {len(edits) - _MOST_NAMED} more" if len(edits) > _MOST_NAMED else ""
    return Problem(
        f"was changed by hand after it was sealed: {named}{more}.",
        'Undo this, or accept it with --amend "reason", which adds it to the history of the plan.',
        place=place,
    )
