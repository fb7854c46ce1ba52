"""Agreement of raters in words, in a table and as a record: each measure with both claims."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from humeval_power.checking.columns import shortened
from humeval_power.comparisons.agreement.claims import FEWEST_OTHERS, SystemAgreement
from humeval_power.comparisons.agreement.result import finite
from humeval_power.comparisons.agreement.result_raters import Raters
from humeval_power.comparisons.agreement.strata import NO_PAIRS
from humeval_power.inference.item_bootstrap import Measure, undefined
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.document import Document, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, decimals, in_words, interval_words, level_of, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, signature, table

_FEW_OUTPUTS = 10
_MOST_SHOWN = 2  # systems whose measures are printed without being asked for details
_MOST_NAMED = 3
_NOT_ASKED = undefined("")
_ALPHA = {"ordinal": "Krippendorff's ordinal alpha", "interval": "Krippendorff's interval alpha"}
_BY_DRAWS = "by generalised pivotal draws of the variances of outputs, raters and error (Weerahandi 1993)"
_BY_JACKKNIVES = "by jackknives over outputs and over raters (Gwet 2014)"
_MEANING = (
    "1 is perfect agreement, 0 what chance gives. These raters: they rate other outputs. Other raters: people like "
    "them, chosen anew, rate other outputs; that is what a reader takes agreement to be. Alpha of other raters is "
    "what it comes to with many of them; where one answer is half of the ratings or more it is that of these "
    "raters, with an interval that counts how raters differ."
)
_ICC = (
    "ICC(2,.) counts differences of level between raters as error, ICC(3,.) does not. Mean: the mean rating of an "
    "output, as a study uses it. Kappa and the share of equal ratings are of pairs of raters."
)


_TOGETHER = (
    "Differences between systems count as agreement here, and raise it: report it within systems first. Of other "
    "raters nothing is said."
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
    raters: Raters
    notices: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(f"{self.source}: {notice}" for notice in self.notices)

    @property
    def systems(self) -> tuple[SystemAgreement, ...]:
        """Those of one system each."""
        return tuple(one for one in self.rows if one.found.system is not None)

    @property
    def _rated(self) -> tuple[SystemAgreement, ...]:
        """The systems of which two raters rated an output."""
        return tuple(one for one in self.systems if one.found.n_outputs)

    def answer(self) -> Document:
        several, rated = len(self.systems) > 1, self._rated
        sections = [Section("Within each system", (self._by_system(),))] if several else []
        for one in rated:
            title = f"Measures, {_name(one)}" if several else "Measures"
            blocks = (self._measures(one), *((Paragraph(_ICC),) if one is rated[0] else ()))
            sections.append(Section(title, blocks, is_detail=len(rated) > _MOST_SHOWN))
        if several:
            together = (Paragraph(_TOGETHER), self._measures(self.rows[0]))
            sections.append(Section("All systems together", together, is_detail=True))
        first = self.rows[0].found
        ratings = (
            f"{first.n_ratings:,} by {counted(first.n_workers, 'rater')} of {counted(first.n_outputs, 'output')} "
            f"that two or more rated: {counted(first.n_pairs, 'pair')} of ratings"
        )
        return Document(
            "Agreement of raters",
            lead=self._lead(),
            headline=(("Ratings", ratings),),
            caveats=tuple(self._caveats()),
            sections=(*sections, self.raters.section(), Section("What it means", (Paragraph(_MEANING),))),
        )

    def _lead(self) -> str:
        known = [one for one in self._rated if one.these.is_defined]
        if not known:
            return self._undefined()
        if len(self.systems) == 1:
            return self._of_one(known[0])
        if len(known) == 1:
            return f"Agreement is defined of one system alone, {_name(known[0])}. {self._of_one(known[0])}"
        if not all(math.isfinite(one.other.low) and one.found.n_workers > 2 for one in known):
            low, *_, high = sorted(known, key=lambda one: one.these.value)
            return (
                f"Within a system these raters agree {self._between(low, low.these, high, high.these)}: "
                f"{self._alpha}, 1 being perfect and 0 chance, with {self._level} intervals about other outputs "
                "and not about other raters."
            )
        low, *_, high = sorted(known, key=lambda one: one.other.value)
        numbers = {one.found.n_workers for one in known}
        like = f"these {numbers.pop():,}" if len(numbers) == 1 else "these"
        many = "" if any(one.n_others is not None for one in known) else " with many raters"
        return (
            f"Within a system, other raters like {like} would agree "
            f"{self._between(low, low.other, high, high.other)}: {self._alpha}{many}, 1 being perfect and 0 "
            f"chance, with {self._level} intervals."
        )

    def _undefined(self) -> str:
        """Where agreement is not defined of any system."""
        rated, fewest = self._rated, min(self._rated, key=lambda one: one.found.n_outputs)
        if not all(one.all_agree for one in rated):
            return f"Agreement is not defined: {fewest.these.reason}."
        total = counted(sum(one.found.n_outputs for one in rated), "output")
        within = "" if len(self.systems) == 1 else " of a system"
        of = "" if len(rated) == 1 else f" of {_name(fewest)}, which has the fewest"
        return (
            f"All raters gave every output{within} the same rating ({total}), so that agreement beyond chance is "
            f"not defined; {self._agreed(fewest)}{of}."
        )

    def _of_one(self, one: SystemAgreement) -> str:
        m, alpha = one.found.n_workers, self._alpha
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
        floor = ""
        if one.floor >= 0.005 and one.n_others is None:
            within = decimals(one.floor, 2)
            floor = (
                f" However many outputs they rate, agreement of {m:,} raters is known to within {within}"
            )
            floor += " on average."
        many = " with many raters" if one.n_others is None else ""
        return (
            f"Other raters like these {m:,} would agree at {decimals(one.other.value, 2)} ({alpha}{many}; "
            f"{self._level} interval {_ends(one.other)}). These {m:,} agree at "
            f"{decimals(one.these.value, 2)} {on_others}.{floor}"
        )

    def _between(self, least: SystemAgreement, low: Measure, most: SystemAgreement, high: Measure) -> str:
        """'at 0.32 on new (0.16 to 0.47) and 0.33 on old (...)' of two systems, of more 'from ... to ...'."""
        ends = [
            f"{decimals(value.value, 2)} on {_name(one)} "
            f"({_ends(value) if math.isfinite(value.low) else 'no interval'})"
            for one, value in ((least, low), (most, high))
        ]
        return f"from {' to '.join(ends)}" if len(self.systems) > 2 else f"at {' and '.join(ends)}"

    def _agreed(self, one: SystemAgreement) -> str:
        least = percent(one.least_share_agreed)
        return f"with {self._level} confidence they agree on at least {least} of such outputs"

    @property
    def _alpha(self) -> str:
        return _ALPHA[self.rows[0].level]

    @property
    def _level(self) -> str:
        return level_of(self.confidence)

    def _caveats(self) -> Iterator[str]:
        rated = self._rated
        if without := [one for one in self.systems if not one.found.n_outputs]:
            yield f"Of {_names(without)} {NO_PAIRS}: nothing is said of their agreement."
        few = [(n, one) for one in rated if (n := one.found.n_outputs) < _FEW_OUTPUTS]
        if few:
            yield (
                f"Few outputs were rated by two raters ({self._fewest(few, 'output', _FEW_OUTPUTS)}): intervals "
                "say little."
            )
        peaked = [(one.n_others, one) for one in rated if one.n_others is not None and one.n_values > 1]
        rare = [(n, one) for n, one in peaked if n < FEWEST_OTHERS]
        if rare:
            yield (
                f"Few ratings differ from the commonest ({self._fewest(rare, 'rating', FEWEST_OTHERS)}): the "
                "intervals of kappa and alpha hold too seldom; that of AC1 holds."
            )
        if parts := [one for one in rated if one.strata.n_parts > 1]:
            numbers = [one.strata.n_parts for one in parts]
            n_parts = " to ".join(f"{n:,}" for n in sorted({min(numbers), max(numbers)}))
            yield self._within(
                parts,
                f"raters and outputs fall into {n_parts} groups without a rater in common: raters are compared "
                "within their group alone.",
            )
        if at_zero := [one for one in rated if one.correlations.other_raters.value == 0]:
            yield self._within(
                at_zero,
                "outputs differ no more than error makes them differ: intraclass correlations, which would be "
                "below 0, are given as 0.",
            )
        if with_holes := [one for one in rated if not one.strata.is_complete]:
            yield self._within(
                with_holes,
                "not every rater rated every output: intervals about other raters are approximate. In simulated "
                "tables with holes they held the true value as often as those of complete ones.",
            )
        left_out = self.rows[0].found.n_repeats_left_out
        if left_out:
            again = counted(left_out, "rating")
            yield f"{again} of an output by the same rater again are left out; the first counts."

    def _fewest(self, some: list[tuple[int, SystemAgreement]], noun: str, limit: int) -> str:
        """The least of these counts, of several systems with its name and how many are below the limit."""
        least, system = min(some, key=lambda one: one[0])
        if len(self.systems) == 1:
            return f"{counted(least, noun)}, below {limit}"
        return (
            f"fewest: {_name(system)}, {counted(least, noun)}; {counted(len(some), 'system')} below {limit}"
        )

    def _within(self, some: list[SystemAgreement], said: str) -> str:
        """The sentence, with the systems that it is about where it is not about all."""
        if len(some) == len(self.systems):
            return said[0].upper() + said[1:]
        return f"Within {_names(some)}, {said}"

    def _by_system(self) -> Table:
        return table(
            self.systems,
            {
                "system": _name,
                "raters": lambda one: f"{one.found.n_workers:,}",
                "outputs": lambda one: f"{one.found.n_outputs:,}",
                "these raters": lambda one: _cell(one.these),
                "other raters": lambda one: _cell(one.other),
            },
            f"{self._alpha} with {self._level} intervals.",
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
        known = [one for one in self._rated if one.these.is_defined]
        said = [
            f"{'' if len(self.systems) == 1 else f'for {_name(one)} '}{decimals(one.these.value, 2)} among the "
            f"{one.found.n_workers:,} raters ({self._resampled(one.these)})"
            + (f" and {_cell(one.other)} for raters like them" if math.isfinite(one.other.low) else "")
            for one in known
        ]
        if not said:
            return ()
        others = [one for one in known if math.isfinite(one.other.low)]
        jackknives = [one for one in others if one.n_others is not None]
        drawn = [one for one in others if one.n_others is None]
        how = [
            f"{by}{f' for {_names(some)}' if len(some) < len(others) else ''}"
            for some, by in ((drawn, _BY_DRAWS), (jackknives, _BY_JACKKNIVES))
            if some
        ]
        last = f" Intervals for other raters are {' and '.join(how)}." if how else ""
        return (f"{self._alpha} (Krippendorff 2004) was {'; '.join(said)}.{last}",)

    def _resampled(self, value: Measure) -> str:
        if not math.isfinite(value.low):
            return "without an interval"
        return f"{self._level} interval {_ends(value)}, outputs resampled"

    def numbers(self) -> Record:
        return {
            "confidence": self.confidence,
            "rows": [_record(one) for one in self.rows],
            "raters": self.raters.record(),
        }

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
    result, several, by_category = one.found, one.correlations, one.categories
    yield ShownMeasure(
        "alpha_ordinal", "Krippendorff's alpha, ordinal", result.alpha_ordinal, result.many_ordinal
    )
    yield ShownMeasure(
        "alpha_interval", "Krippendorff's alpha, interval", result.alpha_interval, result.many_interval
    )
    if by_category is not None:
        is_pooled = result.system is None
        kappa = "Cohen's kappa" if result.n_workers == 2 else "Conger's kappa"
        for key, name in (
            ("alpha_nominal", "Krippendorff's alpha, nominal"),
            ("kappa", kappa),
            ("ac1", "Gwet's AC1"),
            ("equal", "equal ratings of two raters"),
        ):
            both = by_category[key]  # type: ignore[index]
            yield ShownMeasure(key, name, both.these, result.many_ordinal if is_pooled else both.other)
    else:
        yield ShownMeasure("equal", "equal ratings of two raters", result.exact, _NOT_ASKED)
    if one.n_values > 2:
        yield ShownMeasure("within_one", "at most one point apart", result.within_one, _NOT_ASKED)
    if result.system is None:
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


def _name(one: SystemAgreement) -> str:
    return shortened(str(one.found.system))


def _names(some: list[SystemAgreement]) -> str:
    """The first of them, and how many more there are."""
    shown = [_name(one) for one in some][:_MOST_NAMED]
    left = len(some) - len(shown)
    if left:
        return f"{', '.join(shown)} and {left:,} more"
    return in_words(shown)


def _ends(value: Measure) -> str:
    return interval_words(value.low, value.high, digits=2)


def _cell(value: Measure) -> str:
    if not value.is_defined:
        return "-"
    return decimals(value.value, 2) + (f" ({_ends(value)})" if math.isfinite(value.low) else "")


def _ends_record(value: Measure) -> Record:
    ends = {name: finite(getattr(value, name)) for name in ("value", "low", "high")}
    return {**ends, "reason": value.reason}


def _record(one: SystemAgreement) -> Record:
    result, (outputs, raters, error) = one.found, one.strata.components
    return {
        "system": result.system,
        "n_raters": result.n_workers,
        **values(result, "n_outputs", "n_ratings", "n_pairs", "n_repeats_left_out"),
        "is_complete": one.strata.is_complete,
        "n_parts": one.strata.n_parts,
        "leading": f"alpha_{one.level}",
        "floor": finite(one.floor),
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
