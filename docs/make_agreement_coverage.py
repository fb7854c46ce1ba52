"""Make the tables of docs/agreement.md anew: how often intervals of agreement hold the value of other raters.

    python docs/make_agreement_coverage.py [--studies 1000] [--jobs 2] [--only holes] [--quick]

Ratings are cut from a normal sum of output, rater and error; the true value is that of 600 raters and 6,000 outputs
of the same kind. The numbers depend on the seed alone. `--quick` prints a few studies without touching the page.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import special
from shown_rows import shown_rows

from humeval_power.comparisons.agreement.agreement import (
    SharedRatings,
    alpha_leaving_out,
    alpha_of_many,
    on_categories,
)
from humeval_power.comparisons.agreement.strata import two_way

PAGE = Path(__file__).with_name("agreement.md")
COMMAND = "python docs/make_agreement_coverage.py"
SEED, DRAWS, OUTPUT_SHARE = 5, 1_000, 0.35
# shares of ratings below each cut; none: not cut
SCALES: Mapping[str, Sequence[float]] = {
    "slider": (),
    "slider, skewed": (),
    "5 points": (0.1, 0.3, 0.6, 0.85),
    "5 points, 70 % at the top": (0.02, 0.07, 0.15, 0.30),
    "5 points, 85 % at the top": (0.01, 0.03, 0.07, 0.15),
    "yes or no, 30 % yes": (0.7,),
    "yes or no, 7 % yes": (0.93,),
}
COMPLETE = [(m, n) for m in (3, 5, 10) for n in (15, 30, 100, 300, 1000)]
HOLES = {
    "5 raters, 100 outputs, 30 % missing": (5, 100, "missing 0.3"),
    "10 raters, 100 outputs, 60 % missing": (10, 100, "missing 0.6"),
    "10 raters, 200 outputs, from 15 % to all of them": (10, 200, "uneven"),
    "30 raters, 100 outputs, 3 of them each": (30, 100, "crowd 3"),
    "100 raters, 300 outputs, 3 of them each": (100, 300, "crowd 3"),
    "30 raters, 200 outputs, 2 of them each": (30, 200, "crowd 2"),
    "15 raters in groups of 3, 150 outputs": (15, 150, "groups 3"),
}


class Question(NamedTuple):
    """Raters, outputs, who rates what, the scale, and the share of variance that is raters' levels."""

    m: int
    n: int
    layout: str
    scale: str
    rater_share: float


def latent(rng: np.random.Generator, m: int, n: int, rater_share: float) -> np.ndarray:
    error = 1 - OUTPUT_SHARE - rater_share
    return (
        rng.normal(size=(n, 1)) * OUTPUT_SHARE**0.5
        + rng.normal(size=(1, m)) * rater_share**0.5
        + rng.normal(size=(n, m)) * error**0.5
    )


def rated(values: np.ndarray, scale: str) -> np.ndarray:
    cuts = SCALES[scale]
    if cuts:
        return np.digitize(values, special.ndtri(cuts)).astype(float)
    return np.exp(values / 2) if scale == "slider, skewed" else values


def drawn_layout(rng: np.random.Generator, m: int, n: int, layout: str) -> np.ndarray:
    """Who rates what, (n, m)."""
    kind, _, number = layout.partition(" ")
    if kind == "missing":
        return rng.random((n, m)) >= float(number)
    if kind == "uneven":
        return rng.random((n, m)) < np.linspace(0.15, 1, m)
    kept = np.zeros((n, m), dtype=bool)
    k = int(number or m)
    share = rng.dirichlet(np.full(m, 2.0)) + 0.2 / m
    for i in range(n):
        own = {
            "crowd": lambda: rng.choice(m, k, replace=False, p=share / share.sum()),
            "groups": lambda i=i: np.arange(k) + k * (i % (m // k)),
            "all": lambda: np.arange(m),
        }[kind]
        kept[i, own()] = True
    return kept


def shared_of(table: np.ndarray, kept: np.ndarray) -> SharedRatings:
    output, worker = np.nonzero(kept & (kept.sum(axis=1) > 1)[:, None])
    values, code = np.unique(table[output, worker], return_inverse=True)
    _, output, size = np.unique(output, return_inverse=True, return_counts=True)
    workers, worker = np.unique(worker, return_inverse=True)
    n = len(size)
    return SharedRatings(
        output,
        code,
        values,
        size,
        np.arange(n),
        len(workers),
        0,
        worker,
        np.zeros(n, dtype=np.int64),
        workers,
    )


@cache
def truth(scale: str, rater_share: float) -> dict[str, float]:
    """The values of other raters, from many of them."""
    found: dict[str, list[float]] = {}
    for part in range(4):
        rng = np.random.default_rng([99, part])
        m, n = 600, 1_500
        table = rated(latent(rng, m, n, rater_share), scale)
        shared = shared_of(table, np.ones(table.shape, dtype=bool))
        one = {"alpha": sum_share(shared, "ordinal" if SCALES[scale] else "interval")}
        if SCALES[scale]:
            of_output, of_rater = (
                np.stack([(table == value).mean(axis=axis) for value in shared.values]) for axis in (1, 0)
            )
            share = of_output.mean(axis=1)
            equal = ((of_output * (of_output * m - 1)).sum(axis=0) / (m - 1)).mean()
            chance = (share**2).sum()
            of_pairs = ((of_rater.sum(axis=1) ** 2 - (of_rater**2).sum(axis=1)) / (m * (m - 1))).sum()
            of_gwet = (1 - chance) / (len(share) - 1)
            one |= {"equal": equal, "kappa": (equal - of_pairs) / (1 - of_pairs)}
            one |= {
                "ac1": (equal - of_gwet) / (1 - of_gwet),
                "alpha_nominal": (equal - chance) / (1 - chance),
            }
        for name, value in one.items():
            found.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def sum_share(shared: SharedRatings, level: str) -> float:
    output, rater, error = two_way(shared.output, shared.worker, shared.score(level)).components
    return output / (output + rater + error)


def one_study(question: Question, study: int) -> dict[str, float]:
    """Whether each interval holds the true value; the width of that of alpha."""
    m, n, layout, scale, rater_share = question
    rng = np.random.default_rng([SEED, study])
    table = rated(latent(rng, m, n, rater_share), scale)
    shared, true = shared_of(table, drawn_layout(rng, m, n, layout)), truth(scale, rater_share)
    level = "ordinal" if SCALES[scale] else "interval"
    one = alpha_of_many(shared, level, 0.95, study, n_draws=DRAWS)
    size = len(shared.size), shared.n_workers
    value, without, _ = alpha_leaving_out(shared.output, shared.worker, shared.score(level), *size)
    reach = 1.96 * np.sqrt((size[0] - 1) ** 2 / size[0] * without.var())
    found = {
        "none": float(np.isnan(one.low)),
        "other": float(one.low <= true["alpha"] <= one.high),
        "below": float(one.low > true["alpha"]),
        "width": one.high - one.low,
        "outputs": float(abs(value - true["alpha"]) <= reach),
    }
    if SCALES[scale]:
        for name, both in on_categories(shared.output, shared.worker, shared.code).items():
            found[name] = float(both.other.low <= true[name] <= both.other.high)
            found[f"{name} outputs"] = float(both.these.low <= true[name] <= both.these.high)
    return found


def answered(question: Question, studies: int) -> dict[str, float]:
    """Means over the studies that have an interval."""
    every = [one_study(question, study) for study in range(studies)]
    with_interval = [one for one in every if not one["none"]]
    found = {name: float(np.mean([one[name] for one in with_interval])) for name in with_interval[0]}
    return found | {
        name: float(np.mean([one[name] for one in every])) for name in found if name not in _OF_ALPHA
    }


_OF_ALPHA = {"other", "below", "width", "outputs", "none"}


def questions(*, quick: bool) -> dict[str, list[Question]]:
    complete = [Question(m, n, "all", "slider", w) for w in (0.15, 0.02) for m, n in COMPLETE]
    scales = [
        Question(m, n, "all", scale, 0.15)
        for scale in list(SCALES)[1:]
        for m, n in ((3, 30), (3, 300), (5, 100), (10, 100), (10, 1000))
    ]
    holes = [
        Question(m, n, layout, scale, 0.15)
        for scale in ("slider", "5 points", "yes or no, 30 % yes")
        for m, n, layout in HOLES.values()
    ]
    found = {"scales": scales, "holes": holes, "complete": complete}
    return {name: some[:2] for name, some in found.items()} if quick else found


def written(name: str, rows: list[tuple[Question, dict[str, float]]]) -> str:
    def share(found: dict[str, float], key: str) -> str:
        return f"{found[key]:.3f}".lstrip("0") if key in found else ""

    if name == "complete":
        head = "| raters x outputs | raters' share | over outputs alone | other raters | width |\n"
        head += "|---|---|---|---|---|\n"
        return head + "\n".join(
            f"| {q.m} x {q.n:,} | {q.rater_share:g} | {share(f, 'outputs')} | {share(f, 'other')} | "
            f"{f['width']:.2f} |"
            for q, f in rows
        )
    names = {layout: words for words, (_, _, layout) in HOLES.items()}
    by_size = {(m, n, layout): words for words, (m, n, layout) in HOLES.items()}
    head = "| scale | table | alpha over outputs alone | alpha | kappa | AC1 | equal | AC1 over outputs alone |\n"
    head += "|---|---|---|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {q.scale} | {by_size.get((q.m, q.n, q.layout), names.get(q.layout, f'{q.m} x {q.n:,}'))} | "
        f"{share(f, 'outputs')} | {share(f, 'other')} | {share(f, 'kappa')} | {share(f, 'ac1')} | "
        f"{share(f, 'equal')} | {share(f, 'ac1 outputs')} |"
        for q, f in rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("scales", "holes", "complete"), help="this table alone")
    asked = parser.parse_args()
    studies = 20 if asked.quick else asked.studies
    with ProcessPoolExecutor(asked.jobs) as pool:
        for name, some in questions(quick=asked.quick).items():
            if asked.only not in (None, name):
                continue
            rows = []
            for question, found in zip(
                some, pool.map(partial(answered, studies=studies), some), strict=True
            ):
                rows.append((question, found))
                shown = " ".join(f"{key} {value:.3f}" for key, value in found.items())
                print(*question, shown, file=sys.stderr, flush=True)
            table = written(name, rows)
            page = PAGE.read_text("utf-8")
            begin = f"<!-- {name}: made by {COMMAND} -->"
            print(table)
            if asked.quick or begin not in page:
                continue
            table = shown_rows(table, r"3 x 300|5 points \| 10 x|7 % yes \| 10")
            pattern = re.compile(re.escape(begin) + r".*?<!-- end -->", re.DOTALL)
            page = pattern.sub(lambda _, begin=begin, table=table: f"{begin}\n{table}\n<!-- end -->", page)
            PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
