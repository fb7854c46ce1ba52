"""What a field is: its name, kind, unit, limits, usual value and words, stated once for every door.

A declared record (`study.Study`) has fields; a field's name is the key of its file, the option of the terminal, the
argument in Python, the control of the page and the entry of the schema. Nothing here but the standard library.
"""

from __future__ import annotations

import csv
import datetime
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

LARGEST_COUNT = 10**9
LARGEST, SMALLEST = 1e9, 1e-9  # sizes of numbers other than 0
MOST_VALUES = 10_000  # of a list
MOST_LETTERS = 100_000  # of one text
_MOST_LINES, _LONGEST_LINE = 3, 300  # of an error about one value


@dataclass(frozen=True)
class Kind:
    """What a field can hold.

    read : the value from what was typed, or from a value of TOML or Python; raises ValueError with the rule.
    json : its JSON schema.
    metavar : what stands for a value in help.
    choices : the words that it takes, where it takes words.
    flag : of yes and no the names of both sides, "" where a side has none.
    many : whether it can be repeated.
    is_file : whether it names a file, which lies beside the file that names it.
    is_number : whether it is one number, which a file says without quotes.
    limits : lowest and highest number, and which ends are left out.
    or_file : the ending of a file that can stand for a word.
    or_lines : a column, or where what is read has no columns, a file with a line for each row.
    """

    read: Callable[[Any], Any]
    json: Mapping[str, Any]
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    flag: tuple[str, str] | None = None
    many: bool = False
    is_file: bool = False
    is_number: bool = False
    limits: Limits | None = None
    or_file: str = ""
    or_lines: bool = False


@dataclass(frozen=True)
class Limits:
    """The range of a number; `open` names the ends that are left out: "low", "high" or "both"."""

    low: float | None = None
    high: float | None = None
    open: str = ""

    @property
    def low_open(self) -> bool:
        """Whether the lowest value itself is left out."""
        return self.open in ("low", "both")

    @property
    def high_open(self) -> bool:
        """Whether the highest value itself is left out."""
        return self.open in ("high", "both")

    def __str__(self) -> str:
        low = "" if self.low is None else f"{self.low:g}<{'' if self.low_open else '='}"
        high = "" if self.high is None else f"<{'' if self.high_open else '='}{self.high:g}"
        if low and not high:
            return f"x>{'' if self.low_open else '='}{self.low:g}"
        return f"{low}x{high}"

    def check(self, number: float) -> None:
        """Raise ValueError for a number outside."""
        below = self.low is not None and (number <= self.low if self.low_open else number < self.low)
        above = self.high is not None and (number >= self.high if self.high_open else number > self.high)
        if below or above:
            raise ValueError(f"{number} is not in the range {self}.")


@dataclass(frozen=True)
class SectionHeading:
    """A section of a record: its title, and a note for the page."""

    title: str
    note: str = ""


@dataclass(frozen=True)
class Field:
    """All that doors say of one field.

    section, kind, help : where it belongs, what it holds, and the sentence that every command says of it; "answer"
        is the section of how an answer is computed and given, "" that of what a command asks itself.
    note : what one command adds to `help`: what it counts or measures there, what holds where nothing is said. What
        begins with a small letter, a comma, a semicolon or a colon goes on with the sentence.
    label, unit, slider, step, start, words, rows : for the page; `start` is its value on a page that nobody has
        touched, `rows` how many fields it shows at least.
    usual : the value where none is given; None where that depends on others, as brackets in `help` or `note` say.
    main : of a study's field: shown by `--help`, and not folded on the page.
    further : of a command's own: shown by `--help-all` alone; `hidden` by none, since it is refused.
    option : its name, where it is not the field's with dashes; `also` is another, if short with its dash.
    page_help : what the page says in place of both.
    needed : a command cannot do without it.
    sets : of a flag, the argument that gets the flag's own name where it is typed.
    """

    section: str
    kind: Kind
    help: str
    label: str = ""
    unit: str = ""
    slider: tuple[float, float] | None = None
    step: float = 1
    start: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    usual: Any = None
    main: bool = False
    further: bool = False
    hidden: bool = False
    option: str = ""
    also: str = ""
    page_help: str = ""
    needed: bool = False
    sets: str = ""
    rows: int = 1
    note: str = ""

    @property
    def full_help(self) -> str:
        """All that a command says of it."""
        if not self.note:
            return self.help
        first = self.note[0]
        said = self.help.removesuffix(".") if first in ",;:" or first.islower() else self.help
        return f"{said}{self.note}" if first in ",;:" else f"{said} {self.note}".strip()


def own(kind: Kind, help: str, label: str = "", **further: Any) -> Field:
    """A field of one command alone, which stands in no section; `further` are those of `Field`."""
    return Field("", kind, help, label, **further)


def of_answer(kind: Kind, help: str, label: str = "", **further: Any) -> Field:
    """A field of how an answer is computed and given."""
    return Field("answer", kind, help, label, **further)


def shortened(value: Any) -> str:
    """What was given, at most 40 characters of it."""
    try:
        text = str(value)
    except ValueError:  # a whole number of thousands of digits
        return f"a number of {value.bit_length():,} bits"
    return text if len(text) <= 40 else f"{text[:37]}..."


def shown(value: Any) -> str:
    """What was given, for an error: a text in quotes; of a list or table its size."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value):,}"
    return repr(shortened(value)) if isinstance(value, str) else shortened(value)


def brief(message: str) -> str:
    """The first sentences of a message about a long text, on one line."""
    lines = message.splitlines()
    kept = [line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..." for line in lines]
    more = len(lines) - _MOST_LINES
    return " ".join(kept[:_MOST_LINES]) + (f" And {more:,} more." if more > 0 else "")


def real_number(value: Any) -> float:
    """A finite number of a sensible size.

    Raises
    ------
    ValueError
        With the rule that it breaks.
    """
    if isinstance(value, bool):
        raise ValueError(f"give a number such as 0.05; got {shown(value)}.")
    try:
        number = float(value)
    except (ValueError, TypeError):
        raise ValueError(f"give a number such as 0.05; got {shown(value)}.") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"give a finite number; got {shortened(value)}.")
    if abs(number) > LARGEST or 0 < abs(number) < SMALLEST:
        raise ValueError(
            f"give 0, or a number of a size between {SMALLEST:g} and {LARGEST:g}; got {shortened(value)}."
        )
    return number + 0.0  # no negative zero


def whole_number(value: Any, *, largest: int = LARGEST_COUNT) -> int:
    """A whole number of a sensible size.

    Raises
    ------
    ValueError
        With the rule that it breaks.
    """
    if isinstance(value, float | Decimal) and math.isfinite(value) and abs(float(value)) > largest:
        raise ValueError(f"give a whole number of at most {largest:,}; got {shortened(value)}.")
    wrong = isinstance(value, bool)
    try:
        wrong = wrong or (isinstance(value, float | Decimal) and value != value // 1)
        number = int(value)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        wrong = True
    if wrong:
        raise ValueError(f"give a whole number such as 20; got {shown(value)}.")
    if abs(number) > largest:
        raise ValueError(f"give a whole number of at most {largest:,}; got {shortened(value)}.")
    return number


def amount(value: Any) -> Decimal:
    """An amount or share, kept exactly as given.

    Raises
    ------
    ValueError
        With the rule that it breaks.
    """
    try:
        result = value if isinstance(value, Decimal | int) else Decimal(str(value))
        result = Decimal(result)
    except (InvalidOperation, ValueError):
        result = Decimal("NaN")
    if isinstance(value, bool) or not result.is_finite():
        raise ValueError(f"give a number such as 0.12; got {shown(value)}.")
    if result and not (abs(result.adjusted()) < 20 and SMALLEST <= abs(result) <= LARGEST):
        raise ValueError(
            f"give 0, or a number of a size between {SMALLEST:g} and {LARGEST:g}; got {shortened(value)}."
        )
    return result


def whole(low: int | None = None, high: int | None = None, *, largest: int = LARGEST_COUNT) -> Kind:
    """The kind of a count; `largest` bounds it where help names no upper end."""
    limits = Limits(low, high)

    def read(value: Any) -> int:
        number = whole_number(value, largest=largest)
        limits.check(number)
        return number

    ends = {} if low is None else {"minimum": low}
    most = largest if high is None else high
    return Kind(read, {"type": "integer", **ends, "maximum": most}, is_number=True, limits=limits)


def real(low: float | None = None, high: float | None = None, *, open: str = "") -> Kind:
    """The kind of a finite number; `open` names the ends that are left out: "low", "high" or "both"."""
    limits = Limits(low, high, open)

    def read(value: Any) -> float:
        number = real_number(value)
        limits.check(number)
        return number

    json: dict[str, Any] = {"type": "number"}
    if low is not None:
        json["exclusiveMinimum" if limits.low_open else "minimum"] = low
    if high is not None:
        json["exclusiveMaximum" if limits.high_open else "maximum"] = high
    return Kind(read, json, is_number=True, limits=limits)


def word(words: Any, *, without: Sequence[str] = ()) -> Kind:
    """The kind of one of some words: those of a Literal, or of a list."""
    choices = tuple(one for one in (get_args(words) or words) if one not in without)

    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"{shown(value)} is not one of {', '.join(map(repr, choices))}.")
        return str(value)

    return Kind(read, {"enum": list(choices)}, choices=choices)


def flag(on: str = "", off: str = "") -> Kind:
    """The kind of yes and no; `on` and `off` are the names of both sides where both can be typed."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"give true or false; got {shown(value)}.")
        return value

    return Kind(read, {"type": "boolean"}, flag=(on, off))


def day() -> Kind:
    """The kind of a date, such as 2026-05-06."""

    def read(value: Any) -> datetime.date:
        if isinstance(value, datetime.date):
            return value
        try:
            return datetime.datetime.strptime(str(value), "%Y-%m-%d").date()
        except ValueError:
            raise ValueError(f"{shown(value)} does not match the format '%Y-%m-%d'.") from None

    return Kind(read, {"type": "string", "format": "date"}, "[%Y-%m-%d]")


def plain_text(value: Any) -> str:
    """A text as it is. Raises ValueError: what is none, or one that cannot be kept."""
    if not isinstance(value, str):
        raise ValueError(f"give a text in quotes; got {shown(value)}.")
    if "\0" in value or len(value) > MOST_LETTERS:
        raise ValueError(f"give a text of at most {MOST_LETTERS:,} characters, without NUL.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"is no text of Unicode: {shortened(value)!r}.")
    return value


def text(
    metavar: str | None = None, *, is_file: bool = False, many: bool = False, or_lines: bool = False
) -> Kind:
    """The kind of a text as it is: a name, a sentence, a file."""

    def read(value: Any) -> Any:
        if not many:
            return plain_text(value)
        return tuple(map(plain_text, [value] if isinstance(value, str) else _sequence(value)))

    plain = {"type": "string"}
    json = {"anyOf": [plain, {"type": "array", "items": plain}]} if many else plain
    return Kind(read, json, metavar, many=many, is_file=is_file, or_lines=or_lines)


def _sequence(value: Any) -> Sequence[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise ValueError(f"give a list; got {shown(value)}.")
    return value


def typed_list(value: Any) -> str:
    """A list or table as the text that one would type, names with commas in quotes; a text as it is.

    Raises
    ------
    ValueError
        Anything else.
    """
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, Mapping):
        try:
            return ",".join(_quoted(f"{name}={_plain(one)}") for name, one in value.items())
        except ValueError:  # a table within, or a number too small to be typed
            return json.dumps(value, default=float)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _plain(value)
    return ",".join(_quoted(_plain(one)) for one in _sequence(value))


def _quoted(name: str) -> str:
    """A name of a list, in double quotes where it would not be read as it is."""
    if name == name.strip() and not set(name) & set(',"\r\n'):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _plain(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise ValueError(f"give numbers or texts; got {shown(value)}.")
    if isinstance(value, str):
        return plain_text(value)
    number = real_number(value)  # a size that can be written
    if isinstance(value, float):
        return repr(number)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _refuse_other_kinds(value: Any, of: Mapping[str, Any]) -> None:
    """Refuse numbers for names, lists for tables and the like; a text is read."""
    if of.get("type") == "object":
        if not isinstance(value, Mapping) or not value:
            raise ValueError(f"give a table such as {{ name = value }}; got {shown(value)}.")
        if of["additionalProperties"]["type"] == "number":
            wrong = [name for name, one in value.items() if not _is_number(one)]
            if wrong:
                rule = f"{shortened(wrong[0])} must be a number, without quotes"
                raise ValueError(f"{rule}; got {shown(value[wrong[0]])}.")
        return
    if of.get("type") == "string":
        plain_text(value)
    if _is_number(value) and "items" not in of:
        return
    items = of.get("items", {})
    if "enum" in items or items.get("type") == "string":
        wrong = [one for one in _sequence(value) if not isinstance(one, str)]
        if wrong:
            raise ValueError(f"give names in quotes; got {shown(wrong[0])}.")
    elif not _sequence(value) or not all(map(_is_number, value)):
        raise ValueError(f"give a list of numbers, without quotes; got {shown(value)}.")


def listed(parse: Callable[[str], Any], metavar: str, of: Mapping[str, Any] | None = None) -> Kind:
    """The kind of a list in one text, `parse` of which raises ValueError; TOML and Python may give a list, too.

    of : the JSON schema of the list or table. [numbers]
    """
    array = {"type": "array"} if of is None else of

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            _refuse_other_kinds(value, array)
        try:
            return parse(plain_text(value) if isinstance(value, str) else typed_list(value))
        except ValueError as error:
            raise ValueError(brief(str(error))) from None

    return Kind(read, {"anyOf": [array, {"type": "string"}]}, metavar)


STRINGS = {"type": "array", "items": {"type": "string"}}


NUMBERS = {"type": "array", "items": {"type": "number"}}


def names(parse: Callable[[str], Any], metavar: str) -> Kind:
    """The kind of several names in one text."""
    return listed(parse, metavar, STRINGS)


def number_list(
    kind: type[int] | type[float],
    *,
    least: float | None = None,
    most: float | None = None,
    repeats: bool = False,
) -> Callable[[str], tuple[Any, ...]]:
    """What reads lists such as 3,10 and ranges such as 50:500:50 (end included); `least` and `most` are what a
    value may be, and a value that comes again counts once unless it `repeats`. It raises ValueError."""

    def single(value: Any) -> Any:
        return (
            whole_number(value, largest=int(most or LARGEST_COUNT)) if kind is int else real_number(value)
        )

    def parse(typed: str) -> tuple[Any, ...]:
        values: list[Any] = []
        for part in typed.split(","):
            bounds = [single(each) for each in _bounds(part.strip(), kind, typed)]
            values += _range_values(bounds, kind, typed)
            if len(values) > MOST_VALUES:
                raise ValueError(_TOO_MANY.format(shortened(typed)))
        if least is not None and min(values) < least:
            raise ValueError(f"give numbers of at least {least}; got {shortened(min(values))}.")
        if kind is float and most is not None and max(values) > most:
            raise ValueError(f"give numbers of at most {most}; got {shortened(max(values))}.")
        return tuple(values if repeats else dict.fromkeys(values))

    return parse


_TOO_MANY = "a list may have 10,000 values; {} has more. Take a larger step, such as 50:500:50."


def _bounds(part: str, kind: type[int] | type[float], typed: str) -> list[int | float]:
    try:
        return [kind(piece) for piece in part.split(":")]
    except (ValueError, OverflowError):
        raise _wrong(kind, typed) from None


def _range_values(bounds: list[Any], kind: type[int] | type[float], typed: str) -> list[Any]:
    if len(bounds) == 1:
        return bounds
    if len(bounds) == 2 and kind is int:
        bounds.append(1)
    if len(bounds) != 3 or bounds[2] <= 0 or bounds[1] < bounds[0]:
        raise _wrong(kind, typed)
    first, last, step = bounds
    count = int((last - first) / step + 1e-9) + 1
    if count > MOST_VALUES:
        raise ValueError(_TOO_MANY.format(shortened(typed)))
    return [kind(round(first + i * step, 12)) for i in range(count)]


def _wrong(kind: type[int] | type[float], typed: str) -> ValueError:
    wanted = "whole numbers such as 3,10 or 2:40 or 50:500:50"
    if kind is float:
        wanted = "numbers such as 0.05,0.1 or 0.05:0.2:0.05"
    return ValueError(f"give {wanted}; got {shortened(typed)!r}.")


def parts_of(typed: str) -> tuple[str, ...]:
    """The parts of a list; one that has a comma itself stands in double quotes, as in a table.

    Raises
    ------
    ValueError
        A list that cannot be taken apart.
    """
    try:
        rows = list(csv.reader([typed], skipinitialspace=True, strict=True))
    except csv.Error:  # a line break in a name, a quote that does not end
        raise ValueError(f"write names with commas between them: A,B,C; got {shown(typed)}.") from None
    return tuple(part.strip() for row in rows for part in row)


def split_names(typed: str) -> tuple[str, ...]:
    """The names of a list; one that has a comma itself stands in double quotes, as in a table.

    Raises
    ------
    ValueError
        Fewer than two, an empty one, or one twice.
    """
    try:
        names = parts_of(typed)
    except ValueError:
        names = ()
    if len(names) < 2 or not all(names) or len(set(names)) < len(names):
        raise ValueError(f"name two different systems or more: A,B,C; got {shortened(typed)!r}.")
    return names


MONEY = Kind(amount, {"type": ["number", "string"]}, "AMOUNT", is_number=True)
SHARE = real(0, 1, open="high")
BETWEEN = real(0, 1, open="both")
