"""Make the tables of docs/exclusions.md anew: what rules for leaving workers out do to false positives.

    python docs/make_exclusion_errors.py [--jobs 2] [--quick]

Two systems that are alike are rated by careful and careless workers; each rule is applied, and the rest analysed as
a plan would. The numbers depend on the seed alone. `--quick` uses few studies and prints without touching the page.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats
from shown_rows import shown_rows

from humeval_power.designs import Design, crossed, k_per_item
from humeval_power.exclusions import ExclusionRules
from humeval_power.latent import Family
from humeval_power.parameters import Parameters, preset
from humeval_power.rules import DecisionRule
from humeval_power.simulation.quality_control import Behaviour, QualityControl
from humeval_power.simulation.study import CAREFUL, Losses
from humeval_power.studies.power.scenario import RatingStudy

# rows of a table that the page shows
SHOWN = {"gaussian": r"^\| (6 workers.*items alike|20 workers, 50 .*items differ)"}
PAGE = Path(__file__).with_name("exclusions.md")
COMMAND = "python docs/make_exclusion_errors.py"
SEED, STUDIES, POINTS, CHECKS, REPEATS = 1, 1_000, 5, 0.1, 0.1
CARELESS = Losses(at_random=0.1, straight_lining=0.1)
HASTE = Behaviour(careless_pace=0.1)  # 2 seconds where careful workers take 20

WORLDS: dict[str, Parameters] = {
    # items differ by as much as workers do, as in most tables of ratings
    "items differ": Parameters(
        baseline=0.55,
        effect=0.0,
        sd_worker_intercept=0.12,
        sd_worker_slope=0.10,
        sd_item_intercept=0.15,
        sd_item_slope=0.10,
        sd_residual=0.20,
    ),
    # items hardly differ: honest workers hardly agree, and repeat themselves badly
    "items alike": preset("high"),
}
DESIGNS: dict[str, Callable[[], Design]] = {
    "6 workers, 30 items, all by all": lambda: crossed(6, 30),
    "12 workers, 40 items, 3 per item": lambda: k_per_item(12, 40, ratings_per_item=3),
    "20 workers, 50 items, all by all": lambda: crossed(20, 50),
    "20 workers, 80 items, 2 per item, unpaired": lambda: k_per_item(
        20, 80, ratings_per_item=2, paired=False
    ),
}
RULES = (
    "",
    "failed-checks=0.34",
    "repeats=0.3",
    "seconds=4",
    "same-answer=0.95",
    "agreement=0",
    "failed-checks=0.34,repeats=0.3,seconds=4,same-answer=0.95,agreement=0",
)
STUDIED: dict[
    tuple[Family, str], tuple[tuple[str, ...], tuple[str, ...]]
] = {  # designs and rules of each world
    ("gaussian", "items differ"): (tuple(DESIGNS), RULES),
    ("gaussian", "items alike"): (tuple(DESIGNS)[:2], RULES),
    ("ordinal", "items differ"): (tuple(DESIGNS)[:1], ("", "agreement=0", RULES[-1])),
}


class Cell(NamedTuple):
    """One kind of study."""

    family: Family
    world: str
    design: str
    rules: str


class Outcome(NamedTuple):
    """Shares: false positives of the studies that could be analysed, studies that could not, and workers left
    out of the careful and of the careless ones."""

    studies: int
    false: float
    failed: float
    careful_out: float
    careless_out: float


def outcome(cell: Cell, n: int = STUDIES) -> Outcome:
    """Simulate studies without any difference, leave workers out, and test."""
    control: QualityControl | None = None
    if cell.rules:
        checks = {"checks": CHECKS, "repeats": REPEATS}
        control = QualityControl(rules=ExclusionRules.parse(cell.rules), behaviour=HASTE, **checks)
    study = RatingStudy(
        WORLDS[cell.world].with_difference(0.0),
        DESIGNS[cell.design](),
        rule=DecisionRule(family=cell.family),
        response="likert",
        points=POINTS,
        losses=CARELESS,
        exclusion="none" if control is None else control,
    )
    drawn = study.draw(n, seed=SEED)
    usable = drawn.status == 0
    back = [study.replication.collected(SEED, number) for number in range(min(n, 200))]
    kind = np.concatenate([one.kind for one in back])
    out = np.concatenate([one.excluded for one in back])
    return Outcome(
        int(usable.sum()),
        float((drawn.p_value[usable] < study.alpha).mean()),
        float(1 - usable.mean()),
        float(out[kind == CAREFUL].mean()),
        float(out[kind != CAREFUL].mean()),
    )


def cells() -> list[Cell]:
    """Every kind of study of the tables."""
    return [
        Cell(family, world, design, rules)
        for (family, world), (designs, chosen) in STUDIED.items()
        for design in designs
        for rules in chosen
    ]


def table(found: dict[Cell, Outcome], family: Family) -> Iterator[str]:
    """Rows of one family, in Markdown."""
    heads = (
        "study",
        "rules",
        "careful left out",
        "careless left out",
        "false positives",
        "95 % interval",
        "not fitted",
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for cell, one in found.items():
        if cell.family != family:
            continue
        low, high = stats.binomtest(round(one.false * one.studies), one.studies).proportion_ci()
        shares = f"{100 * one.careful_out:.0f} % | {100 * one.careless_out:.0f} % | {100 * one.false:.1f} %"
        yield (
            f"| {cell.design}; {cell.world} | {cell.rules.replace(',', ', ') or 'none'} | {shares} | "
            f"{100 * low:.1f} to {100 * high:.1f} | {100 * one.failed:.1f} % |"
        )


def main() -> None:
    """Simulate everything and write the page, or print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    n, listed = (50 if asked.quick else STUDIES), cells()
    with ProcessPoolExecutor(asked.jobs) as pool:
        found = {}
        for cell, one in zip(listed, pool.map(partial(outcome, n=n), listed), strict=True):
            found[cell] = one
            print(cell, one, file=sys.stderr, flush=True)
    text = PAGE.read_text()
    for family in sorted({cell.family for cell in listed}):
        rows = "\n".join(table(found, family))
        print(rows)
        if family == "ordinal":  # the page says it in words
            continue
        start, end = f"<!-- {family}: made by {COMMAND} -->", f"<!-- end of {family} -->"
        shown = shown_rows(rows, SHOWN[family])
        place = f"{re.escape(start)}.*?{re.escape(end)}"
        text, count = re.subn(
            place,
            lambda _, new=f"{start}\n\n{shown}\n\n{end}": new,
            text,
            flags=re.DOTALL,
        )
        if count != 1:
            raise SystemExit(f"{PAGE.name} has no place for the table of {family}.")
    if not asked.quick:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
