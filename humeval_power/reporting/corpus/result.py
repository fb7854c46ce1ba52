"""What the estimates for planning with a corpus metric say, and their record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.estimation.metrics.delta_laplace import DeltaLaplace
from humeval_power.estimation.metrics.sentence_counts import METRIC_NAMES, SentenceCounts
from humeval_power.estimation.metrics.swap_effects import Additivity, Floats
from humeval_power.reporting.corpus.metric_words import metric_facts, metric_record
from humeval_power.reporting.document import (
    Block,
    Document,
    Fact,
    Facts,
    Listing,
    Picture,
    Section,
)
from humeval_power.reporting.numbers import percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.safe_text import table_csv

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

LEAST_CORRELATION = 0.95
SLOPE_OFF = 0.1  # from 1
SCALE_OFF = 1.1  # ratio of the two estimates of b0
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
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """P0 and b0, whether single effects add up, and what to compute with them."""
        fit = self.fit
        p0 = f"{fit.zero_share:.3f} (SE {fit.zero_share_error:.3f}): share of swaps that change nothing"
        facts: list[Fact] = [*metric_facts(self.counts), ("P0", p0)]
        moves = fit.zero_share < 1
        if moves:
            facts += _effect_facts(fit, self.check)
        else:
            facts.append(("b0", "none"))
        how = f"--p0 {fit.zero_share:.3g} --b0 {fit.matched_scale:.3g}"
        follow_up = f"humeval-power corpus power --n {len(self.counts)} --effect 1 {how}"
        return Document(
            f"What swaps of single sentences do to {METRIC_NAMES[self.counts.metric]}",
            lead=f"Plan with P0 = {fit.zero_share:.3g} and b0 = {fit.matched_scale:.3g}: swapping one sentence "
            "between the "
            f"systems changes {METRIC_NAMES[self.counts.metric]} for {percent(1 - fit.zero_share)} of the "
            "sentences."
            if moves
            else "A and B count alike in every sentence: there is nothing to test or to plan with.",
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
            **metric_record(self.counts),
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
