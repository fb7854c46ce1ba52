"""Make the table of docs/clusters.md anew: python docs/make_cluster_calibration.py [--quick]

Test sets without a difference between two systems, whose items come in clusters; each is tested in four ways. The
numbers depend on the seed alone. `--quick` uses a twentieth of the test sets and prints the tables without touching
the page, which has no table of right and wrong answers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from make_calibration import insert
from scipy import special
from shown_rows import shown_rows

from humeval_power.inference.clustered import Floats, bell_mccaffrey_df
from humeval_power.saying.result import versions

COMMAND = "python docs/make_cluster_calibration.py"
PAGE = Path(__file__).parent / "clusters.md"
SEED, SETS, PORTION = 21, 20_000, 1_000
CLUSTERS = (5, 10, 15, 20, 50, 100)
SHOWN = (5, 20, 100)  # of which the page has rows
MEAN_SIZE = 10
ICC = 0.3  # of the differences B - A
ALPHA = 0.05
TESTS = ("CR2, Bell-McCaffrey df", "CR1, t with G - 1 df", "CR1, z", "items independent, t")
LAYOUTS = ("equal", "unequal", "one holds half")


def sizes_of(layout: str, n_clusters: int) -> np.ndarray:
    """Items in each cluster, about ten on average: equal, spread as a geometric law, or one with half of all."""
    n_items = MEAN_SIZE * n_clusters
    if layout == "equal":
        return np.full(n_clusters, MEAN_SIZE)
    if layout == "unequal":
        shares = -np.log1p(-(np.arange(n_clusters) + 0.5) / n_clusters)
        return np.maximum(1, np.round(shares / shares.mean() * MEAN_SIZE)).astype(np.int64)
    rest = n_items // 2
    return np.array([rest, *np.diff(np.linspace(0, n_items - rest, n_clusters).round()).astype(np.int64)])


def drawn(kind: str, sizes: np.ndarray, rng: np.random.Generator, n: int) -> Floats:
    """Differences B - A of the items of n test sets without a difference, shape (n, items)."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(0, np.sqrt(ICC), (n, len(sizes)))[:, codes]
    if kind == "scores":
        return shared + rng.normal(0, np.sqrt(1 - ICC), (n, len(codes)))
    # Right and wrong: B alone, A alone, or neither, by two thresholds of a latent difference.
    latent = shared + rng.normal(0, np.sqrt(1 - ICC), (n, len(codes)))
    return np.where(latent > 1, 1.0, np.where(latent < -1, -1.0, 0.0))


def p_values(values: Floats, sizes: np.ndarray) -> Floats:
    """Two-sided p-values of the four tests, shape (n, 4)."""
    n_items = values.shape[1]
    means = values.mean(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(values - means[:, None], starts, axis=1)
    cr2 = np.sqrt((sums**2 @ (1 / (1 - sizes / n_items))) / n_items**2)
    cr1 = np.sqrt((sums**2).sum(axis=1) / n_items**2 * len(sizes) / (len(sizes) - 1))
    independent = values.std(axis=1, ddof=1) / np.sqrt(n_items)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(means)[:, None] / np.stack([cr2, cr1, cr1, independent], axis=1)
    df = [bell_mccaffrey_df(sizes.astype(float)), len(sizes) - 1, np.inf, n_items - 1]
    found = np.stack([2 * special.stdtr(each, -t[:, place]) for place, each in enumerate(df)], axis=1)
    return np.where(np.isnan(t), 1.0, found)  # no spread at all: nothing is found


def rates(kind: str, layout: str, n_clusters: int, n_sets: int) -> Floats:
    """Share of the test sets in which each test finds a difference that is not there."""
    sizes = sizes_of(layout, n_clusters)
    place = (("scores", "right and wrong").index(kind), LAYOUTS.index(layout), n_clusters)
    rng = np.random.default_rng([SEED, *place])
    found = np.zeros(len(TESTS))
    for first in range(0, n_sets, PORTION):
        values = drawn(kind, sizes, rng, min(PORTION, n_sets - first))
        found += (p_values(values, sizes) <= ALPHA).sum(axis=0)
    return found / n_sets


def table(kind: str, n_sets: int) -> str:
    """False positives of the four tests by layout and number of clusters, as Markdown."""
    lines = [f"| clusters | df | {' | '.join(TESTS)} |", "|---|" + "--:|" * (1 + len(TESTS))]
    for layout in LAYOUTS:
        for n_clusters in CLUSTERS:
            df = bell_mccaffrey_df(sizes_of(layout, n_clusters).astype(float))
            found = rates(kind, layout, n_clusters, n_sets)
            cells = " | ".join(f"{rate:.1%}".replace("%", " %") for rate in found)
            lines.append(f"| {n_clusters}, {layout} | {df:.1f} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the test sets; print only")
    quick = parser.parse_args().quick
    n_sets = SETS // 20 if quick else SETS
    parts = {kind: table(kind, n_sets) for kind in ("scores", "right and wrong")}
    print("\n\n".join(parts.values()))
    if quick:
        return
    made = ", ".join(f"{name} {number}" for name, number in versions().items())
    page = PAGE.read_text(encoding="utf-8")
    rows = rf"^\| ({'|'.join(map(str, SHOWN))}), "
    page = insert(page, "scores", shown_rows(parts["scores"], rows))
    note = f"Made by `{COMMAND}`, seed {SEED}, {n_sets:,} test sets a row, with {made}."
    PAGE.write_text(insert(page, "made", note), encoding="utf-8")


if __name__ == "__main__":
    main()
