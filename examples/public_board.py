"""A board of the size of a public one: the result tree of 181 systems on 41 tasks, as MTEB writes it, and its page.

Run: python examples/public_board.py [FOLDER]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import humeval_power as hp
from humeval_power.saying.render import as_html

FAMILIES = (
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
SMALL, LARGE, TASKS = ("25m", "60m", "110m", "220m", "335m"), ("1b", "3b", "7b"), 41


def write_results(folder: Path) -> None:
    """Drawn scores: families are better at some tasks, and larger models at all."""
    rng = np.random.default_rng(2026)
    names = ["elm-baseline", *(f"{family}-{size}" for family in FAMILIES for size in (*SMALL, "13b"))]
    names += [f"{family}-{size}-v{v}" for family in FAMILIES for size in LARGE for v in (1, 2, 3)]
    family = [FAMILIES.index(name.split("-")[0]) for name in names]
    ability = 0.55 + 0.1 * np.log10(np.linspace(1, 12, len(names))) + rng.normal(0, 0.02, len(names))
    tasks = rng.normal(0, 0.12, (TASKS, 1)) + rng.normal(0, 0.03, (TASKS, len(FAMILIES)))[:, family]
    scores = np.clip(ability + tasks + rng.normal(0, 0.025, (TASKS, len(names))), 0.02, 0.98)
    for name, own in zip(names, scores.T.round(5).tolist(), strict=True):
        run = folder / f"example__{name}" / "main"
        run.mkdir(parents=True, exist_ok=True)
        (run / "model_meta.json").write_text(json.dumps({"name": f"example/{name}", "revision": "main"}))
        for place, score in enumerate(own, 1):
            subset = {"hf_subset": "default", "languages": ["eng-Latn"], "main_score": score}
            task = {"mteb_version": "drawn", "scores": {"test": [subset]}, "task_name": f"Task{place:02}"}
            (run / f"Task{place:02}.json").write_text(json.dumps(task))


if __name__ == "__main__":
    here = Path(sys.argv[1] if len(sys.argv) > 1 else "public-board")
    write_results(here / "results")
    board = hp.rank.scores(hp.compare.read_scores(here / "results")["score"])
    print(board.document().lead)
    (here / "board.html").write_text(as_html(board.document()), encoding="utf-8")
    board.figure().savefig(here / "board.pdf")
