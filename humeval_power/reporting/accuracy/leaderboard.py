"""Submissions to a leaderboard in order of time, each beside the best before it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.choices import PairedTest, PowerOn
from humeval_power.planning.accuracy.leaderboard import JudgedSubmission
from humeval_power.reporting.document import Document, Paragraph, Picture, Points, Section, Table
from humeval_power.reporting.numbers import counted, p_cell
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

_NO_POWER = "Without a column 'validation' no power is known: significance alone decides."
_ON = {
    "test": "the power is that of the test set",
    "validation": "the power is that which the validation set would have",
}
_LEGEND = (
    "power: of a significant improvement, if that on the validation set is true; agree: items on which both are "
    "right or both wrong. Accuracies and agreement in per cent."
)


@dataclass(frozen=True, kw_only=True)
class LeaderboardResult(Result):
    """Every submission but the first as it was judged, on a test set of `n` items."""

    schema: ClassVar[str] = "humeval_power/accuracy_leaderboard/1"

    judged: tuple[JudgedSubmission, ...]
    n: int
    overlap: str
    test: PairedTest
    power: float
    alpha: float
    n_validation: int | None = None
    power_on: PowerOn = "test"
    said: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading, and that no power is known."""
        return (*self.said, *self._caveats())

    def _caveats(self) -> tuple[str, ...]:
        known = any(not math.isnan(each.power) for each in self.judged)
        return () if known else (_NO_POWER,)

    @property
    def n_powered(self) -> int:
        """Submissions whose improvement on the validation set promised the target power."""
        return sum(each.power >= self.power for each in self.judged)

    def body(self) -> Document:
        """How many were a new best, then a row for each submission."""
        best = sum(each.is_best for each in self.judged)
        lucky = sum(each.is_significant and not each.is_best for each in self.judged)
        header = ("system", "date", "accuracy", "to best", "agree", "power", "p", "verdict")
        return Document(
            "Which submissions were improvements one can trust?",
            lead=f"{best} of {counted(len(self.judged), 'submission')} {'is' if best == 1 else 'are'} a new best; "
            f"{lucky or 'none'} more {'are' if lucky > 1 else 'is'} significant without the power. A test set of "
            f"{counted(self.n, 'item')}, power {self.power:g}, alpha {self.alpha:g}.",
            caveats=self._caveats(),
            sections=(
                Section("", (Points(self._counted()),)),
                Section("", (Table(header, tuple(map(_row, self.judged))), Paragraph(_LEGEND))),
                Section("", self._pictures()),
            ),
        )

    def _counted(self) -> tuple[str, ...]:
        """How many had the power, and what their improvements let one expect next."""
        guessed = "guessed from the accuracy of the better one before"
        if self.n_validation is not None:
            guessed = f"that on {counted(self.n_validation, 'item')} of the validation set"
        agreement = f"The agreement of two systems is {guessed}."
        if self._caveats():
            return (agreement,)
        said = f"{self.n_powered} of {len(self.judged)} had power {self.power:g} or more, of which "
        n_best = sum(each.is_best for each in self.judged)
        said += f"{n_best} {'is' if n_best == 1 else 'are'} significant; {_ON[self.power_on]}."
        return (said, agreement)

    def _pictures(self) -> tuple[Picture, ...]:
        words = "The accuracy of each submission in order of time, with a line through the best so far."
        return (Picture("leaderboard", self._figure, words=words),) if self.judged else ()

    def _figure(self) -> Figure:
        from humeval_power.reporting.accuracy.figures import leaderboard_figure

        return leaderboard_figure(self.judged)

    def content(self) -> Record:
        """What was asked, and the submissions."""
        return {
            "n": self.n,
            "overlap": self.overlap if self.n_validation is None else None,
            "test": self.test,
            "power": self.power,
            "alpha": self.alpha,
            "n_validation": self.n_validation,
            "power_on": self.power_on,
            "n_powered": self.n_powered,
            "submissions": [asdict(each) for each in self.judged],
        }

    def table_rows(self) -> list[Record]:
        """A row for each submission."""
        rows = [asdict(each) for each in self.judged]
        return [{**row.pop("submission"), **row} for row in rows]


def _row(each: JudgedSubmission) -> tuple[str, ...]:
    return (
        each.submission.name,
        each.submission.date,
        f"{100 * each.submission.accuracy:.2f}",
        f"{100 * each.improvement:+.2f}",
        f"{100 * each.agreement:.1f}",
        "-" if math.isnan(each.power) else f"{each.power:.2f}",
        p_cell(each.p_value),
        "new best" if each.is_best else "underpowered" if each.is_significant else "",
    )
