"""Simulated studies with looks as blocks of work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humeval_power.planning.workload import study_workload
from humeval_power.scenarios.looks.ratings import RatingLooks
from humeval_power.scenarios.looks.replicates import LookSource
from humeval_power.sweep.blocks import Block
from humeval_power.sweep.spans import spans

_MOST, _MOST_JUDGEMENTS = 8192, 2**25  # replicates of a block, and judgements drawn in it
_PER_JUDGEMENT = 1e-7  # seconds, about


def blocks_of(
    work: Callable[..., Any], source: LookSource, *arguments: Any, n_simulations: int, seed: int
) -> list[Block]:
    """The first `n_simulations` replicates as blocks: work(source, *arguments, seed, first, n, n_jobs=k)."""
    each = _seconds(source)
    return [
        Block(work, (source, *arguments, seed, *part), each * part.n, part.n)
        for part in spans(n_simulations, _size(source))
    ]


def _size(source: LookSource) -> int:
    """Whole draws, so that none is made twice, and several of them for as many threads."""
    together, most = source.drawn_together, _MOST
    if not isinstance(source, RatingLooks):
        most = min(_MOST, _MOST_JUDGEMENTS // source.sizes[-1])
    elif not source.by_mean_squares:
        return together
    return together * max(1, most // together)


def _seconds(source: LookSource) -> float:
    """Of a replicate, about."""
    if not isinstance(source, RatingLooks):
        return _PER_JUDGEMENT * source.sizes[-1]
    work = study_workload(source.design, n_simulations=1, closed_form=source.by_mean_squares)
    return work.seconds * source.n_looks
