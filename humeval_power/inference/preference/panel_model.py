"""Preferences of workers on items in the latent engine: what can be estimated, the fits, and their tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.mcnemar import exact_p
from humeval_power.inference.preference.latent_scale import FIRST, LatentPreference
from humeval_power.latent import Link

if TYPE_CHECKING:  # the kernels, which formulas do without
    from humeval_power.estimation.latent.engine import LatentProblem, Start

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SEPARATED = -1  # no fit was tried: some judgements are all alike


@dataclass(frozen=True, slots=True, eq=False)
class PanelFits:
    """One entry a table, shape (tables,): the latent strength of B with its test against 0, the threshold, the
    position bias with its standard error (NaN without one), and the standard deviations of workers and items (0
    where they are not estimated). `status` is 0 for a fit, SEPARATED, or a code of the engine's; numbers of
    other tables are NaN.
    """

    strength: Floats
    standard_error: Floats
    df: Floats
    threshold: Floats
    position_bias: Floats
    position_error: Floats
    sd_worker: Floats
    sd_item: Floats
    status: Codes

    @property
    def usable(self) -> Flags:
        """Which have an estimate with a standard error and df."""
        with np.errstate(invalid="ignore"):
            return np.asarray(
                (self.status == 0)
                & np.isfinite(self.standard_error)
                & (self.standard_error > 0)
                & (self.df > 0)
            )

    def latent(self, row: int, link: Link) -> LatentPreference:
        """The model of one table as it was estimated."""
        bias = float(self.position_bias[row])
        return LatentPreference(
            float(self.strength[row]),
            float(self.threshold[row]),
            0.0 if np.isnan(bias) else bias,
            float(self.sd_worker[row]),
            float(self.sd_item[row]),
            link,
        )

    @property
    def p_value(self) -> Floats:
        """Two-sided, of t on `df` degrees of freedom."""
        return np.asarray(2 * special.stdtr(self.df, -np.abs(self.strength / self.standard_error)))


@dataclass(frozen=True, slots=True, eq=False)
class PanelModel:
    """Who judged what, shape (judgements,): codes of workers and items from 0, and +1/2 where B was shown
    first, -1/2 where A was. What cannot be told apart is left out (`of`)."""

    worker: Codes
    item: Codes
    position: Floats | None
    by_worker: bool
    by_item: bool
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, worker: Codes, item: Codes, position: Floats | None = None) -> PanelModel:
        """The model with what these judgements can tell apart; `left_out` says what they cannot, and why."""
        why = [
            reason
            for codes, name in ((worker, "worker"), (item, "item"))
            if (reason := _fixed(codes, name))
        ]
        by_worker, by_item = _varies(worker), _varies(item)
        if by_worker and by_item and _coincide(worker, item):
            by_item = False
            why.append(
                "Every worker judged one item and every item had one worker: their variation is one."
            )
        if position is not None and len(np.unique(position)) < 2:
            first = "B" if position[0] > 0 else "A"
            why.append(
                f"{first} was always shown first: what the order does cannot be told from the preference."
            )
            position = None
        return cls(worker, item, position, by_worker, by_item, tuple(why))

    def fits(
        self, outcomes: Codes, *, link: Link, start: LatentPreference | None = None, n_jobs: int = 1
    ) -> PanelFits:
        """Fit tables of judgements, shape (tables, judgements): -1 prefers A, 0 tie, +1 prefers B; `start` is
        where the search of each begins. Where neither workers nor items vary there is no model to fit."""
        fits = _unknown(len(outcomes))
        if not (self.by_worker or self.by_item):
            return fits
        separated = self.separated(outcomes)
        with_ties = (outcomes == 0).any(axis=1)
        for ties in (False, True):
            rows = np.flatnonzero(~separated & (with_ties == ties))
            if len(rows):
                self._fill(fits, rows, outcomes[rows], link, start, n_jobs)
        return fits

    def separated(self, outcomes: Codes) -> Flags:
        """Which tables, shape (tables, judgements), have no highest likelihood: nobody prefers A, or B, in
        each order of presentation; or in one of them all prefer the same."""
        whole = np.ones(outcomes.shape[1], dtype=bool)
        cells = [whole] if self.position is None else [self.position == x for x in FIRST]
        contested = np.zeros(len(outcomes), dtype=bool)
        unanimous = contested.copy()
        for cell in cells:
            won, lost, tied = ((outcomes[:, cell] == sign).sum(axis=1) for sign in (1, -1, 0))
            contested |= (won > 0) & (lost > 0)
            unanimous |= (np.minimum(won, lost) == 0) & (np.maximum(won, lost) > 0) & (tied == 0)
        return np.asarray(~contested | unanimous)

    def sign_p(self, outcomes: Codes) -> Floats:
        """The largest p-value of exact sign tests of what most judgements of each worker, and of each item,
        prefer; of the single judgements where neither repeats. Right whatever else varies, and cautious."""
        units = [
            codes for codes, kept in ((self.worker, self.by_worker), (self.item, self.by_item)) if kept
        ]
        found = [exact_p(*majorities(outcomes, codes)) for codes in units]
        if not found:
            found = [exact_p((outcomes > 0).sum(axis=1), (outcomes < 0).sum(axis=1))]
        return np.asarray(np.max(found, axis=0))

    def _fill(
        self,
        fits: PanelFits,
        rows: Codes,
        outcomes: Codes,
        link: Link,
        start: LatentPreference | None,
        n_jobs: int,
    ) -> None:
        """Fit tables that all have ties, or all have none."""
        from humeval_power.estimation.latent.engine import fit_latent_batch

        ties = bool((outcomes[0] == 0).any())
        found = fit_latent_batch(
            self._problem,
            outcomes + 1 if ties else (outcomes + 1) // 2,
            n_categories=3 if ties else 2,
            link=link,
            start=None if start is None else self._start(start, ties=ties),
            n_jobs=n_jobs,
        )
        fits.status[rows] = found.status
        fits.strength[rows] = found.effect
        fits.standard_error[rows] = found.standard_error_adjusted
        fits.df[rows] = found.df
        fits.threshold[rows] = found.thresholds[:, -1] if ties else 0.0
        if self.position is not None:
            fits.position_bias[rows] = found.coefficients[:, -1]
            fits.position_error[rows] = np.sqrt(found.fixed_covariance[:, -1, -1])
        fits.sd_worker[rows] = found.sd[:, 0] if self.by_worker else 0.0
        fits.sd_item[rows] = found.sd[:, -1] if self.by_item else 0.0

    def _start(self, start: LatentPreference, *, ties: bool) -> Start:
        from humeval_power.estimation.latent.engine import Start

        cut = start.threshold
        bias = [] if self.position is None else [start.position_bias]
        return Start(
            sd=np.array([start.sd_worker, start.sd_item]),
            thresholds=np.array([-cut, cut] if ties else [0.0]),
            coefficients=np.array([start.strength, *bias]),
        )

    @property
    def _problem(self) -> LatentProblem:
        from humeval_power.estimation.latent.engine import LatentProblem

        return LatentProblem.of_preferences(
            self.worker if self.by_worker else np.zeros_like(self.worker),
            self.item if self.by_item else np.zeros_like(self.item),
            position=self.position,
        )


def majorities(outcomes: Codes, codes: Codes) -> tuple[Codes, Codes]:
    """How many workers, or items, of each table prefer B more often than A, and how many A; (tables,) each."""
    order = np.argsort(codes, kind="stable")
    begin = np.flatnonzero(np.diff(codes[order], prepend=-1))
    total = np.add.reduceat(outcomes[:, order], begin, axis=1)
    return (total > 0).sum(axis=1), (total < 0).sum(axis=1)


def _varies(codes: Codes) -> bool:
    """Whether there are several levels and one of them at least repeats."""
    return 1 < len(np.unique(codes)) < len(codes)


def _coincide(worker: Codes, item: Codes) -> bool:
    pairs = len(np.unique(np.stack([worker, item]), axis=1).T)
    return pairs == len(np.unique(worker)) == len(np.unique(item))


def _fixed(codes: Codes, name: str) -> str:
    """Why the standard deviation of workers or items is fixed at zero; '' if it is not."""
    if _varies(codes):
        return ""
    if len(np.unique(codes)) == 1:
        return f"There is one {name}: what is found holds for that {name} alone."
    return f"No {name} has two judgements: how {name}s vary is part of the noise."


def _unknown(n: int) -> PanelFits:
    a, b, c, d, e, f, g, h = np.full((8, n), np.nan)
    return PanelFits(a, b, c, d, e, f, g, h, np.full(n, SEPARATED, dtype=np.int64))
