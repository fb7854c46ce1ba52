"""How many raters and outputs agreement takes: the cheapest design, the widths of all, and what none reaches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.agreement.planning import (
    FEWEST_OUTPUTS,
    AgreementDesign,
    AgreementTarget,
    Expected,
    cheapest,
)
from humeval_power.comparisons.agreement.planning_categories import (
    ExpectedCategories,
    outputs_of_two_raters,
)
from humeval_power.saying.document import Document, Fact, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, decimals, level_of, percent
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
    """Designs by their number of raters, and the widths of the sizes that were asked for. widths : half-widths
    by raters (as in `found`) and outputs. least_raters : the fewest that have the width with outputs without
    end, where no number of outputs does for those that were asked for."""

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
        unlimited = "without end"
        widths = Table(
            ("raters", *(f"{n:,} outputs" for n in self.outputs), unlimited),
            tuple(
                (
                    f"{one.n_raters:,}",
                    *(decimals(width, 3) for width in row),
                    decimals(one.floor, 3),
                )
                for one, row in zip(self.found, self.widths, strict=True)
            ),
            f"Half-widths: {self._how}.",
        )
        return Document(
            "Raters and outputs for a known agreement",
            lead=self._lead(),
            headline=self._facts(),
            caveats=self._caveats(),
            sections=(
                Section("How well agreement is known", (widths,)),
                Section("By number of raters", (self._designs(),)),
                Section(
                    "What it rests on",
                    (
                        Paragraph(
                            _OF_CATEGORIES if isinstance(self.known, ExpectedCategories) else _ASSUMED
                        ),
                    ),
                ),
            ),
        )

    @property
    def _how(self) -> str:
        level = f"{level_of(self.target.confidence)} interval"
        if self.target.assurance is None:
            return f"{level}, on average"
        return f"{level}, in {100 * self.target.assurance:g} % of studies"

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
            most_outputs = counted(self.target.most_outputs, "output")
            return (
                f"None of these numbers of raters lets agreement be known to within {h} ({self._how}) with up to "
                f"{most_outputs}.{least}"
            )
        return (
            f"{best.n_raters:,} raters and {counted(best.n_outputs or 0, 'output')} let agreement be known to "
            f"within {h} ({self._how}): {self._ratings(best):,} ratings, the cheapest that was found.{least}"
        )

    def _ratings(self, one: AgreementDesign) -> int:
        return (one.n_outputs or 0) * (self.target.ratings_per_output or one.n_raters)

    def _facts(self) -> tuple[Fact, ...]:
        known = self.known
        if isinstance(known, ExpectedCategories):
            shares = ", ".join(f"{one:g}" for one in known.shares)
            return (
                (
                    "Expected",
                    f"{_MEASURES[known.measure]} {decimals(known.agreement, 2)}; shares of categories {shares}; "
                    f"of the scale that is cut outputs are {percent(known.output_share)} of the variance, raters' "
                    f"levels {percent(known.rater_share)}, error {percent(known.error_share)}",
                ),
                *self._two_raters(known),
            )
        return (
            (
                "Expected",
                f"agreement {decimals(known.agreement, 2)}; raters' levels are {percent(known.rater_share)} of the "
                f"variance of a rating, error {percent(known.error_share)}",
            ),
        )

    def _two_raters(self, known: ExpectedCategories) -> Iterator[Fact]:
        """What two given raters need, of yes and no; nothing about others."""
        if known.measure != "kappa" or len(known.shares) != 2:
            return
        share, target = min(known.shares), self.target
        n = math.ceil(outputs_of_two_raters(known.agreement, share, target.half_width, target.confidence))
        rare = "; more, as the rarer answer is given so seldom" if n * share < _RARE else ""
        yield (
            "Two given raters",
            f"{counted(n, 'output')} by formula, about these two alone (Bloch and Kraemer 1989){rare}",
        )

    def _caveats(self) -> tuple[str, ...]:
        said = []
        if self.target.ratings_per_output is not None:
            said.append(
                "Not every rater rates every output: the widths are approximate, as the intervals will be."
            )
        if isinstance(self.known, ExpectedCategories) and any(one.n_raters == 2 for one in self.found):
            said.append("Two raters do not show how raters differ: of them no width is given.")
        elif any(one.n_raters == 2 for one in self.found):
            said.append("Two raters hardly show how raters differ: their interval rests on one comparison.")
        return tuple(said)

    def _designs(self) -> Table:
        return table(
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
            f"{FEWEST_OUTPUTS} are not tried. These raters alone: outputs for a claim about no other raters"
            + (
                ", by the interval over outputs."
                if isinstance(self.known, ExpectedCategories)
                else ", by ICC(3,1) (Bonett 2002)."
            ),
        )

    def content(self) -> Record:
        best = self.best
        return {
            "known": {
                **asdict(self.known),
                "error_share": self.known.error_share,
                **(
                    {"output_share": self.known.output_share}
                    if isinstance(self.known, ExpectedCategories)
                    else {}
                ),
            },
            "target": {name: value for name, value in asdict(self.target).items() if name != "seed"},
            "best": None if best is None else _record(best),
            "least_raters": self.least_raters,
            "outputs": list(self.outputs),
            "widths": [[width if math.isfinite(width) else None for width in row] for row in self.widths],
            "rows": [_record(one) for one in self.found],
        }


def _record(one: AgreementDesign) -> Record:
    return {
        name: None if value is not None and value != value else value for name, value in asdict(one).items()
    }
