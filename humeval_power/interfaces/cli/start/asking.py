"""Ask the questions in a terminal, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.capturing import caught
from humeval_power.interfaces.cli.output import say
from humeval_power.interfaces.cli.start.looking import look, named
from humeval_power.reporting.start.checks import names_of
from humeval_power.reporting.start.found import Found
from humeval_power.reporting.start.questions import QUESTIONS, Ask, next_ask, question_of
from humeval_power.reporting.start.talk import UNKNOWN, Talk
from humeval_power.safe_text import wrapped

BACK = "b"
STOPPED = "Stopped; nothing was written."
_INTRO = (
    "Six questions, some of which your answers settle. Enter takes what stands in brackets, b goes back, Ctrl-C "
    "stops; nothing is computed or written."
)


def has_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and caught() is None


def ask_all(talk: Talk, given: Mapping[str, str]) -> Talk:
    """Ask what is open until nothing is; what was given as options is not asked.

    Raises
    ------
    KeyboardInterrupt
        The user stops.
    """
    say(wrapped(_INTRO), err=True)
    asked: list[Talk] = []  # the talk before each answer, to go back to
    before: Ask | None = None
    while (ask := next_ask(talk)) is not None:
        if ask.option in given:
            talk = _given(ask, talk, given)
            continue
        _show(ask, talk, before)
        before = ask
        try:
            typed = _typed(ask, talk)
            if typed.casefold() == BACK:
                talk = asked.pop() if asked else talk
                continue
            after = _answered(ask, typed, talk, scale=given.get("scale", ""))
        except InputError as error:
            for problem in error.problems:
                say(wrapped(str(problem), bullet="  ! "), err=True)
            continue
        asked.append(talk)
        talk = after
    say("", err=True)
    return talk


def _given(ask: Ask, talk: Talk, given: Mapping[str, str]) -> Talk:
    try:
        return _answered(ask, given[ask.option], talk, scale=given.get("scale", ""))
    except InputError as error:
        raise InputError([Problem(f"--{ask.option}: {one}", "") for one in error.problems]) from None


def _show(ask: Ask, talk: Talk, before: Ask | None) -> None:
    """The question and its choices, but for what stands there already."""
    number = question_of(ask)
    if before is None or question_of(before) != number:
        question = QUESTIONS[number - 1]
        say(f"\n{number} of {len(QUESTIONS)}  {question.title}", err=True)
        say(wrapped(question.why, bullet="  ") + "\n", err=True)
    for place, (value, words) in enumerate(ask.choices(talk) if ask is not before else (), 1):
        more = "" if value in (words, UNKNOWN) else f"  ({value})"
        say(wrapped(f"{words}{more}", bullet=f"  {place:>2}  "), err=True)


def _typed(ask: Ask, talk: Talk) -> str:
    start = ask.start(talk)
    values = [value for value, _ in ask.choices(talk)]
    shown = str(values.index(start) + 1) if start in values else "?" if start == UNKNOWN else start
    text = ask.text(talk) + ("; ? if you do not know" if ask.unknown else "")
    lines = wrapped(text + (f" [{shown}]:" if shown else ":"), bullet="  ")
    try:
        answer = click.prompt(lines, default="", show_default=False, prompt_suffix=" ", err=True)
    except click.Abort:
        raise KeyboardInterrupt(STOPPED) from None
    return str(answer).strip() or start


def _answered(ask: Ask, typed: str, talk: Talk, *, scale: str) -> Talk:
    kept = ask.answer(typed, talk)
    if ask.option == "file":
        files = named(names_of(kept, talk))
        return _told(talk.looked(files, look(talk.judgement, files, scale=scale)))
    if ask.option == "scale" and talk.found is not None and kept != talk.found.scale:
        again = look(talk.judgement, talk.files, scale=kept)
        talk = talk.looked(talk.files, again)
    return talk.answered(ask.option, kept)


def _told(talk: Talk) -> Talk:
    found = talk.found or Found()
    counts = [f"{found.n_items:,} items"]
    counts += [f"{found.n_workers:,} workers"] if found.n_workers else []
    counts += [f"{len(found.systems)} systems: {', '.join(found.systems)}"] if found.systems else []
    counts += [f"scale {found.scale}"] if found.scale else []
    say(wrapped(f"Read: {'; '.join(counts)}.", bullet="  "), err=True)
    return talk
