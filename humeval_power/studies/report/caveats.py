"""What a reader must know before trusting the numbers of a report."""

from __future__ import annotations

import math

from humeval_power.checking.rehearsed import NOTICE
from humeval_power.saying.answer_words import probe_sentences
from humeval_power.saying.rule_words import (
    ENOUGH_WORKERS,
    apart_words,
    is_too_bold,
    size_sentence,
    zero_words,
)
from humeval_power.saying.values import (
    JsonRecord,
    bounds,
    cells,
    listed,
    number,
    part,
    plain,
    rule_of,
    words,
)
from humeval_power.studies.report.fact_record import StudyFacts
from humeval_power.studies.report.fact_words import other_decisions

CHANGED = "The table of ratings is not the one that was analysed: analyse again before this is used."


def first_notices(*records: JsonRecord) -> tuple[str, ...]:
    """What stands before all else in whatever is written of these studies: that nobody gave the ratings, or that
    other ratings have come in since."""
    notices = {str(notice) for record in records for notice in listed(record, "notices")}
    return tuple(notice for notice in (NOTICE, CHANGED) if notice in notices)


def as_planned(record: JsonRecord) -> str:
    """That nothing departs from the plan; of drawn ratings, which nobody collected, what that is."""
    if NOTICE in listed(record, "notices"):
        return "This is a rehearsal: drawn ratings were analysed as planned."
    return "The study was carried out and analysed as planned."


def caveats(facts: StudyFacts, surface: JsonRecord, power: JsonRecord) -> tuple[str, ...]:
    """Sentences, the gravest first, and the notices of the study last."""
    first = first_notices(facts.record)
    result = [
        *first,
        *_fit_caveats(facts),
        *other_decisions(facts),
        *_few_workers(facts),
        *_few_planned_workers(surface, power),
        *_other_rule(facts, surface, power),
        *_observed_effect(facts, power),
        *_failures(surface, power),
        *(str(notice) for notice in listed(facts.record, "notices") if notice not in first),
    ]
    return tuple(result)


def _fit_caveats(facts: StudyFacts) -> list[str]:
    caveats = []
    if not facts.converged:
        message = words(facts.record, "message")
        reason = f" ({message})" if message else ""
        caveats.append(f"The fit did not converge{reason}. None of its numbers should be reported.")
    untested = {} if not facts.converged else facts.untested
    for why, of in untested.items():
        what = (
            f"of {', '.join(f'{one.second} - {one.first}' for one in of)}"
            if facts.is_of_several
            else "of the difference"
        )
        caveats.append(f"There is no test {what}, and no decision: {why}.")
    if facts.not_identified:
        known = [str(one) for one in listed(facts.record, "identified_combinations")]
        caveats.append(apart_words(facts.not_identified, facts.systems, known))
    if probed := part(facts.record, "monte_carlo"):
        errors = part(probed, "deviations")
        largest = max((number(errors, name) or 0.0 for name in errors), default=0.0)
        probes, seed, effect = (number(probed, name) or 0.0 for name in ("probes", "seed", "effect"))
        caveats.append(probe_sentences(probes, seed, largest, effect))
    if facts.boundary:
        caveats.append(zero_words(facts.boundary, facts.systems))
    return caveats


def _few_workers(facts: StudyFacts) -> list[str]:
    """The size of the test simulated for this very study where there is one, else what is known of it."""
    rule, workers = facts.rule, facts.n_workers
    if rule is None or workers is None:
        return []
    effect = part(facts.record, "effect")
    size, interval = number(effect, "simulated_size"), bounds(effect, "simulated_size_interval")
    bold = f"With {workers:,.0f} workers the test rejects more often than alpha {rule.alpha:g} says."
    if size is None or interval is None:
        return [f"{bold} {size_sentence(rule)}".rstrip()] if is_too_bold(rule, workers) else []
    said = bold if interval[0] > rule.alpha else f"With {workers:,.0f} workers the test is approximate."
    null = "no difference" if rule.margin is None else "a difference at the margin"
    return [
        f"{said} Simulated with these parameters and {null}, it rejects in {size:.3f} of studies "
        f"(Monte Carlo interval {interval[0]:.3f} to {interval[1]:.3f}), at alpha {rule.alpha:g}."
    ]


def _few_planned_workers(surface: JsonRecord, power: JsonRecord) -> list[str]:
    for document in (power, surface):
        rule = rule_of(document)
        if rule is None:
            continue
        counts = sorted({n for cell in cells(document) if (n := number(cell, "workers")) is not None})
        few = [f"{workers:,.0f}" for workers in counts if is_too_bold(rule, workers)]
        if few:
            return [
                f"Power with fewer than {ENOUGH_WORKERS[rule.df]} workers (here {', '.join(few)}) is "
                f"partly false alarm. {size_sentence(rule)}".rstrip()
            ]
    return []


def _other_rule(facts: StudyFacts, surface: JsonRecord, power: JsonRecord) -> list[str]:
    tested = facts.rule
    planned = {rule for document in (surface, power) if (rule := rule_of(document)) is not None}
    return [
        f"Power was computed for another test ({rule}) than the one reported ({tested})."
        for rule in sorted(planned, key=str)
        if tested is not None and rule != tested
    ]


def _observed_effect(facts: StudyFacts, power: JsonRecord) -> list[str]:
    observed = [abs(one.estimate) for one in facts.comparisons if one.estimate]
    for cell in cells(power):
        if any(math.isclose(abs(cell["difference"]), one, rel_tol=0.005) for one in observed):
            return [
                f"The power given is for {plain(cell['difference'])}, the observed difference. Such "
                "power repeats the p-value and does not judge the design: state a difference of interest."
            ]
    return []


def _failures(surface: JsonRecord, power: JsonRecord) -> list[str]:
    failures = []
    for name, document in (("surface", surface), ("power computation", power)):
        failed = sum(number(cell, "n_failed") or 0 for cell in cells(document))
        simulated = sum(number(cell, "n_simulations") or 0 for cell in cells(document))
        if failed:
            failures.append(
                f"{failed:,.0f} of the {simulated:,.0f} simulated studies of the {name} could not be "
                "fitted; they count as not significant."
            )
    return failures
