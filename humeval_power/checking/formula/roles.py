"""Which column of a formula is the system, the worker, the item and the document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from humeval_power.checking.columns import Column
from humeval_power.checking.formula.parts import PLACE, Factors, Parts, quoted
from humeval_power.checking.roles import ROLES
from humeval_power.errors import Problem

_DOCUMENT = Column(
    ("document", "article", "conversation", "dialog", "dialogue", "doc", "session", "story", "text"),
    is_id=True,
)


class Roles(NamedTuple):
    """The columns by what they are; '' where there is none. `within`: how items within documents are written."""

    system: str
    worker: str
    item: str
    document: str
    within: Factors
    assumed: tuple[str, ...]

    def group(self, role: str) -> Factors:
        """How the group of a role is written; () where there is none."""
        if role == "item" and self.within:
            return self.within
        name = {"worker": self.worker, "item": self.item, "document": self.document}[role]
        return (name,) if name else ()


def roles_of(parts: Parts) -> tuple[Roles, list[Problem]]:
    """The roles of the columns, by where they stand; names decide where that leaves it open."""
    system, problems = _system_of(parts)
    groups = list(dict.fromkeys(bar.groups for bar in parts.bars))
    single = [group[0] for group in groups if len(group) == 1 and group[0] != system]
    sloped = [name for name in single if any(bar.terms for bar in parts.bars if bar.groups == (name,))]
    within, document, item = _within(parts, single, system)
    free = [name for name in single if name != document]
    worker = _worker(free, sloped, other_item=bool(item))
    left = [name for name in free if name not in (worker, item)]
    if not item and left:
        item, document = _item_and_document(left, sloped)
    assumed = _assumed(worker, item, document)
    return Roles(system, worker, item, document, within, assumed), problems


def _within(parts: Parts, single: Sequence[str], system: str) -> tuple[Factors, str, str]:
    """The group of items within documents, its document and its item: a and b of (... | a) + (... | a:b)."""
    for bar in parts.bars:
        known = [name for name in bar.groups if name in single]
        if len(bar.groups) != 2 or len(known) != 1 or system in bar.groups:
            continue
        if (bar.terms or _DOCUMENT.fits(known[0])) and not ROLES["worker"].fits(known[0]):
            return bar.groups, known[0], next(name for name in bar.groups if name != known[0])
    return (), "", ""


def _system_of(parts: Parts) -> tuple[str, list[Problem]]:
    """The fixed column whose effect varies by groups; without any, the one with such a name."""
    single = [term[0] for term in parts.fixed if len(term) == 1]
    slopes = list(dict.fromkeys(term[0] for bar in parts.bars for term in bar.terms if len(term) == 1))
    varying = [name for name in single if name in slopes] or slopes or single
    named = [name for name in varying if ROLES["system"].fits(name)]
    chosen = named if len(named) == 1 else varying
    if len(chosen) == 1:
        if chosen[0] in single:
            return chosen[0], []
        rule = f"{quoted(chosen[0])} varies by groups and has no fixed effect of its own, which is tested."
        return chosen[0], [Problem(rule, f"Add + {quoted(chosen[0])}.", place=PLACE)]
    rule = f"several columns could be the system: {', '.join(map(quoted, chosen))}."
    remedy = "The system's effect varies by workers and items: write (1 + system || worker)."
    if not chosen:
        rule, remedy = (
            "no fixed term names the systems.",
            "Add the column of the systems, such as + system.",
        )
    return "", [Problem(rule, remedy, place=PLACE)]


def _worker(free: Sequence[str], sloped: Sequence[str], *, other_item: bool) -> str:
    """The only one that fits by its name; else the first with a slope, else the first. Of one group alone that
    is called an item, none."""
    fitting = [name for name in free if ROLES["worker"].fits(name)]
    if len(fitting) == 1 or not free:
        return next(iter(fitting), "")
    others = [name for name in free if not ROLES["item"].fits(name)]
    if len(free) == 1:
        return free[0] if other_item or others else ""
    return [*(name for name in others if name in sloped), *free][0]


def _item_and_document(left: Sequence[str], sloped: Sequence[str]) -> tuple[str, str]:
    """Of one column the item; of several the item has a slope and is not called a document."""
    if len(left) == 1:
        return left[0], ""
    items = [name for name in left if not _DOCUMENT.fits(name)]
    item = [*(name for name in items if name in sloped), *items, *left][0]
    others = [name for name in left if name != item]
    return item, next((name for name in others if _DOCUMENT.fits(name)), others[0])


def _assumed(worker: str, item: str, document: str) -> tuple[str, ...]:
    """What is said of the groups where their names do not decide."""
    known = ROLES["worker"].fits(worker) and not ROLES["worker"].fits(item)
    if not (worker and item) or (known and (not document or _DOCUMENT.fits(document))):
        return ()
    third = f", {quoted(document)} the document" if document else ""
    return (
        f"Of the groups in the formula {quoted(worker)} is read as the worker, {quoted(item)} as the "
        f"item{third}.",
    )
