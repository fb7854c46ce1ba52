"""Agreement of raters in words, in a table and as a record: each measure with both claims.

Measures of agreement as the plain values that an analysis document holds and the forms read.

Raters one by one in words, in a table and as a record; words accuse nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from humeval_power.checking.columns import shortened
from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.comparisons.agreement.agreement import Agreement, Level, Repeatability, shared_ratings
from humeval_power.comparisons.agreement.claims import FEWEST_OTHERS, SystemAgreement
from humeval_power.comparisons.agreement.raters import ALPHA, FEWEST_RATERS, RaterTests, raters_one_by_one
from humeval_power.comparisons.agreement.reliability import IntraclassCorrelation
from humeval_power.comparisons.agreement.strata import NO_PAIRS
from humeval_power.inference.item_bootstrap import Measure, undefined
from humeval_power.ratings import Ratings
from humeval_power.saying.clustered_words import Independence
from humeval_power.saying.document import Document, Paragraph, Section, Table
from humeval_power.saying.numbers import (
    counted,
    decimals,
    in_words,
    interval_words,
    level_of,
    p_words,
    percent,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, signature, table
from humeval_power.saying.values import JsonRecord, bounds, listed, number, part, words
from humeval_power.scales import RatingScale
from humeval_power.worker_statistics import MIN_ANSWERS

Entry = dict[str, object]


def finite(value: float | None) -> float | None:
    """The number; None where there is none, or no end of it."""
    return value if value is not None and math.isfinite(value) else None


def agreement_record(
    between: Sequence[Agreement],
    repeats: Sequence[Repeatability] = (),
    correlations: Sequence[IntraclassCorrelation] = (),
    *,
    level: Level = "ordinal",
) -> dict[str, object]:
    """'between' and 'within' workers: lists of {measure, value, interval, reason, value_other, interval_other}; and
    `n_repeated`, the outputs that a worker rated more than once, None where nobody looked.

    `interval` is about these workers and other items, `value_other` and `interval_other` are about other workers:
    within a system, None elsewhere. Intraclass correlations are about other workers. The further measures are given
    for all systems together, Krippendorff's alpha of the `level` that leads also within each.
    """
    entries: list[Entry] = []
    for one in between:
        of_level = {
            "ordinal": (one.alpha_ordinal, one.many_ordinal),
            "interval": (one.alpha_interval, one.many_interval),
        }
        if one.system is not None:
            entries.append(_entry(f"Krippendorff's alpha, {level} within {one.system}", *of_level[level]))
            continue
        entries += [
            *(_entry(f"Krippendorff's alpha, {name}", *both) for name, both in of_level.items()),
            _entry("share of equal ratings of two workers", one.exact),
            _entry("share at most one point apart", one.within_one),
        ]
    for icc in correlations:
        of = "single rating" if icc.n_ratings == 1 else f"mean of {icc.n_ratings:.3g} ratings"
        name = f"intraclass correlation, {icc.definition}, {of}"
        entries.append(_entry(name, icc.measure, icc.measure))
    overall = [one for one in repeats if one.system is None]
    within = [
        _entry(name, value)
        for one in overall
        if one.n_cells
        for name, value in (
            ("share of equal ratings of an output by the same worker", one.equal),
            ("mean absolute difference in points of the scale", one.mean_difference_raw),
            ("mean absolute difference on [0, 1]", one.mean_difference),
            ("correlation of first and second rating", one.correlation),
            ("intraclass correlation ICC(1,1)", one.icc),
        )
    ]
    n_repeated = overall[0].n_cells if overall else None
    return {"between": entries, "within": within, "n_repeated": n_repeated}


def _entry(name: str, value: Measure, other: Measure | None = None) -> Entry:
    others = other if other is not None and math.isfinite(other.low) else None
    return {
        "measure": name,
        "value": value.value if value.is_defined else None,
        "interval": [value.low, value.high] if value.is_defined else None,
        "reason": value.reason,
        "value_other": others and others.value,
        "interval_other": others and [others.low, others.high],
    }


# Agreement of workers with each other and with themselves, as an analysis document states it: in the
# shape of `agreement_record`.

Between = Literal["between", "within"]


def agreement_measures(study: JsonRecord, whose: Between) -> str | None:
    """The names of the measures, None where none was computed."""
    return _of_entries(study, whose, lambda entry: words(entry, "measure"))


def agreement_values(study: JsonRecord, whose: Between) -> str | None:
    """The values with their intervals, None where none was computed."""
    return _of_entries(study, whose, _value)


def _of_entries(study: JsonRecord, whose: Between, say: Callable[[JsonRecord], str | None]) -> str | None:
    """What is said of the entries; of repeats the table shows whether there were any."""
    agreement = part(study, "agreement")
    entries = [entry for entry in listed(agreement, whose) if isinstance(entry, Mapping)]
    if said := [text for entry in entries if (text := say(entry))]:
        return "; ".join(said) + "."
    if whose == "within" and number(agreement, "n_repeated") == 0:
        return "Not assessed: no worker rated the same output twice."
    return None


def _value(entry: JsonRecord) -> str | None:
    name, value, interval = words(entry, "measure"), number(entry, "value"), bounds(entry, "interval")
    if name is None:
        return None
    if value is None:
        reason = words(entry, "reason")
        return f"{name}: not defined" + (f" ({reason})" if reason else "")
    of_other, value_other = bounds(entry, "interval_other"), number(entry, "value_other")
    has_other = of_other is not None and value_other is not None
    if is_about_others(name):
        ends, who = (of_other, "other workers, ") if has_other else (interval, "")
        return f"{name}: {value:.3f}" + ("" if ends is None else f" ({who}{_interval(ends)})")
    said = [] if interval is None else [f"these workers, {_interval(interval)}"]
    if of_other is not None and value_other is not None:
        said.append(f"other workers {value_other:.3f}, {_interval(of_other)}")
    return f"{name}: {value:.3f}" + (f" ({'; '.join(said)})" if said else "")


def _interval(ends: tuple[float, float]) -> str:
    return f"interval {interval_words(*ends, digits=3)}"


def is_about_others(name: str) -> bool:
    """Whether a measure speaks of other workers alone."""
    return name.startswith("intraclass correlation")


_MOST_RATERS = 12  # raters in the table
WHAT_TO_DO = (
    "Nobody is left out for it. Look at these ratings: were the instructions the same, and the kind of outputs? "
    "Was the scale read the right way round? There may be a good reason. Rules that leave raters out belong in "
    "the plan, before there are ratings."
)
HOW_TESTED = (
    f"Each rater with {MIN_ANSWERS} ratings or more of outputs that others rated too is compared with all others "
    f"together, at least {FEWEST_RATERS - 1}, by the t of a deleted value, corrected by Holm for all raters. Where "
    "all raters are alike somebody is named for the level in about 5 of 100 panels, and in as many for consistency "
    "or for a system. With few raters only a large difference shows."
)


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """Tests of the raters of a table, with their names in the order of the tests."""

    tests: RaterTests
    names: tuple[str, ...]
    scale: RatingScale
    systems: tuple[str, ...]
    is_peaked: bool
    confidence: float

    @classmethod
    def of(cls, ratings: Ratings, *, confidence: float = DEFAULT_CONFIDENCE) -> Raters:
        """Those who share outputs with others."""
        shared = shared_ratings(ratings)
        tests = raters_one_by_one(shared, ratings.n_systems, confidence=confidence)
        names = tuple(ratings.worker_names[code] for code in shared.workers)
        return cls(tests, names, ratings.scale, ratings.system_names, shared.is_peaked, confidence)

    def section(self) -> Section:
        """Who is unlike the others, and a table of the first twelve: those, then who was compared."""
        tests, width = self.tests, self.scale.width
        unlike = np.flatnonzero(tests.is_unlike)
        order = np.lexsort((-np.nan_to_num(np.abs(tests.level)), ~tests.is_tested, ~tests.is_unlike))

        def level(place: int) -> str:
            value, reach = float(tests.level[place]) * width, float(tests.level_reach[place]) * width
            ends = f" ({value - reach:+z.2f} to {value + reach:+z.2f})" if math.isfinite(reach) else ""
            return f"{value:+z.2f}{ends}"

        rows = table(
            order[:_MOST_RATERS].tolist(),
            {
                "rater": lambda place: shortened(self.names[place]) + " *" * bool(tests.is_unlike[place]),
                "ratings": lambda place: f"{tests.n_ratings[place]:,}",
                "level": level,
                "variance": lambda place: decimals(float(tests.noise[place]), 2),
                "correlation": lambda place: decimals(float(tests.agreement[place]), 2),
            },
            f"Level: points above or below the mean of raters, with {level_of(self.confidence)} intervals that "
            "hold for all of them at once: these raters, other outputs. Variance: about what the others give an "
            "output, 1 being usual. Correlation: with the others, within systems."
            + (f" {len(order) - _MOST_RATERS:,} more raters." if len(order) > _MOST_RATERS else ""),
        )
        said = [
            Paragraph(f"{shortened(self.names[place])} {'; '.join(self.unlike(place))}.")
            for place in unlike[:_MOST_RATERS].tolist()
        ]
        lead = Paragraph(self.lead(int(tests.is_tested.sum())))
        return Section("Raters one by one", (lead, *said, rows))

    def lead(self, n_tested: int) -> str:
        """Who is unlike the others, what was compared, and what to do."""
        tests, n = self.tests, int(self.tests.is_unlike.sum())
        if not n_tested:
            holds = np.isfinite(tests.level_reach).any()
            return (
                f"No rater is compared with the others: it takes {FEWEST_RATERS} raters with {MIN_ANSWERS} ratings "
                "or more that others gave too, linked by outputs."
                + (" The intervals of levels hold all the same." if holds else "")
            )
        how = HOW_TESTED
        if self.is_peaked:
            how += (
                " Half of the ratings or more are one answer: levels and correlations are compared, neither "
                "variances nor systems."
            )
        uneven = ""
        if apart := int(((np.abs(tests.level) > tests.level_reach) & ~tests.is_unlike).sum()):
            uneven = (
                f" {counted(apart, 'other rater') if n else counted(apart, 'rater')} "
                f"{'rates' if apart == 1 else 'rate'} higher or lower than all together do (the interval of the "
                "level leaves out 0), but no further than raters of this panel differ."
            )
        if n:
            stand = "stands" if n == 1 else "stand"
            unlike = f"{counted(n, 'rater')} of {n_tested:,} {stand} out from the others (*)."
            return f"{unlike}{uneven} {WHAT_TO_DO} {how}"
        return f"No rater of {n_tested:,} stands out from the others.{uneven} {how}"

    def unlike(self, place: int) -> Iterator[str]:
        """Each way in which a rater is unlike the others, with its p-value."""
        tests = self.tests

        def beside(value: float) -> str:
            which = "favourably" if value > 0 else "strictly"
            return f"{abs(value) * self.scale.width:.3g} points more {which}"

        if (p := tests.level_p[place]) <= ALPHA:
            yield f"rates {beside(tests.level[place])} than raters do on average ({p_words(p)})"
        if (p := tests.noise_p[place]) <= ALPHA:
            yield (
                f"lies further from what others give an output than they do: {tests.noise[place]:.3g} times their "
                f"variance ({p_words(p)})"
            )
        if (p := tests.agreement_p[place]) <= ALPHA:
            value = float(tests.agreement[place])
            more = "more" if value > tests.usual_agreement else "less"
            yield (
                f"goes along with the others {more} than is usual here: correlation {decimals(value, 2)}, usually "
                f"{decimals(tests.usual_agreement, 2)} ({p_words(p)})"
            )
        if (p := tests.leaning_p[place]) <= ALPHA:
            leaning = tests.leaning[place]
            most = int(np.argmax(np.abs(leaning)))
            yield (
                f"rates {self.systems[most]} by {beside(leaning[most])} than the others do, the level aside "
                f"({p_words(p)})"
            )

    def record(self) -> list[Record]:
        """A row for each rater, on [0, 1]; null where there is nothing."""
        names = (
            "level",
            "level_reach",
            "noise",
            "agreement",
            "level_p",
            "noise_p",
            "agreement_p",
            "leaning_p",
        )
        found: list[Record] = []
        for place, name in enumerate(self.names):
            numbers = {one: finite(float(getattr(self.tests, one)[place])) for one in names}
            leaning = map(finite, map(float, self.tests.leaning[place]))
            found.append(
                {
                    "rater": name,
                    "n_ratings": int(self.tests.n_ratings[place]),
                    **numbers,
                    "leaning": dict(zip(self.systems, leaning, strict=True)),
                    "unlike": list(self.unlike(place)),
                }
            )
        return found


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
        by_system = table(
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
        sections = [Section("Within each system", (by_system,))] if several else []
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
        m, alpha, has_ends = one.found.n_workers, self._alpha, math.isfinite(one.these.low)
        if one.all_agree:
            return (
                f"These {m:,} raters agree on every output: {alpha} is 1, without an interval; "
                f"{self._agreed(one)}."
            )
        if m == 2 or not math.isfinite(one.other.low):
            why = f"Of other raters nothing can be said: {one.other.reason}."
            if m == 2:
                why = "Two raters hardly show how far other raters would agree."
            reach = f"; {self._level} interval {_ends(one.these)} about other outputs" if has_ends else ""
            return f"These {m:,} raters agree at {decimals(one.these.value, 2)} ({alpha}{reach}). {why}"
        floor = ""
        if one.floor >= 0.005 and one.n_others is None:
            floor = (
                f" However many outputs they rate, agreement of {m:,} raters is known to within "
                f"{decimals(one.floor, 2)} on average."
            )
        on_others = f"on other outputs ({_ends(one.these)})" if has_ends else "here"
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
        if few := [(n, one) for one in rated if (n := one.found.n_outputs) < _FEW_OUTPUTS]:
            fewest = self._fewest(few, "output", _FEW_OUTPUTS)
            yield f"Few outputs were rated by two raters ({fewest}): intervals say little."
        peaked = [(one.n_others, one) for one in rated if one.n_others is not None and one.n_values > 1]
        if rare := [(n, one) for n, one in peaked if n < FEWEST_OTHERS]:
            yield (
                f"Few ratings differ from the commonest answer ({self._fewest(rare, 'rating', FEWEST_OTHERS)}): "
                "intervals of alpha and kappa are too narrow there; that of AC1, among the details, is not."
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
        if left_out := self.rows[0].found.n_repeats_left_out:
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
        if not known:
            return ()
        said = [
            f"{'' if len(self.systems) == 1 else f'for {_name(one)} '}{decimals(one.these.value, 2)} among the "
            f"{one.found.n_workers:,} raters ({self._resampled(one.these)})"
            + (f" and {_cell(one.other)} for raters like them" if math.isfinite(one.other.low) else "")
            for one in known
        ]
        others = [one for one in known if math.isfinite(one.other.low)]
        drawn, jackknives = ([one for one in others if (one.n_others is None) is d] for d in (True, False))
        how = [
            f"{by}{f' for {_names(some)}' if len(some) < len(others) else ''}"
            for some, by in ((drawn, _BY_DRAWS), (jackknives, _BY_JACKKNIVES))
            if some
        ]
        last = f" Intervals for other raters are {' and '.join(how)}." if how else ""
        return (f"{self._alpha} (Krippendorff 2004) was {'; '.join(said)}.{last}",)

    def _resampled(self, value: Measure) -> str:
        has_ends = math.isfinite(value.low)
        return (
            f"{self._level} interval {_ends(value)}, outputs resampled"
            if has_ends
            else "without an interval"
        )

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
                    f"{claim}_{name}": finite(getattr(getattr(each, claim), name))
                    for claim in ("these", "other")
                    for name in ("value", "low", "high")
                },
            }
            for one in self.rows
            for each in measures(one)
        ]


def measures(one: SystemAgreement) -> Iterator[ShownMeasure]:
    """The measures in the order of the table."""
    result, several, by_category = one.found, one.correlations, one.categories
    ordinal, interval = ("Krippendorff's alpha, ordinal", "Krippendorff's alpha, interval")
    yield ShownMeasure("alpha_ordinal", ordinal, result.alpha_ordinal, result.many_ordinal)
    yield ShownMeasure("alpha_interval", interval, result.alpha_interval, result.many_interval)
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
    shown, left = [_name(one) for one in some], len(some) - _MOST_NAMED
    return f"{', '.join(shown[:_MOST_NAMED])} and {left:,} more" if left > 1 else in_words(shown)


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
