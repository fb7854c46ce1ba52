"""The comparison of two systems, A and B, in words: what was fitted, what was found, and its table."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.analyze.family import family_words
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.numbers import MINUS, minus_of_numbers
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.report.facts.pair_findings import p_of_family, pair_findings
from humeval_power.reporting.report.facts.pair_tables import parameters_table, result_table
from humeval_power.reporting.report.facts.record import StudyFacts
from humeval_power.reporting.report.power_answers import Answer
from humeval_power.reporting.rule_words import (
    estimator_words,
    margin_test,
    margin_words,
    model_words,
    reference_of,
    reported_words,
    rule_sentence,
)
from humeval_power.reporting.values import Document, bounds, estimated, listed, number, part, plain, words
from humeval_power.rules import DecisionRule


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
        test = "" if found.p_value is None else f" ({p_of_family(self.facts, found.p_value)})"
        if rule is not None and rule.margin is not None:
            shown = "is shown" if found.significant else "is not shown"
            return f"That {names[1]} is {rule.alternative} to {names[0]} {shown}{test}."
        if found.significant and len(names) == 2:
            better, worse = names[::-1] if (found.estimate or 0.0) > 0 else names
            return f"{better} is rated higher than {worse}{test}."
        return f"No difference is shown{test}, which does not show that there is none."

    def headline(self) -> tuple[Fact, ...]:
        """The difference and its interval."""
        effect = part(self.facts.record, "effect")
        estimate, ends = number(effect, "estimate"), bounds(effect, "interval")
        said: list[Fact] = []
        if estimate is not None and self.facts.converged:
            said.append((self._named("B - A on [0, 1]"), minus_of_numbers(estimated(estimate))))
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
