"""A plan in the words of forms: nothing in them comes from ratings of the study itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from humeval_power.parameters import PARAMETER_NAMES, STANDARD_DEVIATIONS
from humeval_power.rules import FamilyOfTests, claim
from humeval_power.saying.answer_words import points_words, with_names
from humeval_power.saying.document import Prose, Table, prose_of
from humeval_power.saying.numbers import minus_of_numbers
from humeval_power.saying.rule_words import (
    SD_WORDS,
    assumptions_of,
    claim_words,
    hypothesis_words,
    margin_words,
    rule_sentence,
)
from humeval_power.saying.values import SHORT_HASH, plain
from humeval_power.studies.analyze.family import family_words
from humeval_power.studies.looks.result_dropping import drop_rule
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import PlannedSystems
from humeval_power.studies.plan.result_sections import is_observed_effect, looks_sentence
from humeval_power.studies.plan.result_words import (
    OBSERVED,
    compared_words,
    criteria_words,
    design_words,
    said_words,
    test_words,
    variances_from,
)
from humeval_power.studies.report.fact_record import family_sentences, paper_sentences
from humeval_power.studies.report.fact_words import tested_as_planned
from humeval_power.studies.report.power_answers import PowerAnswer
from humeval_power.systems import GOAL_WORDS, goal_clause

_WORDS = {
    each.__name__: each
    for each in (
        assumptions_of,
        claim,
        compared_words,
        criteria_words,
        design_words,
        goal_clause,
        hypothesis_words,
        is_observed_effect,
        variances_from,
        looks_sentence,
        drop_rule,
        margin_words,
        points_words,
        said_words,
    )
}


@dataclass(frozen=True)
class PlanWords:
    """What a plan says of itself, for any form; A and B are the systems of a plan of two.

    checksum : of the plan's file.
    """

    plan: Plan
    checksum: str | None = None

    @cached_property
    def passage(self) -> Prose:
        """A passage of `templates/plan.md.j2` by its name."""
        plan, rule = self.plan, self.plan.rule
        return prose_of(
            __package__,
            "plan.md.j2",
            plan=plan,
            rule=rule,
            scale=plan.scale,
            many=plan.many,
            design=cache(plan.design),
            difference="" if plan.many else self._named("B - A"),
            deviations=self._deviations,
            model=self._model,
            family=lambda: family_words(self._tests(plan.many)) if plan.many else "",
            claims=lambda: claim_words(rule, plan.pair, by_intervals=plan.by_intervals),
            checksum=self.checksum,
            GOAL_WORDS=GOAL_WORDS,
            OBSERVED=OBSERVED,
            SHORT_HASH=SHORT_HASH,
            **_WORDS,
        )

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

    def _deviations(self) -> str:
        if self.plan.many is None:
            coded = self.plan.parameters.recoded()
            names = [*STANDARD_DEVIATIONS, *(["sd_worker_item"] if coded.sd_worker_item else [])]
            return "; ".join(
                f"{self._named(SD_WORDS[name])}: {plain(getattr(coded, name))}" for name in names
            )
        assumed = self.plan.many.parameters
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

    def _model(self) -> str:
        """The model and its test, or the family of its tests."""
        rule = self.plan.rule
        if self.plan.many is None:
            return self._named(rule_sentence(rule, by_intervals=self.plan.by_intervals))
        return family_sentences(rule, self._tests(self.plan.many), **self._sizes(self.plan.many))

    def paper_test(self) -> str:
        """The same as sentences of a paper."""
        rule = self.plan.rule
        if self.plan.many is None:
            by_intervals = self.plan.by_intervals
            return self._named(
                rule_sentence(rule, by_intervals=True) if by_intervals else tested_as_planned(rule)
            )
        return paper_sentences(rule, self._tests(self.plan.many), **self._sizes(self.plan.many))

    def assumed(self) -> PowerAnswer:
        """The means and parameters that the power rests on."""
        source = f"On [0, 1], from {self.plan.source.name}"
        if self.plan.many is None:
            known = self.plan.parameters.recoded()
            of_pair = tuple(
                (name, plain(getattr(known, name))) for name in PARAMETER_NAMES if name != "effect"
            )
            slopes = self._named("the slopes are those of the difference B - A")
            return PowerAnswer(f"{source}; {slopes}.", table=Table(("parameter", "assumed"), of_pair))
        assumed = self.plan.many.parameters
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
        return str(self.plan.rule) if self.plan.many is None else test_words(self.plan.many, self.plan.rule)
