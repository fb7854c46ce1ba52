"""A finished comparison of right and wrong answers: its tests, and what it says about the next one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.accuracy import PairedCounts, TableTest
from humeval_power.reporting.document import (
    Block,
    Document,
    Fact,
    Facts,
    Listing,
    Paragraph,
    Picture,
    Section,
    Table,
)
from humeval_power.reporting.interval_chart import interval_chart
from humeval_power.reporting.numbers import interval_words, p_cell, p_words
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # pandas is slow to import
    import pandas as pd

CONFIDENCE = 0.95  # of the interval of an estimate
_TITLES = {
    "mid-p": "McNemar, mid-p",
    "unconditional": "McNemar, unconditional (Suissa & Shuster)",
    "asymptotic": "McNemar, asymptotic",
    "exact": "McNemar, exact conditional",
    "unpaired": "two proportions, unpaired",
}
Tested = tuple[str, PairedCounts, tuple[TableTest, ...]]  # name, counts, tests


@dataclass(frozen=True, kw_only=True)
class AccuracyTestsResult(Result):
    """The tests of one comparison or of several; `comparisons` are names, counts and tests."""

    schema: ClassVar[str] = "humeval_power/accuracy_test/1"

    comparisons: tuple[Tested, ...]
    alpha: float
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The recommended test first, then counts and all tests of each comparison."""
        several = len(self.comparisons) > 1
        return Document(
            "Accuracy of B compared with that of A",
            lead=self._overview() if several else self._verdict(),
            sections=(
                *(
                    Section(name, tuple(self._blocks(each, tests)))
                    for name, each, tests in self.comparisons
                ),
                Section("", tuple(self._ending())),
            ),
        )

    def _verdict(self) -> str:
        _, counts, tests = self.comparisons[0]
        first = tests[0]
        said = f"{_TITLES[first.name]}: {p_words(first.p_value)}"
        if not first.p_value <= self.alpha:
            return f"No significant difference at alpha {self.alpha:g} ({said})."
        where = "more" if counts.difference > 0 else "less"
        return f"B is right {where} often, significantly so at alpha {self.alpha:g} ({said})."

    def _overview(self) -> str:
        found = sum(tests[0].p_value <= self.alpha for _, _, tests in self.comparisons)
        name = _TITLES[self.comparisons[0][2][0].name]
        return f"{found} of {len(self.comparisons)} differences are significant at alpha {self.alpha:g} ({name})."

    def _blocks(self, counts: PairedCounts, tests: tuple[TableTest, ...]) -> Iterator[Block]:
        yield Facts(tuple(facts(counts, 1 - self.alpha)))
        header = ("test", "p", f"significant at {self.alpha:g}")
        yield Table(
            header,
            tuple(
                (_TITLES[each.name], p_cell(each.p_value), _decision(each.p_value, self.alpha))
                for each in tests
            ),
        )

    def _ending(self) -> Iterator[Block]:
        known = all(counts.both is not None for _, counts, _ in self.comparisons)
        yield Paragraph(
            "The first test is recommended: exact loses power, asymptotic can be slightly bold. "
            + (
                "The unpaired test is for systems that answered different items."
                if known
                else "The unpaired test needs the number of items that both got right."
            )
        )
        effects = [(name, counts) for name, counts, _ in self.comparisons]
        yield _picture(effects, 1 - self.alpha)

    def content(self) -> Record:
        """Counts, shares and p-values of each comparison."""
        return {
            "alpha": self.alpha,
            "comparisons": [
                {
                    "name": name,
                    **described(counts),
                    "interval": list(counts.interval(1 - self.alpha)),
                    "tests": [asdict(each) for each in tests],
                }
                for name, counts, tests in self.comparisons
            ],
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each comparison, with the p-value of each test."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "name": name,
                    **_in_row(counts, 1 - self.alpha),
                    **{f"p_{each.name.replace('-', '_')}": each.p_value for each in tests},
                }
                for name, counts, tests in self.comparisons
            ]
        )


@dataclass(frozen=True, kw_only=True)
class AccuracyEstimateResult(Result):
    """Accuracies, difference and agreement of two systems on the same items."""

    schema: ClassVar[str] = "humeval_power/accuracy_estimate/1"

    counts: PairedCounts
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The estimates, and how to ask for the power of a test set that is like these items."""
        counts = self.counts
        line = (
            f"humeval-power accuracy power --n {counts.n_items} --effect {abs(counts.difference):.4g} "
            f"--agreement {counts.agreement:.4g}"
        )
        return Document(
            "Accuracy and agreement of A and B",
            headline=tuple(facts(counts, CONFIDENCE)),
            sections=(
                Section("", (_picture([("", counts)], CONFIDENCE),)),
                Section(
                    "Power of a test set",
                    (
                        Paragraph("If these are validation items, and the test set is as large:"),
                        Listing(line),
                    ),
                ),
            ),
        )

    def content(self) -> Record:
        """Counts and shares."""
        return {**described(self.counts), "interval": list(self.counts.interval(CONFIDENCE))}

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        return pd.DataFrame([_in_row(self.counts, CONFIDENCE)])


def described(counts: PairedCounts) -> Record:
    """Counts, accuracies, difference, agreement."""
    known = counts.accuracies
    return {
        **asdict(counts),
        "accuracy_a": None if known is None else known[0],
        "accuracy_b": None if known is None else known[1],
        "difference": counts.difference,
        "agreement": counts.agreement,
    }


def _in_row(counts: PairedCounts, confidence: float) -> Record:
    low, high = counts.interval(confidence)
    return {**described(counts), "low": low, "high": high}


def facts(counts: PairedCounts, confidence: float) -> Iterator[Fact]:
    """The same in words; the difference is B - A."""
    interval = interval_words(*counts.interval(confidence), signed=True)
    yield "B - A", f"{counts.difference:+.4f}, {100 * confidence:g} % interval {interval}"
    alone = f"B alone right on {counts.only_b:,}, A alone on {counts.only_a:,}"
    known = counts.accuracies
    if known is None or counts.both is None:
        yield "Items", f"{counts.n_items:,}: {alone}"
    else:
        yield "Accuracy", f"A {known[0]:.4f}, B {known[1]:.4f}"
        neither = counts.n_items - counts.both - counts.only_a - counts.only_b
        yield (
            "Items",
            f"{counts.n_items:,}: both right on {counts.both:,}, {alone}, both wrong on {neither:,}",
        )
    yield "Agreement", f"{counts.agreement:.4f} (both right or both wrong)"


def _decision(value: float, alpha: float) -> str:
    if math.isnan(value):
        return "not known"
    return "yes" if value <= alpha else "no"


def _picture(comparisons: list[tuple[str, PairedCounts]], confidence: float) -> Picture:
    effects = [
        (name or "B - A", 100 * counts.difference, _in_points(counts.interval(confidence)))
        for name, counts in comparisons
    ]
    return interval_chart(
        "difference",
        effects,
        axis="B - A, points of 100",
        title="How much more accurate is B?",
        words=f"The difference of accuracy with its {100 * confidence:g} % interval, about 0.",
    )


def _in_points(interval: tuple[float, float]) -> tuple[float, float]:
    return 100 * interval[0], 100 * interval[1]
