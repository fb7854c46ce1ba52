"""Quantities of a result, each stated once: facts, headline and record follow from them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

from humeval_power.saying.document import Fact
from humeval_power.saying.result import Record, Result


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value by its `key` in the record and its `label` in the text; where one is empty it is left out there.

    `form` is a format specification, or a function of the value; a value of None is not printed. `is_first`: it
    stands above the facts.
    """

    key: str = ""
    label: str = ""
    value: Any = None
    form: str | Callable[[Any], str] = ""
    is_first: bool = False

    @property
    def fact(self) -> Fact:
        """The label and what is printed."""
        return self.label, format(self.value, self.form) if isinstance(self.form, str) else self.form(
            self.value
        )


class QuantityResult(Result):
    """A result whose record and facts are its quantities."""

    @abstractmethod
    def quantities(self) -> Iterator[Quantity]:
        """All of them, in the order of the facts."""

    def facts(self, *, first: bool = False) -> tuple[Fact, ...]:
        """Those that are printed below the headline, or in it."""
        return tuple(
            each.fact
            for each in self.quantities()
            if each.label and each.value is not None and each.is_first is first
        )

    def content(self) -> Record:
        """The values by their keys."""
        return {each.key: each.value for each in self.quantities() if each.key}


def values(of: object, *names: str) -> Record:
    """Attributes by their names as plain values: records are objects, tuples are lists."""
    return {name: _plain(getattr(of, name)) for name in names}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value


NO_SIZE = ("Size that would do", "none")  # the fact where nothing that was looked for exists
