"""From the words of a command to the Python program that gives the same result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.interfaces.python_code.field import drawn
from humeval_power.interfaces.python_code.scenarios import (
    preference,
    texts,
)
from humeval_power.interfaces.python_code.scenarios.questions import Kind
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.study_call import study_call
from humeval_power.interfaces.python_code.typed import GapError, Typed

Writer = Callable[[Typed, Source], None]


def _questions(group: str, kind: Kind) -> dict[tuple[str, ...], Writer]:
    """The four questions of a group of commands."""
    return {(group, question): writer for question, writer in kind.programs.items()}


PROGRAMS: Mapping[tuple[str, ...], Writer] = {
    **{
        (verb,): study_call
        for verb in (
            "check",
            "fit",
            "power",
            "mde",
            "size",
            "surface",
            "analyze",
            "plan",
            "calibrate",
            "simulate",
            "assign",
            "resample",
            "survey",
        )
    },
    ("looks", "study"): study_call,
    ("parameters", "list"): drawn.library,
    ("parameters", "show"): drawn.library_entry,
    ("start",): drawn.start,
    **_questions("preference", preference.PREFERENCE),
    **_questions("corpus", texts.CORPUS),
    **_questions("contingency", texts.CONTINGENCY),
    ("preference", "test"): preference.test,
    ("corpus", "test"): texts.corpus_test,
    ("corpus", "estimate"): texts.corpus_estimate,
    ("contingency", "test"): texts.contingency_test,
    ("contingency", "estimate"): texts.contingency_estimate,
}
_SECRET = "makes pseudonyms with a secret that the command keeps; hp.exports has its calls."
_OWN = "asks a function of your own; hp.power, hp.size and the others take its scenario."
# Commands that have no program, and why.
GAPS: Mapping[tuple[str, ...], str] = {
    ("import",): _SECRET,
    ("collect", "status"): _SECRET,
    ("collect", "withdraw"): "changes the files of a study, which the command alone does.",
    ("parameters", "add"): "writes your own library, which the command alone does.",
    ("monitor",): "keeps a ledger, which the command alone writes; hp.monitor takes a look without one.",
    ("report",): "tells the files of a study apart by what is in them; hp.report takes their documents.",
    ("report", "check"): "tells the files of a study apart; hp.documents.open_fields takes documents.",
    ("report", "remember"): "writes the answers that are remembered; hp.documents.remember is its call.",
    ("cite",): "finds the records in files and folders; hp.cite takes records.",
    ("release",): "writes the files to publish; hp.release is its call.",
    **{("scenario", question): _OWN for question in ("power", "mde", "size", "surface")},
}


def python_of(words: Sequence[str]) -> str:
    """The shortest program that gives what a command gives; '' where there is none, or the words are no command.

    words : of the command, without the program's name, such as ("power", "--preset", "high", ...)
    """
    try:
        return program_of(_context(words))
    except (HumevalPowerError, click.ClickException, click.exceptions.Exit):
        return ""


def python_here() -> str:
    """The same of the command that runs."""
    try:
        return program_of(click.get_current_context())
    except GapError:
        return ""


def program_of(context: click.Context) -> str:
    """The same of a command that has been parsed.

    Raises
    ------
    GapError
        A command, or an option, that no program says, and why.
    """
    path = tuple(" ".join(str(one.info_name) for one in _above(context)).split())
    writer = getattr(context.command, "program", None) or PROGRAMS.get(path)
    if writer is None:
        why = GAPS.get(path, "is none of those that have one.")
        raise GapError(f"There is no program: {' '.join(path)} {why}")
    typed, source = Typed(context), Source()
    writer(typed, source)
    typed.check()
    return source.text()


def _above(context: click.Context) -> list[click.Context]:
    """The contexts of a command and its groups, without that of the whole program."""
    found: list[click.Context] = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        found.insert(0, at)
        at = at.parent
    return found


def _context(words: Sequence[str]) -> click.Context:
    """The words parsed by the command that they name.

    Raises
    ------
    GapError
        No command, or a question for help.
    click.ClickException
        Words that the command does not take.
    """
    from humeval_power.interfaces.cli.main import main

    if not words or words[0].startswith("-") or {"-h", "--help"} & set(words):
        raise GapError("no command")
    at = click.Context(main, info_name="humeval-power")
    command, name, rest = main.get_command(at, words[0]), words[0], list(words[1:])
    while isinstance(command, click.Group):
        at = command.make_context(name, rest, parent=at)
        rest = [*at._protected_args, *at.args]
        if not rest and command.invoke_without_command:
            return at
        name, *rest = rest
        command = command.get_command(at, name)
    if command is None:
        raise GapError("no command")
    return command.make_context(name, rest, parent=at)
