"""Two systems on several data sets, or by several metrics: on how many of them B is better."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.inference.compare.effect_sizes import EffectSize
from humeval_power.inference.compare.replicability import Replicability
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.reporting.compare.item_clusters import independence_of_sets
from humeval_power.reporting.compare.pair import compared, notices_of, origin, pair_record, pair_row
from humeval_power.reporting.document import Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.interval_chart import interval_chart
from humeval_power.reporting.numbers import p_cell, significant
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

_HOW = {"bonferroni": "Bonferroni, any dependence", "fisher": "Fisher, independent sets"}


@dataclass(frozen=True, kw_only=True)
class SetsResult(Result):
    """One pair of systems on each of `names`, and how many of them replicate the effect."""

    schema: ClassVar[str] = "humeval_power/compare_sets/2"

    names: tuple[str, ...]
    comparisons: tuple[PairComparison, ...]
    found: Replicability
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading the scores."""
        return notices_of(*(one.table for one in self.comparisons))

    def body(self) -> Document:
        """The count with its confidence, then each set."""
        found, first = self.found, self.comparisons[0]
        a, b = first.names
        direction = "higher" if first.request.settings.alternative == "greater" else "lower"
        named = ", ".join(self.names[place] for place in found.named) or "none"
        return Document(
            f"{compared(first.table)} on {len(self.names)} sets",
            lead=f"{b} scores {direction} than {a} in at least {found.count} of {len(self.names)} sets, with "
            f"confidence {100 * (1 - found.alpha):g} %."
            if found.count
            else f"In none of {len(self.names)} sets is it shown that {b} scores {direction} than {a} (confidence "
            f"{100 * (1 - found.alpha):g} %).",
            sections=(
                Section(
                    "",
                    (
                        self._table(),
                        Paragraph(
                            f"{first.test.label}, one-sided; {_HOW[found.combination]} (Dror et al. 2017). "
                            f"One by one (Holm): {named}."
                        ),
                        *self._pictures(),
                    ),
                ),
                independence_section(independence_of_sets(self.names, self.comparisons)),
            ),
            provenance=origin(*(one.table for one in self.comparisons)),
        )

    def _table(self) -> Table:
        counts = all(one.data.is_binary for one in self.comparisons)
        rows = tuple(
            (
                name,
                f"{one.test.n:,}",
                *((f"{one.data.n_helped:,} : {one.data.n_hurt:,}",) if counts else ()),
                significant(one.test.estimate),
                p_cell(one.test.p_value),
                p_cell(holm),
            )
            for name, one, holm in zip(self.names, self.comparisons, self.found.holm_p, strict=True)
        )
        changed = ("helped : hurt",) if counts else ()
        return Table(
            ("set", "n", *changed, self.comparisons[0].test.estimand.split()[0], "p", "Holm p"), rows
        )

    def _pictures(self) -> tuple[Picture, ...]:
        """Cohen's d, which alone can be compared between metrics; none where a set has no spread."""
        effects = [_cohens_d(one) for one in self.comparisons]
        if None in effects:
            return ()
        confidence = self.comparisons[0].request.settings.confidence
        return (
            interval_chart(
                "effects",
                [
                    (name, each.value, (each.low, each.high))
                    for name, each in zip(self.names, effects, strict=True)
                    if each is not None
                ],
                axis="Cohen's d of B - A",
                title="How large is the effect in each set?",
                words=f"Cohen's d of B - A in each set, with its {100 * confidence:g} % interval, about 0.",
            ),
        )

    def content(self) -> Record:
        """The count, and the record of each set."""
        return {
            "names": list(self.names),
            "replicability": {
                **asdict(self.found),
                "named": [self.names[place] for place in self.found.named],
            },
            "comparisons": [pair_record(one) for one in self.comparisons],
            "independence": independence_record(independence_of_sets(self.names, self.comparisons)),
        }

    def table_rows(self) -> list[Record]:
        """A row for each set."""
        return [
            {"set": name, **pair_row(one.table.systems, one.test), "holm_p_value": holm}
            for name, one, holm in zip(self.names, self.comparisons, self.found.holm_p, strict=True)
        ]


def _cohens_d(comparison: PairComparison) -> EffectSize | None:
    return next((one for one in comparison.effects if one.name == "cohens_d"), None)
