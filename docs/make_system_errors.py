"""Make the table of error rates and power of docs/many-systems.md anew: python docs/make_system_errors.py

Studies are drawn, fitted and tested one by one: nothing of the package's own simulations is used. The
numbers depend on the seed alone. `--quick` uses few studies and prints the table without touching the page;
`--jobs` says how many processes work. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from kept_tables import kept_tables
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, stdtr, stdtrit
from shown_rows import shown_rows

from humeval_power.estimation.crossed.fits import fit_batch, fit_mean_squares
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.joint.fit import JointFit, contrast_precision, fit_joint
from humeval_power.kernels.crossed import balanced
from humeval_power.rules import SystemVariances
from humeval_power.sweep.blocks import Block, run_blocks

Floats = NDArray[np.float64]
World = Literal["alike", "one apart", "one agreed", "two kinds"]

SHOWN = r"^\| (3|16) \| 5 \|"  # rows that the page shows
PAGE = Path(__file__).with_name("many-systems.md")
COMMAND = "python docs/make_system_errors.py"
SEED, STUDIES, ITEMS, BLOCK, ALPHA = 1, 1_000, 40, 50, 0.05
WORLDS: tuple[World, ...] = ("alike", "one apart", "one agreed", "two kinds")
MODELS = ("pairwise", "common", "own")  # pairwise fits, and joint fits with common and with own variances
VARIANCES: tuple[SystemVariances, ...] = ("common", "own")
APART = 4.0  # times the SDs of the first system where it is apart
TOGETHER = 0.9  # correlation of a worker's deviations about systems of one of two kinds
BETTER = 0.10  # by which the second half of the systems is better where power is meant
SD_WORKER, SD_WORKER_SYSTEM, SD_ITEM, SD_ITEM_SYSTEM, SD_RESIDUAL = 0.10, 0.06, 0.12, 0.06, 0.20
DIRECTIONS, GROUPS = 2_000, 100  # of the largest t
FEWER = 2  # times fewer studies where not every worker rates every item, as these take longest


class Cell(NamedTuple):
    """One kind of study: systems, workers, how many of them rate an item, and the SDs."""

    systems: int
    workers: int
    per_item: int
    world: World


class Test(NamedTuple):
    """Comparisons of one study by one model: estimates, standard errors and df, each (pairs,), and the
    covariance of the means of a joint fit."""

    estimate: Floats
    error: Floats
    df: Floats
    covariance: Floats | None = None


CELLS = [
    *(Cell(K, m, m, world) for K in (3, 8, 16) for m in (5, 10) for world in WORLDS),
    *(Cell(8, 10, 3, world) for world in WORLDS),
]
OUTCOMES = (
    "across",
    "within",
    "holm",
    "max-t",
    "half holm",
    "half max-t",
    "found holm",
    "found max-t",
    "length",
)


def kinds(world: World, systems: int) -> NDArray[np.int64]:
    """The first system against the others or, of two kinds, every other one, (systems,)."""
    return np.arange(systems) % 2 if world == "two kinds" else np.minimum(np.arange(systems), 1)


def draw(cell: Cell, n: int, rng: np.random.Generator) -> Floats:
    """Complete studies in which all systems have the same mean, (n, workers, items, systems)."""
    m, K = cell.workers, cell.systems
    kind = kinds(cell.world, K)
    times = np.where((kind == 0) & (cell.world == "one apart"), APART, 1.0)
    strict = np.where((kind == 0) & (cell.world == "one agreed"), 0.0, SD_WORKER)
    about = rng.standard_normal((n, m, 1, K))
    if cell.world == "two kinds":
        shared = rng.standard_normal((n, m, 1, 2))[..., kind]
        about = TOGETHER**0.5 * shared + (1 - TOGETHER) ** 0.5 * about
    value = 0.5 + strict * rng.standard_normal((n, m, 1, 1)) + SD_WORKER_SYSTEM * times * about
    value = value + SD_ITEM * rng.standard_normal((n, 1, ITEMS, 1))
    value = value + SD_ITEM_SYSTEM * times * rng.standard_normal((n, 1, ITEMS, K))
    return np.asarray(value + SD_RESIDUAL * rng.standard_normal((n, m, ITEMS, K)))


class Rows(NamedTuple):
    """A table of ratings as a joint fit takes it."""

    worker: NDArray[np.int64]
    item: NDArray[np.int64]
    system: NDArray[np.int64]
    rating: Floats


def one_block(cell: Cell, block: int, *, n_jobs: int = 1) -> Floats:  # noqa: ARG001
    """Outcomes of some studies, (studies, models and the choice by the ratio test, outcomes)."""
    rng = np.random.default_rng([SEED, *cell[:3], WORLDS.index(cell.world), block])
    studies = draw(cell, BLOCK, rng)
    worker, item = np.indices((cell.workers, ITEMS)).reshape(2, -1)
    seen = (worker + item) % cell.workers < cell.per_item  # who rates an item rates all its systems
    worker, item = worker[seen], item[seen]
    in_pairs = test_in_pairs(cell, studies, worker, item)
    found = []
    for study, pairwise in zip(studies, in_pairs, strict=True):
        rating = study[worker, item]  # (cells, systems)
        system = np.tile(np.arange(cell.systems), len(worker))
        rows = Rows(*(np.repeat(codes, cell.systems) for codes in (worker, item)), system, rating.ravel())
        fits = [fit_joint(rows, variances=kind) for kind in VARIANCES]
        each = [outcomes(cell, test) for test in (pairwise, *map(test_jointly, fits))]
        ratio = chdtrc(2 * (cell.systems - 1), max(fits[0].criterion - fits[1].criterion, 0.0))
        each.append(each[2] if ratio <= ALPHA else each[1])
        found.append(each)
    return np.array(found)


def test_in_pairs(cell: Cell, studies: Floats, worker: Floats, item: Floats) -> list[Test]:
    """Each pair of systems by its own fit, of every study."""
    n = len(studies)
    first, second = np.array(pairs_of(cell.systems)).T
    both = np.stack([studies[..., first], studies[..., second]], axis=-1)  # (n, m, items, pairs, 2)
    both = np.moveaxis(both, 3, 1).reshape(n * len(first), cell.workers, ITEMS, 2)
    if cell.per_item == cell.workers:
        size = balanced.Size(cell.workers, ITEMS)
        squares, difference, mean = balanced.mean_squares(both[..., None])
        fits = fit_mean_squares(squares, balanced.degrees_of_freedom(size), size, difference, mean)
    else:
        twice = [np.repeat(codes, 2) for codes in (worker, item)]
        problem = CrossedProblem.of_design(*twice, np.tile([0, 1], len(worker)))
        responses = both[:, worker, item].reshape(len(both), -1)
        fits = fit_batch(problem, responses, start=np.full(4, 0.1))
    parts = (fits.estimate, fits.standard_error_adjusted, fits.df_kenward_roger)
    return [Test(*each) for each in zip(*(part.reshape(n, -1) for part in parts), strict=True)]


def test_jointly(fitted: JointFit) -> Test:
    """All pairs of systems by one fit."""
    known = contrast_precision(fitted, contrasts(len(fitted.means)))
    return Test(
        known.estimate,
        known.standard_error_adjusted,
        known.df_kenward_roger,
        fitted.covariance_adjusted,
    )


def outcomes(cell: Cell, test: Test) -> list[float]:
    """OUTCOMES of one study by one model. Estimates move with the means and nothing else does, so that the same
    study tells what is found where the second half of the systems is better."""
    first, second = np.array(pairs_of(cell.systems)).T
    kind = kinds(cell.world, cell.systems)
    across = kind[first] != kind[second]
    above = np.arange(cell.systems) >= (cell.systems + 1) // 2
    true = above[second] & ~above[first]
    t, moved = test.estimate / test.error, (test.estimate + BETTER * true) / test.error
    raw, shifted = two_sided(t, test.df), two_sided(moved, test.df)
    largest = largest_of(test)
    holm, max_t = holm_rejects(shifted), max_t_rejects(moved, shifted, test.df, largest)
    length = -2.0 * stdtrit(test.df, ALPHA / 2) * test.error
    told = true & ~across & (moved > 0)
    return [
        float((raw[across] > ALPHA).mean()),
        float((raw[~across] > ALPHA).mean()),
        float(holm_rejects(raw).any()),
        float(max_t_rejects(t, raw, test.df, largest).any()),
        float(holm[~true].any()),
        float(max_t[~true].any()),
        float(holm[told].sum() / (true & ~across).sum()),
        float(max_t[told].sum() / (true & ~across).sum()),
        float(length[~across].mean()),
    ]


def two_sided(t: Floats, df: Floats) -> Floats:
    """p-values of t statistics."""
    return np.asarray(2.0 * stdtr(df, -np.abs(t)))


def holm_rejects(p: Floats) -> NDArray[np.bool_]:
    """Holm's (1979) steps at ALPHA."""
    order = np.argsort(p)
    steps = p[order] <= ALPHA / np.arange(len(p), 0, -1)
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order[: len(p) if steps.all() else int(np.argmin(steps))]] = True
    return rejected


def largest_of(test: Test) -> Floats:
    """The largest projection of points on the unit sphere of all contrasts, in groups of like size, (GROUPS,);
    nothing without a covariance of the means."""
    if test.covariance is None:
        return np.empty(0)
    K = len(test.covariance)
    basis = np.linalg.svd(np.eye(K) - 1.0 / K)[0][:, : K - 1]  # contrasts live where the mean of all is out
    root = contrasts(K) @ basis @ np.linalg.cholesky(basis.T @ test.covariance @ basis)
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    largest = np.sort(np.abs(directions(K - 1) @ root.T).max(axis=1))
    return np.asarray(largest.reshape(GROUPS, -1).mean(axis=1))


def max_t_rejects(t: Floats, raw: Floats, df: Floats, largest: Floats) -> NDArray[np.bool_]:
    """The largest t at ALPHA, each comparison on its own df: the mean tail of F over directions."""
    rejected = np.zeros(len(t), dtype=bool)
    if not len(largest):
        return rejected
    rank = round((2 * len(t)) ** 0.5 - 0.5)  # of K (K - 1) / 2 pairs it is K - 1
    rejected = raw <= ALPHA / len(t)
    open_ = np.flatnonzero((raw <= ALPHA) & ~rejected)
    square = (t[open_] / largest[:, None]) ** 2 / rank
    rejected[open_] = fdtrc(rank, df[open_], square).mean(axis=0) <= ALPHA
    return rejected


@cache
def directions(rank: int) -> Floats:
    """Points on the unit sphere, (DIRECTIONS, rank)."""
    points = np.random.default_rng([SEED, rank]).standard_normal((DIRECTIONS, rank))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


@cache
def pairs_of(systems: int) -> list[tuple[int, int]]:
    """All pairs, those with the first system first."""
    return list(combinations(range(systems), 2))


@cache
def contrasts(systems: int) -> Floats:
    """Second - first of each pair, (pairs, systems)."""
    one = np.eye(systems)
    return np.array([one[second] - one[first] for first, second in pairs_of(systems)])


def studies_of(cell: Cell, n_studies: int) -> int:
    """How many studies a row is from."""
    return n_studies if cell.per_item == cell.workers else max(n_studies // FEWER, BLOCK)


def simulate(n_studies: int, jobs: int | None) -> dict[Cell, Floats]:
    """Mean outcomes of every kind of study, (models and the choice by the ratio test, outcomes)."""
    places = [(cell, block) for cell in CELLS for block in range(studies_of(cell, n_studies) // BLOCK)]
    parts: dict[Cell, list[Floats]] = {}
    with kept_tables(Path(__file__), jobs, studies=n_studies):
        outcomes_of = run_blocks([Block(one_block, place) for place in places])
        for (cell, _), part in zip(places, outcomes_of, strict=True):
            parts.setdefault(cell, []).append(part)
    return {cell: np.concatenate(blocks).mean(axis=0) for cell, blocks in parts.items()}


def table_text(found: dict[Cell, Floats], n_studies: int) -> str:
    """The rates as Markdown."""

    def told(values: Floats, digits: int = 1) -> str:
        return " / ".join(f"{value:.{digits}f}" for value in values)

    head = ["systems", "workers", "world", "covered, across", "covered, within", "any false, Holm"]
    head += ["any false, max-t", "chosen by ratio", "found, Holm", "found, max-t", "length"]
    lines = [" | ".join(["", *head, ""]).strip(), "|--:|--:|---|" + "--:|" * (len(head) - 3)]
    for cell, values in found.items():
        of = dict(zip(OUTCOMES, 100.0 * values.T, strict=True))
        complete = cell.per_item == cell.workers
        row = [str(cell.systems), str(cell.workers) if complete else f"{cell.per_item} of {cell.workers}"]
        row += [cell.world, told(of["across"][:3]), told(of["within"][:3]), told(of["holm"][:3])]
        row += [told(of["max-t"][1:3]), told(of["holm"][3:]), told(of["found holm"][:3], 0)]
        row += [told(of["found max-t"][1:3], 0), told(of["length"][1:3] / of["length"][0], 2)]
        lines.append(" | ".join(["", *row, ""]).strip())
    half = np.array([100.0 * values[:3, OUTCOMES.index("half holm")] for values in found.values()])
    counts = sorted({studies_of(cell, n_studies) for cell in found}, reverse=True)
    each = " or ".join(f"{n:,} ({100 * (ALPHA * (1 - ALPHA) / n) ** 0.5:.1f})" for n in counts)
    return "\n".join(
        [
            *lines,
            "",
            f"Studies a row, and the standard error of a rate of 5 % in points: {each}. Where the second half of "
            f"the systems is better, false findings after Holm's correction come in at most "
            f"{told(half.max(axis=0))} % of the studies.",
        ]
    )


def main() -> None:
    """Simulate and write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few studies, printed only")
    parser.add_argument("--jobs", type=int, help="processes (default: one for each core)")
    parser.add_argument("--studies", type=int, default=STUDIES, help=f"a row (default: {STUDIES:,})")
    arguments = parser.parse_args()
    n_studies = BLOCK if arguments.quick else arguments.studies
    text = table_text(simulate(n_studies, arguments.jobs), n_studies)
    print(text)
    if arguments.quick:
        return
    start, end = f"<!-- made by {COMMAND} -->", "<!-- end -->"
    page, count = re.subn(
        f"{re.escape(start)}.*?{re.escape(end)}",
        lambda _: f"{start}\n\n{shown_rows(text, SHOWN)}\n\n{end}",
        PAGE.read_text(),
        flags=re.DOTALL,
    )
    if count != 1:
        raise SystemExit(f"{PAGE.name} has no place for the tables.")
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
