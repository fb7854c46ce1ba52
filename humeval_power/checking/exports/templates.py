"""Templates of names and texts, such as Answer.{slot} or {item}__{system}: what a column or a cell says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from humeval_power.errors import InputError

FIELDS = ("worker", "item", "system", "criterion", "code")  # what a template may name a part of a rating by
SLOT = "slot"  # what only tells columns apart; in a text that is taken apart, the slot of the assignment
TOLD = (SLOT, "batch", "order", "document")  # what such a text may say besides
ASKED = "asked"  # the question that stands over a column beside its name
VALUE = "value"  # the rating itself, where the name of a marked column says it
_TOKEN = re.compile(r"(\{\{|\}\}|\{[^{}]*\})")


@dataclass(frozen=True)
class Template:
    """A text with parts in braces, each of one or more characters, as few as will do; {{ and }} are braces.
    Raises InputError: an unknown part, or one that stands twice or directly beside another."""

    text: str

    def __post_init__(self) -> None:
        known = (*FIELDS, *TOLD, VALUE)
        unknown = [part for part in self.parts if part not in known]
        if unknown:
            text = ", ".join(f"{{{name}}}" for name in known)
            raise InputError(f"{self.text!r}: {{{unknown[0]}}} is not known; there are {text}.")
        if len(set(self.parts)) < len(self.parts):
            raise InputError(f"{self.text!r}: a part may stand in it once.")
        if any(one[0] and other[0] for one, other in pairwise(self._tokens)):
            raise InputError(f"{self.text!r}: put something between two parts that tells where one ends.")

    @cached_property
    def _tokens(self) -> tuple[tuple[bool, str], ...]:
        """The pieces in their order: whether a piece is a part, and its name or text."""
        pieces = [piece for piece in _TOKEN.split(self.text) if piece]
        return tuple(
            (False, piece[0])
            if piece in ("{{", "}}")
            else (True, piece[1:-1])
            if _TOKEN.fullmatch(piece)
            else (False, piece)
            for piece in pieces
        )

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names in braces, in their order."""
        return tuple(text for is_part, text in self._tokens if is_part)

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """With parts as short, and as long, as they can be."""
        short, long = (
            [f"(?P<{text}>{part})" if is_part else re.escape(text) for is_part, text in self._tokens]
            for part in (".+?", ".+")
        )
        return re.compile("".join(short), re.DOTALL), re.compile("".join(long), re.DOTALL)

    def match(self, text: str) -> dict[str, str] | None:
        """What each part is in a text, None where the text is not of this shape."""
        result = self._patterns[0].fullmatch(text)
        return None if result is None else result.groupdict()

    def is_ambiguous(self, text: str) -> bool:
        """Whether a text comes apart in more than one way."""
        short, long = (pattern.fullmatch(text) for pattern in self._patterns)
        return short is not None and long is not None and short.groups() != long.groups()

    def filled(self, parts: dict[str, str]) -> str:
        """The text with its parts put in; those that are not given stay in braces."""
        return "".join(
            parts.get(text, f"{{{text}}}") if is_part else text for is_part, text in self._tokens
        )


def literal(text: str) -> Template:
    """The template of one text, whatever braces stand in it."""
    return Template(text.replace("{", "{{").replace("}", "}}"))


def in_natural_order(names: Sequence[str]) -> list[str]:
    """Names with their numbers in order: Answer.2 before Answer.10."""
    return sorted(names, key=_natural)


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (0, int(piece), "") if piece.isdigit() else (1, 0, piece)
        for piece in re.split(r"(\d+)", name)
        if piece
    )
