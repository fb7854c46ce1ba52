"""What the files that somebody named hold, as far as the commands that follow depend on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
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
