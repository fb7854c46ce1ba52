"""The parts of a formula in lme4's syntax: what stands on the left, the fixed terms, the terms in brackets.

The text is parsed by formulaic, whose tables of operators can be extended: `|` and `||` within brackets are
added there, as lme4 reads them. What the parser gives is a tree; here it becomes a list of terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from humeval_power.errors import InputError, Problem

if TYPE_CHECKING:  # formulaic takes a second to import, and few people type a formula
    from formulaic.parser.types import FormulaParser

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

    Raises
    ------
    InputError
        Text that is no formula.
    """
    tree = _tree(text)
    if not (_is_node(tree) and tree.operator.symbol == "~"):
        raise _unreadable("there is no '~' with the ratings on its left and the model on its right.")
    left, right = tree.args
    if any(each.operator.symbol == "~" for side in tree.args for each in _nodes(side)):
        raise _unreadable("there are two '~'.")
    reader = _Reader()
    response = reader.response(left)
    intercept, fixed, bars = reader.model(right)
    return Parts(response, intercept, fixed, bars, tuple(reader.problems))


def quoted(name: str) -> str:
    """A column as it stands in a formula: between backquotes where it is not one plain word."""
    return name if _PLAIN.fullmatch(name) else f"`{name}`"


def unfitted(term: str, rule: str, remedy: str) -> Problem:
    """The problem of a term that is not fitted here, and what is offered instead."""
    return Problem(f"{term}: {rule}", remedy, place=PLACE)


class _Reader:
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
        intercept, found = True, dict[Factors, None]()
        for sign, leaf in leaves:
            number = None if _is_node(leaf) or leaf.kind.value != "value" else leaf.token
            if number in ("0", "1"):
                intercept = (number == "1") == (sign > 0)
            elif sign < 0:
                self._refuse(of or f"- {_words(leaf)}", "a term is taken away.", "Leave it out.")
            else:
                found.update(dict.fromkeys(self._factors(leaf, of)))
        return intercept, tuple(found)

    def _factors(self, leaf: Any, of: str) -> list[Factors]:
        """The terms that a part of a sum stands for: a * b is a, b and a:b."""
        shown = of or _words(leaf)
        if _is_name(leaf):
            return [(str(leaf.token),)]
        bad = next((each for each in _leaves(leaf) if not _is_name(each)), None)
        if bad is None:
            return [tuple(dict.fromkeys(str(f.expr) for f in term.factors)) for term in _expanded(leaf)]
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


def _expanded(node: Any) -> Iterable[Any]:
    return node.to_terms()  # type: ignore[no-any-return]


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
