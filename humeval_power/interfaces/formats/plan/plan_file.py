"""plan.json: read a plan only if it is as it was sealed, and amend it for a stated reason."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from pathlib import Path

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import read_text
from humeval_power.interfaces.formats.plan.sealed_file import (
    RECORDED,
    check_seal,
    refuse_edits,
    refuse_no_amendment,
    sealed_object,
)
from humeval_power.planning.plan.plan import Plan, PredictedPower
from humeval_power.reporting.plan.history import Amendment
from humeval_power.reporting.plan.sealed.content import (
    COMPUTED,
    agree,
    check_numbers,
    total_cost,
)
from humeval_power.reporting.plan.sealed.seal import (
    PLAN_SCHEMA,
    Values,
    changes,
    content_of,
    document_text,
    seal,
    value_at,
)
from humeval_power.reporting.plan.sealed.sealing import amendment_record, plain, plain_content, validated

_SIMULATED = tuple(f"predicted.{name}" for name in ("simulated", "interval", "n_simulations"))


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan as its file has it: with the date it was made, its amendments and its checksum."""

    plan: Plan
    created: datetime.date
    history: tuple[Amendment, ...]
    checksum: str


def read_plan(path: str | Path) -> Plan:
    """The plan of a file that is as it was sealed.

    Raises
    ------
    InputError
        A file that cannot be read or has impossible values, all of them at once; one that was changed
        since it was sealed; or one whose power is not what its design and parameters give.
    """
    return read_plan_file(path).plan


def read_plan_file(path: str | Path) -> PlanFile:
    """The plan with its date, amendments and checksum; refuses what `read_plan` refuses."""
    return parse_plan(read_text(path), place=str(path))


def parse_plan(text: str, *, place: str = "plan") -> PlanFile:
    """The same from the text of a file; `place` is what errors call it."""
    document = validated(sealed_object(text, place, schema=PLAN_SCHEMA), place)
    values = plain(document)
    check_seal(values, place)
    refuse_edits(values, place)
    plan = document.record()
    check_numbers(plan, values, place)
    history = tuple(section.record() for section in document.history)
    return PlanFile(plan, document.created, history, document.checksum)


def amend_plan(path: str | Path, reason: str, *, date: datetime.date) -> tuple[Plan, str]:
    """Accept a file that was changed by hand: the plan, and the new text of the file.

    What is computed is computed afresh. A simulated power is kept only where nothing that it depends
    on has changed; otherwise it is gone (NaN) until the study is simulated again. The changes are added
    to the history with their reason and the checksum of the plan before.

    Raises
    ------
    InputError
        No reason, nothing changed, impossible values, a computed value that was set by hand, or a
        history that was.
    """
    if not reason.strip():
        raise InputError("An amendment needs a reason in words.")
    place = str(path)
    document = validated(sealed_object(read_text(path), place, schema=PLAN_SCHEMA), place)
    values = plain(document)
    check_seal(values, place)
    before = values["sealed"]
    plan = _recomputed(document.record(), document.sealed.record())
    content = plain_content(plan, created=document.sealed.created)
    _refuse_computed_edits(before, content_of(values), content, place)
    made = changes(before, content)
    refuse_no_amendment(made, place)
    amendment = Amendment(date, " ".join(reason.split()), values["checksum"], tuple(made))
    return plan, document_text(seal(content, [*values["history"], amendment_record(amendment)]))


def _recomputed(plan: Plan, before: Plan) -> Plan:
    """The plan with its cost and power computed afresh; the simulation is kept if it still holds."""
    analytic = plan.recomputed_power()
    if agree(before.predicted.analytic, analytic):
        analytic = before.predicted.analytic  # the last digits of another machine are no change
    kept = _simulated_from(plan) == _simulated_from(before)
    predicted = (
        replace(before.predicted, analytic=analytic)
        if kept
        else PredictedPower(analytic, math.nan, (math.nan, math.nan), 0)
    )
    return replace(
        plan,
        predicted=predicted,
        cost=None if plan.costs is None else total_cost(plan),
        expected=plan.expected if kept else None,
        many=plan.many if kept or plan.many is None else replace(plan.many, shares=()),
    )


def _simulated_from(plan: Plan) -> tuple[object, ...]:
    """Everything that a simulated power depends on."""
    return (
        plan.parameters.with_difference(plan.effect),
        None if plan.many is None else replace(plan.many, shares=(), others=()),
        plan.counts,
        plan.design_kind,
        plan.rule,
        plan.looks,
        plan.seed,
    )


def _refuse_computed_edits(before: Values, edited: Values, computed: Values, place: str) -> None:
    """A value that is computed may be left alone, or be what the plan gives; nothing else."""
    problems = []
    for path in (*COMPUTED, *_SIMULATED, *RECORDED):
        stated = value_at(edited, path)
        if stated != value_at(before, path) and not agree(stated, value_at(computed, path)):
            is_record = path in RECORDED
            rule = "is a record of the past." if is_record else "is computed, not set."
            remedy = f"Put back {value_at(before, path)!r}."
            problems.append(Problem(rule, remedy, place, None, path, stated, True, "field"))
    if problems:
        raise InputError(problems)
