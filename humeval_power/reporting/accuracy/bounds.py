"""What a test set can show where the agreement of two systems is not known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from humeval_power.choices import PairedTest
from humeval_power.planning.accuracy.detectable import DetectableAccuracy
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.document import Block, Document, Paragraph, Section, Table
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.scenarios.accuracy.agreement import FITTED_ACCURACIES

_TITLES = {
    "least": "the least possible (worst)",
    "middle": "half-way (Lachenbruch 1992)",
    "most": "the most possible (best)",
    "glue": "as GLUE systems agree",
    "squad": "as SQuAD 2.0 systems agree",
    "unpaired": "none: items of their own",
}
_CARD2020 = {  # their columns, in their order
    "unpaired": "binomial: items of their own",
    "middle": "Lachenbruch: half-way",
    "most": "Lachenbruch, lower: the most possible",
    "least": "Lachenbruch, upper: the least possible",
    "glue": "regression: as GLUE systems agree",
    "squad": "regression: as SQuAD 2.0 systems agree",
}
_NO_ROOM = (
    "Computed as in Tables 2 and 9 of Card et al. (2020), which do not ask whether the accuracy of A leaves room: "
    "what is above the largest possible cannot be gained. Without --compat it is not shown."
)
_EXPECTED = (
    "expected: what a regression of the claims on GLUE on baseline and task lets one expect over this baseline "
    "(Table 7)."
)
_NONE_POSSIBLE = (
    "None possible: even the largest improvement that the agreement and the accuracy of A leave room for is "
    "found too rarely (where that is 0, the agreement itself is impossible)."
)


@dataclass(frozen=True, kw_only=True)
class BoundsResult(Result):
    """The smallest improvement found, by how the agreement is guessed; accuracies as shares.

    `expected` is what Card et al. (2020) expect of each GLUE task; where it is there, `found` is as they
    computed it.
    """

    schema: ClassVar[str] = "humeval_power/accuracy_bounds/1"

    n: int
    baseline: float
    test: PairedTest
    power: float
    alpha: float
    found: Mapping[str, DetectableAccuracy]
    expected: Mapping[str, float] = field(default_factory=dict)
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """A baseline that the regressions have not seen."""
        low, high = FITTED_ACCURACIES
        if low <= self.baseline <= high:
            return ()
        return (f"The regressions have seen accuracies of {low:g} to {high:g} only.",)

    def body(self) -> Document:
        """The smallest improvement for each way of guessing the agreement."""
        return Document(
            f"The smallest improvement that {counted(self.n, 'item')} can show",
            lead=self._lead(),
            caveats=self.remarks,
            sections=(Section("", tuple(self._blocks())),),
        )

    def _lead(self) -> str:
        method = (
            f"A is right on {100 * self.baseline:.4g} % of the items; McNemar's test ({self.test}), alpha "
            f"{self.alpha:g}. Improvements are in points of 100."
        )
        possible = [100 * each.effect for each in self.found.values() if each.is_possible]
        if not possible:
            return f"No improvement is found by {of_hundred(self.power)} of 100 such studies. {method}"
        somewhere = ", where it is possible at all" if len(possible) < len(self.found) else ""
        return (
            f"The smallest improvement that {of_hundred(self.power)} of 100 such studies find is "
            f"{min(possible):.3g} to {max(possible):.3g} points, by how often the systems agree"
            f"{somewhere}. {method}"
        )

    def _blocks(self) -> Iterator[Block]:
        if self.expected:
            rows = [_row(title, self.found[name])[:3] for name, title in _CARD2020.items()]
            yield Table(("column", "smallest", "largest possible"), tuple(rows))
            yield Paragraph(_NO_ROOM)
            gains = [(task, f"{100 * gain:+.2f}") for task, gain in self.expected.items()]
            yield Table(("task", "expected"), tuple(gains))
            yield Paragraph(_EXPECTED)
            return
        header = ("agreement", "smallest", "largest possible", "its power")
        yield Table(header, tuple(_row(title, self.found[name]) for name, title in _TITLES.items()))
        if any(not each.is_possible for each in self.found.values()):
            yield Paragraph(_NONE_POSSIBLE)

    def content(self) -> Record:
        """What was asked, and the improvements as shares."""
        return {
            "n": self.n,
            "baseline": self.baseline,
            "test": self.test,
            "power": self.power,
            "alpha": self.alpha,
            "found": {name: asdict(each) for name, each in self.found.items()},
            **({"compat": "card2020", "expected": dict(self.expected)} if self.expected else {}),
        }

    def table_rows(self) -> list[Record]:
        """A row for each guess of the agreement."""
        return [{"agreement": name, **asdict(each)} for name, each in self.found.items()]


def _row(title: str, each: DetectableAccuracy) -> tuple[str, ...]:
    return (
        title,
        f"{100 * each.effect:.3g}" if each.is_possible else "none possible",
        f"{100 * each.largest:.3g}",
        "" if math.isnan(each.best_power) else f"{each.best_power:.3f}",
    )
