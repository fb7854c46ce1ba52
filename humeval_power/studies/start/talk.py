"""What has been answered so far, and what follows from it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Literal, get_args

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
