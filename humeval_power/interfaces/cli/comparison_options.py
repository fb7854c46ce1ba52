"""The options that say which tests of several systems are made together, and how they are corrected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import click

from humeval_power.comparisons import ComparisonFamily
from humeval_power.errors import HumevalPowerError
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.options import Function, collected

_FIELDS = {
    "--comparisons": ("comparisons", "baseline"),
    "--all-pairs": ("comparisons", "baseline"),
    "--baseline": ("comparisons", "baseline"),
    "--model": ("model",),
    "--system-variances": ("variances",),
    "--correction": ("correction",),
    "--correct-over": ("over",),
}
_CHOOSING = ("--comparisons", "--all-pairs", "--baseline")


@dataclass(frozen=True, slots=True)
class TypedFamily:
    """The family of tests, and the options of it that were typed."""

    family: ComparisonFamily
    typed: tuple[str, ...]

    @property
    def several(self) -> bool:
        """Whether comparisons of several systems are asked for."""
        return any(option in self.typed for option in _CHOOSING)

    def beside(self, planned: ComparisonFamily) -> ComparisonFamily:
        """A planned family with what was typed in its place.

        Raises
        ------
        click.UsageError
            What was typed contradicts the rest.
        """
        given = {
            field: getattr(self.family, field)
            for option, fields in _FIELDS.items()
            if option in self.typed
            for field in fields
        }
        try:
            return replace(planned, **given)
        except HumevalPowerError as error:
            raise click.UsageError(str(error)) from None

    def refuse(self, options: Iterable[str], why: str) -> None:
        """Refuse options that were typed where they say nothing.

        Raises
        ------
        click.UsageError
            The first of them, and why.
        """
        for option in self.typed:
            if option in options:
                raise click.UsageError(f"{option} {why}")


_OPTIONS = (
    field_option("comparisons"),
    click.option("--all-pairs", is_flag=True, help="Short for --comparisons all-pairs."),
    *map(field_option, ("baseline", "model", "system_variances", "correction", "correct_over")),
)


def comparison_options(command: Function) -> Function:
    """Add the options of the family of tests; the command gets them as `comparing: TypedFamily`."""
    return collected(command, _OPTIONS, name="comparing", collect=_typed_family)


def _typed_family(values: dict[str, Any]) -> TypedFamily:
    names = (
        "comparisons",
        "all_pairs",
        "baseline",
        "model",
        "system_variances",
        "correction",
        "correct_over",
    )
    found = {name: values.pop(name) for name in names}
    typed = tuple(f"--{name.replace('_', '-')}" for name, value in found.items() if value)
    comparisons, baseline = found["comparisons"], found["baseline"]
    if found["all_pairs"]:
        if comparisons == "baseline" or baseline is not None:
            raise click.UsageError("Give --all-pairs or --baseline, not both.")
        comparisons = "all-pairs"
    if baseline is not None:
        if comparisons == "all-pairs":
            raise click.UsageError("Give --comparisons all-pairs or --baseline, not both.")
        comparisons = "baseline"
    given = {
        "comparisons": comparisons,
        "baseline": baseline,
        "model": found["model"],
        "variances": found["system_variances"],
        "correction": found["correction"],
        "over": found["correct_over"],
    }
    try:
        family = ComparisonFamily(**{name: value for name, value in given.items() if value is not None})
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None
    if found["system_variances"] is not None and family.model != "joint":
        raise click.UsageError("--system-variances is for one fit of all systems: add --model joint.")
    return TypedFamily(family, typed)
