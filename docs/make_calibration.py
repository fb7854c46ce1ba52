"""Make the tables of docs/calibration.md anew: python docs/make_calibration.py [--quick]

The numbers depend on the seed alone, not on the number of cores. `--quick` uses a hundredth of the studies
and prints the tables without touching the page. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import re
import time
from dataclasses import replace
from pathlib import Path

from kept_tables import kept_tables

from humeval_power.designs import Design, crossed, k_per_item
from humeval_power.parameters import Parameters, preset
from humeval_power.saying.result import versions
from humeval_power.studies.power.calibration import Calibration, binomial_band, calibrate, size_of_test
from humeval_power.studies.power.estimate import PowerEstimate

PAGE = Path(__file__).with_name("calibration.md")
COMMAND = "python docs/make_calibration.py"
SEED = 1
SIZE_STUDIES, TEST_STUDIES = 1_000_000, 100_000
WORKERS, ITEMS, SETTINGS = (3, 5, 10, 30), (50, 100, 500), ("high", "low")
ALIKE = "high, workers alike"
DESIGNS: dict[str, tuple[str, Design]] = {
    "high 3 x 100": ("high", crossed(3, 100)),
    "high 10 x 100": ("high", crossed(10, 100)),
    "high 10 x 100, k = 3": ("high", k_per_item(10, 100, ratings_per_item=3)),
    "high 30 x 100": ("high", crossed(30, 100)),
    "low 3 x 100": ("low", crossed(3, 100)),
    "low 10 x 100": ("low", crossed(10, 100)),
    "workers alike 3 x 100": (ALIKE, crossed(3, 100)),
}


def parameters(setting: str) -> Parameters:
    """A preset, or the high one with workers who all see the same difference."""
    return replace(preset("high"), sd_worker_slope=0.0) if setting == ALIKE else preset(setting)


def sizes(n_studies: int) -> dict[tuple[str, int, int], PowerEstimate]:
    """The default test under no effect over the grid of settings, workers and items."""
    return {
        (setting, workers, items): size_of_test(
            preset(setting), crossed(workers, items), n_simulations=n_studies, seed=SEED
        )
        for setting in SETTINGS
        for workers in WORKERS
        for items in ITEMS
    }


def size_text(found: dict[tuple[str, int, int], PowerEstimate], n_studies: int) -> str:
    """The grid as Markdown, with the band of an exact test and the worst cell."""
    lines = ["| setting | workers | " + " | ".join(f"{items} items" for items in ITEMS) + " |"]
    lines.append("|---|--:|" + "--:|" * len(ITEMS))
    for setting in SETTINGS:
        for workers in WORKERS:
            cells = [_with_interval(found[setting, workers, items]) for items in ITEMS]
            lines.append(f"| {setting} | {workers} | " + " | ".join(cells) + " |")
    (setting, workers, items), worst = max(found.items(), key=lambda entry: entry[1].rejection_rate)
    low, high = binomial_band(n_studies, 0.05)
    lines += [
        "",
        f"{n_studies:,} studies a cell, in brackets the 95 % interval. A test of exactly 5 % would show "
        f"{100 * low:.2f} to {100 * high:.2f} % (99 %).",
        f"Worst case: **{100 * worst.rejection_rate:.1f} %** with {workers} workers and {items} items "
        f"({setting}).",
    ]
    return "\n".join(lines)


def tests_text(found: dict[str, list[Calibration]], n_studies: int) -> str:
    """The tests of each design side by side as Markdown."""
    first = next(iter(found.values()))
    lines = ["| test | " + " | ".join(found) + " |", "|---|" + "--:|" * len(found)]
    for place, test in enumerate(first):
        cells = [_cell(results[place]) for results in found.values()]
        lines.append(f"| {test.label} | " + " | ".join(cells) + " |")
    low, high = binomial_band(n_studies, 0.05)
    lines += [
        "",
        f"Significant at 5 % in this share of {n_studies:,} studies, the same ones for every test. "
        f"Bold: above what a test of exactly 5 % would show ({100 * low:.1f} to {100 * high:.1f} %).",
    ]
    failed = sum(result.estimate.n_failed for results in found.values() for result in results)
    lines.append(f"Fits that failed, counted as not significant: {failed}.")
    return "\n".join(lines)


def _with_interval(estimate: PowerEstimate) -> str:
    low, high = estimate.rejection_interval
    return f"{100 * estimate.rejection_rate:.2f} % ({100 * low:.2f}-{100 * high:.2f})"


def _cell(result: Calibration) -> str:
    text = f"{100 * result.estimate.rejection_rate:.1f} %"
    return f"**{text}**" if result.verdict == "too bold" else text


def insert(page: str, name: str, text: str) -> str:
    """The page with `text` between the marks of that name."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"{PAGE} has no marks <!-- {name} --> and <!-- end {name} -->.")
    return pattern.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page)


def main() -> None:
    """Simulate, print, and write the page."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="a hundredth of the studies; writes nothing")
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    share = 100 if chosen.quick else 1
    started = time.monotonic()
    with kept_tables(Path(__file__), chosen.jobs, quick=chosen.quick):
        size_table = size_text(sizes(SIZE_STUDIES // share), SIZE_STUDIES // share)
        found = {
            name: calibrate(
                parameters(setting),
                design,
                n_simulations=TEST_STUDIES // share,
                seed=SEED,
            )
            for name, (setting, design) in DESIGNS.items()
        }
    test_table = tests_text(found, TEST_STUDIES // share)
    used = ", ".join(f"{package} {version}" for package, version in versions().items())
    made = f"Made by `{COMMAND}`, seed {SEED}, with {used}."
    print(size_table, test_table, made, f"{time.monotonic() - started:.0f} s", sep="\n\n")
    if not chosen.quick:
        page = PAGE.read_text()
        for name, text in (("sizes", size_table), ("tests", test_table), ("made", made)):
            page = insert(page, name, text)
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
