"""The same battles by this package, by arena-rank and by FastChat's bootstrap: CPU seconds, and ratios to ours.

python -m venv /tmp/others && /tmp/others/bin/pip install arena-rank
python benchmarks/bench_others.py /tmp/others/bin/python [BATTLES SYSTEMS VOTERS]

arena-rank runs in an environment of its own, since it brings JAX. FastChat's bootstrap is written here as its
notebook describes it: in each round battles are drawn with replacement, which for strengths is a multinomial of the
cells (ties half a win for each), and Bradley and Terry's model is fitted by L-BFGS; 100 rounds, no voters.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from bench_boards import drawn_battles
from scipy import optimize, special

ROUNDS = 100
ARENA_RANK = """
import sys, time
import pandas as pd
start = time.process_time()
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
imported = time.process_time()
table = pd.read_parquet(sys.argv[1])
table["winner"] = table["winner"].replace("tie (bothbad)", "tie")
found = PairDataset.from_pandas(table)
middle = time.process_time()
model = BradleyTerry(n_competitors=found.n_competitors)
model.compute_ratings_and_cis(found, significance_level=0.05)
print(imported - start, middle - imported, time.process_time() - middle)
"""


def ours(path: Path) -> tuple[float, float]:
    """CPU seconds of reading, and of the board with tests of all pairs."""
    import humeval_power as hp

    start = time.process_time()
    known = hp.rank.read_battles(path)
    middle = time.process_time()
    hp.rank.battles(known)
    return middle - start, time.process_time() - middle


def fastchat_round(path: Path) -> float:
    """CPU seconds of a round of the bootstrap, the mean of three."""
    import pandas as pd

    table = pd.read_parquet(path)
    names = sorted({*table["model_a"], *table["model_b"]})
    place = {name: k for k, name in enumerate(names)}
    K = len(names)
    first, second = table["model_a"].map(place).to_numpy(), table["model_b"].map(place).to_numpy()
    wins = np.zeros((K, K))
    points = np.select([table["winner"] == "model_a", table["winner"] == "model_b"], [1.0, 0.0], 0.5)
    np.add.at(wins, (first, second), points)
    np.add.at(wins, (second, first), 1 - points)
    i, j = np.nonzero(wins)
    share = wins[i, j] / wins.sum()
    rng = np.random.default_rng(1)

    def loss(x: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
        gap = x[i] - x[j]
        slope = weight * special.expit(-gap)
        gradient = np.bincount(j, slope, K) - np.bincount(i, slope, K)
        return float(weight @ np.logaddexp(0, -gap)), gradient

    start = time.process_time()
    for _ in range(3):
        weight = rng.multinomial(len(table), share).astype(float) / len(table)
        optimize.minimize(loss, np.zeros(K), (weight,), jac=True, method="L-BFGS-B", options={"gtol": 1e-6})
    return (time.process_time() - start) / 3


def main() -> None:
    """All three on one table."""
    python, *numbers = sys.argv[1:]
    n, K, voters = map(int, numbers) if numbers else (1_000_000, 300, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        drawn_battles(n, K, voters).to_parquet(path)
        reading, computing = ours(path)
        print(f"{n:,} battles of {K} systems by {voters:,} voters; CPU seconds, and ratio to ours")
        print(f"{'ours, clusters, all pairs':36} read {reading:6.2f}  board {computing:7.2f}")
        said = subprocess.run(
            [python, "-c", ARENA_RANK, path], capture_output=True, text=True, check=False, cwd=folder
        )
        if said.returncode:
            print(f"arena-rank cannot be run: {said.stderr.strip().splitlines()[-1]}")
        else:
            imported, table, fit = map(float, said.stdout.split())
            print(
                f"{'arena-rank, no voters, no pairs':36} read {table:6.2f}  board {fit:7.2f}  "
                f"{(table + fit) / (reading + computing):6.1f} times (import {imported:.1f})"
            )
        each = fastchat_round(path)
        print(
            f"{f'FastChat, {ROUNDS} rounds of {each:.2f}':36} {'':11}  board {ROUNDS * each:7.2f}  "
            f"{ROUNDS * each / computing:6.1f} times"
        )


if __name__ == "__main__":
    main()
