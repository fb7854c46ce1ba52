"""Say so when the numerical kernels are being compiled, which is slow once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from humeval_power.interfaces.cli.output import QUIET, say

_PATIENCE = 2.0  # seconds; loading compiled kernels from the cache takes less


@contextmanager
def compiled_kernels() -> Iterator[None]:
    """Have the kernels ready in the block; if that takes a while, one line says why."""
    ctx = click.get_current_context(silent=True)
    quiet = ctx is not None and ctx.meta.get(QUIET, False)
    message = "Compiling the numerical kernels: about half a minute, once after each installation."
    timer = threading.Timer(_PATIENCE, lambda: None if quiet else say(message, err=True))
    timer.daemon = True
    timer.start()
    try:
        from humeval_power.estimation.native import warm_up

        warm_up()
    finally:
        timer.cancel()
    yield
