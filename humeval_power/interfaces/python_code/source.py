"""A program under construction: what it imports, its statements in order, its result."""

from __future__ import annotations

from typing import Any

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, flat, written
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.typed import GapError, Typed


class Source:
    """The statements of a program; the last one prints what was assigned to `result`."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def let(self, name: str, value: Value) -> Code:
        """Assign a value to a name, which stands for it from here on."""
        self._lines.append(f"{name} = {written(value, before=len(name) + 3)}")
        return Code(name)

    def unpack(self, names: str, value: Value) -> Any:
        """Assign what a call gives to several names, with commas between them."""
        self.let(names, value)
        return tuple(Code(name.strip()) for name in names.split(","))

    def attribute(self, of: Code | Call, name: str) -> Code:
        """An attribute of what a name stands for, or a call gives."""
        return Code(f"{flat(of)}.{name}")

    def run(self, given: Typed) -> dict[str, Value]:
        """How much is simulated, as arguments."""
        return run_of(given)

    def no_program(self, why: str) -> None:
        """Say that no program gives this.

        Raises
        ------
        GapError
            With the reason.
        """
        raise GapError(why)

    def text_of(self, name: str, *lines: str) -> Code:
        """Assign what is written over several lines."""
        self._lines.append(f"{name} = " + "\n".join(lines))
        return Code(name)

    def define(self, name: str, arguments: str, value: Value) -> Code:
        """Define a function that returns a value."""
        body = written(value, indent=4, before=7)
        self._lines.append(f"\n\ndef {name}({arguments}):\n    return {body}\n\n")
        return Code(name)

    def text(self) -> str:
        """The program."""
        body = "\n".join(self._lines).replace("\n\n\n\n\n", "\n\n\n")
        head = "import datetime\n\n" if "datetime.date(" in body else ""
        return f"{head}import humeval_power as hp\n\n{body.lstrip()}\nprint(result)\n"
