"""`humeval-power warm-up`: compile the numerical kernels now, not at the first answer."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

import click

from humeval_power.interfaces.cli.compiling import TOLD
from humeval_power.interfaces.cli.options import default_jobs, jobs_option
from humeval_power.interfaces.cli.output import note, say
from humeval_power.kernels.compile_events import announce, listening

_MOST_JOBS = 2  # one fit of ratings is half of the work: more processes would wait for it


class Warmed(NamedTuple):
    """What one step compiled, and how long it took."""

    compiled: list[str]
    seconds: float


@click.command("warm-up")
@jobs_option
def command(jobs: int | None) -> None:
    """Compile the numerical kernels now, not at the first answer.

    Compiled code is kept: beside the installation, else in your cache folder, or
    where NUMBA_CACHE_DIR says. A command that finds none compiles what it needs
    itself. Run this once after installing or updating, about half a minute.
    """
    click.get_current_context().meta[TOLD] = True  # the lines below say it
    from humeval_power.estimation.crossed.choice import kernels_ready
    from humeval_power.kernels.kernel import temporary_cache

    titles = list(warming_steps())
    done = _warmed(titles, 1 if kernels_ready() else min(jobs or default_jobs(), _MOST_JOBS))
    for title in titles:
        say(f"{title + ' ':.<44} ", nl=False)
        compiled, seconds = next(done)
        say(f"{len(compiled)} compiled, {seconds:.0f} s" if compiled else "ready")
    folder = temporary_cache()
    if folder is not None:
        note(
            f"They are kept in {folder} only, because neither the installation nor your home can be written."
        )


def warming_steps() -> dict[str, Callable[[], object]]:
    """What to run so that each kernel is compiled for what commands give it."""
    import numpy as np

    from humeval_power.estimation import warming
    from humeval_power.kernels.crossed import balanced_ml
    from humeval_power.kernels.metrics import contingency, resampling, sign_flips

    one, square = np.ones(5), np.ones((1, 5))
    ordered, rng = np.arange(4.0), np.random.default_rng(0)
    tables = np.ones((1, 2, 2, 2))

    def medians() -> None:
        resampling.resample_medians(resampling.drawn_counts(rng, 4, 2), ordered)
        resampling.drawn_counts(rng, 2000, 1)  # fewer are counted by NumPy
        resampling.hodges_lehmann_rows(ordered[None])
        resampling.pair_mean(ordered, 1)

    return {
        "Fits of ratings": warming.fit_ratings,
        "Precision of designs and fits": warming.examine_ratings,
        "Fits of differences": warming.fit_differences,
        "Maximum likelihood of complete tables": lambda: balanced_ml.maximum_likelihood(
            square, one, square
        ),
        "Exact randomisation of two classes": lambda: contingency.exact_p(tables, 0, 1),
        "Random signs": lambda: sign_flips.extreme_flips(square, np.zeros(1, dtype=np.uint64), 1),
        "Resampling of items": medians,
    }


def _warmed(titles: list[str], jobs: int) -> Iterator[Warmed]:
    """Every step, in order; by two processes where that is asked for. The first two steps stay together: until
    there are kernels for fits of ratings, the second would use none."""
    if jobs == 1:
        yield from map(_warm, titles)
        return
    parts = [titles[:2], *([title] for title in titles[2:])]
    ends = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # at Ctrl-C, without a word
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=ends) as processes:
        for part in processes.map(_warm_all, parts):
            for done in part:
                for name in done.compiled:
                    announce(name)  # to those who listen in this process
                yield done


def _warm_all(titles: Sequence[str]) -> list[Warmed]:
    return [_warm(title) for title in titles]


def _warm(title: str) -> Warmed:
    """Do one step."""
    compiled: list[str] = []
    started = time.perf_counter()
    with listening(compiled.append):
        warming_steps()[title]()
    return Warmed(compiled, time.perf_counter() - started)
