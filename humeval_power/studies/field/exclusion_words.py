"""What rules for leaving out workers do, in words."""

from __future__ import annotations

from collections.abc import Iterator

from humeval_power.exclusions import rule_words
from humeval_power.saying.numbers import counted
from humeval_power.studies.field.worker_quality import WorkerExclusion


def exclusion_words(exclusion: WorkerExclusion) -> str:
    """'The rules leave out 2 of 12 workers. Workers who ...: 1. Workers whose ...: 1.'"""
    out = len(exclusion.first_broken)
    said = f"The rules leave out {out or 'none'} of {counted(len(exclusion.workers), 'worker')}."
    return " ".join([said, *rule_lines(exclusion)])


def rule_lines(exclusion: WorkerExclusion) -> Iterator[str]:
    """Each rule with the number of workers beyond its limit, or why it was not applied."""
    for one in exclusion.outcomes:
        said = f"Workers {rule_words(one.name, one.limit)}: "
        if one.missing_columns:
            names = " and ".join(map(repr, one.missing_columns))
            yield f"{said}NOT APPLIED, for the table has no column {names}."
            continue
        unknown = int(one.unknown.sum())
        yield f"{said}{int(one.broken.sum()):,}" + (f"; not known of {unknown:,}." if unknown else ".")
