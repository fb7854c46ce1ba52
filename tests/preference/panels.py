"""Made panels of judgements: tables with known strengths, among them singular and uneven ones."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Table(NamedTuple):
    """Codes from 0, outcomes -1, 0, +1, and +1/2 where B was shown first; one entry a judgement."""

    worker: NDArray[np.int64]
    item: NDArray[np.int64]
    outcome: NDArray[np.int64]
    position: NDArray[np.float64]

    def write(self, path: Path) -> str:
        """The table as people have it."""
        names = {-1: "A", 0: "tie", 1: "B"}
        rows = zip(*(column.tolist() for column in self), strict=True)
        lines = [f"w{w},i{i},{names[o]},{'B' if x > 0 else 'A'}" for w, i, o, x in rows]
        path.write_text("worker,item,winner,position\n" + "\n".join(lines) + "\n", encoding="utf-8")
        return str(path)


def drawn(
    seed: int,
    n_workers: int,
    n_items: int,
    *,
    threshold: float = 0.0,
    strength: float = 0.4,
    bias: float = 0.5,
    sds: tuple[float, float] = (0.5, 0.6),
    share: float = 1.0,
    logit: bool = False,
) -> Table:
    """A table in which each pair is judged with probability `share`."""
    rng = np.random.default_rng(seed)
    worker, item = (each.ravel() for each in np.meshgrid(range(n_workers), range(n_items), indexing="ij"))
    kept = rng.random(len(worker)) < share
    worker, item = (np.unique(codes[kept], return_inverse=True)[1] for codes in (worker, item))
    position = np.where(rng.random(len(worker)) < 0.5, 0.5, -0.5)
    noise = rng.logistic(size=len(worker)) if logit else rng.standard_normal(len(worker))
    own = sds[0] * rng.standard_normal(n_workers)[worker] + sds[1] * rng.standard_normal(n_items)[item]
    eta = strength + bias * position + own + noise
    return Table(worker, item, (eta > threshold).astype(np.int64) - (eta < -threshold), position)


TABLES = {
    "no ties": drawn(1, 6, 20),
    "ties": drawn(1, 6, 20, threshold=0.4),
    "many ties": drawn(2, 5, 16, threshold=1.5, strength=0.8),
    "no worker varies": drawn(3, 5, 20, threshold=0.4, sds=(0.0, 0.6)),
    "nothing varies": drawn(4, 4, 25, sds=(0.0, 0.0)),
    "uneven": drawn(5, 8, 25, threshold=0.4, share=0.45),
    "three workers": drawn(6, 3, 30, threshold=0.3),
    "large bias": drawn(7, 6, 20, threshold=0.4, bias=1.8),
    "logit": drawn(8, 6, 20, threshold=0.6, sds=(0.9, 1.0), logit=True),
    "logit, no ties, uneven": drawn(9, 8, 25, sds=(0.9, 0.4), share=0.45, logit=True),
}
