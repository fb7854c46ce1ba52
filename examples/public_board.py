"""Two boards of the size of public ones, drawn, ranked, and written as pages.

Run: python examples/public_board.py [FOLDER]

An embedding board: the result tree of 181 systems on 41 tasks, as MTEB writes it. A chat arena: 200,000 battles
of 120 systems by 40,000 users with tastes of their own, with ties, answers whose length wins votes, and a newcomer;
it is ranked at equal length.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import humeval_power as hp
from humeval_power.reporting.render import as_html

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "public-board")
rng = np.random.default_rng(2026)


def embedding_board() -> hp.rank.ScoreRankResult:
    """Families of models with sizes; tasks on which some families are better."""
    families = (
        "alder",
        "beech",
        "cedar",
        "elm",
        "fir",
        "hazel",
        "larch",
        "maple",
        "oak",
        "pine",
        "rowan",
        "willow",
    )
    names = [f"{family}-{size}" for family in families for size in ("25m", "60m", "110m", "220m", "335m")]
    names += [
        f"{family}-{size}-v{v}" for family in families for size in ("1b", "3b", "7b") for v in (1, 2, 3)
    ]
    names += [f"{family}-13b" for family in families] + ["baseline"]
    of = [families.index(name.split("-")[0]) if "-" in name else 0 for name in names]
    ability = 0.55 + 0.1 * np.log10(np.linspace(1, 12, len(names))) + rng.normal(0, 0.02, len(names))
    tasks = rng.normal(0, 0.12, 41)[:, None] + rng.normal(0, 0.03, (41, len(families)))[:, of]
    scores = np.clip(ability + tasks + rng.normal(0, 0.025, (41, len(names))), 0.02, 0.98)
    for k, name in enumerate(names):
        run = FOLDER / "results" / f"example__{name}" / "main"
        run.mkdir(parents=True, exist_ok=True)
        (run / "model_meta.json").write_text(json.dumps({"name": f"example/{name}", "revision": "main"}))
        for t in range(41):
            subset = {
                "hf_subset": "default",
                "languages": ["eng-Latn"],
                "main_score": round(scores[t, k], 5),
            }
            task = {"mteb_version": "drawn", "scores": {"test": [subset]}, "task_name": f"Task{t + 1:02}"}
            (run / f"Task{t + 1:02}.json").write_text(json.dumps(task))
    return hp.rank.scores(hp.compare.read_scores(FOLDER / "results")["score"])


def arena() -> hp.rank.BattleRankResult:
    """Battles, some systems and users far more often than others."""
    n, K, users = 200_000, 120, 40_000
    names = np.array([f"assistant-{k:03}" for k in range(K - 1)] + ["newcomer"])
    weight = 1 / np.sqrt(np.arange(1, K + 1))
    weight[-1] = 2e-5 * weight.sum()
    first = rng.choice(K, n, p=weight / weight.sum())
    second = rng.choice(K, n, p=weight / weight.sum())
    second = np.where(second == first, (second + 1) % (K - 1), second)
    strength, wordy = rng.normal(0, 0.6, K), rng.normal(0, 0.5, K)
    strength[-1] = 3.0
    user = (users * rng.random(n) ** 2).astype(int)
    taste = rng.normal(0, 0.3, (users, 8))[user]
    words = [np.exp(5 + wordy[side] + rng.normal(0, 0.5, n)) for side in (first, second)]
    eta = (
        strength[first]
        - strength[second]
        + taste[np.arange(n), first % 8]
        - taste[np.arange(n), second % 8]
    )
    edge = eta + 0.4 * np.log(words[0] / words[1]) + 0.05 + rng.logistic(0, 1, n)
    table = pd.DataFrame(
        {
            "model_a": names[first],
            "model_b": names[second],
            "winner": np.where(np.abs(edge) < 0.4, "tie", np.where(edge > 0, "model_a", "model_b")),
            "user": [f"u{each}" for each in user],
            "length": np.log(words[0] / words[1]).round(4),
        }
    )
    table.to_parquet(FOLDER / "battles.parquet")
    return hp.rank.battles(hp.rank.read_battles(FOLDER / "battles.parquet", covariates=["length"]))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, board in (("embedding", embedding_board()), ("arena", arena())):
        page = FOLDER / f"{name}.html"
        page.write_text(as_html(board.document()))
        board.figure().savefig(FOLDER / f"{name}.pdf")
        print(board.document().lead)
        print(f"{page}, {page.stat().st_size / 1000:,.0f} kB\n")
