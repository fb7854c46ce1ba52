"""A plan of two systems in the words of forms: nothing in them comes from ratings of the study itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humeval_power.designs import Design
from humeval_power.families import FamilyOfTests
from humeval_power.parameters import PARAMETER_NAMES, STANDARD_DEVIATIONS
from humeval_power.rules import claim
from humeval_power.saying.answer_words import with_names
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import minus_of_numbers, with_minus
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
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import PlannedSystems
from humeval_power.studies.plan.sections import is_observed_effect, looks_sentence
from humeval_power.studies.plan.words import (
    DESIGN_WORDS,
    GOAL_NAMES,
    MANY_DESIGN_WORDS,
    OBSERVED,
    SD_WORDS,
    compared_words,
    criteria_words,
    goal_clause,
    said_words,
    test_words,
)
from humeval_power.studies.report.fact_pair import tested_as_planned
from humeval_power.studies.report.fact_record import family_sentences, in_words, paper_sentences
from humeval_power.studies.report.power_answers import Answer


@dataclass(frozen=True, slots=True)
class PlanWords:
    """What a plan of two systems, A and B, says of itself, for any form."""

    plan: Plan

    def _named(self, said: str) -> str:
        """Our words about A and B with the systems' names."""
        return with_names(minus_of_numbers(said), self.plan.pair)

    def conditions(self, design: Design) -> str:
        """The two systems, and who rates what."""
        a, b = self.plan.pair
        who = DESIGN_WORDS[design.kind].format(k=self.plan.counts.ratings_per_item, a=a, b=b)
        return f"Two systems: {a} and {b}. {who}"

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
        return (
            f"{design.n_workers:,} workers and {design.items_in_words}, {design.ratings_per_item:g} ratings of "
            f"each item under each system, {design.n_ratings:,} ratings in all{most}."
        )

    def size_rationale(self) -> str:
        """The power at the difference of interest, and what it rests on."""
        coded = self.plan.parameters.recoded()
        names = [*STANDARD_DEVIATIONS, *(["sd_worker_item"] if coded.sd_worker_item else [])]
        sds = "; ".join(f"{self._named(SD_WORDS[name])}: {plain(getattr(coded, name))}" for name in names)
        return (
            f"Power: {self.power()} {self._not_built_for()} Assumed "
            f"standard deviations on [0, 1], from {self.plan.source.name}: {sds}."
        )

    def _not_built_for(self) -> str:
        if self.plan.rule.margin is None:
            return "A smaller difference is not what the study is built to find."
        return "A smaller margin is not what the study is built to show."

    def stopping_rule(self) -> str:
        """When collection ends, and whether the data are tested before."""
        if self.plan.looks is not None:
            return (
                f"Collection ends when all planned ratings are in, or before. {looks_sentence(self.plan)}"
            )
        return "Collection ends when all planned ratings are in. There is one test, at the end."

    def transformations(self) -> str:
        """How ratings become numbers on [0, 1], and the coding of the systems."""
        a, b = self.plan.pair
        coding = (
            f"In the model {a} is coded -0.5 and {b} 0.5, so that its effect is the difference {b} - {a}."
        )
        return f"{self.moved()} {coding}"

    def moved(self) -> str:
        """How ratings become numbers on [0, 1]."""
        scale = "" if self.plan.scale is None else f"on {_range(self.plan.scale)} "
        return f"Ratings {scale}are moved to [0, 1], 1 being best, by a straight line."

    def models(self) -> str:
        """The model and the test."""
        return self._named(rule_sentence(self.plan.rule))

    def inference(self) -> str:
        """What is claimed after which result."""
        claimed, not_shown = claim_words(self.plan.rule, self.plan.pair)
        otherwise = "no difference has been shown, which does not show that there is none"
        if self.plan.rule.margin is not None:
            otherwise = f"the study has not shown {not_shown}"
        return (
            f"Alpha is {self.plan.rule.alpha:g}. {claimed} Otherwise {otherwise}. The difference is reported with "
            "its interval either way."
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
        """The question, and the hypothesis that the rule tests."""
        said = f"{self.plan.question} Hypothesis: {hypothesis_words(self.plan.rule, self.plan.pair)}."
        if self.plan.rule.margin is not None:
            return (
                f"{said} The margin, the smallest difference {self._named('B - A')} that would matter, is "
                f"{margin_words(self.plan.rule, self.plan.scale)}."
            )
        return f"{said} The smallest difference {self._named('B - A')} of interest is {self.difference()}."

    def measured(self) -> str:
        """The dependent variable."""
        scale = "" if self.plan.scale is None else f", on {self.plan.scale}"
        return f"The rating that a worker gives to an output{scale}."

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
        return f"The system: {' or '.join(self.plan.systems)}."

    def power(self) -> str:
        """'0.92 in 2,000 simulated studies (95 % Monte Carlo interval 0.904 to 0.928) to find ...'"""
        plan = self.plan
        goal = f"to find a difference {self._named('B - A')} of {signed(plan.effect)} on [0, 1]"
        if plan.rule.margin is not None:
            goal = (
                f"to show {claim(plan.rule)} on [0, 1] where the true difference is {signed(plan.effect)},"
            )
        return f"{self.computed_power()}, {goal} with the planned design; the target was {plan.target_power:g}."

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
        if self.plan.rule.margin is not None:
            shown = claim(self.plan.rule)
            return f"show {shown} on [0, 1] where the true difference {self._named('B - A')} is {effect}"
        return f"find a difference {self._named('B - A')} of {effect} on [0, 1], the smallest of interest"

    def paper_test(self) -> str:
        """The model and the test as sentences of a paper."""
        return self._named(tested_as_planned(self.plan.rule))

    def of_interest(self) -> str:
        """The difference, or the margin, that the study is planned for."""
        plan, scale = self.plan, self.plan.scale
        if plan.rule.margin is not None:
            return f"A margin of {margin_words(plan.rule, scale)}, by the plan."
        raw = ""
        if scale is not None:
            raw = f" ({signed(scale.effect_to_raw(plan.effect))} on the scale {_range(scale)})"
        return f"{signed(plan.effect)} on [0, 1]{raw}, by the plan."

    def assumed(self) -> Answer:
        """The parameters that the power rests on."""
        assumed = self.plan.parameters.recoded()
        rows = tuple((name, plain(getattr(assumed, name))) for name in PARAMETER_NAMES if name != "effect")
        slopes = self._named("the slopes are those of the difference B - A")
        return Answer(
            f"On [0, 1], from {self.plan.source.name}; {slopes}.",
            table=Table(("parameter", "assumed"), rows),
        )

    def test_line(self) -> str:
        """The test in a line."""
        return str(self.plan.rule)


def _range(scale: RatingScale) -> str:
    return f"{scale.low:g} to {scale.high:g}"


# A plan of several systems, or of several criteria, in the words of forms.


@dataclass(frozen=True, slots=True)
class ManyPlanWords(PlanWords):
    """What a plan of several systems, or of several criteria, says of itself, for any form."""

    many: PlannedSystems

    @property
    def tests(self) -> FamilyOfTests:
        """The planned family of tests."""
        criteria = self.many.criteria if self.many.family.over == "all" else ()
        n_looks = 0 if self.plan.looks is None else self.plan.looks.looks.n_looks
        return FamilyOfTests(self.many.family, self.many.n_tests, criteria, n_looks)

    def conditions(self, design: Design) -> str:
        """The systems, the criteria, and who rates what."""
        names = self.plan.systems
        who = MANY_DESIGN_WORDS[design.kind].format(k=self.plan.counts.ratings_per_item, all=len(names))
        criteria = f" Each output is rated on {criteria_words(self.many)}." if self.many.criteria else ""
        return f"{len(names)} systems: {in_words(names)}. {who}{criteria}"

    def sample_size(self, design: Design) -> str:
        """All the numbers of the planned design."""
        each = " The numbers are those of one criterion." if len(self.many.criteria) > 1 else ""
        # No zero-argument super(): a dataclass with slots is another class than the one it was written as.
        return f"{PlanWords.sample_size(self, design)}{each}"

    def manipulated(self) -> str:
        """What is varied."""
        return f"The system: {', '.join(self.plan.systems[:-1])} or {self.plan.systems[-1]}."

    def size_rationale(self) -> str:
        """The power at the difference of interest, and what it rests on."""
        other = "; ".join(f"{GOAL_NAMES[one.goal]}: {share(one.share)}" for one in self.many.shares)
        also = f" Other shares of the same simulated studies: {other}." if other else ""
        return (
            f"Power: {self.power()}{also} {self._not_built_for()} Assumed "
            f"standard deviations on [0, 1], from {self.plan.source.name}: {self._deviations()}."
        )

    def _deviations(self) -> str:
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

    def transformations(self) -> str:
        """How ratings become numbers on [0, 1], and what a difference is."""
        coding = "The model has a mean for each system; a difference is that of two of these means."
        if self.many.family.model == "pairwise":
            coding = (
                f"In the model of a pair its first system is coded {-0.5:g} and its second {0.5:g}, so that its "
                "effect is their difference."
            )
        return f"{self.moved()} {coding}"

    def models(self) -> str:
        """The model and the family of tests."""
        n_comparisons = len(self.many.family.pairs(self.plan.systems))
        return family_sentences(
            self.plan.rule, self.tests, n_systems=len(self.plan.systems), n_comparisons=n_comparisons
        )

    def inference(self) -> str:
        """What is claimed after which result."""
        alpha = f"{self.plan.rule.alpha:g}"
        claim = said_words(self.plan.rule)
        nothing = "no difference has been shown, which does not show that there is none"
        if self.plan.rule.alternative == "greater":
            claim = f"A system is said to be better than {self._lower()}"
        if self.plan.rule.margin is not None:
            nothing = "this has not been shown, which does not show that the systems differ"
        return (
            f"Alpha is {alpha}, for p-values {family_words(self.tests)}. {claim} "
            f"if the p-value of their difference is at most {alpha} after this. "
            f"Otherwise {nothing}. Every difference is reported with its interval either way."
        )

    def hypothesis(self) -> str:
        """The question, the hypotheses, and the difference of interest."""
        if self.plan.rule.margin is not None:
            return (
                f"{self.plan.question} Hypothesis: {goal_clause(self.many.goal, self.plan.rule)}; tested are "
                f"{compared_words(self.many)}. The margin is {margin_words(self.plan.rule, self.plan.scale)}, "
                "fixed before any rating was seen."
            )
        rated = "rated higher" if self.plan.rule.alternative == "greater" else "rated differently"
        differ = f"at least one system is {rated} than {self._lower()}"
        if rated == "rated differently":
            differ = f"at least two of the systems are {rated}"
            if self.many.family.baseline is not None:
                differ = f"at least one system is {rated} from {self.many.family.baseline}"
        if self.many.goal in ("best", "first"):
            differ = "one of the systems is rated higher than all others"
        return (
            f"{self.plan.question} Hypothesis: {differ}; tested are {compared_words(self.many)}. The smallest "
            f"difference of interest is {self.difference()}."
        )

    def _lower(self) -> str:
        """What a system is compared with where one side alone is tested."""
        return self.many.family.baseline or "one that is named before it"

    def measured(self) -> str:
        """The dependent variable."""
        on = f", on each of {criteria_words(self.many)}" if self.many.criteria else ""
        return f"{PlanWords.measured(self).removesuffix('.')}{on}."

    def power(self) -> str:
        """The chance of the goal, and what it is for."""
        of_one = " on any one criterion" if self.many.n_criteria > 1 else ""
        means = ", ".join(
            f"{name} {plain(mean)}"
            for name, mean in zip(self.plan.systems, self.many.parameters.means, strict=True)
        )
        goal = goal_clause(self.many.goal, self.plan.rule)
        return (
            f"{self.computed_power()}, that {goal}{of_one}, where the difference of interest "
            f"is {signed(self.plan.effect)} and the true means on [0, 1] are {means}; the target was "
            f"{self.plan.target_power:g}."
        )

    def goal(self) -> str:
        """What the study is planned to do, after 'to'."""
        of_one = " on any one criterion" if self.many.n_criteria > 1 else ""
        return (
            f"make it likely that {goal_clause(self.many.goal, self.plan.rule)}{of_one}, for a difference of "
            f"{signed(self.plan.effect)} on [0, 1], the smallest of interest"
        )

    def stopping_rule(self) -> str:
        """When collection ends."""
        if self.plan.looks is not None:
            return (
                f"Collection ends when all planned ratings are in, or before. {looks_sentence(self.plan)}"
            )
        return "Collection ends when all planned ratings are in. The tests are made once, at the end."

    def paper_test(self) -> str:
        """The model and the tests as sentences of a paper."""
        n_systems, n_comparisons = len(self.plan.systems), len(self.many.family.pairs(self.plan.systems))
        return paper_sentences(self.plan.rule, self.tests, n_systems=n_systems, n_comparisons=n_comparisons)

    def of_interest(self) -> str:
        """The difference that the study is planned for."""
        return f"{self.difference()}, by the plan."

    def assumed(self) -> Answer:
        """The means and SDs that the power rests on."""
        parameters = self.many.parameters
        columns = {
            "mean": parameters.means,
            "SD of workers about it": parameters.sd_worker_system,
            "SD of items about it": parameters.sd_item_system,
        }
        if parameters.has_documents:
            columns["SD of documents about it"] = parameters.sd_document_system
        rows = tuple(
            (name, *map(plain, numbers))
            for name, *numbers in zip(parameters.names, *columns.values(), strict=True)
        )
        return Answer(
            f"On [0, 1], from {self.plan.source.name}: {self._deviations()}.",
            table=Table(("system", *columns), rows),
        )

    def test_line(self) -> str:
        """The tests in a line."""
        return test_words(self.many, self.plan.rule)


# The words of a plan, and the one place that tells plans of several systems from those of two.


def words_of_plan(plan: Plan) -> PlanWords:
    """What the plan says of itself."""
    return PlanWords(plan) if plan.many is None else ManyPlanWords(plan, plan.many)
