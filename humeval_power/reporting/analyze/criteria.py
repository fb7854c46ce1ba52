"""Analyses of several criteria of one table, corrected as one family."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.study.many_systems import FamilyCorrection, correct
from humeval_power.reporting.analyze.analysis_content import ANALYSES_SCHEMA
from humeval_power.reporting.analyze.systems import SystemsResult
from humeval_power.reporting.analyze.two import AnalysisResult
from humeval_power.reporting.document import Block, Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import p_cell
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.safe_text import file_stems

if TYPE_CHECKING:  # pandas is slow to import
    import pandas as pd


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """One comparison under one criterion, with its p-value corrected over the whole family; NaN, and no
    decision, where the comparison has no test."""

    criterion: str
    first: str
    second: str
    estimate: float
    p_value: float
    corrected_p_value: float
    significant: bool | None


@dataclass(frozen=True, kw_only=True)
class CriteriaResult(Result):
    """The analysis of each criterion by its name, and the correction over all of them at `alpha`."""

    schema: ClassVar[str] = ANALYSES_SCHEMA

    results: Mapping[str, AnalysisResult | SystemsResult]
    correction: FamilyCorrection
    alpha: float
    provenance: Provenance = UNKNOWN

    @cached_property
    def family(self) -> tuple[FamilyRow, ...]:
        """Every comparison of every criterion, corrected as one family of raw p-values."""
        found = [(name, *pair) for name, result in self.results.items() for pair in result.comparisons]
        corrected = correct([one[4] for one in found], self.correction)
        return tuple(
            FamilyRow(*one, float(p), None if math.isnan(p) else bool(p <= self.alpha))
            for one, p in zip(found, corrected, strict=True)
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of every criterion, each once."""
        return tuple(dict.fromkeys(each for result in self.results.values() for each in result.remarks))

    def body(self) -> Document:
        """The table over all criteria, then the analysis of each."""
        n = len(self.results)
        stems = file_stems(list(self.results), nameless="criterion")
        parts = [
            section
            for (name, result), stem in zip(self.results.items(), stems, strict=True)
            for section in _sections(name, stem, result)
        ]
        return Document(
            f"Analysis of {n} criteria",
            lead=f"{len(self.family)} comparisons under {n} criteria; {_words(self.correction)}.",
            sections=(Section("All criteria", (self._table(),)), *parts),
        )

    def _table(self) -> Table:
        return Table(
            ("criterion", "difference", "estimate", "p", "corrected"),
            tuple(
                (
                    row.criterion,
                    f"{row.second} - {row.first}",
                    f"{row.estimate:.4f}",
                    p_cell(row.p_value),
                    p_cell(row.corrected_p_value) + (" *" if row.significant else ""),
                )
                for row in self.family
            ),
        )

    def content(self) -> Record:
        """The analysis of each criterion, and the correction over all their comparisons."""
        return {
            "criteria": [
                {"schema": result.schema, **result.content(), "criterion_name": name}
                for name, result in self.results.items()
            ],
            "correction_over_criteria": {
                "method": self.correction,
                "family": "every comparison of every criterion",
                "size": len(self.family),
                "comparisons": [asdict(row) for row in self.family],
            },
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each comparison under each criterion."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.family])


def _words(correction: FamilyCorrection) -> str:
    if correction == "none":
        return "p not corrected over criteria"
    words = "Benjamini and Hochberg's false discovery rate" if correction == "bh" else correction
    return (
        f"raw p corrected by {words} over all of them; this correction replaces the one within a criterion"
    )


def _sections(name: str, stem: str, result: AnalysisResult | SystemsResult) -> Iterator[Section]:
    """The sections of one criterion, with its name before each title and each picture."""
    document = result.body()
    yield Section(name, (Paragraph(document.lead),))
    for section in document.sections:
        blocks = tuple(_named(block, stem) for block in section.blocks)
        yield replace(section, title=f"{name}: {section.title}", blocks=blocks)


def _named(block: Block, stem: str) -> Block:
    return block.named(f"{stem}-{block.name}") if isinstance(block, Picture) else block
