"""How many items a comparison needs, and the p that the bootstrap primer would expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.inference.clustered import Direction
from humeval_power.planning.compare.power import RequiredItems
from humeval_power.planning.compare.primer import PrimerCell
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.chart import Chart, Series
from humeval_power.reporting.compare.charts import power_chart
from humeval_power.reporting.document import (
    Block,
    Document,
    Fact,
    Facts,
    Paragraph,
    Picture,
    Section,
    Table,
)
from humeval_power.reporting.numbers import counted, p_cell
from humeval_power.reporting.questions.wording import higher
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class ProspectiveResult(Result):
    """The items that find a mean difference, or show equivalence within `margin`; `curve` is the power by
    number of items."""

    schema: ClassVar[str] = "humeval_power/compare_prospective/2"

    mean: float
    sd: float
    margin: float | None
    target: float
    alpha: float
    alternative: Direction
    found: RequiredItems
    curve: tuple[tuple[int, float], ...]
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The number of items, and what it is for."""
        found = self.found
        return Document(
            "Items that the comparison needs",
            lead=f"{counted(found.n, 'item')} would do: then {of_hundred(found.power)} of 100 such studies "
            f"{self._finding()}. By formula.",
            headline=(
                ("Items", f"{found.n:,}"),
                ("Power", f"{found.power:.4f}"),
            ),
            sections=(Section("", (Facts(self._how()), self._chart())),),
        )

    def _finding(self) -> str:
        amount = f"{abs(self.mean):g} {higher(self.mean)}"
        if self.margin is None:
            return f"find that B scores {amount} than A on average"
        actual = f"B really scores {amount}" if self.mean else "they really score alike"
        return f"show that A and B score alike within {self.margin:g}, if {actual}"

    def _how(self) -> tuple[Fact, ...]:
        return (
            ("Test", self._test()),
            ("SD", f"{self.sd:g} of the differences: the mean is {self.mean / self.sd:.3g} SDs"),
            ("By formula", f"{self.found.exact_n:.2f} items, rounded up"),
        )

    def _test(self) -> str:
        if self.margin is None:
            return f"paired t test, {self.alternative}, alpha {self.alpha:g}"
        return f"two one-sided t tests, alpha {self.alpha:g} each"

    def _chart(self) -> Chart:
        n, powers = zip(*self.curve, strict=True)
        return power_chart(
            (Series("line", "by formula", tuple(map(float, n)), powers),),
            at=(self.found.n, self.found.power),
            target=self.target,
            words=f"Power against the number of items, {self._test()}: {self.target:g} is reached with "
            f"{counted(self.found.n, 'item')}.",
        )

    def content(self) -> Record:
        """What was asked, and the items."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "margin": self.margin,
            "target_power": self.target,
            "alpha": self.alpha,
            "alternative": self.alternative,
            **asdict(self.found),
        }


@dataclass(frozen=True, kw_only=True)
class PrimerResult(Result):
    """Expected p-values of the bootstrap primer, for given counts exact."""

    schema: ClassVar[str] = "humeval_power/primer_table/1"

    cells: tuple[PrimerCell, ...]
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """A table for each number of items: shares hurt down, effects across."""
        sizes = dict.fromkeys(cell.n_items for cell in self.cells)
        return Document(
            "The p that the bootstrap primer should expect",
            lead="The p to expect is below, by number of items, difference of accuracy, and share of items that "
            "B gets wrong and A right (hurt). It is one-sided and not centred at the null: no test.",
            sections=(
                *(Section(counted(n, "item"), (self._table(n),)) for n in sizes),
                Section("", tuple(self._ending())),
            ),
        )

    def _table(self, n: int) -> Table:
        mine = [cell for cell in self.cells if cell.n_items == n]
        effects = list(dict.fromkeys(cell.effect for cell in mine))
        found = {(cell.hurt, cell.effect): cell for cell in mine}
        rows = tuple(
            (f"{share:.3g}", *(_p(found.get((share, effect))) for effect in effects))
            for share in dict.fromkeys(cell.hurt for cell in mine)
        )
        return Table(("hurt", *(f"effect {100 * effect:.3g} %" for effect in effects)), rows)

    def _ending(self) -> Iterator[Block]:
        if any(cell.n_helped == cell.n_hurt for cell in self.cells):
            yield Paragraph("-: an effect of less than one item")
        if any(cell.n_helped > cell.n_hurt for cell in self.cells):
            words = "Expected p against the share of items hurt, a line for each effect."
            yield Picture("primer", self._figure, words=words)

    def _figure(self) -> Figure:
        from humeval_power.reporting.compare.figures import primer_figure

        return primer_figure(self.cells)

    def content(self) -> Record:
        """The cells."""
        return {"rows": [asdict(cell) for cell in self.cells]}


def _p(cell: PrimerCell | None) -> str:
    if cell is None:
        return ""
    return "-" if cell.n_helped == cell.n_hurt else p_cell(cell.p_value)
