"""The fixed words of a plan's page: designs, parts of the cost, what varies, and what a deviation is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from humeval_power.choices import CORRECTIONS, DesignKind
from humeval_power.designs import Design
from humeval_power.rules import DecisionRule
from humeval_power.saying.numbers import counted, in_words
from humeval_power.saying.rule_words import estimator_words, reference_of
from humeval_power.studies.plan.planned_systems import PlannedSystems
from humeval_power.studies.power.study_content import setting_labels

if TYPE_CHECKING:
    from humeval_power.studies.plan.plan import Plan

_DESIGN_WORDS: Mapping[DesignKind, str] = {
    "crossed": "Every worker rates every item under {all}.",
    "k-per-item": "Each item is rated by {k} of the workers, each of whom rates it under {all}.",
    "split": "Each item is rated by {k} workers under {a} and by {k} others under {b}.",
    "workers-nested": "Half of the workers rate every item under {a}, the other half every item under {b}.",
    "items-nested": "Every worker rates every item; half of the items are shown under {a}, the others "
    "under {b}.",
    "both-nested": "Half of the workers rate half of the items under {a}; the other workers rate the other "
    "items under {b}.",
    "counterbalanced": "Each worker sees each item once: one half of the workers sees one half of the "
    "items under {a} and the rest under {b}, the other workers the other way round.",
}
COST_NAMES = {
    "ratings": "Ratings",
    "attention_checks": "Attention checks",
    "repeats": "Outputs shown once more",
    "rejected_work": "Rejected work, collected again",
    "workers": "Workers, once each",
    "documents": "Documents, once each",
    "items": "Items and outputs",
    "fees": "Platform fees",
}
DEVIATIONS = (
    "Other numbers of workers, items or ratings, or another way of sharing them out.",
    "Another test, alpha, direction or way of fitting.",
    "Leaving out, replacing or correcting ratings by a rule that is not listed above.",
    "Other systems, items from elsewhere, another question to the workers or another scale.",
)
EARLY_LOOK = (
    "Looking at the difference between the systems before all ratings are in, or stopping early or late "
    "because of it."
)
OTHER_LOOK = (
    "Looking at the difference between the systems at other times than the planned looks, or stopping or "
    "going on against their boundaries."
)
OBSERVED = (
    "This is the difference that the pilot showed, not one that was chosen because it matters. Such an "
    "estimate is uncertain, it is too large where the pilot was followed up because it looked promising, "
    "and power computed for it only restates the pilot's p-value. State the smallest difference of interest."
)
NOT_OBSERVED = (
    "The power is not computed for a difference that was observed. One from a pilot is uncertain, is too "
    "large where the pilot was followed up because it looked promising, and power computed for it only "
    "restates the pilot's p-value."
)


def design_words(design: Design, systems: Sequence[str]) -> str:
    """Who rates what under which system, as a sentence."""
    n, k = len(systems), f"{design.ratings_per_item:g}"
    if n > 2 and design.kind == "split":
        return (
            f"Each item is rated by {k} workers under each of the {n} systems, by others under another as far as "
            "there are enough."
        )
    everything = "both systems" if n == 2 else f"all {n} systems"
    return _DESIGN_WORDS[design.kind].format(k=k, all=everything, a=systems[0], b=systems[1])


def work_words(design: Design, systems: str) -> str:
    """'9 workers share 80 items under old and new, each output rated once: 160 ratings'."""
    documents = f" in {counted(design.n_documents, 'document')}" if design.n_documents else ""
    k, does, each = design.ratings_per_item, "rate all", ""
    if k != design.n_workers:
        does, each = "share", f", each output rated {'once' if k == 1 else f'{k:g} times'}"
    return (
        f"{counted(design.n_workers, 'worker')} {does} {counted(design.n_items, 'item')}{documents} under "
        f"{systems}{each}: {counted(design.n_ratings, 'rating')}"
    )


# What a plan of several systems, or of several criteria, says of its goal and of its tests.

_MODELS = {
    "pairwise": "Each comparison has a linear mixed model of the ratings of its two systems, with crossed random "
    "intercepts and random system differences of workers and of items",
    "own": "One linear mixed model of the ratings of all systems, with crossed random effects of workers, items, "
    "workers x systems and items x systems, of which the last two have variances of each system's own",
    "common": "One linear mixed model of the ratings of all systems, with crossed random effects of workers, "
    "items, workers x systems and items x systems, with variances common to all systems",
}


def said_words(rule: DecisionRule) -> str:
    """What is said of two systems after a significant test, as the start of a sentence that goes on with 'if'."""
    return {
        "two-sided": "Two systems are said to differ, and the one rated higher to be better,",
        "greater": "The second system of a comparison is said to be better than the first",
        "equivalent": f"Two systems are said to be equivalent within {rule.margin}",
        "non-inferior": "The second system of a comparison is said to be non-inferior to the first within "
        f"{rule.margin}",
    }[rule.alternative]


def systems_question(planned: PlannedSystems, rule: DecisionRule) -> str:
    """The question that the study answers, where none is stated."""
    names, family = planned.parameters.names, planned.family
    if rule.alternative == "equivalent":
        which = named([name for name in names if name != family.baseline])
        like = f"like {family.baseline}" if family.baseline is not None else "alike"
        return f"Which of {which} are rated {like}, within {rule.margin:g} on [0, 1]?"
    if rule.alternative == "non-inferior":
        which, than = named([name for name in names if name != family.baseline]), family.baseline
        than = than or "one that is named before it"
        return f"Which of {which} is as good as {than}, or not worse by {rule.margin:g} on [0, 1] or more?"
    if family.comparisons == "baseline":
        others = [name for name in names if name != family.baseline]
        return f"Which of {named(others)} differs from {family.baseline}?"
    if planned.goal in ("best", "first"):
        return f"Which of {named(names)} is best?"
    return f"Which of {named(names)} differ?"


def named(names: Sequence[str]) -> str:
    """The names of a few things; of many their number."""
    return in_words(names) if len(names) <= 4 else f"{len(names)} systems"


def compared_words(planned: PlannedSystems) -> str:
    """'All 28 pairs of 8 systems', or '7 systems with gpt', and on how many criteria."""
    names, family = planned.parameters.names, planned.family
    n_pairs = len(family.pairs(names))
    said = f"all {counted(n_pairs, 'pair')} of {len(names)} systems"
    if len(names) == 2:
        said = f"{names[0]} with {names[1]}"
    elif family.comparisons == "baseline":
        said = f"{n_pairs} systems with {family.baseline}"
    return said if not planned.criteria else f"{said}, on each of {criteria_words(planned)}"


def criteria_words(planned: PlannedSystems) -> str:
    """'2 criteria: fluency, adequacy'."""
    noun = "1 criterion" if len(planned.criteria) == 1 else f"{len(planned.criteria)} criteria"
    return f"{noun}: {', '.join(planned.criteria)}"


def correction_words(planned: PlannedSystems) -> str:
    """How p-values are corrected, and over how many tests, as a clause."""
    correction = CORRECTIONS[planned.family.correction]
    if planned.looks is not None and planned.looks.drop_systems:
        each = counted(planned.n_tests, "comparison")
        return f"each of {each} has levels of its own, by which systems are dropped and the best is named"
    if planned.family.correction == "none":
        return f"p-values are not corrected, of {counted(planned.n_tests, 'test')}"
    each = " of each criterion" if planned.n_criteria > 1 and planned.family.over == "criterion" else ""
    cited = f" ({correction.source})" if correction.source else ""
    return (
        f"p-values are those after {correction.words}{cited} over {counted(planned.n_tests, 'test')}{each}"
    )


def family_sentences(planned: PlannedSystems, rule: DecisionRule) -> tuple[str, ...]:
    """What is compared, by which model, how it is corrected, and what will be said."""
    compared, family = compared_words(planned), planned.family
    sides = "two-sided" if rule.alternative == "two-sided" else "one-sided"
    model = (
        f"{_MODELS[family.model if family.model == 'pairwise' else family.variances]}, fitted by "
        f"{estimator_words(rule)}. Wald tests of the differences against {reference_of(rule)}, {sides}, alpha "
        f"{rule.alpha:g}."
    )
    if planned.looks is not None and planned.looks.drop_systems:
        claimed = (
            "What is claimed is that one system is the best. Where no claim is made, the systems that are left "
            "hold the best, which does not show that they are alike. Differences are reported with their intervals "
            "either way."
        )
        return f"Compared are {compared}.", model, claimed
    decision, not_shown = said_words(rule), "it, which does not show that they differ"
    if rule.margin is None:
        decision = "Two systems are said to differ, and the one rated higher to be better,"
        not_shown = "that they differ, which does not show that they do not"
    correction = correction_words(planned)
    return (
        f"Compared are {compared}.",
        model,
        f"{correction[0].upper()}{correction[1:]}. {decision} if the corrected p-value is at most {rule.alpha:g}. "
        f"Otherwise the study has not shown {not_shown}. Differences are reported with their intervals either way.",
    )


def test_words(planned: PlannedSystems, rule: DecisionRule) -> str:
    """The tests in one line."""
    kind = "each pair by itself"
    if planned.family.model == "joint":
        kind = f"one model of all systems, {planned.family.variances} variances"
    over = f"{CORRECTIONS[planned.family.correction].words} over {counted(planned.n_tests, 'test')}"
    if planned.looks is not None and planned.looks.drop_systems:
        over = "levels that drop systems"
    return f"{rule}; {compared_words(planned)}; {kind}; {over}"


def variances_from(plan: Plan) -> str:
    """Where the variances that were planned for come from."""
    name = plan.source.name
    return f"the {name}" if name == "pilot" else labels_of_settings(plan)[name]


def labels_of_settings(plan: Plan) -> dict[str, str]:
    """What the settings that were looked at are called, the one planned for first."""
    others = plan.others if plan.many is None else plan.many.others
    return setting_labels([plan.source.name, *dict(others)])
