"""A line that says in a paper how a human evaluation was analysed, and that can be read back.

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

import re
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

from humeval_power.errors import InputError
from humeval_power.families import Correction
from humeval_power.latent import Family, Link
from humeval_power.rules import DEFAULT_RULE, Alternative, Analysis, DecisionRule, DegreesOfFreedom
from humeval_power.saying.result import DIGITS, NAME, named, short
from humeval_power.saying.values import NOTHING, Document, number, part, rule_of, words
from humeval_power.studies.report.documents import Documents
from humeval_power.studies.report.fact_record import StudyFacts

_MODELS: dict[str, tuple[Analysis, Family, Link]] = {
    "lmm-xs": ("ratings", "gaussian", DEFAULT_RULE.link),
    "lmm-xd": ("differences", "gaussian", DEFAULT_RULE.link),
    "ord-probit-xs": ("ratings", "ordinal", "probit"),
    "ord-logit-xs": ("ratings", "ordinal", "logit"),
    "bin-probit-xs": ("ratings", "binary", "probit"),
    "bin-logit-xs": ("ratings", "binary", "logit"),
}
_DF: dict[str, DegreesOfFreedom] = {
    "kr": "kenward-roger",
    "sat": "satterthwaite",
    "z": "normal",
    "min": "min",
    "boot": "bootstrap",
    "cal": "calibrated",
}
_SIDES: dict[str, Alternative] = {"two": "two-sided", "one": "greater"}
_MARGINS: dict[str, Alternative] = {"ni": "non-inferior", "eq": "equivalent"}
Fit = Literal["pairs", "joint-own", "joint-common"]
_HASH = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True)
class Signature:
    """What the line says. Hashes are cut to their first digits; None is what it does not say."""

    rule: DecisionRule
    version: str | None = None
    n_workers: int | None = None
    n_items: int | None = None
    ratings_per_item: float | None = None
    n_simulations: int | None = None
    seed: int | None = None
    data_sha256: str | None = None
    plan_sha256: str | None = None
    n_systems: int | None = None
    fit: Fit | None = None
    correction: Correction | None = None
    n_tests: int | None = None

    def __post_init__(self) -> None:
        sizes = (self.n_workers, self.n_items, self.ratings_per_item)
        if len({size is None for size in sizes}) > 1:
            raise InputError("A signature has workers, items and ratings per item, or none of them.")
        if self.version is not None and not re.fullmatch(r"[\w.+!-]+", self.version):
            raise InputError(f"{self.version!r} is not a version.")
        for name in ("data_sha256", "plan_sha256"):
            digest = getattr(self, name)
            if digest is not None and not _HASH.fullmatch(digest):
                raise InputError(f"{digest!r} is not the start of a SHA-256.")
            object.__setattr__(self, name, None if digest is None else digest[:DIGITS])

    def __str__(self) -> str:
        rule = self.rule
        size = None if self.n_workers is None else (self.n_workers, self.n_items, self.ratings_per_item)
        entries = [
            NAME,
            *named("v", self.version),
            f"model:{_model(rule)}",
            "coding:b-a",
            *(["est:ml"] if rule.estimator == "ml" else []),
            f"df:{_word(_DF, rule.df)}",
            f"alpha:{short(rule.alpha)}",
            _side(rule),
            *named("systems", self.n_systems),
            *named("fit", self.fit),
            *named("corr", self.correction),
            *named("tests", self.n_tests),
            *named("n", None if size is None else "x".join(map(short, size))),
            *named("sim", self.n_simulations),
            *named("seed", self.seed),
            *named("data", None if self.data_sha256 is None else f"sha256:{self.data_sha256}"),
            *named("plan", None if self.plan_sha256 is None else f"sha256:{self.plan_sha256}"),
        ]
        return "|".join(entries)


def _model(rule: DecisionRule) -> str:
    """The word of a rule's model; ratings as numbers have no link."""
    wanted = rule.analysis, rule.family, rule.link if rule.is_latent else DEFAULT_RULE.link
    return next(word for word, model in _MODELS.items() if model == wanted)


def signature_of(documents: Documents) -> Signature | None:
    """The signature of an analysis, or before there is one of a plan; None where no test is known."""
    study, plan = documents.study, documents.plan
    rule = rule_of(study) or (plan.rule if plan else None) or rule_of(documents.power or NOTHING)
    if rule is None:
        return None
    n_simulations, seed = _simulation(documents)
    workers, items, per_item = _size(documents)
    source = study or documents.power or documents.surface or NOTHING
    return Signature(
        rule=rule,
        version=words(part(source, "versions"), "humeval-power"),
        n_workers=workers,
        n_items=items,
        ratings_per_item=per_item,
        n_simulations=n_simulations,
        seed=seed,
        plan_sha256=_digest(documents.plan_checksum),
        **_family(documents.facts),
    )


class _FamilyEntries(TypedDict, total=False):
    n_systems: int
    fit: Fit
    correction: Correction
    n_tests: int


def _family(facts: StudyFacts) -> _FamilyEntries:
    """What is said of a family of tests; nothing of a single test."""
    if facts.family is None:
        return {}
    family = facts.family.family
    said: _FamilyEntries = {"correction": family.correction, "n_tests": facts.family.n_tests}
    if facts.is_of_several:
        joint: Fit = "joint-own" if family.variances == "own" else "joint-common"
        said |= {"n_systems": len(facts.systems), "fit": "pairs" if family.model == "pairwise" else joint}
    return said


def parse_signature(text: str) -> Signature:
    """The signature of a line, also with blanks around it.

    Raises
    ------
    InputError
        A line that is not one, an entry that is not known, twice there, or has an impossible value.
    """
    name, *entries = text.strip().split("|")
    if name != NAME:
        raise InputError(f"A signature starts with {NAME}|; got {text.strip()[:40]!r}.")
    found: dict[str, str] = {}
    for entry in entries:
        is_side = entry in _SIDES or entry.partition(":")[0] in _MARGINS
        key, _, value = ("side", "", entry) if is_side else entry.partition(":")
        if key not in _KNOWN or not value:
            raise InputError(f"{entry!r} is not an entry of a signature.")
        if key in found:
            raise InputError(f"The signature has {key!r} twice.")
        found[key] = value
    try:
        return _signature(found)
    except (KeyError, ValueError) as error:
        raise InputError(f"The signature cannot be read: {error}.") from None


_KNOWN = (
    *("v", "model", "coding", "est", "df", "alpha", "side", "systems", "fit", "corr", "tests"),
    *("n", "sim", "seed", "data", "plan"),
)


def _signature(found: dict[str, str]) -> Signature:
    if found.get("coding", "b-a") != "b-a":
        raise ValueError(f"coding {found['coding']!r} is not known")
    estimator = found.get("est", "reml")
    if estimator not in ("reml", "ml"):
        raise ValueError(f"est {estimator!r} is not known")
    side, _, margin = found["side"].partition(":")
    analysis, family, link = _MODELS[found["model"]]
    rule = DecisionRule(
        estimator="ml" if estimator == "ml" else "reml",
        df=_DF[found["df"]],
        alternative={**_SIDES, **_MARGINS}[side],
        alpha=float(found["alpha"]),
        analysis=analysis,
        family=family,
        link=link,
        margin=float(margin) if margin else None,
    )
    workers, items, per_item = _sizes(found["n"]) if "n" in found else (None, None, None)
    return Signature(
        rule=rule,
        version=found.get("v"),
        n_workers=workers,
        n_items=items,
        ratings_per_item=per_item,
        n_simulations=int(found["sim"]) if "sim" in found else None,
        seed=int(found["seed"]) if "seed" in found else None,
        data_sha256=_hash(found.get("data")),
        plan_sha256=_hash(found.get("plan")),
        n_systems=int(found["systems"]) if "systems" in found else None,
        fit=_one_of("fit", found.get("fit"), get_args(Fit)),
        correction=_one_of("corr", found.get("corr"), get_args(Correction)),
        n_tests=int(found["tests"]) if "tests" in found else None,
    )


def _one_of(name: str, said: str | None, words: tuple[Any, ...]) -> Any:
    """The word, which is one of those, or None."""
    if said is not None and said not in words:
        raise ValueError(f"{name} {said!r} is not known")
    return said


def _sizes(text: str) -> tuple[int, int, float]:
    workers, items, per_item = text.split("x")
    return int(workers), int(items), float(per_item)


def _hash(text: str | None) -> str | None:
    if text is None:
        return None
    kind, _, digest = text.partition(":")
    if kind != "sha256":
        raise ValueError(f"{text!r} is not a SHA-256")
    return digest


def _digest(text: str | None) -> str | None:
    return text if text is not None and _HASH.fullmatch(text) else None


def _simulation(documents: Documents) -> tuple[int | None, int | None]:
    """Number and seed of the simulated studies behind the power, of the plan before any other."""
    plan = documents.plan
    if plan is not None and plan.predicted.n_simulations:
        return plan.predicted.n_simulations, plan.seed
    for document in (documents.power or NOTHING, documents.surface or NOTHING):
        n_simulations, seed = number(document, "n_simulations"), number(document, "seed")
        if n_simulations and seed is not None:
            return int(n_simulations), int(seed)
    return None, None


def _size(documents: Documents) -> tuple[int | None, int | None, float | None]:
    study, plan = documents.study, documents.plan
    found = _document_size(study, "n_workers", "n_items") or _document_size(
        documents.power or NOTHING, "workers", "items"
    )
    if found is None and plan is not None:
        return plan.counts.n_workers, plan.counts.n_items, plan.design().ratings_per_item
    return (None, None, None) if found is None else found


def _document_size(document: Document, workers: str, items: str) -> tuple[int, int, float] | None:
    sizes = [number(document, name) for name in (workers, items, "ratings_per_item")]
    if sizes[0] is None or sizes[1] is None or sizes[2] is None:
        return None
    # Four digits tell a mean of ratings well enough; sixteen would fill the line.
    return int(sizes[0]), int(sizes[1]), float(f"{sizes[2]:.4g}")


def _word(words_of: dict[str, DegreesOfFreedom] | dict[str, Alternative], said: str) -> str:
    return next(word for word, meant in words_of.items() if meant == said)


def _side(rule: DecisionRule) -> str:
    if rule.margin is None:
        return _word(_SIDES, rule.alternative)
    return f"{_word(_MARGINS, rule.alternative)}:{short(rule.margin)}"
