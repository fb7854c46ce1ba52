"""Make the tables of families in docs/calibration.md anew: python docs/make_family_calibration.py [--quick]

Studies without an effect whose ratings arise in five boxes, or as yes and no; the same studies are decided by
each test. The numbers depend on the seed alone, not on the number of cores. `--quick` uses a twentieth of the
studies and prints the table without touching the page.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np
from make_calibration import PAGE, insert
from scipy import special
from shown_rows import shown_rows

from humeval_power.designs import Design, crossed, k_per_item, with_documents
from humeval_power.latent import Family, Latent
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.saying.result import versions
from humeval_power.scenarios.contract import Replicates
from humeval_power.studies.power.scenario import RatingStudy

COMMAND = "python docs/make_family_calibration.py"
SEED, STUDIES = 1, 400
WORKERS, ITEMS, DOCUMENTS = (3, 5, 10, 20), 30, 10
TESTS = ("numbers", "categories", "the same, Wald z")
ALPHA, MOST = 0.05, 0.07
_PORTION = 200  # studies in memory
Cell = tuple[str, str, int]  # kind of ratings, condition, workers
Rates = dict[str, tuple[float, ...]]
# What varies on the latent scale, and the documents' part where there are any
DEVIATIONS = {
    "sd_worker_intercept": 0.5,
    "sd_worker_slope": 0.4,
    "sd_item_intercept": 0.6,
    "sd_item_slope": 0.5,
}
OF_DOCUMENTS = {"sd_document_intercept": 0.4, "sd_document_slope": 0.3}
SHARES: dict[str, dict[str, tuple[float, ...]]] = {
    "five boxes": {
        "usual": (0.1, 0.2, 0.4, 0.2, 0.1),
        "ceiling": (0.01, 0.03, 0.08, 0.23, 0.65),
        "rare": (0.01, 0.19, 0.6, 0.19, 0.01),
    },
    "yes and no": {"usual": (0.4, 0.6), "ceiling": (0.1, 0.9), "rare": (0.95, 0.05)},
}
CONDITIONS = ("complete", "3 per item", "ceiling", "rare", "documents")


def parameters(kind: str, condition: str) -> Parameters:
    """Ratings of a kind whose shares are those of the condition."""
    shares = SHARES[kind].get(condition, SHARES[kind]["usual"])
    further = OF_DOCUMENTS if condition == "documents" else {}
    places = special.ndtri(np.cumsum(shares)[:-1])
    standard = Latent(thresholds=tuple(map(float, places)))
    return Parameters.of_latent(standard.with_deviations(**DEVIATIONS, **further))


def design(workers: int, condition: str) -> Design:
    """Complete, or three of the workers on each item, or the items out of documents."""
    if condition == "3 per item":
        return k_per_item(workers, ITEMS, ratings_per_item=3)
    found = crossed(workers, ITEMS)
    return with_documents(found, DOCUMENTS) if condition == "documents" else found


def cell(kind: str, condition: str, workers: int, n_studies: int) -> Rates:
    """Shares of significant studies, and of failed fits, by test; all tests decide the same studies."""
    values, planned = parameters(kind, condition), design(workers, condition)
    family: Family = "binary" if kind == "yes and no" else "ordinal"
    numbers = RatingStudy(values, planned)
    categories = RatingStudy(values, planned, rule=DecisionRule(family=family))
    wald = DecisionRule(family=family, df="normal")
    found: dict[str, list[Replicates]] = {test: [] for test in TESTS}
    for first in range(0, n_studies, _PORTION):
        size = min(_PORTION, n_studies - first)
        ratings = numbers.replication.responses(size, seed=SEED, first=first)
        found["numbers"].append(numbers.decide(numbers.replication.fit(ratings)))
        fits = categories.replication.fit(ratings)
        found["categories"].append(categories.decide(fits))
        found["the same, Wald z"].append(categories.decide(fits, wald))
    return {
        test: tuple(
            sum(int(count(part)) for part in parts) / n_studies
            for count in (
                lambda part: ((part.p_value <= ALPHA) & part.usable).sum(),
                lambda part: (~part.usable).sum(),
            )
        )
        for test, parts in found.items()
    }


def table(found: Mapping[Cell, Rates], n_studies: int) -> str:
    """All cells as Markdown: as numbers, as categories, and the same without its degrees of freedom."""
    lines = [
        "| ratings | workers | analysed as | " + " | ".join(CONDITIONS) + " |",
        "|---|--:|---|" + "--:|" * len(CONDITIONS),
    ]
    for kind in SHARES:
        for workers in WORKERS:
            for test in TESTS:
                rates = [found[kind, condition, workers][test][0] for condition in CONDITIONS]
                shown = (
                    f"**{100 * rate:.1f} %**" if rate > MOST else f"{100 * rate:.1f} %" for rate in rates
                )
                lines.append(f"| {kind} | {workers} | {test} | " + " | ".join(shown) + " |")
    error = 196 * np.sqrt(ALPHA * (1 - ALPHA) / n_studies)
    failed = max(rates["categories"][1] for rates in found.values())
    lines += [
        "",
        f"Significant at 5 % in this share of {n_studies:,} studies, give or take {error:.1f} points (95 %); bold: "
        f"more than {100 * MOST:g} %. Fits that failed count as not significant; in the worst cell "
        f"{100 * failed:.1f} % of the models of categories did.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Simulate, print, and write the page."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="a twentieth of the studies; writes nothing")
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    n_studies = STUDIES // 20 if chosen.quick else STUDIES
    started = time.monotonic()
    cells = [
        (kind, condition, workers) for workers in WORKERS for kind in SHARES for condition in CONDITIONS
    ]
    found: dict[Cell, Rates] = {}
    with ProcessPoolExecutor(chosen.jobs) as pool:
        running = {pool.submit(cell, *each, n_studies): each for each in cells}
        for done in as_completed(running):
            found[running[done]] = done.result()
            print(running[done], done.result(), f"{time.monotonic() - started:.0f} s", flush=True)
    text = table(found, n_studies)
    print(text)
    if not chosen.quick:
        used = ", ".join(f"{package} {version}" for package, version in versions().items())
        made = f"Made by `{COMMAND}`, seed {SEED}, with {used}."
        shown = shown_rows(text, r"\| (3|5) \|")
        PAGE.write_text(insert(PAGE.read_text(), "families", f"{shown}\n\n{made}"))


if __name__ == "__main__":
    main()
