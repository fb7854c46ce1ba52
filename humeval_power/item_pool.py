"""A pool of items of which some are rated: which, how likely each was, and what a metric says of all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

IDENTICAL = -1  # the stratum of items whose outputs are the same under all systems: they need no rating
SAME_PROBABILITY = 1e-6  # probabilities that differ no more are equal but for rounding


class Frame(NamedTuple):
    """What an estimate takes of a pool without its identical items, and of the chosen ones in their order.

    stratum (n,), weight (H,), size (H,) : the stratum of each chosen item; of each stratum its share and its number
        of items in the pool.
    predicted (n,) : the metric's difference of each chosen item from the mean of the pool, in SDs of the pool; None
        where it has no spread. predicted_in_pool (N,) and stratum_in_pool (N,) are those of all.
    probability (n,) : of being drawn.
    """

    stratum: Codes
    weight: Floats
    size: Codes
    predicted: Floats | None
    predicted_in_pool: Floats | None
    stratum_in_pool: Codes
    probability: Floats


@dataclass(frozen=True, eq=False)
class ItemPool:
    """Items with what was known of them before any rating; chosen ones first, in the order to rate them.

    scores : (N, K), a metric's of the output of each system, NaN where there is none; (N, 0) without a metric.
    stratum : (N,), -1 for items whose outputs are identical under all systems.
    probability : (N,) of being drawn, 0 for identical items; NaN for all where the chosen ones were picked and not
        drawn, so that they stand for themselves alone.
    chosen : (N,).

    Raises
    ------
    InputError
        No item is chosen.
    """

    items: tuple[str, ...]
    systems: tuple[str, ...]
    scores: Floats
    stratum: Codes
    probability: Floats
    chosen: Mask
    source: str = "pool"

    def __post_init__(self) -> None:
        if not self.chosen.any():
            raise InputError(f"{self.source}: no item of the pool is chosen.")

    @property
    def n_items(self) -> int:
        """Items of the pool, the identical ones included."""
        return len(self.items)

    @property
    def n_chosen(self) -> int:
        """Items to rate."""
        return int(self.chosen.sum())

    @property
    def identical(self) -> Mask:
        """Which items have the same output under all systems, (N,)."""
        return np.asarray(self.stratum == IDENTICAL)

    @property
    def identical_share(self) -> float:
        """Their share of the pool."""
        return float(self.identical.mean())

    @property
    def by_hand(self) -> bool:
        """Whether the items were picked and not drawn."""
        return bool(np.isnan(self.probability).all())

    @property
    def unequal(self) -> bool:
        """Whether items were drawn with probabilities that differ otherwise than by rounding, and not by strata."""
        drawn = self.probability[~self.identical]
        return bool(not self.by_hand and self.n_strata == 1 and np.ptp(drawn) > SAME_PROBABILITY)

    @property
    def n_strata(self) -> int:
        """Strata of the items that are not identical."""
        return int(self.stratum.max()) + 1

    @property
    def chosen_items(self) -> tuple[str, ...]:
        """Their names, in the order to rate them."""
        return tuple(name for name, is_chosen in zip(self.items, self.chosen, strict=True) if is_chosen)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each item stands."""
        return {name: place for place, name in enumerate(self.items)}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that an estimate takes of it, whatever its file is called."""
        columns = (self.stratum, self.probability, self.chosen, self.scores)
        content = (self.items, self.systems, *(column.tolist() for column in columns))
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def predicted(self, first: str, second: str) -> Floats | None:
        """The metric's difference second - first, (N,), from its mean over the items that are not identical and in
        SDs of these; items without a score have the mean. None where no score has any spread."""
        if not self.scores.shape[1] or not {first, second} <= set(self.systems):
            return None
        a, b = (self.scores[:, self.systems.index(name)] for name in (first, second))
        difference = np.where(self.identical, np.nan, b - a)
        known = np.isfinite(difference)
        if known.sum() < 2:
            return None
        centre, spread = difference[known].mean(), difference[known].std()
        if not spread > 1e-12 * max(np.abs(difference[known]).max(), 1e-300):
            return None
        return np.where(known, (difference - centre) / spread, 0.0)

    def frame(self, rated: Sequence[str], first: str, second: str) -> Frame:
        """What an estimate of second - first takes of the pool, for these rated items of it."""
        real = ~self.identical
        at = np.array([self.places[name] for name in rated], dtype=np.int64)
        stratum = self.stratum.copy()
        if self.by_hand:  # the rated ones are all there is
            stratum = np.where(real, 0, IDENTICAL)
        size = np.array([len(at)]) if self.by_hand else np.bincount(stratum[real])
        predicted = self.predicted(first, second)
        own = predicted is not None and float(np.ptp(predicted[at])) > 0 and not self.by_hand
        return Frame(
            stratum[at],
            size / size.sum(),
            size,
            predicted[at] if own and predicted is not None else None,
            predicted[real] if own and predicted is not None else None,
            stratum[real],
            self.probability[at],
        )

    def reordered(self, order: Codes) -> Self:
        """The same pool with its items in another order."""
        return type(self)(
            tuple(self.items[place] for place in order),
            self.systems,
            self.scores[order],
            self.stratum[order],
            self.probability[order],
            self.chosen[order],
            self.source,
        )
