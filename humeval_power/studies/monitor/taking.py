"""A look as its ledger takes it: compared with what earlier looks saw, decided, and written down for good."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from humeval_power.asking.output import RECORD, note
from humeval_power.asking.study_values import StudyValues
from humeval_power.checking.rehearsed import RECORD_SCHEMA, is_rehearsed
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.json_text import read_json
from humeval_power.files.private_files import ledger_path
from humeval_power.item_pool import ItemPool
from humeval_power.saying.numbers import counted
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.monitor.calls import monitor
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

# Independent judgements for a look: read by the plan, with the options of tables that have a meaning for
# them.


def load_observations(path: str, plan: JudgementPlan, study: StudyValues) -> Observations:
    """Read the judgements of a look; notices go to standard error. Raises InputError: all problems of the
    table at once."""
    from humeval_power.studies.monitor.files_observations import read_observations

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
