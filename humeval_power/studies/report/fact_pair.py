"""The comparison of two systems, A and B, in words: what was fitted and found, in sentences and in tables."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import decided_words, with_names
from humeval_power.saying.document import Fact, Table
from humeval_power.saying.numbers import MINUS, minus_of_numbers, p_words, with_minus
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
)
from humeval_power.saying.values import Document, bounds, estimated, listed, number, part, plain, words
from humeval_power.studies.analyze.family import family_words
from humeval_power.studies.plan.words import SD_WORDS
from humeval_power.studies.report.fact_record import StudyFacts
from humeval_power.studies.report.power_answers import Answer, sequential_sentence


@dataclass(frozen=True, slots=True)
class PairWords:
    """What a comparison of two systems says of itself."""

    facts: StudyFacts

    def systems(self) -> Answer | None:
        """The two, and whose difference it is."""
        names = self.facts.systems
        if len(names) != 2:
            return None
        return Answer(f"{names[0]} and {names[1]}; the difference is {names[1]} {MINUS} {names[0]}.")

    def _named(self, said: str) -> str:
        """Our words about A and B with the systems' names, where there are two."""
        names = self.facts.systems
        return with_names(minus_of_numbers(said), (names[0], names[1])) if len(names) == 2 else said

    def scores(self) -> str | None:
        """How ratings become the numbers that are reported; None where the analysis is not known."""
        rule, scale = self.facts.rule, self.facts.scale
        if rule is None:
            return None
        mapped = (
            ""
            if scale is None
            else f"Ratings on {scale.low:g} to {scale.high:g} were moved to [0, 1], 1 being best. "
        )
        if rule.analysis == "differences":
            return mapped + self._named(
                "Each worker's rating of an item under A was subtracted from that under B; the difference "
                "reported is the mean estimated by a mixed model of these differences."
            )
        if rule.is_latent:
            return mapped + self._named(
                "They were neither averaged nor taken for numbers: the model is of the single ratings as "
                "categories, and the difference B - A reported is that of the expected ratings."
            )
        return mapped + self._named(
            "They were not averaged beforehand: the difference B - A reported is a fixed effect of a "
            "mixed model of the single ratings."
        )

    def measures(self) -> str | None:
        """What effects are given, and how they are tested."""
        test = self.test()
        if test is None:
            return None
        known = number(part(self.facts.record, "standardised"), "by_rating") is not None
        in_sd = ", and in SDs of a single rating" if known else ""
        return (
            self._named(f"Size: the difference B - A on [0, 1] with its interval{in_sd}. ")
            + f"Significance: {test}"
        )

    def test(self) -> str | None:
        """The model and the test."""
        return (
            None
            if self.facts.rule is None
            else f"{self._named(rule_sentence(self.facts.rule))}{self._family()}"
        )

    def _family(self) -> str:
        """That the test was corrected together with those of other criteria."""
        family = self.facts.family
        return "" if family is None else f" The p-value is given {family_words(family)}."

    def paper_test(self) -> str | None:
        """The same as sentences of a paper."""
        return (
            None
            if self.facts.rule is None
            else f"{self._named(tested_as_planned(self.facts.rule))}{self._family()}"
        )

    def effect(self) -> Answer | None:
        """Estimate, interval and test on [0, 1] and on the scale of the ratings."""
        effect, scale, rule = part(self.facts.record, "effect"), self.facts.scale, self.facts.rule
        estimate, interval = number(effect, "estimate"), bounds(effect, "interval")
        if estimate is None or interval is None:
            return None
        rows = [("on [0, 1], 1 is best", *_effect_cells(effect))]
        raw = part(effect, "raw")
        if number(raw, "estimate") is not None:
            name = "as rated" if scale is None else f"as rated, {scale.low:g} to {scale.high:g}"
            rows.append((name, *_effect_cells(raw)))
        between = f"{estimated(interval[0])} to {estimated(interval[1])}"
        said = f"{self._named('B - A')} = {estimated(estimate)} on [0, 1], {self._level()} {between}"
        df, p_value = number(effect, "df"), self.facts.comparisons[0].p_value
        if rule is not None and rule.margin is not None:
            said += f"; margin {margin_words(rule, scale)}"
        test = [] if df is None else [f"df = {df:.1f}"]
        test += [] if p_value is None else [p_of_family(self.facts, p_value)]
        return Answer(
            "; ".join([said, *filter(None, [", ".join(test)])]) + ".",
            table=Table(
                (self._named("difference B - A"), "estimate", "standard error", self._level()), tuple(rows)
            ),
        )

    def _level(self) -> str:
        """'95 % interval'; an interval that goes with a one-sided test leaves alpha on both sides."""
        rule = self.facts.rule
        return "interval" if rule is None else f"{100 * rule.confidence:g} % interval"

    def parameters(self) -> Answer | None:
        """For planning later studies; one that the table does not identify is named, not numbered."""
        table = parameters_table(self.facts)
        if table is None:
            return None
        codes = bounds(part(self.facts.record, "parameters"), "coding")
        coding = (
            ""
            if codes is None
            else f" under the coding {codes[0]:g}, {codes[1]:g} of {', '.join(self.facts.systems)}"
        )
        estimator = words(self.facts.record, "estimator") or "an estimator that the document does not name"
        said = f"On [0, 1]{coding}, estimated by {estimator.upper()}."
        return Answer(said, is_whole=not listed(self.facts.record, "not_identified"), table=table)

    def estimates(self) -> str | None:
        """The same in a line."""
        values = part(self.facts.record, "parameters")
        known = {name: value for name in PARAMETER_NAMES if (value := number(values, name)) is not None}
        shown = ", ".join(f"{name} {plain(value)}" for name, value in known.items())
        return f"Estimated parameters on [0, 1]: {shown}." if known else None

    def findings(self) -> list[str | None]:
        """The result as sentences of a paper."""
        return pair_findings(self.facts)

    def decided(self) -> str:
        """What the study shows, in a sentence."""
        if not self.facts.has_result:
            return "There is no result: the model could not be fitted."
        found, rule, names = self.facts.comparisons[0], self.facts.rule, self.facts.systems
        if found.reason is not None:
            return f"Nothing is decided: {found.reason}."
        p = "" if found.p_value is None else p_of_family(self.facts, found.p_value)
        scale, ends, estimate = self.facts.scale, found.interval, found.estimate
        if (
            rule is not None
            and rule.margin is None
            and scale
            and ends
            and estimate is not None
            and len(names) == 2
        ):
            return decided_words(
                (names[0], names[1]),
                (estimate, *ends),
                scale,
                rule.alternative,
                shown=bool(found.significant),
                p=p,
                level=self._level(),
            )
        test = f" ({p})" if p else ""
        if rule is not None and rule.margin is not None:
            shown = "is shown" if found.significant else "is not shown"
            return f"That {names[1]} is {rule.alternative} to {names[0]} {shown}{test}."
        if found.significant and len(names) == 2:
            better, worse = names[::-1] if (found.estimate or 0.0) > 0 else names
            return f"{better} is rated higher than {worse}{test}."
        return f"No difference is shown{test}, which does not show that there is none."

    def headline(self) -> tuple[Fact, ...]:
        """The difference and its interval, in points where there is a scale."""
        effect, scale, on = part(self.facts.record, "effect"), self.facts.scale, "on [0, 1]"
        if scale is not None and part(effect, "raw"):
            effect, on = part(effect, "raw"), f"on the scale {scale.low:g} to {scale.high:g}"
        estimate, ends = number(effect, "estimate"), bounds(effect, "interval")
        said: list[Fact] = []
        if estimate is not None and self.facts.converged:
            said.append((self._named(f"B - A {on}"), minus_of_numbers(estimated(estimate))))
        if ends is not None:
            said.append((self._level(), minus_of_numbers(" to ".join(map(estimated, ends)))))
        return tuple(said)

    def tables(self) -> tuple[Table, ...]:
        """The difference on both scales, and the parameters."""
        found = result_table(self.facts)
        return () if found is None else (found,)

    def compared(self) -> str:
        """Which systems the table is of."""
        names = self.facts.systems
        of = f" of {' and '.join(names)}" if len(names) == 2 else ""
        return f"Human evaluation{of}."

    def caption(self) -> str:
        """What the table shows."""
        criterion = self.facts.criterion
        of = self.compared().removesuffix(".")
        on = f" on {criterion}" if criterion else ""
        return f"{of}{on}. Means and SDs are on [0, 1], where 1 is best."


def tested_as_planned(rule: DecisionRule) -> str:
    """The model and the test of two systems as sentences of a paper."""
    model = model_words(rule)
    fitted = f"We fitted a {model[0].lower()}{model[1:]}, by {estimator_words(rule)}"
    if rule.margin is not None:
        return f"{fitted}. {margin_test(rule)}{reported_words(rule)}"
    sides = "two-sided" if rule.alternative == "two-sided" else "one-sided (B - A above zero)"
    scale = "latent " if rule.is_latent else ""
    return (
        f"{fitted}, and compared the "
        f"{scale}difference over its standard error with {reference_of(rule)} ({sides}, alpha "
        f"{rule.alpha:g}).{reported_words(rule)}"
    )


def _effect_cells(effect: Document) -> tuple[str, str, str]:
    estimate, error, interval = (
        number(effect, "estimate"),
        number(effect, "standard_error"),
        bounds(effect, "interval"),
    )
    return (
        "" if estimate is None else estimated(estimate),
        "" if error is None else f"{error:#.3g}",
        "" if interval is None else f"{estimated(interval[0])} to {estimated(interval[1])}",
    )


def pair_findings(facts: StudyFacts) -> list[str | None]:
    """The difference with its interval and test, its decision, and what there is to mind."""
    if number(part(facts.record, "effect"), "estimate") is None:
        return []
    if not facts.converged:
        return [
            "The model could not be fitted (it did not converge), so that there is no result to report."
        ]
    return [
        _difference(facts),
        _as_rated(facts),
        _no_test(facts) or sequential_sentence(facts.record) or _decision(facts),
        _false_positives(facts),
    ]


def zeros(facts: StudyFacts) -> str | None:
    """The SDs that are zero or not identified, as sentences."""
    said = [f"Estimated as zero: {', '.join(facts.boundary)}."] if facts.boundary else []
    unknown = facts.not_identified
    said += [f"Not identified by this design: {', '.join(unknown)}."] if unknown else []
    return " ".join(said) or None


def p_of_family(facts: StudyFacts, value: float) -> str:
    """'p = 0.012', and after which correction where the test was made with those of other criteria."""
    family = facts.family
    if family is None or family.family.correction == "none":
        return p_words(value)
    return f"{p_words(value)} {family_words(family)}"


def _minus(facts: StudyFacts) -> str:
    """The difference of the two systems by their names."""
    names = facts.systems if len(facts.systems) == 2 else ("A", "B")
    return f"{names[1]} {MINUS} {names[0]}"


def _difference(facts: StudyFacts) -> str:
    effect = part(facts.record, "effect")
    estimate = number(effect, "estimate") or 0.0
    error, df = (number(effect, name) for name in ("standard_error", "df"))
    p_value = facts.comparisons[0].p_value
    test = [] if error is None else [f"standard error {error:#.3g}"]
    test += [_interval(facts, bounds(effect, "interval"))]
    test += [] if df is None else [f"df = {df:.1f}"]
    test += [] if p_value is None else [p_of_family(facts, p_value)]
    return (
        f"The estimated difference {_minus(facts)} is {with_minus(estimated(estimate))} on [0, 1] "
        f"({', '.join(filter(None, test))})."
    )


def _as_rated(facts: StudyFacts) -> str | None:
    raw, scale = part(facts.record, "effect", "raw"), facts.scale
    estimate = number(raw, "estimate")
    if estimate is None or scale is None:
        return None
    interval = _interval(facts, bounds(raw, "interval"))
    between = f" ({interval})" if interval else ""
    low = (
        ""
        if scale.higher_is_better
        else f"; low ratings are good, so that a negative difference favours {facts.systems[1]}"
    )
    return (
        f"On the scale of the ratings, {scale.low:g} to {scale.high:g}, this is "
        f"{with_minus(estimated(estimate))}{between}{low}."
    )


def _interval(facts: StudyFacts, ends: tuple[float, float] | None) -> str:
    if ends is None:
        return ""
    low, high = (with_minus(estimated(end)) for end in ends)
    if facts.rule is None:
        return f"interval {low} to {high}"
    return f"{100 * facts.rule.confidence:g} % interval {low} to {high}"


def _no_test(facts: StudyFacts) -> str | None:
    reason = facts.comparisons[0].reason
    return None if reason is None else f"There is no test of this difference, and no decision: {reason}."


def _decision(facts: StudyFacts) -> str | None:
    """By the rule that the document states."""
    found, rule, systems = facts.comparisons[0], facts.rule, facts.systems
    if rule is None or found.significant is None or found.estimate is None or len(systems) != 2:
        return None
    if rule.margin is not None:
        if found.interval is None:
            return None
        names = systems[0], systems[1]
        return minus_of_numbers(
            margin_decision(
                rule, names, interval=found.interval, shown=found.significant, scale=facts.scale
            )
        )
    if not found.significant:
        return (
            f"At alpha {rule.alpha:g} the study has not shown a difference, which does not show that there is "
            "none: the interval says which differences remain possible."
        )
    better, worse = (systems[1], systems[0]) if found.estimate > 0 else (systems[0], systems[1])
    return f"At alpha {rule.alpha:g} the difference is significant: {better} was rated higher than {worse}."


def _false_positives(facts: StudyFacts) -> str | None:
    """A caution where the test is known to be too bold with so few workers."""
    rule, workers = facts.rule, facts.n_workers
    size = number(part(facts.record, "effect"), "simulated_size")
    if size is not None:
        null = "without a difference"
        if rule is not None and rule.margin is not None:
            null = "with a difference at the margin"
        return (
            f"In studies of this size simulated {null}, the test was significant in a share of {size:.3f}."
        )
    if rule is None or workers is None or not is_too_bold(rule, workers):
        return None
    return f"With {workers:.0f} workers this test is significant more often than alpha says."


def result_table(facts: StudyFacts) -> Table | None:
    """Estimate, standard error and interval of each quantity; None where nothing was estimated."""
    if not facts.has_result:
        return None
    study, scale = facts.record, facts.scale
    pair = facts.systems[0], facts.systems[-1]
    minus = with_names(f"B {MINUS} A", pair)
    rows = [_row(f"{minus}, on [0, 1]", part(study, "effect"), sign=True)]
    if scale is not None:
        name = f"{minus}, as rated, {scale.low:g} to {scale.high:g}"
        rows.append(_row(name, part(study, "effect", "raw"), sign=True))
    return Table(
        ("quantity", "estimate", "standard error", "interval"), (*rows, *_parameter_rows(study, pair))
    )


def _parameter_rows(study: Document, pair: tuple[str, str]) -> list[tuple[str, ...]]:
    """The baseline and the SDs, on [0, 1]; one that is not identified has no number."""
    values, errors = part(study, "parameters"), part(study, "standard_errors")
    intervals, unknown = part(study, "intervals"), listed(study, "not_identified")
    rows: list[tuple[str, ...]] = []
    for name in PARAMETER_NAMES:
        if name == "effect" or number(values, name) is None:
            continue
        label = "mean of both systems" if name == "baseline" else _sd(name, pair)
        if name in unknown:
            rows.append((label, "not identified", "", ""))
            continue
        shown = {
            "estimate": values[name],
            "standard_error": errors.get(name),
            "interval": intervals.get(name),
        }
        rows.append(_row(label, shown, sign=False))
    return rows


def parameters_table(facts: StudyFacts) -> Table | None:
    """The seven parameters with their standard errors; None where one of them is not there."""
    values = part(facts.record, "parameters")
    if any(number(values, name) is None for name in PARAMETER_NAMES):
        return None
    unknown, zero = listed(facts.record, "not_identified"), listed(facts.record, "boundary")
    errors = part(facts.record, "standard_errors")
    rows = []
    for name in PARAMETER_NAMES:
        value, error = number(values, name), number(errors, name)
        shown = "not identified" if name in unknown or value is None else plain(value)
        shown += " (at the boundary)" if name in zero and name not in unknown else ""
        rows.append((name, shown, "" if error is None or name in unknown else f"{error:#.2g}"))
    return Table(("parameter", "estimate", "standard error"), tuple(rows))


def _sd(name: str, pair: tuple[str, str]) -> str:
    said = SD_WORDS[name].replace("B - A", f"B {MINUS} A")
    return with_names(f"SD: {said[0].lower()}{said[1:]}", pair)


def _row(label: str, values: Document, *, sign: bool) -> tuple[str, ...]:
    estimate, error, ends = (
        number(values, "estimate"),
        number(values, "standard_error"),
        bounds(values, "interval"),
    )
    return (
        label,
        "" if estimate is None else _shown(estimate, sign),
        "" if error is None else f"{error:#.2g}",
        "" if ends is None else " to ".join(_shown(end, sign) for end in ends),
    )


def _shown(value: float, sign: bool) -> str:
    text = estimated(value) if sign else f"{value:#.3g}".removesuffix(".")
    return with_minus(text)
