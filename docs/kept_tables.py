"""Long tables of these pages: computed by several processes, and what is finished is kept until they are there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal

from humeval_power.files.file_sets import KeptQuestion, PartialFolder
from humeval_power.sweep.blocks import sweeping
from humeval_power.sweep.executors import ExecutorEngine
from humeval_power.sweep.versions import versions_here


@contextmanager
def kept_tables(script: Path, jobs: int | None, **options: object) -> Iterator[None]:
    """Within it blocks are computed by `jobs` processes and kept beside the script; the same script with the same
    options goes on where it was stopped."""
    said = {name: str(value) for name, value in options.items()}

    def asked() -> KeptQuestion:
        return KeptQuestion(script.name, f"python docs/{script.name}", said, {}, versions_here())

    folder = PartialFolder(script.with_suffix(""), asked, tell=_tell, warn=_tell)
    pool = ProcessPoolExecutor(jobs, initializer=signal, initargs=(SIGINT, SIG_IGN))
    try:
        with sweeping(ExecutorEngine(pool), folder):
            yield
        folder.remove()
    except BaseException:
        folder.save()
        for worker in active_children():  # they may wait for work that nobody sends any more
            worker.kill()
        raise
    finally:
        pool.shutdown()
        folder.close()


def _tell(text: str) -> None:
    print(text, file=sys.stderr)
