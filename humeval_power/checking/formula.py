"""The model that a formula names: which column is what, and which variances are in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from humeval_power.checking.columns import ROLES, Column
from humeval_power.errors import InputError, Problem

if TYPE_CHECKING:
    from formulaic.parser.types import FormulaParser


# The parts of a formula in lme4's syntax: what stands on the left, the fixed terms, the terms in
# brackets.

PLACE = "--formula"
EXAMPLE = "rating ~ system + (1 + system || worker) + (1 + system || item)"
_LONGEST = 2_000
_PLAIN = re.compile(r"(?!\d)[\w.]+")
_BARS = ("|", "||")

Factors = tuple[str, ...]  # the columns of a term; of an intercept none


class Bar(NamedTuple):
    """A term in brackets: `terms` vary by `groups`, with their own `intercept`, `correlated` or not."""

    text: str
    intercept: bool
    terms: tuple[Factors, ...]
    groups: Factors
    correlated: bool


class Parts(NamedTuple):
    """A formula in parts; `problems` are those of terms that are none of these."""

    response: str
    intercept: bool
    fixed: tuple[Factors, ...]
    bars: tuple[Bar, ...]
    problems: tuple[Problem, ...]


def parts_of(text: str) -> Parts:
    """Parse a formula and take it apart; `(… | a/b)` becomes `(… | a) + (… | a:b)`.
    Raises InputError: text that is no formula."""
    tree = _tree(text)
    if not (_is_node(tree) and tree.operator.symbol == "~"):
        raise _unreadable("there is no '~' with the ratings on its left and the model on its right.")
    left, right = tree.args
    if any(each.operator.symbol == "~" for side in tree.args for each in _nodes(side)):
        raise _unreadable("there are two '~'.")
    reader = _TreeReader()
    response = reader.response(left)
    intercept, fixed, bars = reader.model(right)
    return Parts(response, intercept, fixed, bars, tuple(reader.problems))


def quoted(name: str) -> str:
    """A column as it stands in a formula: between backquotes where it is not one plain word."""
    return name if _PLAIN.fullmatch(name) else f"`{name}`"


def unfitted(term: str, rule: str, remedy: str) -> Problem:
    """The problem of a term that is not fitted here, and what is offered instead."""
    return Problem(f"{term}: {rule}", remedy, place=PLACE)


class _TreeReader:
    """Takes a tree apart, and keeps the problems of what it cannot take."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def response(self, node: Any) -> str:
        """The column on the left."""
        if _is_name(node):
            return str(node.token)
        rule = "the left side is one column, the ratings as they were given."
        remedy = "Name the column; how its values are scaled or ordered is said beside the formula."
        self.problems.append(unfitted(_words(node), rule, remedy))
        return ""

    def model(self, node: Any) -> tuple[bool, tuple[Factors, ...], tuple[Bar, ...]]:
        """Whether there is an intercept, the fixed terms, and the terms in brackets."""
        bars: list[Bar] = []
        rest: list[tuple[int, Any]] = []
        for sign, leaf in _signed(node):
            if _is_node(leaf) and leaf.operator.symbol in _BARS:
                bars += self._bars(leaf, sign)
            else:
                rest.append((sign, leaf))
        intercept, fixed = self._terms(rest)
        return intercept, fixed, tuple(bars)

    def _bars(self, node: Any, sign: int) -> Iterator[Bar]:
        left, right = node.args
        text = f"({_words(node)})"
        if sign < 0:
            self._refuse(text, "a term is taken away.", "Leave it out of the formula.")
            return
        before = len(self.problems)
        intercept, terms = self._terms(list(_signed(left)), of=text)
        groups = self._groups(right, text)
        if len(self.problems) == before:
            correlated = node.operator.symbol == "|"
            for group in groups:
                yield Bar(text, intercept, terms, group, correlated)

    def _terms(
        self, leaves: Iterable[tuple[int, Any]], *, of: str = ""
    ) -> tuple[bool, tuple[Factors, ...]]:
        """Whether there is an intercept among the terms of a sum, and the others, each once."""
        intercept, terms = True, dict[Factors, None]()
        for sign, leaf in leaves:
            number = None if _is_node(leaf) or leaf.kind.value != "value" else leaf.token
            if number in ("0", "1"):
                intercept = (number == "1") == (sign > 0)
            elif sign < 0:
                self._refuse(of or f"- {_words(leaf)}", "a term is taken away.", "Leave it out.")
            else:
                terms.update(dict.fromkeys(self._factors(leaf, of)))
        return intercept, tuple(terms)

    def _factors(self, leaf: Any, of: str) -> list[Factors]:
        """The terms that a part of a sum stands for: a * b is a, b and a:b."""
        shown = of or _words(leaf)
        if _is_name(leaf):
            return [(str(leaf.token),)]
        bad = next((each for each in _leaves(leaf) if not _is_name(each)), None)
        if bad is None:
            return [tuple(dict.fromkeys(str(f.expr) for f in term.factors)) for term in leaf.to_terms()]
        if _is_node(bad) and bad.operator.symbol in _BARS:
            self._refuse(shown, "a term with a bar is only added.", "Write '+ (1 + system || worker)'.")
        elif _is_node(bad):
            self._refuse(shown, "columns are not named one by one.", "Name each column.")
        elif "|" in bad.token:
            rule = "a '+' is missing before the bracket, or this structure of variances is not fitted here."
            self._refuse(bad.token, rule, "Write '+ (1 + system || worker)', or '|' where they correlate.")
        elif bad.kind.value == "python":
            what = "it" if bad.token == shown else bad.token
            rule = f"{what} is computed; splines, polynomials, offsets and other functions are not fitted."
            self._refuse(shown, rule, "Compute it in a column of the file, and name that.")
        else:
            self._refuse(shown, f"{bad.token} is no column.", "Name columns, 1 or 0.")
        return []

    def _groups(self, node: Any, text: str) -> list[Factors]:
        """The groups on the right of a bar: of a/b the group a, and b within a."""
        names = list(_leaves(node))
        symbols = {each.operator.symbol for each in _nodes(node)}
        if all(map(_is_name, names)) and len(names) < 3 and symbols <= {":", "/"}:
            group = tuple(str(name.token) for name in names)
            return [group[:1], group] if "/" in symbols else [group]
        remedy = "Behind the bar stands one column, or two as in (1 | a:b) or (1 | a/b)."
        self._refuse(text, "these groups are not fitted.", remedy)
        return []

    def _refuse(self, term: str, rule: str, remedy: str) -> None:
        problem = unfitted(term, rule, remedy)
        if problem not in self.problems:
            self.problems.append(problem)


def _tree(text: str) -> Any:
    """The tree of a formula: nodes with an `operator` and `args`, whose leaves are tokens."""
    from formulaic.errors import FormulaicError

    if not text.strip():
        raise _unreadable("it is empty.")
    if len(text) > _LONGEST:
        raise _unreadable(f"it is longer than {_LONGEST:,} characters.")
    try:
        return _parser().parse(text, target="ast")
    except FormulaicError as error:
        raise _unreadable(_reason(error, text)) from None
    except SyntaxError:  # of a call, which the parser reads as Python
        raise _unreadable("a part that looks like a call of a function is none.") from None


def _reason(error: Exception, text: str) -> str:
    """What the parser says, in a line, with where it is; of a bar without brackets, that."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", str(error)).replace("`", "'").splitlines()
    said = re.sub(r"^Operator '(\|\|?)' is incorrectly used", r"'\1' stands outside of brackets", lines[0])
    marked = re.search("⧛(.*)⧚", "".join(lines[1:]))
    near = marked[1].strip() if marked else ""
    place = f" (at {near!r})" if near and near not in said and near in text.replace("`", "'") else ""
    said = said.replace("context marker", "bracket").replace("quote context was closed", "it was closed")
    return f"{said[:1].lower()}{said[1:].rstrip('.')}{place}."


def _unreadable(reason: str) -> InputError:
    remedy = f"Write it as lme4 does: {EXAMPLE}."
    return InputError([Problem(f"it cannot be read: {reason}", remedy, place=PLACE)])


def _parser() -> FormulaParser:
    """formulaic's parser, with the bars of lme4 among its operators."""
    from formulaic.parser.parser import DefaultOperatorResolver
    from formulaic.parser.types import FormulaParser, Operator, Token

    def in_brackets(context: Iterable[Any]) -> bool:
        return any(isinstance(each, Token) for each in context)

    class MixedModel(DefaultOperatorResolver):  # type: ignore[misc]
        @cached_property
        def operators(self) -> list[Operator]:
            kept = [each for each in super().operators if each.symbol not in ("~", "|")]
            bars = [Operator(bar, arity=2, precedence=-50, accepts_context=in_brackets) for bar in _BARS]
            sides = Operator(
                "~", arity=2, precedence=-100, accepts_context=lambda around: not in_brackets(around)
            )
            return [*kept, *bars, sides]

    return FormulaParser(MixedModel())


def _signed(node: Any, sign: int = 1) -> Iterator[tuple[int, Any]]:
    """The parts of a sum with their signs."""
    stack = [(sign, node)]
    while stack:
        sign, part = stack.pop()
        if _is_node(part) and part.operator.symbol in "+-":
            last = -sign if part.operator.symbol == "-" else sign
            stack.append((last, part.args[-1]))
            stack += [(sign, first) for first in part.args[:-1]]
        else:
            yield sign, part


def _nodes(node: Any) -> Iterator[Any]:
    if _is_node(node):
        yield node
        for part in node.args:
            yield from _nodes(part)


def _leaves(node: Any) -> Iterator[Any]:
    """The tokens of a tree, and its nodes that stand for no columns of their own, such as '.' or a bar."""
    if not _is_node(node) or not node.args or node.operator.symbol in (*_BARS, "~", "^", "**"):
        yield node
    else:
        for part in node.args:
            yield from _leaves(part)


def _is_node(part: Any) -> bool:
    return hasattr(part, "operator")


def _is_name(part: Any) -> bool:
    return not _is_node(part) and part.kind.value == "name"


def _words(node: Any) -> str:
    """A part of a formula as text."""
    if not _is_node(node):
        return quoted(str(node.token)) if _is_name(node) else str(node.token)
    symbol = node.operator.symbol
    parts = [_words(part) for part in node.args]
    if not parts:
        return str(symbol)
    if len(parts) == 1:
        return f"{symbol}{parts[0]}"
    inner = [
        f"({text})" if _binds_less(part, node) else text
        for part, text in zip(node.args, parts, strict=True)
    ]
    gap = "" if symbol in (":", "/", "^", "**") else " "
    return f"{inner[0]}{gap}{symbol}{gap}{inner[1]}"


def _binds_less(part: Any, within: Any) -> bool:
    return _is_node(part) and bool(part.args) and part.operator.precedence < within.operator.precedence


# Which column of a formula is the system, the worker, the item and the document.

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
        result: list[Problem] = []
        for bar in self._bars:
            result += self._of_bar(bar)
            for term in [*([()] if bar.intercept else []), *bar.terms]:
                if (bar.groups, term) in seen:
                    rule = "something of it is in the formula twice."
                    result.append(unfitted(bar.text, rule, "Write each intercept and each slope once."))
                seen.add((bar.groups, term))
        return [*result, *self._missing(), *self._of_documents()]

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
            group, result = self._roles.group(role), self._of[role]
            name = ":".join(map(quoted, group)) or "COLUMN"
            wanted = f"(1 + {system} || {name})"
            if not group:
                if role != "document":
                    rule = f"no term says how the {role}s differ."
                    yield Problem(rule, f"Add {wanted} with the column of the {role}s.", place=PLACE)
            elif not result.intercept:
                rule = f"the {role}s have a slope and no intercept, as if all were alike under the mean system."
                yield unfitted(f"(0 + {system} | {name})", rule, f"Write {wanted}.")
            elif not result.slope and role != "document":
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
