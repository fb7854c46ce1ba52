"""Agreement of raters in words, in a table and as a record: each measure with both claims."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from humeval_power.checking.columns import shortened
from humeval_power.comparisons.agreement.claims import FEWEST_OTHERS, SystemAgreement
from humeval_power.inference.item_bootstrap import Measure, undefined
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.document import Document, Fact, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, decimals, interval_words, percent
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, signature, table

_FEW_OUTPUTS = 10
_MOST_SHOWN = 2  # systems whose measures are printed without being asked for details
_NOT_ASKED = undefined("")
_ALPHA = {"ordinal": "Krippendorff's ordinal alpha", "interval": "Krippendorff's interval alpha"}
_MEANING = (
    "1 is perfect agreement, 0 what chance gives. These raters: they rate other outputs. Other raters: people like "
    "them, chosen anew, rate other outputs; that is what a reader takes agreement to be. Alpha of other raters is "
    "what it comes to with many of them."
)
_ICC = (
    "ICC(2,.) counts differences of level between raters as error, ICC(3,.) does not. Mean: the mean rating of an "
    "output, as a study uses it. Kappa and the share of equal ratings are of pairs of raters."
)


class ShownMeasure(NamedTuple):
    """A measure by its key in the record and its name in the table."""

    key: str
    name: str
    these: Measure
    other: Measure


@dataclass(frozen=True, kw_only=True)
class AgreementReport(PaperResult):
    """Agreement within each system, and of all together where there are several."""

    schema: ClassVar[str] = "humeval_power/agreement_report/1"

    rows: tuple[SystemAgreement, ...]
    source: str
    confidence: float
    notices: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(f"{self.source}: {notice}" for notice in self.notices)

    @property
    def systems(self) -> tuple[SystemAgreement, ...]:
        """Those of one system each."""
        return tuple(one for one in self.rows if one.found.system is not None)

    def answer(self) -> Document:
        several = len(self.systems) > 1
        sections = [Section("Within each system", (self._by_system(),))] if several else []
        for one in self.systems:
            title = f"Measures, {shortened(str(one.found.system))}" if several else "Measures"
            blocks = (self._measures(one), *((Paragraph(_ICC),) if one is self.systems[0] else ()))
            sections.append(Section(title, blocks, is_detail=len(self.systems) > _MOST_SHOWN))
        if several:
            sections.append(
                Section(
                    "All systems together",
                    (
                        Paragraph(
                            "Differences between systems count as agreement here, and raise it: report it within "
                            "systems first. Of other raters nothing is said."
                        ),
                        self._measures(self.rows[0]),
                    ),
                    is_detail=True,
                )
            )
        return Document(
            "Agreement of raters",
            lead=self._lead(),
            headline=self._facts(),
            caveats=tuple(self._caveats()),
            sections=(*sections, Section("What it means", (Paragraph(_MEANING),))),
        )

    def _lead(self) -> str:
        known = [one for one in self.systems if one.these.is_defined]
        if not known:
            first = next(one for one in self.systems if one.found.n_outputs)
            if first.all_agree:
                return (
                    f"All raters gave every output the same rating ({counted(first.found.n_outputs, 'output')}), "
                    "so that agreement beyond chance is not defined; "
                    f"{self._agreed(first)}."
                )
            return f"Agreement is not defined: {first.these.reason}."
        if len(self.systems) == 1:
            return self._of_one(known[0])
        lead = (
            max if all(math.isfinite(one.other.low) and one.found.n_workers > 2 for one in known) else None
        )
        if lead is None:
            low, high = (f(known, key=lambda one: one.these.value) for f in (min, max))
            return (
                f"Within a system these raters agree at {self._of(low, low.these)} to "
                f"{self._of(high, high.these)}: {_ALPHA[low.level]}, with {self._level} intervals about other "
                "outputs and not about other raters."
            )
        low, high = (f(known, key=lambda one: one.other.value) for f in (min, max))
        return (
            f"Within a system, other raters like these {low.found.n_workers:,} would agree at "
            f"{self._of(low, low.other)} to {self._of(high, high.other)}: {_ALPHA[low.level]} with many raters, "
            f"with {self._level} intervals."
        )

    def _of_one(self, one: SystemAgreement) -> str:
        m, alpha = one.found.n_workers, _ALPHA[one.level]
        on_others = f"on other outputs ({_ends(one.these)})" if math.isfinite(one.these.low) else "here"
        if one.all_agree:
            return (
                f"These {m:,} raters agree on every output: {alpha} is 1, without an interval; "
                f"{self._agreed(one)}."
            )
        if m == 2 or not math.isfinite(one.other.low):
            why = (
                "Two raters hardly show how far other raters would agree."
                if m == 2
                else f"Of other raters nothing can be said: {one.other.reason}."
            )
            reach = f"; {self._level} interval {_ends(one.these)} about other outputs"
            reach = reach if math.isfinite(one.these.low) else ""
            return f"These {m:,} raters agree at {decimals(one.these.value, 2)} ({alpha}{reach}). {why}"
        floor = (
            f" However many outputs they rate, agreement of {m:,} raters is known to within "
            f"{decimals(one.floor, 2)} on average."
            if one.floor >= 0.005 and one.n_others is None
            else ""
        )
        return (
            f"Other raters like these {m:,} would agree at {decimals(one.other.value, 2)} ({alpha} with many "
            f"raters; {self._level} interval {_ends(one.other)}). These {m:,} agree at "
            f"{decimals(one.these.value, 2)} {on_others}.{floor}"
        )

    def _of(self, one: SystemAgreement, value: Measure) -> str:
        return f"{decimals(value.value, 2)} ({shortened(str(one.found.system))}; {_ends(value)})"

    def _agreed(self, one: SystemAgreement) -> str:
        least = percent(one.least_share_agreed)
        return f"with {self._level} confidence they agree on at least {least} of such outputs"

    @property
    def _level(self) -> str:
        return f"{100 * self.confidence:g} %"

    def _facts(self) -> tuple[Fact, ...]:
        first = self.rows[0].found
        return (
            (
                "Ratings",
                f"{first.n_ratings:,} by {counted(first.n_workers, 'rater')} of "
                f"{counted(first.n_outputs, 'output')} that two or more rated: "
                f"{counted(first.n_pairs, 'pair')} of ratings",
            ),
        )

    def _caveats(self) -> Iterator[str]:
        rated = [one for one in self.systems if one.found.n_outputs]
        few = [one for one in rated if one.found.n_outputs < _FEW_OUTPUTS]
        if few:
            yield (
                f"{self._names(few)}{counted(few[0].found.n_outputs, 'output')} only were rated by two raters: "
                f"below {_FEW_OUTPUTS} intervals say little."
            )
        rare = [
            one
            for one in rated
            if one.n_others is not None and one.n_values > 1 and one.n_others < FEWEST_OTHERS
        ]
        if rare:
            yield (
                f"{self._names(rare)}{counted(rare[0].n_others or 0, 'rating')} only differ from the commonest: "
                f"below {FEWEST_OTHERS} the intervals of kappa and alpha hold too seldom; that of AC1 "
                "holds."
            )
        parts = [one for one in rated if one.strata.n_parts > 1]
        if parts:
            yield (
                f"{self._names(parts)}raters and outputs fall into {parts[0].strata.n_parts:,} groups without a "
                "rater in common: raters are compared within their group alone."
            )
        if any(not one.strata.is_complete for one in rated):
            yield (
                "Not every rater rated every output: intervals about other raters are approximate. In simulated "
                "tables with holes they held the true value as often as those of complete ones."
            )
        left_out = self.rows[0].found.n_repeats_left_out
        if left_out:
            again = counted(left_out, "rating")
            yield f"{again} of an output by the same rater again are left out; the first counts."

    def _names(self, some: list[SystemAgreement]) -> str:
        """The first systems that a caveat is about, where there are several."""
        if len(self.systems) == 1:
            return ""
        return f"{', '.join(shortened(str(one.found.system)) for one in some[:3])}: "

    def _by_system(self) -> Table:
        return table(
            self.systems,
            {
                "system": lambda one: shortened(str(one.found.system)),
                "raters": lambda one: f"{one.found.n_workers:,}",
                "outputs": lambda one: f"{one.found.n_outputs:,}",
                "these raters": lambda one: _cell(one.these),
                "other raters": lambda one: _cell(one.other),
            },
            f"{_ALPHA[self.systems[0].level]} with {self._level} intervals.",
        )

    def _measures(self, one: SystemAgreement) -> Table:
        return table(
            measures(one),
            {
                "measure": lambda each: each.name,
                "these raters": lambda each: _cell(each.these),
                "other raters": lambda each: _cell(each.other),
            },
            f"With {self._level} intervals.",
        )

    def independence(self) -> tuple[Independence, ...]:
        return (
            Independence(
                "workers",
                "accounted",
                "Ratings of one rater are alike. Intervals about other raters take raters as a sample; those about "
                "these raters do not, and are too narrow for a claim about others.",
            ),
            Independence(
                "items",
                "assumed",
                "Outputs count as independent of each other. Where several are sentences of one document they are "
                "not, and intervals are too narrow.",
            ),
        )

    @property
    def signature(self) -> str:
        first = self.systems[0]
        return signature(
            model="agreement",
            alpha=first.level,
            raters=self.rows[0].found.n_workers,
            outputs=self.rows[0].found.n_outputs,
            confidence=self.confidence,
            f=first.compatible is not None or None,
        )

    def paper(self) -> tuple[str, ...]:
        said = [
            f"{'' if len(self.systems) == 1 else f'for {shortened(str(one.found.system))} '}"
            f"{decimals(one.these.value, 2)} among the {one.found.n_workers:,} raters "
            f"({self._level} interval {_ends(one.these)}, outputs resampled)"
            + (
                f" and {decimals(one.other.value, 2)} ({_ends(one.other)}) for raters like them"
                if math.isfinite(one.other.low)
                else ""
            )
            for one in self.systems
            if math.isfinite(one.these.low)
        ]
        if not said:
            return ()
        how = (
            "jackknives over outputs and over raters (Gwet 2014)"
            if self.systems[0].n_others is not None
            else "generalised pivotal draws of the variances of outputs, raters and error (Weerahandi 1993)"
        )
        alpha = _ALPHA[self.systems[0].level]
        return (
            f"{alpha} (Krippendorff 2004) was {'; '.join(said)}. Intervals for other raters are by {how}.",
        )

    def numbers(self) -> Record:
        return {"confidence": self.confidence, "rows": [_record(one) for one in self.rows]}

    def table_rows(self) -> list[Record]:
        return [
            {
                "system": one.found.system,
                "measure": each.key,
                **{
                    f"{claim}_{name}": value
                    for claim, measure in (("these", each.these), ("other", each.other))
                    for name, value in _ends_record(measure).items()
                    if name != "reason"
                },
            }
            for one in self.rows
            for each in measures(one)
        ]


def measures(one: SystemAgreement) -> Iterator[ShownMeasure]:
    """The measures in the order of the table."""
    found, several, by_category = one.found, one.correlations, one.categories
    yield ShownMeasure(
        "alpha_ordinal", "Krippendorff's alpha, ordinal", found.alpha_ordinal, found.many_ordinal
    )
    yield ShownMeasure(
        "alpha_interval", "Krippendorff's alpha, interval", found.alpha_interval, found.many_interval
    )
    if by_category is not None:
        is_pooled = found.system is None
        kappa = "Cohen's kappa" if found.n_workers == 2 else "Conger's kappa"
        for key, name in (
            ("alpha_nominal", "Krippendorff's alpha, nominal"),
            ("kappa", kappa),
            ("ac1", "Gwet's AC1"),
            ("equal", "equal ratings of two raters"),
        ):
            both = by_category[key]  # type: ignore[index]
            yield ShownMeasure(key, name, both.these, found.many_ordinal if is_pooled else both.other)
    else:
        yield ShownMeasure("equal", "equal ratings of two raters", found.exact, _NOT_ASKED)
    if one.n_values > 2:
        yield ShownMeasure("within_one", "at most one point apart", found.within_one, _NOT_ASKED)
    if found.system is None:
        return
    yield ShownMeasure("icc_2_1", "ICC(2,1), a rating", _NOT_ASKED, several.other_raters)
    if one.compatible is not None:
        low, high = one.compatible
        value = Measure(several.other_raters.value, low, high)
        yield ShownMeasure("icc_2_1_f", "ICC(2,1), F interval of other packages", _NOT_ASKED, value)
    k = f"{several.k:.3g}"
    yield ShownMeasure("icc_2_k", f"ICC(2,{k}), mean of {k}", _NOT_ASKED, several.other_raters_mean)
    yield ShownMeasure("icc_3_1", "ICC(3,1), a rating", several.these_raters, _NOT_ASKED)
    yield ShownMeasure("icc_3_k", f"ICC(3,{k}), mean of {k}", several.these_raters_mean, _NOT_ASKED)


def _ends(value: Measure) -> str:
    return interval_words(value.low, value.high, digits=2)


def _cell(value: Measure) -> str:
    if not value.is_defined:
        return "-"
    has_interval = (
        math.isfinite(value.low) and value.low < value.high
    )  # nothing varies where all outputs are alike
    return decimals(value.value, 2) + (f" ({_ends(value)})" if has_interval else "")


def _ends_record(value: Measure) -> Record:
    def known(number: float) -> float | None:
        return number if math.isfinite(number) else None

    return {
        "value": known(value.value),
        "low": known(value.low),
        "high": known(value.high),
        "reason": value.reason,
    }


def _record(one: SystemAgreement) -> Record:
    found, (outputs, raters, error) = one.found, one.strata.components
    return {
        "system": found.system,
        "n_raters": found.n_workers,
        "n_outputs": found.n_outputs,
        "n_ratings": found.n_ratings,
        "n_pairs": found.n_pairs,
        "n_repeats_left_out": found.n_repeats_left_out,
        "is_complete": one.strata.is_complete,
        "n_parts": one.strata.n_parts,
        "leading": f"alpha_{one.level}",
        "floor": one.floor if math.isfinite(one.floor) else None,
        "variances": {"outputs": outputs, "raters": raters, "error": error},
        "measures": [
            {
                "measure": each.key,
                "these_raters": _ends_record(each.these),
                "other_raters": _ends_record(each.other),
            }
            for each in measures(one)
        ],
    }
