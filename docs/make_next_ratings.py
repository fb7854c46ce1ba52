"""Compute the tables of docs/next-ratings.md: what is lost by dropouts, and what ways to go on give back.

    python docs/make_next_ratings.py precision    # seconds
    python docs/make_next_ratings.py errors       # ten minutes on two cores

Three of ten workers leave with a quarter of their work done; others rate as many as they left undone.
"""

import sys

import numpy as np

from humeval_power.designs import Assignment, Design, from_table, k_per_item
from humeval_power.parameters import Parameters
from humeval_power.studies.plan.under_way import Collecting, PairGains, add_by_gain, fewest_first
from humeval_power.studies.power.analytic import minimum_detectable_effect
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import effect_precision
from humeval_power.studies.power.scenario import RatingStudy

# SDs of workers' and of items' true differences, and of a rating (Card et al. 2020, five- and one-rater settings)
SETTINGS = {
    "high1": (0.22, 0.28, 0.26),
    "high5": (0.11, 0.14, 0.26),
    "low1": (0.08, 0.26, 0.16),
    "low5": (0.04, 0.13, 0.16),
}
WORKERS, ITEMS, EACH, LEAVE, DONE = 10, 60, 2, 3, 0.25
DRAWS, SIMULATIONS = 12, 5000
NAMES = {
    "stop": "stop there",
    "random": "random cells",
    "fewest": "fewest first (the default)",
    "gain": "largest gain",
    "new": "as many by new workers",
}


def parameters_of(name: str, effect: float = 0.0) -> Parameters:
    """A setting, with intercepts as large as the differences vary."""
    worker, item, residual = SETTINGS[name]
    return Parameters(
        baseline=0.5,
        effect=effect,
        sd_worker_intercept=worker,
        sd_worker_slope=worker,
        sd_item_intercept=item,
        sd_item_slope=item,
        sd_residual=residual,
    )


def after_dropouts(seed: int) -> tuple[Design, Collecting, int]:
    """The intact design, what is left of it and who may rate more, and how many ratings are lost."""
    intact = k_per_item(WORKERS, ITEMS, ratings_per_item=EACH, seed=seed)
    rows, rng = intact.assignment, np.random.default_rng(seed)
    gone = rows.worker >= WORKERS - LEAVE
    share = rng.random((WORKERS, ITEMS))[rows.worker, rows.item]
    kept = ~gone | (share < DONE)
    left = Assignment(rows.worker[kept], rows.item[kept], rows.system[kept])
    n_new = LEAVE
    seen = np.zeros((WORKERS + n_new, ITEMS), dtype=np.bool_)
    seen[left.worker, left.item] = True
    room = np.repeat([10**6, 0, 0], [WORKERS - LEAVE, LEAVE, n_new])
    shown, rates = np.ones((ITEMS, 2), dtype=np.bool_), np.ones((WORKERS + n_new, 2), dtype=np.bool_)
    return intact, Collecting(left, room, shown, rates, seen, np.arange(ITEMS), True), int((~kept).sum())


def more(way: str, found: Collecting, n: int, setting: str, seed: int) -> np.ndarray:
    """The cells (worker, item) that a way to go on adds, shape (2, n / 2)."""
    rng, first = np.random.default_rng(seed + 1000), found.rows.system == 0
    if way == "stop":
        return np.zeros((2, 0), dtype=np.int64)
    if way == "random":
        free = np.argwhere(~found.seen & (found.room > 0)[:, None])
        return rng.permutation(free)[: n // 2].T
    if way == "gain":
        worker, item, residual = SETTINGS[setting]
        gains = PairGains(
            found.rows.worker[first],
            found.rows.item[first],
            found.seen.shape,
            sd_worker=worker,
            sd_item=item,
            sd_residual=residual,
        )
        return np.array(add_by_gain(gains, ~found.seen, found.room, n // 2)).T
    room = found.room
    if way == "new":
        usual = -(-ITEMS * EACH // WORKERS) * 2
        room = np.repeat([0, usual], [WORKERS, LEAVE])
    rows = fewest_first(
        Collecting(found.rows, room, found.shown, found.rates, found.seen, found.together, True), n, rng
    )
    return np.array([rows.worker, rows.item])[:, rows.system == 0]


def design_with(found: Collecting, cells: np.ndarray) -> Design:
    """The design of what is left and these cells, each under both systems."""
    worker = np.concatenate([found.rows.worker, np.repeat(cells[0], 2)])
    item = np.concatenate([found.rows.item, np.repeat(cells[1], 2)])
    system = np.concatenate([found.rows.system, np.tile([0, 1], cells.shape[1])])
    return from_table(*(np.unique(codes, return_inverse=True)[1] for codes in (worker, item)), system)


def precision() -> None:
    """Variances relative to that of the intact plan: the least and the most mean over the draws of each setting."""
    print("| | " + " | ".join(SETTINGS) + " |\n|---|" + "---|" * len(SETTINGS))
    for way, said in NAMES.items():
        cells = []
        for setting in SETTINGS:
            ratios = []
            for seed in range(DRAWS):
                intact, found, n = after_dropouts(seed)
                parameters = parameters_of(setting)
                whole = effect_precision(parameters, intact).variance
                design = design_with(found, more(way, found, n, setting, seed))
                ratios.append(effect_precision(parameters, design).variance / whole)
            cells.append(f"{np.mean(ratios):.3f}")
        print(f"| {said} | " + " | ".join(cells) + " |", flush=True)


def errors() -> None:
    """False positives at .05, and power where the intact plan has .8, by simulation of one draw of dropouts."""
    print("| setting | | false positives | power |\n|---|---|---|---|")
    for setting in ("high5", "low5"):
        intact, found, n = after_dropouts(0)
        effect = minimum_detectable_effect(effect_precision(parameters_of(setting), intact))
        for way in ("intact", "stop", "random", "fewest", "new"):
            design = intact if way == "intact" else design_with(found, more(way, found, n, setting, 0))
            shares = [
                estimate_power(
                    RatingStudy(parameters_of(setting, true), design),
                    n_simulations=SIMULATIONS,
                    seed=1,
                    n_jobs=2,
                )
                for true in (0.0, effect)
            ]
            false, power = shares[0].rejection_rate, shares[1].power
            print(f"| {setting} | {NAMES.get(way, 'as planned')} | {false:.3f} | {power:.3f} |", flush=True)


if __name__ == "__main__":
    {"precision": precision, "errors": errors}[sys.argv[1]]()
