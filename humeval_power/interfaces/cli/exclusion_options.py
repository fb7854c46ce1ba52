"""By which rules workers are left out: the option, and what the rules do to the workers of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from humeval_power.exclusions import NO_RULES, RULES, ExclusionRules
from humeval_power.interfaces.cli.options import Function

if TYPE_CHECKING:
    from humeval_power.inference.field.worker_exclusion import WorkerExclusion
    from humeval_power.interfaces.formats.tables import SourceTable
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.ratings import Ratings


def exclude_if_option(words: str) -> Function:
    """The option --exclude-if; the command gets it as `exclude_if: ExclusionRules`, none where it was not typed.

    words : what it does in this command, for its help.
    """
    return click.option(
        "--exclude-if",
        metavar="RULES",
        callback=_rules,
        help=f"{words}: {','.join(f'{name}={limit}' for name, limit in _EXAMPLE.items())}, or some of it.",
    )


_EXAMPLE = dict(zip(RULES, ("0.34", "0.3", "2", "0.95", "0"), strict=True))


def _rules(_ctx: click.Context, _option: click.Parameter, text: str | None) -> ExclusionRules:
    return NO_RULES if text is None else ExclusionRules.parse(text)


def excluded(
    found: SourceTable,
    ratings: Sequence[Ratings],
    plan: Plan | None,
    typed: ExclusionRules = NO_RULES,
) -> WorkerExclusion | None:
    """What the rules do to the workers of a table; None without rules.

    ratings : those of each criterion that is analysed.

    Raises
    ------
    click.UsageError
        Typed rules beside those of a plan.
    InputError
        Seconds or checks that cannot be read.
    """
    sealed = None if plan is None else plan.exclusion_rules
    if sealed and typed and sealed != typed:
        raise click.UsageError(
            f"The plan seals its own rules ({sealed}): leave out --exclude-if, or amend the plan."
        )
    from humeval_power.inference.field.worker_exclusion import exclude_workers
    from humeval_power.interfaces.formats.answers import answers_of

    rules = sealed or typed
    return exclude_workers(answers_of(found, ratings), rules) if rules else None
