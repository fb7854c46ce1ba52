"""How many raters and outputs agreement takes: the cheapest design, the widths of all, and what none reaches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.agreement.planning import (
    FEWEST_OUTPUTS,
    AgreementDesign,
    AgreementTarget,
    Expected,
    ExpectedCategories,
    Generalisability,
    cheapest,
    largest,
    outputs_of_two_raters,
)
from humeval_power.comparisons.agreement.result_report import finite
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Document, Fact, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, decimals, level_of, percent, share_decimals
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table

_OF_CATEGORIES = (
    "Ratings are a normal sum of output, rater's level and error, cut into categories with these shares; studies "
    "were drawn, with the interval by jackknives over outputs and over raters. Kinds without an order are drawn as "
    "if they had one. A study without an interval counts as a half-width of 1. The width is of other raters like "
    "these."
)
_MEASURES = {"kappa": "kappa", "ac1": "Gwet's AC1", "alpha_nominal": "nominal alpha"}
_RARE = 20  # outputs of the rarer kind, below which the formula of two given raters promises too much
_ASSUMED = (
    "Outputs, raters and error are taken as normal. Where half of the ratings or more are one answer intervals are "
    "wider; simulate such a study. The width is of alpha, or ICC(2,1), of other raters like these."
)


@dataclass(frozen=True, kw_only=True)
class AgreementPlan(Result):
    """Designs by their number of raters, and the widths of the sizes that were asked for.

    widths : half-widths by raters (as in `found`) and outputs. least_raters : the fewest that have the width with
        outputs without end, where no number of outputs does for those that were asked for.
    """

    schema: ClassVar[str] = "humeval_power/agreement_plan/1"

    known: Expected
    target: AgreementTarget
    outputs: tuple[int, ...]
    widths: tuple[tuple[float, ...], ...]
    found: tuple[AgreementDesign, ...]
    least_raters: int | None = None

    @property
    def best(self) -> AgreementDesign | None:
        """The cheapest design that has the width; None where none has."""
        return cheapest(self.found)

    @property
    def missed(self) -> str:
        return "" if self.best else "No design that was tried has the width."

    def body(self) -> Document:
        widths = Table(
            ("raters", *(f"{n:,} outputs" for n in self.outputs), "without end"),
            tuple(
                (f"{one.n_raters:,}", *(decimals(width, 3) for width in (*row, one.floor)))
                for one, row in zip(self.found, self.widths, strict=True)
            ),
            f"Half-widths: {self._how}.",
        )
        assumed, these = _ASSUMED, "ICC(3,1) (Bonett 2002)"
        if isinstance(self.known, ExpectedCategories):
            assumed, these = _OF_CATEGORIES, "the interval over outputs"
        designs = table(
            self.found,
            {
                "raters": lambda one: f"{one.n_raters:,}",
                "outputs": lambda one: "none" if one.n_outputs is None else f"{one.n_outputs:,}",
                "ratings": lambda one: "none" if one.n_outputs is None else f"{self._ratings(one):,}",
                "half-width": lambda one: "none" if one.cost is None else decimals(one.half_width, 3),
                "cost": lambda one: "none" if one.cost is None else f"{one.cost:,.2f}",
                "these raters alone": lambda one: f"{one.these_raters:,}",
            },
            f"Fewest outputs that do (none: no number up to {self.target.most_outputs:,} does); fewer than "
            f"{FEWEST_OUTPUTS} are not tried. These raters alone: outputs for a claim about no other raters, by "
            f"{these}.",
        )
        return Document(
            "Raters and outputs for a known agreement",
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=tuple(self._caveats()),
            sections=(
                Section("How well agreement is known", (widths,)),
                Section("By number of raters", (designs,)),
                Section("What it rests on", (Paragraph(assumed),)),
            ),
        )

    @property
    def _how(self) -> str:
        share = self.target.assurance
        of = "on average" if share is None else f"in {100 * share:g} % of studies"
        return f"{level_of(self.target.confidence)} interval, {of}"

    def _lead(self) -> str:
        best, h = self.best, f"{self.target.half_width:g}"
        hopeless = [one for one in self.found if one.floor > self.target.half_width]
        least = ""
        if hopeless:
            most = max(hopeless, key=lambda one: one.n_raters)
            floor = decimals(most.floor, 2)
            floor = floor if float(floor) > self.target.half_width else f"a little more than {h}"
            least = (
                f" With {most.n_raters:,} raters{'' if len(hopeless) == 1 else ' or fewer'} no number of outputs "
                f"will do: theirs is known to within {floor} at best."
            )
        if self.least_raters is not None:
            least += f" It takes {self.least_raters:,} raters or more."
        if best is None:
            return (
                f"None of these numbers of raters lets agreement be known to within {h} ({self._how}) with up to "
                f"{counted(self.target.most_outputs, 'output')}.{least}"
            )
        return (
            f"{best.n_raters:,} raters and {counted(best.n_outputs or 0, 'output')} let agreement be known to "
            f"within {h} ({self._how}): {self._ratings(best):,} ratings, the cheapest that was found.{least}"
        )

    def _ratings(self, one: AgreementDesign) -> int:
        return (one.n_outputs or 0) * (self.target.ratings_per_output or one.n_raters)

    def _facts(self) -> Iterator[Fact]:
        known, target = self.known, self.target
        agreement, levels = decimals(known.agreement, 2), percent(known.rater_share)
        error = percent(known.error_share)
        if not isinstance(known, ExpectedCategories):
            yield (
                "Expected",
                f"agreement {agreement}; raters' levels are {levels} of the variance of a rating, error {error}",
            )
            return
        shares = ", ".join(f"{one:g}" for one in known.shares)
        yield (
            "Expected",
            f"{_MEASURES[known.measure]} {agreement}; shares of categories {shares}; of the scale that is cut "
            f"outputs are {percent(known.output_share)} of the variance, raters' levels {levels}, error {error}",
        )
        if known.measure == "kappa" and len(known.shares) == 2:
            share = min(known.shares)
            n = math.ceil(
                outputs_of_two_raters(known.agreement, share, target.half_width, target.confidence)
            )
            rare = "; more, as the rarer answer is given so seldom" if n * share < _RARE else ""
            yield (
                "Two given raters",
                f"{counted(n, 'output')} by formula, about these two alone (Bloch and Kraemer 1989){rare}",
            )

    def _caveats(self) -> Iterator[str]:
        if self.target.ratings_per_output is not None:
            yield "Not every rater rates every output: the widths are approximate, as the intervals will be."
        if any(one.n_raters == 2 for one in self.found):
            if isinstance(self.known, ExpectedCategories):
                yield "Two raters do not show how raters differ: of them no width is given."
            else:
                yield "Two raters hardly show how raters differ: their interval rests on one comparison."

    def content(self) -> Record:
        best, known = self.best, {**asdict(self.known), "error_share": self.known.error_share}
        if isinstance(self.known, ExpectedCategories):
            known["output_share"] = self.known.output_share
        return {
            "known": known,
            "target": {name: value for name, value in asdict(self.target).items() if name != "seed"},
            "best": None if best is None else _record(best),
            "least_raters": self.least_raters,
            "outputs": list(self.outputs),
            "widths": [list(map(finite, row)) for row in self.widths],
            "rows": [_record(one) for one in self.found],
        }


def _record(one: AgreementDesign) -> Record:
    return {
        name: None if value is not None and value != value else value for name, value in asdict(one).items()
    }


# How reliably studies of several sizes order systems: coefficients, what they mean, costs and ceilings.

_MEANING = (
    "Reliability: the share of the variance of observed means that is true differences (E rho^2 of "
    "generalisability theory). Of levels: the same where the level itself counts, as for a cut score (Phi). There "
    "it is error too how strict raters and how hard items are, but of the variance of systems' differences over "
    "raters and items only a quarter, not half. So it is the larger of the two where raters and items differ in "
    "level by less than half as much (SD) as in these differences. Pair right: the chance that two "
    "systems stand in the right order."
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

    has_idle_documents : whether documents were given, and nothing varies between them.
    """

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

    def body(self) -> Document:
        more = _MANY if self.effect is None else _TWO
        return Document(
            "How reliably a study orders systems",
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=(_IDLE_DOCUMENTS,) if self.has_idle_documents else (),
            sections=(
                Section("By size", (self._table(),)),
                Section("What it means", (Paragraph(_MEANING), Paragraph(more))),
            ),
        )

    def _lead(self) -> str:
        largest, right = self.largest, of_hundred(self.right(self.largest))
        if self.effect is None:
            what = f"two of many systems, whose true means have an SD of {self.sd_systems:g},"
        else:
            what = f"two systems that differ by {abs(self.effect):g} on [0, 1]"
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

    def _facts(self) -> Iterator[Fact]:
        of = f"SD {self.sd_systems:g}" if self.effect is None else f"difference {abs(self.effect):g}"
        yield "Systems", of
        if self.setting:
            yield "Variation", self.setting

    def _table(self) -> Table:
        columns: dict[str, Callable[[Generalisability], str]] = {
            "workers": lambda one: _amount(one.size.n_raters),
            "items": lambda one: _amount(one.size.n_items),
            "ratings": lambda one: _amount(self.ratings(one)),
        }
        if (price := self.cost_per_rating) is not None:
            columns["cost"] = lambda one: _amount(self.ratings(one) * price, 2)
        columns |= {
            "reliability": lambda one: share_decimals(one.ranking, 3),
            "of levels": lambda one: share_decimals(one.levels, 3),
            "pair right": lambda one: share_decimals(self.right(one), 3),
        }
        if self.effect is None:
            columns["Kendall"] = lambda one: decimals(one.tau, 3)
            columns["again"] = lambda one: decimals(one.tau_again, 3)
        return table(
            (*self.found, *self.ceilings), columns, f"Ratings of {counted(self.n_systems, 'system')}."
        )

    def content(self) -> Record:
        return {
            **values(self, "effect", "sd_systems", "n_systems", "setting"),
            "rows": list(map(self._record, self.found)),
            "ceilings": list(map(self._record, self.ceilings)),
        }

    def _record(self, one: Generalisability) -> Record:
        price, many = self.cost_per_rating, self.effect is None
        sizes = {
            "workers": one.size.n_raters,
            "items": one.size.n_items,
            "ratings_per_item": one.size.ratings_per_item,
            "documents": one.size.n_documents,
            "ratings": self.ratings(one),
            "cost": None if price is None else self.ratings(one) * price,
        }
        return {
            **{name: finite(value) for name, value in sizes.items()},
            "relative_error": one.relative,
            "absolute_error": one.absolute,
            **values(one, "ranking", "levels"),
            "pair_right": self.right(one),
            "tau": one.tau if many else None,
            "tau_again": one.tau_again if many else None,
        }


def _amount(value: float, digits: int = 0) -> str:
    return f"{value:,.{digits}f}" if math.isfinite(value) else "endless"
