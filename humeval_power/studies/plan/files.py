"""plan.json: read a plan only if it is as it was sealed, and amend it for a stated reason."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from humeval_power.asking.study_values import StudyValues
from humeval_power.errors import InputError, Problem, field_problem
from humeval_power.fees import PlatformFee
from humeval_power.files.file_bytes import parse_json, read_fee, read_text
from humeval_power.studies.looks.dropping import DropExpectation
from humeval_power.studies.looks.repeated import StopExpectation
from humeval_power.studies.plan.plan import Amendment, Change, ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.planned_systems import PlannedRules, PlannedSystems
from humeval_power.studies.plan.sealed_content import (
    COMPUTED,
    LOOKS_SCHEMA,
    PLAN_SCHEMA,
    SIMULATED,
    Values,
    agree,
    amendment_record,
    as_values,
    chain_holds,
    changes,
    check_numbers,
    check_plan,
    content_of,
    document_text,
    is_sealed,
    named,
    plain_content,
    recomputed,
    seal,
    study_of,
    value_at,
)
from humeval_power.studies.power.required import design_of
from humeval_power.studies.resolve import (
    cost_model,
    documents_of,
    family_of,
    goal_of,
    judges_of,
    rule_of,
    scale_of,
    schedule_of,
)
from humeval_power.study import FIELDS, in_file
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters

# What all sealed files have in common: their kind, their seal, and what was changed by hand since.

RESTORE = "Restore the file, for example from version control; --amend cannot accept this."
RECORDED = ("created", "versions")
_MOST_NAMED = 6  # changes named in an error
_WRITTEN_BY = {
    PLAN_SCHEMA: "humeval-power plan",
    LOOKS_SCHEMA: "humeval-power looks scores|preference|accuracy -o looks.json",
}
_FOLLOWED_BY = {
    PLAN_SCHEMA: "It is the plan of a rating study: name it where one is followed.",
    LOOKS_SCHEMA: "It is a plan of looks at independent judgements: follow it with 'monitor'.",
}


def schema_of(text: str, *, place: str) -> object:
    """The schema that a text names, None where it names none or is no object."""
    document = parse_json(text, place=place)
    return document.get("schema") if isinstance(document, dict) else None


def sealed_object(text: str, place: str, *, schema: str) -> Values:
    """The JSON object of a text, each name once, of the kind and version that is needed. Raises InputError:
    another file."""
    document = parse_json(text, place=place)
    stated = document.get("schema") if isinstance(document, dict) else None
    if stated != schema:
        shown = "no schema" if stated is None else f"the schema {stated!r}"
        rule = f"has {shown}; {schema!r} is needed."
        remedy = f"Write one with: {_WRITTEN_BY[schema]}"
        if isinstance(stated, str):
            remedy = _FOLLOWED_BY.get(stated, remedy)
        raise InputError([Problem(rule, remedy, place=place)])
    return dict(document)


def refuse_after_ratings(study: Mapping[str, Any], folder: Path) -> None:
    """Refuse to seal a plan of a study whose ratings have come in: it says that it was made before them.

    study : its fields by name, of which `ratings` and `exports` name files in this folder; those that are not
        there, or are empty, count for nothing.
    Raises InputError: each file that is there; a pilot that is called the ratings of the study.
    """
    if study.get("pilot") is not None and study["pilot"] == study.get("ratings"):
        rule = "is named both as the pilot and as the ratings of the study, which are still to come."
        raise InputError(
            [Problem(rule, "Give [files] ratings another name.", place=str(folder / str(study["pilot"])))]
        )
    named = [study.get(name) or () for name in ("ratings", "exports")]
    there = [
        path
        for paths in named
        for path in (folder / each for each in ([paths] if isinstance(paths, str) else paths))
        if (any(path.iterdir()) if path.is_dir() else path.is_file() and path.stat().st_size > 0)
    ]
    if not there:
        return
    rule = "Ratings have come in: a plan that is sealed now would say that it was made before them."
    remedy = (
        "What was sealed before stays. Without a plan analyze decides the study, and its report says so; say there "
        "that it was planned after the first ratings. For the next study begin a new one, in a folder of its own."
    )
    raise InputError(
        [Problem(rule, remedy if path is there[-1] else "", place=str(path)) for path in there]
    )


def check_seal(values: Values, place: str) -> None:
    """Refuse a file of which it cannot be told what was sealed."""
    if not is_sealed(values):
        rule = (
            "its history, its checksum or its sealed copy was changed by hand, so that it cannot be told "
            "what was planned."
        )
        raise InputError([Problem(rule, RESTORE, place=place)])
    if not chain_holds(values["sealed"], values["history"]):
        raise InputError([Problem("its history does not lead to this plan.", RESTORE, place=place)])


def refuse_edits(values: Values, place: str) -> None:
    """Refuse a file that is not as it was sealed."""
    edits = changes(values["sealed"], content_of(values))
    if edits:
        raise InputError([_changed_by_hand(edits, place)])


def amended_text(
    values: Values,
    content: Values,
    reason: str,
    *,
    date: datetime.date,
    computed: Collection[str],
    place: str,
) -> str:
    """The text of a file that was changed by hand, with the changes in its history.

    values : the file as it is. content : what it says, with everything that is computed as it follows from that.
    computed : the paths of that. One of these may be left alone, or be what follows; nothing else.
    Raises InputError: no reason, nothing changed, or a computed value or a record of the past that was set by
    hand.
    """
    if not reason.strip():
        raise InputError("An amendment needs a reason in words.")
    before, edited, problems = values["sealed"], content_of(values), []
    for path in (*computed, *RECORDED):
        stated = value_at(edited, path)
        if stated != value_at(before, path) and not agree(stated, value_at(content, path)):
            rule = "is a record of the past." if path in RECORDED else "is computed, not set."
            remedy = f"Put back {value_at(before, path)!r}."
            problems.append(Problem(rule, remedy, place, None, path, stated, True, "field"))
    if problems:
        raise InputError(problems)
    made = changes(before, content)
    if all(change.path in RECORDED for change in made):
        rule = "is as it was sealed: there is nothing to amend."
        raise InputError([Problem(rule, "Change the plan in the file first.", place=place)])
    amendment = Amendment(date, " ".join(reason.split()), values["checksum"], tuple(made))
    return document_text(seal(content, [*values["history"], amendment_record(amendment)]))


def _changed_by_hand(edits: Sequence[Change], place: str) -> Problem:
    named = "; ".join(map(str, edits[:_MOST_NAMED]))
    more = f"; and {len(edits) - _MOST_NAMED} more" if len(edits) > _MOST_NAMED else ""
    return Problem(
        f"was changed by hand after it was sealed: {named}{more}.",
        'Undo this, or accept it with --amend "reason", which adds it to the history of the plan.',
        place=place,
    )


MOST_RATINGS = 20_000_000
_NEEDED = ("question", "systems", "values", "workers", "items", "ratings_per_item", "power")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan as its file has it: with the date it was made, its amendments and its checksum."""

    plan: Plan
    created: datetime.date
    history: tuple[Amendment, ...]
    checksum: str


def read_plan(path: str | Path) -> Plan:
    """The plan of a file that is as it was sealed.

    Raises
    ------
    InputError
        A file that cannot be read or has impossible values, all of them at once; one that was changed
        since it was sealed; or one whose power is not what its design and parameters give.
    """
    return read_plan_file(path).plan


def read_plan_file(path: str | Path) -> PlanFile:
    """The plan with its date, amendments and checksum; refuses what `read_plan` refuses."""
    return parse_plan(read_text(path), place=str(path))


def parse_plan(text: str, *, place: str = "plan") -> PlanFile:
    """The same from the text of a file; `place` is what errors call it."""
    document = _validated(text, place)
    values = as_values(document)
    plan = planned(document, place)
    check_seal(values, place)
    refuse_edits(values, place)
    check_numbers(plan, values, place)
    history = tuple(section.record() for section in document.history)
    return PlanFile(plan, document.created, history, document.checksum)


def amend_plan(path: str | Path, reason: str, *, date: datetime.date) -> tuple[Plan, str]:
    """Accept a file that was changed by hand: the plan, and the new text of the file.

    What is computed is computed afresh. A simulated power is kept only where nothing that it depends
    on has changed; otherwise it is gone (NaN) until the study is simulated again. The changes are added
    to the history with their reason and the checksum of the plan before.

    Raises InputError: no reason, nothing changed, impossible values, a computed value that was set by hand,
    or a history that was.
    """
    place = str(path)
    document = _validated(read_text(path), place)
    values = as_values(document)
    plan = planned(document, place)
    check_seal(values, place)
    plan = _amended(plan, planned(document.sealed, place))
    content = plain_content(plan, created=document.sealed.created)
    computed = (*COMPUTED, *SIMULATED)
    return plan, amended_text(values, content, reason, date=date, computed=computed, place=place)


def _amended(plan: Plan, before: Plan) -> Plan:
    """The plan with its cost and power computed afresh; the simulation is kept if it still holds."""
    plan = recomputed(plan)
    analytic = plan.predicted.analytic
    if agree(before.predicted.analytic, analytic):
        analytic = before.predicted.analytic  # the last digits of another machine are no change
    kept = _simulated_from(plan) == _simulated_from(before)
    predicted = before.predicted if kept else PredictedPower(analytic, math.nan, (math.nan, math.nan), 0)
    return replace(
        plan,
        predicted=replace(predicted, analytic=analytic),
        expected=plan.expected if kept else None,
        stops=plan.stops if kept else (),
        drops=plan.drops if kept else (),
        many=plan.many if kept or plan.many is None else replace(plan.many, shares=()),
    )


def _simulated_from(plan: Plan) -> tuple[object, ...]:
    """Everything that a simulated power depends on."""
    return (
        plan.parameters.with_difference(plan.effect),
        None if plan.many is None else replace(plan.many, shares=(), others=()),
        plan.counts,
        plan.design_kind,
        plan.rule,
        plan.looks,
        plan.seed,
    )


def _validated(text: str, place: str) -> Any:
    """The document of a text, with every field checked."""
    from humeval_power.saying.schemas import validated
    from humeval_power.studies.plan.sealed_schema import PlanDocument

    return validated(PlanDocument, sealed_object(text, place, schema=PLAN_SCHEMA), place)


def planned(document: Any, place: str) -> Plan:
    """The plan of a document: what its study means, as every command reads a study, with what it promises.
    Raises InputError: all that contradicts itself, by the fields of the study."""
    fields = document.study
    study = StudyValues({name: FIELDS[name].kind.read(value) for name, value in fields.items()})
    problems = [field_problem(name, None, "is missing.") for name in _NEEDED if name not in fields]
    if "question" in fields and not study.question.strip():
        problems.append(field_problem("question", study.question, "must not be blank."))
    if problems:
        raise InputError(named(problems, place))
    result: dict[str, Any] = {}
    parts: dict[str, Callable[[StudyValues], Any]] = {
        "rule": rule_of,
        "scale": scale_of,
        "counts": _counts,
        "costs": _costs,
        "looks": lambda study: schedule_of(study, scale_of(study)),
        "many": _several,
        "judges": judges_of,
    }
    for name, read in parts.items():
        try:
            result[name] = read(study)
        except InputError as error:
            problems += error.problems
        except click.UsageError as error:
            problems.append(Problem(in_file(error.format_message()), ""))
    if not problems:
        try:
            plan = _of_parts(study, document, **result)
            check_plan(plan)
        except InputError as error:
            problems += error.problems
        else:
            kept = study_of(plan).said()
            lost = [name for name in fields if name not in kept]
            problems += [Problem("says nothing in a plan.", "Take it out.", column=name) for name in lost]
    if problems:
        raise InputError(named(problems, place))
    return plan


def _of_parts(study: StudyValues, document: Any, *, many: PlannedSystems | None, **record: Any) -> Plan:
    """The plan of what was read, and of what is no field of a study. Raises InputError: what the study and
    the rest of the document disagree about."""
    promise, source, scale = document.promise, document.source, record.pop("scale")
    looks, rules, expected = record.pop("looks"), study.exclude_if, None
    stops: tuple[StopExpectation, ...] = ()
    drops: tuple[DropExpectation, ...] = ()
    others = () if document.sensitivity is None else tuple(document.sensitivity.record().items())
    if any(isinstance(one, SystemsParameters) == (many is None) for _, one in others):
        raise InputError("The values of others are of other systems than those of the study.")
    if looks is not None and promise.looks is not None:
        looks = replace(
            looks, factor=promise.looks.factor, interval_factor=promise.looks.interval_factor or 1.0
        )
        expected = None if promise.looks.expected is None else promise.looks.expected.record()
        stops = tuple(one.record() for one in promise.looks.stops or ())
        drops = tuple(one.record() for one in promise.looks.drops or ())
    if rules is not None:
        if promise.exclusion is None:
            rule = "needs a plan that was made with these rules."
            raise InputError([field_problem("exclude_if", str(rules), rule)])
        rules = PlannedRules(
            rules=rules,
            checks=float(study.checks),
            repeats=float(study.repeats),
            careless=study.careless,
            cost=promise.exclusion.record(),
        )
    if many is not None:
        many = replace(
            many,
            shares=tuple(share.record() for share in promise.other_goals),
            others=tuple((name, one.named(study.systems)) for name, one in others),
        )
    return Plan(
        question=study.question,
        systems=study.systems,
        effect=study.effect or 0.0 if many is None else many.parameters.stated_effect,
        parameters=study.values if many is None else many.pair,
        source=ParameterSource(source.name, source.file, source.ratings),
        target_power=study.power,
        predicted=promise.record(),
        seed=document.seed,
        design_kind=study.design,
        max_ratings_per_worker=study.max_ratings_per_worker,
        scale=None if scale is None else replace(scale, source=source.scale or "declared"),
        cost=None if promise.cost is None else Decimal(promise.cost),
        exclusions=study.exclusions or (),
        estimand=study.estimand,
        rules=rules,
        looks=looks,
        expected=expected,
        stops=stops,
        drops=drops,
        others=others if many is None else (),
        many=many,
        **record,
    )


def _counts(study: StudyValues) -> StudyCounts:
    """The size of the study, once it is known that a design of it can be laid out. Raises InputError: a
    design that cannot be, or is too large."""
    kind, n_items, ratings = study.design, study.items, study.ratings_per_item
    counts = StudyCounts(
        study.workers,
        n_items,
        ratings,
        study.paired,
        n_documents=documents_of(study).of(n_items),
        n_systems=len(study.systems),
    )
    each = ratings if kind in (None, "crossed") else counts.n_workers
    if counts.n_systems * n_items * each > MOST_RATINGS:
        rule = f"makes more than {MOST_RATINGS:,} ratings, which is more than can be planned."
        raise InputError([field_problem("items", n_items, rule)])
    design = design_of(counts, kind=kind, max_ratings_per_worker=study.max_ratings_per_worker)
    if abs(design.ratings_per_item - ratings) >= 1:
        rule = f"must be {design.ratings_per_item:g} in a {design.kind} design of this size."
        raise InputError([field_problem("ratings_per_item", ratings, rule)])
    return counts


def _costs(study: StudyValues) -> Any:
    """The prices of the study; None where it says none."""
    if study.cost_per_rating is None and study.pay_per_hour is None:
        return None
    fee = study.fee if isinstance(study.fee, PlatformFee) else read_fee(study.fee)
    return cost_model(study, fee)


def _several(study: StudyValues) -> PlannedSystems | None:
    """What is decided of several systems or criteria; None for one test of two systems."""
    if not isinstance(study.values, SystemsParameters):
        return None
    parameters = study.values.named(study.systems)
    return PlannedSystems(parameters, family_of(study), goal_of(study), study.criteria or ())
