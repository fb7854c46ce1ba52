"""Fits of tables with many workers beside lme4 in one run: seconds of one processor, memory, and agreement.

    python benchmarks/bench_workers.py [--quick] [--rounds 3] [--only NAME ...] [--no-lme4] [--limit 600]
                                       [--kept FILE] [--picture PATH]

Both take turns on the same tables, on one thread each; medians of processor seconds are shown, which other
work on the machine does not lengthen. A fit of lme4 is stopped at --limit seconds. What lme4 found is kept in
a file, so that a run that was broken off goes on where it was, and the next one need not wait for it again.
`fit` is the public function on one table, with everything that lmer() does not give: standard errors of the SDs,
degrees of freedom of Satterthwaite and of Kenward and Roger, and what the table can tell apart.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from studies import HERE, ONE_THREAD, PARAMETERS, RatedRows, draw, machine, peak_mb, print_table, run_python

from humeval_power.designs import Assignment, Codes

KEPT = HERE / ".workers_lme4.json"
_SHARES = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")


@dataclass(frozen=True)
class Shape:
    """Who rates what: `k` workers rate both outputs of an item, drawn within the block of an item."""

    n_workers: int
    n_items: int
    k: int
    n_blocks: int = 1

    def assignment(self, seed: int) -> Assignment:
        rng = np.random.default_rng(seed)
        size = self.n_workers // self.n_blocks
        block = np.arange(self.n_items) * self.n_blocks // self.n_items
        own = np.argpartition(rng.random((self.n_items, size)), self.k, axis=1) if size <= 200 else None
        drawn = _without_repeats(rng, self.n_items, size, self.k) if own is None else own[:, : self.k]
        worker = (drawn + (block * size)[:, None]).ravel()
        item = np.repeat(np.arange(self.n_items), self.k)
        codes = (np.tile(worker, 2), np.tile(item, 2), np.repeat([0, 1], len(item)))
        return Assignment(*(_from_zero(part) for part in codes))


SHAPES = {
    "300 workers, random": Shape(300, 2000, 3),
    "1,000 workers, random": Shape(1000, 2000, 3),
    "1,000 workers in 20 blocks": Shape(1000, 2000, 3, 20),
    "3,000 workers, random": Shape(3000, 6000, 3),
    "100 workers, a million ratings": Shape(100, 50_000, 10),
    "10,000 workers, a million ratings": Shape(10_000, 50_000, 10),
}
QUICK = tuple(SHAPES)[:3]
GROWTH = {f"{n:,} workers, {2 * n:,} items": Shape(n, 2 * n, 3) for n in (100, 300, 1000, 3000, 10_000)}


@dataclass(frozen=True)
class Found:
    """One fit: processor seconds (None where it was stopped), what was found, and the peak memory in MB."""

    seconds: float | None
    effect: float = float("nan")
    standard_error: float = float("nan")
    deviations: Sequence[float] = field(default=())
    peak_mb: float = float("nan")


def _without_repeats(rng: np.random.Generator, n: int, size: int, k: int) -> Codes:
    """`k` different of `size` in each of n rows: rows with repeats are drawn again."""
    drawn = rng.integers(size, size=(n, k))
    while (again := np.flatnonzero((np.diff(np.sort(drawn, axis=1), axis=1) == 0).any(axis=1))).size:
        drawn[again] = rng.integers(size, size=(len(again), k))
    return drawn


def _from_zero(codes: Codes) -> Codes:
    """Codes without gaps: a worker who was never drawn is none."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def table_of(shape: Shape, seed: int) -> RatedRows:
    """One table of that shape, from the model at `PARAMETERS`."""
    rows = shape.assignment(seed)
    return RatedRows(
        rows.worker, rows.item, rows.system, draw(rows, PARAMETERS, np.random.default_rng(seed))
    )


def report_ours(shape: Shape, seed: int) -> None:
    """What the measured process does: fit one table to load the kernels, and time the fit of another."""
    from humeval_power.estimation.fitting import fit

    fit(table_of(shape, seed + 1))
    table = table_of(shape, seed)
    started = time.process_time()
    fitted = fit(table)
    seconds = time.process_time() - started
    deviations = [getattr(fitted.parameters, name) for name in (*_SHARES, "sd_residual")]
    found = Found(seconds, fitted.parameters.effect, fitted.standard_error, deviations, peak_mb())
    print(json.dumps(asdict(found)))


def lme4_of(shape: Shape, seed: int, limit: int) -> Found:
    """lme4's fit of the same table, stopped when it has taken `limit` seconds of a processor."""
    table = table_of(shape, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ratings.csv")
        columns = (table.worker, table.item, table.system, table.rating)
        head = "worker,item,system,rating"
        np.savetxt(path, np.column_stack(columns), fmt="%d,%d,%d,%.17g", header=head, comments="")
        done = subprocess.run(
            ["Rscript", str(HERE / "workers.R"), str(path)],
            check=False,
            env=os.environ | ONE_THREAD,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
        )
    if done.returncode != 0:
        return Found(None)
    return Found(**json.loads(done.stdout))


def kept_or(path: Path, key: str, run: Callable[[], Found]) -> Found:
    """What the file holds under `key`, or what `run` finds, which is then kept."""
    known = json.loads(path.read_text()) if path.exists() else {}
    if key not in known:
        known[key] = asdict(run())
        path.write_text(json.dumps(known, indent=1))
    return Found(**known[key])


def measure(name: str, shape: Shape, wanted: argparse.Namespace) -> tuple[list[Found], list[Found]]:
    """Rounds of both, in turn; where lme4 was stopped once it is not tried again."""
    ours, theirs = [], []
    rounds = wanted.rounds if shape.n_items < 10_000 else 1
    for seed in range(rounds):
        code = ["--ours", *map(str, (shape.n_workers, shape.n_items, shape.k, shape.n_blocks, seed))]
        ours.append(Found(**run_python(__file__, *code)))
        if not wanted.no_lme4 and all(one.seconds is not None for one in theirs):
            key = f"{name}, {shape.k} an item, table {seed}, {wanted.limit} s"
            theirs.append(kept_or(wanted.kept, key, lambda seed=seed: lme4_of(shape, seed, wanted.limit)))
    return ours, theirs


def seconds_of(found: Sequence[Found], limit: int) -> str:
    """The median in words; where a fit was stopped, how long it had taken."""
    if not found:
        return "-"
    if any(one.seconds is None for one in found):
        return f"> {limit}"
    return f"{statistics.median(one.seconds for one in found if one.seconds is not None):.3g}"


def apart(ours: Sequence[Found], theirs: Sequence[Found]) -> tuple[str, str]:
    """The largest relative difference of the standard error and of an SD."""
    both = [(a, b) for a, b in zip(ours, theirs, strict=False) if b.seconds is not None]
    if not both:
        return "-", "-"
    error = max(abs(a.standard_error / b.standard_error - 1) for a, b in both)
    sds = max(float(np.max(np.abs(np.subtract(a.deviations, b.deviations)))) for a, b in both)
    return f"{error:.1e}", f"{sds:.1e}"


def picture(path: Path, measured: dict[str, tuple[list[Found], list[Found]]]) -> None:
    """Seconds over random workers, twice as many items, 3 ratings an item and system, as PATH.png and PATH.svg."""
    from matplotlib.figure import Figure

    from humeval_power.saying.figure_style import COLOURS, DASHES, MARKERS, figure_bytes, house_style

    with house_style():
        figure = Figure(figsize=(4.6, 3.0), layout="constrained")
        axes = figure.subplots()
        for place, words in enumerate(("this package", "lme4")):
            shown = [
                (GROWTH[name].n_workers, statistics.median(one.seconds for one in found[place]))
                for name, found in measured.items()
                if name in GROWTH and found[place] and all(one.seconds is not None for one in found[place])
            ]
            style = {"color": COLOURS[place], "marker": MARKERS[place], "linestyle": DASHES[place]}
            axes.plot(*zip(*shown, strict=True), label=words, **style)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):  # plain numbers: the house style parses no powers
            axis.set_major_formatter(lambda value, _: f"{value:,g}")
            axis.set_minor_formatter(lambda *_: "")
        axes.set_xlabel("workers (2 items and 12 ratings each)")
        axes.set_ylabel("seconds of one processor")
        axes.legend()
        for ending in ("png", "svg"):
            path.with_suffix(f".{ending}").write_bytes(figure_bytes(figure, ending))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the three smallest shapes, one round")
    parser.add_argument(
        "--rounds", type=int, default=3, help="of tables below 10,000 items; the others have one"
    )
    parser.add_argument("--only", nargs="+", choices=(*SHAPES, *GROWTH))
    parser.add_argument("--no-lme4", action="store_true", help="leave lme4 out")
    parser.add_argument("--limit", type=int, default=600, help="seconds at which a fit of lme4 is stopped")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where lme4's results are kept")
    parser.add_argument(
        "--picture", type=Path, help="also measure how time grows with the workers, and draw it"
    )
    parser.add_argument("--ours", nargs=5, type=int, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.ours:
        report_ours(Shape(*wanted.ours[:4]), wanted.ours[4])
        return
    if wanted.quick:
        wanted.rounds = 1
    names = wanted.only or (QUICK if wanted.quick else SHAPES)
    shapes = {name: (SHAPES | GROWTH)[name] for name in names} | (GROWTH if wanted.picture else {})
    print(f"{machine()}\n\none thread, REML, medians of processor seconds\n", flush=True)
    print_table(("", "ratings", "lme4", "fit", "MB", "SE apart (relative)", "SDs apart"), [])
    measured = {}
    for name, shape in shapes.items():
        ours, theirs = measured[name] = measure(name, shape, wanted)
        row = (
            name,
            f"{2 * shape.n_items * shape.k:,}",
            seconds_of(theirs, wanted.limit),
            seconds_of(ours, wanted.limit),
            f"{max(one.peak_mb for one in ours):.0f}",
            *apart(ours, theirs),
        )
        print("| " + " | ".join(row) + " |", flush=True)
    if wanted.picture:
        picture(wanted.picture, measured)


if __name__ == "__main__":
    sys.exit(main())
