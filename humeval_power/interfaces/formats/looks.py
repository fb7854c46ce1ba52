"""Pools of past scores: a column of systems and one of their scores."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from humeval_power.errors import InputError
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.scenarios.looks.pools import ScorePair, pair_of_samples


def score_pairs(table: SourceTable, *, system: str, rating: str) -> list[ScorePair]:
    """Every pair of the systems in a table of scores.

    Raises
    ------
    InputError
        A file without the columns, with fewer than two systems, or with a system of fewer than two scores.
    """
    path, frame = table.source, table.frame
    missing = [name for name in (system, rating) if name not in frame.columns]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(map(repr, missing))}; it has "
            f"{', '.join(map(str, frame.columns))}. Name them with --system and --rating."
        )
    scores = pd.to_numeric(frame[rating], errors="coerce")
    bad = scores.isna() & frame[rating].notna() & (frame[rating].astype(str).str.strip() != "")
    if bad.any():
        row = int(np.flatnonzero(bad.to_numpy())[0])
        raise InputError(
            f"{path}: row {frame.index[row]}, column {rating!r}: {frame[rating].iloc[row]!r} is not a number."
        )
    kept = scores.notna()
    by_system = {str(name): part.to_numpy() for name, part in scores[kept].groupby(frame[system][kept])}
    if len(by_system) < 2:
        raise InputError(f"{path} has scores of {len(by_system)} systems; a pool needs at least two.")
    return [
        pair_of_samples(by_system[one], by_system[other], name=f"{one} - {other}")
        for one, other in combinations(sorted(by_system), 2)
    ]
