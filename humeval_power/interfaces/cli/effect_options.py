"""`--effect` and `--effect-raw`: one difference, on [0, 1] or in points of the scale, for every command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference, beyond_baseline, differences_of, on_unit
from humeval_power.errors import InputError
from humeval_power.fields import Field, listed, number_list, real
from humeval_power.interfaces.asking.options import made_option
from humeval_power.interfaces.cli.options import Function, collected
from humeval_power.interfaces.cli.output import note
from humeval_power.scales import RatingScale


@dataclass(frozen=True, slots=True)
class TypedEffects:
    """Differences as typed: under which option, and whether they are points of a scale, or on the latent one."""

    option: str
    values: tuple[float, ...]
    raw: bool = False
    latent: bool = False

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
        if self.raw or self.latent:
            raise click.UsageError(f"{self.option} is a difference: give the coefficient by --effect.")
        problems = on_unit(self.values, name=self.option, unit=unit)
        if problems:
            raise InputError(problems)
        return self.values


NO_DIFFERENCE = TypedEffects("--effect", (0.0,))


def effect_options(
    what: str,
    *,
    option: str = "--effect",
    parameter: str = "effect",
    many: str | None = None,
    latent: bool = False,
) -> Callable[[Function], Function]:
    """A decorator that adds --effect and --effect-raw; the command gets `effect: TypedEffects | None`.

    what : the help of the first; option, parameter : their name, and that of the value
    many : an example of a list, for a command that takes several
    latent : also add --effect-latent, for a command that knows ratings in categories
    """
    forms = {
        option: (parameter, what),
        f"{option}-raw": (f"{parameter}_raw", "The same in points of the scale; see --scale."),
    }
    if latent:
        help_text = "The same on the latent scale of ratings in categories; see --shares."
        forms[f"{option}-latent"] = (f"{parameter}_latent", help_text)
    kind = real() if many is None else listed(number_list(float), "LIST")
    options = tuple(
        made_option(Field("effect", kind, text), form, name, field=_field_of(name, many=many is not None))
        for form, (name, text) in forms.items()
    )

    def typed(values: dict[str, Any]) -> TypedEffects | None:
        return typed_effects({form: values.pop(name) for form, (name, _) in forms.items()})

    return lambda command: collected(command, options, name=parameter, collect=typed)


def typed_effects(values: Mapping[str, Any]) -> TypedEffects | None:
    """The differences that were typed, by their options, the first of which takes them on [0, 1]."""
    option = next(iter(values))
    given = {form: value for form, value in values.items() if value is not None}
    if len(given) > 1:
        latent = f"{option}-latent"
        last = f", or {latent} on the latent scale" if latent in values else ""
        raise click.UsageError(
            f"Give {option} on [0, 1] or {option}-raw in points of the scale{last}; one of them."
        )
    for form, value in given.items():
        found = tuple(value) if isinstance(value, Sequence) else (float(value),)
        return TypedEffects(form, found, raw=form.endswith("-raw"), latent=form.endswith("-latent"))
    return None


def _field_of(name: str, *, many: bool) -> str:
    """The field of the study that says such an effect; "" where none does."""
    field = {"effect_of_interest": "effect", "effect_of_interest_raw": "effect_raw"}.get(name, name)
    if not field.startswith("effect") or field.startswith("effects"):
        return ""
    return f"{field}_range" if many else field


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
