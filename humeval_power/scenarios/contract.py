"""The contract between what can be simulated and everything that is asked about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Simulated studies, one entry each (first axis).

    `status` is 0 for a fit that can be used; another value marks a failure, which is never counted as
    'not significant'. `boundary`, shape (n, k), says which variance components were estimated as zero;
    k may be 0. `directed` is false where a significant study claims no direction, as with equivalence
    and non-inferiority: the sign of its estimate then does not matter. `claim`, shape (n,), has the sign
    that each study claims where that is not its estimate's: a rank test can contradict the means.
    """

    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    status: NDArray[np.int64]
    boundary: Flags
    boundary_names: tuple[str, ...] = ()
    directed: bool = True
    claim: Floats | None = None

    def __len__(self) -> int:
        return len(self.estimate)

    @property
    def usable(self) -> Flags:
        """Which replicates count."""
        return np.asarray((self.status == 0) & np.isfinite(self.p_value))

    def first(self, n: int) -> Replicates:
        """The first `n` replicates."""
        return self.part(slice(0, n))

    def part(self, rows: slice) -> Replicates:
        """Some of the replicates."""
        return replace(
            self,
            estimate=self.estimate[rows],
            standard_error=self.standard_error[rows],
            df=self.df[rows],
            p_value=self.p_value[rows],
            status=self.status[rows],
            boundary=self.boundary[rows],
            claim=None if self.claim is None else self.claim[rows],
        )


class Scenario(Protocol):
    """Something whose power can be computed.

    `draw` returns replicates `first` to `first + n - 1` of the endless sequence that belongs to the
    seed: replicate i does not depend on how many are drawn, nor in which portions, nor on `n_jobs`.
    """

    @property
    def true_effect(self) -> float:
        """The effect that the simulated studies really have, in the units of `Replicates.estimate`."""
        ...

    @property
    def alpha(self) -> float:
        """The level at which a study is called significant."""
        ...

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate `n` studies and test each."""
        ...

    def with_effect(self, effect: float) -> Scenario:
        """The same studies with another true effect."""
        ...


class Shiftable(Scenario, Protocol):
    """A scenario whose replicates under another effect are its own, moved."""

    def shifted(self, replicates: Replicates, by: float) -> Replicates:
        """The replicates with a true effect larger by `by`."""
        ...
