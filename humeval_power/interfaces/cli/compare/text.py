"""Comparisons by per-item scores as people read them in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.inference.compare.all_pairs import PairwiseScores
from humeval_power.inference.compare.replicability import Replicability
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.reporting.compare.words import (
    advice_table,
    curve_table,
    effect_table,
    many_caveats,
    means_table,
    report_rows,
    shape_words,
    shown,
    summary_table,
    verdict,
)
from humeval_power.reporting.numbers import p_cell
from humeval_power.reporting.tables import Table

_MOST_PAIRS = 60  # printed; the files hold all


def pair_text(comparison: PairComparison, signature: str, *, everything: bool = False) -> str:
    """The three stages: what the data look like, the test with its effect and power, and the report."""
    a, b = comparison.table.systems
    facts = [wrapped(text, bullet="  ") for text in shape_words(comparison)]
    curve = curve_table(comparison)
    blocks = [
        wrapped(f"A = {a}, B = {b}; {comparison.table.metric}; the effect is B - A"),
        "Data\n" + _table(summary_table(comparison)) + "\n\n" + "\n".join(facts),
        "Tests for this question\n" + _reasons(advice_table(comparison, everything=everything)),
        "Result\n" + _rows(report_rows(comparison)),
        "Effect sizes\n" + _table(_without_method(effect_table(comparison))),
    ]
    if curve is not None:
        blocks.append("Power by number of items\n" + _table(curve))
    if comparison.warnings:
        blocks.append("Read this\n" + "\n".join(wrapped(text, bullet="- ") for text in comparison.warnings))
    blocks.append(wrapped(verdict(comparison)))
    blocks.append(f"Signature\n{_cut(signature)}")
    return "\n\n".join(blocks)


def many_text(result: PairwiseScores, signature: str, metric: str) -> str:
    """Means and clusters, then the pairs."""
    significant = sum(pair.significant for pair in result.pairs)
    lines = [
        [
            f"{pair.second} - {pair.first}",
            shown(pair.test.estimate),
            p_cell(pair.test.p_value),
            p_cell(pair.corrected_p) + (" *" if pair.significant else "  "),
        ]
        for pair in result.pairs[:_MOST_PAIRS]
    ]
    header = ["pair", result.pairs[0].test.estimand.split()[0], "p", "corrected"]
    rest = len(result.pairs) - len(lines)
    blocks = [
        wrapped(
            f"{len(result.means)} systems, {metric}, {result.n_items:,} items; {result.pairs[0].test.label}; "
            f"{significant} of {len(result.pairs)} pairs differ significantly (*)."
        ),
        _table(means_table(result)),
        text_table(header, lines)
        + (f"\n  and {rest:,} more" if rest else "")
        + "\n  Intervals, a heat map and a report: -o DIR.",
        "\n".join(wrapped(text, bullet="- ") for text in many_caveats(result)),
        f"Signature\n{_cut(signature)}",
    ]
    return "\n\n".join(blocks)


def sets_text(names: Sequence[str], comparisons: Sequence[PairComparison], found: Replicability) -> str:
    """One line for each data set or metric, and how many of them replicate."""
    a, b = comparisons[0].table.systems
    lines = [
        [name, f"{one.test.n:,}", shown(one.test.estimate), p_cell(one.test.p_value), p_cell(holm)]
        for name, one, holm in zip(names, comparisons, found.holm_p, strict=True)
    ]
    how = "Bonferroni, any dependence" if found.combination == "bonferroni" else "Fisher, independent sets"
    named = ", ".join(names[place] for place in found.named) or "none"
    direction = "above" if comparisons[0].request.settings.direction == "greater" else "below"
    return "\n\n".join(
        [
            wrapped(f"A = {a}, B = {b}; {comparisons[0].test.label}, one-sided: B {direction} A"),
            text_table(["set", "n", comparisons[0].test.estimand.split()[0], "p", "Holm p"], lines),
            wrapped(
                f"B is {direction} A in at least {found.count} of {len(names)} sets, with confidence "
                f"{100 * (1 - found.alpha):g} % ({how}; Dror et al. 2017). One by one (Holm): {named}."
            ),
        ]
    )


def _table(table: Table) -> str:
    return text_table(table.header, table.rows)


def _without_method(table: Table) -> Table:
    return Table(table.header[:-1], tuple(row[:-1] for row in table.rows))


def _rows(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(wrapped(value, bullet=f"  {name:<{width}}") for name, value in rows)


def _reasons(table: Table) -> str:
    return "\n".join(
        wrapped(f"{standing}. {reason}", bullet=f"  {name:<20}") for name, standing, reason in table.rows
    )


def _cut(signature: str) -> str:
    """The line cut between entries at 80 characters; joined again it is the signature."""
    lines, line = [], ""
    for entry in signature.split("|"):
        longer = f"{line}|{entry}" if line else entry
        if len(longer) > 77 and line:
            lines.append(line + "|")
            line = entry
        else:
            line = longer
    return "\n".join(f"  {part}" for part in [*lines, line])
