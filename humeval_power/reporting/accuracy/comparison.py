"""A finished comparison of right and wrong answers: its tests, and every pair of several systems."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.inference.accuracy.answers import Answers
from humeval_power.inference.accuracy.comparison import Comparison, accuracy_interval
from humeval_power.reporting.accuracy.words import (
    SHORT_TITLES,
    cluster_name,
    clusters_of_pair,
    compared_words,
    described,
    facts,
    in_row,
    independence,
    more_items,
    paper_words,
    picture,
    signature,
    title_of,
)
from humeval_power.reporting.clustered_words import PAPER, cluster_caveats
from humeval_power.reporting.compared import Compared
from humeval_power.reporting.document import Block, Document, Facts, Paragraph, Section, Table
from humeval_power.reporting.independence import independence_record, independence_section
from humeval_power.reporting.numbers import counted, interval_words, p_cell, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

_ADVICE = "The first test is recommended: exact loses power, asymptotic can be slightly bold. "
_OF_CLUSTERS = (
    "The first test is recommended. Swapping whole clusters needs no degrees of freedom, and cannot find much with "
    "few clusters; McNemar's test counts the items as independent."
)


@dataclass(frozen=True, kw_only=True)
class AccuracyTestsResult(Result):
    """The tests of one comparison or of several. `answers` are what was read, None where counts alone are known,
    so that nothing is said of the items."""

    schema: ClassVar[str] = "humeval_power/accuracy_test/1"

    comparisons: tuple[Comparison, ...]
    alpha: float
    answers: Answers | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def correction(self) -> str | None:
        """'holm' where every pair of several systems is compared."""
        return None if self.comparisons[0].p_adjusted is None else "holm"

    def body(self) -> Document:
        """The recommended test first, then all tests of each comparison, and what was not independent."""
        several = len(self.comparisons) > 1
        return Document(
            "Accuracy of several systems"
            if self.correction
            else compared_words(self.comparisons[0].systems),
            lead=self._overview() if several else self._verdict(),
            caveats=cluster_caveats(self.comparisons[0].clustered, self.alpha),
            sections=(
                *self._systems(),
                *self._details(),
                Section("", tuple(self._ending())),
                independence_section(independence(self.comparisons, self.answers)),
                Section(PAPER, tuple(Paragraph(text) for text in self._paper())),
            ),
            signature=self._signature(),
        )

    def _signature(self) -> str:
        return signature(self.comparisons, self.answers, self.alpha, self.correction)

    def _title(self, comparison: Comparison, test: str) -> str:
        return title_of(test, is_clustered=comparison.clustered is not None)

    def _verdict(self) -> str:
        found = self.comparisons[0]
        if math.isnan(found.p_value):
            a, b = found.systems
            return (
                f"{b} is right on {more_items(found)} than {a}, the difference being the same in every cluster: "
                "the first test has nothing to judge by. Look at the others."
            )
        low, high = found.interval(1 - self.alpha)
        return str(
            Compared(
                found.systems,
                found.counts.difference,
                (100 * low, 100 * high),
                found.p_value,
                found.p_value <= self.alpha,
                1 - self.alpha,
                ("is right on", "was right on"),
                more="more",
                less="fewer",
                amount=more_items(found),
                unit=" points",
            )
        )

    def _overview(self) -> str:
        found = sum(each.p_value <= self.alpha for each in self.comparisons)
        corrected = ", corrected by Holm" if self.correction else ""
        said = (
            f"a difference is shown in {found} of {counted(len(self.comparisons), 'comparison')} (alpha "
            f"{self.alpha:g}{corrected})."
        )
        if self.correction is None or self.answers is None:
            return f"{said[0].upper()}{said[1:]}"
        shares = self.answers.right.mean(axis=0)
        best = int(shares.argmax())
        return (
            f"{self.answers.systems[best]} is right most often, on {percent(float(shares[best]))}; {said}"
        )

    def _systems(self) -> Iterator[Section]:
        """Accuracies and pairs at a glance, where there are more than two systems."""
        if self.correction is None or self.answers is None:
            return
        confidence, first = 1 - self.alpha, self.comparisons[0]
        rows = []
        for place, name in enumerate(self.answers.systems):
            share = float(self.answers.right[:, place].mean())
            rows.append(
                (name, f"{share:.4f}", interval_words(*accuracy_interval(self.answers, place, confidence)))
            )
        header = ("system", "accuracy", f"{100 * confidence:g} % interval")
        yield Section("Accuracies", (Table(header, tuple(rows)),))
        pairs = tuple(
            (
                each.name,
                f"{each.counts.only_b:,} : {each.counts.only_a:,}",
                f"{each.counts.difference:+.4f}",
                interval_words(*each.interval(confidence), signed=True),
                p_cell(each.p_value) + (" *" if each.p_value <= self.alpha else "  "),
            )
            for each in self.comparisons
        )
        columns = ("pair", "helped : hurt", "difference", f"{100 * confidence:g} % interval", "p (Holm)")
        note = (
            "helped : hurt: items on which the first of the pair alone is right, and the second. p: "
            f"{self._title(first, first.tests[0].name)}. Each interval is of its pair alone; * significant at "
            f"{self.alpha:g} after Holm's correction."
        )
        yield Section("Every pair", (Table(columns, pairs), Paragraph(note)))

    def _details(self) -> Iterator[Section]:
        """All tests: below each comparison, and of every pair of many systems in one table."""
        if self.correction is None:
            yield from (Section(each.name, tuple(self._blocks(each))) for each in self.comparisons)
            return
        first = self.comparisons[0]
        header = (
            "pair",
            "first alone",
            "second alone",
            *(SHORT_TITLES.get(test.name, test.name) for test in first.tests),
        )
        rows = tuple(
            (
                each.name,
                f"{each.counts.only_b:,}",
                f"{each.counts.only_a:,}",
                *(p_cell(test.p_value) for test in each.tests),
            )
            for each in self.comparisons
        )
        words = "On how many items the first of a pair alone is right, and the second; p-values are not corrected."
        yield Section("All tests", (Table(header, rows), Paragraph(words)), is_detail=True)

    def _blocks(self, each: Comparison) -> Iterator[Block]:
        yield Facts(tuple(facts(each, 1 - self.alpha)))
        header = ("test", "p", f"significant at {self.alpha:g}")
        rows = tuple(
            (self._title(each, test.name), p_cell(test.p_value), _decision(test.p_value, self.alpha))
            for test in each.tests
        )
        yield Table(header, rows)

    def _ending(self) -> Iterator[Block]:
        known = all(each.counts.both is not None for each in self.comparisons)
        unpaired = (
            "The unpaired test is for systems that answered different items."
            if known
            else "The unpaired test needs the number of items that both got right."
        )
        is_clustered = self.comparisons[0].clustered is not None
        yield Paragraph(_OF_CLUSTERS if is_clustered else _ADVICE + unpaired)
        yield picture(self.comparisons, 1 - self.alpha)

    def _paper(self) -> Iterator[str]:
        """A paragraph for each comparison; of several systems one on all pairs."""
        if self.correction is None or self.answers is None:
            for each in self.comparisons:
                text = paper_words(each, self.answers, self.alpha)
                yield f"{each.name}: {text}" if each.name and self.answers is None else text
            return
        first = self.comparisons[0]
        how = (
            "McNemar's test (mid-p)"
            if first.clustered is None
            else "Student's t test with cluster-robust errors (CR2; Bell and McCaffrey 2002)"
        )
        clusters = self.answers.clusters
        where = "" if clusters is None else f" in {clusters.n_clusters:,} clusters ({clusters.name})"
        found = [each.name for each in self.comparisons if each.p_value <= self.alpha]
        listed = f": {', '.join(found)}" if found else ""
        yield (
            f"{len(self.answers.systems)} systems answered the same {self.answers.n_items:,} items{where}. Every "
            f"pair was compared by {how}, with Holm's (1979) correction for {len(self.comparisons)} pairs. "
            f"{len(found)} of them differ significantly at {self.alpha:g}{listed}."
        )

    def content(self) -> Record:
        """Counts, shares, clusters and p-values of each comparison."""
        return {
            "alpha": self.alpha,
            "correction": self.correction,
            "cluster": cluster_name(self.answers),
            "comparisons": [
                {
                    "name": each.name,
                    "systems": list(each.systems),
                    **described(each, 1 - self.alpha),
                    "tests": [asdict(test) for test in each.tests],
                    "p_adjusted": each.p_adjusted,
                    "clusters": clusters_of_pair(each, self.answers),
                }
                for each in self.comparisons
            ],
            "independence": independence_record(independence(self.comparisons, self.answers)),
            "signature": self._signature(),
        }

    def table_rows(self) -> list[Record]:
        """A row for each comparison, with the p-value of each test."""
        rows = []
        for each in self.comparisons:
            p_values = {f"p_{test.name.replace('-', '_')}": test.p_value for test in each.tests}
            adjusted = {} if each.p_adjusted is None else {"p_adjusted": each.p_adjusted}
            rows.append({"name": each.name, **in_row(each, 1 - self.alpha), **p_values, **adjusted})
        return rows


def _decision(value: float, alpha: float) -> str:
    if math.isnan(value):
        return "not known"
    return "yes" if value <= alpha else "no"
