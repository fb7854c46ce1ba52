"""Which share of the workers is left out of a study."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.simulation.losses import Exclusion


@dataclass(frozen=True, slots=True)
class WorkersOut:
    """Shares of workers whom rules leave out, of the careful and of the careless ones; NaN where there are none."""

    careful: float
    careless: float

    def of_all(self, careless: float) -> float:
        """Of all workers, of whom the share `careless` does not care."""
        out = 0.0 if careless == 0 else careless * self.careless
        return out + (1 - careless) * self.careful


NOBODY_OUT = WorkersOut(0.0, 0.0)


def expected_out(exclusion: Exclusion) -> WorkersOut:
    """Shares without knowing more: careless workers are found wherever somebody is left out."""
    return NOBODY_OUT if exclusion == "none" else WorkersOut(0.0, 1.0)
