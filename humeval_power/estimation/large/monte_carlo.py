"""What fixed probes leave uncertain in the fit of a table of very many workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NO_LIKELIHOOD = "a table of so many workers and items is fitted without evaluating its likelihood"


@dataclass(frozen=True, slots=True)
class MonteCarlo:
    """Monte Carlo error of a fit whose variances were found with random probes, drawn once by `seed`.

    deviations : of each SD above zero, relative to its own standard error, by name.
    effect, standard_error : of the effect and of its standard error, both relative to that standard error.
    """

    probes: int
    seed: int
    deviations: Mapping[str, float]
    effect: float
    standard_error: float

    @property
    def largest(self) -> float:
        """The largest error of an SD, relative to its standard error."""
        return max(self.deviations.values(), default=0.0)
