"""How a command is run: its line as it was typed, its simulations, seed and processes, its exit codes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.fields import flag, of_answer
from humeval_power.interfaces.asking.options import Function, collected, option_of
from humeval_power.interfaces.asking.vocabulary import JOBS, SEED, SIMULATIONS
from humeval_power.interfaces.cli.capturing import caught
from humeval_power.interfaces.cli.on import ON, Elsewhere, default_jobs, place_of
from humeval_power.interfaces.cli.output import PROGRAM, WORDS, note
from humeval_power.safe_text import shell_command

EXIT_TARGET_MISSED = 3


@dataclass(frozen=True, slots=True)
class Run:
    """How much is drawn, from which seed, by how many cores of this process or where else; `typed` is None where
    the number of simulations was left to the command."""

    typed: int | None
    seed: int
    n_jobs: int
    on: Elsewhere | None = None
    is_dry: bool = False

    @property
    def slots(self) -> int:
        """How many cores compute, here or elsewhere."""
        return self.n_jobs if self.on is None else self.on.slots()

    def simulations(self, default: int = DEFAULT_SIMULATIONS) -> int:
        """The number of simulations: what was typed, else the command's own."""
        return default if self.typed is None else self.typed


def with_run(command: Function) -> Function:
    """Add --simulations, --seed, --jobs, --on and --dry-run; the command gets them as `run: Run`,
    and is run where that says."""

    @wraps(command)
    def placed(*args: Any, run: Run, **values: Any) -> Any:
        if run.on is None and not run.is_dry:
            return command(*args, run=run, **values)
        from humeval_power.sweep.dry_run import DryRun
        from humeval_power.sweep.engine import sweeping

        with run.on or nullcontext() as engine, sweeping(DryRun() if run.is_dry else engine):
            found = command(*args, run=run, **values)
        if engine is not None and not engine.has_computed and not run.is_dry:
            note(
                f"--on {engine.typed} was not used: nothing of this is simulated in blocks, or all of it was kept "
                "from before."
            )
        return found

    options = (
        option_of("simulations", SIMULATIONS),
        option_of("seed", SEED),
        option_of("jobs", JOBS),
        option_of("on", ON, callback=place_of),
        option_of("dry_run", _DRY_RUN),
    )
    return collected(placed, options, name="run", collect=_run_of)


def _run_of(values: dict[str, Any]) -> Run:
    seed, jobs, on = values.pop("seed"), values.pop("jobs"), values.pop("on")
    if jobs is not None and on is not None:
        raise click.UsageError(
            "--jobs are cores of this process, --on says where else to compute: give one of them."
        )
    return Run(
        values.pop("simulations"),
        DEFAULT_SEED if seed is None else seed,
        jobs or default_jobs(),
        on,
        values.pop("dry_run"),
    )


_DRY_RUN = of_answer(
    flag(),
    "Say what the simulations will cost, measured on a few, and stop.",
    usual=False,
    further=True,
)


def typed_command() -> str:
    """The command line as typed, with the program's name in front."""
    elsewhere = caught()
    if elsewhere is not None:
        return elsewhere.typed
    return shell_command([PROGRAM, *click.get_current_context().meta.get(WORDS, ())])


def told_command() -> str:
    """The command line as a result tells it: without where it is computed, which changes nothing of it."""
    elsewhere = caught()
    if elsewhere is not None:
        return elsewhere.typed
    words = iter(click.get_current_context().meta.get(WORDS, ()))
    kept = [PROGRAM]
    for word in words:
        if word == "--":
            kept += [word, *words]
        elif word in _WHERE:
            next(words, None)
        elif word.partition("=")[0] not in _WHERE:
            kept.append(word)
    return shell_command(kept)


_WHERE = ("--jobs", "--on")  # each with a value
