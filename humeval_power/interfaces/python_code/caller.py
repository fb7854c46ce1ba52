"""Calls of public functions that are made at once, where a `Source` would write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NoReturn, cast

from humeval_power.interfaces.cli.run import Run
from humeval_power.interfaces.python_code.expressions import Call, Code, Value
from humeval_power.interfaces.python_code.typed import Typed

_BUILT_IN = {"iter": iter, "len": len, "next": next}
_NAMED = re.compile(r'(?P<name>hp(\.\w+)+)(\["(?P<key>[\w-]+)"\])?')


class Caller:
    """Makes each call; what it gives stands for itself."""

    def __init__(self, run: Run | None = None) -> None:
        self._run = run
        self.result: Any = None

    def let(self, name: str, value: Value) -> Any:
        """What a call gives."""
        found = evaluated(value)
        if name == "result":
            self.result = found
        return found

    def unpack(self, names: str, value: Value) -> Any:  # noqa: ARG002
        """What a call that gives several things gives."""
        return evaluated(value)

    def attribute(self, of: Any, name: str) -> Any:
        """An attribute of what a call gives."""
        return getattr(evaluated(of), name)

    def run(self, given: Typed) -> dict[str, Value]:
        """How much is simulated, from which seed and by how many cores, as arguments."""
        assert self._run is not None
        return {"n_simulations": given["simulations"], "seed": self._run.seed, "n_jobs": self._run.n_jobs}

    @property
    def slots(self) -> int:
        """How many cores compute."""
        assert self._run is not None
        return self._run.slots

    def no_program(self, why: str) -> None:
        """Nothing: the command itself runs."""


def evaluated(value: Any) -> Any:
    """What an expression gives."""
    if isinstance(value, Code):
        return _public(value.text)
    if isinstance(value, Call):
        called = (
            getattr(evaluated(value.on), value.function)
            if value.on is not None
            else _function(value.function)
        )
        spread = {} if value.spread is None else evaluated(value.spread)
        named = {name: evaluated(one) for name, one in value.named.items()}
        return called(*map(evaluated, value.given), **named, **spread)
    if isinstance(value, list):
        return [one for each in value for one in _entries(each)]
    if isinstance(value, dict):
        return {name: evaluated(one) for name, one in value.items()}
    return value


def _function(name: str) -> Any:
    return _BUILT_IN.get(name) or _public(name)


def _entries(value: Any) -> Iterable[Any]:
    """What an entry of a list stands for: itself, or with a star in front all that a public name holds."""
    if isinstance(value, Code) and value.text.startswith("*"):
        return cast(Iterable[Any], _public(value.text.removeprefix("*")))
    return (evaluated(value),)


def _public(text: str) -> Any:
    """A public name, such as hp.accuracy.test, or an entry of one, such as hp.accuracy.PRIORS["glue"]."""
    import humeval_power

    found = _NAMED.fullmatch(text)
    if found is None:
        _unreadable(text)
    at: Any = humeval_power
    for name in found["name"].split(".")[1:]:
        at = getattr(at, name)
    return at if found["key"] is None else at[found["key"]]


def _unreadable(text: str) -> NoReturn:
    raise TypeError(f"{text!r} is no public name; only a program can say it.")
