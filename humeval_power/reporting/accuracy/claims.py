"""Claims of improvement beside what their test sets could have shown."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.mcnemar import PairedTest
from humeval_power.planning.accuracy.claims import JudgedClaim, JudgedClaims
from humeval_power.reporting.document import Document, Paragraph, Picture, Points, Section, Table
from humeval_power.reporting.numbers import counted, p_cell, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

_LEGEND = (
    "Improvements in points of 100. smallest: found with the target power; expected: predicted from the other "
    "claims, and the power if that is true; p: of the claim, at the agreement predicted."
)
_HEADER = ("claim", "n", "baseline", "claimed", "smallest", "claim is", "expected", "power", "p")


@dataclass(frozen=True, kw_only=True)
class ClaimsResult(Result):
    """Every claim as it was judged; `overlap` says how the agreement was guessed."""

    schema: ClassVar[str] = "humeval_power/accuracy_claims/1"

    judged: JudgedClaims
    overlap: str
    test: PairedTest
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The shares of claims, then a row for each."""
        judged = self.judged
        return Document(
            "Could the test sets have shown the improvements that were claimed?",
            lead=f"{percent(judged.share_below)} of {counted(len(judged.claims), 'claim')} are below the smallest "
            f"improvement that their test set finds with power {judged.target:g}.",
            sections=(
                Section("", (Table(_HEADER, tuple(map(_row, judged.claims))), Paragraph(_LEGEND))),
                Section("In all", (Points(tuple(self._shares())), self._picture())),
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
            "share_below": judged.share_below,
            "share_powered": judged.share_powered,
            "share_significant": judged.share_significant,
            "share_both": judged.share_both,
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each claim."""
        import pandas as pd

        rows = []
        for each in self.judged.claims:
            values = asdict(each)
            rows.append({**values.pop("claim"), **values, "is_below": each.is_below})
        return pd.DataFrame(rows)


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
