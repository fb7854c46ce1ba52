"""The options of `analyze` for more than two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import click

from humeval_power.estimation.joint_fit import SystemVariances
from humeval_power.inference.study.many_systems import DEFAULT_VARIANCES, Correction, SystemModel
from humeval_power.interfaces.cli.options import Function, collected, fields_of


@dataclass(frozen=True, slots=True)
class ManyOptions:
    """How several systems are compared; `model` is None where it was not said."""

    all_pairs: bool
    baseline: str | None
    model: SystemModel | None
    correction: Correction
    system_variances: SystemVariances

    @property
    def several(self) -> bool:
        """Whether more than one comparison is asked for."""
        return self.all_pairs or self.baseline is not None


_OPTIONS = (
    click.option("--all-pairs", is_flag=True, help="Compare every pair of systems."),
    click.option("--baseline", metavar="SYSTEM", help="Compare every other system with this one."),
    click.option(
        "--model",
        type=click.Choice(get_args(SystemModel)),
        help="Fit each pair by itself, or all systems together. [pairwise]",
    ),
    click.option(
        "--system-variances",
        type=click.Choice(get_args(SystemVariances)),
        default=DEFAULT_VARIANCES,
        show_default=True,
        help="With --model joint: how much workers and items differ about a system, in common to all systems "
        "or each system's own.",
    ),
    click.option(
        "--correction",
        type=click.Choice(get_args(Correction)),
        default="holm",
        show_default=True,
        help="For testing several pairs; max-t (Dunnett, Tukey) needs --model joint.",
    ),
)


def many_options(command: Function) -> Function:
    """Add the options for several systems; the command gets them as `many: ManyOptions`."""
    return collected(command, _OPTIONS, name="many", collect=_many)


def _many(values: dict[str, Any]) -> ManyOptions:
    many: ManyOptions = fields_of(ManyOptions)(values)
    if many.all_pairs and many.baseline is not None:
        raise click.UsageError("Give --all-pairs or --baseline, not both.")
    if many.model is not None and not many.several:
        raise click.UsageError("--model is for several systems: add --all-pairs or --baseline SYSTEM.")
    if many.correction == "max-t" and many.model != "joint":
        raise click.UsageError(
            "max-t needs the correlation of the comparisons, which fits in pairs do not give: add "
            "--model joint."
        )
    if many.system_variances != DEFAULT_VARIANCES and many.model != "joint":
        raise click.UsageError("--system-variances is for one fit of all systems: add --model joint.")
    return many
