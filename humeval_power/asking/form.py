"""What a form of the page shows of a command: which options stand in front, in which words, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Journey = Literal["start", "plan", "ratings", "compare"]
JOURNEYS: dict[Journey, str] = {
    "start": "Where to begin",
    "plan": "Plan a study",
    "ratings": "Look at ratings",
    "compare": "Compare scores",
}


@dataclass(frozen=True, slots=True)
class Control:
    """One option of a command.

    option : its long name as in links, such as "ratings-per-item"; of an argument its name, such as "file".
    label : what stands before it. [made of the option's name]
    unit : what its number counts, such as "workers".
    slider : the lowest and highest value of a slider beside the field; values beyond can be typed.
    start : its value in a form that nobody has touched; "" leaves the option out.
    help : what is said of it. [what --help says]
    labels : plain words for the values of a choice; with them a text becomes a choice of these values;
        those of "" are the words for none of them.
    rows : how many fields there are at least, of what takes several values.
    """

    option: str
    label: str = ""
    unit: str = ""
    slider: tuple[float, float] | None = None
    step: float = 1
    start: str = ""
    help: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    rows: int = 1


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Controls that belong together; one that is folded opens when a value of it is set.

    one_of : options of which only one can be set: to type in one empties the others.
    """

    title: str
    controls: tuple[Control, ...]
    note: str = ""
    folded: bool = False
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Next:
    """Where to go from an answer.

    carries : options that go along; without any all that the other form knows.
    brings : files of this answer by the options of the other form that take them, such as {"plan": "plan.json"}.
    may_bring : the same of files that are not always there.
    sets : options of the other form with their values, where nothing is carried to them.
    fills : numbers of this answer by the options of the other form, each by its place in the record, such as
        {"sd": "data_analysis.difference.sd"}; they go before what is carried.
    needs : places in the record without which there is no such step.
    """

    command: tuple[str, ...]
    label: str
    carries: tuple[str, ...] = ()
    brings: Mapping[str, str] = field(default_factory=dict)
    may_bring: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    fills: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """The page of a command.

    live : options that are put in the place of the form's for the answer that moves while one drags; without
        any there is only the answer of the command as it is.
    is_quick : the command as it is answers while one drags.
    hides : options of the command that the page never offers.
    """

    command: tuple[str, ...]
    journey: Journey
    title: str
    lead: str
    groups: tuple[FormGroup, ...]
    live: Mapping[str, str] = field(default_factory=dict)
    next: tuple[Next, ...] = ()
    hides: tuple[str, ...] = ()
    is_quick: bool = False

    @property
    def by_formula(self) -> bool:
        """Whether the answer that moves is a formula's, and a simulation follows."""
        return not {"method", "power-by"}.isdisjoint(self.live)

    @property
    def moves(self) -> bool:
        """Whether an answer comes while one drags."""
        return bool(self.live) or self.is_quick

    @property
    def path(self) -> str:
        """Where its page is: "/compare/scores"."""
        return "/" + "/".join(self.command)

    @property
    def start(self) -> tuple[tuple[str, str], ...]:
        """The options of a form that nobody has touched."""
        return tuple(
            (control.option, control.start)
            for group in self.groups
            for control in group.controls
            if control.start
        )
