"""The text of plan.json: a plan with its history, its checksum and a copy of what was sealed.

pydantic is imported when a plan is written or read, not before: commands start without it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.plan.history import Amendment
from humeval_power.reporting.plan.sealed.content import check_numbers, plan_content
from humeval_power.reporting.plan.sealed.seal import Values, content_of, document_text, seal
from humeval_power.reporting.records import json_ready

if TYPE_CHECKING:
    from pydantic import BaseModel

    from humeval_power.reporting.plan.sealed.schema import PlanDocument


def plan_to_json(plan: Plan, *, created: datetime.date, history: Sequence[Amendment] = ()) -> str:
    """The text of plan.json, sealed, ending with a newline.

    Raises
    ------
    InputError
        A plan that could not be read back: impossible values, or a cost or power that its own prices,
        design and parameters do not give.
    """
    return document_text(sealed_values(plan, created=created, history=history))


def sealed_values(plan: Plan, *, created: datetime.date, history: Sequence[Amendment] = ()) -> Values:
    """The same as plain values; its `checksum` stands in pages."""
    content = plain_content(plan, created=created)
    check_numbers(plan, content, "plan")
    return seal(content, [amendment_record(amendment) for amendment in history])


def plain_content(plan: Plan, *, created: datetime.date) -> Values:
    """The content as it comes back from a file: whole numbers of measures have become decimal ones."""
    content: Any = json_ready(plan_content(plan, created=created))
    return content_of(plain(validated(seal(content, []), "plan")))


def amendment_record(amendment: Amendment) -> Values:
    """An amendment as plain values."""
    return {**asdict(amendment), "date": amendment.date.isoformat()}


def plain(document: BaseModel) -> Values:
    """A document that was checked, as plain values."""
    values: Values = json.loads(document.model_dump_json(by_alias=True))
    return values


def validated(values: Mapping[str, Any], place: str) -> PlanDocument:
    """The document, with every field checked.

    Raises
    ------
    InputError
        Every field that is impossible, at once; `place` is what errors call the document.
    """
    from humeval_power.reporting.plan.sealed.schema import PlanDocument
    from humeval_power.reporting.schemas import validation_problems

    return validation_problems.validated(PlanDocument, values, place)
