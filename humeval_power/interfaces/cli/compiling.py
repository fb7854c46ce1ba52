"""Say so when numerical kernels are compiled, which is slow once; the compiler itself tells when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from humeval_power.interfaces.cli.output import QUIET, say
from humeval_power.kernels.compile_events import listening
from humeval_power.safe_text import wrapped

TOLD = "humeval_power.compiling_told"


@contextmanager
def compiled_kernels() -> Iterator[None]:
    """Within the block, one line says so if a kernel is compiled; once in a command, not with --quiet."""
    ctx = click.get_current_context(silent=True)
    state = (
        {} if ctx is None else ctx.meta
    )  # of the whole command; other threads have no context of their own

    def tell(_kernel: str) -> None:
        if not state.get(TOLD, False) and not state.get(QUIET, False):
            say(wrapped(_message()), err=True)
        state[TOLD] = True

    with listening(tell):
        yield


def _message() -> str:
    from humeval_power.kernels.kernel import temporary_cache

    message = (
        "Compiling the numerical kernels that this needs: up to half a minute, once after each "
        "installation. 'humeval-power warm-up' compiles all of them."
    )
    folder = temporary_cache()
    if folder is not None:
        message += (
            f" Neither the installation nor your home can be written: they are kept in {folder} for as long as "
            "that lasts. Set NUMBA_CACHE_DIR to a folder that stays."
        )
    return message
