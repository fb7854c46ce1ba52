"""The means that a harness reported, beside those of the samples that it logged, taken over what the harness takes
them over: they differ where samples are missing or stand there twice."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from humeval_power.checking.logs.log import Log

_OVER = {"samples": "its samples", "items": "its items, of each the mean over its scored runs,"}
_NEAR = 1e-4  # reports are rounded to four digits at times


@dataclass(frozen=True, slots=True)
class Reported:
    """One metric of one log: its mean over what the harness takes it `over`, and what the harness reported."""

    metric: str
    mean: float
    reported: float
    over: str = "samples"

    @property
    def agrees(self) -> bool:
        """Whether they are the same but for rounding."""
        return math.isclose(self.mean, self.reported, rel_tol=_NEAR, abs_tol=_NEAR)


def with_disagreements(log: Log) -> Log:
    """The log with a notice of each mean that is not what the harness reported."""
    told = tuple(
        f"The mean of {one.metric} over {_OVER[one.over]} is {one.mean:.4g}; the harness reported "
        f"{one.reported:.4g}: samples are missing or twice there, or it takes no mean."
        for one in reported_means(log)
        if not one.agrees
    )
    return replace(log, notices=(*log.notices, *told))


def reported_means(log: Log) -> Iterator[Reported]:
    """The metrics of a log whose mean was reported."""
    named = _by_metric(log.reported)
    for metric in log.metrics:
        values: dict[object, list[float]] = defaultdict(list)
        for place, one in enumerate(log.samples):
            if (value := one.scores.get(metric)) is not None:
                values[one.item if log.reported_over == "items" else place].append(value)
        if metric in named and values:
            mean = _mean([_mean(those) for those in values.values()])
            yield Reported(metric, mean, named[metric], log.reported_over)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _by_metric(reported: Mapping[str, float]) -> dict[str, float]:
    """The same by the metric alone too, where its name goes on with that of one filter: 'acc,none'."""
    bare: dict[str, list[float]] = {}
    for name, value in reported.items():
        bare.setdefault(name.split(",")[0], []).append(value)
    return {**{name: values[0] for name, values in bare.items() if len(values) == 1}, **reported}
