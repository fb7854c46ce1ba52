"""Claims of improvement beside what their test sets could have shown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.choices import PairedTest
from humeval_power.planning.accuracy.claims import JudgedClaim, JudgedClaims
from humeval_power.planning.accuracy.methods import ClaimMethods
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.document import Document, Paragraph, Picture, Points, Section, Table
from humeval_power.reporting.numbers import counted, p_cell, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

_LEGEND = (
    "Improvements in points of 100. smallest: found with the target power; expected: predicted from the other "
    "claims, and the power if that is true; p: of the claim, at the agreement predicted."
)
METHODS = {
    "glue": "GLUE",
    "squad": "SQuAD",
    "middle": "middle",
    "least": "least",
    "most": "most",
    "unpaired": "unpaired",
}
_METHODS_LEGEND = (
    "The smallest improvement found if agreement is as regressions on GLUE or SQuAD 2.0 systems predict it, in the "
    "middle (Lachenbruch 1992), the least or the most possible, or if each system had items of its own."
)
_TASKS_LEGEND = "Below, the smallest improvement found over the best baseline of the task, best so far."
_HEADER = ("claim", "n", "baseline", "claimed", "smallest", "claim is", "expected", "power", "p")


@dataclass(frozen=True, kw_only=True)
class ClaimsResult(Result):
    """Every claim as it was judged; `overlap` says how the agreement was guessed."""

    schema: ClassVar[str] = "humeval_power/accuracy_claims/1"

    judged: JudgedClaims
    methods: ClaimMethods
    overlap: str
    test: PairedTest
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The shares of claims, then a row for each."""
        judged = self.judged
        return Document(
            "Could the test sets have shown the improvements that were claimed?",
            lead=f"{sum(each.is_below for each in judged.claims)} of {counted(len(judged.claims), 'claim')} are "
            f"below the smallest improvement that {of_hundred(judged.target)} of 100 studies of that size find.",
            sections=(
                Section("", (Table(_HEADER, tuple(map(_row, judged.claims))), Paragraph(_LEGEND))),
                Section("In all", (Points(tuple(self._shares())), self._picture())),
                Section("By how the agreement is guessed", (self._by_method(), Paragraph(_METHODS_LEGEND))),
                Section("By task", (*self._by_task(), Paragraph(_TASKS_LEGEND))),
                Section("", tuple(self._pictures())),
            ),
        )

    def _shares(self) -> list[str]:
        judged, fit = self.judged, self.judged.regression
        said = [
            f"{percent(judged.share_significant)} would be significant at the agreement that is predicted."
        ]
        if judged.predicted:
            said.append(
                f"{percent(judged.share_powered)} of {len(judged.predicted)} had that power for the improvement "
                f"that the other claims let one expect; {percent(judged.share_both)} had it and are significant."
            )
        explained = "" if math.isnan(fit.r_squared) else f"R2 {fit.r_squared:.2f}; "
        said.append(
            f"Regression on baseline and task: {explained}{100 * fit.per_baseline:+.2f} points for a baseline "
            "100 points better."
        )
        return said

    def _by_method(self) -> Table:
        claims, found = [each.claim for each in self.judged.claims], self.methods.smallest
        rows = [
            (claim.name, f"{100 * claim.improvement:+.2f}", *(_points(each[name]) for name in METHODS))
            for claim, each in zip(claims, found, strict=True)
        ]
        rows.append(("reached by", "", *(percent(self.methods.reached[name]) for name in METHODS)))
        return Table(("claim", "claimed", *METHODS.values()), tuple(rows), has_total=True)

    def _by_task(self) -> tuple[Table, Table]:
        header = ("task", "claims", "n", "mean gain", "SE", "best so far")
        rows = [
            (
                each.task,
                str(each.n_claims),
                f"{each.n_items:,}",
                f"{100 * each.mean_improvement:+.2f}",
                "-" if math.isnan(each.standard_error) else f"{100 * each.standard_error:.2f}",
                f"{100 * each.best_baseline:.2f}",
            )
            for each in self.methods.tasks
        ]
        smallest = [
            (each.task, *(_points(each.smallest[name]) for name in METHODS)) for each in self.methods.tasks
        ]
        return Table(header, tuple(rows)), Table(("task", *METHODS.values()), tuple(smallest))

    def _pictures(self) -> Iterator[Picture]:
        from humeval_power.reporting.accuracy import claim_figures as draw

        claims = [each.claim for each in self.judged.claims]
        words = "How many claims improve by how much, with their mean."
        yield Picture("improvements", lambda: draw.improvements_figure(claims), words=words)
        words = (
            "Improvements against the accuracy of the baseline, each task with its line of the regression."
        )
        regression = self.judged.regression
        yield Picture("baselines", lambda: draw.baselines_figure(claims, regression), words=words)
        words = (
            "Each claim less the smallest improvement that its test set finds, by how agreement is guessed."
        )
        yield Picture("methods", lambda: draw.methods_figure(claims, self.methods), words=words)

    def _picture(self) -> Picture:
        return Picture(
            "claims",
            self._figure,
            words="Each claimed improvement against the smallest that its test set finds; below the diagonal the "
            "test set was too small.",
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.accuracy.figures import claims_figure

        return claims_figure(self.judged)

    def content(self) -> Record:
        """Claims, regression and shares."""
        judged = self.judged
        return {
            "overlap": self.overlap,
            "test": self.test,
            "power": judged.target,
            "alpha": judged.alpha,
            "claims": [{**asdict(each), "is_below": each.is_below} for each in judged.claims],
            "regression": asdict(judged.regression),
            "smallest": list(self.methods.smallest),
            "reached": self.methods.reached,
            "tasks": [asdict(each) for each in self.methods.tasks],
            "share_below": judged.share_below,
            "share_powered": judged.share_powered,
            "share_significant": judged.share_significant,
            "share_both": judged.share_both,
        }

    def table_rows(self) -> list[Record]:
        """A row for each claim."""
        rows = []
        for each, smallest in zip(self.judged.claims, self.methods.smallest, strict=True):
            values = asdict(each)
            by_method = {f"smallest_{name}": found for name, found in smallest.items()}
            rows.append({**values.pop("claim"), **values, "is_below": each.is_below, **by_method})
        return rows


def _row(each: JudgedClaim) -> tuple[str, ...]:
    claim = each.claim
    return (
        claim.name,
        f"{claim.n_items:,}",
        f"{100 * claim.baseline:.2f}",
        f"{100 * claim.improvement:+.2f}",
        "none" if math.isnan(each.detectable) else f"{100 * each.detectable:.2f}",
        "below" if each.is_below else "",
        "-" if math.isnan(each.expected) else f"{100 * each.expected:+.2f}",
        "-" if math.isnan(each.power) else f"{each.power:.2f}",
        p_cell(each.p_value),
    )


def _points(share: float) -> str:
    return "none" if math.isnan(share) else f"{100 * share:.2f}"
