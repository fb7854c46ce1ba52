"""`humeval-power more warm-up`: compile the numerical kernels now, not at the first answer."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

import click

from humeval_power.asking.options import default_jobs, option_of
from humeval_power.asking.output import TOLD, note, say
from humeval_power.asking.vocabulary import JOBS
from humeval_power.kernels.compile_events import announce, listening


class WarmedStep(NamedTuple):
    """What one step compiled, and how long it took."""

    compiled: list[str]
    seconds: float


@click.command("warm-up")
@option_of("jobs", JOBS)
def command(jobs: int | None) -> None:
    """Compile the numerical kernels now, not at the first answer.

    Compiled code is kept: beside the installation, else in your cache folder, or
    where NUMBA_CACHE_DIR says. A command that finds none compiles what it needs
    itself. Run this once after installing or updating, up to a minute.
    """
    click.get_current_context().meta[TOLD] = True  # the lines below say it
    from humeval_power.estimation.warming import is_warm
    from humeval_power.kernels.kernel import temporary_cache

    titles = list(warming_steps())
    done = _warmed(titles, 1 if is_warm() else min(jobs or default_jobs(), len(titles)))
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
    """What to run so that each kernel is compiled for what commands give it, the longest first."""
    import numpy as np

    from humeval_power.estimation import warming
    from humeval_power.kernels.metrics import contingency, sign_flips
    from humeval_power.kernels.metrics import corpus as resampling

    ordered, rng = np.arange(4.0), np.random.default_rng(0)
    tables = np.ones((1, 2, 2, 2))

    def resamples() -> None:
        resampling.resample_medians(resampling.drawn_counts(rng, 4, 2), ordered)
        resampling.drawn_counts(rng, 2000, 1)  # fewer are counted by NumPy
        resampling.hodges_lehmann_rows(ordered[None])
        resampling.pair_mean(ordered, 1)

    return {
        "Fits of several systems": lambda: _run(*_SYSTEMS),
        "Fits of ratings": warming.fit_ratings,
        "Fits of differences": warming.fit_differences,
        "Fits of large tables": warming.fit_large_tables,
        "Fits of categories": lambda: _run("--family binary --shares .5,.5"),
        "Maximum likelihood of complete tables": warming.maximise_likelihoods,
        "Exact randomisation of two classes": lambda: contingency.exact_p(tables, 0, 1),
        "Random signs": lambda: sign_flips.extreme_flips(np.ones((1, 5)), np.zeros(1, dtype=np.uint64), 1),
        "Resampling of items": resamples,
    }


_SMALL = "--preset low --workers 3 --items 4 --effect 0.1 --simulations 4 --seed 1 --quiet"
_SYSTEMS = (
    "--n-systems 3",
    "--n-systems 3 --ratings-per-item 2",
    "--n-systems 3 --model joint",
    "--n-systems 3 --model joint --ratings-per-item 2",
    "--n-systems 3 --model joint --system-variances common",
    "--n-systems 3 --model joint --system-variances own",
)


def _run(*studies: str) -> None:
    """Simulate small studies whose power is of no interest."""
    from humeval_power.asking.output import capturing
    from humeval_power.doors.terminal.main import main

    for study in studies:
        with capturing(study, lambda _result: None):
            main(["power", *_SMALL.split(), *study.split()], standalone_mode=False)


def _warmed(titles: list[str], jobs: int) -> Iterator[WarmedStep]:
    """Every step, in order; by some processes where that is asked for."""
    if jobs == 1:
        yield from map(_warm, titles)
        return
    ends = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # at Ctrl-C, without a word
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=ends) as processes:
        for done in processes.map(_warm, titles):
            for name in done.compiled:
                announce(name)  # to those who listen in this process
            yield done


def _warm(title: str) -> WarmedStep:
    """Do one step."""
    compiled: list[str] = []
    started = time.perf_counter()
    with listening(compiled.append):
        warming_steps()[title]()
    return WarmedStep(compiled, time.perf_counter() - started)
