"""The findings of several systems under several criteria: one table, its picture, its notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from humeval_power.comparisons import FamilyOfTests
from humeval_power.reporting.analyze.findings import findings_table, findings_words
from humeval_power.reporting.analyze.independence import study_independence_section
from humeval_power.reporting.analyze.system_tables import agreement_blocks, rows_called
from humeval_power.reporting.analyze.system_words import counts_words, model_words, notes
from humeval_power.reporting.analyze.systems import SystemsResult
from humeval_power.reporting.document import Block, Paragraph, Picture, Points, Section

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure


def several_sections(systems: Mapping[str, SystemsResult], tests: FamilyOfTests) -> Iterator[Section]:
    """What a paper prints of the comparisons, by criterion; nothing where there are none."""
    if not systems:
        return
    yield Section("Findings", tuple(_findings(systems, tests)))
    said = tuple(_notes(systems))
    if said:
        yield Section("Notes", (Points(said),))
    records = {name: one.agreement for name, one in systems.items()}
    yield Section("Agreement of workers", tuple(agreement_blocks(records)))
    yield study_independence_section(next(iter(systems.values())).ratings)


def _findings(systems: Mapping[str, SystemsResult], tests: FamilyOfTests) -> Iterator[Block]:
    found = [one.findings for one in systems.values()]
    yield Paragraph(_head(systems))
    called = rows_called(next(iter(systems.values())).called)
    yield findings_table(found, called=called)

    def ranking() -> Figure:
        from humeval_power.reporting.analyze.ranking_figure import ranking_figure

        return ranking_figure(found)

    words = "The mean of each system under each criterion in the order of the table, with groups and ranks."
    yield Picture("ranking", ranking, words=words)
    yield Points(tuple(findings_words(found, tests)))


def _head(systems: Mapping[str, SystemsResult]) -> str:
    """What was rated and fitted, once where it is the same under all criteria."""
    first = next(iter(systems.values()))
    counts = _once_or_each({name: counts_words(one.ratings) for name, one in systems.items()})
    models = _once_or_each({name: model_words(one.ratings, one.analysis) for name, one in systems.items()})
    return f"{first.ratings.source}: under each criterion {counts}; {models}."


def _once_or_each(words: Mapping[str, str]) -> str:
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return "; ".join(f"{name}: {text}" for name, text in words.items())


def _notes(systems: Mapping[str, SystemsResult]) -> Iterator[str]:
    """Notes of each criterion; what is the same under all stands once."""
    of_each = {name: list(notes(one.analysis, one.pairs, one.called)) for name, one in systems.items()}
    for text in dict.fromkeys(text for texts in of_each.values() for text in texts):
        names = [name for name, texts in of_each.items() if text in texts]
        yield text if len(names) == len(systems) else f"{', '.join(names)}: {text}"
