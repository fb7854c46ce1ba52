"""Make the tables of studies that their intervals stop in docs/stop-when.md anew: python docs/make_stop_errors.py

Every study is drawn by its mean squares and refitted at every look. The numbers depend on the seed alone. `--quick`
uses few studies and prints the tables without touching the page.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from shown_rows import shown_rows

from humeval_power.designs import crossed
from humeval_power.errors import ParametersError
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.rating_looks import LookPlan, look_rows, plan_looks
from humeval_power.studies.looks.repeated import RepeatedPoint, StopWhen, half_widths, repeated_points
from humeval_power.studies.looks.replicates import LookReplicates, Looks, RatingLooks
from humeval_power.studies.looks.result_anytime import half_width_at, tuned_spread
from humeval_power.studies.looks.stopping_rule import PowerSpending, Spending, StoppingRule
from humeval_power.studies.power.formula import EffectPrecision, power_at

PAGE = Path(__file__).with_name("stop-when.md")
COMMAND = "python docs/make_stop_errors.py"
SEED, STUDIES = 2026, 20_000
RULE = StoppingRule(Spending(PowerSpending(2.0)))
SETTINGS = {  # SDs of workers' and items' own differences, and of a rating (Card et al. 2020)
    "high": (0.22, 0.28, 0.26),
    "high, SDs of differences halved": (0.11, 0.14, 0.26),
    "low": (0.08, 0.26, 0.16),
    "low, SDs of differences halved": (0.04, 0.13, 0.16),
}
WORKERS = {(5, 10, 15, 20): 100, (6, 9, 12): 50, (8, 12, 16, 20): 100}  # at the looks, and items
WIDER = 1.25  # a half-width that stops, over that of the whole study with one look
WORLDS = (0.0, 0.5, 1.0, 2.0, 4.0)  # true worker SDs over the planned one
TAKEN = {  # workers at the looks as they were taken, of 5, 10, 15 and 20 planned
    "as planned": (5, 10, 15, 20),
    "one look left out": (5, 15, 20),
    "late by three": (8, 13, 18, 20),
    "six more at the end": (5, 10, 15, 26),
    "four missing at the end": (5, 10, 16),
}
CATEGORIES = {  # how many ratings fall in each category
    "five, even": (0.1, 0.2, 0.4, 0.2, 0.1),
    "five, skewed": (0.02, 0.05, 0.1, 0.28, 0.55),
    "yes/no, half yes": (0.5, 0.5),
    "yes/no, 9 in 10 yes": (0.1, 0.9),
}
SHOWN = {  # rows of a table that the page shows; the others say the same
    "holds": r"^\| (high|low) \| [56]|^\| high, SDs of differences halved \| 5, ",
    "categories": r"\| 6, 9, 12 \| 50 \|",
    "takes": r"^\| (high|low) \| 5, ",
    "shortcuts": r"^\| (high|low) \| [56]",
}
FEW = {(5, 10, 15): 12, (6, 9, 12): 12}  # workers at the looks, and few items
CATEGORY_STUDIES = 4_000

Floats = NDArray[np.float64]


class Planned(NamedTuple):
    """A study with its calibrated boundaries, and the effect that one look finds with power 0.8."""

    plan: LookPlan
    effect: float
    stop_when: StopWhen


def study_of(setting: str, workers: Sequence[int], items: int, worker_sd: float = 1.0) -> RatingLooks:
    """A study without a difference."""
    worker, item, residual = SETTINGS[setting]
    values = Parameters(
        baseline=0.5,
        effect=0.0,
        sd_worker_intercept=0.1,
        sd_worker_slope=worker * worker_sd,
        sd_item_intercept=0.1,
        sd_item_slope=item,
        sd_residual=residual,
    )
    looks = Looks("workers", tuple(count / workers[-1] for count in workers))
    return RatingLooks(values, crossed(workers[-1], items), looks)


def precisions_of(study: RatingLooks) -> list[EffectPrecision]:
    """Of the looks."""
    return [row.precision for row in look_rows(study)]


def planned(setting: str, workers: tuple[int, ...], n: int) -> Planned:
    """The plan of a study whose width rule is a little wider than what it can reach."""
    study = study_of(setting, workers, WORKERS[workers])
    plan = plan_looks(study, RULE, calibration="always", n_simulations=n, seed=SEED)
    last = precisions_of(study)[-1]
    effect = float(optimize.brentq(lambda at: power_at(at, last, rule=DEFAULT_RULE).power - 0.8, 0, 1))
    plain = half_widths(np.array(last.standard_error), np.array(last.df), np.array(0.05))
    return Planned(plan, effect, StopWhen(True, None, WIDER * float(plain)))


def together(looks: LookReplicates, levels: Floats) -> float:
    """How often all intervals cover, where there is no difference."""
    half = half_widths(looks.standard_error, looks.df, levels)
    return float((np.abs(looks.estimate) <= half).all(axis=1).mean())


def drawn(study: RatingLooks, n: int) -> LookReplicates:
    """Studies with other random numbers than the calibration's."""
    return study.draw_looks(n, seed=SEED + 1)


def holds(n: int) -> str:
    """Whether the intervals hold together: planned and other worker SDs."""
    header = ["setting", "workers at the looks", "factor", "false positives, factor 1", "false positives"]
    header += ["all intervals cover", *(f"worker SD x {world:g}" for world in WORLDS if world != 1)]
    rows = []
    for setting in SETTINGS:
        for workers, items in WORKERS.items():
            plan = planned(setting, workers, n).plan
            assert plan.calibration is not None
            looks = drawn(plan.study, n)
            cells = [setting, ", ".join(map(str, workers)), f"{plan.calibration.used:.2f}"]
            cells += [
                f"{1 - together(looks, bounds.nominal):.3f}" for bounds in (plan.uncalibrated, plan.bounds)
            ]
            worlds = [
                together(drawn(study_of(setting, workers, items, world), n), plan.bounds.nominal)
                for world in WORLDS
            ]
            at_plan = worlds.pop(WORLDS.index(1.0))
            rows.append([*cells, f"{at_plan:.3f}", *(f"{cover:.3f}" for cover in worlds)])
    return _table(header, rows)


def takes(n: int) -> str:
    """What studies take that decide, or are narrow enough: at no difference, D80 and half as much again."""
    header = ["setting", "workers at the looks", "difference", "power", "decisions alone", "one look"]
    header += ["workers", "decisions alone", "saved", "covers at the stop", "bias", "bias at a decision"]
    rows = []
    for setting in SETTINGS:
        for workers in WORKERS:
            plan, effect, stop_when = planned(setting, workers, n)
            points = repeated_points(
                plan.study,
                plan.bounds,
                stop_when,
                DEFAULT_RULE,
                effects=(0.0, effect, 1.5 * effect),
                n_simulations=n,
                seed=SEED + 1,
            )
            rows += [
                [setting, ", ".join(map(str, workers)), f"{name} ({point.effect:.3f})", *_cells(point)]
                for name, point in zip(("none", "D80", "1.5 D80"), points, strict=True)
            ]
    return _table(header, rows)


def _cells(point: RepeatedPoint) -> list[str]:
    return [
        f"{point.power:.3f}",
        f"{point.decision_power:.3f}",
        f"{point.fixed_power:.3f}",
        f"{point.workers:.1f}",
        f"{point.decision_workers:.1f}",
        f"{100 * point.saved:.0f} %",
        f"{point.coverage:.3f}",
        f"{point.bias:+.3f}",
        f"{point.decision_bias:+.3f}",
    ]


def shortcuts(n: int) -> str:
    """What others do: stop by the plain p-value or the plain width, or take ratings as independent."""
    header = [
        "setting",
        "workers at the looks",
        "repeated intervals",
        "p < 0.05 or plain width: false",
        "covers",
    ]
    header += ["plain width alone: covers", "ratings taken as independent: false"]
    rows = []
    for setting in SETTINGS:
        for workers in WORKERS:
            plan, _, stop_when = planned(setting, workers, n)
            looks = drawn(plan.study, n)
            assert stop_when.half_width is not None
            plain = half_widths(looks.standard_error, looks.df, np.full(len(workers), 0.05))
            wide = plain > stop_when.half_width
            outside = np.abs(looks.estimate) > plain
            one = _first(outside | ~wide)
            two = _first(~wide)
            at = np.arange(len(looks))
            rows.append(
                [
                    setting,
                    ", ".join(map(str, workers)),
                    f"{1 - together(looks, plan.bounds.nominal):.3f}",
                    f"{outside[at, one].mean():.3f}",
                    f"{1 - outside[at, one].mean():.3f}",
                    f"{1 - outside[at, two].mean():.3f}",
                    f"{(looks.independent_p < 0.05).any(axis=1).mean():.3f}",
                ]
            )
    return _table(header, rows)


def _first(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    flags = flags.copy()
    flags[:, -1] = True
    return np.asarray(flags.argmax(axis=1))


def moved(n: int) -> str:
    """Looks with other numbers of workers than planned: levels solved again, the factor as sealed."""
    header = ["looks", "workers", *(f"{setting}: all intervals cover" for setting in SETTINGS)]
    rows = []
    plans = {setting: planned(setting, (5, 10, 15, 20), n).plan for setting in SETTINGS}
    for name, workers in TAKEN.items():
        cells = []
        for setting, plan in plans.items():
            assert plan.calibration is not None
            most = 1 / plan.rows[-1].precision.variance
            study = study_of(setting, workers, 100)
            shares = [1 / one.variance / most for one in precisions_of(study)]
            levels = boundaries(RULE, shares).scaled(plan.calibration.used).nominal
            cells.append(f"{together(drawn(study, n), levels):.3f}")
        rows.append([name, ", ".join(map(str, workers)), *cells])
    return _table(header, rows)


def categories(n: int) -> str:
    """Ratings in categories of a latent variable, taken as numbers, at levels sealed for numbers of the same
    variances: no difference, the one that one look finds with power 0.8, and half as much again."""
    n = min(n, CATEGORY_STUDIES)
    header = ["setting", "ratings", "workers at the looks", "items", "false positives", "worker SD x 2"]
    header += ["all cover at D80", "at 1.5 D80", "covers at the stop, D80", "no answer"]
    rows = []
    for setting, (worker, item, _) in SETTINGS.items():
        for kind, shares in CATEGORIES.items():
            for workers, items in [*WORKERS.items(), *FEW.items()]:
                sds = dict.fromkeys(("sd_worker_intercept", "sd_item_intercept"), 0.1)
                try:
                    latent = Latent.of_shares(shares, sd_worker_slope=worker, sd_item_slope=item, **sds)
                except ParametersError:  # ratings in these shares cannot vary so much
                    continue
                looks = Looks("workers", tuple(count / workers[-1] for count in workers))
                study = RatingLooks(Parameters.of_latent(latent), crossed(workers[-1], items), looks)
                rows.append(
                    [
                        *(setting, kind, ", ".join(map(str, workers)), str(items)),
                        *_category_cells(study, n),
                    ]
                )
    return _table(header, rows)


def _category_cells(study: RatingLooks, n: int) -> list[str]:
    numbers = replace(study, parameters=replace(study.parameters, latent=None))
    plan = plan_looks(numbers, RULE, calibration="always", n_simulations=STUDIES, seed=SEED)
    last = precisions_of(study)[-1]
    d80 = float(optimize.brentq(lambda at: power_at(at, last, rule=DEFAULT_RULE).power - 0.8, 0, 1))
    stop_when = StopWhen(True, None, WIDER * float(half_widths(*_last_of(last), np.array(0.05))))
    cells, missing = [], 0.0
    for effect, times in ((0.0, 1.0), (0.0, 2.0), (d80, 1.0), (1.5 * d80, 1.0)):
        try:
            one = study.with_effect(effect)
            if times != 1:
                one = one.with_worker_slope(times * study.parameters.sd_worker_slope)
        except ParametersError:  # the categories end before
            cells.append("-")
            continue
        looks = drawn(one, n)
        there = looks.part(looks.usable)
        missing = max(missing, 1 - len(there) / n)
        half = half_widths(there.standard_error, there.df, plan.bounds.nominal)
        covers = np.abs(there.estimate - effect) <= half
        rate = float(covers.all(axis=1).mean())
        cells.append(f"{1 - rate if effect == 0 else rate:.3f}")
        if effect == d80:
            at = _first((np.abs(there.estimate) >= half) | (half <= stop_when.half_width))
            at_stop = f"{covers[np.arange(len(there)), at].mean():.3f}"
    return [*cells, at_stop, f"{missing:.3f}"]


def _last_of(last: EffectPrecision) -> tuple[Floats, Floats]:
    return np.array(last.standard_error), np.array(last.df)


def units(n: int) -> str:
    """Repeated intervals over items: t of the means of 25, 50, 75 and 100 items over 6 or 20 workers of all."""
    rows = []
    for setting, (sd_worker, sd_item, sd) in SETTINGS.items():
        cells = [setting]
        for workers in (6, 20):
            rng = np.random.default_rng(SEED)
            of_workers = rng.normal(0, sd_worker / np.sqrt(workers), (n, 1))
            means = of_workers + rng.normal(0, np.sqrt(sd_item**2 + 2 * sd**2 / workers), (n, 100))
            outside = np.zeros(n, dtype=bool)
            for count, level in zip(
                (25, 50, 75, 100), boundaries(RULE, (0.25, 0.5, 0.75, 1)).nominal, strict=True
            ):
                seen = means[:, :count]
                error = seen.std(axis=1, ddof=1) / np.sqrt(count)
                outside |= np.abs(seen.mean(axis=1)) >= half_widths(error, np.array(count - 1.0), level)
            cells.append(f"{outside.mean():.3f}")
        rows.append(cells)
    return _table(["setting", "6 workers", "20 workers"], rows)


def sequences(n: int) -> str:
    """Sequences over workers with items of their own, over workers who share items, and over items."""
    header = [
        "setting",
        "workers, fresh items",
        "workers, the same items",
        "items of 6 workers",
        "items of 20 workers",
        "ratings of 6 workers",
    ]
    rows = [[setting, *(f"{rate:.3f}" for rate in sequence_errors(setting, n))] for setting in SETTINGS]
    return _table(header, rows)


def sequence_errors(setting: str, n: int) -> list[float]:
    """How often each sequence ever excludes no difference: over workers exact, over items asymptotic."""
    rng = np.random.default_rng(SEED)
    sd_worker, sd_item, sd = SETTINGS[setting]
    items, most = 50, 20
    pair = sd * np.sqrt(2.0)
    g = tuned_spread(10)
    fresh = rng.normal(0, np.sqrt(sd_worker**2 + (sd_item**2 + pair**2) / items), (n, most))
    common = rng.normal(0, sd_item / np.sqrt(items), (n, 1))
    same = rng.normal(0, np.sqrt(sd_worker**2 + pair**2 / items), (n, most)) + common
    found = [_ever_outside(values, lambda s, m: half_width_at(s, m, g)) for values in (fresh, same)]
    for workers in (6, 20):
        of_workers = rng.normal(0, sd_worker / np.sqrt(workers), (n, 1))
        means = rng.normal(0, np.sqrt(sd_item**2 + pair**2 / workers), (n, 200)) + of_workers
        found.append(_ever_outside(means, _asymptotic, start=10))
    return [*found, _ratings_outside(setting, n, rng)]


def _ratings_outside(setting: str, n: int, rng: np.random.Generator) -> float:
    """The sequence over single differences of 6 workers who rate the same items, looked at after each of 200."""
    sd_worker, sd_item, sd = SETTINGS[setting]
    of_workers = rng.normal(0, sd_worker, (n, 6))
    total, squares, ever = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    for item in range(1, 201):
        values = of_workers + rng.normal(0, sd_item, (n, 1)) + rng.normal(0, sd * np.sqrt(2.0), (n, 6))
        total += values.sum(axis=1)
        squares += (values**2).sum(axis=1)
        t = 6 * item
        spread = np.sqrt((squares - total**2 / t) / (t - 1))
        if item >= 10:
            ever |= np.abs(total / t) > _asymptotic(spread, t)
    return float(ever.mean())


def _asymptotic(spread: Floats, t: int) -> Floats:
    """Half-width of the asymptotic sequence of Waudby-Smith et al. (2024), narrowest at 50."""
    rho2 = (-2 * np.log(0.05) + np.log(1 - 2 * np.log(0.05))) / 50
    grown = t * rho2 + 1
    return np.asarray(spread * np.sqrt(2 * grown / (t**2 * rho2) * np.log(np.sqrt(grown) / 0.05)))


def _ever_outside(values: Floats, half: Callable[[Floats, int], Floats], start: int = 3) -> float:
    ever = np.zeros(len(values), dtype=bool)
    for t in range(start, values.shape[1] + 1):
        mean, spread = values[:, :t].mean(axis=1), values[:, :t].std(axis=1, ddof=1)
        ever |= np.abs(mean) > half(spread, t)
    return float(ever.mean())


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (header, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(header)}", *lines[1:]])


TABLES = {
    "holds": holds,
    "takes": takes,
    "shortcuts": shortcuts,
    "moved": moved,
    "categories": categories,
    "units": units,
    "sequences": sequences,
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
            print(make(1000), end="\n\n")
        return
    for name, make in wanted.items():
        begin, end = f"<!-- {name}: made by {COMMAND} -->", f"<!-- end of {name} -->"
        table = make(STUDIES)
        print(table, end="\n\n")
        if begin not in PAGE.read_text():  # the page says it in words
            continue
        new = f"{begin}\n\n{shown_rows(table, SHOWN.get(name, ''))}\n\n{end}"
        text = PAGE.read_text()
        text = re.sub(
            rf"{re.escape(begin)}.*?{re.escape(end)}", lambda _, new=new: new, text, flags=re.DOTALL
        )
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
