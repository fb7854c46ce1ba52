"""A fit in words and numbers for the terminal."""

from __future__ import annotations

from humeval_power.estimation.fit import Fit
from humeval_power.inference.study.intervals import Intervals
from humeval_power.inference.study.wald import EffectTest
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table
from humeval_power.planning.power import PowerEstimate
from humeval_power.ratings import Ratings
from humeval_power.reporting.document import Table
from humeval_power.reporting.study.fit_words import (
    counts_words,
    effect_table,
    fit_remarks,
    parameters_table,
    words_of_test,
)


def fit_text(
    ratings: Ratings,
    fitted: Fit,
    tested: EffectTest,
    ranges: Intervals,
    size: PowerEstimate | None,
    interaction: float = 0.0,
) -> str:
    """The fit for people, at most 80 characters wide; `size` is the simulated size of the test."""
    effect = f"{_lines(effect_table(ratings, tested))}\n{wrapped(words_of_test(tested), bullet='  ')}"
    parts = [
        wrapped(counts_words(ratings, fitted)),
        effect,
        _lines(parameters_table(ratings, fitted, ranges)),
    ]
    remarks = fit_remarks(fitted, tested, size, interaction)
    if remarks:
        parts.append("Notes\n" + "\n".join(wrapped(remark, bullet="  - ") for remark in remarks))
    return "\n\n".join(parts)


def _lines(table: Table) -> str:
    return text_table(table.header, table.rows)
