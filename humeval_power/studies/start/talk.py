"""What has been answered so far, and what follows from it alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Literal, get_args
from urllib.parse import urlencode

from humeval_power.asking.command_groups import in_terminal
from humeval_power.safe_text import shell_word, visible

# What the files that somebody named hold, as far as the commands that follow depend on it.


@dataclass(frozen=True, slots=True)
class FileContents:
    """Files that were read and checked; what is not known of them is empty, 0 or None.

    `scale` is 'low:high'. `criteria` are given where there are several, or the metrics of scores;
    `criteria_in_columns` says that each is a column of its own. `sd` is that of the items' differences between
    the first two systems, `agreement` the share of items that two systems get right or wrong together.
    """

    systems: tuple[str, ...] = ()
    n_workers: int = 0
    n_items: int = 0
    scale: str = ""
    criteria: tuple[str, ...] = ()
    criteria_in_columns: bool = False
    sd: float | None = None
    agreement: float | None = None
    notes: tuple[str, ...] = ()


Judgement = Literal["points", "yes-no", "preference", "score", "correct", "corpus"]
Have = Literal["nothing", "pilot", "results"]
Limit = Literal["budget", "workers", "items", "nothing"]
UNKNOWN = "unknown"  # the answer of those who do not know
RATED: tuple[Judgement, ...] = ("points", "yes-no")
BY_PEOPLE: tuple[Judgement, ...] = (*RATED, "preference")
WORDS = {Judgement: get_args(Judgement), Have: get_args(Have)}


@dataclass(frozen=True, slots=True)
class Workforce:
    """What is assumed of those who rate: platform's fee, that of an academic account where it differs, pay an hour,
    seconds a rating, minutes of instructions before the first one, how many there are where the answer says that
    they are few."""

    fee: str
    pay: float
    seconds: float
    minutes: float
    most: int | None = None
    academic_fee: str = ""


# Assumptions to be replaced by one's own figures, and said wherever they are used.
CREWS: Mapping[str, Workforce] = {
    "prolific": Workforce("prolific", 12, 30, 5, academic_fee="prolific-academic"),
    "mturk": Workforce("mturk", 12, 30, 5),
    "students": Workforce("", 15, 30, 5),
    "experts": Workforce("", 40, 60, 15, 6),
    "unknown": Workforce("", 12, 30, 5),
}


@dataclass(frozen=True, slots=True)
class Talk:
    """The answers in the order in which they were given, by the names of their options, and what the files hold.

    `assumed` are those that nobody gave: defaults that were taken. `typical` names what to plan from without a
    pilot.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    found: FileContents | None = None
    assumed: frozenset[str] = frozenset()
    typical: str = ""

    def answered(self, option: str, text: str, *, assumed: bool = False) -> Talk:
        """With one more answer; a limit may hold its amount: 'budget=500'."""
        text, equals, amount = text.partition("=") if option == "limit" else (text, "", "")
        if equals:
            return self.answered("limit", text, assumed=assumed).answered("amount", amount, assumed=assumed)
        taken = self.assumed | {option} if assumed else self.assumed - {option}
        return replace(self, said={**self.said, option: text}, assumed=taken)

    def looked(self, files: tuple[str, ...], contents: FileContents | None) -> Talk:
        """With files, and what was found in them."""
        said = {**self.said, "file": " ".join(files)}
        return replace(self, said=said, files=files, found=contents)

    def get(self, option: str) -> str:
        """What was answered; '' where nothing was, or that one does not know."""
        text = self.said.get(option, "")
        return "" if text == UNKNOWN else text

    def number(self, option: str) -> float | None:
        """The same as a number."""
        text = self.get(option)
        return float(text) if text else None

    @property
    def judgement(self) -> str:
        """What one judgement is."""
        return self.said.get("judgement", "points")

    @property
    def have(self) -> str:
        """What there is."""
        return self.said.get("have", "nothing")

    @property
    def is_planning(self) -> bool:
        """Whether a study is still to be made."""
        return self.have != "results"

    @property
    def is_rated(self) -> bool:
        """Whether workers give ratings, in points or yes and no."""
        return self.judgement in RATED

    @property
    def scale(self) -> str:
        """The scale of ratings as low:high."""
        if self.judgement == "yes-no":
            return "0:1"
        return self.get("scale") or (self.found.scale if self.found else "") or "1:5"

    @property
    def width(self) -> float:
        """The width of the scale, in its points."""
        low, high = self.scale.split(":")
        return float(high) - float(low)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems, where they are known."""
        if self.found is not None:
            return self.found.systems
        text = self.get("systems")
        return () if not text or text.isdigit() else tuple(text.split(","))

    @property
    def n_systems(self) -> int:
        """How many systems are compared."""
        text = self.get("systems")
        return len(self.names) or (int(text) if text else 2)

    @property
    def baseline(self) -> str:
        """The system that every other is compared with; '' where every pair is, or there are two."""
        return self.get("baseline") if self.n_systems > 2 and self.get("comparisons") == "baseline" else ""

    @property
    def crew(self) -> Workforce:
        """What is taken of those who rate."""
        return CREWS[self.said.get("raters", "unknown")]

    @property
    def fee(self) -> str:
        """The platform's fee, as `--fee` names it; '' where there is none."""
        return self.crew.academic_fee if self.get("academic") == "yes" else self.crew.fee

    @property
    def limit(self) -> str:
        """What is short."""
        return self.get("limit") or "nothing"

    def limited(self, what: Limit) -> int | None:
        """How many workers or items there are at most, where that is the limit."""
        return round(float(self.get("amount"))) if self.limit == what else None


# Sizes to search, as the lists that commands take.

_ITEMS = "50:1000:50"
MOST_SEARCHED = 200  # workers, where nobody said how many there are
_MOST_RATINGS = 6  # of an item under a system, in what is searched


def workers(talk: Talk) -> str:
    """Numbers of workers up to what there is; '' where nobody said."""
    most = talk.limited("workers") or talk.crew.most
    return "" if most is None else steps(most, 8)


def items(talk: Talk) -> str:
    """Numbers of items up to what there is."""
    most = talk.limited("items")
    return _ITEMS if most is None else steps(most, 4)


def ratings_per_item(talk: Talk) -> str:
    """Numbers of ratings of an item under a system."""
    return f"1:{min(_MOST_RATINGS, talk.limited('workers') or talk.crew.most or _MOST_RATINGS)}"


def steps(most: int, n: int) -> str:
    """At most so many numbers in equal steps, the last one being `most`, none below 2."""
    step = max(ceil(most / n), 1)
    first = most - step * min(n - 1, (most - 2) // step)
    return str(most) if first == most else f"{first}:{most}" + (f":{step}" if step > 1 else "")


# A command that the answers lead to, as a value: its words for a shell, and its link for the page.

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
    return visible(text).replace("\n", " ")
