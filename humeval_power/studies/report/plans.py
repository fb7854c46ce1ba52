"""A plan in the words of forms: nothing in them comes from ratings of the study itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humeval_power.designs import Design
from humeval_power.families import FamilyOfTests
from humeval_power.parameters import PARAMETER_NAMES, STANDARD_DEVIATIONS
from humeval_power.rules import DecisionRule, claim
from humeval_power.saying.answer_words import points_words, with_names
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import in_words, minus_of_numbers, with_minus
from humeval_power.saying.rule_words import (
    assumptions_of,
    claim_words,
    hypothesis_words,
    margin_words,
    rule_sentence,
)
from humeval_power.saying.values import plain, share, signed
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.family import family_words
from humeval_power.studies.looks.result_dropping import drop_rule
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import PlannedSystems
from humeval_power.studies.plan.result_sections import is_observed_effect, looks_sentence
from humeval_power.studies.plan.result_words import (
    OBSERVED,
    SD_WORDS,
    compared_words,
    criteria_words,
    design_words,
    said_words,
    test_words,
)
from humeval_power.studies.report.fact_record import family_sentences, paper_sentences
from humeval_power.studies.report.fact_words import tested_as_planned
from humeval_power.studies.report.power_answers import PowerAnswer
from humeval_power.systems import GOAL_WORDS, goal_clause


@dataclass(frozen=True, slots=True)
class PlanWords:
    """What a plan says of itself, for any form; A and B are the systems of a plan of two."""

    plan: Plan

    @property
    def many(self) -> PlannedSystems | None:
        """What a plan of several systems, or several criteria, decides of them."""
        return self.plan.many

    def _named(self, said: str) -> str:
        """Our words about A and B with the systems' names."""
        return with_names(minus_of_numbers(said), self.plan.pair)

    def _tests(self, many: PlannedSystems) -> FamilyOfTests:
        """The planned family of tests."""
        criteria = many.criteria if many.family.over == "all" else ()
        n_looks = 0 if self.plan.looks is None else self.plan.looks.looks.n_looks
        drops = "" if self.plan.drops_systems else None
        return FamilyOfTests(many.family, many.n_tests, criteria, n_looks, drops)

    def _sizes(self, many: PlannedSystems) -> dict[str, int]:
        names = self.plan.systems
        return {"n_systems": len(names), "n_comparisons": len(many.family.pairs(names))}

    def conditions(self, design: Design) -> str:
        """The systems, the criteria, and who rates what."""
        names, many = self.plan.systems, self.many
        n = "Two" if len(names) == 2 else f"{len(names)}"
        criteria = f" Each output is rated on {criteria_words(many)}." if many and many.criteria else ""
        return f"{n} systems: {in_words(names)}. {design_words(design, names)}{criteria}"

    def randomisation(self, design: Design) -> str | None:
        """How the assignment is drawn; None for halves, of which the plan does not say who belongs to which."""
        if design.kind in ("k-per-item", "split"):
            return f"Who rates which item is drawn at random, with seed {design.seed}."
        if design.kind == "crossed":
            return "Every worker rates every output, so that there is nothing to draw about who rates what."
        return None

    def sample_size(self, design: Design) -> str:
        """All the numbers of the planned design."""
        cap = self.plan.max_ratings_per_worker
        most = "" if cap is None else f", at most {cap:,} by one worker"
        each = " The numbers are those of one criterion." if len(self.plan.criteria) > 1 else ""
        return (
            f"{design.n_workers:,} workers and {design.items_in_words}, {design.ratings_per_item:g} ratings of "
            f"each item under each system, {design.n_ratings:,} ratings in all{most}.{each}"
        )

    def size_rationale(self) -> str:
        """The power at the difference of interest, and what it rests on."""
        shares = () if self.many is None else self.many.shares
        other = "; ".join(f"{GOAL_WORDS[one.goal].name}: {share(one.share)}" for one in shares)
        also = f" Other shares of the same simulated studies: {other}." if other else ""
        smaller = "A smaller difference is not what the study is built to find."
        if self.plan.rule.margin is not None:
            smaller = "A smaller margin is not what the study is built to show."
        return (
            f"Power: {self.power()}{also} {smaller} Assumed "
            f"standard deviations on [0, 1], from {self.plan.source.name}: {self._deviations()}."
        )

    def _deviations(self) -> str:
        if self.many is None:
            coded = self.plan.parameters.recoded()
            names = [*STANDARD_DEVIATIONS, *(["sd_worker_item"] if coded.sd_worker_item else [])]
            return "; ".join(
                f"{self._named(SD_WORDS[name])}: {plain(getattr(coded, name))}" for name in names
            )
        assumed = self.many.parameters
        shared = {
            "workers": assumed.sd_worker,
            "items": assumed.sd_item,
            **({"documents": assumed.sd_document} if assumed.has_documents else {}),
            "ratings beyond that (noise)": assumed.sd_residual,
        }
        own = {
            "workers about a system": assumed.sd_worker_system,
            "items about a system": assumed.sd_item_system,
            **({"documents about a system": assumed.sd_document_system} if assumed.has_documents else {}),
        }
        said = [f"{name} {plain(value)}" for name, value in shared.items()]
        return "; ".join([*said, *(f"{name} {self._of_each(values)}" for name, values in own.items())])

    def _of_each(self, values: tuple[float, ...]) -> str:
        if len(set(values)) == 1:
            return plain(values[0])
        return ", ".join(
            f"{plain(sd)} ({name})" for name, sd in zip(self.plan.systems, values, strict=True)
        )

    def stopping_rule(self) -> str:
        """When collection ends, and whether the data are tested before."""
        if self.plan.looks is not None:
            return (
                f"Collection ends when all planned ratings are in, or before. {looks_sentence(self.plan)}"
            )
        once = "There is one test" if self.many is None else "The tests are made once"
        return f"Collection ends when all planned ratings are in. {once}, at the end."

    def transformations(self) -> str:
        """How ratings become numbers on [0, 1], and what a difference is."""
        if self.many is None:
            a, b = self.plan.pair
            coding = f"In the model {a} is coded -0.5 and {b} 0.5, so that its effect is the difference {b} - {a}."
        elif self.many.family.model == "pairwise":
            coding = (
                "In the model of a pair its first system is coded -0.5 and its second 0.5, so that its "
                "effect is their difference."
            )
        else:
            coding = "The model has a mean for each system; a difference is that of two of these means."
        return f"{self.moved()} {coding}"

    def moved(self) -> str:
        """How ratings become numbers on [0, 1]."""
        scale = "" if self.plan.scale is None else f"on {_range(self.plan.scale)} "
        return f"Ratings {scale}are moved to [0, 1], 1 being best, by a straight line."

    def models(self) -> str:
        """The model and its test, or the family of its tests."""
        rule = self.plan.rule
        if self.many is None:
            return self._named(rule_sentence(rule, by_intervals=self.plan.by_intervals))
        return family_sentences(rule, self._tests(self.many), **self._sizes(self.many))

    def paper_test(self) -> str:
        """The same as sentences of a paper."""
        rule = self.plan.rule
        if self.many is None:
            by_intervals = self.plan.by_intervals
            return self._named(
                rule_sentence(rule, by_intervals=True) if by_intervals else tested_as_planned(rule)
            )
        return paper_sentences(rule, self._tests(self.many), **self._sizes(self.many))

    def inference(self) -> str:
        """What is claimed after which result."""
        rule, many = self.plan.rule, self.many
        alpha = f"{rule.alpha:g}"
        nothing = "no difference has been shown, which does not show that there is none"
        if many is None:
            claimed, not_shown = claim_words(rule, self.plan.pair, by_intervals=self.plan.by_intervals)
            if rule.margin is not None:
                nothing = f"the study has not shown {not_shown}"
            return (
                f"Alpha is {alpha}. {claimed} Otherwise {nothing}. The difference is reported with its interval "
                "either way."
            )
        claimed = said_words(rule)
        if rule.alternative == "greater":
            claimed = f"A system is said to be better than {_lower(many)}"
        if rule.margin is not None:
            nothing = "this has not been shown, which does not show that the systems differ"
        if self.plan.drops_systems:
            return (
                f"Alpha is {alpha}. {drop_rule(rule.alpha)} Where no claim is made {nothing}. Every difference is "
                "reported with its interval either way; these cover together."
            )
        return (
            f"Alpha is {alpha}, for p-values {family_words(self._tests(many))}. {claimed} "
            f"if the p-value of their difference is at most {alpha} after this. "
            f"Otherwise {nothing}. Every difference is reported with its interval either way."
        )

    def exclusions(self) -> str:
        """The planned rules."""
        if not self.plan.left_out_words:
            return "None: every rating that is collected is analysed."
        return (
            f"{' '.join(self.plan.left_out_words)} These rules are applied without looking at the difference "
            "between the systems; how many ratings each removes is reported, and so is the result without "
            "exclusions."
        )

    def missing_data(self) -> str:
        """What the analysis does where ratings are missing."""
        if self.plan.rule.analysis == "differences":
            return "Ratings without a partner under the other system are left out; nothing is filled in."
        return (
            "All ratings that there are enter the model, also those of workers who did not finish; nothing is "
            "filled in."
        )

    def assumptions(self) -> str:
        """What the model takes for granted."""
        return assumptions_of(self.plan.rule)

    def hypothesis(self) -> str:
        """The question, the hypothesis that is tested, and the difference of interest."""
        rule, many = self.plan.rule, self.many
        if many is None:
            hypothesis, of_which = hypothesis_words(rule, self.plan.pair), f" {self._named('B - A')}"
        else:
            tested = f"; tested are {compared_words(many)}"
            shown = _differing(rule, many) if rule.margin is None else goal_clause(many.goal, rule)
            hypothesis, of_which = f"{shown}{tested}", ""
        said = f"{self.plan.question} Hypothesis: {hypothesis}."
        if rule.margin is None:
            return f"{said} The smallest difference{of_which} of interest is {self.difference()}."
        margin = margin_words(rule, self.plan.scale)
        return f"{said} The margin, the smallest difference{of_which} that would matter, is {margin}."

    def measured(self) -> str:
        """The dependent variable."""
        scale = "" if self.plan.scale is None else f", on {self.plan.scale}"
        on = f", on each of {criteria_words(self.many)}" if self.many and self.many.criteria else ""
        return f"The rating that a worker gives to an output{scale}{on}."

    def pilot(self) -> str:
        """Where the assumed variances come from, and a warning where the effect was observed there."""
        ratings = self.plan.source.ratings
        named = "" if ratings is None or ratings == self.plan.source.name else f" (ratings in {ratings})"
        seen = f" {OBSERVED}" if is_observed_effect(self.plan) else ""
        return (
            f"The variances assumed for the power come from {self.plan.source.name}{named}; no rating from there "
            f"enters the analysis.{seen}"
        )

    def difference(self) -> str:
        """The difference planned for, on [0, 1] and as rated."""
        said, scale = f"{signed(self.plan.effect)} on [0, 1]", self.plan.scale
        if scale is None:
            return said
        return f"{said}, {signed(scale.effect_to_raw(self.plan.effect))} as rated on {_range(scale)}"

    def manipulated(self) -> str:
        """What is varied."""
        *first, last = self.plan.systems
        return f"The system: {', '.join(first)} or {last}."

    def power(self) -> str:
        """'0.92 in 2,000 simulated studies (95 % Monte Carlo interval 0.904 to 0.928) to find ...'"""
        plan, many, effect = self.plan, self.many, signed(self.plan.effect)
        if many is not None:
            means = ", ".join(
                f"{name} {plain(mean)}"
                for name, mean in zip(plan.systems, many.parameters.means, strict=True)
            )
            goal = (
                f"that {_goal(plan.rule, many)}, where the difference of interest is {effect} and the true means "
                f"on [0, 1] are {means}"
            )
        elif plan.rule.margin is not None:
            goal = (
                f"to show {claim(plan.rule)} on [0, 1] where the true difference is {effect}, with the planned "
                "design"
            )
        else:
            goal = (
                f"to find a difference {self._named('B - A')} of {effect} on [0, 1] with the planned design"
            )
        return f"{self.computed_power()}, {goal}; the target was {plan.target_power:g}."

    def computed_power(self) -> str:
        """The power with its Monte Carlo interval, or by formula."""
        predicted = self.plan.predicted
        if math.isnan(predicted.simulated):
            return f"{share(predicted.analytic)} by formula"
        low, high = predicted.interval
        return (
            f"{share(predicted.simulated)} in {predicted.n_simulations:,} simulated studies (95 % Monte Carlo "
            f"interval {low:.3f} to {high:.3f})"
        )

    def goal(self) -> str:
        """What the study is planned to do, after 'to'."""
        effect = with_minus(signed(self.plan.effect))
        of = f"{effect} on [0, 1]"
        if self.plan.scale is not None:
            of = f"{points_words(self.plan.effect, self.plan.scale)} ({of})"
        if self.many is not None:
            goal = _goal(self.plan.rule, self.many)
            return f"make it likely that {goal}, for a difference of {of}, the smallest of interest"
        if self.plan.rule.margin is not None:
            shown = claim(self.plan.rule)
            return f"show {shown} on [0, 1] where the true difference {self._named('B - A')} is {effect}"
        return f"find a difference {self._named('B - A')} of {of}, the smallest of interest"

    def of_interest(self) -> str:
        """The difference, or the margin, that the study is planned for."""
        plan, scale = self.plan, self.plan.scale
        if plan.rule.margin is not None:
            return f"A margin of {margin_words(plan.rule, scale)}, by the plan."
        raw = ""
        if scale is not None:
            raw = f" ({signed(scale.effect_to_raw(plan.effect))} on the scale {_range(scale)})"
        return f"{signed(plan.effect)} on [0, 1]{raw}, by the plan."

    def assumed(self) -> PowerAnswer:
        """The means and parameters that the power rests on."""
        source = f"On [0, 1], from {self.plan.source.name}"
        if self.many is None:
            known = self.plan.parameters.recoded()
            of_pair = tuple(
                (name, plain(getattr(known, name))) for name in PARAMETER_NAMES if name != "effect"
            )
            slopes = self._named("the slopes are those of the difference B - A")
            return PowerAnswer(f"{source}; {slopes}.", table=Table(("parameter", "assumed"), of_pair))
        assumed = self.many.parameters
        columns = {
            "mean": assumed.means,
            "SD of workers about it": assumed.sd_worker_system,
            "SD of items about it": assumed.sd_item_system,
            **({"SD of documents about it": assumed.sd_document_system} if assumed.has_documents else {}),
        }
        rows = tuple(
            (name, *map(plain, numbers))
            for name, *numbers in zip(assumed.names, *columns.values(), strict=True)
        )
        return PowerAnswer(f"{source}: {self._deviations()}.", table=Table(("system", *columns), rows))

    def test_line(self) -> str:
        """The tests in a line."""
        return str(self.plan.rule) if self.many is None else test_words(self.many, self.plan.rule)


def _goal(rule: DecisionRule, many: PlannedSystems) -> str:
    return goal_clause(many.goal, rule) + (" on any one criterion" if many.n_criteria > 1 else "")


def _differing(rule: DecisionRule, many: PlannedSystems) -> str:
    """What is the case where there is something to find among several systems."""
    if many.goal in ("best", "first"):
        return "one of the systems is rated higher than all others"
    if rule.alternative == "greater":
        return f"at least one system is rated higher than {_lower(many)}"
    if many.family.baseline is not None:
        return f"at least one system is rated differently from {many.family.baseline}"
    return "at least two of the systems are rated differently"


def _lower(many: PlannedSystems) -> str:
    """What a system is compared with where one side alone is tested."""
    return many.family.baseline or "one that is named before it"


def _range(scale: RatingScale) -> str:
    return f"{scale.low:g} to {scale.high:g}"
