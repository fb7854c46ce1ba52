"""How reliably studies of several sizes order systems: coefficients, what they mean, costs and ceilings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from humeval_power.comparisons.agreement.planning import Generalisability, largest
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Document, Fact, Paragraph, Section, Table
from humeval_power.saying.numbers import decimals, share_decimals
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result

_MEANING = (
    "Order: the share of the variance of observed means that is true differences (E rho^2 of generalisability "
    "theory). Levels: the same where the level itself counts, as for a cut score (Phi). Their error includes how "
    "strict raters and how hard items are, which that of order leaves out; of the variance of systems' differences "
    "over raters and items it has a quarter, that of order a half. So levels can be the larger: where raters and "
    "items differ in level by less than half as much (SD) as in these differences."
)
_IDLE_DOCUMENTS = "These ratings do not vary between documents: --documents changes nothing."
_TWO = "Of two given systems E rho^2 is d^2 / (1 + d^2), d being the difference over its standard error."
_MANY = (
    "Kendall: the expected correlation of the order that is found with the true one; again: of the orders that two "
    "independent studies find. Both are of systems whose true means are normal."
)


@dataclass(frozen=True, kw_only=True)
class ReliabilityStudy(Result):
    """Coefficients of each size, and of the largest with workers without end, and with items without end.
    has_idle_documents : whether documents were given, and nothing varies between them."""

    schema: ClassVar[str] = "humeval_power/agreement_study/1"

    found: tuple[Generalisability, ...]
    ceilings: tuple[Generalisability, ...]
    effect: float | None
    sd_systems: float | None
    n_systems: int
    cost_per_rating: float | None
    setting: str = ""
    has_idle_documents: bool = False

    @property
    def largest(self) -> Generalisability:
        """The size of most items and workers."""
        return largest(self.found)

    def right(self, one: Generalisability) -> float:
        """The chance that a pair is put in the right order."""
        return one.pair_right if self.effect is None else one.right_for(abs(self.effect))

    def ratings(self, one: Generalisability) -> float:
        """Ratings of all systems."""
        return one.size.n_items * one.size.per_item * self.n_systems

    def cost(self, one: Generalisability) -> float | None:
        """Of all ratings."""
        return None if self.cost_per_rating is None else self.ratings(one) * self.cost_per_rating

    def body(self) -> Document:
        more = _MANY if self.effect is None else _TWO
        return Document(
            "How reliably a study orders systems",
            lead=self._lead(),
            headline=self._facts(),
            caveats=(_IDLE_DOCUMENTS,) if self.has_idle_documents else (),
            sections=(
                Section("By size", (self._table(),)),
                Section("What it means", (Paragraph(_MEANING), Paragraph(more))),
            ),
        )

    def _lead(self) -> str:
        largest, right = self.largest, of_hundred(self.right(self.largest))
        what = (
            f"two systems that differ by {abs(self.effect):g} on [0, 1]"
            if self.effect is not None
            else f"two of many systems, whose true means have an SD of {self.sd_systems:g},"
        )
        now, workers, items = (
            "more than 0.99" if 0.995 <= one.ranking < 1 else decimals(one.ranking, 2)
            for one in (largest, *self.ceilings)
        )
        size = f"{largest.size.n_raters:,} workers and {largest.size.n_items:,} items"
        return (
            f"{size} put {what} in the right order in {right} of 100 studies; {now} of the variance of observed "
            f"means would be true differences. With items without end it would be {items}, with workers without "
            f"end {workers}."
        )

    def _facts(self) -> tuple[Fact, ...]:
        systems = (
            f"difference {abs(self.effect):g}" if self.effect is not None else f"SD {self.sd_systems:g}"
        )
        return (("Systems", systems), *((("Variation", self.setting),) if self.setting else ()))

    def _table(self) -> Table:
        costs, many = self.cost_per_rating is not None, self.effect is None
        header = (
            "workers",
            "items",
            "ratings",
            *(("cost",) if costs else ()),
            "order",
            "levels",
            "pair right",
        )
        rows = []
        for one in (*self.found, *self.ceilings):
            ratings, cost = self.ratings(one), self.cost(one)
            priced = (_amount(cost, 2),) if cost is not None else ()
            of_many = (decimals(one.tau, 3), decimals(one.tau_again, 3)) if many else ()
            shares = (share_decimals(value, 3) for value in (one.ranking, one.levels, self.right(one)))
            size = (_amount(one.size.n_raters), _amount(one.size.n_items), _amount(ratings))
            rows.append((*size, *priced, *shares, *of_many))
        return Table((*header, *(("Kendall", "again") if many else ())), tuple(rows))

    def content(self) -> Record:
        return {
            **values(self, "effect", "sd_systems", "n_systems", "setting"),
            "rows": [self._record(one) for one in self.found],
            "ceilings": [self._record(one) for one in self.ceilings],
        }

    def _record(self, one: Generalisability) -> Record:
        def finite(value: float | None) -> float | None:
            return value if value is not None and math.isfinite(value) else None

        return {
            "workers": finite(one.size.n_raters),
            "items": finite(one.size.n_items),
            "ratings_per_item": finite(one.size.ratings_per_item),
            "documents": finite(one.size.n_documents),
            "ratings": finite(self.ratings(one)),
            "cost": finite(self.cost(one)),
            "relative_error": one.relative,
            "absolute_error": one.absolute,
            "ranking": one.ranking,
            "levels": one.levels,
            "pair_right": self.right(one),
            "tau": one.tau if self.effect is None else None,
            "tau_again": one.tau_again if self.effect is None else None,
        }


def _amount(value: float, digits: int = 0) -> str:
    return f"{value:,.{digits}f}" if math.isfinite(value) else "endless"
