"""Time and memory of large leaderboards, each in a process of its own: CPU seconds of the computing, and the peak.

python benchmarks/bench_boards.py            # all
python benchmarks/bench_boards.py battles    # the cases whose name has the word
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd


def scores(K: int, n: int, n_clusters: int | None, *, test: str = "holm") -> None:
    import humeval_power as hp

    rng = np.random.default_rng(1)
    hard = rng.normal(0, 1, (n, 1))
    table = pd.DataFrame(np.linspace(0, 1, K) + hard + rng.normal(0, 0.5, (n, K))).add_prefix("s")
    table.insert(0, "item", range(n))
    if n_clusters:
        table.insert(1, "passage", np.arange(n) * n_clusters // n)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        table.round(4).to_csv(path, index=False)
        start = time.process_time()
        known = hp.compare.read_scores(path, cluster="passage" if n_clusters else None)
        middle = time.process_time()
        result = hp.rank.scores(next(iter(known.values())), correction=test)
        done = time.process_time()
        text = str(result)
    say(middle - start, done - middle, time.process_time() - done, text)


def drawn_battles(n: int, K: int, voters: int) -> pd.DataFrame:
    """Battles by Davidson's model with an order, some systems and voters far more often than others."""
    rng = np.random.default_rng(2)
    weight = 1 / np.sqrt(np.arange(1, K + 1))
    first = rng.choice(K, n, p=weight / weight.sum())
    second = rng.choice(K, n, p=weight / weight.sum())
    second = np.where(second == first, (second + 1) % K, second)
    theta = rng.normal(0, 0.7, K)
    eta = theta[first] - theta[second] + 0.05
    shares = np.stack([np.exp(eta / 2), np.full(n, 0.6), np.exp(-eta / 2)])
    shares /= shares.sum(axis=0)
    at = (rng.random(n) > np.cumsum(shares, axis=0)).sum(axis=0)
    names = np.array([f"system-{k}" for k in range(K)])
    voter = np.minimum((voters * rng.random(n) ** 2).astype(int), voters - 1)
    return pd.DataFrame(
        {
            "model_a": names[first],
            "model_b": names[second],
            "winner": np.array(["model_a", "tie (bothbad)", "model_b"])[at],
            "user": np.array([f"u{v:x}" for v in range(voters)])[voter],
        }
    )


def battles(
    n: int, K: int, voters: int, ending: str, *, test: str = "holm", covariates: tuple[str, ...] = ()
) -> None:
    import humeval_power as hp

    table = drawn_battles(n, K, voters)
    rng = np.random.default_rng(3)
    for name in covariates:
        table[name] = rng.normal(size=n).round(4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"battles.{ending}"
        if ending == "parquet":
            table.to_parquet(path)
        elif ending == "jsonl":
            table.to_json(path, orient="records", lines=True)
        else:
            table.to_csv(path, index=False)
        del table
        start = time.process_time()
        known = hp.rank.read_battles(path, covariates=covariates)
        middle = time.process_time()
        result = hp.rank.battles(known, correction=test)
        done = time.process_time()
        text = str(result)
    say(middle - start, done - middle, time.process_time() - done, text)


def say(reading: float, computing: float, text: float, said: str) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first = " ".join(said.split("\n\n")[0].split("\n")[1:])
    print(f"{reading:6.2f} {computing:9.2f} {text:6.2f} {peak:9,.0f}   {first}")


CASES: dict[str, Callable[[], None]] = {
    "181 systems x 41 tasks": lambda: scores(181, 41, None),
    "200 x 10,000, 500 clusters": lambda: scores(200, 10_000, 500),
    "200 x 10,000, 500, signs": lambda: scores(200, 10_000, 500, test="signs"),
    "160 x 10,000, 500, max-t": lambda: scores(160, 10_000, 500, test="max-t"),
    "1e6 battles, 300, CSV": lambda: battles(1_000_000, 300, 100_000, "csv"),
    "1e6 battles, 300, Parquet": lambda: battles(1_000_000, 300, 100_000, "parquet"),
    "1e6 battles, 300, JSONL": lambda: battles(1_000_000, 300, 100_000, "jsonl"),
    "1e6 battles, 300, max-t": lambda: battles(1_000_000, 300, 100_000, "parquet", test="max-t"),
    "1e6 battles, 300, 4 covariates": lambda: battles(
        1_000_000, 300, 100_000, "parquet", covariates=("length", "lists", "headers", "bold")
    ),
    "1e6 battles, 300, 1,000 voters": lambda: battles(1_000_000, 300, 1_000, "parquet"),
}


def main() -> None:
    """Run the cases in the arguments, or all."""
    if sys.argv[1:2] == ["--case"]:
        CASES[sys.argv[2]]()
        return
    words = sys.argv[1:]
    print(f"{'':32}  read computing   text  peak, MB")
    for name in CASES:
        if all(word in name for word in words):
            print(f"{name:32}", end="", flush=True)
            subprocess.run([sys.executable, __file__, "--case", name], check=True)


if __name__ == "__main__":
    main()
