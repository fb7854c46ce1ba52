"""What workers are shown and asked, before it is brought into the shape of a platform."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from humeval_power.checking.columns import listing
from humeval_power.choices import TITLES, UploaderName
from humeval_power.costs import CostModel
from humeval_power.errors import InputError, Problem
from humeval_power.scales import RatingScale
from humeval_power.studies.field.pseudonyms import is_pseudonym, pseudonyms

if TYPE_CHECKING:
    import pandas as pd

MOST_BUTTONS = 11  # points of a scale that workers choose from; beyond, they move a slider
Kind = Literal["rating", "repeat", "check"]
Content = str | bytes


@dataclass(frozen=True, slots=True)
class Question:
    """A criterion and the words in which it is asked; `labels` name points of the scale, such as {1: "bad"}."""

    criterion: str
    text: str
    labels: Mapping[int, str]

    def choice(self, point: int) -> str:
        """What a point says where workers choose it: its number, and its label if it has one."""
        label = self.labels.get(point)
        return str(point) if label is None else f"{point}: {label}"


@dataclass(frozen=True, slots=True)
class FormRow:
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
class CheckText:
    """An attention check: what it says, and the point of the scale that it asks for."""

    text: str
    right: int
    source: str = ""


@dataclass(frozen=True)
class RatingForm:
    """A study as its workers see it. The scale has whole points; nothing in it names a system. `costs` is what the
    plan pays for the work, None where nobody has said it.

    Raises
    ------
    InputError
        A scale whose points are no whole numbers, two questions of one criterion, labels or right answers that are
        no point of the scale: all at once.
    """

    title: str
    instructions: str
    questions: tuple[Question, ...]
    scale: RatingScale
    shown: tuple[FormRow, ...]
    costs: CostModel | None = None

    def __post_init__(self) -> None:
        problems = [*_scale_problems(self.scale), *_question_problems(self.questions, self.points)]
        points = self.points
        questions = dict.fromkeys((one.text, one.right) for one in self.shown if one.right is not None)
        wrong = [(text, right) for text, right in questions if right not in points]
        problems += [
            Problem(
                f"the check {text!r} asks for {right}, which is no point of the scale {self.scale}.", ""
            )
            for text, right in wrong
        ]
        if problems:
            raise InputError(problems)

    @property
    def is_slider(self) -> bool:
        """Whether workers move a slider: the scale is continuous, or has too many points for buttons."""
        return needs_slider(self.scale)

    @property
    def points(self) -> range:
        """The points of the scale, lowest first."""
        return range(round(self.scale.low), round(self.scale.high) + 1)

    @property
    def slots(self) -> tuple[str, ...]:
        """The worker slots, in their order."""
        return tuple(dict.fromkeys(one.slot for one in self.shown))

    def reward(self, outputs: int) -> Decimal | None:
        """What the plan pays a worker for so many outputs, to the next cent; None where nobody has said it."""
        return None if self.costs is None else self.costs.reward(outputs)

    def of_slot(self, slot: str) -> Sequence[FormRow]:
        """What one worker is shown, in order."""
        return self._by_slot[slot]

    @cached_property
    def _by_slot(self) -> Mapping[str, Sequence[FormRow]]:
        row: dict[str, list[FormRow]] = {slot: [] for slot in self.slots}
        for one in sorted(self.shown, key=lambda one: one.order):
            row[one.slot].append(one)
        return row


@dataclass(frozen=True, slots=True)
class Uploader:
    """A platform's files out of a form: their content by name, a README that says what to do with each among them,
    and where the platform gives answers back a mapping.toml for `import`. `sliders` says whether it can show a
    slider. `remarks` are to be said at once, beside the files."""

    name: UploaderName
    write: Callable[[RatingForm], Mapping[str, Content]]
    sliders: bool = False
    remarks: Callable[[RatingForm], Sequence[str]] = lambda _form: ()

    @property
    def title(self) -> str:
        """What people call it."""
        return TITLES[self.name]


def needs_slider(scale: RatingScale) -> bool:
    """Whether a scale is continuous, or has too many points for buttons."""
    return scale.points is None or scale.points > MOST_BUTTONS


def _scale_problems(scale: RatingScale) -> Iterator[Problem]:
    whole = float(scale.low).is_integer() and float(scale.high).is_integer()
    if not whole or scale.points not in (None, round(scale.width) + 1):
        rule = f"Workers choose whole numbers; the scale is {scale}."
        yield Problem(rule, "Take one such as 1:5, or 0:100 for a slider.")


def _question_problems(questions: Sequence[Question], points: Sequence[int]) -> Iterator[Problem]:
    if not questions:
        yield Problem("A form asks a question at least; there is none.", "")
    names = [one.criterion for one in questions]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1 or not name.strip()):
        yield Problem(f"The criterion {name!r} {'is blank' if not name.strip() else 'is asked twice'}.", "")
    unknown = [str(point) for one in questions for point in one.labels if point not in points]
    if unknown:
        rule = f"There are labels of {listing(list(dict.fromkeys(unknown)))}; the points of the scale are"
        yield Problem(f"{rule} {points[0]} to {points[-1]}.", "")


# The names of workers in what is shown and written: pseudonyms by a secret, their ids, or none.


@dataclass(frozen=True, slots=True)
class Names:
    """How workers are named: by pseudonyms where there is a `secret`, else by their ids, or not at all.

    Ids of platforms are personal data. Pseudonyms, as in a table that was imported, stay where all names are such.
    """

    secret: str | None = field(default=None, repr=False)
    hidden: bool = False

    def of(self, workers: pd.Series) -> pd.Series:
        """What each worker is called; '' stays ''."""
        if self.hidden:
            return workers.map(lambda _: "")
        if self.secret is None or all(map(is_pseudonym, (name for name in workers.unique() if name))):
            return workers
        made = pseudonyms((name for name in workers.unique() if name), key=self.secret, kind="worker")
        return workers.map(lambda name: made.get(name, ""))


BY_ID = Names()
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")  # of an id in the name of a file


def with_pseudonyms(frame: pd.DataFrame, secret: str) -> pd.DataFrame:
    """A table with a pseudonym for each worker: the same secret always gives the same ones. Names of files that a
    worker's id is part of have the pseudonym in its place."""
    workers = frame["worker"].astype(str)
    named = frame.assign(worker=Names(secret).of(workers))
    if "source" not in frame:
        return named
    pairs = zip(frame["source"].astype(str), workers, named["worker"], strict=True)
    files = {source: source for source in frame["source"].astype(str)}
    for source, worker, name in dict.fromkeys(pairs):
        for form in {worker, _UNSAFE.sub("_", worker)} - {""}:
            files[source] = re.sub(rf"(?<![^\W_]){re.escape(form)}(?![^\W_])", name, files[source])
    return named.assign(source=[files[source] for source in frame["source"].astype(str)])
