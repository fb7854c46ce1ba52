"""A methods and a results paragraph in plain words; every number in them is one of the documents.

Negative numbers have a real minus sign. Nothing is said of what the documents do not know: how workers were
found, paid and instructed remains to be written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humeval_power.latent import Family, Link
from humeval_power.rules import DEFAULT_RULE, Alternative, Analysis, DecisionRule, DegreesOfFreedom
from humeval_power.saying.numbers import in_words
from humeval_power.saying.result import DIGITS, NAME, short
from humeval_power.saying.row_flow import flow_sentence, n_dropped
from humeval_power.saying.values import (
    NOTHING,
    JsonRecord,
    listed,
    number,
    part,
    rule_of,
    words,
)
from humeval_power.studies.report.caveats import as_planned, first_notices
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fact_record import StudyFacts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.plans import PlanWords
from humeval_power.studies.report.power_answers import merged_text


def methods_paragraph(*criteria: CriterionDocuments) -> str:
    """What was compared by whom, how it was analysed, and the power it was planned with.

    What all criteria share is said once.
    """
    names = [str(each.criterion) for each in criteria]
    of_each = [_methods(each) for each in criteria]
    said = [merged_text(names, same) for same in zip(*of_each, strict=True)]
    return _joined([*first_notices(*(each.facts.record for each in criteria)), _compared(criteria), *said])


def _methods(documents: CriterionDocuments) -> list[str | None]:
    facts, said = documents.facts, StudyWords(documents.facts)
    version = words(part(documents.study, "versions"), "humeval-power")
    size = test = promise = None
    if documents.plan is not None:
        plan = PlanWords(documents.plan, documents.plan_checksum)
        size, test, promise = plan.passage("size"), plan.paper_test(), plan.passage("promise")
    return [
        said.size() if documents.study else size,
        _scale(documents),
        flow_sentence(facts.record) if n_dropped(facts.record) else None,
        said.scores(),
        said.paper_test() or test,
        promise,
        version and f"Computed with humeval-power {version}.",
    ]


def results_paragraph(documents: CriterionDocuments) -> str:
    """The differences with their intervals and tests, what they are worth, and what departs from the plan.

    Empty without an analysis or fit; a fit that did not converge has no result.
    """
    facts = documents.facts
    said = StudyWords(facts)
    if not facts.has_result:
        return _joined(said.findings())
    about = words(part(facts.record, "pool"), "sentence")
    more = (about, said.exclusion(), said.interest(), said.zeros(), *_deviations(documents.study))
    return _joined([*said.findings(), *more])


def _joined(sentences: list[str | None]) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _compared(criteria: Sequence[CriterionDocuments]) -> str | None:
    named = tuple(dict.fromkeys(each.criterion for each in criteria if each.criterion))
    on, systems = f" for {in_words(named)}" if named else "", criteria[0].systems
    if not systems:
        return None
    if criteria[0].facts.is_of_several or len(systems) != 2:
        return f"We compared {in_words(systems)}{on} in a human evaluation."
    return f"We compared {systems[1]} with {systems[0]}{on} in a human evaluation."


def _scale(documents: CriterionDocuments) -> str | None:
    scale = documents.facts.scale or (documents.plan.scale if documents.plan else None)
    if scale is None:
        return None
    inferred = " (taken from the ratings)" if scale.source == "inferred" else ""
    return f"The scale ran from {scale}{inferred}."


def _deviations(study: JsonRecord) -> list[str | None]:
    """Every departure from the plan; that there was none is said only where it was looked at."""
    if study.get("deviations") is None:
        return []
    deviations = [entry for entry in listed(study, "deviations") if isinstance(entry, Mapping)]
    if not deviations:
        return [as_planned(study)]
    said = "; ".join(
        f"{one.get('what')}: {one.get('actual')} (planned: {str(one.get('planned')).rstrip('.')})"
        for one in deviations
    )
    return [f"Departures from the plan: {said}."]


def paragraphs(*criteria: CriterionDocuments) -> dict[str, str]:
    """Both by their headings, the results of several criteria each by its own; one that nothing is known for is
    left out."""
    texts = {"Methods": methods_paragraph(*criteria)}
    texts |= {results_heading(each, criteria): results_paragraph(each) for each in criteria}
    return {heading: text for heading, text in texts.items() if text}


def results_heading(documents: CriterionDocuments, criteria: Sequence[CriterionDocuments]) -> str:
    """What the results of one of the criteria stand under."""
    return "Results" if len(criteria) == 1 else f"Results: {documents.criterion}"


# A line that says in a paper how a human evaluation was analysed.
#
#     humeval_power|v:0.1.0|model:lmm-xs|coding:b-a|df:kr|alpha:.05|two|n:40x200x3|sim:2000|seed:7|data:sha256:ab12
#
# Entries are separated by |. model: lmm-xs is a linear mixed model with crossed workers and items and a slope
# of the system for each, lmm-xd one of each worker's differences; ord-probit-xs, ord-logit-xs, bin-probit-xs and
# bin-logit-xs are models of ordered categories, or of yes and no, with the same effects on a latent scale; est:
# reml unless ml is said; n: workers x items x ratings per item and system; sim and seed: of the simulated power;
# data: the start of a digest of the table of ratings; plan: that of the plan. Instead of two or one, ni:.05 is
# non-inferiority and eq:.05 equivalence within a margin of .05 on [0, 1]. systems: how many were compared with
# each other, by fit:pairs, that model for each pair of them, or by one of all systems with a mean for each, whose
# variances of workers and items are its own (joint-own) or common to all (joint-common); corr: the correction of
# the p-values, over so many tests. Entries that are not known are left out.

_MODELS: dict[tuple[Analysis, Family, Link], str] = {
    ("ratings", "gaussian", DEFAULT_RULE.link): "lmm-xs",
    ("differences", "gaussian", DEFAULT_RULE.link): "lmm-xd",
    ("ratings", "ordinal", "probit"): "ord-probit-xs",
    ("ratings", "ordinal", "logit"): "ord-logit-xs",
    ("ratings", "binary", "probit"): "bin-probit-xs",
    ("ratings", "binary", "logit"): "bin-logit-xs",
}
_DF: dict[DegreesOfFreedom, str] = {
    "kenward-roger": "kr",
    "satterthwaite": "sat",
    "normal": "z",
    "min": "min",
    "bootstrap": "boot",
    "calibrated": "cal",
}
_SIDES: dict[Alternative, str] = {
    "two-sided": "two",
    "greater": "one",
    "non-inferior": "ni",
    "equivalent": "eq",
}


def signature_of(documents: CriterionDocuments) -> str | None:
    """The line of an analysis, or before there is one of a plan; None where no test is known."""
    study, plan, facts = documents.study, documents.plan, documents.facts
    rule = rule_of(study) or (plan.rule if plan else None) or rule_of(documents.power or NOTHING)
    if rule is None:
        return None
    source = study or documents.power or documents.surface or NOTHING
    version, size = words(part(source, "versions"), "humeval-power"), _size(documents)
    checksum = documents.plan_checksum
    entries = [
        NAME,
        *([f"v:{version}"] if version else []),
        *rule_entries(rule),
        *_family(facts),
        *([f"n:{'x'.join(map(short, size))}"] if size is not None else []),
        *_simulation(documents),
        *([f"plan:sha256:{checksum[:DIGITS]}"] if checksum else []),
    ]
    return "|".join(entries)


def rule_entries(rule: DecisionRule) -> list[str]:
    """The entries of the model and of its test; ratings as numbers have no link."""
    link = rule.link if rule.is_latent else DEFAULT_RULE.link
    margin = "" if rule.margin is None else f":{short(rule.margin)}"
    return [
        f"model:{_MODELS[rule.analysis, rule.family, link]}",
        "coding:b-a",
        *(["est:ml"] if rule.estimator == "ml" else []),
        f"df:{_DF[rule.df]}",
        f"alpha:{short(rule.alpha)}",
        f"{_SIDES[rule.alternative]}{margin}",
    ]


def _family(facts: StudyFacts) -> list[str]:
    """What is said of a family of tests; nothing of a single test."""
    if facts.family is None:
        return []
    family, several = facts.family.family, []
    if facts.is_of_several:
        joint = "joint-own" if family.variances == "own" else "joint-common"
        several = [
            f"systems:{len(facts.systems)}",
            f"fit:{'pairs' if family.model == 'pairwise' else joint}",
        ]
    correction = family.correction if facts.family.drop_result is None else "drop"
    return [*several, f"corr:{correction}", f"tests:{facts.family.n_tests}"]


def _simulation(documents: CriterionDocuments) -> list[str]:
    """Number and seed of the simulated studies behind the power, of the plan before any other."""
    plan = documents.plan
    if plan is not None and plan.predicted.n_simulations:
        return [f"sim:{plan.predicted.n_simulations}", f"seed:{plan.seed}"]
    for document in (documents.power or NOTHING, documents.surface or NOTHING):
        n_simulations, seed = number(document, "n_simulations"), number(document, "seed")
        if n_simulations and seed is not None:
            return [f"sim:{n_simulations:.0f}", f"seed:{seed:.0f}"]
    return []


def _size(documents: CriterionDocuments) -> tuple[float, float, float] | None:
    """Workers, items and ratings of each item."""
    plan = documents.plan
    size = _document_size(documents.study, "n_workers", "n_items") or _document_size(
        documents.power or NOTHING, "workers", "items"
    )
    if size is None and plan is not None:
        return plan.counts.n_workers, plan.counts.n_items, plan.design().ratings_per_item
    return size


def _document_size(document: JsonRecord, workers: str, items: str) -> tuple[float, float, float] | None:
    sizes = [number(document, name) for name in (workers, items, "ratings_per_item")]
    if sizes[0] is None or sizes[1] is None or sizes[2] is None:
        return None
    return sizes[0], sizes[1], float(f"{sizes[2]:.4g}")  # four digits tell a mean of ratings well enough
