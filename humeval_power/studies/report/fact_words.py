"""A study in words, for any form: what was compared, fitted and found, of two systems or of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.rules import DecisionRule, FamilyOfTests, claim
from humeval_power.saying.answer_words import decided_words, points_words, with_names
from humeval_power.saying.document import Fact, Prose, Table, prose_of
from humeval_power.saying.numbers import (
    MINUS,
    NO_P,
    counted,
    in_words,
    interval_words,
    level_of,
    minus_of_numbers,
    p_cell,
    p_words,
    with_minus,
)
from humeval_power.saying.rule_words import (
    estimator_words,
    is_too_bold,
    margin_decision,
    margin_test,
    margin_words,
    model_words,
    reference_of,
    reported_words,
    rule_sentence,
    sds_in_words,
)
from humeval_power.saying.stated import table
from humeval_power.saying.values import JsonRecord, bounds, estimated, listed, number, part, plain, words
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.family import Unit, family_words
from humeval_power.studies.fit.many_systems import group_letters
from humeval_power.studies.report.fact_record import (
    ComparisonFacts,
    Mean,
    StudyFacts,
    estimated_parameters,
    family_sentences,
    findings_over,
    joint_parameters,
    pair_parameters,
    paper_sentences,
    parameters_table,
    reported_effect,
    result_table,
)
from humeval_power.studies.report.power_answers import PowerAnswer, sequential_sentence

_MOST_TOLD = 10  # significant differences that a sentence lists; more are summed up, and in the table


@dataclass(frozen=True)
class StudyWords:
    """What a comparison of systems says of itself; None, or nothing, where it is not known."""

    facts: StudyFacts

    @cached_property
    def _passage(self) -> Prose:
        """A passage of `templates/study.md.j2` by its name."""
        facts, record = self.facts, self.facts.record
        names = facts.systems if len(facts.systems) == 2 else ("A", "B")
        effect = part(record, "effect")
        p_value = facts.comparisons[0].p_value if facts.comparisons else None
        if p_value is not None and part(record, "sequential", "inference"):
            # of this estimate: that over all looks has a sentence of its own
            p_value = number(effect, "p_value")
        interest = part(record, "power_at_interest")
        at_interest = ("effect", "fitted", "planned", "type_m", "type_s")
        return prose_of(
            __package__,
            "study.md.j2",
            facts=facts,
            rule=facts.rule,
            scale=facts.scale,
            many=self.together is not None,
            joint=self.together is not None and self.together.family.model == "joint",
            names=facts.systems,
            a=names[0],
            b=names[1],
            difference=f"{names[1]} {MINUS} {names[0]}",
            level=_level(facts),
            unit=self.unit.words,
            in_sd=number(part(record, "standardised"), "by_rating") is not None,
            effect=_numbers(effect),
            raw=_numbers(part(effect, "raw")),
            p="" if p_value is None else p_of_family(facts, p_value),
            at_interest={name: number(interest, name) for name in at_interest},
            left_out=_left_out(record),
            looks=sequential_sentence(record),
            margin_decided=self._margin_decided,
            is_too_bold=is_too_bold,
            claim=claim,
            points_words=points_words,
            sds_in_words=sds_in_words,
        )

    @property
    def together(self) -> FamilyOfTests | None:
        """The tests of several systems; None of two, A and B."""
        return self.facts.family if self.facts.is_of_several else None

    def _named(self, said: str) -> str:
        """Our words about A and B with the systems' names, where there are two."""
        names = self.facts.systems
        return with_names(minus_of_numbers(said), (names[0], names[1])) if len(names) == 2 else said

    # What was compared and how

    def systems(self) -> PowerAnswer | None:
        """Which systems were compared, and what a difference is."""
        is_known = self.facts.systems if self.together is not None else len(self.facts.systems) == 2
        return PowerAnswer(self._passage("systems")) if is_known else None

    def size(self) -> str | None:
        """Who rated how much."""
        facts = self.facts
        is_known = None not in (facts.n_workers, facts.n_items, facts.n_ratings)
        return self._passage("size") if is_known else None

    def scores(self) -> str | None:
        """How ratings become the numbers that are reported; None where the analysis is not known."""
        return None if self.facts.rule is None else self._passage("scores")

    def interest(self) -> str | None:
        """The power at the difference of interest; None where none was stated."""
        interest = part(self.facts.record, "power_at_interest")
        is_known = None not in (number(interest, "effect"), number(interest, "fitted"))
        return self._passage("interest") if is_known else None

    def exclusion(self) -> str | None:
        """'By rules that were sealed beforehand 2 of 12 workers were left out (...). ...'; None without rules."""
        return self._passage("exclusion") if part(self.facts.record, "worker_exclusion") else None

    def zeros(self) -> str:
        """The SDs that are zero or not identified."""
        return self._passage("zeros")

    def measures(self) -> str | None:
        """What effects are given, and how they are tested."""
        test = self.test()
        if test is None:
            return None
        return f"{self._passage('sizes_given')} Significance: {test}"

    def test(self) -> str | None:
        """The model and its test, or the family of its tests."""
        rule = self.facts.rule
        if rule is None:
            return None
        if self.together is not None:
            return family_sentences(rule, self.together, **self._sizes())
        return self._of_family(rule_sentence(rule))

    def paper_test(self) -> str | None:
        """The same as sentences of a paper."""
        rule = self.facts.rule
        if rule is None:
            return None
        if self.together is not None:
            return paper_sentences(rule, self.together, **self._sizes())
        return self._of_family(tested_as_planned(rule))

    def _sizes(self) -> dict[str, int]:
        return {"n_systems": len(self.facts.systems), "n_comparisons": len(self.facts.comparisons)}

    def _of_family(self, said: str) -> str:
        """The test of two systems, and that it was corrected together with those of other criteria."""
        family = self.facts.family
        corrected = "" if family is None else f" The p-value is given {family_words(family)}."
        return f"{self._named(said)}{corrected}"

    # What was estimated

    def effect(self) -> PowerAnswer | None:
        """Estimates with intervals and tests; of two systems on [0, 1] and on the scale of the ratings."""
        if self.together is not None:
            if not self.facts.has_result:
                return None
            return PowerAnswer(" ".join(self._findings_of_several()), table=self._differences())
        effect, scale, rule = reported_effect(self.facts.record), self.facts.scale, self.facts.rule
        estimate, interval = number(effect, "estimate"), bounds(effect, "interval")
        if estimate is None or interval is None:
            return None
        rows = [("on [0, 1], 1 is best", *_effect_cells(effect))]
        raw = part(effect, "raw")
        if number(raw, "estimate") is not None:
            name = "as rated" if scale is None else f"as rated, {scale.low:g} to {scale.high:g}"
            rows.append((name, *_effect_cells(raw)))
        between = " to ".join(map(estimated, interval))
        said = [f"{self._named('B - A')} = {estimated(estimate)} on [0, 1], {_level(self.facts)} {between}"]
        df, p_value = number(effect, "df"), self.facts.comparisons[0].p_value
        if rule is not None and rule.margin is not None:
            said.append(f"margin {margin_words(rule, scale)}")
        test = [] if df is None else [f"df = {df:.1f}"]
        test += [] if p_value is None else [p_of_family(self.facts, p_value)]
        if test:
            said.append(", ".join(test))
        head = (self._named("difference B - A"), "estimate", "standard error", _level(self.facts))
        return PowerAnswer(f"{'; '.join(said)}.", table=Table(head, tuple(rows)))

    def parameters(self) -> PowerAnswer | None:
        """The estimated parameters, for planning later studies; of one that is not identified the name alone."""
        if self.together is not None:
            result = estimated_parameters(self.facts)
            if result is None:
                return None
            said, several = result
            return PowerAnswer(said, is_whole=not self.facts.not_identified, table=several)
        shown = parameters_table(self.facts)
        if shown is None:
            return None
        codes, coding = bounds(part(self.facts.record, "parameters"), "coding"), ""
        if codes is not None:
            coding = f" under the coding {codes[0]:g}, {codes[1]:g} of {', '.join(self.facts.systems)}"
        estimator = words(self.facts.record, "estimator") or "an estimator that the document does not name"
        said = f"On [0, 1]{coding}, estimated by {estimator.upper()}."
        return PowerAnswer(said, is_whole=not listed(self.facts.record, "not_identified"), table=shown)

    def estimates(self) -> str | None:
        """The same in a line."""
        if self.together is None:
            known = {name: number(part(self.facts.record, "parameters"), name) for name in PARAMETER_NAMES}
            said = {name: plain(value) for name, value in known.items() if value is not None}
        else:
            joint = joint_parameters(self.facts)
            said = {name: plain(value) for name, value in joint.items() if not name.startswith("mean of ")}
            said = said or {
                name: f"{plain(min(of))} to {plain(max(of))}"
                for name, of in pair_parameters(self.facts).items()
            }
        said |= {name: "not identified" for name in self.facts.not_identified if name in said}
        shown = ", ".join(f"{name} {text}" for name, text in said.items())
        return f"Estimated parameters on [0, 1]: {shown}." if shown else None

    # What was found

    def findings(self) -> list[str | None]:
        """The result as sentences of a paper; empty without one."""
        facts = self.facts
        if self.together is None and number(part(facts.record, "effect"), "estimate") is None:
            return []
        if not facts.converged:
            return [
                "The model could not be fitted (it did not converge), so that there is no result to report."
            ]
        if self.together is None:
            return [self._passage(name) for name in ("estimate", "decision", "false_positives")]
        untested = (
            f"There is no test of {in_words(tuple(one.name for one in of))}: {why}."
            for why, of in facts.untested.items()
        )
        return [
            *self._findings_of_several(),
            *untested,
            *other_decisions(facts),
            self._passage("false_positives"),
        ]

    def _margin_decided(self) -> str:
        """What the interval says of the margin."""
        facts, one = self.facts, self.facts.comparisons[0]
        assert facts.rule is not None
        assert one.interval is not None
        systems, shown = (facts.systems[0], facts.systems[1]), one.significant is True
        return minus_of_numbers(
            margin_decision(facts.rule, systems, interval=one.interval, shown=shown, scale=facts.scale)
        )

    def decided(self) -> str:
        """What the study shows, in a sentence or two."""
        if not self.facts.has_result:
            return "There is no result: the model could not be fitted."
        if self.together is None:
            return self._decided_of_two()
        best = self.facts.ordered_means[:1]
        said = self._n_apart()
        return f"{best[0].system} has the best mean. {said}" if best else said

    def _decided_of_two(self) -> str:
        comparison, rule, names = self.facts.comparisons[0], self.facts.rule, self.facts.systems
        if comparison.reason is not None:
            return f"Nothing is decided: {comparison.reason}."
        p = "" if comparison.p_value is None else p_of_family(self.facts, comparison.p_value)
        scale, ends, estimate = self.facts.scale, comparison.interval, comparison.estimate
        is_simple = rule is not None and rule.margin is None and len(names) == 2
        if is_simple and rule and scale and ends is not None and estimate is not None:
            return decided_words(
                (names[0], names[1]),
                (estimate, *ends),
                scale,
                rule.alternative,
                shown=bool(comparison.significant),
                p=p,
                level=_level(self.facts),
            )
        nothing = f"No difference is shown{f' ({p})' if p else ''}, which does not show that there is none."
        return self._passage("decided") or nothing

    def headline(self) -> tuple[Fact, ...]:
        """The numbers that a page begins with."""
        if self.together is not None:
            return self._headline_of_several()
        effect, scale, on = reported_effect(self.facts.record), self.facts.scale, "on [0, 1]"
        if scale is not None and part(effect, "raw"):
            effect, on = part(effect, "raw"), f"on the scale {scale.low:g} to {scale.high:g}"
        estimate, ends = number(effect, "estimate"), bounds(effect, "interval")
        said: list[Fact] = []
        if estimate is not None and self.facts.converged:
            said.append((self._named(f"B - A {on}"), minus_of_numbers(estimated(estimate))))
        if ends is not None:
            said.append((_level(self.facts), minus_of_numbers(" to ".join(map(estimated, ends)))))
        return tuple(said)

    def _headline_of_several(self) -> tuple[Fact, ...]:
        if not self.facts.has_result:
            return ()
        apart = sum(one.significant is True for one in self.facts.comparisons)
        shown = ("significant differences", f"{apart:,} of {len(self.facts.comparisons):,}")
        if self.together is not None and self.together.drop_result:
            return ("Best", self.together.drop_result), shown
        best = self.facts.ordered_means[:1]
        return *((f"best mean: {one.system}", self._mean(one.mean)) for one in best), shown

    # Tables

    def tables(self) -> tuple[Table, ...]:
        """The results: of two systems with the parameters, of several the means and the differences."""
        if self.together is None:
            shown = result_table(self.facts)
            return () if shown is None else (shown,)
        if not self.facts.has_result:
            return ()
        return (*([self._means()] if self.facts.means else []), self._differences())

    def compared(self) -> str:
        """Which systems the tables are of."""
        names = self.facts.systems
        if self.together is not None:
            return f"Human evaluation of {counted(len(names), 'system')}."
        return f"Human evaluation{f' of {names[0]} and {names[1]}' if len(names) == 2 else ''}."

    def caption(self) -> str:
        """What the tables are on."""
        on = f" on {self.facts.criterion}" if self.facts.criterion else ""
        units = " Means and SDs are on [0, 1], where 1 is best." if self.together is None else ""
        return f"{self.compared().removesuffix('.')}{on}.{units}"

    def _means(self) -> Table:
        """A row for each system, as the findings have it; of a record without them, best first."""
        findings = findings_over([self.facts], self.caption())
        if findings is not None:
            return findings
        letters = group_letters(self.facts.groups)
        columns: dict[str, Callable[[Mean], str]] = {
            "system": lambda one: one.system,
            "mean": lambda one: self._mean(one.mean),
        }
        if letters:
            columns["groups"] = lambda one: letters.get(one.system, "")
        return table(self.facts.ordered_means, columns, f"{self.caption()} Means are {self.unit.words}.")

    def _differences(self) -> Table:
        """A row for each comparison, with its p-value after the correction of the family."""
        intervals = " The intervals are not corrected." if self._is_corrected else ""
        if any(one.is_simultaneous for one in self.facts.comparisons):
            intervals = " The intervals cover together."
        return table(
            self.facts.ranked_comparisons,
            {
                "difference": lambda one: one.name,
                "estimate": lambda one: "" if one.estimate is None else self._difference(one.estimate),
                "interval": self._ends,
                "corrected p" if self._is_corrected else "p": lambda one: (
                    NO_P if one.p_value is None else p_cell(one.p_value)
                ),
            },
            f"{self.caption()} Differences are {self.unit.words}.{intervals}",
        )

    def _findings_of_several(self) -> Iterator[str]:
        """The means, the differences that are shown, and the groups; where looks dropped systems, first the
        best."""
        dropping = "" if self.together is None else self.together.drop_result
        if dropping:
            yield dropping
        if self.facts.means:
            ranked = in_words(tuple(map(self._ranked, self.facts.ordered_means)))
            of = " by the workers who rated all systems" if dropping else ""
            yield f"The mean ratings{of}, {self.unit.words}, are {ranked}."
        apart = [one for one in self.facts.ranked_comparisons if one.significant]
        yield self._n_apart()
        if 0 < len(apart) <= _MOST_TOLD:
            yield f"{'; '.join(map(self._sentence_of, apart))}."
        elif apart:
            best = self.facts.ordered_means[0].system if self.facts.means else self.facts.systems[0]
            if self.together is not None and self.together.family.baseline is not None:
                best = self.together.family.baseline
            own = [one for one in self.facts.ranked_comparisons if best in (one.first, one.second)]
            yield f"Differences of {best} from the others: {'; '.join(map(self._sentence_of, own))}."
        together = [group for group in self.facts.groups if len(group) > 1]
        if together:
            yield f"Not told apart: {'; '.join(', '.join(group) for group in together)}."
        if len(apart) < len(self.facts.comparisons):
            yield "That a difference is not significant does not show that there is none."

    def _n_apart(self) -> str:
        """How many of the differences are shown, as a sentence."""
        assert self.together is not None
        apart = sum(one.significant is True for one in self.facts.comparisons)
        of, are = counted(len(self.facts.comparisons), "difference"), "is" if apart == 1 else "are"
        return f"{apart:,} of {of} {are} significant {family_words(self.together)}."

    def _ranked(self, one: Mean) -> str:
        between = ""
        if one.interval is not None:
            ends = self.unit.interval(*self.unit.mean_interval(*one.interval))
            between = f" ({_level(self.facts)} {with_minus(ends)})"
        return f"{one.system} {self._mean(one.mean)}{between}"

    def _sentence_of(self, one: ComparisonFacts) -> str:
        between = "" if one.interval is None else f" ({_level(self.facts)} {self._ends(one)})"
        corrected = "corrected " if self._is_corrected else ""
        test = "" if one.p_value is None else f", {corrected}{p_words(one.p_value)}"
        return f"{one.name} is {self._difference(one.estimate or 0.0)}{between}{test}"

    @property
    def unit(self) -> Unit:
        """What means and differences are shown in."""
        return Unit(self.facts.scale or RatingScale(0.0, 1.0, source="inferred"))

    def _mean(self, value: float) -> str:
        """A mean in these units."""
        return with_minus(self.unit.shown(self.unit.mean(value)))

    def _difference(self, value: float) -> str:
        return with_minus(self.unit.shown(self.unit.difference(value), more=1, signed=True))

    def _ends(self, one: ComparisonFacts) -> str:
        if one.interval is None:
            return ""
        return with_minus(self.unit.interval(*self.unit.difference_interval(*one.interval), more=1))

    @property
    def _is_corrected(self) -> bool:
        return self.together is not None and self.together.is_corrected


def tested_as_planned(rule: DecisionRule) -> str:
    """The model and the test of two systems as sentences of a paper."""
    model = model_words(rule)
    fitted = f"We fitted a {model[0].lower()}{model[1:]}, by {estimator_words(rule)}"
    if rule.margin is not None:
        return f"{fitted}. {margin_test(rule)}{reported_words(rule)}"
    sides = "two-sided" if rule.alternative == "two-sided" else "one-sided (B - A above zero)"
    return (
        f"{fitted}, and compared the {'latent ' if rule.is_latent else ''}difference over its standard error with "
        f"{reference_of(rule)} ({sides}, alpha {rule.alpha:g}).{reported_words(rule)}"
    )


def _effect_cells(effect: JsonRecord) -> tuple[str, str, str]:
    of = _numbers(effect)
    return (
        "" if of["estimate"] is None else estimated(of["estimate"]),
        "" if of["error"] is None else f"{of['error']:#.2g}",
        "" if of["ends"] is None else " to ".join(map(estimated, of["ends"])),
    )


def _numbers(effect: JsonRecord) -> dict[str, Any]:
    """The numbers of an effect, None where it has none."""
    return {
        "estimate": number(effect, "estimate"),
        "error": number(effect, "standard_error"),
        "ends": bounds(effect, "interval"),
        "df": number(effect, "df"),
        "simulated_size": number(effect, "simulated_size"),
    }


def _left_out(record: JsonRecord) -> dict[str, Any]:
    """Workers whom rules left out, and what the difference would be with them where it is known."""
    result = part(record, "worker_exclusion")
    kept, of = (int(number(part(result, "workers"), name) or 0) for name in ("with_rules", "without_rules"))
    rules = [
        f"{int(number(rule, 'workers') or 0):,} {rule.get('words')}"
        if rule.get("applied")
        else f"not applied: {rule.get('rule')}"
        for rule in listed(result, "by_rule")
    ]
    rows, other = listed(result, "comparisons"), None
    if kept < of and len(rows) == 1:
        without = part(rows[0], "without_rules")
        estimate, p_value = number(without, "estimate"), number(without, "p_value")
        if estimate is not None and p_value is not None:
            ends = map(float, listed(without, "interval"))
            other = {"estimate": estimate, "interval": interval_words(*ends), "p": p_words(p_value)}
    counts = {"out": of - kept, "of": counted(of, "worker")}
    return {"sealed": result.get("sealed"), **counts, "rules": rules, "other": other}


def p_of_family(facts: StudyFacts, value: float) -> str:
    """'p = 0.012', and after which correction where the test was made with those of other criteria."""
    family = facts.family
    if family is None or not family.is_corrected:
        return p_words(value)
    return f"{p_words(value)} {family_words(family)}"


def _level(facts: StudyFacts) -> str:
    """'95 % interval'; an interval that goes with a one-sided test leaves alpha on both sides."""
    return "interval" if facts.rule is None else f"{level_of(facts.rule.confidence)} interval"


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
        named = [one.name for one in facts.ranked_comparisons if {one.first, one.second} in parted]
        sentence = in_words(tuple(named))
        yield f"{words_of_it} {sentence} would be decided differently."
