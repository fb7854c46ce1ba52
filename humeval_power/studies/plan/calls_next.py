"""What a study that is under way should collect next: the calls behind `assign --next`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.designs import Assignment, Design
from humeval_power.errors import InputError, Problem, refusal
from humeval_power.saying.numbers import counted
from humeval_power.studies.plan.assignment import AssignmentPlan, assign, open_bits
from humeval_power.studies.plan.under_way import StudyUnderWay, fewest_first

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import AssignmentTable
    from humeval_power.checking.exports.export import Export
    from humeval_power.checking.exports.mapping import Mapping as ExportMapping
    from humeval_power.studies.plan.next_worth import NextWay
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.result_assignment import LookStage, NextRatings

_STREAM = 11  # of random numbers, beside those of the assignment


def next_ratings(
    study: Plan | Design,
    n_next: int,
    *,
    assignment: AssignmentTable,
    exports: Sequence[Export],
    mapping: ExportMapping | None = None,
    withdrawn: Collection[str] = (),
    dropouts: Collection[str] = (),
    excluded: Collection[str] = (),
    new_workers: int = 0,
    budget: Decimal | None = None,
    **how: Any,
) -> NextRatings:
    """Say which ratings of a study that is under way come next, by counts alone: no rating is read.

    study : as `assign_work` took it.
    n_next : so many ratings at most; all of an item by the same worker where the design has it so.
    assignment : who was to see what when, as `read_assignment` reads it, the tables of spares and of earlier next
        ratings among it.
    exports : all that the platforms have given back so far, as `read_export` reads it.
    mapping : where answers and codes stand; None takes what each format says by itself.
    withdrawn : ids of workers, as in the exports, who took their consent back.
    dropouts : slots whose workers do not come back: what they did counts, what they did not do is given to others.
    excluded : slots whose workers the rules of the plan leave out: nothing of theirs counts.
    new_workers : how many new workers take part.
    budget : what the whole study may cost at most.
    how : what `assign_work` took besides: systems, item_names, batch_size, order, rates, blind, key, seed; `after`
        the looks so far, of a plan whose looks drop systems: what the next look lacks is given out, and no more.
    Returns NextRatings: `to_frame` are the rows to show, in new batches of the slots; its `ways` say what they buy.
    Raises InputError: an assignment or a key of another study, slots that it does not have, more than a
    budget, or fewer workers than the ratings need; DesignError: what `assign_work` raises.
    """
    from humeval_power.studies.field.calls import collected_work
    from humeval_power.studies.plan.calls import assign_work, paid_share
    from humeval_power.studies.plan.next_worth import check_budget, errors_by_gain, ways_to_go_on
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.result_assignment import NextRatings

    planned = study if isinstance(study, Plan) else None
    if n_next < 1:
        raise InputError([Problem(f"The ratings that come next must be at least 1; got {n_next}.", "")])
    base = assign_work(study, **how)
    plan = base.assignment
    work = collected_work(exports, assignment, mapping=mapping, withdrawn=withdrawn)
    limit = how.get("max_ratings_per_worker") or (
        None if planned is None else planned.max_ratings_per_worker
    )
    rates = [
        paid_share(how.get(name), planned, of)
        for name, of in (("check_rate", "checks_per_rating"), ("repeat_rate", "repeats_per_rating"))
    ]
    state = StudyUnderWay.of(plan, assignment, work, dropouts=dropouts, excluded=excluded, stage=base.stage)
    if base.stage is not None:
        _check_lacking(state, base.stage, n_next)
    result = state.collecting(new_workers, limit=limit, rates=rates, most=n_next)
    slots = (*state.slot_of, *state.new_slots(new_workers))
    rng = np.random.default_rng(_seed(plan.seed, len(assignment.frame)))
    chosen = fewest_first(result, n_next, rng)
    _check_enough(chosen, n_next, state, new_workers, limit)
    batch = _batch(plan, state, slots, chosen, {**how, "rates": rates}, n_rows=len(assignment.frame))
    ways: tuple[NextWay, ...] = ()
    by_gain = None
    if planned is not None:
        ways = ways_to_go_on(planned, state, chosen, limit=limit, rates=rates, rng=rng)
        by_gain = errors_by_gain(planned, result, chosen)
        if budget is not None:
            check_budget(planned, state, chosen, budget, rates=rates)
    elif budget is not None:
        raise InputError([Problem("--budget needs prices, which a plan has.", "Add --plan PATH.")])
    return NextRatings(
        assignment=batch,
        n_asked=n_next,
        new_slots=tuple(slot for slot in slots[len(state.slot_of) :] if slot in batch.slots),
        before=state.rows,
        counts=state.counts,
        per_output=state.per_output(chosen),
        ways=ways,
        by_gain=by_gain,
        scale=None if planned is None else planned.scale,
        currency=None if planned is None or planned.costs is None else planned.costs.currency,
        look=None if plan.look is None else _look_of(state),
        n_misfits=work.n_misfits,
        n_unknown=len(set(withdrawn)) - work.n_withdrawn,
        remarks=base.remarks,
        provenance=base.provenance,
    )


def _seed(seed: int, n_rows: int) -> int:
    """Of this batch, whatever the batches before drew."""
    return int(np.random.SeedSequence(seed, spawn_key=(_STREAM, n_rows)).generate_state(1)[0])


def _look_of(state: StudyUnderWay) -> int:
    """The look that added ratings are for: the next, where looks drop systems, else the last."""
    assert state.plan.look is not None
    return int(state.plan.look.max()) if state.stage is None else state.stage.look


def _check_lacking(state: StudyUnderWay, stage: LookStage, n_next: int) -> None:
    """Refuse ratings beyond those that the plan has until the next look: what dropped systems save is
    pocketed. Raises InputError: more than are lacking."""
    lacking = int(state.lacking.sum()) * len(stage.systems)
    if n_next <= lacking:
        return
    lack = f"{lacking:,} are" if lacking != 1 else "1 is"
    rule = (
        f"{counted(n_next, 'rating')} asked for; {lack if lacking else 'none is'} lacking until look {stage.look}. "
        "More would be paid by systems that their ratings dropped, and bring looks forward: levels hold for the "
        "looks of the plan."
    )
    remedy = (
        f"Ask for {lacking:,}." if lacking else "Name who is gone (dropouts, excluded), or take the look."
    )
    raise refusal(rule, remedy)


def _check_enough(
    chosen: Assignment, n_next: int, state: StudyUnderWay, new_workers: int, limit: int | None
) -> None:
    """Refuse to give fewer ratings than can be asked for, but for what is kept together."""
    n, each = len(chosen.item), len(state.systems) if state.is_whole else 1
    design = state.plan.design
    if state.is_whole and design.together and design.document_of_item is not None:
        each *= int(np.bincount(design.document_of_item).max())
    if n and n_next - n < each:
        return
    if n_next < each:
        of = "a document" if design.together else "an item"
        rule = f"{counted(n_next, 'rating')} asked for; what one worker rates together, all of {of}, is {each}."
        raise InputError([Problem(rule, f"Ask for {each} or more.")])
    met = "every item" if state.stage is None else "the items that lack a rating, or rate for another look"
    why = f"have met {met}" + ("" if limit is None else f", or may not be shown more than {limit} texts")
    usual = state.usual_load
    more = new_workers + -(-(n_next - n) // usual)
    rule = f"{counted(n_next, 'rating')} asked for; the workers can give {n}, since the others {why}, or are gone."
    remedy = f"Let new workers in (--new-workers {more})" + (f", or ask for {n}." if n else ".")
    raise InputError([Problem(rule, f"{remedy} A spare may also take over a whole slot.")])


def _batch(
    plan: AssignmentPlan,
    state: StudyUnderWay,
    slot_of: Sequence[str],
    chosen: Assignment,
    how: Mapping[str, Any],
    *,
    n_rows: int,
) -> AssignmentPlan:
    """The chosen ratings laid out as sessions, which go on after the last batch and order of their slots."""
    workers, worker = np.unique(chosen.worker, return_inverse=True)
    slots = [slot_of[who] for who in workers]
    base = plan.design
    rows = Assignment(worker.astype(np.int64), chosen.item, chosen.system)
    design = replace(
        base,
        kind="table",
        n_workers=len(slots),
        ratings_per_item=1.0,
        n_repeats=1,
        notes=(),
        explicit=rows,
    )
    made = assign(
        design,
        seed=_seed(plan.seed, n_rows),
        batch_size=how.get("batch_size"),
        order=how.get("order") or "random",
        check_rate=how["rates"][0],
        repeat_rate=how["rates"][1],
        system_names=plan.systems,
        item_names=how.get("item_names"),
        bits=open_bits(plan.seed) if plan.bits is None else plan.bits,
    )
    last = state.table.frame.groupby("slot")[["batch", "order"]].max()
    after = last.reindex(slots).fillna(0).to_numpy(dtype=np.int64)
    look = None
    if plan.look is not None:
        look = np.full(len(made.worker), _look_of(state))
    return replace(
        made,
        slots=tuple(slots),
        batch=made.batch + after[made.worker, 0],
        order=made.order + after[made.worker, 1],
        bits=plan.bits,
        look=look,
    )
