"""The model that a formula names: which column is what, and which variances are in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from humeval_power.checking.formula.parts import (
    PLACE,
    Bar,
    Factors,
    Parts,
    parts_of,
    quoted,
    unfitted,
)
from humeval_power.checking.formula.roles import Roles, roles_of
from humeval_power.errors import InputError, Problem

Factor = Literal["worker", "item"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFormula:
    """A model in lme4's syntax that is fitted here, and the columns that it names.

    `rating`, `system`, `worker`, `item` and `document` are columns, `document` None where there is none;
    `covariates` are columns with a fixed effect beside the system's. Intercepts and slopes of the factors in
    `correlated` correlate, those of the others do not. `worker_item`: there is what a worker and an item share
    under both systems. `nested`: items are written within documents, and their names must not come again in
    another document. `assumed` says what the formula left open, and what is fitted though it lacks it.
    """

    text: str
    rating: str
    system: str
    worker: str
    item: str
    document: str | None = None
    covariates: tuple[str, ...] = ()
    correlated: tuple[Factor, ...] = ()
    worker_item: bool = False
    nested: bool = False
    assumed: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """What `read_ratings` and `ratings_from_table` take: the columns by what they are."""
        named = {"worker": self.worker, "item": self.item, "system": self.system, "rating": self.rating}
        return {**named, "document": self.document, "covariates": self.covariates}

    @property
    def terms(self) -> dict[str, Any]:
        """What `fit` takes: the terms beside those of every model."""
        return {"worker_item": self.worker_item, "correlated": self.correlated}


def model_formula(text: str) -> ModelFormula:
    """Read a formula such as ``score ~ model + (1 + model || annotator) + (1 + model || segment)``.

    The response is the rating; the fixed term that also varies by groups is the system, the others are
    covariates. The groups are the worker and the item, each with intercept and slope, by their names, else in
    this order; a third one is the document. The system is coded -1/2 and +1/2, so that `||` and
    `(1 | g) + (0 + system | g)` mean the same; lme4 does so for a column of numbers, not for a factor.

    Raises
    ------
    InputError
        Text that is no formula, and every term that is not fitted here, with what is offered instead.
    """
    parts = parts_of(text)
    roles, problems = roles_of(parts)
    problems = [*parts.problems, *problems, *_fixed_problems(parts, roles)]
    varying = _Varying(parts, roles)
    problems += varying.problems()
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return ModelFormula(
        text=" ".join(text.split()),
        rating=parts.response,
        system=roles.system,
        worker=roles.worker,
        item=roles.item,
        document=roles.document or None,
        covariates=tuple(name for (name,) in parts.fixed if name != roles.system),
        correlated=varying.correlated(),
        worker_item=varying.worker_item(),
        nested=bool(roles.within),
        assumed=(*roles.assumed, *varying.added()),
    )


def _fixed_problems(parts: Parts, roles: Roles) -> Iterator[Problem]:
    """Fixed terms that are not fitted, and columns that stand in two places."""
    if not parts.intercept:
        rule = "the model has an intercept."
        yield unfitted("0 (or - 1)", rule, "Leave it out: the system's effect is then B - A.")
    for term in parts.fixed:
        if len(term) > 1:
            rule = "interactions of fixed effects are not fitted."
            remedy = f"Leave it out, or fit each level of {quoted(term[-1])} on its own."
            yield unfitted(":".join(map(quoted, term)), rule, remedy)
    fixed = {name for term in parts.fixed for name in term}
    groups = {name for bar in parts.bars for name in bar.groups} - {roles.system}
    both = sorted((fixed | {parts.response}) & groups)
    both += [parts.response] if parts.response in fixed else []
    for name in both:
        rule = "the column stands in two places of the formula."
        yield unfitted(quoted(name), rule, "Each column is the rating, a fixed effect or a group.")


class _Group(NamedTuple):
    """What varies by one group, and whether intercept and slope correlate."""

    intercept: bool
    slope: bool
    correlated: bool


class _Varying:
    """The terms in brackets by what their groups are."""

    def __init__(self, parts: Parts, roles: Roles) -> None:
        self._bars, self._roles = parts.bars, roles
        self._of = {role: self._group(roles.group(role)) for role in ("worker", "item", "document")}

    def _group(self, group: Factors) -> _Group:
        bars = [bar for bar in self._bars if bar.groups == group]
        return _Group(
            any(bar.intercept for bar in bars),
            any((self._roles.system,) in bar.terms for bar in bars),
            any(bar.correlated and bar.intercept and bar.terms for bar in bars),
        )

    def added(self) -> tuple[str, ...]:
        """What is fitted though the formula lacks it, and why."""
        document = self._roles.document
        if not document or self._of["document"].slope:
            return ()
        return (
            f"The documents' slope is fitted beside (1 | {quoted(document)}): without it the test would take what "
            "these documents say of the systems for what all do.",
        )

    def correlated(self) -> tuple[Factor, ...]:
        roles: tuple[Factor, ...] = ("worker", "item")
        return tuple(role for role in roles if self._of[role].correlated)

    def worker_item(self) -> bool:
        return any(set(bar.groups) == {self._roles.worker, self._roles.item} for bar in self._bars)

    def problems(self) -> list[Problem]:
        """Of each term, then of what is missing."""
        seen: set[tuple[Factors, Factors]] = set()
        found: list[Problem] = []
        for bar in self._bars:
            found += self._of_bar(bar)
            for term in [*([()] if bar.intercept else []), *bar.terms]:
                if (bar.groups, term) in seen:
                    rule = "something of it is in the formula twice."
                    found.append(unfitted(bar.text, rule, "Write each intercept and each slope once."))
                seen.add((bar.groups, term))
        return [*found, *self._missing(), *self._of_documents()]

    def _of_documents(self) -> Iterator[Problem]:
        if self._of["document"].correlated:
            name, system = quoted(self._roles.document), quoted(self._roles.system)
            rule = "of documents, intercepts and slopes that correlate are not fitted."
            yield unfitted(f"(1 + {system} | {name})", rule, f"Write (1 + {system} || {name}).")

    def _of_bar(self, bar: Bar) -> Iterator[Problem]:
        roles = self._roles
        for term in bar.terms:
            if term != (roles.system,):
                rule = (
                    f"a slope of {':'.join(map(quoted, term))} is not fitted; the slope of the system is."
                )
                remedy = f"Keep {quoted(term[0])} as a fixed effect."
                yield unfitted(bar.text, rule, remedy)
        if bar.groups in {roles.group(role) for role in ("worker", "item", "document")} - {()}:
            return
        pair = set(bar.groups)
        if roles.system and roles.system in pair:
            other = quoted(next(iter(pair - {roles.system}), roles.system))
            rule = "with two systems this is the slope, with one restriction more."
            yield unfitted(bar.text, rule, f"Write (1 + {quoted(roles.system)} || {other}).")
        elif pair == {roles.worker, roles.item} and len(pair) == 2:
            if bar.terms:
                rule = "what a worker and an item share is fitted as an intercept alone."
                yield unfitted(bar.text, rule, f"Write (1 | {':'.join(map(quoted, bar.groups))}).")
        elif len(bar.groups) > 1:
            rule = "of two columns, what a worker and an item share is fitted, and items within documents."
            remedy = "Make one column of the two, and name it as the item or as the document."
            yield unfitted(bar.text, rule, remedy)
        else:
            rule = f"{quoted(bar.groups[0])} is a further factor; workers, items and documents are fitted."
            remedy = (
                f"Leave it out, or keep {quoted(bar.groups[0])} as a fixed effect if it has few levels."
            )
            yield unfitted(bar.text, rule, remedy)

    def _missing(self) -> Iterator[Problem]:
        """What the groups lack: workers and items have an intercept and a slope each."""
        system = quoted(self._roles.system or "system")
        for role in ("worker", "item", "document"):
            group, found = self._roles.group(role), self._of[role]
            name = ":".join(map(quoted, group)) or "COLUMN"
            wanted = f"(1 + {system} || {name})"
            if not group:
                if role != "document":
                    rule = f"no term says how the {role}s differ."
                    yield Problem(rule, f"Add {wanted} with the column of the {role}s.", place=PLACE)
            elif not found.intercept:
                rule = f"the {role}s have a slope and no intercept, as if all were alike under the mean system."
                yield unfitted(f"(0 + {system} | {name})", rule, f"Write {wanted}.")
            elif not found.slope and role != "document":
                yield unfitted(f"(1 | {name})", TOO_BOLD[role], f"Write {wanted}.")


_BARR = "Barr et al. 2013, doi:10.1016/j.jml.2012.11.001"
# Studies of 10 workers x 100 items x 2 systems without an effect, residual SD 0.2, slopes' SD 0.1 in the
# factor without a slope and 0 in the other, Wald test at 0.05: sqrt of the ratio of the variances, as a normal
# tail. tests/study/test_formula.py counts such studies.
TOO_BOLD = {
    "worker": "a test without the workers' slopes is too bold: it takes their disagreement about the systems "
    "for an effect. With 10 workers, 100 items, a residual SD of 0.2 and slopes of 0.1 it finds a difference "
    f"in 58 % of the studies that have none, not in 5 % ({_BARR}).",
    "item": "a test without the items' slopes is too bold: it takes the items that happen to be there for all. "
    "With 10 workers, 100 items, a residual SD of 0.2 and slopes of 0.1 it finds a difference in 18 % of the "
    f"studies that have none, not in 5 % ({_BARR}).",
}
