"""What was typed of a command, and whether a program has taken all of it into account."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from humeval_power.errors import InputError

# Where a result goes, how it is shown, and where it is computed: the result itself is the same.
ELSEWHERE = frozenset(
    "as_json format details output force code jobs on quiet config write_config".split()  # noqa: SIM905
)
_NOT_TYPED = (click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)


class GapError(InputError):
    """No public call says what an option says, so that there is no program."""


class Typed:
    """The values of a command's options and arguments; what is looked at counts as said by the program."""

    def __init__(self, context: click.Context) -> None:
        self._context = context
        self._values: dict[str, Any] = dict(context.params)
        self._typed = frozenset(
            str(parameter.name) for parameter in context.command.params if _differs(context, parameter)
        )
        self._said: set[str] = set()

    @property
    def context(self) -> click.Context:
        """The command that was typed, parsed."""
        return self._context

    def __getitem__(self, name: str) -> Any:
        """The value, typed or not."""
        self._said.add(name)
        return self._values.get(name)

    def __contains__(self, name: str) -> bool:
        """Whether the command has such an option."""
        return name in self._values

    def given(self, name: str) -> Any:
        """The value where it was typed and differs from the default, else None."""
        self._said.add(name)
        return self._values[name] if name in self._typed else None

    def was_stated(self, name: str) -> bool:
        """Whether an option was typed, be it as its default is."""
        return self._context.get_parameter_source(name) not in _NOT_TYPED

    def stand_in(self, name: str, value: Any) -> None:
        """Take another value for that of an option: one of its list, or a variable of the program."""
        self._values[name] = value
        self._said.add(name)

    def allow(self, *names: str) -> None:
        """Options that change nothing in the result of a command that succeeds."""
        self._said.update(names)

    def refuse(self, names: Iterable[str], why: str) -> None:
        """There is no program where one of these was typed.

        Raises
        ------
        GapError
            With the option and the reason.
        """
        for name in names:
            if name in self._typed:
                raise GapError(f"{name}: {why}")

    def check(self) -> None:
        """See that the program says all that was typed.

        Raises
        ------
        GapError
            An option that it does not say.
        """
        left = sorted(self._typed - self._said - ELSEWHERE)
        if left:
            raise GapError(f"{', '.join(left)}: no program says it.")


def _differs(context: click.Context, parameter: click.Parameter) -> bool:
    """Whether an option was typed, and says something else than its default does."""
    name = str(parameter.name)
    if context.get_parameter_source(name) in _NOT_TYPED or name not in context.params:
        return False
    value = context.params[name]
    if parameter.required:
        return True
    usual = parameter.process_value(context, parameter.get_default(context))
    return bool(value != usual) if parameter.callback is None or usual is not None else value is not None
