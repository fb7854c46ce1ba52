"""Choose the items to rate from a pool, by what a metric says of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.checking.columns import close_to
from humeval_power.choices import (
    DEFAULT_SEED,
    LEAST_DRAWN_ITEMS,
    USUAL_METRIC_CORRELATION,
    USUAL_POOL_WORKERS,
)
from humeval_power.errors import InputError, Problem
from humeval_power.item_pool import IDENTICAL, ItemPool

if TYPE_CHECKING:
    from humeval_power.checking.outputs import ScoredOutputs
    from humeval_power.parameters import Parameters
    from humeval_power.studies.items.result import ChosenItems, Method


def choose(
    outputs: ScoredOutputs,
    n: int | None = None,
    *,
    picked: Sequence[str] | None = None,
    correlation: float = USUAL_METRIC_CORRELATION,
    workers: int = USUAL_POOL_WORKERS,
    ratings_per_item: int | None = None,
    parameters: Parameters | None = None,
    seed: int = DEFAULT_SEED,
) -> ChosenItems:
    """Draw the items to rate, and say what the draw wins over a simple random one.

    Two systems with scores: strata of equal size by the predicted difference, drawn in proportion. Several: a
    draw that is balanced on the contrasts of their scores (cube method). Items whose outputs are identical under
    all systems need no rating: they are left out and counted.

    Parameters
    ----------
    outputs : as `read_scored` reads them.
    n : how many items to draw.
    picked : instead of a draw, the names of items that were picked otherwise; results are then about them alone.
    correlation : assumed of the metric's difference with people's, over items and without their noise.
    workers, ratings_per_item : of the study that is planned, for what the draw wins; None: every worker rates every
        item.
    parameters : how ratings vary, for the same; None takes the published settings 'high' and 'low'.
    seed : of the draw.

    Returns
    -------
    ChosenItems
        Its `pool` is what `assign` and `analyze` take; `to_frame` is the file, a row for each item of the pool.

    Raises
    ------
    InputError
        Fewer than 4 items or more than there are, picked items that the pool does not have, a draw and picked ones.
    """
    from humeval_power.inference.item_sampling import (
        balancing_columns,
        draw_balanced,
        draw_from_strata,
        explained_by_strata,
        strata_of,
    )
    from humeval_power.studies.items.result import ChosenItems, setting_gains

    if (n is None) == (picked is None):
        raise InputError("Say how many items to draw, or which were picked: one of them.")
    if not 0 <= correlation <= 1:
        raise InputError(f"A correlation lies between 0 and 1; got {correlation:g}.")
    if workers < 2 or (ratings_per_item is not None and not 1 <= ratings_per_item <= workers):
        raise InputError(
            "A study has at least 2 workers, and at most as many ratings of an item as workers."
        )
    size, identical = len(outputs.items), outputs.identical
    real = np.flatnonzero(~identical)
    stratum = np.full(size, IDENTICAL, dtype=np.int64)
    stratum[real] = 0
    probability = np.zeros(size)
    chosen = np.zeros(size, dtype=bool)
    explained = 0.0
    method: Method = "simple"
    rng = np.random.default_rng(seed)
    if picked is not None:
        places = _places(outputs, picked)
        probability[:] = np.nan
        method = "picked"
    else:
        assert n is not None
        _check_number(outputs, n, len(real))
        scores = outputs.scores[real]
        varying = scores.shape[1] > 0 and _vary(scores)
        if varying and len(outputs.systems) == 2:
            predicted = scores[:, 1] - scores[:, 0]
            stratum[real] = strata_of(predicted, n, rng)
            drawn, probability[real] = draw_from_strata(stratum[real], n, rng)
            explained = explained_by_strata(predicted, stratum[real])
            method = "strata"
        elif varying:
            drawn = draw_balanced(balancing_columns(scores, n), n, rng)
            probability[real] = n / len(real)
            explained, method = 1.0, "cube"
        else:
            drawn = rng.permutation(len(real))[:n]
            probability[real] = n / len(real)
        places = real[drawn]
    chosen[places] = True
    rest = np.flatnonzero(~chosen)
    pool = ItemPool(
        outputs.items, outputs.systems, outputs.scores, stratum, probability, chosen, outputs.source
    ).reordered(np.concatenate([places, rest]))
    gains = (
        setting_gains(
            pool,
            explained=explained,
            correlation=correlation,
            workers=workers,
            ratings_per_item=ratings_per_item or workers,
            parameters=parameters,
        )
        if method in ("strata", "cube")
        else ()
    )
    return ChosenItems(
        pool=pool,
        method=method,
        metric=outputs.metric,
        explained=explained,
        correlation=correlation,
        gains=gains,
        knows_texts=outputs.texts is not None,
        seed=None if method == "picked" else seed,
    )


def _places(outputs: ScoredOutputs, picked: Sequence[str]) -> np.ndarray:
    """Where picked items stand in the pool."""
    place = {name: number for number, name in enumerate(outputs.items)}
    problems = [
        Problem(f"the pool has no item {name!r}.", close_to(name, outputs.items[:200]), outputs.source)
        for name in picked
        if name not in place
    ]
    problems += [
        Problem(f"item {name!r} is picked {count} times.", "Keep one.", outputs.source)
        for name, count in Counter(picked).items()
        if count > 1
    ]
    identical = outputs.identical
    problems += [
        Problem(
            f"item {name!r} has identical outputs: its difference is 0 without a rating.",
            "Leave it out.",
            outputs.source,
        )
        for name in picked
        if name in place and identical[place[name]]
    ]
    if len(picked) < LEAST_DRAWN_ITEMS:
        rule = f"{len(picked)} items are picked; at least {LEAST_DRAWN_ITEMS} are rated."
        problems.append(Problem(rule, "", outputs.source))
    if problems:
        raise InputError(problems)
    return np.array([place[name] for name in picked])


def _check_number(outputs: ScoredOutputs, n: int, real: int) -> None:
    """Refuse to draw too few items, or more than there are."""
    if n < LEAST_DRAWN_ITEMS:
        raise InputError(f"At least {LEAST_DRAWN_ITEMS} items are drawn; got {n}.")
    if n > real:
        left = len(outputs.items) - real
        same = f", {left:,} of them with identical outputs, which need no rating" if left else ""
        rule = f"the pool has {len(outputs.items):,} items{same}: {n:,} cannot be drawn."
        raise InputError([Problem(rule, f"Draw {real:,} at most.", outputs.source)])


def _vary(scores: np.ndarray) -> bool:
    """Whether the metric tells items apart by how it tells the systems apart."""
    contrasts = scores - scores[:, :1]
    known = contrasts[np.isfinite(contrasts).all(axis=1)]
    return len(known) > 1 and float(np.ptp(known, axis=0).max()) > 0
