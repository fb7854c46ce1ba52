"""What the test of a corpus metric and the estimates for planning say, and their records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.clusters import Clusters
from humeval_power.estimation.delta_laplace import DeltaLaplace
from humeval_power.estimation.sentence_counts import METRIC_NAMES, SentenceCounts
from humeval_power.estimation.swap_effects import Additivity, Floats
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.inference.corpus import RandomisationTest
from humeval_power.reporting.corpus.paper import (
    corpus_signature,
    swap_words,
    test_paragraph,
    too_few_swaps,
)
from humeval_power.reporting.document import (
    Block,
    Document,
    Fact,
    Facts,
    Listing,
    Paragraph,
    Picture,
    Section,
)
from humeval_power.reporting.independence import (
    Independence,
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.swap_tests import swap_facts, verdict
from humeval_power.safe_text import table_csv

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

LEAST_CORRELATION = 0.95
SLOPE_OFF = 0.1  # from 1
SCALE_OFF = 1.1  # ratio of the two estimates of b0
EFFECTS = "effects.csv"


@dataclass(frozen=True, kw_only=True)
class CorpusTestResult(Result):
    """The paired randomisation test of a corpus metric."""

    schema: ClassVar[str] = "humeval_power/corpus_test/1"

    counts: SentenceCounts
    found: RandomisationTest
    mean: ClusteredMean
    alpha: float
    clusters: Clusters | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The metric of both systems, and the verdict."""
        found = self.found
        name = METRIC_NAMES[self.counts.metric]
        facts = (
            *_metric_facts(self.counts),
            *self._interval_facts(),
            *swap_facts(swap_words(found, self.clusters), found.p_interval),
        )
        return Document(
            f"{name} of two systems",
            lead=verdict(f"{found.difference:+.2f} {name}", found.p_value, self.alpha),
            caveats=too_few_swaps(found, self.alpha),
            sections=(
                Section("", (Facts(facts),)),
                Section("For the paper", (Paragraph(self._paper()),)),
                independence_section(self._independence()),
            ),
            signature=self.signature,
        )

    def _interval_facts(self) -> tuple[Fact, ...]:
        mean = self.mean
        if not mean.standard_error > 0:
            return ()
        low, high = mean.interval(1 - self.alpha)
        each = "sentences" if self.clusters is None else "clusters"
        return (
            (
                "Interval",
                f"{low:+.2f} to {high:+.2f} ({100 * (1 - self.alpha):g} %, error {mean.standard_error:.3f} "
                f"from the influence of {each}, {mean.df:.4g} df)",
            ),
        )

    @property
    def signature(self) -> str:
        """The line that says in a paper what was tested."""
        return corpus_signature(
            self.counts, self.found, self.clusters, alpha=self.alpha, seed=self.provenance.seed
        )

    def _paper(self) -> str:
        return test_paragraph(self.counts, self.found, self.mean, self.clusters, alpha=self.alpha)

    def _independence(self) -> tuple[Independence, ...]:
        if self.clusters is None:
            return (assumed_items(len(self.counts)),)
        return (clustered_items(self.mean, self.clusters.name),)

    def content(self) -> Record:
        """The metric and the test."""
        interval = self.mean.interval(1 - self.alpha) if self.mean.standard_error > 0 else None
        found = self.found
        return {
            **_metric_record(self.counts),
            **asdict(found),
            "p_value": found.p_value,
            "p_interval": found.p_interval,
            "alpha": self.alpha,
            "significant": found.p_value <= self.alpha,
            "standard_error": self.mean.standard_error,
            "df": self.mean.df,
            "interval": interval,
            "n_clusters": None if self.clusters is None else self.clusters.n_clusters,
            "independence": independence_record(self._independence()),
            "test_signature": self.signature,
        }


@dataclass(frozen=True, kw_only=True)
class CorpusEstimateResult(Result):
    """What swaps of single sentences do to a corpus metric; `effects` are those of each sentence."""

    schema: ClassVar[str] = "humeval_power/corpus_estimate/1"

    counts: SentenceCounts
    effects: Floats
    fit: DeltaLaplace
    check: Additivity
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """P0 and b0, whether single effects add up, and what to compute with them."""
        fit = self.fit
        p0 = f"{fit.zero_share:.3f} (SE {fit.zero_share_error:.3f}): share of swaps that change nothing"
        facts: list[Fact] = [*_metric_facts(self.counts), ("P0", p0)]
        moves = fit.zero_share < 1
        if moves:
            facts += _effect_facts(fit, self.check)
        else:
            facts.append(
                ("b0", "none: A and B count alike in every sentence, so there is nothing to test.")
            )
        how = f"--p0 {fit.zero_share:.3g} --b0 {fit.matched_scale:.3g}"
        follow_up = f"humeval-power corpus power --n {len(self.counts)} --effect 1 {how}"
        return Document(
            f"What swaps of single sentences do to {METRIC_NAMES[self.counts.metric]}",
            lead=f"For power: P0 = {fit.zero_share:.3g}, b0 = {fit.matched_scale:.3g}." if moves else "",
            caveats=cautions(fit, self.check) if moves else (),
            sections=(
                Section("", (Facts(tuple(facts)), self._picture())),
                *((Section("Next: the power of such a test set", (Listing(follow_up),)),) if moves else ()),
            ),
        )

    def _picture(self) -> Block:
        return Picture(
            "swaps",
            self._figure,
            words="Left, the true effect of swapping random halves of the sentences against the sum of single "
            "effects; right, the single effects that are not zero, with the Laplace distribution that was "
            "fitted.",
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.corpus.figure import swap_figure

        return swap_figure(self.effects, self.check, self.fit, metric=METRIC_NAMES[self.counts.metric])

    def content(self) -> Record:
        """The metric, the fit and the check of adding up."""
        fit, check = self.fit, self.check
        return {
            **_metric_record(self.counts),
            "swaps": {
                **asdict(fit),
                "zero_share": fit.zero_share,
                "zero_share_error": fit.zero_share_error,
                "scale_error": fit.scale_error,
            },
            "additivity": {
                "n_subsets": len(check.true),
                "correlation": check.correlation,
                "slope": check.slope,
                "rms_error": check.error,
            },
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each sentence: its line, and the effect of swapping it, in points of the metric."""
        import pandas as pd

        return pd.DataFrame({"line": range(1, len(self.effects) + 1), "effect": self.effects})

    def files(self) -> Mapping[str, str | bytes]:
        """The effects of single swaps."""
        return {EFFECTS: table_csv(self.to_frame(), digits=12)}


def cautions(fit: DeltaLaplace, check: Additivity) -> tuple[str, ...]:
    """What a reader must know before planning with these estimates."""
    found = []
    if check.correlation < LEAST_CORRELATION or abs(check.slope - 1) > SLOPE_OFF:
        found.append(
            "Single effects do not add up here, so that power computed from them is off; "
            "more sentences make them add up better."
        )
    ratio = fit.matched_scale / fit.scale
    if not 1 / SCALE_OFF < ratio < SCALE_OFF:
        tails = "heavier" if ratio > 1 else "lighter"
        found.append(
            f"The effects have {tails} tails than a Laplace distribution; plan with b0 = "
            f"{fit.matched_scale:.1f}, which has their spread."
        )
    return tuple(found)


def _effect_facts(fit: DeltaLaplace, check: Additivity) -> tuple[Fact, ...]:
    return (
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
    )


def _metric_facts(counts: SentenceCounts) -> tuple[Fact, Fact]:
    a, b = counts.values
    size = counted(len(counts), "sentence")
    name = METRIC_NAMES[counts.metric]
    return (
        ("Metric", f"{name} of A {a:.2f}, of B {b:.2f}; B - A = {b - a:+.2f} on {size}"),
        ("", counts.signature),
    )


def _metric_record(counts: SentenceCounts) -> Record:
    a, b = counts.values
    return {
        "metric": counts.metric,
        "signature": counts.signature,
        "n_sentences": len(counts),
        "system_a": a,
        "system_b": b,
        "difference": b - a,
    }
