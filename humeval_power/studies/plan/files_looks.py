"""looks.json: read a plan of looks at independent judgements only if it is as it was sealed, and amend it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from pathlib import Path

from humeval_power.files.file_bytes import read_text
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.plan.files import (
    PlanFile,
    amended_text,
    check_seal,
    parse_plan,
    refuse_edits,
    schema_of,
    sealed_object,
)
from humeval_power.studies.plan.plan import Amendment
from humeval_power.studies.plan.sealed_content import LOOKS_SCHEMA, as_values
from humeval_power.studies.plan.sealed_schema import (
    LOOKS_COMPUTED,
    check_looks,
    plain_looks,
    validated_looks,
)


@dataclass(frozen=True, slots=True)
class LooksFile:
    """A plan of looks as its file has it: with the date it was made, its amendments and its checksum."""

    plan: JudgementPlan
    created: datetime.date
    history: tuple[Amendment, ...]
    checksum: str


def read_followed(path: str | Path) -> PlanFile | LooksFile:
    """The plan that a study is monitored by, of either kind; refuses what was changed since it was sealed.
    Raises InputError: a file that cannot be read, is no plan, has impossible values, or was changed by
    hand."""
    text, place = read_text(path), str(path)
    if schema_of(text, place=place) == LOOKS_SCHEMA:
        return parse_looks(text, place=place)
    return parse_plan(text, place=place)


def read_judgement_plan(path: str | Path) -> JudgementPlan:
    """The plan of looks at independent judgements in a file that is as it was sealed.

    Raises
    ------
    InputError
        What `read_followed` raises, and a plan of a rating study.
    """
    return parse_looks(read_text(path), place=str(path)).plan


def parse_looks(text: str, *, place: str = "looks") -> LooksFile:
    """The same with its history, from the text of a file; `place` is what errors call it."""
    document = validated_looks(sealed_object(text, place, schema=LOOKS_SCHEMA), place)
    values = as_values(document)
    check_seal(values, place)
    refuse_edits(values, place)
    plan = document.record()
    check_looks(plan, values, place)
    history = tuple(section.record() for section in document.history)
    return LooksFile(plan, document.created, history, document.checksum)


def amend_looks(path: str | Path, reason: str, *, date: datetime.date) -> tuple[JudgementPlan, str]:
    """Accept a file that was changed by hand: the plan, and the new text of the file.

    What is computed is computed afresh; what simulation promised is kept only where nothing that it depends on has
    changed, and gone otherwise.

    Raises InputError: no reason, nothing changed, impossible values, a computed value that was set by hand,
    or a history that was.
    """
    place = str(path)
    document = validated_looks(sealed_object(read_text(path), place, schema=LOOKS_SCHEMA), place)
    values = as_values(document)
    check_seal(values, place)
    sealed, plan = document.sealed.record(), document.record()
    same = replace(sealed, promised=None, systems=plan.systems) == replace(plan, promised=None)
    plan = replace(plan, promised=sealed.promised if same else None)
    content = plain_looks(plan, created=document.sealed.created)
    computed = (*LOOKS_COMPUTED, *(f"promised.{name}" for name in values["sealed"]["promised"] or ()))
    return plan, amended_text(values, content, reason, date=date, computed=computed, place=place)
