"""What the result of a study stands under: the plan, the workers left out, and what was not independent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from humeval_power.exclusions import rule_words
from humeval_power.ratings import Ratings
from humeval_power.saying.chart import Chart, EstimateRow, EstimateRows
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.document import Block, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import counted, interval_words, p_cell
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.studies.analyze.family import ComparisonRow, Deviation
from humeval_power.studies.field.worker_quality import WorkerExclusion, rule_lines

# What differs from a plan, in words and as a record.


def deviations_section(deviations: Sequence[Deviation] | None) -> Iterator[Section]:
    """Each deviation, or that there is none; nothing without a plan."""
    if deviations is None:
        return
    items = tuple(f"{one.what}: planned {one.planned}; found {one.actual}" for one in deviations)
    yield Section("Deviations from the plan", (Points(items) if items else Paragraph("None."),))


def deviations_content(deviations: Sequence[Deviation] | None, plan: Record | None) -> Record:
    """The same for a record, with the plan that was followed; nothing without one."""
    if deviations is None:
        return {}
    followed = {} if plan is None else {"plan": plan}
    return {"deviations": [asdict(one) for one in deviations], **followed}


# The result with and without the workers whom rules leave out: counts, and the effect with its interval.

SEALED = "These rules were sealed in the plan."
NOT_SEALED = (
    "NOT SEALED: these rules were in no plan before the ratings were seen, so that they may "
    "follow the result."
)
TITLE = "With and without the workers left out"
_MOST_SHOWN = 30  # comparisons in text


@dataclass(frozen=True, slots=True, eq=False)
class WithAndWithout:
    """What rules for leaving out workers changed.

    `workers` and `ratings` are numbers (with the rules, without them). `without` are the comparisons of the same
    analysis of all workers, in the order of the comparisons that lead; their p-values are not corrected.
    """

    exclusion: WorkerExclusion
    workers: tuple[int, int]
    ratings: tuple[int, int]
    without: tuple[ComparisonRow, ...]


def exclusion_section(
    *parts: tuple[WithAndWithout | None, Sequence[ComparisonRow]],
) -> Iterator[Section]:
    """What each rule does, and every comparison both ways; nothing without rules.

    parts : what the rules changed, and the comparisons that lead; of each criterion where there are several.
    """
    known = [(values, rows) for values, rows in parts if values is not None]
    if known:
        yield Section(TITLE, tuple(_blocks(known)))


def _blocks(parts: Sequence[tuple[WithAndWithout, Sequence[ComparisonRow]]]) -> Iterator[Block]:
    first = parts[0][0]
    (n_workers, all_workers), (n_ratings, all_ratings) = first.workers, first.ratings
    lost = f"none of {counted(all_workers, 'worker')}."
    if n_workers < all_workers:
        ratings = f"{all_ratings - n_ratings:,} of {counted(all_ratings, 'rating')}"
        lost = f"{all_workers - n_workers:,} of {counted(all_workers, 'worker')} ({ratings})."
    yield Paragraph(f"The rules leave out {lost} {SEALED if first.exclusion.sealed else NOT_SEALED}")
    yield Points(tuple(rule_lines(first.exclusion)))
    lines = [
        (one, other, values)
        for values, rows in parts
        for one, other in zip(rows, values.without, strict=True)
    ]
    heads: tuple[str, ...] = ("comparison", "rules", "estimate", "interval", "p")
    rows: list[tuple[str, ...]] = [
        (_named(row), name, *_effect(row))
        for one, other, _ in lines[:_MOST_SHOWN]
        for name, row in (("with", one), ("without", other))
    ]
    if len(lines) == 1:
        one, other, of = lines[0]
        heads = (f"{one.second} - {one.first}", "workers", "ratings", "estimate", "interval", "p")
        rows = [
            (name, f"{of.workers[place]:,}", f"{of.ratings[place]:,}", *_effect(row))
            for place, (name, row) in enumerate((("with the rules", one), ("without", other)))
        ]
    yield Table(heads, tuple(rows))
    yield _drawing(lines[:_MOST_SHOWN])
    if len(lines) > _MOST_SHOWN:
        yield Paragraph(f"The record has {counted(len(lines) - _MOST_SHOWN, 'comparison')} more.")
    several = " These p-values are not corrected for several tests." if len(lines) > 1 else ""
    yield Paragraph(f"The first of each two lines is the result.{several}")


def _drawing(lines: Sequence[tuple[ComparisonRow, ComparisonRow, WithAndWithout]]) -> Chart:
    """Each comparison with the rules, and below it without."""
    rows = EstimateRows(
        tuple(
            EstimateRow(_named(row) if not without else "", row.estimate, row.low, row.high, without)
            for one, other, _ in lines
            for row, without in ((one, False), (other, True))
        ),
        nouns="comparisons",
        x_label="Difference on [0, 1]",
        usual_label="with the rules: the result",
        marked_label="without: all workers",
        is_ordered=False,
    )
    return rows.chart(
        "exclusions",
        title="What do the rules change?",
        words="Each difference with its interval, with the rules and below it without them.",
    )


def _named(row: ComparisonRow) -> str:
    criterion = f"{row.criterion}: " if row.criterion else ""
    return f"{criterion}{row.second} - {row.first}"


def _effect(row: ComparisonRow) -> tuple[str, str, str]:
    return f"{row.estimate:+z.4f}", interval_words(row.low, row.high), p_cell(row.p_value)


def exclusion_content(analyses: WithAndWithout | None, rows: Sequence[ComparisonRow]) -> Record:
    """The same for a record; nothing without rules."""
    if analyses is None:
        return {}
    exclusion, names = analyses.exclusion, ("with_rules", "without_rules")

    def effect(row: ComparisonRow) -> Record:
        return {"estimate": row.estimate, "interval": [row.low, row.high], "p_value": row.p_value}

    return {
        "worker_exclusion": {
            "rules": str(exclusion.rules),
            "sealed": exclusion.sealed,
            "by_rule": [
                {
                    "rule": one.name,
                    "limit": one.limit,
                    "words": rule_words(one.name, one.limit),
                    "applied": not one.missing_columns,
                    "missing_columns": list(one.missing_columns),
                    "workers": int(one.broken.sum()),
                    "unknown": int(one.unknown.sum()),
                }
                for one in exclusion.outcomes
            ],
            "workers": dict(zip(names, analyses.workers, strict=True)),
            "ratings": dict(zip(names, analyses.ratings, strict=True)),
            "comparisons": [
                {
                    **values(one, "criterion", "first", "second"),
                    **dict(zip(names, map(effect, (one, other)), strict=True)),
                }
                for one, other in zip(rows, analyses.without, strict=True)
            ],
        }
    }


def exclusion_deviations(exclusion: WorkerExclusion | None, planned: str) -> tuple[Deviation, ...]:
    """Rules that were not applied, and rules that the plan does not have."""
    if exclusion is None:
        return ()
    deviations = [
        Deviation(
            "rule for leaving out workers",
            f"{one.name}={one.limit:g}",
            f"not applied: the table has no column {' and '.join(one.missing_columns)}",
        )
        for one in exclusion.not_applied
        if exclusion.sealed
    ]
    if not exclusion.sealed:
        deviations.append(
            Deviation("rules for leaving out workers", planned or "none", str(exclusion.rules))
        )
    return tuple(deviations)


def not_applied_remarks(exclusion: WorkerExclusion | None) -> tuple[str, ...]:
    """A warning for each rule that the table lacks columns for."""
    if exclusion is None:
        return ()
    return tuple(
        f"WARNING: the rule {one.name}={one.limit:g} was not applied, for the table has no column "
        f"{' and '.join(map(repr, one.missing_columns))}."
        for one in exclusion.not_applied
    )


# What was not independent in a study of ratings, and whether its model knows.


def study_independence(ratings: Ratings) -> tuple[Independence, ...]:
    """What ratings share: workers and items always, documents where they are named."""
    workers, items = counted(ratings.n_workers, "worker"), counted(ratings.n_items, "item")
    of_workers = (
        f"Ratings of one worker are alike, and so are those of one item. The model knows {workers} and {items}, "
        "with their levels and with how they differ between systems."
    )
    of_items = (
        "Items count as independent of each other. Where several are sentences of one document, or turns of "
        "one dialogue, they are not: name the column with --document."
    )
    if ratings.n_documents:
        documents = counted(ratings.n_documents, "document")
        of_items = f"Items of one document are alike. The model knows {documents}."
    return (
        Independence("workers", "accounted", of_workers),
        Independence("items", "accounted" if ratings.n_documents else "assumed", of_items),
    )
