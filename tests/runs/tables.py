"""Tables of repeated runs for tests: arrays (items, systems, runs) as records and as files."""

from pathlib import Path

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.comparisons.runs.testing import RunTable


def table_of(
    scores: np.ndarray, *, clusters: np.ndarray | None = None, column: str = "generation"
) -> RunTable:
    """Scores (items, systems, runs) as a table; NaN where there is none."""
    item, system, run = np.nonzero(np.isfinite(scores))
    n, k, m = scores.shape
    return RunTable(
        item.astype(np.int64),
        system.astype(np.int64),
        run.astype(np.int64),
        scores[item, system, run],
        tuple(f"i{i}" for i in range(n)),
        tuple("ABCDEFGH"[:k]),
        tuple(str(j) for j in range(m)),
        run_column=column,
        clusters=None if clusters is None else Clusters.of(list(clusters), name="passage"),
    )


def nested_scores(
    rng: np.random.Generator,
    *,
    n: int = 40,
    runs: int = 3,
    effect: float = 0.0,
    sd_item: float = 0.3,
    sd_run: float = 0.4,
    clusters: np.ndarray | None = None,
    icc: float = 0.0,
) -> np.ndarray:
    """Gaussian scores of generations: shape (n, 2, runs)."""
    own = rng.normal(size=n) * np.sqrt(1 - icc)
    if clusters is not None:
        own = own + rng.normal(size=int(clusters.max()) + 1)[clusters] * np.sqrt(icc)
    level = rng.normal(0.5, 0.5, (n, 1, 1))
    x = np.array([-0.5, 0.5])[None, :, None]
    return level + (effect + sd_item * own)[:, None, None] * x + rng.normal(0, sd_run, (n, 2, runs))


def crossed_scores(
    rng: np.random.Generator,
    *,
    n: int = 30,
    prompts: int = 5,
    effect: float = 0.0,
    sd_prompt: float = 0.2,
    sd_item: float = 0.3,
    sd_residual: float = 0.3,
) -> np.ndarray:
    """Gaussian scores under the same prompts for all items: shape (n, 2, prompts)."""
    x = np.array([-0.5, 0.5])[None, :, None]
    slope = effect + rng.normal(0, sd_prompt, (1, 1, prompts)) + rng.normal(0, sd_item, (n, 1, 1))
    level = rng.normal(0, 0.2, (1, 1, prompts)) + rng.normal(0, 0.5, (n, 1, 1))
    return level + slope * x + rng.normal(0, sd_residual, (n, 2, prompts))


def write(path: Path, scores: np.ndarray, *, column: str = "generation", group: int = 0) -> Path:
    """The same as a file; with `group` so many items in a row share a passage."""
    head = f"item,system,{column},score" + (",passage" if group else "")
    lines = [
        f"q{i},{'ABCDEFGH'[s]},{r + 1},{scores[i, s, r]:.6g}" + (f",p{i // group}" if group else "")
        for i, s, r in np.ndindex(scores.shape)
        if np.isfinite(scores[i, s, r])
    ]
    path.write_text("\n".join([head, *lines]) + "\n")
    return path
