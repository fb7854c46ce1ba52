"""A look as its ledger takes it: compared with what earlier looks saw, decided, and written down for good.

Looks at a running study, by its plan.

Tables of independent judgements that are still coming in: scores, preferences, right and wrong answers.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from humeval_power.asking.output import RECORD, note
from humeval_power.asking.study_values import StudyValues
from humeval_power.checking.cells import Location, cell_problems, read_cells, read_ids, variant_problems
from humeval_power.checking.columns import ROLES, Column, Role, find_columns, listing
from humeval_power.checking.rehearsed import RECORD_SCHEMA, is_rehearsed
from humeval_power.checking.rows import Rejected, decided_rows, read_kinds
from humeval_power.comparisons.accuracy.files import COUNTS, counts_of
from humeval_power.comparisons.preference.files import judgements_of
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.file_bytes import read_json
from humeval_power.files.private_files import ledger_path
from humeval_power.files.tables import NumberColumn, SourceTable, read_numbers_of, read_rating_table
from humeval_power.item_pool import ItemPool
from humeval_power.saying.numbers import counted
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.monitor.dropping import DroppingMonitoring
from humeval_power.studies.monitor.files import (
    LedgerEntry,
    LookRows,
    StudySecret,
    check_secret_seals,
    kept_secret,
    open_ledger,
    read_ledger,
    read_secret,
    readable_by_others,
)
from humeval_power.studies.monitor.followed import AnyLookData, AnyMonitoring, about_looks, monitoring_of
from humeval_power.studies.monitor.ledger_fields import (
    LedgerKind,
    LedgerState,
    check_content,
    ledger_seal,
    look_content,
    start_content,
    state_of,
)
from humeval_power.studies.monitor.result import MonitorResult
from humeval_power.studies.monitor.state import Observations, paired_remarks
from humeval_power.studies.monitor.step import changed_rows
from humeval_power.studies.monitor.systems import SystemsMonitoring
from humeval_power.studies.plan.files import PlanFile
from humeval_power.studies.plan.files_looks import LooksFile

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings
    from humeval_power.studies.monitor.followed import MonitoredPlan


def monitor(
    seen: Ratings | Observations | AnyLookData,
    plan: MonitoredPlan,
    *,
    before: AnyMonitoring | None = None,
    final: bool = False,
    unplanned: str = "",
    pool: ItemPool | None = None,
) -> MonitorResult:
    """Take a look at the ratings, or the independent judgements, so far, and decide by the plan whether to go on.

    Nothing is written: a look is taken for good where its `state` is kept, and given as `before` of the
    next one. The command `monitor` keeps it in a ledger.

    Parameters
    ----------
    seen : all ratings so far, those of earlier looks included, read on the plan's scale and with its
        systems; or all independent judgements; or what `data_of` made of them.
    plan : a plan with looks, or one of looks at independent judgements.
    before : the study after the look before; None before the first.
    final : no more ratings will come: test for the last time.
    pool : the items that the rated ones were drawn from, as `items.read_pool` reads it, the same at every look.
    unplanned : why there is a look although none is due, or after futility; it is paid for in level.

    Returns
    -------
    MonitorResult
        `look.decision`, the estimate (of ratings on [0, 1]) and the chances of success; after the last look the
        inference that takes the looks into account. `to_frame` has a row for each look, of several systems for each
        comparison at it.

    Raises
    ------
    InputError
        A plan without looks, data of another kind, judgements that are not independent, a study that has ended,
        or a look that is not due and has no reason.
    FitError
        Data of which there is no test.
    """
    from humeval_power.ratings import Ratings
    from humeval_power.studies.monitor.followed import about_looks, data_of, monitoring_of, take
    from humeval_power.studies.monitor.result import MonitorResult
    from humeval_power.studies.monitor.state import Observations

    data = data_of(seen, plan, final=final, pool=pool) if isinstance(seen, Ratings | Observations) else seen
    after = take(monitoring_of(plan) if before is None else before, data, unplanned=unplanned)
    return MonitorResult(state=after, plan=plan, about=about_looks(after, plan, pool))


# Independent judgements for a look: read by the plan, with the options of tables that have a meaning for
# them.


def load_observations(path: str, plan: JudgementPlan, study: StudyValues) -> Observations:
    """Read the judgements of a look; notices go to standard error. Raises InputError: all problems of the
    table at once."""

    given = study.options_of(("scale", "lower_is_better", "criterion", "criterion_column", "missing"))
    if given:
        raise click.UsageError(
            f"The plan is of looks at independent judgements, which have no scale and one criterion: leave out "
            f"{', '.join(given)}."
        )
    named = {role: getattr(study, role) for role in ("worker", "item", "system", "rating")}
    seen = read_observations(path, plan, named=named, systems=study.pair, rejected_rows=study.rejected_rows)
    for notice in (*seen.notices, *paired_remarks(seen)):
        note(f"{seen.source}: {notice}")
    return seen


# Looks that are rehearsed stay out of the ledger of the study itself.


def refuse_rehearsed(workers: Iterable[str], plan: str, ledger: str, *, source: str) -> None:
    """Refuse what workers of a rehearsal said where its look would stand in the ledger of the study: beside
    its plan.

    A copy of the plan in the folder of a rehearsal is none of the study. Raises InputError: such ratings for
    that ledger.
    """
    usual = ledger_path(plan, None)
    if not is_rehearsed(workers) or Path(ledger).resolve() != Path(usual).resolve():
        return
    with suppress(InputError):
        record = read_json(str(Path(plan).parent / RECORD), hint="")
        if isinstance(record, dict) and record.get("schema") == RECORD_SCHEMA:
            return
    rule = f"these ratings were drawn in a rehearsal, and {usual} is the ledger of the study itself."
    raise refusal(rule, "Give the rehearsal a ledger of its own: --ledger rehearsal.jsonl.", source)


# The secret of a study with looks: found, made, or said to be lost.

UNCHECKED = (
    "the secret was lost, so that ratings of earlier looks were not compared with what those saw, and the lines "
    "before could have been sealed anew"
)
_LOST = (
    "the chain of looks holds without it, but its lines could have been sealed anew, and which ratings they saw "
    "cannot be checked."
)


def secret_of_look(state: LedgerState, ledger: str, path: str, *, replace_lost: bool) -> StudySecret:
    """The secret for a look; made for the first one, and where a lost one is replaced. Raises InputError: a
    secret that is lost, or not this ledger's; or a new one where the old one is there."""
    if state.secret is None:
        if replace_lost:
            raise InputError("No look was taken yet, so that no secret is lost: leave out --new-secret.")
        return kept_secret(path)
    secret = read_secret(path)
    if secret is not None and secret.fingerprint == state.secret:
        if replace_lost:
            rule = "is the secret of this ledger: nothing is lost."
            raise refusal(rule, "Leave out --new-secret.", path)
        return secret
    if replace_lost:
        return kept_secret(path)
    if secret is not None:
        raise _wrong(secret, state.secret, ledger, path)
    remedy = (
        "Restore it from a copy, or name it with --secret FILE. If it is lost for good, go on with "
        '--new-secret "reason", which is recorded.'
    )
    raise refusal(f"is missing, the secret of {ledger}: {_LOST}", remedy, path)


def secret_of_rows(
    state: LedgerState, entries: Sequence[LedgerEntry], ledger: str, path: str
) -> StudySecret | None:
    """The secret that the ledger's digests and the seals of its lines are checked with; None where it is
    lost. Raises InputError: another secret than this ledger's, or a line that was not sealed with it."""
    secret = read_secret(path)
    if secret is not None and state.secret is not None:
        if secret.fingerprint != state.secret:
            raise _wrong(secret, state.secret, ledger, path)
        check_secret_seals(entries, secret, ledger)
    return secret


def check_seals(state: LedgerState, entries: Sequence[LedgerEntry], ledger: str, path: str) -> None:
    """Check the seals of the lines, where the secret is there to do it; `secret_remarks` says where it is
    not. Raises InputError: a line that was not sealed with the secret."""
    try:
        secret = read_secret(path)
    except InputError:
        return
    if secret is not None and secret.fingerprint == state.secret:
        check_secret_seals(entries, secret, ledger)


def secret_remarks(state: LedgerState, ledger: str, path: str) -> tuple[str, ...]:
    """What to say where a secret is missing, is another's, or can be read by others."""
    if state.secret is None:
        return ()
    try:
        secret = read_secret(path)
    except InputError as error:
        return (f"{error}",)
    if secret is None:
        return (f"{path} is missing, the secret of {ledger}: {_LOST} Restore it from a copy.",)
    if secret.fingerprint != state.secret:
        return (f"{_wrong(secret, state.secret, ledger, path)}",)
    if readable_by_others(path):
        return (f"{path} can be read by others on this machine: chmod 600 {path}",)
    return ()


def _wrong(secret: StudySecret, wanted: str, ledger: str, path: str) -> InputError:
    rule = f"is another secret ({secret.fingerprint}) than that of {ledger} ({wanted})."
    return refusal(rule, "Name the right one: --secret FILE.", path)


_MOST_NAMED = 5


class LookRequest(NamedTuple):
    """What was typed about a look: the ledger and the secret's file, why there is a new secret, why the look is
    not due, whether it is the last, and the pool that its items were drawn from."""

    ledger: str
    secret: str
    new_secret: str
    unplanned: str
    final: bool
    pool: ItemPool | None = None


def looks_taken(planned: PlanFile | LooksFile, ledger: str, secret: str) -> MonitorResult:
    """The looks so far; none is taken."""
    entries = read_ledger(ledger)
    state = state_of(entries, monitoring_of(planned.plan), planned.checksum, place=ledger)
    check_seals(state, entries, ledger, secret)
    return _result(planned, ledger, secret, state, entries)


def take_look(
    planned: PlanFile | LooksFile, data: AnyLookData, seen: LookRows, request: LookRequest
) -> MonitorResult:
    """Take a look under the ledger's lock, or find that it was taken at these data before. Raises InputError:
    a look that is not due, or other data than earlier looks saw."""
    path, start = request.ledger, monitoring_of(planned.plan)
    if not Path(path).exists():
        _refuse_early(planned, request, data, start)  # what is refused leaves no file behind
    with open_ledger(path) as book:
        state = state_of(book.entries, start, planned.checksum, place=path, by=seen.by)
        check_same_pool(state, request.pool, path)
        if not book.entries:
            _refuse_early(planned, request, data, start)
        secret = secret_of_look(state, path, request.secret, replace_lost=bool(request.new_secret))
        renewed = state.secret is not None and state.secret != secret.fingerprint
        if not renewed:
            check_secret_seals(book.entries, secret, path)
        digests = seen.digests(secret)
        rows = dict(digests)
        if not renewed:
            _check_rows(state, digests, seen, path)
            looks = state.monitoring.looks
            if looks and rows == state.rows and data.final == looks[-1].data.final:
                again = f"This look was taken before, at the same {seen.noun}s: {path} is as it was."
                place = (planned, path, request.secret, state, book.entries)
                return _result(*place, again, notices=seen.notices, pool=request.pool)
        after: Any = monitor(data, planned.plan, before=state.monitoring, unplanned=request.unplanned).state
        look = after.looks[-1]
        if renewed:
            look = replace(look, remarks=(*look.remarks, f"{UNCHECKED} ({request.new_secret})"))
            after = replace(after, looks=(*after.looks[:-1], look))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        added: list[tuple[str, dict[str, Any]]] = []
        if not book.entries:
            begin = start_content(planned.checksum, start, seen.by, secret.fingerprint)
            added.append(("start", begin))
        if renewed:
            renewal = {"secret": secret.fingerprint, "reason": request.new_secret, "time": now}
            added.append(("secret", renewal))
        known = {} if renewed else state.rows
        new = {key: value for key, value in rows.items() if key not in known}
        pool = None if request.pool is None else request.pool.digest
        added.append(("look", look_content(look, new_rows=new, time=now, pool=pool)))
        for kind, content in added:
            check_content(kind, content, place=path, ledger=ledger_kind(start))
        book.extend(added, secret=secret)
        taken_state = replace(state, monitoring=after, rows=rows, secret=secret.fingerprint)
        place = (planned, path, request.secret, taken_state, book.entries)
        return _result(*place, notices=seen.notices, pool=request.pool)


def check_same_pool(state: LedgerState, pool: ItemPool | None, ledger: str) -> None:
    """Refuse a pool that the looks before were not taken with, and none where they were. Raises InputError:
    which it is."""
    digest = None if pool is None else pool.digest
    if not state.monitoring.looks or state.pool == digest:
        return
    if pool is None:
        rule = "the looks so far are at items that were drawn from a pool."
        raise refusal(rule, "Name it: --pool FILE.", ledger)
    if state.pool is None:
        raise refusal("the looks so far were taken without a pool of items.", "Leave out --pool.", ledger)
    rule = f"the looks so far are at items of another pool than {pool.source}, or it was changed."
    raise refusal(rule, "Name the file that the items of this study were drawn into: --pool FILE.", ledger)


def _result(
    planned: PlanFile | LooksFile,
    ledger: str,
    secret: str,
    state: LedgerState,
    entries: Sequence[LedgerEntry],
    *said: str,
    notices: tuple[str, ...] = (),
    pool: ItemPool | None = None,
) -> MonitorResult:
    amended = "The plan was amended after the first look; its looks are as they were."
    return MonitorResult(
        state=state.monitoring,
        plan=planned.plan,
        ledger=ledger,
        about=about_looks(state.monitoring, planned.plan, pool),
        notices=notices,
        seal=ledger_seal(entries),
        remarks=(
            *((amended,) if state.amended else ()),
            *(sentence for _, _, sentence in state.changes),
            *said,
            *secret_remarks(state, ledger, secret),
        ),
    )


def _refuse_early(
    planned: PlanFile | LooksFile, request: LookRequest, data: AnyLookData, start: AnyMonitoring
) -> None:
    """Take a first look for trial, before any file is made."""
    look = monitor(data, planned.plan, before=start, unplanned=request.unplanned).state.looks[-1]
    content = look_content(look, new_rows={}, time="")
    check_content("look", content, place=request.ledger, ledger=ledger_kind(start))


def ledger_kind(state: AnyMonitoring) -> LedgerKind:
    """What the ledger of a study is of."""
    if isinstance(state, DroppingMonitoring):
        return "dropping"
    if isinstance(state, SystemsMonitoring):
        return "systems"
    return "observations" if state.independent else "ratings"


def _check_rows(state: LedgerState, digests: list[tuple[str, str]], seen: LookRows, path: str) -> None:
    """Refuse data in which rows of an earlier look have changed or vanished."""
    vanished, changed = changed_rows(state.rows, dict(digests))
    rules = []
    if changed:
        at = [row for row, (place, _) in enumerate(digests) if place in set(changed)]
        named = "; ".join(seen.named(row) for row in at[:_MOST_NAMED])
        named += " and others" if len(at) > _MOST_NAMED else ""
        rules.append(
            f"{counted(len(changed), seen.noun)} of an earlier look with another value now: {named}."
        )
    if vanished:
        rules.append(f"{counted(len(vanished), seen.noun)} of an earlier look missing now.")
    remedy = f"Looks build on each other: restore them. What was seen is sealed in {path}."
    if vanished and not changed:
        remedy += " Those of participants who withdrew are taken out by: humeval-power collect withdraw"
    back = sum(place in state.gone for place, _ in digests)
    problems = [Problem(rule, remedy, place=seen.source) for rule in rules]
    if back:
        rule = f"{counted(back, seen.noun)} of participants who withdrew."
        problems.append(Problem(rule, "Give the table without them.", place=seen.source))
    refuse(problems)


Floats = NDArray[np.float64]
Names = dict[str, str | None]

_RIGHT = {
    **dict.fromkeys(("1", "1.0", "right", "correct", "true", "yes"), 1.0),
    **dict.fromkeys(("0", "0.0", "wrong", "incorrect", "false", "no"), 0.0),
}
_ANSWER = replace(
    ROLES["rating"], names=(*ROLES["rating"].names, "correct", "right", "accuracy", "answer"), option=""
)


def read_observations(
    path: str | Path,
    plan: JudgementPlan,
    *,
    named: Names | None = None,
    systems: tuple[str, str] | None = None,
    rejected_rows: Rejected | None = None,
) -> Observations:
    """The judgements in a file, by the plan's kind; `notices` say what was assumed or left out in reading them.

    Scores: one a row, with the columns system and rating (score). Preferences: a column of them (B, A or tie),
    or wins, ties and losses. Accuracy: one item a row with a column of right and wrong for each system; or one
    answer a row with item, system and rating; or the counts b, c and n. Columns of the worker and of the item
    are read where they are.

    Parameters
    ----------
    named : columns that are called otherwise, by worker, item, system and rating.
    systems : A and B as the table calls them, if not as the plan does.
    rejected_rows : what to do with rows of rejected or unfinished work.

    Raises
    ------
    InputError
        A file that cannot be read, columns that are missing, cells that are not understood; all problems at once.
    """
    result = read_rating_table(path)
    frame, remarks = decided_rows(result.frame, rejected_rows, source=result.source)
    table, apart = _of_the_study(result._replace(frame=frame))
    names: Names = named or {}
    pair = systems or plan.systems
    if plan.kind == "preference":
        seen, said = _preferences(table, pair, names)
    elif plan.kind == "scores":
        seen, said = _scores(table, pair, names)
    else:
        seen, said = _answers(table, pair, names)
    notices = (*result.notices, *remarks, *apart, *said)
    return replace(seen, source=result.source, notices=notices)


def _of_the_study(table: SourceTable) -> tuple[SourceTable, tuple[str, ...]]:
    """The table without repeats and attention checks, where its rows say which they are."""
    kinds = read_kinds(table.frame)
    if kinds is None or not kinds.apart.any():
        return table, ()
    said = f"{counted(int(kinds.apart.sum()), 'row')} left out: {kinds.words(kinds.apart)}."
    return table._replace(frame=table.frame[~kinds.apart]), (said,)


def _preferences(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    comparisons = judgements_of(table, systems=systems)
    if len(comparisons) != 1:
        raise _several(len(comparisons), table)
    judged = comparisons[0]
    if judged.preference is None:
        return Observations(_counted(judged.wins, judged.losses, judged.ties)), ()
    if len(judged.preference) < len(table.frame):
        others = len(table.frame) - len(judged.preference)
        rule = f"{counted(others, 'row')} of other systems than {' and '.join(systems)}."
        raise refusal(rule, "Leave them out.", table.source)
    return _of(judged.preference, _people(table, named)), judged.notices


def _several(n: int, table: SourceTable) -> InputError:
    return refusal(f"has {n} comparisons; a look is taken at one.", "Keep one row of counts.", table.source)


def _counted(for_b: int, for_a: int, neither: int) -> Floats:
    return np.repeat([1.0, -1.0, 0.0], [for_b, for_a, neither])


def _scores(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    of = find_columns(
        table.frame.columns, [ROLES["system"], ROLES["rating"]], named=named, source=table.source
    ).of
    _refuse_criteria(table, taken=of.values())
    table, said = _rows_of(table, of["system"], systems)
    column = NumberColumn((of["rating"],), may_be_blank=True)
    value = read_numbers_of(table, [column])[column.name]
    kept = np.isfinite(value)
    if not kept.all():
        said = (*said, f"{counted(int((~kept).sum()), 'row')} without a score left out.")
        table, value = table._replace(frame=table.frame[kept]), value[kept]
    is_b = table.frame[of["system"]].astype(str).str.strip().to_numpy() == systems[1]
    return _of(value, _people(table, named), np.asarray(is_b)), said


def _refuse_criteria(table: SourceTable, *, taken: Collection[str]) -> None:
    """Refuse scores of several criteria: they are several of each output. Raises InputError: a column of
    criteria with more than one."""
    of = find_columns(table.frame.columns, [ROLES["criterion"]], source=table.source, taken=taken).of
    if "criterion" not in of:
        return
    names = sorted(set(table.frame[of["criterion"]].astype(str).str.strip()))
    if len(names) > 1:
        rule = f"has scores of several criteria ({of['criterion']}: {listing(names)}), and a look is taken at one."
        raise refusal(rule, "Keep the rows of the one that was planned.", table.source)


def _rows_of(
    table: SourceTable, system: str, systems: tuple[str, str]
) -> tuple[SourceTable, tuple[str, ...]]:
    """The rows of the two systems. Raises InputError: a system of which there is no row."""
    names = table.frame[system].astype(str).str.strip()
    missing = [name for name in systems if not (names == name).any()]
    if missing:
        rule = f"has no row of {' and '.join(map(repr, missing))}; its systems are {listing(sorted(set(names)))}."
        raise refusal(rule, "Say how the table calls A and B: --systems A,B.", table.source)
    kept = names.isin(systems)
    if kept.all():
        return table, ()
    said = f"{counted(int((~kept).sum()), 'row')} of other systems left out."
    return table._replace(frame=table.frame[kept]), (said,)


def _answers(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    columns = [str(name) for name in table.frame.columns]
    if all(name in columns for name in systems):
        right, problems = zip(*(_right(table, name) for name in systems), strict=True)
        refuse([problem for each in problems for problem in each])
        return _paired(right[0], right[1], _people(table, named))
    if any(ROLES["system"].fits(name) for name in columns) or named.get("system"):
        return _long(table, systems, named)
    if not any(COUNTS[0].fits(name) for name in columns):
        rule = f"there are no answers of {systems[0]} and {systems[1]}: {listing(columns)}."
        remedy = (
            "Give one item a row with a column of right and wrong for each system, by its name; one answer a row "
            "with item, system and rating; or counts b, c and n."
        )
        raise refusal(rule, remedy, table.source)
    counts = counts_of(table)
    if len(counts) != 1:
        raise _several(len(counts), table)
    _, pair = counts[0]
    return Observations(_counted(pair.only_b, pair.only_a, pair.n_items - pair.only_b - pair.only_a)), ()


def _paired(a: Floats, b: Floats, people: _People) -> tuple[Observations, tuple[str, ...]]:
    kept = np.isfinite(a) & np.isfinite(b)
    worker, item = (
        None if names is None else [name for name, keep in zip(names, kept, strict=True) if keep]
        for names in people
    )
    n = int((~kept).sum())
    said = (f"{counted(n, 'item')} without an answer of both systems left out.",) if n else ()
    return _of((b - a)[kept], _People(worker, item)), said


def _long(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    of = find_columns(
        table.frame.columns, [ROLES["item"], ROLES["system"], _ANSWER], named=named, source=table.source
    ).of
    table, said = _rows_of(table, of["system"], systems)
    right, problems = _right(table, of["rating"])
    refuse(problems)
    answers: dict[str, list[float]] = {}
    doubled = []
    is_b = table.frame[of["system"]].astype(str).str.strip().to_numpy() == systems[1]
    items = _names(table, of["item"], "item")
    for row, item, b, value in zip(table.frame.index, items, is_b, right, strict=True):
        pair = answers.setdefault(item, [np.nan, np.nan])
        if np.isfinite(pair[int(b)]):
            rule = f"item {item!r} has a second answer of system {systems[int(b)]!r}."
            doubled.append(Problem(rule, "Keep one.", place=table.source, row=int(row)))
        pair[int(b)] = value
    refuse(doubled)
    values = np.array(list(answers.values())).reshape(-1, 2)
    seen, left_out = _paired(values[:, 0], values[:, 1], _People(None, list(answers)))
    return seen, (*said, *left_out)


def _right(table: SourceTable, column: str) -> tuple[Floats, list[Problem]]:
    """1 for right, 0 for wrong and NaN for a blank cell, with the cells that are neither."""
    cells = read_cells(table.frame[column])
    words = [text.strip().casefold() for text in cells.texts]
    values = np.array([_RIGHT.get(word, np.nan) for word in words])[cells.code]
    blank = np.array([not word for word in words])[cells.code]
    rule, remedy = "is neither right nor wrong.", "Write 1 or 0, or right or wrong."
    at = _at(table, column)
    return values, cell_problems(np.isnan(values) & ~blank, cells, at=at, rule=rule, remedy=remedy)


class _People(NamedTuple):
    """Names of workers and of items, one for each row; None where there is no such column."""

    worker: Sequence[str] | None
    item: Sequence[str] | None


def _of(value: Floats, people: _People, is_b: NDArray[np.bool_] | None = None) -> Observations:
    return Observations(value, is_b, people.worker, people.item)


def _people(table: SourceTable, named: Names) -> _People:
    roles: tuple[Role, Role] = ("worker", "item")
    wanted: list[Column] = [replace(ROLES[role], required=False) for role in roles]
    of = find_columns(table.frame.columns, wanted, named=named, source=table.source).of
    worker, item = (_names(table, of[role], role) if role in of else None for role in roles)
    return _People(worker, item)


def _names(table: SourceTable, column: str, role: Role) -> list[str]:
    cells = read_cells(table.frame[column])
    ids, at = read_ids(cells), _at(table, column)
    blank = ids.code < 0
    remedy = f"Fill in the {role}, or delete the row."
    problems = list(cell_problems(blank, cells, at=at, rule=f"the {role} is blank.", remedy=remedy))
    if role != "rating":
        problems += variant_problems(ids, ~blank, role=role, at=at)
    refuse(problems)
    return [ids.names[code] for code in ids.code]


def _at(table: SourceTable, column: str) -> Location:
    return Location(table.source, column, table.frame.index.to_numpy(dtype=np.int64))
