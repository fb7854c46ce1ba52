"""Systems compared by independent ratings: what is said of their pairs, and the record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.assessment.pairs import PairTest, PairTests, RatedOutputs
from humeval_power.reporting.assessment.tested_independence import independence_of_rated
from humeval_power.reporting.assessment.tested_words import label_of, lead_of, paragraph_of, signature_of
from humeval_power.reporting.document import Document, Fact, Paragraph, Picture, Section, Table
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.numbers import (
    p_cell,
    significant,
    significant_interval,
)
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

MOST_PAIRS = 60  # that a terminal lists without being asked
_TORN = (
    "A rank test compares which rating of a pair is higher, not means: where both point in different directions "
    "(marked !), say which one was planned."
)

_SPLIT = (
    "The p-value is of which rating of a pair is higher, the interval of the difference of means: here one shows a "
    "difference and the other does not. Say which one was planned."
)


@dataclass(frozen=True, kw_only=True)
class RatedPairs(Result):
    """The tests of all pairs of systems of a table of ratings, by group."""

    schema: ClassVar[str] = "humeval_power/assessment_test/1"

    found: PairTests
    rated: RatedOutputs
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading, and what could not be compared."""
        source = self.rated.source
        return tuple(f"{source}: {each}" for each in (*self.rated.notices, *self.found.left_out))

    def body(self) -> Document:
        """The pairs with their differences and p-values, and what is assumed."""
        found, one = self.found, len(self.found.pairs) == 1
        independence = independence_of_rated(self.rated, found)
        pairs = Section("Each pair", tuple(self._pairs()), is_detail=len(found.pairs) > MOST_PAIRS)
        return Document(
            "Systems compared by independent ratings",
            lead=lead_of(self.found, self.rated),
            headline=tuple(self._headline(found.pairs[0])) if one else (),
            caveats=tuple(self._caveats()),
            sections=(
                Section("Systems", (self._systems(found.pairs[0]),)) if one else pairs,
                Section("Ratings" if one else "Differences and p-values", (self._picture(),)),
                Section("For the paper", (Paragraph(paragraph_of(self.found, self.rated)),)),
                independence_section(independence),
            ),
            signature=signature_of(self.found, self.rated),
        )

    def _headline(self, pair: PairTest) -> Iterator[Fact]:
        reach = f"{100 * (1 - self.found.alpha):g} % interval {significant_interval(*pair.interval)}"
        yield (
            "Difference",
            f"{significant(pair.difference)} ({reach}, {self._interval()})",
        )
        yield "p", f"{p_cell(pair.p_value)} ({label_of(self.found, self.rated)})"
        yield "P(B > A)", f"{pair.superiority:.4f}, ties counted half"

    def _systems(self, pair: PairTest) -> Table:
        rows = (
            ("A", pair.a, f"{pair.n_a:,}", significant(pair.mean_a), significant(pair.sd_a)),
            ("B", pair.b, f"{pair.n_b:,}", significant(pair.mean_b), significant(pair.sd_b)),
        )
        return Table(("", "system", "ratings", "mean", "SD"), rows)

    def _interval(self) -> str:
        if self.rated.cluster is not None:
            return "CR2"
        return "Student" if self.found.test == "student" else "Welch"

    def _caveats(self) -> Iterator[str]:
        if self.rated.cluster is None:
            yield (
                "Every rating counts as independent, as is usual in direct assessment. Where a worker or an item "
                "has several ratings they are not: see below."
            )
        if self.found.test == "mann-whitney" and any(pair.is_torn for pair in self.found.pairs):
            yield _TORN
        elif self.found.test == "mann-whitney" and any(map(self._is_split, self.found.pairs)):
            yield _SPLIT
        if any(math.isnan(pair.p_value) for pair in self.found.pairs):
            alike = (
                "all ratings of a system lie in one cluster, or " if self.rated.cluster is not None else ""
            )
            yield f"No p-value: {alike}the ratings do not vary, and there is nothing to judge by."
        if len(self.found.pairs) > 1:
            yield "A pair that is not significant is not shown to be alike; intervals are of each pair by itself."

    def _pairs(self) -> Iterator[Table]:
        """A table for each group."""
        header = ("pair", "difference", "interval", "P(first > second)", "p", "Holm")
        said = (
            f"Difference of the mean ratings with its interval ({self._interval()}); * significant at alpha "
            f"{self.found.alpha:g} after Holm's correction of all pairs."
        )
        for group in dict.fromkeys(pair.group for pair in self.found.pairs):
            rows = tuple(self._row(pair) for pair in self.found.pairs if pair.group == group)
            yield Table(header, rows, f"{group}. {said}" if group else said)

    def _row(self, pair: PairTest) -> tuple[str, ...]:
        return (
            f"{pair.b} - {pair.a}",
            significant(pair.difference),
            significant_interval(*pair.interval),
            f"{pair.superiority:.3f}" + ("!" if self._is_torn(pair) else ""),
            p_cell(pair.p_value),
            p_cell(pair.corrected_p) + (" *" if pair.corrected_p < self.found.alpha else "  "),
        )

    def _is_split(self, pair: PairTest) -> bool:
        """Whether the interval of the means and the test of ranks say different things."""
        low, high = pair.interval
        if math.isnan(low) or math.isnan(pair.p_value):
            return False
        return (low > 0 or high < 0) != (pair.p_value < self.found.alpha)

    def _is_torn(self, pair: PairTest) -> bool:
        return self.found.test == "mann-whitney" and pair.is_torn

    def _picture(self) -> Picture:
        if len(self.found.pairs) == 1:
            words = "Share of the ratings of A and of B that are at most as high as each rating."
            return Picture("ratings", self._figure, words=words)
        words = (
            "Each pair by the size of its observed difference and its p-value, and the level of the test."
        )
        return Picture("comparisons", self._figure, words=words)

    def _figure(self) -> Figure:
        from humeval_power.reporting.assessment.pair_figures import comparisons_figure, ratings_figure

        pairs = self.found.pairs
        if len(pairs) > 1:
            tested = [pair for pair in pairs if not math.isnan(pair.p_value)]
            return comparisons_figure(
                [pair.difference for pair in tested], [pair.p_value for pair in tested], self.found.alpha
            )
        of = {
            name: self.rated.rating[self.rated.system == self.rated.systems.index(name)]
            for name in (pairs[0].a, pairs[0].b)
        }
        return ratings_figure(of)

    def content(self) -> Record:
        """What was tested, and each pair."""
        found, rated = self.found, self.rated
        return {
            "systems": list(rated.systems),
            "n_ratings": len(rated.rating),
            "test": found.test,
            "continuity": found.continuity,
            "alpha": found.alpha,
            "baseline": found.baseline,
            "cluster": rated.cluster_name or None,
            "n_significant": found.n_significant,
            "n_significant_corrected": found.n_corrected,
            "pairs": [asdict(pair) for pair in found.pairs],
            "left_out": list(found.left_out),
            "independence": independence_record(independence_of_rated(rated, found)),
            "signature": signature_of(self.found, self.rated),
            "notices": list(rated.notices),
        }

    def table_rows(self) -> list[Record]:
        """A row for each pair, as `read_observed` takes it: with its `difference` and its `p`."""
        grouped = len(self.rated.groups) > 1
        return [
            {
                **({"group": pair.group} if grouped else {}),
                "system_a": pair.a,
                "system_b": pair.b,
                "n_a": pair.n_a,
                "n_b": pair.n_b,
                "mean_a": pair.mean_a,
                "mean_b": pair.mean_b,
                "difference": pair.difference,
                "low": pair.interval[0],
                "high": pair.interval[1],
                "superiority": pair.superiority,
                "p": pair.p_value,
                "corrected_p": pair.corrected_p,
            }
            for pair in self.found.pairs
        ]
