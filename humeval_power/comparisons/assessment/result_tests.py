"""Systems compared by independent ratings: what is said of their pairs, and the record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from humeval_power.comparisons.assessment.pairs import Codes, PairTest, PairTests, RatedOutputs
from humeval_power.comparisons.assessment.result import comparisons_chart
from humeval_power.inference.clustered import FEW_DF
from humeval_power.saying.chart import Axis, Chart, Series
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.compared import TestedDifference
from humeval_power.saying.document import Document, Fact, Section, Table
from humeval_power.saying.numbers import (
    counted,
    decimals,
    level_of,
    p_cell,
    p_words,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, above, data_entry, pairs_lead, signature, table

# What of raw ratings was not independent, and how a test of them was told.

_STRATA = (
    "Where outputs were drawn in strata, such as a fixed share of each document or of each bin of a metric, the "
    "test counts what lies between strata as noise, and is too cautious."
)


def _clusters(rated: RatedOutputs, tests: PairTests) -> Independence:
    least = min((pair.df for pair in tests.pairs if pair.df is not None), default=float("nan"))
    text = (
        f"Ratings of one {rated.cluster_name} belong together. Errors are robust to whatever they share (CR2, at "
        f"least {decimals(least, 1)} df); "
        + (
            "Mann-Whitney's P(B > A) is tested by placements (Brunner and Munzel 2000; Obuchowski 1997)."
            if tests.test == "mann-whitney"
            else "the mean difference is tested by Student's t."
        )
    )
    if not least >= FEW_DF:
        text += f" Below {FEW_DF:g} degrees of freedom this is no more than a hint."
    return Independence("items", "accounted", text)


def _items(rated: RatedOutputs) -> Independence:
    if rated.item is None:
        text = "The table does not say which items were rated: all ratings count as of other items. "
        return Independence("items", "assumed", text + _STRATA)
    n, most, shared = _shared(rated.item, rated.system)
    text = f"The ratings are of {n:,} items, up to {most:,} of one"
    if shared:
        text += (
            f"; {shared:,} items were rated under more than one system. The test does not pair them, and hard "
            "items count as noise: 'compare scores' pairs them."
        )
    else:
        text += ". No item was rated under two systems."
    return Independence("items", "assumed", f"{text} {_STRATA}")


def _workers(rated: RatedOutputs) -> Independence:
    if rated.worker is None:
        text = (
            "The table does not say who rated: all ratings count as independent. Where a worker rates many outputs "
            "they are not, and the test is too bold."
        )
        return Independence("workers", "assumed", text)
    n, most, _ = _shared(rated.worker, rated.system)
    known = rated.cluster is not None
    text = f"{n:,} workers gave up to {most:,} ratings each" + (
        f". The test knows what ratings of one {rated.cluster_name} share, and nothing else."
        if known
        else ", which count as independent. A strict worker, or one who likes a system, moves many of them: "
        "the test is then too bold. 'fit' and 'analyze' know workers and items; --cluster COLUMN is robust to "
        "one of both."
    )
    return Independence("workers", "assumed", text)


def _shared(code: Codes, system: Codes) -> tuple[int, int, int]:
    """How many there are, the most ratings of one, and how many of them stand under two systems or more."""
    kinds, place = np.unique(code, return_inverse=True)
    both = np.unique(np.stack([place, system]), axis=1)
    n_systems = np.bincount(both[0], minlength=len(kinds))
    return len(kinds), int(np.bincount(place).max()), int((n_systems > 1).sum())


# Systems compared by independent ratings, in words: the test, a paragraph for a paper, and the signature.

_LABELS = {"mann-whitney": "Mann-Whitney U", "welch": "Welch's t", "student": "Student's t"}
_CLUSTERED = {"mann-whitney": "P(B > A) by placements", "welch": "difference of the means"}


def label_of(tests: PairTests, rated: RatedOutputs) -> str:
    """The test in words."""
    if rated.cluster is None:
        return _LABELS[tests.test]
    return f"{_CLUSTERED[tests.test]}, errors robust to {rated.cluster_name} (CR2)"


def lead_of(tests: PairTests, rated: RatedOutputs) -> str:
    """What is shown of one pair, or in how many of several a difference is."""
    pair, confidence = tests.pairs[0], 1 - tests.alpha
    if len(tests.pairs) > 1:
        groups = f" in {counted(len(rated.groups), 'group')}" if len(rated.groups) > 1 else ""
        better = [
            above(each.a, each.b, each.difference) for each in tests.pairs if each.corrected_p < tests.alpha
        ]
        how = f"alpha {tests.alpha:g}, corrected by Holm"
        return (
            f"{pairs_lead(better, len(tests.pairs), how)} Without the correction it would be "
            f"{tests.n_significant:,}. {counted(len(rated.rating), 'rating')} of "
            f"{counted(len(rated.systems), 'system')}{groups}; {label_of(tests, rated)}."
        )
    shown = pair.p_value < tests.alpha
    if shown and tests.test == "mann-whitney" and pair.is_torn:
        more = "more" if pair.superiority > 0.5 else "less"
        return (
            f"A rating of {pair.b} is {more} often higher than one of {pair.a} than lower, which is shown "
            f"({p_words(pair.p_value)}), although the mean is {'higher' if pair.difference > 0 else 'lower'}."
        )
    return str(
        TestedDifference(
            (pair.a, pair.b),
            pair.difference,
            pair.interval,
            pair.p_value,
            shown,
            confidence,
            ("is rated", "was rated"),
            ending=" on average",
            unit=" points",
        )
    )


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
class RatedPairs(PaperResult):
    """The tests of all pairs of systems of a table of ratings, by group."""

    schema: ClassVar[str] = "humeval_power/assessment_test/1"

    found: PairTests
    rated: RatedOutputs

    @property
    def remarks(self) -> tuple[str, ...]:
        source = self.rated.source
        return tuple(f"{source}: {each}" for each in (*self.rated.notices, *self.found.left_out))

    def answer(self) -> Document:
        tests, one = self.found, len(self.found.pairs) == 1
        pairs = Section("Each pair", tuple(self._pairs()), is_detail=len(tests.pairs) > MOST_PAIRS)
        return Document(
            "Systems compared by independent ratings",
            lead=lead_of(self.found, self.rated),
            headline=tuple(self._headline(tests.pairs[0])) if one else (),
            caveats=tuple(self._caveats()),
            sections=(
                Section("Systems", (self._systems(tests.pairs[0]),)) if one else pairs,
                Section("Ratings" if one else "Differences and p-values", tuple(self._pictures())),
            ),
        )

    def _headline(self, pair: PairTest) -> Iterator[Fact]:
        reach = f"{level_of(1 - self.found.alpha)} interval {significant_interval(*pair.interval)}"
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
        torn = self.found.test == "mann-whitney"
        said = (
            f"Difference of the mean ratings with its interval ({self._interval()}); * significant at alpha "
            f"{self.found.alpha:g} after Holm's correction of all pairs."
        )
        for group in dict.fromkeys(pair.group for pair in self.found.pairs):
            yield table(
                (pair for pair in self.found.pairs if pair.group == group),
                {
                    "pair": lambda pair: f"{pair.b} - {pair.a}",
                    "difference": lambda pair: significant(pair.difference),
                    "interval": lambda pair: significant_interval(*pair.interval),
                    "P(first > second)": lambda pair: (
                        f"{pair.superiority:.3f}" + ("!" if torn and pair.is_torn else "")
                    ),
                    "p": lambda pair: p_cell(pair.p_value),
                    "Holm": lambda pair: (
                        p_cell(pair.corrected_p) + (" *" if pair.corrected_p < self.found.alpha else "  ")
                    ),
                },
                f"{group}. {said}" if group else said,
            )

    def _is_split(self, pair: PairTest) -> bool:
        """Whether the interval of the means and the test of ranks say different things."""
        low, high = pair.interval
        if math.isnan(low) or math.isnan(pair.p_value):
            return False
        return (low > 0 or high < 0) != (pair.p_value < self.found.alpha)

    def _pictures(self) -> Iterator[Chart]:
        pairs = self.found.pairs
        if len(pairs) > 1:
            tested = [pair for pair in pairs if not math.isnan(pair.p_value)]
            if tested:
                sizes, p_values = zip(*((pair.difference, pair.p_value) for pair in tested), strict=True)
                yield comparisons_chart(sizes, p_values, self.found.alpha)
            return
        series = []
        for colour, name in enumerate((pairs[0].a, pairs[0].b)):
            ratings = self.rated.rating[self.rated.system == self.rated.systems.index(name)]
            values, counts = np.unique(ratings, return_counts=True)
            shares = 100 * np.cumsum(counts) / len(ratings)
            x, y = (float(values[0]), *values.tolist()), (0.0, *shares.tolist())
            series.append(Series("steps", f"{'AB'[colour]}: {name}", x, y, colour=colour))
        low, high = float(self.rated.rating.min()), float(self.rated.rating.max())
        yield Chart(
            name="ratings",
            title="Which ratings do the systems get?",
            words="Share of the ratings of A and of B that are at most as high as each rating.",
            x=Axis("Rating", low, high if high > low else low + 1),
            y=Axis("Ratings up to it", 0, 100, unit="%"),
            series=tuple(series),
        )

    def independence(self) -> tuple[Independence, ...]:
        known = () if self.rated.cluster is None else (_clusters(self.rated, self.found),)
        return (*known, _items(self.rated), _workers(self.rated))

    def paper(self) -> tuple[str, ...]:
        tests, rated = self.found, self.rated
        label, alpha = label_of(tests, rated), f"{tests.alpha:g}"
        taken = "" if rated.cluster is not None else ", ratings taken as independent"
        if len(tests.pairs) == 1:
            pair = tests.pairs[0]
            return (
                f"We compared {pair.b} (B) with {pair.a} (A) by {pair.n_b:,} and {pair.n_a:,} ratings. The mean "
                f"rating was {significant(pair.mean_b)} for B and {significant(pair.mean_a)} for A, a difference "
                f"of {significant(pair.difference)} ({level_of(1 - tests.alpha)} interval "
                f"{significant_interval(*pair.interval)}; {label}, two-sided{taken}, {p_words(pair.p_value)}, "
                f"alpha {alpha}).",
            )
        against = "" if tests.baseline is None else f" with {tests.baseline}"
        return (
            f"We compared {counted(len(rated.systems), 'system')}{against} in "
            f"{counted(len(tests.pairs), 'pair')} by {counted(len(rated.rating), 'rating')} ({label}, "
            f"two-sided{taken}). {tests.n_significant:,} of the pairs had p < {alpha}; after Holm's correction "
            f"{tests.n_corrected:,} differed significantly.",
        )

    @property
    def signature(self) -> str:
        tests, rated = self.found, self.rated
        n_clusters = None if rated.cluster is None else len(set(rated.cluster.tolist()))
        return signature(
            model="independent-ratings",
            coding="b-a",
            test=tests.test,
            continuity="no" if tests.test == "mann-whitney" and not tests.continuity else None,
            alpha=tests.alpha,
            two=True,
            n=len(rated.rating),
            cluster=(rated.cluster_name or None, n_clusters),
            k=len(rated.systems) if len(rated.systems) > 2 else None,
            corr="holm" if len(tests.pairs) > 1 else None,
            data=data_entry(rated.sha256),
        )

    def numbers(self) -> Record:
        tests, rated = self.found, self.rated
        return {
            **values(rated, "systems", "notices"),
            "n_ratings": len(rated.rating),
            **values(tests, "test", "continuity", "alpha", "baseline", "n_significant", "left_out"),
            "cluster": rated.cluster_name or None,
            "n_significant_corrected": tests.n_corrected,
            "pairs": [asdict(pair) for pair in tests.pairs],
        }

    def table_rows(self) -> list[Record]:
        is_grouped = len(self.rated.groups) > 1
        return [
            {
                **({"group": pair.group} if is_grouped else {}),
                "system_a": pair.a,
                "system_b": pair.b,
                **values(pair, "n_a", "n_b", "mean_a", "mean_b", "difference"),
                "low": pair.interval[0],
                "high": pair.interval[1],
                "superiority": pair.superiority,
                "p": pair.p_value,
                "corrected_p": pair.corrected_p,
            }
            for pair in self.found.pairs
        ]
