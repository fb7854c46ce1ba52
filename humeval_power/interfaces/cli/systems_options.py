"""The options that describe several systems: how many, their names and true means, and what counts as power."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import Function, collected
from humeval_power.study import DEFAULT_GOAL, DEFAULT_PATTERN
from humeval_power.systems import Goal, MeansPattern, SystemsParameters

__all__ = ["DEFAULT_GOAL", "DEFAULT_PATTERN"]

n_systems_option = field_option("n_systems")
pattern_option = field_option("pattern")
means_option = field_option("system_means")
goal_option = field_option("goal")
names_option = field_option("systems")


def _two(_ctx: click.Context, _option: click.Parameter, number: int | None) -> None:
    if number is not None and number > 2:
        raise click.UsageError(
            f"Looks are planned for two systems; got --n-systems {number}. Plan the end of a study of several "
            "without looks (power, size, plan), or looks for the two systems that matter most."
        )


two_systems_option = click.option(
    "--n-systems",
    type=WholeNumber(min=2),
    callback=_two,
    expose_value=False,
    help="Number of systems: 2. [2]",
)


@dataclass(frozen=True, slots=True)
class AskedSystems:
    """What was typed of several systems; None where it was not."""

    n_systems: int | None
    systems: tuple[str, ...] | None
    pattern: MeansPattern | None
    system_means: tuple[float, ...] | None
    goal: Goal | None

    def __post_init__(self) -> None:
        if self.system_means is not None and self.pattern is not None:
            raise click.UsageError("Give --pattern or --system-means, not both.")

    @property
    def count(self) -> int | None:
        """How many systems there are, as far as that was said.

        Raises
        ------
        click.UsageError
            Two different numbers of them.
        """
        said = {
            "--n-systems": self.n_systems,
            "--systems": None if self.systems is None else len(self.systems),
            "--system-means": None if self.system_means is None else len(self.system_means),
        }
        given = {option: count for option, count in said.items() if count is not None}
        if len(set(given.values())) > 1:
            words = ", ".join(f"{option} {count}" for option, count in given.items())
            raise click.UsageError(f"The numbers of systems disagree: {words}.")
        return next(iter(given.values()), None)

    @property
    def says_means(self) -> bool:
        """Whether something was typed that two systems need not say: where their means lie, which is found."""
        return any((self.pattern, self.system_means, self.goal))

    def refuse(self) -> None:
        """Refuse options that say nothing of two systems.

        Raises
        ------
        click.UsageError
            The first of them.
        """
        for name in ("pattern", "system_means", "goal"):
            if getattr(self, name):
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(
                    f"{option} is for several systems: say how many by --n-systems, or name them by "
                    "--systems A,B,C."
                )

    def checked_means(self, parameters: SystemsParameters) -> SystemsParameters:
        """The parameters at the means that were typed.

        Raises
        ------
        InputError
            Not one for each system.
        """
        assert self.system_means is not None
        if len(self.system_means) != parameters.n_systems:
            raise InputError(
                f"--system-means: one mean for each of the {parameters.n_systems} systems is needed; got "
                f"{len(self.system_means)}."
            )
        return parameters.with_means(self.system_means)


def systems_options(command: Function) -> Function:
    """Add the options; the command gets them as `asked: AskedSystems`."""
    options = (n_systems_option, names_option, pattern_option, means_option, goal_option)
    return collected(command, options, name="asked", collect=_asked)


def _asked(values: dict[str, Any]) -> AskedSystems:
    return AskedSystems(
        **{name: values.pop(name) for name in (field.name for field in fields(AskedSystems))}
    )
