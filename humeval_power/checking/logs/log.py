"""The log of an evaluation: what one system scored on the items of one task, as a harness wrote it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from humeval_power.errors import Problem


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
    uuid : of the generation, the same in every log that holds it; '' where the log gives none.
    """

    item: str
    scores: Mapping[str, float | None]
    run: str = ""
    row: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    asked: str = ""
    label: str | None = None
    prediction: str | None = None
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """The samples of one system on one task.

    source : what messages call the file. harness, why : whose log it is, and what it was known by.
    created : when it was written, as a text that sorts; '' where nothing says so.
    identity : the same in two logs of one evaluation, of which the later replaces the earlier; '' if nothing says.
    seeds : by their names, as far as they are stated: logs with other seeds are repetitions.
    unfinished : why it cannot be read by itself; a later log of the same evaluation replaces it.
    notices : what was left out or assumed in reading it.
    reported : the means that the harness reported, by their metrics, as far as it did.
    reported_over : what it takes the mean over: samples, or items after the mean over the runs of each.
    """

    source: str
    harness: str
    why: str
    system: str
    task: str
    samples: tuple[LogSample, ...]
    sha256: str = ""
    created: str = ""
    identity: str = ""
    unfinished: Problem | None = None
    seeds: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    reported: Mapping[str, float] = field(default_factory=dict)
    reported_over: Literal["samples", "items"] = "samples"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that a sample has, in the order in which they come."""
        return tuple(dict.fromkeys(name for sample in self.samples for name in sample.scores))
