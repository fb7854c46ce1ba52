"""The secret of a study with looks: found, made, or said to be lost."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.monitor.entries import LedgerState
from humeval_power.interfaces.formats.monitor.lines import Entry, check_secret_seals
from humeval_power.interfaces.formats.monitor.secret import (
    StudySecret,
    kept_secret,
    read_secret,
    readable_by_others,
)

UNCHECKED = (
    "the secret was lost, so that ratings of earlier looks were not compared with what those saw, and the lines "
    "before could have been sealed anew"
)
_LOST = (
    "the chain of looks holds without it, but its lines could have been sealed anew, and which ratings they saw "
    "cannot be checked."
)


def secret_of_look(state: LedgerState, ledger: str, path: str, *, replace_lost: bool) -> StudySecret:
    """The secret for a look; made for the first one, and where a lost one is replaced.

    Raises
    ------
    InputError
        A secret that is lost, or not this ledger's; or a new one where the old one is there.
    """
    if state.secret is None:
        if replace_lost:
            raise InputError("No look was taken yet, so that no secret is lost: leave out --new-secret.")
        return kept_secret(path)
    found = read_secret(path)
    if found is not None and found.fingerprint == state.secret:
        if replace_lost:
            raise _problem(
                path, "is the secret of this ledger: nothing is lost.", "Leave out --new-secret."
            )
        return found
    if replace_lost:
        return kept_secret(path)
    raise _lost(ledger, path) if found is None else _wrong(found, state.secret, ledger, path)


def secret_of_rows(
    state: LedgerState, entries: Sequence[Entry], ledger: str, path: str
) -> StudySecret | None:
    """The secret that the ledger's digests and the seals of its lines are checked with; None where it is lost.

    Raises
    ------
    InputError
        Another secret than this ledger's, or a line that was not sealed with it.
    """
    found = read_secret(path)
    if found is not None and state.secret is not None:
        if found.fingerprint != state.secret:
            raise _wrong(found, state.secret, ledger, path)
        check_secret_seals(entries, found, ledger)
    return found


def check_seals(state: LedgerState, entries: Sequence[Entry], ledger: str, path: str) -> None:
    """Check the seals of the lines, where the secret is there to do it; `secret_remarks` says where it is not.

    Raises
    ------
    InputError
        A line that was not sealed with the secret.
    """
    try:
        found = read_secret(path)
    except InputError:
        return
    if found is not None and found.fingerprint == state.secret:
        check_secret_seals(entries, found, ledger)


def secret_remarks(state: LedgerState, ledger: str, path: str) -> tuple[str, ...]:
    """What to say where a secret is missing, is another's, or can be read by others."""
    if state.secret is None:
        return ()
    try:
        found = read_secret(path)
    except InputError as error:
        return (f"{error}",)
    if found is None:
        return (f"{path} is missing, the secret of {ledger}: {_LOST} Restore it from a copy.",)
    if found.fingerprint != state.secret:
        return (f"{_wrong(found, state.secret, ledger, path)}",)
    if readable_by_others(path):
        return (f"{path} can be read by others on this machine: chmod 600 {path}",)
    return ()


def _lost(ledger: str, path: str) -> InputError:
    remedy = (
        "Restore it from a copy, or name it with --secret FILE. If it is lost for good, go on with "
        '--new-secret "reason", which is recorded.'
    )
    return _problem(path, f"is missing, the secret of {ledger}: {_LOST}", remedy)


def _wrong(found: StudySecret, wanted: str, ledger: str, path: str) -> InputError:
    rule = f"is another secret ({found.fingerprint}) than that of {ledger} ({wanted})."
    return _problem(path, rule, "Name the right one: --secret FILE.")


def _problem(path: str, rule: str, remedy: str) -> InputError:
    return InputError([Problem(rule, remedy, place=path)])
