"""A look as its ledger takes it: compared with what earlier looks saw, decided, and written down for good."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from humeval_power.api.monitor import monitor
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.monitor.secret import (
    UNCHECKED,
    check_seals,
    secret_of_look,
    secret_remarks,
)
from humeval_power.interfaces.formats.monitor.entries import (
    LedgerSeal,
    LedgerState,
    ledger_seal,
    look_content,
    secret_content,
    start_content,
    state_of,
)
from humeval_power.interfaces.formats.monitor.fields import LedgerKind, check_content
from humeval_power.interfaces.formats.monitor.ledger import open_ledger, read_ledger
from humeval_power.interfaces.formats.monitor.lines import check_secret_seals
from humeval_power.interfaces.formats.monitor.rows import LookRows
from humeval_power.interfaces.formats.plan.looks_file import LooksFile
from humeval_power.interfaces.formats.plan.plan_file import PlanFile
from humeval_power.planning.monitor.followed import AnyLookData, AnyMonitoring, monitoring_of
from humeval_power.planning.monitor.step import changed_rows
from humeval_power.planning.monitor.systems import SystemsMonitoring
from humeval_power.reporting.monitor.result import Seal
from humeval_power.reporting.monitor.systems import AnyMonitorResult, monitor_result
from humeval_power.reporting.numbers import counted

_MOST_NAMED = 5


class Asked(NamedTuple):
    """What was typed about a look: the ledger and the secret's file, why there is a new secret, why the look is
    not due, and whether it is the last."""

    ledger: str
    secret: str
    new_secret: str
    unplanned: str
    final: bool


def looks_taken(planned: PlanFile | LooksFile, ledger: str, secret: str) -> AnyMonitorResult:
    """The looks so far; none is taken."""
    entries = read_ledger(ledger)
    state = state_of(entries, monitoring_of(planned.plan), planned.checksum, place=ledger)
    check_seals(state, entries, ledger, secret)
    return _result(planned, ledger, secret, state, ledger_seal(entries))


def take_look(
    planned: PlanFile | LooksFile, data: AnyLookData, seen: LookRows, asked: Asked
) -> AnyMonitorResult:
    """Take a look under the ledger's lock, or find that it was taken at these data before.

    Raises
    ------
    InputError
        A look that is not due, or other data than earlier looks saw.
    """
    path, start = asked.ledger, monitoring_of(planned.plan)
    if not Path(path).exists():
        _refuse_early(planned, asked, data, start)  # what is refused leaves no file behind
    with open_ledger(path) as book:
        state = state_of(book.entries, start, planned.checksum, place=path, by=seen.by)
        if not book.entries:
            _refuse_early(planned, asked, data, start)
        secret = secret_of_look(state, path, asked.secret, replace_lost=bool(asked.new_secret))
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
                seal = ledger_seal(book.entries)
                return _result(planned, path, asked.secret, state, seal, again, notices=seen.notices)
        after: Any = monitor(data, planned.plan, before=state.monitoring, unplanned=asked.unplanned).state
        look = after.looks[-1]
        if renewed:
            look = replace(look, remarks=(*look.remarks, f"{UNCHECKED} ({asked.new_secret})"))
            after = replace(after, looks=(*after.looks[:-1], look))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        added: list[tuple[str, dict[str, Any]]] = []
        if not book.entries:
            begin = start_content(planned.checksum, start, seen.by, secret.fingerprint)
            added.append(("start", begin))
        if renewed:
            added.append(("secret", secret_content(secret.fingerprint, reason=asked.new_secret, time=now)))
        known = {} if renewed else state.rows
        new = {key: value for key, value in rows.items() if key not in known}
        added.append(("look", look_content(look, new_rows=new, time=now)))
        for kind, content in added:
            check_content(kind, content, place=path, ledger=_kind(start))
        book.extend(added, secret=secret)
        found = replace(state, monitoring=after, rows=rows, secret=secret.fingerprint)
        seal = ledger_seal(book.entries)
        return _result(planned, path, asked.secret, found, seal, notices=seen.notices)


def _result(
    planned: PlanFile | LooksFile,
    ledger: str,
    secret: str,
    state: LedgerState,
    seal: LedgerSeal | None,
    *said: str,
    notices: tuple[str, ...] = (),
) -> AnyMonitorResult:
    amended = "The plan was amended after the first look; its looks are as they were."
    return monitor_result(
        state.monitoring,
        planned.plan,
        ledger=ledger,
        notices=notices,
        seal=None if seal is None else Seal(seal.n_lines, seal.sha256, seal.statement),
        remarks=(
            *((amended,) if state.amended else ()),
            *((state.withdrawal,) if state.withdrawal else ()),
            *said,
            *secret_remarks(state, ledger, secret),
        ),
    )


def _refuse_early(
    planned: PlanFile | LooksFile, asked: Asked, data: AnyLookData, start: AnyMonitoring
) -> None:
    """Take a first look for trial, before any file is made."""
    look = monitor(data, planned.plan, before=start, unplanned=asked.unplanned).state.looks[-1]
    content = look_content(look, new_rows={}, time="")
    check_content("look", content, place=asked.ledger, ledger=_kind(start))


def _kind(state: AnyMonitoring) -> LedgerKind:
    if isinstance(state, SystemsMonitoring):
        return "systems"
    return "observations" if state.independent else "ratings"


def _check_rows(state: LedgerState, digests: list[tuple[str, str]], seen: LookRows, path: str) -> None:
    """Refuse data in which rows of an earlier look have changed or vanished."""
    vanished, changed = changed_rows(state.rows, dict(digests))
    rules = []
    if changed:
        named = _names_of(set(changed), digests, seen)
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
    if problems:
        raise InputError(problems)


def _names_of(keys: set[str], digests: list[tuple[str, str]], seen: LookRows) -> str:
    rows = [row for row, (place, _) in enumerate(digests) if place in keys]
    shown = [seen.named(row) for row in rows[:_MOST_NAMED]]
    return "; ".join(shown) + (" and others" if len(rows) > _MOST_NAMED else "")
