"""A command that the answers lead to, as a value: its words for a shell, and its link for the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from humeval_power.safe_text import shell_word

Phase = Literal["now", "later"]
PROGRAM = "humeval-power"
_WIDEST = 76  # of a line of a command, below its bullet on a terminal of 80 columns


@dataclass(frozen=True, slots=True)
class Step:
    """One command: `why` says what it is for, `tells` what to read in its answer.

    `arguments` are (name, value) as they stand after the command, `options` (long name, value), a value of None
    being a switch. `output` is what it writes, and so are the files of the options `beside`; `phase` says whether
    it runs today, or when `needs` are there.
    """

    command: tuple[str, ...]
    why: str
    tells: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str | None], ...] = ()
    output: str = ""
    beside: tuple[str, ...] = ()
    phase: Phase = "now"
    needs: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What is typed after the name of the program."""
        return tuple(word for part in self._parts for word in part)

    @property
    def link(self) -> str:
        """The page of this command, filled in: what it writes is no part of it."""
        kept = [(name, value) for name, value in self.options if name not in self.beside]
        query = urlencode(
            [*self.arguments, *((name, "1" if value is None else value) for name, value in kept)]
        )
        return "/" + "/".join(self.command) + (f"?{query}" if query else "")

    @property
    def shown(self) -> str:
        """The command for a shell, in lines that a terminal of 80 columns does not break."""
        lines, line = [], " ".join([PROGRAM, *self.command])
        for part in self._parts[1:]:
            text = " ".join(map(shell_word, part))
            if len(line) + 1 + len(text) + 2 > _WIDEST:
                lines.append(line)
                line = f"  {text}"
            else:
                line += f" {text}"
        return " \\\n".join([*lines, line])

    @property
    def _parts(self) -> list[tuple[str, ...]]:
        """The words that stand together on a line: the command, each argument, each option with its value."""
        written = [("-o", self.output)] if self.output else []
        return [
            self.command,
            *((_argument(value),) for _, value in self.arguments),
            *(_option(name, value) for name, value in self.options),
            *written,
        ]


def named(values: Mapping[str, object]) -> tuple[tuple[str, str | None], ...]:
    """Options by their long names; '' and None are left out, True is a switch, numbers are in plain digits."""
    return tuple(
        (name.replace("_", "-"), None if value is True else plain(value))
        for name, value in values.items()
        if value not in ("", None, False)
    )


def plain(value: object) -> str:
    """A number as one types it; text as it is."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def arguments(name: str, values: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Several values of one argument."""
    return tuple((name, value) for value in values)


def _argument(value: str) -> str:
    """A file is never taken for an option."""
    return f"./{value}" if value.startswith("-") else value


def _option(name: str, value: str | None) -> tuple[str, ...]:
    if value is None:
        return (f"--{name}",)
    return (f"--{name}={value}",) if value.startswith("-") else (f"--{name}", value)
