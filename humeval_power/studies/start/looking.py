"""Look at the files that somebody named, as the commands that follow will read them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.output import caught, say
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import wrapped
from humeval_power.studies.start.questions import QUESTIONS, Ask, names_of, next_ask, question_of
from humeval_power.studies.start.talk import UNKNOWN, FileContents, Talk

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings


def look(judgement: str, files: Sequence[str], *, scale: str = "") -> FileContents:
    """What the files hold, read as judgements of this kind; `scale` is 'low:high', '' where it is not known.

    Raises InputError: all problems of the files at once; and where they are another kind of judgements, which.
    """
    try:
        return _READERS[judgement](files, scale)
    except InputError as error:
        other = _other_kind(judgement, files)
        if other is None:
            raise
        hint = Problem(
            f"read as '{other}' the file has no problem.", f"Is one judgement '{other}'?", files[0]
        )
        raise InputError([*error.problems, hint]) from None


def named(files: Sequence[str]) -> tuple[str, ...]:
    """The names of files, with '~' as the home folder."""
    return tuple(os.path.expanduser(name) for name in files)


def _rated(files: Sequence[str], scale: str) -> FileContents:
    ratings, criteria, in_columns = _ratings(files[0], scale)
    if ratings.n_systems < 2:
        raise InputError(
            [
                Problem(
                    f"it has one system only ({ratings.system_names[0]!r}), and two are compared.",
                    "Add the ratings of another; or plan without a file: have 'nothing'.",
                    ratings.source,
                )
            ]
        )
    return FileContents(
        systems=ratings.system_names,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        scale=f"{ratings.scale.low:.12g}:{ratings.scale.high:.12g}",
        criteria=criteria,
        criteria_in_columns=in_columns,
    )


def _yes_no(files: Sequence[str], _: str) -> FileContents:
    ratings = _ratings(files[0], "")[0]
    other = sorted({float(value) for value in ratings.raw_rating} - {0.0, 1.0})
    if other:
        rule = f"ratings of yes and no are 1 and 0, and there is {other[-1]:g}."
        raise InputError([Problem(rule, "Is one judgement 'points'?", ratings.source)])
    return _rated(files, "0:1")


def _ratings(path: str, scale: str) -> tuple[Ratings, tuple[str, ...], bool]:
    """The ratings, of several criteria those of the first; the criteria, and whether each is a column."""
    from humeval_power.files.tables import criteria_names, criteria_of_table, ratings_of, read_rating_table

    table = read_rating_table(path)
    how: dict[str, Any] = {"scale": scale or None, "require_pair": False}
    try:
        criteria = criteria_names(table, {})
        if len(criteria) < 2:
            return ratings_of(table, **how), (), False
        return ratings_of(table, criterion=criteria[0], **how), criteria, False
    except InputError:
        try:
            by_name = criteria_of_table(table, "all", **how)
        except InputError:
            by_name = {}
        if len(by_name) < 2:
            raise
        return next(iter(by_name.values())), tuple(by_name), True


def _preferences(files: Sequence[str], _: str) -> FileContents:
    from humeval_power.comparisons.preference.files import judgements_of
    from humeval_power.studies.loading import read_decided

    judgements = judgements_of(read_decided(files[0], None))
    first = judgements[0]
    workers = 0 if first.worker is None else len(set(first.worker.tolist()))
    notes = (
        () if len(judgements) == 1 else (f"{files[0]} has {len(judgements)} comparisons; each is told of.",)
    )
    return FileContents(n_items=first.n, n_workers=workers, notes=notes)


def _scores(files: Sequence[str], _: str) -> FileContents:
    import numpy as np

    from humeval_power.comparisons.scores.files import open_scores, score_table

    source = open_scores(files)
    metrics = source.scores if source.system is not None and len(source.scores) > 1 else ()
    table = score_table(source, score=metrics[0] if metrics else None)
    sd = float(np.std(table.scores[:, 1] - table.scores[:, 0], ddof=1)) if len(table.scores) > 1 else 0.0
    return FileContents(systems=table.systems, n_items=len(table.scores), criteria=metrics, sd=sd or None)


def _correct(files: Sequence[str], _: str) -> FileContents:
    from humeval_power.comparisons.accuracy.files import read_answers

    answers = read_answers(files[0], files[1], gold=files[2])
    agreement = answers.pair(0, 1).agreement
    return FileContents(n_items=answers.n_items, agreement=round(agreement, 6), notes=answers.notices)


def _corpus(files: Sequence[str], _: str) -> FileContents:
    from humeval_power.comparisons.corpus.files import read_corpus

    corpus = read_corpus(files[0], files[1], files[2:])
    return FileContents(n_items=len(corpus.system_a), notes=corpus.notices)


_READERS: Mapping[str, Callable[[Sequence[str], str], FileContents]] = {
    "points": _rated,
    "yes-no": _yes_no,
    "preference": _preferences,
    "score": _scores,
    "correct": _correct,
    "corpus": _corpus,
}
_OF_ONE_FILE = ("points", "preference", "score")


def _other_kind(judgement: str, files: Sequence[str]) -> str | None:
    """Another kind of judgements that one file can be read as."""
    if len(files) != 1 or not os.path.exists(files[0]):
        return None
    for kind in _OF_ONE_FILE:
        if kind != judgement:
            try:
                _READERS[kind](files, "")
            except InputError:
                continue
            return kind
    return None


# Ask the questions in a terminal, one after the other.

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

    Raises KeyboardInterrupt: the user stops.
    """
    say(wrapped(_INTRO), err=True)
    talks: list[Talk] = []  # the talk before each answer, to go back to
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
                talk = talks.pop() if talks else talk
                continue
            after = _answered(ask, typed, talk, scale=given.get("scale", ""))
        except InputError as error:
            for problem in error.problems:
                say(wrapped(str(problem), bullet="  ! "), err=True)
            continue
        talks.append(talk)
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
        return _after_reading(talk.looked(files, look(talk.judgement, files, scale=scale)))
    if ask.option == "scale" and talk.found is not None and kept != talk.found.scale:
        again = look(talk.judgement, talk.files, scale=kept)
        talk = talk.looked(talk.files, again)
    return talk.answered(ask.option, kept)


def _after_reading(talk: Talk) -> Talk:
    contents = talk.found or FileContents()
    counts = [f"{contents.n_items:,} items"]
    counts += [f"{contents.n_workers:,} workers"] if contents.n_workers else []
    counts += (
        [f"{len(contents.systems)} systems: {', '.join(contents.systems)}"] if contents.systems else []
    )
    counts += [f"scale {contents.scale}"] if contents.scale else []
    say(wrapped(f"Read: {'; '.join(counts)}.", bullet="  "), err=True)
    return talk
