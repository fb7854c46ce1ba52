"""Look at the files that somebody named, as the commands that follow will read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humeval_power.errors import InputError, Problem
from humeval_power.reporting.start.found import Found

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings


def look(judgement: str, files: Sequence[str], *, scale: str = "") -> Found:
    """What the files hold, read as judgements of this kind; `scale` is 'low:high', '' where it is not known.

    Raises
    ------
    InputError
        All problems of the files at once; and where they are another kind of judgements, which.
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


def _rated(files: Sequence[str], scale: str) -> Found:
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
    return Found(
        systems=ratings.system_names,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        scale=f"{ratings.scale.low:.12g}:{ratings.scale.high:.12g}",
        criteria=criteria,
        criteria_in_columns=in_columns,
    )


def _yes_no(files: Sequence[str], _: str) -> Found:
    ratings = _ratings(files[0], "")[0]
    other = sorted({float(value) for value in ratings.raw_rating} - {0.0, 1.0})
    if other:
        rule = f"ratings of yes and no are 1 and 0, and there is {other[-1]:g}."
        raise InputError([Problem(rule, "Is one judgement 'points'?", ratings.source)])
    return _rated(files, "0:1")


def _ratings(path: str, scale: str) -> tuple[Ratings, tuple[str, ...], bool]:
    """The ratings, of several criteria those of the first; the criteria, and whether each is a column."""
    from humeval_power.interfaces.formats.criteria import criteria_names, criteria_of_table
    from humeval_power.interfaces.formats.rating_tables import read_rating_table
    from humeval_power.interfaces.formats.ratings import ratings_of

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


def _preferences(files: Sequence[str], _: str) -> Found:
    from humeval_power.interfaces.cli.loading import read_decided
    from humeval_power.interfaces.formats.preference import judgements_of

    found = judgements_of(read_decided(files[0], None))
    first = found[0]
    workers = 0 if first.worker is None else len(set(first.worker.tolist()))
    notes = () if len(found) == 1 else (f"{files[0]} has {len(found)} comparisons; each is told of.",)
    return Found(n_items=first.n, n_workers=workers, notes=notes)


def _scores(files: Sequence[str], _: str) -> Found:
    import numpy as np

    from humeval_power.interfaces.formats.compare.score_tables import open_scores, score_table

    source = open_scores(files)
    metrics = source.scores if source.system is not None and len(source.scores) > 1 else ()
    table = score_table(source, score=metrics[0] if metrics else None)
    sd = float(np.std(table.scores[:, 1] - table.scores[:, 0], ddof=1)) if len(table.scores) > 1 else 0.0
    return Found(systems=table.systems, n_items=len(table.scores), criteria=metrics, sd=sd or None)


def _correct(files: Sequence[str], _: str) -> Found:
    from humeval_power.interfaces.formats.accuracy.answers import read_answers

    answers = read_answers(files[0], files[1], gold=files[2])
    agreement = answers.pair(0, 1).agreement
    return Found(n_items=answers.n_items, agreement=round(agreement, 6), notes=answers.notices)


def _corpus(files: Sequence[str], _: str) -> Found:
    from humeval_power.interfaces.formats.corpora import read_corpus

    corpus = read_corpus(files[0], files[1], files[2:])
    return Found(n_items=len(corpus.system_a), notes=corpus.notices)


_READERS: Mapping[str, Callable[[Sequence[str], str], Found]] = {
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
