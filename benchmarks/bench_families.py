"""Ordinal and yes/no ratings: our fit beside clmm, glmmTMB and glmer on the same table; CPU seconds, medians.

    python benchmarks/bench_families.py [--quick] [--rounds 3]

10 workers x 100 items under both systems, 2,000 ratings, one thread. The peers estimate by maximum likelihood
(glmmTMB with REML = TRUE); our fit is the restricted one with its test. Below: warm simulated replicates,
documents and covariates against two factors, and 20,000 ratings by 100 workers of 2,000 items.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from studies import machine, print_table, run_r, wait_until_quiet

from humeval_power.estimation.latent.engine import LatentProblem, Start, fit_latent_batch
from humeval_power.latent import Link

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

SD = np.array([0.5, 0.4, 0.6, 0.5])  # worker, worker slope, item, item slope, for a noise SD of 1
LOGISTIC = 1.7  # SD of the logistic distribution, about
EFFECT = 0.3
N_WARM = 20
DOCUMENTS = 10


@dataclass(frozen=True)
class Family:
    """A family as it is drawn and fitted, and the peers that fit it."""

    name: str
    link: Link
    cuts: tuple[float, ...]
    peers: tuple[str, ...]

    @property
    def start(self) -> Start:
        """The generating values."""
        scale = LOGISTIC if self.link == "logit" else 1.0
        return Start(scale * SD, scale * np.array(self.cuts), np.array([scale * EFFECT]))

    def draw(self, rng: np.random.Generator, codes: Codes, n: int) -> Codes:
        """Categories (n, ratings)."""
        worker, item, system = codes
        x, values = system - 0.5, self.start
        eta = np.tile(values.coefficients[0] * x, (n, 1))
        for column, (a, b) in zip((worker, item), values.sd.reshape(2, 2), strict=True):
            levels = rng.standard_normal((2, n, column.max() + 1))
            eta += a * levels[0][:, column] + b * levels[1][:, column] * x
        noise = rng.logistic(size=eta.shape) if self.link == "logit" else rng.standard_normal(eta.shape)
        drawn: Codes = (eta + noise > values.thresholds[:, None, None]).sum(axis=0)
        return drawn


FAMILIES = (
    Family("ordinal, 5 points", "probit", (-1.5, -0.5, 0.5, 1.2), ("clmm",)),
    Family("yes or no", "logit", (0.0,), ("glmmTMB", "glmer")),
)


def crossed(n_workers: int, n_items: int) -> Codes:
    return np.indices((n_workers, n_items, 2)).reshape(3, -1)


def some_an_item(n_workers: int, n_items: int, per_item: int, rng: np.random.Generator) -> Codes:
    """Each item under both systems by a few workers of its own."""
    chosen = np.array([rng.choice(n_workers, per_item, replace=False) for _ in range(n_items)])
    item, place, system = np.indices((n_items, per_item, 2)).reshape(3, -1)
    return np.array([chosen[item, place], item, system])


def cpu_of(run: Callable[[], object], *, repeats: int = 5) -> float:
    """Median CPU seconds of a call, which has run once before."""
    run()
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds)


def single(problem: LatentProblem, categories: Codes, family: Family) -> Callable[[], object]:
    return lambda: fit_latent_batch(
        problem, categories[:1], n_categories=len(family.cuts) + 1, link=family.link
    )


def beside_peers(family: Family, *, rounds: int) -> list[list[str]]:
    """Alternate the peers and ours on the same table: a row for each peer."""
    codes = crossed(10, 100)
    categories = family.draw(np.random.default_rng(1), codes, 1)
    ours, theirs = [], {peer: [] for peer in family.peers}
    run = single(LatentProblem.of_design(*codes), categories, family)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.json")
        worker, item, _ = codes.tolist()
        x = (codes[2] - 0.5).tolist()
        table = {"worker": worker, "item": item, "x": x, "y": categories[0].tolist(), "link": family.link}
        path.write_text(json.dumps(table))
        for _ in range(rounds):
            for peer in family.peers:
                theirs[peer].append(run_r("families.R", str(path), peer)["seconds"])
            wait_until_quiet()
            ours.append(cpu_of(run))
    fast = statistics.median(ours)
    return [
        [family.name, peer, f"{slow:.2f}", f"{fast * 1e3:.1f}", f"{slow / fast:,.0f}"]
        for peer, slow in ((peer, statistics.median(seconds)) for peer, seconds in theirs.items())
    ]


def warm(family: Family) -> list[str]:
    """A simulated replicate that starts from the generating values, against a fit."""
    codes = crossed(10, 100)
    categories = family.draw(np.random.default_rng(2), codes, N_WARM)
    problem = LatentProblem.of_design(*codes)
    one = cpu_of(single(problem, categories, family))
    options = {"n_categories": len(family.cuts) + 1, "link": family.link, "start": family.start}
    many = cpu_of(lambda: fit_latent_batch(problem, categories, **options), repeats=3) / N_WARM
    return [family.name, f"{one * 1e3:.1f}", f"{many * 1e3:.1f}", f"{many / one:.2f}"]


def richer(family: Family) -> list[list[str]]:
    """Documents and covariates against two factors."""
    codes = crossed(10, 100)
    rng = np.random.default_rng(3)
    categories = family.draw(rng, codes, 1)
    document = codes[1] // (100 // DOCUMENTS)
    covariates = rng.standard_normal((codes.shape[1], 2))
    problems = {
        "two factors": LatentProblem.of_design(*codes),
        f"{DOCUMENTS} documents": LatentProblem.of_design(*codes, document=document),
        "two covariates": LatentProblem.of_design(*codes, covariates=covariates),
    }
    seconds = {name: cpu_of(single(problem, categories, family)) for name, problem in problems.items()}
    base = seconds["two factors"]
    return [[family.name, name, f"{s * 1e3:.1f}", f"{s / base:.2f}"] for name, s in seconds.items()]


def large(family: Family) -> list[str]:
    """20,000 ratings: five workers an item, 100 workers, 2,000 items."""
    rng = np.random.default_rng(4)
    codes = some_an_item(100, 2000, 5, rng)
    run = single(LatentProblem.of_design(*codes), family.draw(rng, codes, 1), family)
    return [family.name, f"{codes.shape[1]:,}", f"{cpu_of(run, repeats=1):.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    rounds = 1 if wanted.quick else wanted.rounds
    print(machine())
    print("\n10 workers x 100 items x 2 systems, 2,000 ratings; one thread; CPU, medians\n")
    rows = [row for family in FAMILIES for row in beside_peers(family, rounds=rounds)]
    print_table(["ratings", "peer", "peer s", "our fit ms", "ratio"], rows)
    print("\nA simulated replicate from the generating values\n")
    print_table(["ratings", "fit ms", "replicate ms", "share"], [warm(family) for family in FAMILIES])
    print("\nDocuments and covariates\n")
    print_table(
        ["ratings", "model", "fit ms", "times two factors"], [r for f in FAMILIES for r in richer(f)]
    )
    print("\n100 workers x 2,000 items, five workers an item\n")
    print_table(["ratings", "number", "fit s"], [large(family) for family in FAMILIES])


if __name__ == "__main__":
    main()
