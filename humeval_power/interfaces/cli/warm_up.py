"""`humeval-power warm-up`: compile the numerical kernels now, not at the first answer."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from humeval_power.interfaces.cli.compiling import TOLD
from humeval_power.interfaces.cli.output import note, say
from humeval_power.kernels.compile_events import listening


@click.command("warm-up")
def command() -> None:
    """Compile the numerical kernels now, not at the first answer.

    Compiled code is kept: beside the installation, else in your cache folder, or
    where NUMBA_CACHE_DIR says. A command that finds none compiles what it needs
    itself. Run this once after installing or updating, about half a minute.
    """
    click.get_current_context().meta[TOLD] = True  # the lines below say it
    from humeval_power.kernels.kernel import temporary_cache

    for title, step in warming_steps().items():
        say(f"{title + ' ':.<44} ", nl=False)
        compiled: list[str] = []
        started = time.perf_counter()
        with listening(compiled.append):
            step()
        seconds = time.perf_counter() - started
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
    from humeval_power.kernels import balanced_ml, contingency, resampling, sign_flips

    one, square = np.ones(5), np.ones((1, 5))
    ordered, rng = np.arange(4.0), np.random.default_rng(0)
    tables = np.ones((1, 2, 2, 2))

    def medians() -> None:
        resampling.resample_medians(resampling.drawn_counts(rng, 4, 2), ordered)
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
