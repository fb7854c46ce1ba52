"""The questions power, mde, size and surface of a kind of scenario, as programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, flat
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

Writer = Callable[[Typed, Source], None]
Build = Callable[[Typed, Source, Value, Value], Call]
Largest = Callable[[Typed, Code], Value]


def no_limit(_typed: Typed) -> int | None:
    """No size is too large for the options."""
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """How a scenario of a size and a true effect is made, where the search for an effect ends, given the name of a
    scenario without one, the largest size that the options allow, if they allow none beyond, and the options of
    which a surface takes lists."""

    build: Build
    largest: Largest
    most: Callable[[Typed], int | None] = no_limit
    lists: tuple[str, ...] = ()

    @property
    def programs(self) -> dict[str, Writer]:
        """The writer of each question."""
        return {"power": self._power, "mde": self._mde, "size": self._size, "surface": self._surface}

    def _power(self, typed: Typed, source: Source) -> None:
        comparison = source.let("comparison", self.build(typed, source, typed["n"], typed["effect"]))
        source.let("result", call("hp.power", comparison, **run_of(typed, "method")))

    def _mde(self, typed: Typed, source: Source) -> None:
        comparison = source.let("comparison", self.build(typed, source, typed["n"], 0.0))
        asked = {"largest": self.largest(typed, comparison), "power": typed.given("target")}
        found = call("hp.mde", comparison, **asked, **run_of(typed, "method"))
        source.let("result", found)

    def _size(self, typed: Typed, source: Source) -> None:
        built = self.build(typed, source, Code("n"), typed["effect"])
        comparison = source.define("comparison", "n", built)
        most, typed_highest = self.most(typed), typed.given("highest")
        highest = typed_highest if most is None else min(typed["highest"], most)
        asked = {"power": typed.given("target"), "highest": highest}
        source.let("result", call("hp.size", comparison, **asked, **run_of(typed, "method")))

    def _surface(self, typed: Typed, source: Source) -> None:
        lists = {name: list(typed[name]) for name in self.lists if typed[name] is not None}
        many = [name for name, values in lists.items() if len(values) > 1]
        for name, values in lists.items():
            typed.stand_in(name, Code(name) if name in many else values[0])
        built = self.build(typed, source, Code("n"), Code("effect"))
        arguments = ", ".join(("n", "effect", *many))
        comparison = source.define("comparison", arguments, built)
        labels = ", ".join(f'"{name}": {name}' for name in (*many, "n"))
        of_lists = [f"    for {name} in {flat(lists[name])}" for name in many]
        sizes, effects = flat(list(typed["n"])), flat(list(typed["effect"]))
        cells = source.text_of(
            "cells",
            "[",
            f"    ({{{labels}}}, {comparison}({arguments}))",
            *of_lists,
            f"    for n in {sizes}",
            f"    for effect in {effects}",
            "]",
        )
        shown = {name: typed.given(name) for name in ("draw", "along")}
        source.let("result", call("hp.surface", cells, **run_of(typed, "method"), **shown))
