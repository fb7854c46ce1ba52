"""To the field and back: exports of platforms as tables of ratings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from humeval_power.checking.origin import infer_scale
from humeval_power.choices import DEFAULT_SEED
from humeval_power.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.checking.exports.assigned import AssignmentTable, Key
    from humeval_power.checking.exports.mapping import Export, Mapping
    from humeval_power.checking.logs.combined import LogTable
    from humeval_power.checking.outputs import Outputs
    from humeval_power.choices import Response
    from humeval_power.differences import Difference
    from humeval_power.exclusions import ExclusionRules
    from humeval_power.parameters import Parameters
    from humeval_power.scales import RatingScale
    from humeval_power.simulation.rehearsal import Habits
    from humeval_power.studies.field.files import UploadResult
    from humeval_power.studies.field.form import Asked, Names, WithdrawalResult
    from humeval_power.studies.field.result_import import DraftResult, ImportResult, ScoresImportResult
    from humeval_power.studies.field.result_rehearsal import RehearsalResult
    from humeval_power.studies.field.result_status import Progress, StatusResult
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.result_assignment import AssignmentResult
    from humeval_power.systems import SystemsParameters


def import_exports(
    exports: Sequence[Export],
    *,
    mapping: Mapping | None = None,
    assignment: AssignmentTable | None = None,
    key: Key | None = None,
    drop_misfits: bool = False,
    withdrawn: Collection[str] = (),
    secret: str | None = None,
) -> ImportResult:
    """Bring exports of annotation platforms into one table of ratings.

    Parameters
    ----------
    exports : as `read_export` reads them.
    mapping : where the ratings stand and what words mean; None takes what each format says by itself.
    assignment : who was to see what when, as `read_assignment` reads it: it says of each answer which slot and
        place it is of, and whether it is a rating, a repeat or an attention check, and if that was passed.
    key : what the codes stand for, as `read_key` reads it; an assignment that names systems needs none.
    drop_misfits : leave out and count answers that the assignment does not have; otherwise they are refused.
    withdrawn : ids of workers, as in the exports, who took their consent back: all that they gave leaves.
    secret : what workers' pseudonyms are made with; None leaves their ids as they are.

    Returns
    -------
    ImportResult
        `to_frame` is the table: worker, item, system, criterion where there is one, rating, and what was kept.
        Its flow says how many rows left at which step, and why.

    Raises
    ------
    InputError
        Missing columns, answers in words that have no number, texts that do not come apart, a key of another
        study, codes that nothing knows, outputs that a slot was not given: all at once.
    """
    from humeval_power.checking.exports.imported import imported
    from humeval_power.studies.field.result_import import ImportResult

    table = imported(
        exports, mapping, assigned=assignment, key=key, drop_misfits=drop_misfits, withdrawn=withdrawn
    )
    return ImportResult(table=table, secret=secret)


def import_scores(table: LogTable) -> ScoresImportResult:
    """Say what logs of evaluation harnesses hold: scores of systems, their means, and what may be clusters.

    Parameters
    ----------
    table : as `read_logs` reads it.

    Returns
    -------
    ScoresImportResult
        `to_frame` is the table: system, item, run and task where there are several, the metrics, clusters.
    """
    from humeval_power.studies.field.result_import import ScoresImportResult

    return ScoresImportResult(table=table)


def collected_work(
    exports: Sequence[Export],
    assignment: AssignmentTable,
    *,
    mapping: Mapping | None = None,
    withdrawn: Collection[str] = (),
) -> Progress:
    """Say who has done what of an assignment, without a look at any rating: that one was given is all that counts.

    exports : all that the platforms have given back so far, as `read_export` reads it.
    assignment : who was to see what when, as `read_assignment` reads it.
    mapping : where answers and codes stand; None takes what each format says by itself.
    withdrawn : ids of workers, as in the exports, who took their consent back.

    Returns: slots, and the showings that are done.

    Raises InputError: an assignment of another study, exports without codes, or what `import_exports` refuses of an
    export.
    """
    from humeval_power.checking.exports.decoding import matched_of
    from humeval_power.checking.exports.imported import imported
    from humeval_power.checking.exports.rating_blocks import without_ratings
    from humeval_power.studies.field.result_status import progress

    table = imported([without_ratings(export, mapping) for export in exports], mapping)
    matched = matched_of(table.frame, part=table.part, sources=table.sources, assigned=assignment)
    return progress(table.frame, matched, assignment, withdrawn=withdrawn)


def follow_collection(
    exports: Sequence[Export],
    assignment: AssignmentTable,
    *,
    mapping: Mapping | None = None,
    key: Key | None = None,
    withdrawn: Collection[str] = (),
    scale: RatingScale | None = None,
    rules: ExclusionRules | None = None,
    names: Names | None = None,
) -> StatusResult:
    """Say how far a study is while it is collected, and what to do next; never anything by system.

    Parameters
    ----------
    exports : all that the platforms have given back so far, as `read_export` reads it.
    assignment : who was to see what when, as `read_assignment` reads it, the tables of spares among it.
    mapping : where ratings and codes stand; None takes what each format says by itself.
    key : the key of the codes, to see whether it is that of the assignment; it is used for nothing else.
    withdrawn : ids of workers, as in the exports, who took their consent back.
    scale : of the ratings; None takes it from them.
    rules : by which workers will be left out, as the plan has them.
    names : how workers are named; None takes their ids.

    Returns
    -------
    StatusResult
        `to_frame` is a row for each slot; `missing` a row for each showing that is not done.

    Raises
    ------
    InputError
        An assignment or a key of another study, exports without codes, or what `import_exports` refuses of an
        export.
    """
    from humeval_power.checking.exports.assigned import check_key
    from humeval_power.checking.exports.decoding import matched_of, slot_notices
    from humeval_power.checking.exports.imported import imported
    from humeval_power.exclusions import NO_RULES
    from humeval_power.studies.field.form import BY_ID
    from humeval_power.studies.field.result_status import StatusResult, progress
    from humeval_power.studies.field.worker_quality import worker_quality

    if key is not None:
        check_key(key, assignment)
    table = imported(exports, mapping)
    matched = matched_of(table.frame, part=table.part, sources=table.sources, assigned=assignment)
    followed = progress(table.frame, matched, assignment, withdrawn=withdrawn)
    quality = None
    if len(followed.answers):
        rated = followed.answers["rating"].dropna()  # an attention check has no rating
        if scale is None and len(rated):
            scale = infer_scale(rated.to_numpy(), higher_is_better=True)
        quality = None if scale is None else worker_quality(followed.answers, scale)
    notices = (*table.notices, *slot_notices(table.frame, matched, assignment))
    return StatusResult(
        progress=followed,
        assigned=assignment,
        quality=quality,
        rules=rules or NO_RULES,
        names=names or BY_ID,
        notices=notices,
    )


def withdraw_workers(
    table: pd.DataFrame,
    withdrawn: Collection[str],
    *,
    worker: str | None = None,
    n_planned: int | None = None,
    source: str = "table",
) -> WithdrawalResult:
    """Take participants who withdrew out of a table, with every row of theirs.

    Parameters
    ----------
    table : one row for each answer.
    withdrawn : their names, as in the table.
    worker : the column of the workers; None finds it by name.
    n_planned : the workers that the plan asks for, to be told beside those who are left.

    Returns
    -------
    WithdrawalResult
        `to_frame` is the table without them.

    Raises
    ------
    InputError
        Names that the table does not have, or nobody left.
    """
    from humeval_power.checking.suspects import without_workers
    from humeval_power.studies.field.form import WithdrawalResult

    others, gone, left = without_workers(table, withdrawn, worker=worker, source=source)
    return WithdrawalResult(table=others, gone=gone, left=left, n_planned=n_planned)


def draft_mapping(export: Export) -> DraftResult:
    """Draft the mapping of an export: what it says by itself, and all that a person needs to say the rest.

    Parameters
    ----------
    export : as `read_export` reads it.

    Returns
    -------
    DraftResult
        Its `artefact(".toml")` is the file to edit.
    """
    from humeval_power.studies.field.result_import import DraftResult

    return DraftResult(export=export)


def make_uploads(
    assigned: AssignmentResult, outputs: Outputs, asked: Asked, *, platforms: Sequence[str]
) -> UploadResult:
    """Make the files to upload: what workers of an assignment are shown and asked, in the shape of platforms.

    Parameters
    ----------
    assigned : who rates what when, as `assign_work(..., blind=True)` says it.
    outputs : the texts, as `read_outputs` reads them. Where they have names of items, the assignment has the same.
    asked : title, instructions, questions, scale and attention checks.
    platforms : names of UPLOADERS, such as 'html'.

    Returns
    -------
    UploadResult
        `files()` are the files by name, in a folder for each platform; `key()` says what the codes stand for.

    Raises
    ------
    InputError
        An assignment that is not blind, outputs that do not fit it, platforms that are not known or cannot show
        the scale, labels and right answers that are no point of it: all at once.
    """
    from humeval_power.studies.field.files import UploadResult, platform_problems
    from humeval_power.studies.field.form import form_of

    plan = assigned.assignment
    problems = platform_problems(platforms, asked.scale)
    if not assigned.blind:
        rule = "The codes of an assignment that names its systems hide nothing from workers."
        problems.append(Problem(rule, "Assign the work with blind=True."))
    try:
        outputs.check(plan.items, plan.systems)
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)
    return UploadResult(
        assignment=assigned,
        form=form_of(plan, assigned.rows, outputs, asked),
        platforms=tuple(dict.fromkeys(platforms)),
    )


# Rehearsals of a planned study.


def rehearse(
    plan: Plan,
    assignment: AssignmentTable | AssignmentResult | pd.DataFrame,
    *,
    key: Key | pd.DataFrame | None = None,
    parameters: Parameters | SystemsParameters | None = None,
    effect: float | Difference | None = None,
    means: Sequence[float] | None = None,
    habits: Habits | None = None,
    scale: RatingScale | None = None,
    response: Response | None = None,
    points: int | None = None,
    look: int | None = None,
    coded: bool = False,
    plan_text: str | None = None,
    seed: int = DEFAULT_SEED,
) -> RehearsalResult:
    """Draw a planned study exactly as it is assigned, before money is spent; the same seed gives the same.

    Parameters
    ----------
    plan, assignment : the study; what `assign_work` made, its table (`to_frame`), or the table as
        `read_assignment` reads it.
    key : what the codes stand for, where a table does not name the systems.
    parameters, effect, means : the true world, in the place of the plan's; means are of several systems.
    habits : who stops, who does not care, checks and seconds. [nobody stops; seconds as the plan's prices have
        them]
    scale : on which ratings are given, where the plan has none. [0 to 1]
    response, points : how ratings are given. [in the points of the scale, or where it has none cut to its ends]
    look : end the table with what this look needs.
    coded : give the table as a platform does: codes, no items and systems.
    plan_text : the plan's file, for a folder that holds all that is needed to try what comes next.

    Returns
    -------
    RehearsalResult
        `to_frame` is the table; its workers are called rehearsal-w01, ..., so that nobody takes it for real.

    Raises
    ------
    InputError
        An assignment that is not of this plan, a key that is missing or another's, or what contradicts the plan.
    """
    from dataclasses import replace

    from humeval_power.checking.exports.assigned import (
        AssignmentTable,
        Key,
        assigned_of,
        key_of,
        whole_work,
    )
    from humeval_power.differences import Difference
    from humeval_power.errors import InputError
    from humeval_power.saying.result import Provenance
    from humeval_power.simulation.rehearsal import rehearse as drawn
    from humeval_power.studies.field.result_rehearsal import (
        RehearsalResult,
        check_look,
        fieldwork,
        planned_response,
        usual_habits,
        world_of,
    )
    from humeval_power.studies.plan.result_assignment import AssignmentResult

    if (
        scale is not None
        and plan.scale is not None
        and replace(scale, source=plan.scale.source) != plan.scale
    ):
        raise InputError(f"The plan is of ratings on {plan.scale}: leave out the scale.")
    rated = plan.scale or scale
    if isinstance(assignment, AssignmentResult):
        key = assignment.key() if assignment.blind and key is None else key
        assignment = assignment.to_frame()
    if not isinstance(assignment, AssignmentTable):
        assignment = assigned_of([(assignment, "assignment")])
    if key is not None and not isinstance(key, Key):
        key = key_of(key, source="key")
    work = whole_work(assignment, key)
    if look is not None:
        check_look(plan, look)
    said = effect if isinstance(effect, Difference | None) else Difference(effect, rated)
    world = world_of(plan, parameters=parameters, effect=None if said is None else said.value, means=means)
    used = usual_habits(plan) if habits is None else habits
    given, on_points = planned_response(world, rated, response, points)
    return RehearsalResult(
        plan=plan,
        work=work,
        world=world,
        habits=used,
        drawn=drawn(
            world,
            fieldwork(plan, work),
            used,
            seed=seed,
            n_criteria=max(1, len(plan.criteria)),
            response=given,
            points=on_points,
        ),
        response=given,
        effect=None if means is not None else said or Difference(plan.effect, rated),
        scale=rated,
        coded=coded,
        look=look,
        plan_text=plan_text,
        provenance=Provenance(seed=seed),
    )
