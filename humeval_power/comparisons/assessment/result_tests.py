"""Systems compared by independent ratings: what is said of their pairs, and the record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.comparisons.assessment.pairs import Codes, PairTest, PairTests, RatedOutputs
from humeval_power.inference.clustered import FEW_DF
from humeval_power.saying.clustered_words import Independence, independence_record, independence_section
from humeval_power.saying.compared import Compared
from humeval_power.saying.document import Document, Fact, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import (
    counted,
    decimals,
    p_cell,
    p_words,
    significant,
    significant_interval,
)
from humeval_power.saying.result import (
    DIGITS,
    NAME,
    UNKNOWN,
    Provenance,
    Record,
    Result,
    cluster_entry,
    named,
    short,
    versions,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What of raw ratings was not independent, and how a test of them was told.

_STRATA = (
    "Where outputs were drawn in strata, such as a fixed share of each document or of each bin of a metric, the "
    "test counts what lies between strata as noise, and is too cautious."
)


def independence_of_rated(rated: RatedOutputs, found: PairTests) -> tuple[Independence, ...]:
    """Of items and of workers: what is shared, and whether the test knows it."""
    known = () if rated.cluster is None else (_clusters(rated, found),)
    return (*known, _items(rated), _workers(rated))


def _clusters(rated: RatedOutputs, found: PairTests) -> Independence:
    least = min((pair.df for pair in found.pairs if pair.df is not None), default=float("nan"))
    text = (
        f"Ratings of one {rated.cluster_name} belong together. Errors are robust to whatever they share (CR2, at "
        f"least {decimals(least, 1)} df); "
        + (
            "Mann-Whitney's P(B > A) is tested by placements (Brunner and Munzel 2000; Obuchowski 1997)."
            if found.test == "mann-whitney"
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


def label_of(found: PairTests, rated: RatedOutputs) -> str:
    """The test in words."""
    if rated.cluster is None:
        return _LABELS[found.test]
    return f"{_CLUSTERED[found.test]}, errors robust to {rated.cluster_name} (CR2)"


def lead_of(found: PairTests, rated: RatedOutputs) -> str:
    """What is shown of one pair, or in how many of several a difference is."""
    pair, confidence = found.pairs[0], 1 - found.alpha
    if len(found.pairs) > 1:
        groups = f" in {counted(len(rated.groups), 'group')}" if len(rated.groups) > 1 else ""
        return (
            f"In {found.n_corrected:,} of {counted(len(found.pairs), 'pair')} a difference is shown (alpha "
            f"{found.alpha:g}, corrected by Holm); {found.n_significant:,} without the correction. "
            f"{counted(len(rated.rating), 'rating')} of {counted(len(rated.systems), 'system')}{groups}; "
            f"{label_of(found, rated)}."
        )
    shown = pair.p_value < found.alpha
    if shown and found.test == "mann-whitney" and pair.is_torn:
        more = "more" if pair.superiority > 0.5 else "less"
        return (
            f"A rating of {pair.b} is {more} often higher than one of {pair.a} than lower, which is shown "
            f"({p_words(pair.p_value)}), although the mean is {'higher' if pair.difference > 0 else 'lower'}."
        )
    return str(
        Compared(
            (pair.a, pair.b),
            pair.difference,
            pair.interval,
            pair.p_value,
            shown,
            confidence,
            ("is rated", "was rated"),
            ending=" on average",
        )
    )


def paragraph_of(found: PairTests, rated: RatedOutputs) -> str:
    """How a paper reports it."""
    label, alpha = label_of(found, rated), f"{found.alpha:g}"
    taken = "" if rated.cluster is not None else ", ratings taken as independent"
    if len(found.pairs) == 1:
        pair = found.pairs[0]
        return (
            f"We compared {pair.b} (B) with {pair.a} (A) by {pair.n_b:,} and {pair.n_a:,} ratings. The mean "
            f"rating was {significant(pair.mean_b)} for B and {significant(pair.mean_a)} for A, a difference of "
            f"{significant(pair.difference)} ({100 * (1 - found.alpha):g} % interval "
            f"{significant_interval(*pair.interval)}; {label}, two-sided{taken}, {p_words(pair.p_value)}, "
            f"alpha {alpha})."
        )
    against = "" if found.baseline is None else f" with {found.baseline}"
    return (
        f"We compared {counted(len(rated.systems), 'system')}{against} in {counted(len(found.pairs), 'pair')} "
        f"by {counted(len(rated.rating), 'rating')} ({label}, two-sided{taken}). {found.n_significant:,} of the "
        f"pairs had p < {alpha}; after Holm's correction {found.n_corrected:,} differed significantly."
    )


def signature_of(found: PairTests, rated: RatedOutputs) -> str:
    """The line that says what was tested."""
    n_clusters = None if rated.cluster is None else len(set(rated.cluster.tolist()))
    entries = [
        NAME,
        *named("v", versions()["humeval-power"]),
        "model:independent-ratings",
        "coding:b-a",
        f"test:{found.test}",
        *(["continuity:no"] if found.test == "mann-whitney" and not found.continuity else []),
        f"alpha:{short(found.alpha)}",
        "two",
        f"n:{len(rated.rating)}",
        *cluster_entry(rated.cluster_name or None, n_clusters),
        *named("k", len(rated.systems) if len(rated.systems) > 2 else None),
        *named("corr", "holm" if len(found.pairs) > 1 else None),
        *named("data", f"sha256:{rated.sha256[:DIGITS]}" if rated.sha256 else None),
    ]
    return "|".join(entries)


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
        from humeval_power.comparisons.assessment.figures import comparisons_figure, ratings_figure

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
