"""A line that says in a paper how a human evaluation was analysed.

    humeval_power|v:0.1.0|model:lmm-xs|coding:b-a|df:kr|alpha:.05|two|n:40x200x3|sim:2000|seed:7|data:sha256:ab12

Entries are separated by |. model: lmm-xs is a linear mixed model with crossed workers and items and a slope
of the system for each, lmm-xd one of each worker's differences; ord-probit-xs, ord-logit-xs, bin-probit-xs and
bin-logit-xs are models of ordered categories, or of yes and no, with the same effects on a latent scale; est:
reml unless ml is said; n: workers x items x ratings per item and system; sim and seed: of the simulated power;
data: the start of a digest of the table of ratings; plan: that of the plan. Instead of two or one, ni:.05 is
non-inferiority and eq:.05 equivalence within a margin of .05 on [0, 1]. systems: how many were compared with
each other, by fit:pairs, that model for each pair of them, or by one of all systems with a mean for each, whose
variances of workers and items are its own (joint-own) or common to all (joint-common); corr: the correction of the
p-values, over so many tests. Entries that are not known are left out.
"""

from __future__ import annotations

from humeval_power.latent import Family, Link
from humeval_power.rules import DEFAULT_RULE, Alternative, Analysis, DecisionRule, DegreesOfFreedom
from humeval_power.saying.result import DIGITS, NAME, short
from humeval_power.saying.values import NOTHING, Document, number, part, rule_of, words
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fact_record import StudyFacts

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


def _document_size(document: Document, workers: str, items: str) -> tuple[float, float, float] | None:
    sizes = [number(document, name) for name in (workers, items, "ratings_per_item")]
    if sizes[0] is None or sizes[1] is None or sizes[2] is None:
        return None
    return sizes[0], sizes[1], float(f"{sizes[2]:.4g}")  # four digits tell a mean of ratings well enough
