"""Make the table of false claims and power of several systems with looks in docs/looks.md anew:
python docs/make_look_errors.py

Every study is drawn, fitted at every look and followed through its looks. The numbers depend on the seed alone.
`--quick` uses few studies and prints the table without touching the page.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
from shown_rows import shown_rows

from humeval_power.designs import crossed
from humeval_power.studies.looks.replicates import Looks
from humeval_power.studies.looks.stopping_rule import Spending, StoppingRule
from humeval_power.studies.looks.systems_looks import (
    StepwiseBoundaries,
    SystemsLookPlan,
    SystemsLooks,
    hardest_place,
    plan_systems_looks,
    walk,
)
from humeval_power.systems import SystemsParameters, system_names

PAGE = Path(__file__).with_name("looks.md")
COMMAND = "python docs/make_look_errors.py"
SEED, STUDIES, ITEMS = 2026, 10_000, 50
SYSTEMS = (3, 5, 8)
WORKERS = ((2, 4, 6), (4, 7, 10), (7, 14, 20))
NULLS = {  # sizes of the groups of equal systems
    3: ((3,), (2, 1)),
    5: ((5,), (3, 2), (2, 2, 1)),
    8: ((8,), (4, 4), (2, 2, 2, 2), (2, 1, 1, 1, 1, 1, 1)),
}
APART = 1.0  # between groups: all their differences are shown at the first look


def planned(n_systems: int, workers: tuple[int, ...]) -> SystemsLookPlan:
    """A study in which one system is better, and its boundaries."""
    values = SystemsParameters(
        names=system_names(n_systems),
        means=(0.5,) * n_systems,
        sd_worker=0.10,
        sd_worker_system=(0.06,) * n_systems,
        sd_item=0.12,
        sd_item_system=(0.06,) * n_systems,
        sd_residual=0.20,
    )
    last = workers[-1]
    variance = 2 * (0.06**2 / last + 0.06**2 / ITEMS + 0.20**2 / (last * ITEMS))
    effect = 3.6 * variance**0.5
    looks = Looks("workers", tuple(count / last for count in workers))
    study = SystemsLooks(
        values.with_pattern("one", effect), crossed(last, ITEMS, n_systems=n_systems), looks
    )
    rule = StoppingRule(Spending())
    return plan_systems_looks(study, rule, place=hardest_place(study), seed=SEED, n_simulations=STUDIES)


def false_claims(study: SystemsLooks, bounds: StepwiseBoundaries, groups: tuple[int, ...], n: int) -> float:
    """Share of studies that show a difference between equal systems; other groups lie far apart."""
    group = np.repeat(np.arange(len(groups)), groups)
    found = study.with_means(tuple((APART * group).tolist())).draw_looks(n, seed=SEED + 1)
    first, second = np.array(study.pairs).T
    shown = walk(found.p_value[found.usable], bounds).shown
    return float(shown[:, group[first] == group[second]].any(axis=1).mean())


def row(n_systems: int, workers: tuple[int, ...], n: int) -> str:
    """The line of one kind of study."""
    plan = planned(n_systems, workers)
    without = [false_claims(plan.study, plan.uncalibrated, groups, n) for groups in NULLS[n_systems]]
    rates = [false_claims(plan.study, plan.bounds, groups, n) for groups in NULLS[n_systems]]
    (point,) = plan.at([plan.study.parameters.stated_effect], goal="best", n_simulations=n)
    factor = "1" if plan.calibration is None else f"{plan.calibration.used:.2f}"
    cells = (
        str(n_systems),
        ", ".join(map(str, workers)),
        factor,
        f"{without[0]:.3f}",
        f"{max(without[1:]):.3f}",
        f"{rates[0]:.3f}",
        f"{max(rates[1:]):.3f}",
        f"{point.found.shares['any']:.2f} ({point.fixed.shares['any']:.2f})",
        f"{point.found.shares['best']:.2f} ({point.fixed.shares['best']:.2f})",
        f"{point.reached[0]:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def table(n: int) -> str:
    """The whole table."""
    header = (
        "| systems | workers at the looks | factor | all equal, uncalibrated | some equal, uncalibrated | all "
        "equal | some equal | any found (one look) | best found (one look) | best by look 1 |"
    )
    rows = [row(K, workers, n) for K in SYSTEMS for workers in WORKERS]
    return "\n".join([header, f"|{'---|' * 10}", *rows])


def main() -> None:
    """Write the table into the page, or print a rough one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    if quick:
        print(table(500))
        return
    text, made = PAGE.read_text(), f"<!-- made by {COMMAND} -->"
    begin, end = re.escape(made), re.escape("<!-- end of the table -->")
    found = table(STUDIES)
    print(found)
    shown = shown_rows(found, r"^\| (3|8) \|")
    new = f"{made}\n\n{shown}\n\n<!-- end of the table -->"
    PAGE.write_text(re.sub(rf"{begin}.*?{end}", lambda _: new, text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
