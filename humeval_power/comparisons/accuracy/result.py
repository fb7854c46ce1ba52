"""A finished comparison of right and wrong answers: its tests, and every pair of several systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.accuracy.counts import (
    Answers,
    CountsComparison,
    TableTest,
    accuracy_interval,
)
from humeval_power.saying.answer_words import TestedDifference, three_digits
from humeval_power.saying.chart import Chart, interval_chart
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    cluster_caveats,
    cluster_record,
    clustered_items,
    in_clusters,
    paper_error,
)
from humeval_power.saying.document import Block, Document, Fact, Facts, Listing, Paragraph, Section
from humeval_power.saying.numbers import decimals, interval_words, level_of, p_cell, p_words, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, above, pairs_lead, signature, table

# What is said of two systems' accuracies, in facts, records, sentences and pictures.

TITLES = {
    "mid-p": "McNemar, mid-p",
    "unconditional": "McNemar, unconditional (Suissa & Shuster)",
    "asymptotic": "McNemar, asymptotic",
    "exact": "McNemar, exact conditional",
    "unpaired": "two proportions, unpaired",
    "clustered-t": "Student's t, clusters (CR2)",
    "cluster-swaps": "whole clusters swapped, every swap",
}
SHORT_TITLES = {"clustered-t": "t (CR2)", "cluster-swaps": "swaps"}  # in columns; others by their names


def cluster_name(answers: Answers | None) -> str | None:
    """The name of the clusters; None where the items count as independent."""
    return None if answers is None or answers.clusters is None else answers.clusters.name


def more_items(comparison: CountsComparison) -> str:
    """'10 more of 161 items' that B is right on than A."""
    counts = comparison.counts
    more = counts.only_b - counts.only_a
    if not more:
        return "as many items"
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'} of {counts.n_items:,} items"


def facts(comparison: CountsComparison, confidence: float) -> Iterator[Fact]:
    """Difference, accuracies, items and agreement; the difference is B - A."""
    counts, (a, b) = comparison.counts, comparison.systems
    interval = interval_words(*comparison.interval(confidence), signed=True)
    yield f"{b} - {a}", f"{counts.difference:+z.4f}, {level_of(confidence)} interval {interval}"
    alone = f"{b} alone right on {counts.only_b:,}, {a} alone on {counts.only_a:,}"
    known = counts.accuracies
    if known is None or counts.both is None:
        yield "Items", f"{counts.n_items:,}: {alone}"
    else:
        yield "Accuracy", f"{a} {known[0]:.4f}, {b} {known[1]:.4f}"
        neither = counts.n_items - counts.both - counts.only_a - counts.only_b
        yield (
            "Items",
            f"{counts.n_items:,}: both right on {counts.both:,}, {alone}, both wrong on {neither:,}",
        )
    yield "Agreement", f"{counts.agreement:.4f} (both right or both wrong)"


def in_row(comparison: CountsComparison, confidence: float) -> Record:
    """Counts, accuracies, difference, interval and agreement as a row of a table."""
    counts = comparison.counts
    a, b = counts.accuracies or (None, None)
    low, high = comparison.interval(confidence)
    accuracies = {"accuracy_a": a, "accuracy_b": b}
    rest = values(counts, "difference", "agreement")
    return {**asdict(counts), **accuracies, **rest, "low": low, "high": high}


def described(comparison: CountsComparison, confidence: float, answers: Answers | None) -> Record:
    """The same as plain values, with the clustered difference; None where items count as independent."""
    row = in_row(comparison, confidence)
    interval = (row.pop("low"), row.pop("high"))
    clusters = cluster_record(comparison.clustered, cluster_name(answers))
    return {**row, "interval": interval, "clusters": clusters}


def picture(comparisons: Sequence[CountsComparison], confidence: float) -> Chart:
    """The differences with their intervals, in points of 100."""
    effects = []
    for each in comparisons:
        low, high = each.interval(confidence)
        name = each.name or f"{each.systems[1]} - {each.systems[0]}"
        effects.append((name, 100 * each.counts.difference, (100 * low, 100 * high)))
    return interval_chart(
        "difference",
        effects,
        axis="difference, points of 100",
        title="How large are the differences of accuracy?",
        words=f"The difference of accuracy with its {level_of(confidence)} interval, about 0.",
    )


def independence_of(
    comparisons: Sequence[CountsComparison], answers: Answers | None
) -> tuple[Independence, ...]:
    """What was not independent: of the first pair where there are several, for the items are the same."""
    first, name = comparisons[0], cluster_name(answers)
    if first.clustered is None or name is None:
        return (assumed_items(first.counts.n_items, () if answers is None else answers.suspects),)
    sentence = clustered_items(first.clustered, name)
    if len(comparisons) == 1:
        return (sentence,)
    return (Independence(sentence.of, sentence.state, f"{sentence.text} (Errors of {first.name}.)"),)


def paper_words(comparison: CountsComparison, answers: Answers | None, alpha: float) -> str:
    """A paragraph on one comparison."""
    counts, (a, b), clustered = comparison.counts, comparison.systems, comparison.clustered
    low, high = (100 * end for end in comparison.interval(1 - alpha))
    interval = "" if math.isnan(low) else f", {level_of(1 - alpha)} interval {low:+z.1f} to {high:+z.1f}"
    known = counts.accuracies
    rates = "" if known is None else f" ({100 * known[1]:.1f} % against {100 * known[0]:.1f} %)"
    text = (
        f"{b} and {a} answered the same {counts.n_items:,} items{in_clusters(clustered, cluster_name(answers))}. "
        f"The accuracy of {b} less that of {a} was {100 * counts.difference:+z.1f} points{rates}{interval}. "
        f"{b} alone was right on {counts.only_b:,} items, {a} alone on {counts.only_a:,}."
    )
    p = p_words(comparison.tests[0].p_value)
    if clustered is None:
        return (
            f"{text} McNemar's test (mid-p; Fagerland, Lydersen and Laake 2013) gave {p}; the interval is Bonett "
            "and Price's (2012). Items count as independent."
        )
    swaps = next(each for each in comparison.tests if each.name == "cluster-swaps")
    tested = ""
    if clustered.standard_error > 0:
        t = decimals(clustered.estimate / clustered.standard_error, 2)
        tested = f", t({decimals(clustered.df, 1)}) = {t}, {p}"
    return (
        f"{text} {paper_error(clustered, 'differences').removesuffix('.')}{tested}. Exchanging the answers of "
        f"whole clusters between the systems, every exchange counted, gave {p_words(swaps.p_value)}."
    )


def signature_of(
    comparisons: Sequence[CountsComparison],
    answers: Answers | None,
    alpha: float | None,
    correction: str | None,
) -> str:
    """A line that says how the accuracies were compared; without `alpha` nothing was tested."""
    first, is_many = comparisons[0], correction is not None and answers is not None
    return signature(
        model="paired",
        coding="b-a",
        metric="accuracy",
        test=None if alpha is None else first.tests[0].name,
        alpha=alpha,
        two=None if alpha is None else True,
        n=first.counts.n_items,
        cluster=None if answers is None else answers.clusters,
        k=len(answers.systems) if is_many and answers is not None else None,
        corr=correction if is_many else None,
    )


_ADVICE = "The first test is recommended: exact loses power, asymptotic can be slightly bold. "
_OF_CLUSTERS = (
    "The first test is recommended. Swapping whole clusters needs no degrees of freedom, and cannot find much with "
    "few clusters; McNemar's test counts the items as independent."
)


@dataclass(frozen=True, kw_only=True)
class AccuracyTestsResult(PaperResult):
    """The tests of one comparison or of several. `answers` are what was read, None where counts alone are known,
    so that nothing is said of the items."""

    schema: ClassVar[str] = "humeval_power/accuracy_test/1"

    comparisons: tuple[CountsComparison, ...]
    alpha: float
    answers: Answers | None = None
    remarks: tuple[str, ...] = ()

    @property
    def correction(self) -> str | None:
        """'holm' where every pair of several systems is compared."""
        return None if self.comparisons[0].p_adjusted is None else "holm"

    def answer(self) -> Document:
        first, (a, b) = self.comparisons[0], self.comparisons[0].systems
        unpaired = "The unpaired test is for systems that answered different items."
        if any(each.counts.both is None for each in self.comparisons):
            unpaired = "The unpaired test needs the number of items that both got right."
        advice = _ADVICE + unpaired if first.clustered is None else _OF_CLUSTERS
        ending = (Paragraph(advice), picture(self.comparisons, 1 - self.alpha))
        return Document(
            "Accuracy of several systems"
            if self.correction
            else f"Accuracy of {b} compared with that of {a}",
            lead=self._overview() if len(self.comparisons) > 1 else self._verdict(),
            caveats=cluster_caveats(first.clustered, self.alpha),
            sections=(*self._systems(), *self._details(), Section("", ending)),
        )

    def independence(self) -> tuple[Independence, ...]:
        return independence_of(self.comparisons, self.answers)

    @property
    def signature(self) -> str:
        return signature_of(self.comparisons, self.answers, self.alpha, self.correction)

    def _title(self, comparison: CountsComparison, test: str) -> str:
        """A test by its name; McNemar's is no more than a foil where the items are in clusters."""
        is_foil = comparison.clustered is not None and test == "mid-p"
        return "McNemar, mid-p, as if independent" if is_foil else TITLES[test]

    def _verdict(self) -> str:
        first = self.comparisons[0]
        if math.isnan(first.p_value):
            a, b = first.systems
            return (
                f"{b} is right on {more_items(first)} than {a}, the difference being the same in every cluster: "
                "the first test has nothing to judge by. Look at the others."
            )
        low, high = first.interval(1 - self.alpha)
        return str(
            TestedDifference(
                first.systems,
                first.counts.difference,
                (100 * low, 100 * high),
                first.p_value,
                first.p_value <= self.alpha,
                1 - self.alpha,
                ("is right on", "was right on"),
                more="more",
                less="less",
                ending=f", {three_digits(100 * abs(first.counts.difference))} points",
                amount=more_items(first),
                unit=" points",
            )
        )

    def _overview(self) -> str:
        shown = [each for each in self.comparisons if each.p_value <= self.alpha]
        better = [above(*each.systems, each.counts.difference) for each in shown]
        if self.correction is None:
            better = [each.name for each in shown]
        how = f"alpha {self.alpha:g}{', corrected by Holm' if self.correction else ''}"
        lead = pairs_lead(better, len(self.comparisons), how, of="comparison")
        if self.correction is None or self.answers is None:
            return lead
        shares = self.answers.right.mean(axis=0)
        best = int(shares.argmax())
        return (
            f"{self.answers.systems[best]} is right most often, on {percent(float(shares[best]))}. {lead}"
        )

    def _systems(self) -> Iterator[Section]:
        """Accuracies and pairs at a glance, where there are more than two systems."""
        if self.correction is None or self.answers is None:
            return
        confidence, first, answers = 1 - self.alpha, self.comparisons[0], self.answers
        interval = f"{level_of(confidence)} interval"
        accuracies = table(
            enumerate(answers.systems),
            {
                "system": lambda row: row[1],
                "accuracy": lambda row: f"{float(answers.right[:, row[0]].mean()):.4f}",
                interval: lambda row: interval_words(*accuracy_interval(answers, row[0], confidence)),
            },
        )
        yield Section("Accuracies", (accuracies,))
        pairs = table(
            self.comparisons,
            {
                "pair": lambda each: each.name,
                "helped : hurt": lambda each: f"{each.counts.only_b:,} : {each.counts.only_a:,}",
                "difference": lambda each: f"{each.counts.difference:+z.4f}",
                interval: lambda each: interval_words(*each.interval(confidence), signed=True),
                "p (Holm)": lambda each: (
                    p_cell(each.p_value) + (" *" if each.p_value <= self.alpha else "  ")
                ),
            },
        )
        note = (
            "helped : hurt: items on which the first of the pair alone is right, and the second. p: "
            f"{self._title(first, first.tests[0].name)}. Each interval is of its pair alone; * significant at "
            f"{self.alpha:g} after Holm's correction."
        )
        yield Section("Every pair", (pairs, Paragraph(note)))

    def _details(self) -> Iterator[Section]:
        """All tests: below each comparison, and of every pair of many systems in one table."""
        if self.correction is None:
            yield from (Section(each.name, tuple(self._blocks(each))) for each in self.comparisons)
            return
        tests = {
            SHORT_TITLES.get(test.name, test.name): lambda each, at=place: p_cell(each.tests[at].p_value)
            for place, test in enumerate(self.comparisons[0].tests)
        }
        alone = table(
            self.comparisons,
            {
                "pair": lambda each: each.name,
                "first alone": lambda each: f"{each.counts.only_b:,}",
                "second alone": lambda each: f"{each.counts.only_a:,}",
                **tests,
            },
        )
        words = "On how many items the first of a pair alone is right, and the second; p-values are not corrected."
        yield Section("All tests", (alone, Paragraph(words)), is_detail=True)

    def _blocks(self, each: CountsComparison) -> Iterator[Block]:
        def shown(test: TableTest) -> str:
            return (
                "not known" if math.isnan(test.p_value) else "yes" if test.p_value <= self.alpha else "no"
            )

        yield Facts(tuple(facts(each, 1 - self.alpha)))
        yield table(
            each.tests,
            {
                "test": lambda test: self._title(each, test.name),
                "p": lambda test: p_cell(test.p_value),
                f"significant at {self.alpha:g}": shown,
            },
        )

    def paper(self) -> tuple[str, ...]:
        """A paragraph for each comparison; of several systems one on all pairs."""
        if self.correction is None or self.answers is None:
            return tuple(
                (f"{each.name}: " if each.name and self.answers is None else "")
                + paper_words(each, self.answers, self.alpha)
                for each in self.comparisons
            )
        how = "McNemar's test (mid-p)"
        if self.comparisons[0].clustered is not None:
            how = "Student's t test with cluster-robust errors (CR2; Bell and McCaffrey 2002)"
        significant = [each.name for each in self.comparisons if each.p_value <= self.alpha]
        return (
            f"{len(self.answers.systems)} systems answered the same {self.answers.n_items:,} "
            f"items{in_clusters(self.answers.clusters)}. Every pair was compared by {how}, with Holm's (1979) "
            f"correction for {len(self.comparisons)} pairs. {len(significant)} of them differ significantly at "
            f"{self.alpha:g}{': ' + ', '.join(significant) if significant else ''}.",
        )

    def numbers(self) -> Record:
        return {
            **values(self, "alpha", "correction"),
            "cluster": cluster_name(self.answers),
            "comparisons": [
                {
                    **values(each, "name", "systems"),
                    **described(each, 1 - self.alpha, self.answers),
                    "tests": [asdict(test) for test in each.tests],
                    "p_adjusted": each.p_adjusted,
                }
                for each in self.comparisons
            ],
        }

    def table_rows(self) -> list[Record]:
        rows = []
        for each in self.comparisons:
            p_values = {f"p_{test.name.replace('-', '_')}": test.p_value for test in each.tests}
            adjusted = {} if each.p_adjusted is None else {"p_adjusted": each.p_adjusted}
            rows.append({"name": each.name, **in_row(each, 1 - self.alpha), **p_values, **adjusted})
        return rows


# Accuracies, difference and agreement of two systems, and what they say about the next test set.

CONFIDENCE = 0.95  # of the interval of an estimate


@dataclass(frozen=True, kw_only=True)
class AccuracyEstimateResult(PaperResult):
    """Accuracies, difference and agreement of two systems on the same items; `answers` are None where counts
    alone are known."""

    schema: ClassVar[str] = "humeval_power/accuracy_estimate/1"

    comparison: CountsComparison
    answers: Answers | None = None
    remarks: tuple[str, ...] = ()

    def answer(self) -> Document:
        result, counts, mean = self.comparison, self.comparison.counts, self.comparison.clustered
        a, b = result.systems
        n, advice = counts.n_items, "If these are validation items, and the test set is as large:"
        if mean is not None and mean.effective_n > 0:
            n = max(2, min(n, round(mean.effective_n)))
        if n != counts.n_items:
            advice = (
                "If these are validation items, and the test set is as large and in as many clusters, it tells as "
                f"much as {n:,} independent items:"
            )
        command = (
            f"humeval-power compare accuracy power --n {n} --effect {abs(counts.difference):.4g} --agreement "
            f"{counts.agreement:.4g}"
        )
        return Document(
            f"Accuracy and agreement of {a} and {b}",
            lead=f"{b} is right on {more_items(result)} {'than' if counts.difference else 'as'} {a}; both are "
            f"right or both are wrong on {percent(counts.agreement)} of them.",
            headline=tuple(facts(result, CONFIDENCE)),
            caveats=cluster_caveats(result.clustered),
            sections=(
                Section("", (picture([result], CONFIDENCE),)),
                Section("Power of a test set", (Paragraph(advice), Listing(command))),
            ),
        )

    def independence(self) -> tuple[Independence, ...]:
        return independence_of([self.comparison], self.answers)

    @property
    def signature(self) -> str:
        return signature_of([self.comparison], self.answers, None, None)

    def numbers(self) -> Record:
        return {
            "systems": list(self.comparison.systems),
            **described(self.comparison, CONFIDENCE, self.answers),
            "cluster": cluster_name(self.answers),
        }

    def table_rows(self) -> list[Record]:
        return [in_row(self.comparison, CONFIDENCE)]
