"""The findings of several systems as their record holds them: the table and the picture of `analyze` again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Protocol

from humeval_power.families import FamilyOfTests
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.saying.document import Fact, Table
from humeval_power.saying.numbers import MINUS, NO_P, counted, p_cell, p_words, with_minus
from humeval_power.saying.rule_words import is_too_bold
from humeval_power.saying.values import listed, number, part, plain, words
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.family import ShownPair, Unit, family_words
from humeval_power.studies.analyze.findings import (
    CriterionFindings,
    Finding,
    findings_table,
    findings_words,
)
from humeval_power.studies.fit.many_systems import group_letters
from humeval_power.studies.report.fact_pair import PairWords
from humeval_power.studies.report.fact_record import (
    Comparison,
    Mean,
    StudyFacts,
    family_sentences,
    in_words,
    paper_sentences,
)
from humeval_power.studies.report.power_answers import Answer


def findings_of(facts: StudyFacts) -> CriterionFindings | None:
    """The rows of one criterion; None where the record has none."""
    said = part(facts.record, "findings")
    known = {each.name for each in fields(Finding)}
    rows = tuple(
        Finding(**{name: value for name, value in row.items() if name in known})
        for row in listed(said, "rows")
        if isinstance(row, Mapping)
    )
    if not rows or facts.scale is None or facts.rule is None:
        return None
    return CriterionFindings(
        facts.criterion,
        Unit(facts.scale),
        facts.rule.alpha,
        rows,
        facts.groups,
        round(number(said, "n_draws") or 0),
        words(said, "reason") or "",
    )


def findings_over(criteria: Sequence[StudyFacts], caption: str) -> Table | None:
    """Systems by criteria, as `analyze` shows them; None where a criterion has no findings."""
    found = [known for facts in criteria if (known := findings_of(facts)) is not None]
    tests = criteria[0].family
    if not found or len(found) < len(criteria) or tests is None:
        return None
    table = findings_table(found, called={name: name for each in criteria for name in each.systems})
    notes = " ".join([caption, *findings_words(found, tests)])
    return Table(table.header, table.rows, caption=notes, spans=table.spans)


def shown_comparisons(facts: StudyFacts, unit: Unit) -> tuple[ShownPair, ...]:
    """The comparisons in the order, with the sign and in the unit of the findings."""
    return tuple(_shown(one, unit) for one in facts.ranked_comparisons if one.estimate is not None)


def _shown(one: Comparison, unit: Unit) -> ShownPair:
    none = float("nan")
    low, high = one.interval or (none, none)
    return ShownPair(
        one.second,
        one.first,
        unit.difference(one.estimate or 0.0),
        unit.difference_interval(low, high),
        none if one.df is None else one.df,
        none,
        none if one.p_value is None else one.p_value,
        one.significant is True,
        one.reason or "",
    )


# Several systems in words: what was fitted and found, in sentences and in tables, and the estimated
# parameters.


@dataclass(frozen=True, slots=True)
class SystemsWords:
    """What a comparison of several systems says of itself."""

    facts: StudyFacts
    tests: FamilyOfTests

    def systems(self) -> Answer | None:
        """Their names, and what a difference is."""
        names = self.facts.systems
        if not names:
            return None
        return Answer(
            f"{len(names)} systems: {', '.join(names)}; each difference is named by its two systems."
        )

    def scores(self) -> str | None:
        """How ratings become the numbers that are reported."""
        rule, scale = self.facts.rule, self.facts.scale
        if rule is None:
            return None
        mapped = ""
        if scale is not None:
            mapped = f"Ratings on {scale.low:g} to {scale.high:g} were moved to [0, 1], 1 being best. "
        if self.tests.family.model == "joint":
            return (
                f"{mapped}They were not averaged beforehand: the differences reported are those of the systems' "
                "means in a mixed model of the single ratings."
            )
        if rule.analysis == "differences":
            return (
                f"{mapped}For each pair of systems each worker's rating of an item under the first was subtracted "
                "from that under the second; the difference reported is the mean estimated by a mixed model of "
                "these differences."
            )
        if rule.is_latent:
            return (
                f"{mapped}They were neither averaged nor taken for numbers: the model of each pair of systems is "
                "of the single ratings as categories, and the difference reported is that of the expected ratings."
            )
        return (
            f"{mapped}They were not averaged beforehand: the difference reported of each pair of systems is a "
            "fixed effect of a mixed model of their single ratings."
        )

    def measures(self) -> str | None:
        """What effects are given, and how they are tested."""
        test, unit = self.test(), self.unit.words
        said = f"Size: the differences of systems with their intervals, {unit}. Significance: {test}"
        return None if test is None else said

    def test(self) -> str | None:
        """The model and the family of tests."""
        rule = self.facts.rule
        if rule is None:
            return None
        return family_sentences(
            rule, self.tests, n_systems=len(self.facts.systems), n_comparisons=len(self.facts.comparisons)
        )

    def paper_test(self) -> str | None:
        """The same as sentences of a paper."""
        rule = self.facts.rule
        if rule is None:
            return None
        n_systems, n_comparisons = len(self.facts.systems), len(self.facts.comparisons)
        return paper_sentences(rule, self.tests, n_systems=n_systems, n_comparisons=n_comparisons)

    def effect(self) -> Answer | None:
        """The means, which of them are told apart, and all differences in a table."""
        if not self.facts.has_result:
            return None
        return Answer(" ".join(self._sentences()), table=self._differences())

    def parameters(self) -> Answer | None:
        """For planning later studies."""
        found = estimated_parameters(self.facts)
        if found is None:
            return None
        said, table = found
        return Answer(said, is_whole=not self.facts.not_identified, table=table)

    def estimates(self) -> str | None:
        """The same in a line."""
        values = joint_parameters(self.facts)
        said = {name: plain(value) for name, value in values.items() if not name.startswith("mean of ")}
        if not said:
            said = {
                name: f"{plain(min(of))} to {plain(max(of))}"
                for name, of in pair_parameters(self.facts).items()
            }
        shown = ", ".join(f"{name} {text}" for name, text in said.items())
        return f"Estimated parameters on [0, 1]: {shown}." if shown else None

    def findings(self) -> list[str | None]:
        """The result as sentences of a paper."""
        if not self.facts.converged:
            return [
                "The model could not be fitted (it did not converge), so that there is no result to report."
            ]
        further = (*self._without_test(), *self._other_decisions(), *self._false_positives())
        return [*self._sentences(), *further]

    def decided(self) -> str:
        """How many of the differences are shown, in a sentence."""
        if not self.facts.has_result:
            return "There is no result: the model could not be fitted."
        said = self._n_apart()
        best = self.facts.ordered_means[:1]
        return f"{best[0].system} has the best mean. {said}" if best else said

    def headline(self) -> tuple[Fact, ...]:
        """The best mean and the number of differences that are shown."""
        if not self.facts.has_result:
            return ()
        apart = sum(one.significant is True for one in self.facts.comparisons)
        best = tuple(
            (f"best mean: {one.system}", self._mean(one.mean)) for one in self.facts.ordered_means[:1]
        )
        return (*best, ("significant differences", f"{apart:,} of {len(self.facts.comparisons):,}"))

    def tables(self) -> tuple[Table, ...]:
        """The means with their groups, and the differences."""
        if not self.facts.has_result:
            return ()
        return (*([self._means()] if self.facts.means else []), self._differences())

    def compared(self) -> str:
        """How many systems the tables are of."""
        return f"Human evaluation of {counted(len(self.facts.systems), 'system')}."

    def caption(self) -> str:
        """What the tables are on."""
        on = f" on {self.facts.criterion}" if self.facts.criterion else ""
        return f"{self.compared().removesuffix('.')}{on}."

    def _means(self) -> Table:
        """A row for each system, as the findings have it; of a record without them, best first."""
        found = findings_over([self.facts], self.caption())
        if found is not None:
            return found
        letters = group_letters(self.facts.groups)
        header = ("system", "mean", *(("groups",) if letters else ()))
        rows = tuple(
            (one.system, self._mean(one.mean), *((letters.get(one.system, ""),) if letters else ()))
            for one in self.facts.ordered_means
        )
        return Table(header, rows, caption=f"{self.caption()} Means are {self.unit.words}.")

    def _differences(self) -> Table:
        """A row for each comparison, with its p-value after the correction of the family."""
        p_value = "p" if self.tests.family.correction == "none" else "corrected p"
        rows = tuple(
            (
                difference_of(one),
                "" if one.estimate is None else self._difference(one.estimate),
                self._ends(one),
                NO_P if one.p_value is None else p_cell(one.p_value),
            )
            for one in self.facts.ranked_comparisons
        )
        caption = f"{self.caption()} Differences are {self.unit.words}.{self._intervals()}"
        return Table(("difference", "estimate", "interval", p_value), rows, caption=caption)

    def _intervals(self) -> str:
        if any(one.is_simultaneous for one in self.facts.comparisons):
            return " The intervals cover together."
        return "" if self.tests.family.correction == "none" else " The intervals are not corrected."

    def _sentences(self) -> Iterator[str]:
        """The means, the differences that are shown, and the groups."""
        if self.facts.means:
            ranked = in_words(tuple(map(self._ranked, self.facts.ordered_means)))
            yield f"The mean ratings, {self.unit.words}, are {ranked}."
        apart = [one for one in self.facts.ranked_comparisons if one.significant]
        yield self._n_apart()
        if 0 < len(apart) <= _MOST_TOLD:
            yield f"{'; '.join(map(self._told, apart))}."
        elif apart:
            yield from self._of_best()
        together = [group for group in self.facts.groups if len(group) > 1]
        if together:
            yield f"Not told apart: {'; '.join(', '.join(group) for group in together)}."
        if len(apart) < len(self.facts.comparisons):
            yield "That a difference is not significant does not show that there is none."

    def _n_apart(self) -> str:
        """How many of the differences are shown, as a sentence."""
        apart = sum(one.significant is True for one in self.facts.comparisons)
        of, are = counted(len(self.facts.comparisons), "difference"), "is" if apart == 1 else "are"
        return f"{apart:,} of {of} {are} significant {family_words(self.tests)}."

    def _ranked(self, one: Mean) -> str:
        return f"{one.system} {self._mean(one.mean)}{self._between(one)}"

    def _between(self, one: Mean) -> str:
        if one.interval is None:
            return ""
        ends = self.unit.interval(*self.unit.mean_interval(*one.interval))
        return f" ({self._level()} {with_minus(ends)})"

    def _told(self, one: Comparison) -> str:
        between = "" if one.interval is None else f" ({self._level()} {self._ends(one)})"
        test = "" if one.p_value is None else f", {self._p(one.p_value)}"
        return f"{difference_of(one)} is {self._difference(one.estimate or 0.0)}{between}{test}"

    @property
    def unit(self) -> Unit:
        """What means and differences are shown in."""
        return Unit(self.facts.scale or RatingScale(0.0, 1.0, source="inferred"))

    def _mean(self, value: float) -> str:
        """A mean in these units."""
        return with_minus(self.unit.shown(self.unit.mean(value)))

    def _difference(self, value: float) -> str:
        return with_minus(self.unit.shown(self.unit.difference(value), more=1, signed=True))

    def _ends(self, one: Comparison) -> str:
        if one.interval is None:
            return ""
        return with_minus(self.unit.interval(*self.unit.difference_interval(*one.interval), more=1))

    def _of_best(self) -> Iterator[str]:
        """The best system against every other, where too many differences are significant to list them."""
        best = self.facts.ordered_means[0].system if self.facts.means else self.facts.systems[0]
        if self.tests.family.baseline is not None:
            best = self.tests.family.baseline
        own = [one for one in self.facts.ranked_comparisons if best in (one.first, one.second)]
        yield f"Differences of {best} from the others: {'; '.join(map(self._told, own))}."

    def _p(self, value: float) -> str:
        return p_words(value) if self.tests.family.correction == "none" else f"corrected {p_words(value)}"

    def _level(self) -> str:
        rule = self.facts.rule
        return "interval" if rule is None else f"{100 * rule.confidence:g} % interval"

    def _without_test(self) -> Iterator[str]:
        for why, of in self.facts.untested.items():
            yield f"There is no test of {in_words(tuple(map(difference_of, of)))}: {why}."

    def _false_positives(self) -> Iterator[str]:
        """A caution where such tests are known to be too bold with so few workers."""
        rule, workers = self.facts.rule, self.facts.n_workers
        if rule is not None and workers is not None and is_too_bold(rule, workers):
            yield f"With {workers} workers such tests are significant more often than alpha says."

    def _other_decisions(self) -> Iterator[str]:
        """The checks by the other kind of variances and by the other model, which decide nothing."""
        yield from other_decisions(self.facts)


_OTHERS = {
    ("variances_check", "variances", "common"): "With variances common to all systems",
    ("variances_check", "variances", "own"): "With variances of each system's own",
    ("model_check", "model", "pairwise"): "By fits in pairs",
    ("model_check", "model", "joint"): "By one fit of all systems",
}


def other_decisions(facts: StudyFacts) -> Iterator[str]:
    """Which comparisons another kind of variances, or the other model, decides otherwise, as sentences."""
    for (name, field, kind), words_of_it in _OTHERS.items():
        check = part(facts.record, name)
        parted = [frozenset(pair) for pair in listed(check, "decided_otherwise")]
        if words(check, field) != kind or not parted:
            continue
        named = [
            difference_of(one) for one in facts.ranked_comparisons if {one.first, one.second} in parted
        ]
        told = in_words(tuple(named))
        yield f"{words_of_it}, a check that decides nothing, {told} would be decided otherwise."


_MOST_TOLD = 10  # significant differences that a sentence lists; more are summed up, and in the table


def difference_of(one: Comparison) -> str:
    """The name of a difference."""
    return f"{one.second} {MINUS} {one.first}"


def estimated_parameters(facts: StudyFacts) -> tuple[str, Table] | None:
    """Where they come from, and a table of them; None where the record has none."""
    rows = joint_parameters(facts)
    if rows:
        zero = set(facts.boundary)
        shown = tuple(
            (name, "not identified" if name in facts.not_identified else plain(value) + _at(name, zero))
            for name, value in rows.items()
        )
        return "On [0, 1], from one fit of all systems.", Table(("parameter", "estimate"), shown)
    of_pairs = pair_parameters(facts)
    if not of_pairs:
        return None
    n = max(map(len, of_pairs.values()))
    table = tuple(
        (name, plain(median(values)), plain(min(values)), plain(max(values)))
        for name, values in of_pairs.items()
    )
    said = (
        f"On [0, 1], over the fits of {n:,} pairs of systems; the slopes are those of the difference second - "
        "first."
    )
    return said, Table(("parameter", "median", "smallest", "largest"), table)


def _at(name: str, zero: set[str]) -> str:
    return " (at the boundary)" if name in zero else ""


def joint_parameters(facts: StudyFacts) -> dict[str, float]:
    """The mean of each system and the SDs of a joint fit, by name; empty for fits in pairs."""
    sds = part(facts.record, "joint_fit", "standard_deviations")
    found = {name: value for name in sds if (value := number(sds, name)) is not None}
    return {**{f"mean of {one.system}": one.mean for one in facts.means}, **found} if found else {}


def pair_parameters(facts: StudyFacts) -> dict[str, list[float]]:
    """The parameters of the fits in pairs, by name; empty for a joint fit."""
    fits = [part(pair, "parameters") for pair in listed(facts.record, "pairs") if isinstance(pair, Mapping)]
    found = {
        name: [value for fit in fits if (value := number(fit, name)) is not None]
        for name in PARAMETER_NAMES
    }
    return {name: values for name, values in found.items() if values}


# What every kind of study says of itself, and the one place that tells the kinds apart.


class StudyWords(Protocol):
    """The facts of a study in words, for any form; None, or nothing, where they are not known."""

    def systems(self) -> Answer | None:
        """Which systems were compared, and what a difference is."""

    def scores(self) -> str | None:
        """How ratings become the numbers that are reported."""

    def measures(self) -> str | None:
        """What effects are given, and how they are tested."""

    def test(self) -> str | None:
        """The model and its test, or the family of its tests."""

    def paper_test(self) -> str | None:
        """The same as sentences of a paper."""

    def effect(self) -> Answer | None:
        """Estimates with intervals and tests."""

    def parameters(self) -> Answer | None:
        """The estimated parameters, for planning later studies."""

    def estimates(self) -> str | None:
        """The same in a line."""

    def findings(self) -> list[str | None]:
        """The result as sentences of a paper; empty without one."""

    def decided(self) -> str:
        """What the study shows, in a sentence or two."""

    def headline(self) -> tuple[Fact, ...]:
        """The numbers that a page begins with."""

    def tables(self) -> tuple[Table, ...]:
        """The results."""

    def compared(self) -> str:
        """Which systems the tables are of."""

    def caption(self) -> str:
        """What the tables are on."""


def words_of(facts: StudyFacts) -> StudyWords:
    """The words for the facts."""
    if facts.family is not None and facts.is_of_several:
        return SystemsWords(facts, facts.family)
    return PairWords(facts)
