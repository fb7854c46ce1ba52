"""A command that the answers lead to, as a value: its words for a shell, and its link for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from humeval_power.asking.command_groups import in_terminal
from humeval_power.safe_text import shell_word, terminal_text

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
        lines, line = [], " ".join([PROGRAM, *in_terminal(self.command)])
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


# The commands as a script for a shell: what is done already is not done again, and what is missing is
# said.

# What a script of commands begins with: to miss a target is no fault of a command, but nothing is built on it.
GOES_ON = """\
# A command that misses its target, such as a plan for which the money is too short, says why and ends with 3.
# What rests on its files is not done then, and this script ends with 3 too. To go on in spite of it: --anyway
anyway=${1:-} out='' missed=''
made() { out=${1%/}; [ -e "$out" ] || { rm -f "$out.missed"; return 1; }; out=''; }
run() {
  printf '\\n$ humeval-power %s\\n' "$*"
  humeval-power "$@" || {
    code=$?; [ $code -eq 3 ] || exit $code
    missed="humeval-power $*"; [ -z "$out" ] || printf '%s\\n' "$missed" > "$out.missed"
  }
  out=''
}
rests_on() {
  [ "$anyway" = --anyway ] || [ ! -e "$1.missed" ] || {
    missed=$(cat "$1.missed"); finish "What comes next rests on it."
  }
}
finish() {
  [ -n "$missed" ] || exit 0
  printf '\\nEnds with 3: the target was missed by: %s\\n' "$missed${1:+
$1 Read above or in its files why; to go on: bash $0 --anyway}" >&2
  exit 3
}
"""
_CAN_MISS = ("plan", "size", "judge")

_HEAD = """\
#!/usr/bin/env bash
# {title}
# Written by 'humeval-power start'. Run it in the folder of your files: bash {name}
# What is there already is left alone, so run it again when more has come in. Remove a file to make it anew.
set -euo pipefail

{goes_on}waits() {{ printf '\\nWaiting for %s: %s\\n' "$1" "$2"; finish; }}"""


def script(title: str, steps: Sequence[Step], *, name: str = "start.sh") -> str:
    """A script of bash that runs the commands, each that writes only where its output is not there yet.

    It stops before a command that reads what one wrote that missed its target.
    """
    parts = [_HEAD.format(title=_comment(title), name=name, goes_on=GOES_ON)]
    waited: set[str] = set()
    promised: list[str] = []
    for place, step in enumerate(steps, 1):
        parts.append("\n".join(_lines(place, step, waited, promised)))
        promised += [step.output] if step.command[0] in _CAN_MISS and step.output else []
    return "\n\n".join([*parts, "finish"]) + "\n"


def _lines(place: int, step: Step, waited: set[str], promised: Sequence[str]) -> Iterator[str]:
    yield f"# {place}. {_comment(step.why)}"
    for file in step.needs if step.phase == "later" else ():
        if file not in waited:
            waited.add(file)
            yield f"[ -e {shell_word(file)} ] || waits {shell_word(file)} {shell_word(step.why)}"
    yield from (f"rests_on {shell_word(file)}" for file in promised if file in step.words)
    command = "run" + step.shown.removeprefix("humeval-power")
    writes = step.output or next((str(dict(step.options)[name]) for name in step.beside), "")
    yield f"made {shell_word(writes)} || {command}" if writes else command


def _comment(text: str) -> str:
    return terminal_text(text).replace("\n", " ")
