"""What the estimates for planning with a corpus metric say, and their record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.estimation.metrics import METRIC_NAMES, Additivity, DeltaLaplace, Floats, SentenceCounts
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.inference.corpus import RandomisationTest
from humeval_power.safe_text import table_csv
from humeval_power.saying.answer_words import TestedDifference, swap_facts
from humeval_power.saying.chart import Axis, Chart, Panels, Series
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
    in_clusters,
)
from humeval_power.saying.document import Document, Fact, Facts, Listing, Section, Table
from humeval_power.saying.numbers import counted, level_of, p_words, percent, significant
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import PaperResult, signature


def metric_facts(counts: SentenceCounts) -> tuple[Fact, Fact]:
    """The metric of both systems, and how it was computed."""
    a, b = counts.values
    values = f"of A {a:.2f}, of B {b:.2f}; B - A = {b - a:+z.2f} on {counted(len(counts), 'sentence')}"
    return ("Metric", f"{METRIC_NAMES[counts.metric]} {values}"), ("", counts.signature)


def metric_record(counts: SentenceCounts) -> Record:
    """The same as plain values."""
    a, b = counts.values
    return {
        "metric": counts.metric,
        "signature": counts.signature,
        "n_sentences": len(counts),
        "system_a": a,
        "system_b": b,
        "difference": b - a,
    }


EFFECTS = "effects.csv"


@dataclass(frozen=True, kw_only=True)
class CorpusEstimateResult(Result):
    """What swaps of single sentences do to a corpus metric; `effects` are those of each sentence."""

    schema: ClassVar[str] = "humeval_power/corpus_estimate/1"

    counts: SentenceCounts
    effects: Floats
    fit: DeltaLaplace
    check: Additivity
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        fit, check, metric = self.fit, self.check, METRIC_NAMES[self.counts.metric]
        p0 = f"{fit.zero_share:.3f} (SE {fit.zero_share_error:.3f}): share of swaps that change nothing"
        facts: list[Fact] = [*metric_facts(self.counts), ("P0", p0)]
        picture = swap_chart(self.effects, check, fit, metric=metric)
        title = f"What swaps of single sentences do to {metric}"
        if fit.zero_share == 1:
            return Document(
                title,
                lead="A and B count alike in every sentence: there is nothing to test or to plan with.",
                sections=(Section("", (Facts((*facts, ("b0", "none"))), picture)),),
            )
        facts += [
            (
                "b0",
                f"{fit.scale:.1f} (SE {fit.scale_error:.1f}) by maximum likelihood, as Card et al. (2020)",
            ),
            ("", f"{fit.matched_scale:.1f} matching the spread of the effects: for power"),
            ("Null SD", f"{fit.null_sd:.3f} of the difference when sentences are swapped at random"),
            (
                "Adding up",
                f"true effect of {len(check.true):,} random swaps against the sum of single ones: "
                f"correlation {check.correlation:.3f}, slope {check.slope:.3f}, rms error {check.error:.3f}",
            ),
        ]
        how = f"--p0 {fit.zero_share:.3g} --b0 {fit.matched_scale:.3g}"
        follow_up = f"humeval-power compare corpus power --n {len(self.counts)} --effect 1 {how}"
        return Document(
            title,
            lead=f"Plan with P0 = {fit.zero_share:.3g} and b0 = {fit.matched_scale:.3g}: swapping one sentence "
            f"between the systems changes {metric} for {percent(1 - fit.zero_share)} of the sentences.",
            caveats=cautions(fit, check),
            sections=(
                Section("", (Facts(tuple(facts)), picture)),
                Section("Next: the power of such a test set", (Listing(follow_up),)),
            ),
        )

    def content(self) -> Record:
        fit, check = self.fit, self.check
        return {
            **metric_record(self.counts),
            "swaps": {**asdict(fit), **values(fit, "zero_share", "zero_share_error", "scale_error")},
            "additivity": {
                "n_subsets": len(check.true),
                **values(check, "correlation", "slope"),
                "rms_error": check.error,
            },
        }

    def table_rows(self) -> list[Record]:
        return [{"line": line, "effect": effect} for line, effect in enumerate(self.effects.tolist(), 1)]

    def files(self) -> Mapping[str, str | bytes]:
        return {EFFECTS: table_csv(self.to_frame(), digits=12)}


def cautions(fit: DeltaLaplace, check: Additivity) -> tuple[str, ...]:
    """What a reader must know before planning with these estimates."""
    said = []
    if check.correlation < 0.95 or abs(check.slope - 1) > 0.1:
        said.append(
            "Single effects do not add up here, so that power computed from them is off; "
            "more sentences make them add up better."
        )
    ratio = fit.matched_scale / fit.scale
    if not 1 / 1.1 < ratio < 1.1:
        tails = "heavier" if ratio > 1 else "lighter"
        said.append(
            f"The effects have {tails} tails than a Laplace distribution; plan with b0 = "
            f"{fit.matched_scale:.1f}, which has their spread."
        )
    return tuple(said)


def too_few_swaps(test: RandomisationTest, alpha: float) -> tuple[str, ...]:
    """What is said where so few sentences or clusters are swapped that nothing could be significant."""
    least = 2 / test.n_swaps  # the observed swap, and the one of all
    if not test.exact or least <= alpha:
        return ()
    return (
        f"There are only {test.n_swaps:,} swaps, and no p-value is below {least:.2g}: nothing can be significant "
        f"at {alpha:g}.",
    )


@dataclass(frozen=True, kw_only=True)
class CorpusTestResult(PaperResult):
    """The paired randomisation test of a corpus metric."""

    schema: ClassVar[str] = "humeval_power/corpus_test/1"
    signature_key: ClassVar[str] = "test_signature"  # that of the metric is another

    counts: SentenceCounts
    found: RandomisationTest
    mean: ClusteredMean
    alpha: float
    clusters: Clusters | None = None
    remarks: tuple[str, ...] = ()

    @property
    def _interval(self) -> tuple[float, float] | None:
        return self.mean.interval(1 - self.alpha) if self.mean.standard_error > 0 else None

    def answer(self) -> Document:
        test, mean, name = self.found, self.mean, METRIC_NAMES[self.counts.metric]
        facts: list[Fact] = [*metric_facts(self.counts)]
        if self._interval is not None:
            low, high = self._interval
            each = "sentences" if self.clusters is None else "clusters"
            error = f"error {mean.standard_error:.3f} from the influence of {each}, {mean.df:.4g} df"
            facts.append(("Interval", f"{low:+z.2f} to {high:+z.2f} ({level_of(1 - self.alpha)}, {error})"))
        how = f"all {test.n_swaps:,} swaps" if test.exact else f"{test.n_swaps:,} random swaps"
        if self.clusters is not None:
            how += f" of {self.clusters.n_clusters:,} clusters ({self.clusters.name})"
        facts += swap_facts(how, test.p_interval)
        compared = TestedDifference(
            ("A", "B"),
            test.difference,
            self._interval or (math.nan, math.nan),
            test.p_value,
            test.p_value <= self.alpha,
            1 - self.alpha,
            unit=f" {name}",
        )
        return Document(
            f"{name} of two systems",
            lead=str(compared),
            caveats=too_few_swaps(test, self.alpha),
            sections=(Section("", (Facts(tuple(facts)),)),),
        )

    @property
    def signature(self) -> str:
        result = self.found
        return signature(
            model="corpus",
            coding="b-a",
            metric=self.counts.metric,
            test="randomisation",
            alpha=self.alpha,
            two=True,
            n=len(self.counts),
            cluster=self.clusters,
            draws=None if result.exact else result.n_swaps,
            seed=None if result.exact else self.provenance.seed,
        )

    def paper(self) -> tuple[str, ...]:
        counts, result, clusters = self.counts, self.found, self.clusters
        a, b = counts.values
        swapped = "sentences" if clusters is None else "whole clusters"
        interval = ""
        if self._interval is not None:
            low, high = self._interval
            interval = f" ({level_of(1 - self.alpha)} interval {low:+z.2f} to {high:+z.2f})"
        how = f"all {result.n_swaps:,}" if result.exact else f"{result.n_swaps:,} random"
        return (
            f"On {counted(len(counts), 'sentence')}{in_clusters(clusters)}, A has {a:.2f} and B {b:.2f} "
            f"{METRIC_NAMES[counts.metric]} ({counts.signature}); the difference B - A is "
            f"{result.difference:+z.2f}{interval}. A paired randomisation test with {how} swaps of {swapped} gives "
            f"{p_words(result.p_value)} (two-sided, alpha {self.alpha:g}).",
        )

    def independence(self) -> tuple[Independence, ...]:
        if self.clusters is None:
            return (assumed_items(len(self.counts)),)
        return (clustered_items(self.mean, self.clusters.name),)

    def numbers(self) -> Record:
        test = self.found
        return {
            **metric_record(self.counts),
            **asdict(test),
            **values(test, "p_value", "p_interval"),
            "alpha": self.alpha,
            "significant": test.p_value <= self.alpha,
            **values(self.mean, "standard_error", "df"),
            "interval": self._interval,
            "n_clusters": None if self.clusters is None else self.clusters.n_clusters,
        }


def swap_chart(effects: Floats, check: Additivity, fit: DeltaLaplace, *, metric: str) -> Panels:
    """Two panels in the manner of Card et al. (2020), Figures 15 and 16: true effects of swapping random
    halves against the sums of single effects, and the effects that are not zero with the fitted Laplace."""
    words = (
        "Left, the true effect of swapping random halves of the sentences against the sum of single effects; "
        "right, the single effects that are not zero, with the Laplace distribution that was fitted."
    )
    both = np.concatenate([check.summed, check.true])
    ends = (float(both.min()), float(both.max()))
    points = zip(check.summed.tolist(), check.true.tolist(), strict=True)
    left = Chart(
        "swaps",
        f"Correlation {check.correlation:.3f}, slope {check.slope:.3f}",
        words,
        Axis.around(f"Sum of single effects ({metric} points)", ends),
        Axis.around("True effect of the swap", ends),
        (
            Series.of("points", "swap", points, strength=0.4),
            Series("line", "adding up exactly", ends, ends, colour=1),
        ),
    )
    charts, moved = [left], effects[effects != 0]
    named = {"correlation": check.correlation, "slope": check.slope, "P0": fit.zero_share, "b0": fit.scale}
    numbers = Table(("", ""), tuple((name, significant(value)) for name, value in named.items()))
    if len(moved):
        reach = float(np.quantile(np.abs(moved), 0.995))
        shares, edges = np.histogram(moved, bins=61, range=(-reach, reach), density=True)
        x, scale = np.linspace(-reach, reach, 401), fit.scale / fit.n_sentences
        density = np.exp(-np.abs(x - np.median(moved)) / scale) / (2 * scale)
        lows, highs = tuple(edges[:-1].tolist()), tuple(edges[1:].tolist())
        right = Chart(
            "swaps",
            f"P0 {fit.zero_share:.2f}, b0 {fit.scale:.1f}",
            words,
            Axis(f"Effect of swapping one sentence ({metric} points)", -reach, reach),
            Axis("Density", 0, 1.05 * max(float(shares.max()), float(density.max()))),
            (
                Series("columns", "not zero", y=tuple(shares.tolist()), low=lows, high=highs, colour=4),
                Series("line", "Laplace, fitted", tuple(x.tolist()), tuple(density.tolist()), colour=3),
            ),
        )
        charts.append(right)
    return Panels("swaps", "Do effects add up?", words, tuple(charts), numbers=numbers)
