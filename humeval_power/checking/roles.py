"""Which column of a table of ratings is the worker, the item, the system, the rating and the criterion."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from humeval_power.checking.columns import Column, find_columns

Role = Literal["worker", "item", "system", "rating", "criterion"]
ROLES: dict[Role, Column] = {
    "worker": Column(
        (
            *("worker", "annotator", "assessor", "coder", "evaluator", "judge", "listener", "participant"),
            *("rater", "reviewer", "subject", "user", "viewer"),
        ),
        option="--worker",
        is_id=True,
    ),
    "item": Column(
        (
            *("item", "context", "document", "example", "instance", "passage", "prompt", "seg", "segment"),
            *("sentence", "source", "stimulus"),
        ),
        option="--item",
        is_id=True,
    ),
    "system": Column(
        ("system", "condition", "generator", "method", "model", "sys", "treatment", "variant"),
        option="--system",
        is_id=True,
    ),
    "rating": Column(
        ("rating", "grade", "judgement", "judgment", "score", "stars", "value"), option="--rating"
    ),
    "criterion": Column(
        ("criterion", "aspect", "attribute", "criteria", "dimension", "qualitycriterion", "scalename"),
        option="--criterion-column",
        required=False,
        is_id=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role in a table of ratings, and what was assumed in finding it."""

    worker: str
    item: str
    system: str
    rating: str
    criterion: str | None
    notices: tuple[str, ...]

    def of_role(self) -> dict[Role, str]:
        """The column of each role that has one."""
        names = (self.worker, self.item, self.system, self.rating, self.criterion)
        return {role: name for role, name in zip(ROLES, names, strict=True) if name is not None}


def find_roles(
    columns: Sequence[str],
    *,
    named: Mapping[Role, str | None],
    source: str,
    taken: Collection[str] = (),
) -> Columns:
    """The columns of a table of ratings; those `taken` are none unless they are named.

    Raises
    ------
    InputError
        As `find_columns`.
    """
    names = {str(role): name for role, name in named.items()}
    found = find_columns(columns, list(ROLES.values()), named=names, source=source, taken=taken)
    of = found.of
    return Columns(of["worker"], of["item"], of["system"], of["rating"], of.get("criterion"), found.notices)
