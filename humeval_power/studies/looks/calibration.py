"""Boundaries corrected by simulation, where few workers make the p-values of the looks too bold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from humeval_power.errors import InputError
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.replicates import (
    MOST_IN_BLOCK,
    Floats,
    GrowingStudy,
    LookReplicates,
    LookSource,
    RatingLooks,
)
from humeval_power.sweep.blocks import Block, run_blocks
from humeval_power.sweep.versions import spans

# Simulated studies with looks as blocks of work.

_MOST_JUDGEMENTS = 2**25  # drawn in a block
_PER_JUDGEMENT = 1e-7  # seconds, about


def blocks_of(
    work: Callable[..., Any],
    source: LookSource | GrowingStudy,
    *arguments: Any,
    n_simulations: int,
    seed: int,
) -> list[Block]:
    """The first `n_simulations` replicates as blocks: work(looks, *arguments) of the looks that each draws. Blocks
    are whole draws, so that none is made twice, and several of them for as many threads."""
    if isinstance(source, GrowingStudy):
        each, most = source.seconds_each, source.in_a_block
    else:
        size, together = source.sizes[-1], source.drawn_together
        each = _PER_JUDGEMENT * size
        most = together * max(1, min(MOST_IN_BLOCK, _MOST_JUDGEMENTS // size) // together)
    return [
        Block(_of_drawn, (work, source, seed, *part, *arguments), each * part.n, part.n)
        for part in spans(n_simulations, most)
    ]


def _of_drawn(
    work: Callable[..., Any],
    source: Any,
    seed: int,
    first: int,
    n: int,
    *arguments: Any,
    n_jobs: int = 1,
) -> Any:
    """The work of a block, on studies `first` to `first + n - 1`."""
    return work(source.draw_looks(n, seed=seed, first=first, n_jobs=n_jobs), *arguments)


def run_together(lists: Sequence[Sequence[Block]], *, n_jobs: int) -> list[list[Any]]:
    """What the blocks of each list return, all of them run together."""
    done = run_blocks([block for blocks in lists for block in blocks], n_jobs=n_jobs)
    return [[next(done) for _ in blocks] for blocks in lists]


Calibrate = Literal["auto", "always", "never"]
ENOUGH_WORKERS = 10  # at the first look; from here on information time alone is within 0.055 of a 0.05
MULTIPLES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)  # of the planned worker SD: the worst case is looked for here
LEAST_SD = 0.1  # of the residual SD: what the multiples refer to where workers are planned to agree


@dataclass(frozen=True, slots=True)
class LooksCalibration:
    """Factors on the nominal levels that make the whole procedure keep to alpha.

    `at_plan` holds at the planned parameters; `worst` is the smallest over the worker SDs `worker_sds`, with
    factors `by_worker_sd`, reached at `worst_worker_sd`; `used` is the smaller of `worst` and 1, for a factor
    above 1 would trust the plan.
    """

    at_plan: float
    worst: float
    worst_worker_sd: float
    worker_sds: tuple[float, ...]
    by_worker_sd: tuple[float, ...]
    n_simulations: int

    @classmethod
    def of(cls, by_sd: Mapping[float, float], planned: float, n_simulations: int) -> LooksCalibration:
        """From the factor at each worker SD, the planned one among them."""
        sds, worst = tuple(sorted(by_sd)), min(by_sd, key=lambda sd: by_sd[sd])
        factors = tuple(by_sd[sd] for sd in sds)
        return cls(by_sd[planned], by_sd[worst], worst, sds, factors, n_simulations)

    @property
    def used(self) -> float:
        """The factor to use."""
        return min(self.worst, self.at_plan, 1.0)


def level_ratios(looks: LookReplicates, bounds: Boundaries) -> Floats:
    """For each study the smallest p over nominal level of its looks, shape (n,): it is significant if that is
    at most 1. Looks after a binding futility do not count; failed studies are left out."""
    kept = looks.usable
    with np.errstate(divide="ignore"):
        ratio = looks.p_value[kept] / bounds.nominal
    if bounds.rule.binding:
        futile = looks.p_value[kept] > bounds.futility_p
        gone = np.cumsum(futile, axis=1) > 0
        ratio = np.where(gone, np.inf, ratio)
    return np.asarray(ratio.min(axis=1))


def is_calibrated(wish: Calibrate, first_workers: int) -> bool:
    """Whether boundaries are corrected, where so many workers are there at the first look."""
    return wish == "always" or (wish == "auto" and first_workers < ENOUGH_WORKERS)


def level_factor(ratios: Floats, alpha: float) -> float:
    """The factor on the nominal levels at which a share alpha of studies without an effect is significant.

    ratios : the `level_ratios` of such studies, in any order

    Raises InputError: too few usable studies for a quantile at alpha.
    """
    ratios = np.sort(ratios)
    beyond = math.floor(alpha * (len(ratios) + 1))
    if beyond < 1:
        raise InputError(
            f"n_simulations: {len(ratios)} studies are too few to calibrate boundaries at alpha "
            f"{alpha:g}: simulate more."
        )
    return float(ratios[beyond - 1])


def sds_to_try(planned: float, sd_residual: float) -> tuple[float, ...]:
    """Where the worst case is looked for: 0 to 4 times the planned worker SD."""
    base = max(planned, LEAST_SD * sd_residual)
    return tuple(dict.fromkeys((*(base * multiple for multiple in MULTIPLES), planned)))


def at_worker_sds(
    work: Callable[..., Any],
    null: Callable[[float], LookSource | GrowingStudy],
    sds: Sequence[float],
    *arguments: Any,
    n_simulations: int,
    seed: int,
    n_jobs: int,
) -> dict[float, list[Any]]:
    """What the blocks of the null study at each worker SD return; the same random numbers serve them all."""
    lists = [blocks_of(work, null(sd), *arguments, n_simulations=n_simulations, seed=seed) for sd in sds]
    return dict(zip(sds, run_together(lists, n_jobs=n_jobs), strict=True))


def calibrate(
    study: RatingLooks,
    bounds: Boundaries,
    *,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
    worker_sds: Sequence[float] | None = None,
) -> LooksCalibration:
    """Calibrate boundaries at the planned parameters, and at the worst of several worker SDs.

    The boundaries' shape is kept; the same random numbers serve every worker SD.

    worker_sds : SDs of workers' own differences B - A to try; those of `sds_to_try` if not given
    """
    without = study.with_effect(0.0)
    coded = study.parameters.recoded()
    planned = coded.sd_worker_slope

    tried = sds_to_try(planned, coded.sd_residual)
    if worker_sds is not None:
        tried = tuple(dict.fromkeys((*worker_sds, planned)))
    how = {"n_simulations": n_simulations, "seed": seed, "n_jobs": n_jobs}
    ratios = at_worker_sds(level_ratios, without.with_worker_slope, tried, bounds, **how)
    by_sd = {sd: level_factor(np.concatenate(of_sd), bounds.rule.alpha) for sd, of_sd in ratios.items()}
    return LooksCalibration.of(by_sd, planned, n_simulations)
