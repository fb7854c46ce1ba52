"""What rules of exclusion do to the workers of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from humeval_power.exclusions import NO_RULES, ExclusionRules

if TYPE_CHECKING:
    from humeval_power.inference.field.worker_exclusion import WorkerExclusion
    from humeval_power.interfaces.formats.tables import SourceTable
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.ratings import Ratings


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
