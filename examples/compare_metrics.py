"""Systems compared by a metric's scores of the same items: the question first, then the pairs, then the power.

    python examples/compare_metrics.py [FOLDER]

The scores are made up: B is as good as A on average, but gains a lot on a few items and loses a little on most.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from humeval_power.comparisons.scores.all_pairs import compare_scores
from humeval_power.comparisons.scores.comparison import Request, compare_pair
from humeval_power.comparisons.scores.effect_sizes import TestSettings
from humeval_power.comparisons.scores.figures import heat_map_figure
from humeval_power.comparisons.scores.power import required_items
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.saying.figure_style import figure_bytes

N_ITEMS = 200
SETTINGS = TestSettings(n_resamples=2000)


def made_up_scores() -> ScoreTable:
    """Scores of five systems on a scale of about 0 to 100."""
    rng = np.random.default_rng(4)
    a = rng.normal(40, 10, N_ITEMS)
    b = a + rng.exponential(4, N_ITEMS) - 4  # mean difference 0, median difference -1.2
    others = [a + gain + rng.normal(0, 5, N_ITEMS) for gain in (0.3, 2.0, 2.2)]
    return ScoreTable(np.column_stack([a, b, *others]), ("A", "B", "C", "D", "E"))


def main(folder: Path) -> None:
    table = made_up_scores()
    pair = table.only(("A", "B"))
    for question in ("mean", "median", "better"):
        found = compare_pair(pair, Request(question, SETTINGS, effect=None, n_simulations=100))
        print(f"{question:7} {found.test.label}: {found.test.estimate:.2f}, p = {found.test.p_value:.3f}")
    switched = compare_pair(pair, Request(None, SETTINGS, n_simulations=100))
    print(
        f"Left to the data (skewness {switched.data.skewness:.2f}), the {switched.question} would be tested."
    )
    alike = compare_pair(pair, Request("mean", SETTINGS, margin=1.0, n_simulations=100)).equivalence
    print(f"Means alike within 1 point: {'shown' if alike.is_equivalent else 'not shown'}.")
    result = compare_scores(table, question="mean", settings=SETTINGS, correction="romano-wolf")
    print("Clusters, best first: " + "; ".join(", ".join(cluster) for cluster in result.clusters))
    needed = required_items(1.0 / 5.0)
    print(f"To find 1 point where differences have SD 5, {needed.n} items are needed.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare_metrics.png").write_bytes(figure_bytes(heat_map_figure(result), "png"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "example-output"))
