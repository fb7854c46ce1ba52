"""What workers are shown and asked, before it is brought into the shape of a platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from humeval_power.scales import RatingScale

Kind = Literal["rating", "repeat", "check"]
Content = str | bytes


@dataclass(frozen=True, slots=True)
class Question:
    """A criterion and the words in which it is asked; `labels` name points of the scale, such as {1: "bad"}."""

    criterion: str
    text: str
    labels: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing that a worker is shown: the row of the assignment, and its text.

    `code` is all that a platform gets of item and system; a check has one of its own, and `right` is the point that
    it asks for. `source` is what stands above the text (the article, the question), '' where there is nothing.
    """

    slot: str
    batch: int
    order: int
    kind: Kind
    code: str
    text: str
    source: str = ""
    right: int | None = None

    @property
    def key(self) -> str:
        """What tells this place of the study from every other: a repeat has the code of what it repeats."""
        return f"{self.slot}-{self.order:03d}-{self.code}"


@dataclass(frozen=True, slots=True)
class RatingForm:
    """A study as its workers see it. The scale has whole points; nothing in it names a system."""

    title: str
    instructions: str
    questions: tuple[Question, ...]
    scale: RatingScale
    shown: tuple[Shown, ...]

    @property
    def points(self) -> tuple[int, ...]:
        """The points of the scale, lowest first."""
        return tuple(range(round(self.scale.low), round(self.scale.high) + 1))

    @property
    def slots(self) -> tuple[str, ...]:
        """The worker slots, in their order."""
        return tuple(dict.fromkeys(one.slot for one in self.shown))

    def of_slot(self, slot: str) -> Sequence[Shown]:
        """What one worker is shown, in order."""
        return sorted((one for one in self.shown if one.slot == slot), key=lambda one: one.order)


@dataclass(frozen=True, slots=True)
class Uploader:
    """A platform's files out of a form: their content by name, a mapping.toml for `import` among them, and a
    README that says what to do with each."""

    name: str
    title: str
    write: Callable[[RatingForm], Mapping[str, Content]]
