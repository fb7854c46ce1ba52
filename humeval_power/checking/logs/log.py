"""The log of an evaluation: what one system scored on the items of one task, as a harness wrote it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LogSample:
    """One answer to one item.

    item : its name within the task.
    scores : by the name of the metric; None where the harness gave none.
    run : which generation, epoch or trial it is; '' where there is one only.
    row : the line of the file, or the place in its list, from 1.
    fields : what the data set says of the item; where several items share a value, it may be a cluster.
    asked : what tells that two systems were asked the same; '' where the log does not say.
    label, prediction : the right answer and the system's, where they are texts; None otherwise.
    """

    item: str
    scores: Mapping[str, float | None]
    run: str = ""
    row: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    asked: str = ""
    label: str | None = None
    prediction: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """The samples of one system on one task.

    source : what messages call the file. harness, why : whose log it is, and what it was known by.
    created : when it was written, as a text that sorts; '' where nothing says so.
    notices : what was left out or assumed in reading it.
    reported : the means that the harness reported, by their metrics, as far as it did.
    """

    source: str
    harness: str
    why: str
    system: str
    task: str
    samples: tuple[LogSample, ...]
    sha256: str = ""
    created: str = ""
    notices: tuple[str, ...] = ()
    reported: Mapping[str, float] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that a sample has, in the order in which they come."""
        return tuple(dict.fromkeys(name for sample in self.samples for name in sample.scores))
