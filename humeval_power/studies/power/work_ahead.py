"""What is said before long work: how long, how much memory, and a way out; or that it cannot be done."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import click
import numpy as np

from humeval_power.asking.output import note
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.scenarios.contract import Scenario
from humeval_power.simulation.study import tables_at_once
from humeval_power.sweep.blocks import sweep_in_force

if TYPE_CHECKING:
    from humeval_power.studies.power.scenario import RatingStudy


LONG, TOO_LONG = 60.0, 86400.0  # seconds: worth a word, and refused
MOST = 10**9  # simulations: no question needs more
LARGE = 1e9  # bytes: worth a word
FEWEST = 100  # simulations that are worth advising
_SIZES = (
    "--n",
    "--workers",
    "--items",
    "--ratings-per-item",
    "--ratings-per-system",
    "--budgets",
    "--flips",
)
_UNITS = (("year", 365.25 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def refuse_work(
    work: Workload, *, n_simulations: int, way_out: str = "", option: str = "--simulations"
) -> None:
    """Refuse what cannot be done.

    way_out : what gives an answer without simulation, such as '--method analytic'.
    option : says how many simulations there are, or resamples or flips.

    Raises
    ------
    InputError
        More than a day, or more memory than is free; not with --dry-run, which tells what it would be.
    """
    if _is_dry():
        return
    if work.seconds > TOO_LONG or n_simulations > MOST:
        raise InputError(
            f"{option} {n_simulations:,} of this size would take about {duration(work.seconds)}: more than a day, "
            f"or than {MOST:,} of them, is refused. {_advice(work, n_simulations, way_out, option)}"
        )
    free = free_memory()
    if free is not None and work.n_bytes > free:
        raise InputError(
            f"This needs about {gigabytes(work.n_bytes)} of memory; {gigabytes(free)} are free. Take a "
            f"{_smaller()}, or fewer --jobs{_or(way_out)}."
        )


def tell_work(
    work: Workload, *, n_simulations: int, way_out: str = "", option: str = "--simulations"
) -> None:
    """Say what the work needs where that is much; raises as `refuse_work`."""
    refuse_work(work, n_simulations=n_simulations, way_out=way_out, option=option)
    if _is_dry():
        return
    if work.seconds > LONG or work.n_bytes > LARGE:
        memory = f" and {gigabytes(work.n_bytes)} of memory" if work.n_bytes > LARGE else ""
        advice = _advice(work, n_simulations, way_out, option)
        note(f"This will take about {duration(work.seconds)}{memory}. {_stopping()} {advice}")


def _is_dry() -> bool:
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.params.get("dry_run"))


def _advice(work: Workload, n_simulations: int, way_out: str, option: str) -> str:
    fewer = simulations_within(60.0, work, n_simulations=n_simulations)
    if fewer < FEWEST:
        return f"Take a {_smaller()}{_or(way_out)}."
    return f"{option} {fewer} take about a minute{_or(way_out)}."


def _stopping() -> str:
    """What Ctrl-C does: with an output finished work is kept beside it."""
    sweep = sweep_in_force()
    if sweep is None or sweep.store is None:
        return "Ctrl-C ends it."
    return "Ctrl-C stops it, and the same command goes on."


def _smaller() -> str:
    """What would be less work, in the options of the command."""
    there = _options()
    sizes = [word for word in _SIZES if word in there]
    return f"smaller study ({', '.join(sizes)})" if sizes else "smaller study"


def _or(way_out: str) -> str:
    """The way out, if the command that runs has it."""
    running = click.get_current_context(silent=True) is not None
    lacks = not way_out or (running and way_out.split(" ")[0] not in _options())
    return "" if lacks else f", or {way_out}"


def _options() -> set[str]:
    ctx = click.get_current_context(silent=True)
    return {word for option in ctx.command.params for word in option.opts} if ctx is not None else set()


def duration(seconds: float) -> str:
    """About how long, in one unit: '12 minutes', '3 days', '31,700 years'."""
    for name, size in _UNITS:
        count = round(seconds / size)
        if seconds >= 1.5 * size or name == "second":
            return f"{max(count, 1):,} {name}{'' if count <= 1 else 's'}"
    raise AssertionError  # a second is the last unit


def gigabytes(n_bytes: float) -> str:
    """A size in GB, with a decimal where it is small."""
    size = n_bytes / 1e9
    return f"{size:,.0f} GB" if size >= 10 else f"{size:.1f} GB"


def free_memory() -> float | None:
    """Bytes of memory that are free or can be freed; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return None


def precise_simulations(n_simulations: int, precision: float | None, most: int) -> int:
    """How many simulations a half-width may need at worst, at a power of one half."""
    if precision is None:
        return n_simulations
    if precision <= 0:
        raise click.BadParameter("a half-width is above 0.")
    return max(n_simulations, int(min(float(most), (0.98 / precision) ** 2)))


# How long simulated studies take and how much memory they need, known before the first is drawn.
#
# The constants were measured on one core of a 2020s server (`benchmarks/bench_workload.py` measures them anew);
# they are right within a factor of about three, which is enough to warn of hours and to refuse years.

SEARCH_STEPS = 20  # simulated studies that a search for an effect or a size compares, about

_PER_FIT, _PER_RATING, _PER_CUBE = 2.5e-4, 1.1e-6, 5.4e-9  # seconds: of a fit, its ratings, its factor
_PER_CATEGORIES, _PER_CATEGORY = 8e-3, 8e-6  # seconds: of a fit of categories, for each rating
_PER_CLOSED_FORM = 1e-6  # seconds of a study that is drawn by its mean squares
_PER_TABLE_RATING = 44  # bytes of a rating of each study that is in memory, and of the next that are drawn
_PER_PLANNED_RATING = 220  # bytes of the design itself
_PER_SQUARE = 220  # bytes of the factor and its derivatives, for each core
_SECONDS = {  # of a comparison, and of each of its items; what has another name is like a scenario
    "accuracy": (5e-7, 0.0),
    "preference": (5e-7, 0.0),
    "panel": (5e-3, 2e-5),  # of preferences, fitted
    "corpus": (5e-7, 2e-8),
    "contingency": (3e-6, 1e-8),
    "assessment": (2e-6, 2e-7),
    "compare": (2e-6, 6e-8),
    "runs": (5e-6, 6e-8),
    "runs-answers": (1e-4, 8e-7),  # right or wrong, drawn one by one
    "runs-crossed": (2e-6, 0.0),  # by mean squares
    "runs-unequal": (2e-3, 2e-5),  # crossed, fitted
    "runs-logit": (1e-2, 4e-4),
    "rank": (2e-3, 0.0),  # of battles, fitted
    "scenario": (2e-4, 1e-7),
}
_PER_ITEM = 48  # bytes of an item of one comparison
_MEASURED_FROM, _MEASURING = 10.0, 4.0  # seconds of work that is worth measuring, and of measuring
_SHORT, _MOST_MEASURED = 0.05, 1024  # seconds that tell, and replicates that do where they are short


@dataclass(frozen=True, slots=True)
class Workload:
    """What a computation needs: seconds on the cores that it has, and bytes of memory at once."""

    seconds: float
    n_bytes: float

    def __add__(self, other: Workload) -> Workload:
        """One after the other: times add up, memory is that of the larger."""
        return Workload(self.seconds + other.seconds, max(self.n_bytes, other.n_bytes))


NOTHING = Workload(0.0, 0.0)
_MEASURED: WeakKeyDictionary[RatingStudy, float] = WeakKeyDictionary()
Ahead = Callable[[Workload], None]  # is told of work before it begins, and may refuse it by raising


def study_workload(
    design: Design, *, n_simulations: int, n_jobs: int = 1, closed_form: bool = False
) -> Workload:
    """Of simulated rating studies of a design: fitted, or drawn by their mean squares."""
    if closed_form:
        return Workload(_PER_CLOSED_FORM * n_simulations, 0.0)
    sizes = (design.n_workers, design.n_items, design.n_documents)
    smaller = sum(sizes) - max(sizes)  # all but the factor with most levels, which is eliminated
    return table_workload(design.n_ratings, smaller, n_simulations=n_simulations, n_jobs=n_jobs)


def table_workload(n_ratings: float, smaller: float, *, n_simulations: int, n_jobs: int = 1) -> Workload:
    """Of fits to tables with so many ratings; `smaller` is their number of workers or items, if that is less."""
    each = _PER_FIT + _PER_RATING * n_ratings + _PER_CUBE * smaller**3
    tables = min(n_simulations, tables_at_once(math.ceil(n_ratings), n_jobs=n_jobs))
    in_memory = n_ratings * (_PER_PLANNED_RATING + _PER_TABLE_RATING * tables)
    return Workload(each * n_simulations / n_jobs, in_memory + _PER_SQUARE * smaller**2 * n_jobs)


def rating_study_workload(study: RatingStudy, *, n_simulations: int, n_jobs: int = 1) -> Workload:
    """Of simulations of a rating study, by its mean squares where that is how it is drawn."""
    if study.rule.is_latent:
        work = study_workload(study.design, n_simulations=n_simulations, n_jobs=n_jobs)
        each = _PER_CATEGORIES + _PER_CATEGORY * study.design.n_ratings
        return work + Workload(each * n_simulations / n_jobs, 0.0)
    replication, by_reml = study.replication, study.rule.estimator == "reml"
    return study_workload(
        study.design,
        n_simulations=n_simulations,
        n_jobs=n_jobs,
        closed_form=replication.by_mean_squares or (replication.closed_form and by_reml),
    )


def measured_workload(studies: Sequence[RatingStudy], *, n_simulations: int, n_jobs: int = 1) -> Workload:
    """Of simulations of each of these studies, whose seconds are measured where they may be many."""
    each = measured_seconds(studies, n_simulations=n_simulations)
    memory = max(
        rating_study_workload(study, n_simulations=n_simulations, n_jobs=n_jobs).n_bytes
        for study in studies
    )
    return Workload(sum(each) * n_simulations / n_jobs, memory)


def measured_seconds(scenarios: Sequence[Scenario], *, n_simulations: int) -> list[float]:
    """About how long one replicate of each takes on one core: where all of them may take long, as measured.

    Fits of tables of one size differ by a factor of hundreds, by how the table lies. Rating studies are measured
    for some seconds, large and small ones first; the others are off by as much as those next to them in size.
    """
    from humeval_power.studies.power.scenario import RatingStudy

    expected = [seconds_each(scenario) for scenario in scenarios]
    if sum(expected) * n_simulations < _MEASURED_FROM:
        return expected
    order = [place for place in np.argsort(expected) if isinstance(scenarios[place], RatingStudy)]
    ends = time.monotonic() + _MEASURING
    off: dict[int, float] = {}  # how much longer it takes than expected, by the place in the order
    for rank in _ends_first(len(order)):
        study = scenarios[order[rank]]
        assert isinstance(study, RatingStudy)
        if study not in _MEASURED:
            if time.monotonic() > ends:
                break
            _MEASURED[study] = _measured(study)
        off[rank] = _MEASURED[study] / expected[order[rank]]
    if not off:
        return expected
    factor = np.exp(
        np.interp(np.arange(len(order)), sorted(off), [math.log(off[rank]) for rank in sorted(off)])
    )
    for rank, place in enumerate(order):
        expected[place] *= float(factor[rank])
    return expected


def _measured(study: RatingStudy) -> float:
    """Seconds of a replicate, once what its design needs is there."""
    study.prepare()
    study.draw(1, seed=0)
    n, took = 1, 0.0
    while took < _SHORT and n < _MOST_MEASURED:
        n *= 4
        before = time.monotonic()
        study.draw(n, seed=0)
        took = time.monotonic() - before
    return took / n


def _ends_first(n: int) -> list[int]:
    """Places 0 to n - 1: the last, the first, and then always the middle of the widest gap."""
    places = [n - 1, 0][:n]
    gaps = [(0, n - 1)]
    while gaps:
        low, high = gaps.pop(0)
        if high - low > 1:
            middle = (low + high) // 2
            places.append(middle)
            gaps += [(low, middle), (middle, high)]
    return places


def seconds_each(scenario: Scenario) -> float:
    """About how long one replicate takes on one core. Blocks are cut by it: it depends on the question alone."""
    from humeval_power.studies.power.scenario import RatingStudy

    if isinstance(scenario, RatingStudy):
        return rating_study_workload(scenario, n_simulations=1).seconds
    return _SECONDS["scenario"][0]


def comparison_workload(
    family: str, n: int, *, n_simulations: int, n_jobs: int = 1, flips: int | None = None
) -> Workload:
    """Of simulated comparisons with `n` items, judgements or scores each; `flips` are drawn for each p-value."""
    fixed, per_item = _SECONDS.get(family, _SECONDS["scenario"])
    per_item += 5e-10 * (flips or 0)
    memory = 0.0 if per_item == 0 else float(_PER_ITEM) * n * n_jobs
    return Workload((fixed + per_item * n) * n_simulations / n_jobs, memory)


def simulations_within(seconds: float, work: Workload, *, n_simulations: int) -> int:
    """How many simulations of this kind take about so long, in round numbers; 0 where one takes longer."""
    affordable = seconds / work.seconds * n_simulations if work.seconds else float(n_simulations)
    if affordable < 1:
        return 0
    digit = 10 ** math.floor(math.log10(affordable))
    return int(affordable // digit) * int(digit)
