"""Documents and covariates against the fit of workers and items alone: 10 x 100 x 2 ratings, one thread.

    python benchmarks/bench_structure.py [--replicates 64] [--rounds 10]

Processor time of a simulated replicate, the best of several rounds in which the models take turns, so that
other work on the machine disturbs little. Expected: nested documents and covariates within 2 times the
two-factor fit.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time

import numpy as np
from numpy.typing import NDArray
from studies import machine, print_table

from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem

N_WORKERS, N_ITEMS, N_DOCUMENTS = 10, 100, 10
SD = {"worker": 0.1, "item": 0.1, "document": 0.1, "residual": 0.2}


def seconds(problem: CrossedProblem, responses: NDArray[np.float64]) -> float:
    """Processor seconds of one replicate."""
    start = np.full(problem.n_components, (SD["worker"] / SD["residual"]) ** 2)
    begun = time.process_time()
    fit_batch(problem, responses, start=start)
    return (time.process_time() - begun) / len(responses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    worker, item, system = np.indices((N_WORKERS, N_ITEMS, 2)).reshape(3, -1)
    document, x = item * N_DOCUMENTS // N_ITEMS, system - 0.5
    rng = np.random.default_rng(1)
    covariates = rng.normal(size=(len(x), 2))

    def drawn() -> NDArray[np.float64]:
        y = 0.5 + rng.normal(0, SD["residual"], len(x))
        for noun, codes in (("worker", worker), ("item", item), ("document", document)):
            effects = rng.normal(0, SD[noun], (2, int(codes.max()) + 1))
            y = y + effects[0, codes] + effects[1, codes] * x
        return y

    responses = np.stack([drawn() for _ in range(given.replicates)])
    models = {
        "workers and items": {},
        "nested documents": {"document": document},
        "two covariates": {"covariates": covariates},
        "nested documents, two covariates": {"document": document, "covariates": covariates},
        "crossed documents": {"document": (item + worker) % N_DOCUMENTS},
    }
    print(machine())
    problems = {
        name: CrossedProblem.of_design(worker, item, system, **more) for name, more in models.items()
    }
    # the first round loads the kernels and is not counted
    rounds = [[seconds(each, responses) for each in problems.values()] for _ in range(1 + given.rounds)]
    best = np.min(rounds[1:], axis=0)
    rows = [
        [name, f"{1000 * one:.2f}", f"{one / best[0]:.2f}"] for name, one in zip(models, best, strict=True)
    ]
    print_table(["model", "ms a replicate", "times the first"], rows)


if __name__ == "__main__":
    main()
