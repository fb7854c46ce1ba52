"""How often systems do alike, as a regression on one's own pairs of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.planning.accuracy.overlap import FittedOverlap
from humeval_power.planning.accuracy.regression import LeastSquares, Term
from humeval_power.reporting.document import Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import counted, p_cell, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

_HEADER = ("", "estimate", "SE", "95 % interval", "p")
_LEGEND = (
    "accuracy: that of the worse system; difference: how much better the other is; all are shares. The pairs share "
    "systems, so that standard errors and p-values are too small: use the prediction, test nothing by it."
)
_USE = (
    "To use it, write it with -o FILE.json, and give --overlap FILE.json to accuracy power, mde or claims."
)


@dataclass(frozen=True, kw_only=True)
class OverlapResult(Result):
    """The regression of agreement, and that of improvements on the accuracy before."""

    schema: ClassVar[str] = "humeval_power/accuracy_overlap/1"

    fitted: FittedOverlap
    improvements: LeastSquares
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """Both regressions and the picture of the pairs."""
        low, high = self.fitted.regression.seen
        agreements = [each.agreement for each in self.fitted.pairs]
        return Document(
            "How often do two systems do alike?",
            lead=f"Two systems are right or wrong together on {percent(min(agreements))} to "
            f"{percent(max(agreements))} of the items. Accuracy and difference explain "
            f"{percent(self.fitted.fit.r_squared)} of how this varies over "
            f"{counted(len(agreements), 'pair')}, the worse systems of accuracies {low:.3f} to {high:.3f}.",
            sections=(
                Section("Agreement", (_table(self.fitted.fit), Paragraph(_fit_line(self.fitted.fit)))),
                Section("Difference", (_table(self.improvements), Paragraph(_fit_line(self.improvements)))),
                Section("", (Paragraph(_LEGEND), Paragraph(_USE), self._picture())),
            ),
        )

    def _picture(self) -> Picture:
        words = "How often the systems of each pair do alike, against the accuracy of the worse."
        return Picture("overlap", self._figure, words=words)

    def _figure(self) -> Figure:
        from humeval_power.reporting.accuracy.overlap_figure import overlap_figure

        return overlap_figure(self.fitted)

    def content(self) -> Record:
        """What a later command reads, and both regressions."""
        return {
            "overlap": asdict(self.fitted.regression),
            "n_pairs": len(self.fitted.pairs),
            "agreement": asdict(self.fitted.fit),
            "difference": asdict(self.improvements),
        }

    def table_rows(self) -> list[Record]:
        """A row for each coefficient of both regressions."""
        both = (("agreement", self.fitted.fit), ("difference", self.improvements))
        return [{"of": of, **asdict(term)} for of, fit in both for term in fit.terms]


def _table(fit: LeastSquares) -> Table:
    return Table(_HEADER, tuple(map(_row, fit.terms)))


def _row(term: Term) -> tuple[str, ...]:
    return (
        term.name,
        f"{term.estimate:.4f}",
        f"{term.standard_error:.4f}",
        f"{term.low:.4f} to {term.high:.4f}",
        p_cell(term.p_value),
    )


def _fit_line(fit: LeastSquares) -> str:
    return (
        f"R2 {fit.r_squared:.3f}, adjusted {fit.adjusted_r_squared:.3f}; residual SD {fit.residual_sd:.4f}; "
        f"F {fit.f_statistic:,.2f} on {len(fit.terms) - 1} and {fit.df:,} df."
    )
