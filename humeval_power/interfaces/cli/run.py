"""How a command is run: its line as it was typed, its simulations, seed and processes, its exit codes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from humeval_power.interfaces.cli.options import (
    Function,
    collected,
    default_jobs,
    jobs_option,
    seed_option,
    simulations_option,
)
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.safe_text import shell_command

EXIT_TARGET_MISSED = 3


@dataclass(frozen=True, slots=True)
class Run:
    """How much is drawn, from which seed, by how many processes; `typed` is None where the number of
    simulations was left to the command."""

    typed: int | None
    seed: int
    n_jobs: int

    def simulations(self, default: int = DEFAULT_SIMULATIONS) -> int:
        """The number of simulations: what was typed, else the command's own."""
        return default if self.typed is None else self.typed


def with_run(command: Function) -> Function:
    """Add --simulations, --seed and --jobs; the command gets them as `run: Run`."""
    options = (simulations_option, seed_option, jobs_option)
    return collected(command, options, name="run", collect=_run_of)


def _run_of(values: dict[str, Any]) -> Run:
    seed, jobs = values.pop("seed"), values.pop("jobs")
    return Run(values.pop("simulations"), DEFAULT_SEED if seed is None else seed, jobs or default_jobs())


def typed_command() -> str:
    """The command line as typed, with the program's name in front."""
    return shell_command(["humeval-power", *sys.argv[1:]])
