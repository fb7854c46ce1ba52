"""Make the tables of clusters in docs/compare.md and docs/corpus.md anew.

    python docs/make_clustered_tests.py [--quick]

Test sets without a difference between two systems, whose items come in clusters; each is tested by the tests of
whole clusters and by those of independent items, and it is counted how often the intervals hold the true value 0.
The numbers depend on the seed alone. `--quick` uses a tenth of the test sets and prints the tables without touching
the pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from make_calibration import insert
from make_cluster_calibration import ALPHA, drawn, sizes_of
from shown_rows import shown_rows

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.comparison import effect_sizes
from humeval_power.comparisons.scores.effect_sizes import Floats, TestSettings
from humeval_power.comparisons.scores.tests import run_test
from humeval_power.estimation.metrics import SentenceCounts
from humeval_power.inference.corpus import metric_mean, paired_randomisation_test
from humeval_power.saying.result import versions

COMMAND = "python docs/make_clustered_tests.py"
HERE = Path(__file__).parent
SEED, SETS, RESAMPLES = 22, 1_000, 499
CLUSTERS, LAYOUTS = (5, 10, 15, 40, 100), ("equal", "unequal")
TESTS = ("t", "permutation", "bootstrap-t", "bootstrap", "sign", "wilcoxon")
ALONE = ("t", "wilcoxon")
EFFECTS = ("mean", "median", "hodges_lehmann", "share_better")
LABELS = {
    "mean": "mean (CR2)",
    "median": "median",
    "hodges_lehmann": "pseudomedian",
    "share_better": "share better",
}
DOCUMENT, NOISE, WORDS = (
    0.25,
    0.35,
    20,
)  # SDs of quality on the logit, by document and by sentence; words a sentence


def settings(seed: int) -> TestSettings:
    """For a test set of its own seed."""
    return TestSettings(alpha=ALPHA, n_resamples=RESAMPLES, seed=seed)


def of_scores(
    sizes: np.ndarray, rng: np.random.Generator, n: int
) -> Iterator[tuple[list[bool], list[bool]]]:
    """For each test set whether each test finds a difference, and whether each interval holds 0."""
    clusters = Clusters.of(np.repeat(np.arange(len(sizes)), sizes).tolist())
    for place, values in enumerate(drawn("scores", sizes, rng, n)):
        given = settings(place)
        p = [run_test(name, values, given, clusters=clusters).p_value for name in TESTS]
        p += [run_test(name, values, given).p_value for name in ALONE]
        found = {one.name: one for one in effect_sizes(values, given, clusters=clusters)}
        share = found["share_better"]
        held = [found[name].low <= 0 <= found[name].high for name in EFFECTS[:-1]]
        yield [each <= ALPHA for each in p], [*held, share.low <= 0.5 <= share.high]


def of_texts(
    sizes: np.ndarray, rng: np.random.Generator, n: int
) -> Iterator[tuple[list[bool], list[bool]]]:
    """The same of BLEU: swaps of documents and of sentences; intervals by documents and by sentences."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    clusters = Clusters.of(codes.tolist())
    for place in range(n):
        both = [_counted(codes, len(sizes), rng) for _ in range(2)]
        counts = SentenceCounts("bleu", both[0], both[1], "")
        tests = [
            paired_randomisation_test(counts, clusters=known, n_swaps=RESAMPLES, seed=place)
            for known in (clusters, None)
        ]
        means = [metric_mean(counts, known).interval(1 - ALPHA) for known in (clusters, None)]
        yield [one.p_value <= ALPHA for one in tests], [low <= 0 <= high for low, high in means]


def _counted(codes: np.ndarray, n_documents: int, rng: np.random.Generator) -> Floats:
    """Counts of sentences whose share of right words varies by document and by sentence."""
    logit = DOCUMENT * rng.standard_normal(n_documents)[codes] + NOISE * rng.standard_normal(len(codes))
    right = 1 / (1 + np.exp(-logit - 0.4))
    length = np.full(len(codes), float(WORDS))
    totals = [length - order for order in range(4)]
    matched = [rng.binomial(WORDS - order, right ** (1 + order)).astype(float) for order in range(4)]
    return np.column_stack([length, length, *matched, *totals])


Studies = Callable[[np.ndarray, np.random.Generator, int], Iterator[tuple[list[bool], list[bool]]]]


def rows(studies: Studies, number: int, n_sets: int) -> Iterator[tuple[str, Floats, Floats]]:
    """Number and layout of the clusters, and the rates of findings and of held values."""
    for layout in LAYOUTS:
        for n_clusters in CLUSTERS:
            rng = np.random.default_rng([SEED, number, LAYOUTS.index(layout), n_clusters])
            found, held = zip(*studies(sizes_of(layout, n_clusters), rng, n_sets), strict=True)
            yield f"{n_clusters}, {layout}", np.mean(found, axis=0), np.mean(held, axis=0)


def table(head: list[str], lines: list[tuple[str, Floats]]) -> str:
    """Rates in percent as Markdown."""
    said = [f"| clusters | {' | '.join(head)} |", "|---|" + "--:|" * len(head)]
    for name, rates in lines:
        cells = " | ".join(f"{100 * rate:.1f} %" for rate in rates)
        said.append(f"| {name} | {cells} |")
    return "\n".join(said)


def tables(n_sets: int) -> dict[str, dict[str, str]]:
    """The tables of each page by the names of their places."""
    scores, texts = list(rows(of_scores, 0, n_sets)), list(rows(of_texts, 1, n_sets))
    alone = [f"{name}, items independent" for name in ALONE]
    compare = {
        "clusters size": table([*TESTS, *alone], [(name, found) for name, found, _ in scores]),
        "clusters coverage": table(
            [LABELS[name] for name in EFFECTS], [(name, held) for name, _, held in scores]
        ),
    }
    head = ["documents swapped", "sentences swapped", "interval by documents", "interval by sentences"]
    joined = [(name, np.concatenate([found, held])) for name, found, held in texts]
    return {"compare.md": compare, "corpus.md": {"documents": table(head, joined)}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the test sets; print only")
    quick = parser.parse_args().quick
    n_sets = SETS // 10 if quick else SETS
    made = ", ".join(f"{name} {number}" for name, number in versions().items())
    note = f"Made by `{COMMAND}`, seed {SEED}, {n_sets:,} test sets a row, with {made}."
    for page, parts in tables(n_sets).items():
        print("\n\n".join(parts.values()))
        if quick:
            continue
        parts = {place: shown_rows(part, r"^\| (5|15|100), ") for place, part in parts.items()}
        text = (HERE / page).read_text(encoding="utf-8")
        for place, part in {**parts, "clusters made": note}.items():
            if f"<!-- {place} -->" in text:  # else the page says it in words
                text = insert(text, place, part)
        (HERE / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
