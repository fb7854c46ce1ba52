"""A plan of several systems, or of several criteria, in the words of forms."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.comparisons import FamilyOfTests
from humeval_power.designs import Design
from humeval_power.planning.plan.planned_systems import PlannedSystems
from humeval_power.reporting.analyze.family import family_words
from humeval_power.reporting.document import Table
from humeval_power.reporting.plan.looks import looks_sentence
from humeval_power.reporting.plan.systems_words import (
    GOAL_NAMES,
    compared_words,
    criteria_words,
    goal_clause,
    said_words,
    test_words,
)
from humeval_power.reporting.plan.words import MANY_DESIGN_WORDS
from humeval_power.reporting.report.facts.family_words import family_sentences, in_words, paper_sentences
from humeval_power.reporting.report.plans.pair import PlanWords
from humeval_power.reporting.report.power_answers import Answer
from humeval_power.reporting.rule_words import margin_words
from humeval_power.reporting.values import plain, share, signed


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
