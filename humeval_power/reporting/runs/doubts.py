"""What a reader of a comparison by repeated runs must know: caveats, and what was not independent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from humeval_power.checking.columns import listing
from humeval_power.inference.clustered import FEW_DF
from humeval_power.inference.runs.comparison import RunsComparison, RunsRule
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.reporting.independence import Independence, assumed_items, clustered_items
from humeval_power.reporting.numbers import decimals

FEW_PROMPTS = 5  # below it the variance between prompts is hardly known


def caveats(pairs: Sequence[RunsComparison]) -> Iterator[str]:
    """What a reader must know before trusting a number, each thing once for all pairs."""
    crossed = pairs[0].rule.kind == "crossed"
    if len(pairs) > 1:
        for reason in dict.fromkeys(pair.reason for pair in pairs if pair.reason):
            which = [f"{pair.systems[1]} - {pair.systems[0]}" for pair in pairs if pair.reason == reason]
            yield f"There is no test of {listing(which, limit=5)}: {reason}."
    yield from dict.fromkeys(remark for pair in pairs for remark in pair.remarks)
    if crossed and min(pair.n_labels for pair in pairs) < FEW_PROMPTS:
        yield (
            f"{min(pair.n_labels for pair in pairs)} runs are few: how much the systems' difference varies between "
            f"them is hardly known, and the test has {_df_range(pairs)} degrees of freedom, however many items "
            "there are."
        )
    if not crossed and pairs[0].items.df < FEW_DF:
        yield f"{_df_range(pairs)} degrees of freedom are too few for more than a hint."
    of_zero = [pair for pair in pairs if ("sd_prompt_slope" if crossed else "sd_item") in pair.at_zero]
    if not of_zero:
        return
    where = "" if len(pairs) == 1 else f" (in {len(of_zero)} of {len(pairs)} pairs)"
    if crossed:
        yield (
            f"The variance between runs of the systems' difference is estimated as zero{where}, which so few runs "
            "do not prove; the degrees of freedom allow for it."
        )
    else:
        yield f"Items' differences vary no more than the noise of generations alone would make them{where}."


def _df_range(pairs: Sequence[RunsComparison]) -> str:
    found = sorted(pair.df for pair in pairs if math.isfinite(pair.df))
    if not found:
        return "no"
    low, high = decimals(found[0], 1), decimals(found[-1], 1)
    return low if low == high else f"{low} to {high}"


def answers(table: RunTable, pairs: Sequence[RunsComparison], rule: RunsRule) -> tuple[Independence, ...]:
    """What was not independent: items, and runs."""
    first = pairs[0]
    items = assumed_items(table.n_items, table.suspects)
    if table.clusters is not None and rule.kind == "nested":
        items = clustered_items(first.items, table.clusters.name)
    elif table.clusters is not None:
        items = Independence(
            "items",
            "accounted",
            f"The {table.n_items:,} items come in {table.clusters.n_clusters:,} clusters "
            f"({table.clusters.name}): the model gives each its own level and its own difference.",
        )
    if rule.kind == "nested":
        text = (
            "Runs of one item share the item: they are averaged first, and do not count as further items. Runs of "
            "different items count as independent; if they are the same prompts or seeds, say --crossed."
        )
        return items, Independence("runs", "accounted", text)
    text = (
        f"All scores of one {table.run_column} share it: the model gives each of the {first.n_labels} its own "
        "level and its own difference of the systems, and the degrees of freedom are theirs."
    )
    return items, Independence("runs", "accounted", text)
