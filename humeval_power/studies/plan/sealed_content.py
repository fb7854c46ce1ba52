"""plan.json as plain values: the study that was resolved, its design, what it promises, and the seal.

The study is written as records write one, so that `Study.read` reads it. A field that is not there was not said.
pydantic is imported when a plan is written or read, not before: commands start without it.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import DEFAULT_ASSIGNMENT_SEED
from humeval_power.errors import InputError, Problem, field_problem
from humeval_power.rules import claim
from humeval_power.safe_text import json_text
from humeval_power.saying.result import json_ready, versions
from humeval_power.studies.looks.repeated import check_decision, check_offered
from humeval_power.studies.plan.plan import Amendment, Change, Plan
from humeval_power.studies.plan.planned_systems import check_judges
from humeval_power.studies.power.analytic import check_target
from humeval_power.study import PRICE_FIELDS, Study
from humeval_power.study_text import plain

if TYPE_CHECKING:
    from pydantic import BaseModel

    from humeval_power.studies.plan.planned_systems import PlannedSystems
    from humeval_power.systems import SystemsParameters


# The seal of a plan document: its checksum, what differs from it, and the chain of its amendments.

PLAN_SCHEMA = "humeval_power/plan/4"
LOOKS_SCHEMA = "humeval_power/looks_plan/1"
SEAL = ("history", "checksum", "sealed")  # the names of a document that are not its content
OPEN = "study."  # what is null there is left out
WHOLE = ("versions",)  # changes of these are listed as one

Values: TypeAlias = dict[str, Any]


def content_of(document: Mapping[str, Any]) -> Values:
    """The document without its seal."""
    return {name: value for name, value in document.items() if name not in SEAL}


def seal(content: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> Values:
    """A document with its history, its checksum and a copy of what was sealed."""
    return {
        **content,
        "history": list(history),
        "checksum": checksum(content, history),
        "sealed": dict(content),
    }


def checksum(content: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256 of content and history as UTF-8 JSON with sorted names and no blanks."""
    whole = {**content, "history": list(history)}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def changes(before: Mapping[str, Any], after: Mapping[str, Any], above: str = "") -> list[Change]:
    """What differs, value by value; a list is one value, and so is a section that comes or goes (null: absent)."""
    differences = []
    for name in {**before, **after}:
        path, old, new = f"{above}{name}", before.get(name), after.get(name)
        if isinstance(old, dict) and isinstance(new, dict) and name not in WHOLE:
            differences += changes(old, new, f"{path}.")
        elif old != new:
            differences.append(Change(path, old, new))
    return differences


def value_at(content: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as 'design.n_workers'; None where there is none."""
    value: Any = content
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def is_sealed(document: Mapping[str, Any]) -> bool:
    """Whether the copy, the history and the checksum belong together, whatever became of the content."""
    return bool(document["checksum"] == checksum(document["sealed"], document["history"]))


def chain_holds(content: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether undoing the amendments one by one leads back through the checksums that they state."""
    values: Values = json.loads(json.dumps(content))
    for place in range(len(history) - 1, -1, -1):
        for change in history[place]["changes"]:
            if value_at(values, change["path"]) != change["new"]:
                return False
            _put(values, change["path"], change["old"])
        if history[place]["checksum_before"] != checksum(values, history[:place]):
            return False
    return True


def document_text(document: Mapping[str, Any]) -> str:
    """The document for a file: one value a line, and the sealed copy on a single last line."""
    shown = {name: value for name, value in document.items() if name != "sealed"}
    text = json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    copy = json.dumps(document["sealed"], separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return json_text(f'{text},\n  "sealed": {copy}\n}}\n')


def _put(values: Values, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        values = values[name]
    if value is None and path.startswith(OPEN):
        values.pop(last, None)
    else:
        values[last] = value


TOLERANCE = 1e-6  # of a computed number, for another machine's last digits
COMPUTED = (
    "design.kind",
    "design.n_ratings",
    "design.assignment_seed",
    "promise.effect_raw",
    "promise.cost",
    "promise.analytic",
    "promise.n_tests",
    "promise.looks.information",
    "promise.looks.nominal",
    "sensitivity.powers",
)
SIMULATED = tuple(f"promise.{name}" for name in ("simulated", "interval", "n_simulations"))


def study_of(plan: Plan) -> Study:
    """The study that was planned: its question, variation, effect of interest, size, test, prices, rules, looks."""
    counts, many, rules = plan.counts, plan.many, plan.rules
    said: Values = {
        "question": plan.question,
        "exclusions": plan.exclusions or None,
        "estimand": plan.estimand,
        "systems": plan.systems,
        "workers": counts.n_workers,
        "items": counts.n_items,
        "ratings_per_item": counts.ratings_per_item,
        "paired": counts.paired,
        "documents": counts.n_documents or None,
        "design": plan.design_kind,
        "max_ratings_per_worker": plan.max_ratings_per_worker,
        "power": plan.target_power,
        **asdict(plan.rule),
        **({} if plan.costs is None else _prices(plan.costs)),
    }
    if many is None:
        said |= {"values": plan.parameters.as_dict(), "effect": plan.effect}
    else:
        said |= _of_several(many)
        del said["family"], said["link"]  # of two systems only
    if plan.scale is not None:
        said |= {"scale": plan.scale.bounds, "lower_is_better": not plan.scale.higher_is_better}
    if rules is not None:
        said |= {"exclude_if": rules.rules.limits, "careless": rules.careless}
        said |= {"checks": rules.checks, "repeats": rules.repeats}
    if plan.looks is not None:
        looks, futility = plan.looks.looks, plan.looks.futility
        said |= {"looks": looks.shares, "looks_by": looks.kind, "efficacy": str(plan.looks.efficacy)}
        said["futility"] = "none" if futility is None else str(futility)
        if plan.looks.stop_when is not None:
            said["stop_when"] = plan.looks.stop_when.words(plan.scale)
        if plan.looks.drop_systems:
            said["drop_systems"] = True
    if plan.judges is not None:
        said |= plan.judges.said()
    return Study(**said)


def _prices(model: CostModel) -> Values:
    amounts = {PRICE_FIELDS.get(name, name): value for name, value in asdict(model).items()}
    fee = {name: value for name, value in model.fee.as_dict().items() if value is not None}
    return {**amounts, "fee": fee}


def _of_several(many: PlannedSystems) -> Values:
    family = many.family
    return {
        "values": without_names(many.parameters),
        "goal": many.goal,
        "criteria": many.criteria or None,
        "comparisons": family.comparisons,
        "baseline": family.baseline,
        "model": family.model,
        "system_variances": family.variances if family.model == "joint" else None,
        "correction": family.correction,
        "correct_over": family.over if many.criteria or family.over != "all" else None,
    }


def without_names(parameters: SystemsParameters) -> Values:
    """The parameters of several systems, which are named elsewhere."""
    return {name: value for name, value in parameters.as_dict().items() if name != "names"}


def plan_content(plan: Plan, *, created: datetime.date) -> Values:
    """The content of the document, as plain values."""
    design, scale = plan.design(), plan.scale
    return {
        "schema": PLAN_SCHEMA,
        "study": plain(study_of(plan).said()),
        "source": {**asdict(plan.source), "scale": None if scale is None else scale.source},
        "design": {
            "kind": design.kind,
            "n_ratings": design.n_ratings,
            "assignment_seed": DEFAULT_ASSIGNMENT_SEED,
        },
        "promise": _promise(plan),
        "sensitivity": _sensitivity(plan),
        "seed": plan.seed,
        "created": created.isoformat(),
        "versions": versions(),
    }


def _promise(plan: Plan) -> Values:
    many, rules, predicted = plan.many, plan.rules, plan.predicted
    return {
        **asdict(predicted),
        "interval": None if math.isnan(predicted.simulated) else list(predicted.interval),
        "cost": None if plan.cost is None else f"{plan.cost:f}",
        "effect_raw": None if plan.scale is None else plan.scale.effect_to_raw(plan.effect),
        "n_tests": 1 if many is None else many.n_tests,
        "other_goals": [] if many is None else [asdict(share) for share in many.shares],
        "looks": looks_content(plan),
        "exclusion": None
        if rules is None
        else {
            "careful_out": rules.cost.out.careful,
            "careless_out": rules.cost.out.careless,
            **{name: value for name, value in asdict(rules.cost).items() if name != "out"},
        },
    }


def looks_content(plan: Plan) -> Values | None:
    """What the planned looks promise: the calibration of their levels, what each knows and has to show."""
    if plan.looks is None:
        return None
    return {
        "factor": plan.looks.factor,
        "information": list(plan.look_information().fractions),
        "nominal": [float(level) for level in plan.look_boundaries().nominal],
        "expected": None if plan.expected is None else asdict(plan.expected),
        **({"stops": [asdict(one) for one in plan.stops]} if plan.by_intervals else {}),
        **(
            {
                "interval_factor": plan.looks.interval_factor,
                "drops": [asdict(one) for one in plan.drops],
            }
            if plan.drops_systems
            else {}
        ),
    }


def _sensitivity(plan: Plan) -> Values | None:
    if plan.many is not None:
        others = [(name, without_names(other)) for name, other in plan.many.others]
    else:
        others = [(name, plain(other.as_dict())) for name, other in plan.others]
    if not others:
        return None
    return {
        "others": [{"name": name, "values": values} for name, values in others],
        "powers": list(plan.sensitivity().values()),
    }


def plan_to_json(plan: Plan, *, created: datetime.date, history: Sequence[Amendment] = ()) -> str:
    """The text of plan.json, sealed, ending with a newline. Raises InputError: a plan that could not be read
    back: impossible values, or a cost or power that its own prices, design and parameters do not give."""
    check_plan(plan)
    content = plain_content(plan, created=created)
    check_numbers(plan, content, "plan")
    return document_text(seal(content, [amendment_record(amendment) for amendment in history]))


def plain_content(plan: Plan, *, created: datetime.date) -> Values:
    """The content as it comes back from a file: whole numbers of measures have become decimal ones."""
    from humeval_power.saying.schemas import validated
    from humeval_power.studies.plan.sealed_schema import PlanDocument

    content: Any = json_ready(plan_content(plan, created=created))
    return content_of(as_values(validated(PlanDocument, seal(content, []), "plan")))


def amendment_record(amendment: Amendment) -> Values:
    """An amendment as plain values."""
    return {**asdict(amendment), "date": amendment.date.isoformat()}


def as_values(document: BaseModel) -> Values:
    """A document that was checked, as plain values."""
    values: Values = json.loads(document.model_dump_json(by_alias=True))
    return values


def recomputed(plan: Plan) -> Plan:
    """The plan with its cost and its power by formula computed afresh."""
    analytic = plan.recomputed_power()
    cost = None if plan.costs is None else cost_of(plan.design(), plan.costs).total
    return replace(plan, cost=cost, predicted=replace(plan.predicted, analytic=analytic))


def check_numbers(plan: Plan, values: Values, place: str) -> None:
    """Raise InputError for every number of the document that is not what the plan gives."""
    content: Any = json_ready(plan_content(recomputed(plan), created=datetime.date.min))
    check_stated({path: value_at(content, path) for path in COMPUTED}, values, place)


def check_stated(expected: Values, values: Values, place: str) -> None:
    """Raise InputError for every number, by its path, that a document does not state as it is computed."""
    problems = []
    for path, computed in expected.items():
        stated = value_at(values, path)
        if not agree(stated, computed):
            rule = f"this plan gives {computed!r}."
            problems.append(Problem(rule, _remedy(path), place, None, path, stated, True, "field"))
    if problems:
        raise InputError(problems)


def _remedy(path: str) -> str:
    if path != "promise.analytic":
        return "It is computed; do not set it."
    return (
        'Where another version of this package computed it (see "versions"), accept the new value with '
        '--amend "reason".'
    )


def agree(stated: object, computed: object) -> bool:
    """Whether a stated value is the computed one; numbers up to TOLERANCE."""
    if isinstance(stated, list) and isinstance(computed, list):
        return len(stated) == len(computed) and all(map(agree, stated, computed))
    if isinstance(stated, float) and isinstance(computed, float):
        return abs(stated - computed) <= TOLERANCE
    return stated == computed


def check_plan(plan: Plan) -> None:
    """Refuse a plan of fields that are possible each, and not together. Raises InputError: all of it, by the
    fields of the study."""
    problems = []
    difference, rule, many = plan.effect, plan.rule, plan.many
    if difference == 0 and rule.margin is None:
        problems.append(field_problem("effect", 0, "must not be 0: no study can find that."))
    if rule.margin is not None and not rule.can_show(difference):
        said = f"must be where the claim of the rule, {claim(rule)}, is true."
        problems.append(field_problem("effect", difference, said))
    if rule.alternative == "greater" and difference < 0:
        said = "must be positive where only B better than A counts (alternative 'greater')."
        problems.append(field_problem("effect", difference, said))
    if len(plan.systems) != plan.counts.n_systems or (many is None and len(plan.systems) > 2):
        said = f"must be those of the values, {plan.counts.n_systems}."
        problems.append(field_problem("systems", list(plan.systems), said))
    if math.isnan(difference) or abs(difference) > 1:
        problems.append(field_problem("effect", difference, "must lie between -1 and 1."))
    try:
        check_target(plan.target_power, rule)
    except InputError as error:
        problems.append(Problem(str(error), "", column="power"))
    try:
        _check_stopping(plan)
    except InputError as error:
        problems += error.problems
    if plan.judges is not None:
        try:
            check_judges(plan)
        except InputError as error:
            problems += error.problems
    if not problems:
        try:
            if many is None:
                plan.study()  # refuses a test whose power cannot be computed
            else:
                many.check(rule)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)


def _check_stopping(plan: Plan) -> None:
    """Refuse what looks that drop systems, or that intervals stop, were not simulated with."""
    several, documents, exclusions = (
        plan.many is not None,
        bool(plan.counts.n_documents),
        plan.rules is not None,
    )
    if plan.looks is None or not (plan.looks.drop_systems or plan.looks.stop_when):
        return
    if not plan.looks.drop_systems:
        assert plan.looks.stop_when is not None
        check_decision(plan.rule, plan.looks.stop_when)
        check_offered(
            several=several, exclusions=exclusions, documents=documents, settings=(plan.parameters,)
        )
        return
    from humeval_power.studies.looks.dropping import check_dropping_study

    if not several:
        raise InputError([field_problem("drop_systems", True, "is for three systems or more.")])
    check_dropping_study(
        workers=plan.looks.looks.counts(plan.counts.n_workers),
        exclusions=exclusions,
        documents=documents,
        paired=plan.counts.paired,
    )


def named(problems: Sequence[Problem], place: str) -> list[Problem]:
    """Problems of what a study means by the path of the field in the document."""
    called = {**PRICE_FIELDS, "n_workers": "workers", "n_items": "items", "n_documents": "documents"}
    return [
        replace(
            one,
            place=place,
            column=f"study.{called.get(one.column, one.column)}" if one.column else "study",
            noun="field",
        )
        for one in problems
    ]
