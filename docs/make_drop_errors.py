"""Make the tables of looks that drop systems in docs/dropping-systems.md anew: python docs/make_drop_errors.py

Every study is drawn by its sums and every comparison refitted at every look. The numbers depend on the seed alone.
`--quick` uses few studies and prints the tables without touching the page.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special
from shown_rows import shown_rows

from humeval_power.latent import Latent
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily
from humeval_power.simulation.rehearsal import CompleteSums
from humeval_power.studies.looks.dropping import (
    AS_PLANNED,
    CLAIM,
    DropBoundaries,
    DroppingPlan,
    follow,
    plan_dropping,
    tied_configurations,
    true_claims,
)
from humeval_power.studies.looks.repeated import StopWhen, half_widths
from humeval_power.studies.looks.replicates import Looks
from humeval_power.studies.looks.stopping_rule import PowerSpending, Spending, StoppingRule
from humeval_power.studies.looks.systems_looks import SystemsLookReplicates, SystemsLooks
from humeval_power.studies.power.formula import effect_precision, power_at
from humeval_power.studies.power.required import design_of
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters, system_names

PAGE = Path(__file__).with_name("dropping-systems.md")
COMMAND = "python docs/make_drop_errors.py"
SEED, STUDIES = 2026, 4_000
RULE = StoppingRule(Spending(PowerSpending(2.0)))
SETTINGS = {  # SDs of workers' and items' own differences, and of a rating (Card et al. 2020)
    "high, SDs of differences halved": (0.11, 0.14, 0.26),
    "low": (0.08, 0.26, 0.16),
}
WORKERS = {(5, 10, 15): 50, (6, 9, 12): 50, (8, 12, 16, 20): 100}  # at the looks, and items
SYSTEMS = (3, 5, 8)
CATEGORIES = {  # how many ratings of the best fall in each category
    "five, even": (0.1, 0.2, 0.4, 0.2, 0.1),
    "five, skewed": (0.02, 0.05, 0.1, 0.28, 0.55),
    "yes/no, half yes": (0.5, 0.5),
    "yes/no, 9 in 10 yes": (0.1, 0.9),
}
SHOWN = {  # rows of a table that the page shows; the others say the same
    "holds": r"\| 5, 10, 15 \|",
    "categories": r"\| 6, 9, 12 \| 50 \| 8 \|",
    "saves": r"\| 5, 10, 15 \|",
    "shortcuts": r"\| 5, 10, 15 \|",
}
CATEGORY_STUDIES = (  # workers at the looks, systems and items
    ((5, 10, 15), 3, 50),
    ((6, 9, 12), 8, 50),
    ((6, 9, 12), 5, 12),
    ((8, 12, 16), 8, 40),
)
CHUNK, CATEGORY_NUMBER = 100, 2_000  # studies drawn at once, and of a row
LEAD = 1.25  # the lead of the best, over the difference that one look finds in a pair with power 0.8

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@cache
def planned(
    setting: str, workers: tuple[int, ...], n_systems: int, n: int, items: int | None = None
) -> DroppingPlan:
    """A calibrated plan, in which one leads."""
    sd_worker, sd_item, sd = SETTINGS[setting]
    items = items or WORKERS[workers]
    own = (sd_worker / math.sqrt(2),) * n_systems
    of_item = (sd_item / math.sqrt(2),) * n_systems
    null = SystemsParameters(system_names(n_systems), (0.5,) * n_systems, 0.1, own, 0.1, of_item, sd)
    counts = StudyCounts(workers[-1], items, workers[-1], True, n_systems=n_systems)
    pair = design_of(StudyCounts(workers[-1], items, workers[-1], True))
    precision = effect_precision(null.pair(0, 1), pair)
    found = optimize.brentq(lambda d: power_at(d, precision, rule=DEFAULT_RULE).power - 0.8, 1e-4, 2.0)
    study = SystemsLooks(
        null.with_pattern("one", LEAD * found),
        design_of(counts),
        Looks("workers", tuple(count / workers[-1] for count in workers)),
        ComparisonFamily(correction="none"),
        DEFAULT_RULE,
    )
    return plan_dropping(study, RULE, n_simulations=n, seed=SEED)


def _each(n: int) -> Iterator[tuple[list[str], DroppingPlan]]:
    """The first cells of a row, and its plan."""
    for setting in SETTINGS:
        for workers in WORKERS:
            for n_systems in SYSTEMS:
                yield (
                    [setting, ", ".join(map(str, workers)), str(n_systems)],
                    planned(setting, workers, n_systems, n),
                )


def holds(n: int) -> str:
    """Size: the worst false claim and the worst drop of a best one, with the calibrated levels."""
    header = ["setting", "workers at the looks", "systems", "factor", "of intervals"]
    header += ["worst false claim", "where", "worst drop of a best one", "where"]
    rows = [
        [
            *cells,
            f"{plan.calibration.used:.2f}",
            f"{plan.interval_calibration.used:.2f}",
            f"{plan.worst_claim.false_claim:.3f}",
            plan.worst_claim.name,
            f"{plan.worst_drop.best_dropped:.3f}",
            plan.worst_drop.name,
        ]
        for cells, plan in _each(n)
    ]
    return _table(header, rows)


def saves(n: int) -> str:
    """Power and savings: one leads, two lead, all equal."""
    header = ["setting", "workers at the looks", "systems", "lead", "best named", "no looks", "saved"]
    header += ["saved if two lead", "if all equal", "systems left after each look"]
    rows = []
    for cells, plan in _each(n):
        one, two, equal = plan.points
        assert one.name == AS_PLANNED
        rows.append(
            [
                *cells,
                f"{plan.study.parameters.stated_effect:.3f}",
                f"{one.best_named:.3f}",
                f"{one.fixed_named:.3f}",
                *(f"{100 * point.saved:.0f} %" for point in (one, two, equal)),
                ", ".join(f"{left:.1f}" for left in one.left),
            ]
        )
    return _table(header, rows)


def shortcuts(n: int) -> str:
    """False claims of others' ways: plain tests at each look, and the worse half dropped by rank."""
    header = [
        "setting",
        "workers at the looks",
        "systems",
        "false claim: these levels",
        "p < 0.05 at each look",
    ]
    header += [
        "worse half by rank",
        "best one dropped: these levels",
        "p < 0.05 at each look",
        "worse half by rank",
    ]
    rows = []
    for cells, plan in _each(n):
        study = plan.study
        error = plan.rows[-1].precision.standard_error
        null = study.with_means((0.5,) * study.parameters.n_systems)
        drawn = null.draw_looks(n, seed=SEED + 7)
        drawn = drawn.part(drawn.usable)
        plain = np.full_like(plan.bounds.claim, 0.05)
        naive = DropBoundaries(RULE, plain, plain, plain)
        worst = np.zeros((2, 3))
        for means in tied_configurations(study, error).values():
            looks = null.at_means(drawn, np.array(means) - 0.5)
            best = np.array(means) == max(means)
            ways = [follow(looks, bounds, study.pairs) for bounds in (plan.bounds, naive)]
            claims = [(way.best, ~way.left) for way in ways] + [halved(looks, study)]
            for at, (claimed, gone) in enumerate(claims):
                worst[0, at] = max(worst[0, at], true_claims(claimed, means)[1].mean())
                worst[1, at] = max(worst[1, at], gone[:, best].mean(axis=0).max())
        rows.append([*cells, *(f"{rate:.3f}" for rate in worst.ravel())])
    return _table(header, rows)


def categories(n: int) -> str:
    """Ratings in categories of a latent variable, taken as numbers, at levels sealed for numbers of the same
    variances."""
    n = min(n, CATEGORY_NUMBER)
    header = [
        "setting",
        "ratings",
        "workers at the looks",
        "items",
        "systems",
        "worst false claim",
        "where",
    ]
    header += ["worst drop of a best one", "where", "all intervals cover"]
    rows = []
    for setting in SETTINGS:
        for kind, shares in CATEGORIES.items():
            for workers, n_systems, items in CATEGORY_STUDIES:
                rows.append(
                    [
                        *(setting, kind, ", ".join(map(str, workers)), str(items), str(n_systems)),
                        *category_errors(setting, shares, workers, items, n_systems, n),
                    ]
                )
    return _table(header, rows)


def groups(n: int) -> str:
    """Studies that end with a top group, by half-width or equivalence: how often, and what they say falsely."""
    header = ["setting", "workers at the looks", "systems", "stop_when", "ends with a group if all tie"]
    header += ["group not equivalent", "a best one not in it", "false claim", "intervals cover at the stop"]
    rows = []
    for setting in SETTINGS:
        for workers in ((6, 9, 12),):
            for n_systems in SYSTEMS:
                plan = planned(setting, workers, n_systems, n)
                study, last = plan.study, plan.rows[-1].precision
                level = plan.bounds.interval[-1].max()
                half = float(half_widths(np.array(last.standard_error), np.array(last.df), np.array(level)))
                drawn = study.with_means((0.5,) * n_systems).draw_looks(n, seed=SEED + 8)
                drawn = drawn.part(drawn.usable)
                for name, times in (("half_width", 1.25), ("equivalence", 1.75)):
                    rule = replace(CLAIM, **{name: times * half})
                    cells = [
                        setting,
                        ", ".join(map(str, workers)),
                        str(n_systems),
                        f"{name}={times * half:.2f}",
                    ]
                    rows.append([*cells, *_group_errors(plan, drawn, rule)])
    return _table(header, rows)


def _group_errors(plan: DroppingPlan, drawn: SystemsLookReplicates, rule: StopWhen) -> list[str]:
    """The share of studies of equal systems that end with a group, and the worst errors over true means: some tie
    for the best, or one or half of the systems are a margin behind the others."""
    study, n_systems = plan.study, plan.study.parameters.n_systems
    null, (first, second) = study.with_means((0.5,) * n_systems), np.array(study.pairs).T
    worlds = dict(tied_configurations(study, plan.rows[-1].precision.standard_error))
    if (margin := rule.equivalence) is not None:
        worlds["one behind"] = (0.5 - margin,) + (0.5,) * (n_systems - 1)
        worlds["half behind"] = tuple(0.5 - margin * (k < n_systems // 2) for k in range(n_systems))
        worlds["one between"] = (0.5 - margin, *(0.5 - margin / 2,) * (n_systems - 2), 0.5)
    shown, wrong, lost, claims, cover = 0.0, 0.0, 0.0, 0.0, 1.0
    for means in worlds.values():
        truth = np.array(means)
        looks = null.at_means(drawn, truth - 0.5)
        ended = follow(looks, plan.bounds, study.pairs, stop_when=rule)
        at = np.arange(len(ended.look)), ended.look
        both = ended.left[:, first] & ended.left[:, second]
        apart = np.abs(truth[second] - truth[first]) >= (np.inf if margin is None else margin - 1e-9)
        half = half_widths(looks.standard_error[at], looks.df[at], plan.bounds.interval[ended.look])
        inside = np.abs(looks.estimate[at] - (truth[second] - truth[first])) <= half
        if len(set(means)) == 1:
            shown = ended.top_group.mean()
        wrong = max(wrong, (ended.top_group & (both & apart).any(axis=1)).mean())
        lost = max(lost, (~ended.left)[:, truth == max(truth)].mean(axis=0).max())
        claims = max(claims, true_claims(ended.best, means)[1].mean())
        cover = min(cover, (inside | ~both).all(axis=1).mean())
    said = "-" if margin is None else f"{wrong:.3f}"
    return [f"{shown:.2f}", said, f"{lost:.3f}", f"{claims:.3f}", f"{cover:.3f}"]


def category_errors(
    setting: str,
    shares: tuple[float, ...],
    workers: tuple[int, ...],
    items: int,
    n_systems: int,
    n: int,
) -> list[str]:
    """The worst rates over where systems tie for the best, and how often the intervals of all pairs cover."""
    plan = planned(setting, workers, n_systems, n, items)
    study, error = plan.study, plan.rows[-1].precision.standard_error
    worker, item, _ = SETTINGS[setting]
    latent = Latent.of_shares(  # nothing that a worker or an item gives all systems alike
        shares,
        sd_worker_intercept=worker / 2,
        sd_worker_slope=worker,
        sd_item_intercept=item / 2,
        sd_item_slope=item,
    )
    worst, cover = [(0.0, ""), (0.0, "")], 1.0
    for name, means in tied_configurations(study, error).items():
        behind = np.array(means) - max(means)
        truth, looks = _in_categories(latent, behind, study, n)
        ended = follow(looks, plan.bounds, study.pairs)
        best = behind == 0
        rates = true_claims(ended.best, means)[1].mean(), (~ended.left)[:, best].mean(axis=0).max()
        worst = [max(one, (float(rate), name)) for one, rate in zip(worst, rates, strict=True)]
        half = half_widths(looks.standard_error, looks.df, plan.bounds.interval)
        first, second = np.array(study.pairs).T
        covers = np.abs(looks.estimate - (truth[second] - truth[first])) <= half
        cover = min(cover, float(covers.all(axis=(1, 2)).mean()))
    return [*(cell for rate, name in worst for cell in (f"{rate:.3f}", name)), f"{cover:.3f}"]


def _in_categories(
    latent: Latent, behind: Floats, study: SystemsLooks, n: int
) -> tuple[Floats, SystemsLookReplicates]:
    """True means, and studies of systems that are so far behind on [0, 1]; the best has the shares of the latent
    variable."""
    m, items, K = study.design.n_workers, study.design.n_items, len(behind)
    spread = math.sqrt(1 + latent.variance)
    grid = np.linspace(-8 * spread, 8 * spread, 20_001)
    thresholds = np.array(latent.thresholds)
    scores = np.diff(latent.scores) @ special.ndtr((grid[None, :] - thresholds[:, None]) / spread)
    top = latent.mean(0)  # equal systems
    centre = np.interp(top + behind, scores, grid)
    truth = np.interp(centre, grid, scores)
    own = latent.sd_worker_slope / math.sqrt(2), latent.sd_item_slope / math.sqrt(2)
    parts = []
    for block in range(-(-n // CHUNK)):
        rng = np.random.default_rng([SEED, block, items, K])
        eta = centre + own[0] * rng.standard_normal((CHUNK, m, 1, K))
        eta = eta + own[1] * rng.standard_normal((CHUNK, 1, items, K))
        eta = eta + rng.standard_normal(eta.shape, dtype=np.float32)
        table = np.array(latent.scores)[np.searchsorted(thresholds, eta)][..., None]
        parts.append(
            study._tested(
                [
                    one.fit_sums(CompleteSums.of_ratings(table[:, : design.n_workers]))
                    for one, design in zip(study._replications, study.nested.designs, strict=True)
                ]
            )
        )
    looks = SystemsLookReplicates.joined(parts)
    return truth, looks.part(looks.usable)


def halved(looks: SystemsLookReplicates, study: SystemsLooks) -> tuple[NDArray[np.int64], Flags]:
    """Drop the worse half at each look by rank; at the end the winner is tested against the runner-up at 0.05."""
    n, n_looks, n_systems = looks.means.shape
    left = np.ones((n, n_systems), dtype=bool)
    for at in range(n_looks - 1):
        keep = max(2, -(-int(left[0].sum()) // 2))
        means = np.where(left, looks.means[:, at], -np.inf)
        rank = np.argsort(np.argsort(-means, axis=1), axis=1)
        left &= rank < keep
    means = np.where(left, looks.means[:, -1], -np.inf)
    order = np.argsort(-means, axis=1)
    place = {pair: at for at, pair in enumerate(study.pairs)}
    pair = np.array([place[min(one, two), max(one, two)] for one, two in order[:, :2].tolist()])
    shown = looks.p_value[np.arange(n), -1, pair] <= 0.05
    return np.where(shown, order[:, 0], -1), ~left


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES: dict[str, Callable[[int], str]] = {
    "holds": holds,
    "categories": categories,
    "saves": saves,
    "shortcuts": shortcuts,
    "groups": groups,
}


def main() -> None:
    """Write the tables into the page, or print rough ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("tables", nargs="*", help="Those to make. [all]")
    typed = parser.parse_args()
    wanted = {name: make for name, make in TABLES.items() if not typed.tables or name in typed.tables}
    if typed.quick:
        for make in wanted.values():
            print(make(400), end="\n\n")
        return
    for name, make in wanted.items():
        begin, end = f"<!-- {name}: made by {COMMAND} -->", f"<!-- end of {name} -->"
        table = make(STUDIES)
        print(table, end="\n\n")
        if begin not in PAGE.read_text():  # the page says it in words
            continue
        new = f"{begin}\n\n{shown_rows(table, SHOWN[name])}\n\n{end}"
        text = PAGE.read_text()
        text = re.sub(
            rf"{re.escape(begin)}.*?{re.escape(end)}", lambda _, new=new: new, text, flags=re.DOTALL
        )
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
