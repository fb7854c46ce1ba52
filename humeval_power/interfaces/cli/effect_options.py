"""`--effect` and `--effect-raw`: one difference, on [0, 1] or in points of the scale, for every command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference, beyond_baseline, differences_of, on_unit
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.numbers import RealNumber, number_list
from humeval_power.interfaces.cli.options import Function, collected
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.rules import WITH_MARGIN
from humeval_power.scales import RatingScale


@dataclass(frozen=True, slots=True)
class TypedEffects:
    """Differences as typed: under which option, and whether they are points of a scale."""

    option: str
    values: tuple[float, ...]
    raw: bool = False

    def on(self, scale: RatingScale | None) -> tuple[Difference, ...]:
        """The differences on [0, 1].

        Raises
        ------
        InputError
            One that cannot exist, or points of a scale that nobody named.
        """
        return differences_of(self.values, scale, name=self.option, raw=self.raw)

    def one(self, scale: RatingScale | None) -> Difference:
        """The only difference of an option that takes one."""
        return self.on(scale)[0]

    def coefficients(self, unit: float) -> tuple[float, ...]:
        """The values as they are, where each stands for `unit` differences.

        Raises
        ------
        InputError
            One that cannot exist, or points: a coefficient has none.
        """
        if self.raw:
            raise click.UsageError(f"{self.option} is a difference: give the coefficient by --effect.")
        problems = on_unit(self.values, name=self.option, unit=unit)
        if problems:
            raise InputError(problems)
        return self.values


# With a margin the true difference is 0 where none is said.
effect_needed = needs(
    "--effect or --effect-raw",
    ("effect", "effect_raw", "margin", "margin_raw", "plan"),
    unless={"alternative": WITH_MARGIN},
)
NO_DIFFERENCE = TypedEffects("--effect", (0.0,))


def effect_options(
    what: str, *, option: str = "--effect", parameter: str = "effect", many: str | None = None
) -> Callable[[Function], Function]:
    """A decorator that adds --effect and --effect-raw; the command gets `effect: TypedEffects | None`.

    what : the help of the first; option, parameter : their name, and that of the value
    many : an example of a list, for a command that takes several
    """
    kind: dict[str, Any] = {"type": RealNumber()}
    if many is not None:
        kind = {"metavar": "LIST", "callback": number_list(float)}
    raw = f"{option}-raw"
    options = (
        click.option(option, parameter, help=what, **kind),
        click.option(raw, f"{parameter}_raw", help="The same in points of the scale; see --scale.", **kind),
    )

    def typed(values: dict[str, Any]) -> TypedEffects | None:
        plain, points = values.pop(parameter), values.pop(f"{parameter}_raw")
        if plain is not None and points is not None:
            raise click.UsageError(f"Give {option} on [0, 1] or {raw} in points of the scale, not both.")
        if plain is None and points is None:
            return None
        found = plain if points is None else points
        return TypedEffects(
            option if points is None else raw,
            tuple(found) if isinstance(found, Sequence) else (float(found),),
            raw=points is not None,
        )

    return lambda command: collected(command, options, name=parameter, collect=typed)


def warn_beyond(assumed: Assumptions, differences: Sequence[Difference]) -> None:
    """Say where the mean ratings of the parameters leave no room for an effect; once for all of them."""
    found = [
        warning
        for parameters in assumed.by_name.values()
        if (
            warning := beyond_baseline(
                parameters.recoded().baseline, [difference.value for difference in differences]
            )
        )
    ]
    if found:
        note(found[0])
