"""The smallest number of workers, items, documents or ratings per item that reaches a target power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from humeval_power.choices import Sought
from humeval_power.errors import InputError
from humeval_power.inference.study.formula import (
    FEW_WORKERS,
    EffectPrecision,
    analytic_power,
    effect_precision,
    power_at,
)
from humeval_power.parameters import Parameters
from humeval_power.planning.power import (
    DEFAULT_SEED,
    DEFAULT_SIMULATIONS,
    PowerEstimate,
    Progress,
    estimate_power,
    part_of,
)
from humeval_power.planning.questions import smallest_true
from humeval_power.planning.study.analytic import check_target, detectable
from humeval_power.planning.study.designs_of import design_of
from humeval_power.planning.study.limits import (
    Ceiling,
    ceiling_with_items,
    ceiling_with_workers,
    little,
)
from humeval_power.planning.study.regular import regular_precision
from humeval_power.planning.workload import Ahead, measured_workload
from humeval_power.rules import DEFAULT_RULE, DecisionRule, claim
from humeval_power.scenarios.study import RatingStudy
from humeval_power.simulation.study import check_documents
from humeval_power.study_counts import NO_DOCUMENTS, Documents, StudyCounts

MOST = 100_000  # larger studies are not searched
PRACTICAL = 10_000  # beyond, half as many must do clearly worse
MOST_UNPAIRED = 1000  # their exact precision needs matrices of twice this order
PROOF_SECONDS = 60.0  # of a proof that nobody asked for by a number of simulations
_MOST_RAISES = 25  # of a size whose proof falls short


@dataclass(frozen=True, slots=True)
class RequiredSize:
    """The answer: the smallest size found, or None and the reason why none will do.

    `analytic` is its power by formula, `simulated` the proof, None where none was asked for, or where it would take
    `proof_seconds` and nobody asked for so many simulations.
    """

    sought: Sought
    target: float
    counts: StudyCounts | None
    analytic: float
    simulated: PowerEstimate | None
    reason: str = ""
    proof_seconds: float | None = None


def counts_power(
    parameters: Parameters, counts: StudyCounts, *, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """Power of a regular study by formula."""
    return power_at(parameters.difference, counts_precision(parameters, counts), rule=rule).power


def counts_precision(parameters: Parameters, counts: StudyCounts) -> EffectPrecision:
    """Variance and df of a regular study: paired ones without their assignment (see planning.regular),
    unpaired ones exactly."""
    check_documents(parameters.recoded(), counts.n_documents)
    if not counts.paired:
        return effect_precision(parameters, design_of(counts))
    found = regular_precision(
        parameters,
        workers=counts.n_workers,
        items=counts.n_items,
        ratings_per_item=counts.ratings_per_item,
        paired=counts.paired,
        documents=counts.n_documents,
    )
    smallest = min(counts.n_workers, counts.n_documents or counts.n_items) - 1
    return EffectPrecision(float(found.variance), float(found.df), smallest, counts.n_workers)


def required_size(
    parameters: Parameters,
    sought: Sought,
    *,
    workers: int | None = None,
    items: int | None = None,
    ratings_per_item: int | None = None,
    paired: bool = True,
    documents: Documents = NO_DOCUMENTS,
    power: float = 0.8,
    rule: DecisionRule = DEFAULT_RULE,
    proves: bool = True,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    ahead: Ahead | None = None,
    progress: Progress | None = None,
) -> RequiredSize:
    """Search one size with the others fixed, by formula, then prove the answer by simulation.

    Where the simulated power stays below the target by more than its Monte Carlo error, the size is
    raised step by step (with few workers the formula is approximate). More than 10,000 are no practical
    answer where half of them do as well, since the target lies so near what no number exceeds.

    documents : that the items come out of; with so many items each, more items are more documents. Documents
        that are sought have so many items each, or share the `items`.
    proves : without it the answer is that of the formula alone.
    n_simulations : studies of each proof. None are 1,000, unless they take more than a minute: then there is no
        proof.
    ahead : is told of the work of one proof before the first, and may refuse it.
    progress : is told how many studies are simulated, and how many there may be.

    Raises
    ------
    InputError
        A size that is missing, an effect of zero, which no study can find, or one beyond the margin of
        the rule, where its claim is wrong.
    """
    check_target(power, rule)
    check_effect(parameters.difference, rule)
    _check_ratings_per_item(sought, workers, ratings_per_item, paired)
    make, lowest, highest = _search_space(sought, workers, items, ratings_per_item, paired, documents)

    def reaches(value: int) -> bool:
        return counts_power(parameters, make(value), rule=rule) >= power

    found = smallest_true(reaches, lowest, highest)
    at = make(highest if found is None else found)
    by_document = documents.items_each is not None
    limit = _limit(parameters, sought, at, power, rule, by_document=by_document)
    half = None
    if found is not None and found > PRACTICAL and limit is not None and not limit.is_clear:
        smaller = make(max(found // 2, lowest))
        does_as_well = counts_power(parameters, smaller, rule=rule) >= power - little(power)
        half = smaller if does_as_well else None
    if found is None or half is not None:
        why = _why(sought, at, limit, parameters, power, rule, by_document=by_document, half=half)
        most = counts_power(parameters, make(highest), rule=rule)
        return RequiredSize(sought, power, None, most, None, why)
    study = RatingStudy(parameters, design_of(at), rule=rule)
    by_formula = analytic_power(parameters, study.design, rule=rule).power
    if not proves:
        return RequiredSize(sought, power, at, by_formula, None)
    n_studies = n_simulations or DEFAULT_SIMULATIONS
    work = measured_workload([study], n_simulations=n_studies, n_jobs=n_jobs)
    if n_simulations is None and work.seconds > PROOF_SECONDS:
        return RequiredSize(sought, power, at, by_formula, None, proof_seconds=work.seconds)
    if ahead is not None:
        ahead(work)
    beyond = max(5, found // 4)
    values = range(found, min(found + beyond, highest) + 1, -(-beyond // _MOST_RAISES))
    for proof, value in enumerate(values):
        counts = make(value)
        if value > found:
            study = RatingStudy(parameters, design_of(counts), rule=rule)
        simulated = estimate_power(
            study,
            n_simulations=n_studies,
            seed=seed,
            n_jobs=n_jobs,
            progress=part_of(progress, proof, proof + 1),
        )
        if not (simulated.too_many_failed or simulated.interval[1] < power):
            break
    if simulated.too_many_failed:
        why = (
            f"{100 * simulated.failure_rate:.0f} % of the studies simulated with {value:,} {sought} could not be "
            "fitted, so that no power is known. Plan more ratings of each worker and item."
        )
        return RequiredSize(sought, power, None, counts_power(parameters, counts, rule=rule), None, why)
    return RequiredSize(
        sought, power, counts, analytic_power(parameters, study.design, rule=rule).power, simulated
    )


def check_effect(effect: float, rule: DecisionRule) -> None:
    """Refuse a true effect that no size of study could find, or that makes the rule's claim wrong."""
    if rule.margin is None:
        if effect <= 0:
            raise InputError(f"Give the effect of interest: a positive difference B - A; got {effect:g}.")
    elif not rule.can_show(effect):
        inside = f"above {-rule.margin:g}"
        if rule.alternative == "equivalent":
            inside = f"between {-rule.margin:g} and {rule.margin:g}"
        raise InputError(
            f"Where the true difference is {effect:g} the systems are not {rule.alternative} within "
            f"{rule.margin:g}, and a larger study says so more surely: give an --effect {inside}."
        )


def _search_space(
    sought: Sought,
    workers: int | None,
    items: int | None,
    k: int | None,
    paired: bool,
    documents: Documents,
) -> tuple[Callable[[int], StudyCounts], int, int]:
    needed = 1 if paired else 2
    if sought == "documents":
        return _documents_space(_given("workers", workers), items, k, paired, documents)

    def counts(m: int, n: int, ratings: int) -> StudyCounts:
        return StudyCounts(m, n, ratings, paired, n_documents=documents.of(n))

    if sought == "workers":
        n = _given("items", items)
        most = MOST if k is None else min(MOST if paired else MOST_UNPAIRED, n * needed * k)
        return lambda m: counts(m, n, k or m), max(2, needed * (k or 1)), most
    if sought == "items":
        m = _given("workers", workers)
        least = documents.number or (documents.items_each or 1) + 1  # items of two documents
        if least > MOST:
            name = "documents" if documents.number else "items_per_document"
            raise InputError(
                f"{name} must leave at most {MOST:,} items to look for; got {least:,} at least."
            )
        return lambda n: counts(m, n, k or m), least, MOST
    m, n = _given("workers", workers), _given("items", items)
    return lambda value: counts(m, n, value), 1, m // needed


def _documents_space(
    m: int, items: int | None, k: int | None, paired: bool, documents: Documents
) -> tuple[Callable[[int], StudyCounts], int, int]:
    """Documents of so many items each, or that share so many items."""
    if documents.number is not None or (documents.items_each is None) == (items is None):
        raise InputError(
            "The number of documents is what is sought: give the items of each document, or the items that "
            "all of them share."
        )
    each = documents.items_each
    if each is None:
        n = _given("items", items)
        return lambda d: StudyCounts(m, n, k or m, paired, n_documents=d), 2, n
    return lambda d: StudyCounts(m, d * each, k or m, paired, n_documents=d), 2, max(2, MOST // each)


def _check_ratings_per_item(sought: Sought, workers: int | None, k: int | None, paired: bool) -> None:
    if sought == "ratings-per-item":
        return
    if k is None and not paired:
        raise InputError("An unpaired design needs a number of ratings per item.")
    if k is not None and k < 1:
        raise InputError(f"The number of ratings per item must be at least 1; got {k}.")
    needed = (k or 0) * (1 if paired else 2)
    if k is not None and sought == "items" and workers is not None and workers >= 2 and needed > workers:
        raise InputError(
            f"{k} ratings per item and system need {needed} different workers; there are {workers}."
        )


def _given(name: str, value: int | None) -> int:
    if value is None:
        raise InputError(f"Give the number of {name}: it is not what is sought.")
    if value < 2:
        raise InputError(f"The number of {name} must be at least 2; got {value}.")
    return value


def _limit(
    parameters: Parameters,
    sought: Sought,
    best: StudyCounts,
    power: float,
    rule: DecisionRule,
    *,
    by_document: bool,
) -> Ceiling | None:
    if by_document and sought in ("items", "documents"):
        return ceiling_with_items(parameters, n_workers=best.n_workers, target=power, rule=rule)
    if sought == "items":
        return ceiling_with_items(
            parameters,
            n_workers=best.n_workers,
            n_documents=best.n_documents,
            target=power,
            rule=rule,
        )
    if sought == "workers":
        return ceiling_with_workers(
            parameters,
            n_items=best.n_items,
            ratings_per_item=_limit_ratings(best),
            n_documents=best.n_documents,
            target=power,
            rule=rule,
        )
    return None


def _limit_ratings(counts: StudyCounts) -> int | None:
    """Ratings per item that stay fixed as workers are added; None where all of them rate every item."""
    complete = counts.paired and counts.ratings_per_item == counts.n_workers
    return None if complete else counts.ratings_per_item


def _why(
    sought: Sought,
    best: StudyCounts,
    limit: Ceiling | None,
    parameters: Parameters,
    power: float,
    rule: DecisionRule,
    *,
    by_document: bool,
    half: StudyCounts | None,
) -> str:
    """Why no size will do, or none that is practical: what no number exceeds, and what would do.

    half : half of the size that is too large to be practical, None where none was found.
    """
    effect = parameters.difference
    if limit is None:
        smallest = detectable(counts_precision(parameters, best), effect=effect, power=power, rule=rule)
        thing = "effect this study could find" if rule.margin is None else "margin this study could show"
        most = f"all {best.n_workers} workers on every item"
        if sought == "documents":
            most = f"every one of the {best.n_items} items from a document of its own"
        return (
            f"Even with {most} the power is "
            f"{counts_power(parameters, best, rule=rule):.2f}; the smallest {thing} "
            f"with power {power:g} is {smallest:.3g}. More workers or items are needed."
        )
    fixed, other = (
        (f"{best.n_items} items", "items")
        if sought == "workers"
        else (f"{best.n_workers} workers", "workers")
    )
    if best.n_documents and not by_document:
        joined = "of" if sought == "workers" else "and"
        fixed, other = f"{fixed} {joined} {best.n_documents} documents", "documents"
    if rule.margin is None:
        what, smaller = f"for an effect of {effect:g}", "no effect below {:.3g} can be found"
    else:
        what, smaller = f"to show {claim(rule)}", "no margin below {:.3g} can be shown"
    rough = " The formula is rough with so few workers." if best.n_workers < FEW_WORKERS else ""
    clearly = _enough(parameters, sought, other, best, power, rule, clearly=True)
    would_do = f" {clearly:,} {other} would do." if clearly else ""
    if limit.reachable:
        needed = f"more than {MOST:,}"
        if half is not None:
            of_half = counts_power(parameters, half, rule=rule)
            needed = f"{_number(sought, best):,}, half of which have {of_half:.4f}"
        return (
            f"No practical number of {sought} will do: with {fixed} the power {what} cannot pass "
            f"{limit.power:.4f}, and {power:g} takes {needed}.{would_do}{rough}"
        )
    text = (
        f"No number of {sought} will do: with {fixed} the power {what} cannot pass {limit.power:.2f}, and "
        f"{smaller.format(limit.detectable_effect)} with power {power:g}."
    )
    enough = _enough(parameters, sought, other, best, power, rule)
    least = f" At least {enough} {other} are needed." if enough else ""
    return text + least + (would_do if clearly != enough else "") + rough


def _number(sought: Sought, counts: StudyCounts) -> int:
    """What was sought, of these counts."""
    if sought == "documents":
        return counts.n_documents
    return counts.n_workers if sought == "workers" else counts.n_items


def _enough(
    parameters: Parameters,
    sought: Sought,
    other: str,
    best: StudyCounts,
    power: float,
    rule: DecisionRule,
    *,
    clearly: bool = False,
) -> int | None:
    """The number of the other factor from which the sought one can do it, or `clearly`: in practice."""

    def does(limit: Ceiling) -> bool:
        return limit.is_clear if clearly else limit.reachable

    def reaches(value: int) -> bool:
        if other == "documents":
            wider = replace(best, n_items=max(best.n_items, value), n_documents=value)
            limit = _limit(parameters, sought, wider, power, rule, by_document=False)
            return limit is not None and does(limit)
        if other == "workers":
            return does(ceiling_with_items(parameters, n_workers=value, target=power, rule=rule))
        return does(
            ceiling_with_workers(
                parameters,
                n_items=value,
                ratings_per_item=_limit_ratings(best),
                target=power,
                rule=rule,
            )
        )

    return smallest_true(reaches, 2, MOST)
