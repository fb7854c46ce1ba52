"""Systems compared by repeated runs: one pair, or all pairs with a correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from humeval_power.errors import InputError
from humeval_power.inference.corrections import correct
from humeval_power.inference.runs.comparison import RunsComparison, RunsRule
from humeval_power.inference.runs.crossed import compare_crossed
from humeval_power.inference.runs.nested import compare_nested
from humeval_power.inference.runs.run_table import RunTable


@dataclass(frozen=True, slots=True)
class RunsComparisons:
    """Every pair of systems, in the order of the systems; `p_adjusted` are Holm's (1979), `significant` what
    they decide. Of a single pair they are those of its test."""

    pairs: tuple[RunsComparison, ...]
    p_adjusted: tuple[float, ...]

    @property
    def significant(self) -> tuple[bool, ...]:
        """Which claims are shown after the correction."""
        return tuple(
            bool(p <= pair.rule.alpha) for p, pair in zip(self.p_adjusted, self.pairs, strict=True)
        )


def compare_pair(table: RunTable, rule: RunsRule) -> RunsComparison:
    """Compare the two systems of a table as its kind of runs asks.

    Raises
    ------
    InputError
        Runs that do not repeat, a family that the scores are not of, a margin that is none.
    """
    if rule.family == "binary" and not table.is_binary:
        raise InputError("The family 'binary' is for scores of 0 and 1: take --family gaussian.")
    if rule.kind == "nested" and table.counts.max() < 2:
        raise InputError(
            "Each item has one run of each system, so that nothing repeats: compare them by 'compare scores' or, "
            "if all items have the same prompts, say --crossed and name the column by --run."
        )
    return compare_nested(table, rule) if rule.kind == "nested" else compare_crossed(table, rule)


def compare_all(table: RunTable, rule: RunsRule, *, systems: Sequence[str] = ()) -> RunsComparisons:
    """Compare every pair of systems, with Holm's correction where there are several."""
    names = tuple(systems) or table.system_names
    pairs = tuple(compare_pair(table.pair(a, b), rule) for a, b in combinations(names, 2))
    p_values = [pair.p_value for pair in pairs]
    return RunsComparisons(pairs, tuple(float(p) for p in correct(p_values, "holm")))
