"""What can be an answer, and what is said where it cannot."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from humeval_power.errors import HumevalPowerError, InputError

if TYPE_CHECKING:
    from humeval_power.reporting.start.talk import Talk

THREE_FILES = ("correct", "corpus")
_OF_THREE = ("of system A", "of system B", "what is right")
MOST_SYSTEMS = 50
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_MOST = {"budget": 1e9, "workers": 1000, "items": 100_000}


def number(text: str) -> float:
    """A finite number, with a decimal point or comma; '1,500' are thousands.

    Raises
    ------
    InputError
        Anything else.
    """
    text = re.sub(r"^(\$|USD) *| *(\$|%|USD|dollars?)$", "", text, flags=re.IGNORECASE)
    digits = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", ".", 1)
    try:
        found = float(digits)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{text!r} is no number." if text else "Give a number.")
    return found


def kept(value: float) -> str:
    """A number as it is kept and typed again."""
    return f"{value:.12g}"


def amount(low: float, high: float, *, above: bool = False) -> Callable[[str, Talk], str]:
    """A check of a number from `low`, or above it, to `high`."""

    def check(text: str, _: Talk) -> str:
        found = number(text)
        if not low <= found <= high or (above and found == low):
            least = f"above {low:g}" if above else f"at least {low:g}"
            raise InputError(f"It is {least} and at most {high:,.0f}; got {text}.")
        return kept(found)

    return check


def file_names(text: str, talk: Talk) -> str:
    """One file, or three with blanks between, in quotation marks where they hold blanks themselves."""
    count_files(talk.judgement, names_of(text, talk))
    return text


def count_files(judgement: str, files: Sequence[str]) -> None:
    """Refuse another number of files than this kind of judgements has.

    Raises
    ------
    InputError
        One where three are needed, none, or several.
    """
    if judgement in THREE_FILES:
        if len(files) != len(_OF_THREE):
            raise InputError(f"Name three files, {', '.join(_OF_THREE)}; got {len(files)}.")
    elif len(files) != 1 or not files[0]:
        raise InputError("Name the one file that there is; it is looked at.")


def names_of(text: str, talk: Talk) -> tuple[str, ...]:
    """The files that an answer names."""
    if talk.judgement not in THREE_FILES:
        plain = text.strip("'\"") if text[:1] == text[-1:] and text[:1] in ("'", '"') else text
        return (plain,) if plain else ()
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise InputError(f"A quotation mark is open in {text!r}.") from None


def systems(text: str, _: Talk) -> str:
    """A number of systems from 2, or names with commas between."""
    if text.lstrip("-").isdigit():
        if not 2 <= int(text) <= MOST_SYSTEMS:
            raise InputError(f"Compare from 2 to {MOST_SYSTEMS} systems; got {text}.")
        return str(int(text))
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or not all(names) or len(set(names)) < len(names) or len(names) > MOST_SYSTEMS:
        raise InputError(
            f"Give their number, such as 2, or at least two different names with commas between; got {text!r}."
        )
    return ",".join(names)


def scale(text: str, _: Talk) -> str:
    """A scale as lowest:highest; '1-5' and '1 to 5' are understood."""
    parts = text.replace(" to ", ":").replace(" ", "")
    if ":" not in parts and parts.count("-") == 1 and not parts.startswith("-"):
        parts = parts.replace("-", ":")
    try:
        from humeval_power.scales import RatingScale  # brings numpy, which the questions do without

        found = RatingScale.parse(parts)
    except HumevalPowerError as error:
        raise InputError(str(error)) from None
    return f"{found.low:.12g}:{found.high:.12g}"


def difference(text: str, talk: Talk) -> str:
    """A difference that can exist, in the unit of the judgement."""
    found = number(text)
    low, high, why = 0.0, math.inf, ""
    if talk.judgement == "points":
        high, why = talk.width, f" on the scale {talk.scale}"
    elif talk.judgement in ("yes-no", "correct", "corpus"):
        high, why = 100, " of a hundred"
    elif talk.judgement == "preference":
        low, high, why = 50, 100, " of a hundred, where 50 is no difference"
    if not low < found < high:
        least = f"above {low:g}"
        most = f" and below {high:g}" if math.isfinite(high) else ""
        raise InputError(f"It is {least}{most}{why}; got {text}.")
    return kept(found)


def accuracy(text: str, talk: Talk) -> str:
    """Points of a hundred that leave room for the difference."""
    found, more = number(text), talk.number("difference") or 2
    if not 0 < found < 100 - more:
        raise InputError(
            f"It is above 0 and below {100 - more:g}, to leave room for the difference; got {text}."
        )
    return kept(found)


def budget(text: str) -> str:
    """An amount of money, a number alone being US dollars."""
    found, most = number(text), _MOST["budget"]
    if not 1 <= found <= most:
        raise InputError(f"It is at least 1 and at most {most:,.0f}; got {text}.")
    return kept(found)


def limit(text: str, talk: Talk) -> str:
    """An amount of money, or a whole number of workers or items that a study can have."""
    if talk.limit == "budget":
        return budget(text)
    found, most = number(text), _MOST[talk.limit]
    if not 2 <= found <= most:
        raise InputError(f"It is at least 2 and at most {most:,.0f}; got {text}.")
    if found != round(found):
        raise InputError(f"It is a whole number; got {text}.")
    return kept(found)
