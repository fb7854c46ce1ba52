"""`humeval-power start`: six questions, and the commands that their answers lead to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from humeval_power.asking.calls import Caller, TypedValues
from humeval_power.asking.declared import Calls, Declaration, Fields, Page, Part
from humeval_power.asking.expressions import call
from humeval_power.asking.vocabulary import BASELINE, ITEM_DIFFERENCES
from humeval_power.fields import Field, Kind, flag, own, text, word
from humeval_power.studies.start.questions import (
    ASKS,
    COMPARISONS,
    HAVES,
    JUDGEMENTS,
    QUESTIONS,
    RATERS,
    YES_NO,
    Choice,
    ask_all,
    count_files,
    given_answers,
    has_terminal,
    look,
    named,
)
from humeval_power.studies.start.questions import scale as checked_scale
from humeval_power.studies.start.talk import FileContents, Talk
from humeval_power.study import FIELDS

_NOBODY_TO_ASK = (
    "Nobody can be asked here: this is no terminal. Give the answers as options, such as --have nothing "
    "--judgement points --difference 0.5; what is left out is assumed, and told. 'humeval-power start --help' "
    "lists them."
)


def _answer(option: str, kind: Kind, help: str, label: str = "", **further: Any) -> Field:
    """A field that answers what the terminal asks, in its words where there are no others."""
    return own(kind, help, label or ASKS[option].text(Talk()), **further)


def _choice(option: str, choices: tuple[Choice, ...], help: str, label: str = "", **further: Any) -> Field:
    kind = word([value for value, _ in choices])
    return _answer(option, kind, help, label, words=dict(choices), **further)


_FIELDS: Fields = {
    "judgement": _choice("judgement", JUDGEMENTS, "What one judgement is.", start="points"),
    "have": _choice("have", HAVES, "What there is.", start="nothing"),
    "files": own(
        text("FILE", many=True),
        "The file that there is; it is looked at. Of 'correct' and 'corpus' three: of A, of B, what is right.",
        "File",
        page_help="Bring it below, or name one of the folder. Of right answers and of corpora three: of A, of B, "
        "what is right.",
        option="file",
    ),
    "n_systems": own(text("NUMBER"), FIELDS["n_systems"].help, "Their number", note="[2]"),
    "systems": own(
        text("NAMES"), FIELDS["systems"].help, "Or their names", note="in the place of their number: A,B,C."
    ),
    "comparisons": _choice("comparisons", COMPARISONS, FIELDS["comparisons"].help, "Of several, compare"),
    "baseline": _answer("baseline", BASELINE.kind, BASELINE.help),
    "raters": _choice("raters", RATERS, "Who judges."),
    "academic": _choice("academic", YES_NO, "Whether the account on the platform is academic."),
    "pay_per_hour": _answer("pay-per-hour", text("USD"), FIELDS["pay_per_hour"].help),
    "seconds_per_rating": _answer("seconds-per-rating", text("NUMBER"), FIELDS["seconds_per_rating"].help),
    "instruction_minutes": _answer(
        "instruction-minutes",
        text("NUMBER"),
        "How long each reads instructions and tries, before the first.",
    ),
    "scale": _answer("scale", text("LOW:HIGH"), FIELDS["scale"].help, note="[of the file, else 1:5]"),
    "difference": _answer(
        "difference",
        text("NUMBER"),
        "The smallest that matters: in points of the scale, in points of a hundred (yes-no, correct), in units of "
        "the score or metric; of 'preference', how many of a hundred prefer the better one. Or unknown.",
        "The smallest difference that matters",
        page_help="In points of the scale, in points of a hundred, or in units of the score; leave it empty if you "
        "do not know.",
    ),
    "sd_difference": _answer("sd-difference", text("NUMBER"), ITEM_DIFFERENCES.help, note="Or unknown."),
    "accuracy": _answer("accuracy", text("NUMBER"), "How many of a hundred the baseline gets right."),
    "limit": _answer(
        "limit",
        text("WHAT"),
        "budget=500 or 500, in US dollars; workers=20, items=100 or nothing.",
        page_help="Such as 500 (US dollars), workers=20 or items=100.",
    ),
}
_ANSWERS = tuple(name for name in _FIELDS if name not in ("files", "n_systems", "systems"))
_ASKED = {
    "file": ("files",),
    "systems": ("n_systems", "systems"),
    "amount": (),
}  # else the field of that name


def _parts() -> tuple[Part, ...]:
    """A group of the page for each question."""
    return tuple(
        Part(
            f"{place}. {question.title}",
            tuple(
                name
                for ask in question.asks
                for name in _ASKED.get(ask.option, (ask.option.replace("-", "_"),))
            ),
            note=question.why,
        )
        for place, question in enumerate(QUESTIONS, 1)
    )


def _start(given: TypedValues, calls: Calls) -> None:
    if given["n_systems"] is not None and given["systems"] is not None:
        raise click.UsageError("Give --n-systems or --systems, not both.")
    answers = {name.replace("_", "-"): given[name] for name in _ANSWERS if given[name] is not None}
    if (said := given["n_systems"] or given["systems"]) is not None:
        answers["systems"] = said
    if not isinstance(calls, Caller):
        given.refuse(["files"], "are looked at by the command")
        given.allow("assume_rest")
        calls.let("result", call("hp.models.start", answers))
        return
    files, assumes = given["files"], given["assume_rest"]
    may_ask = has_terminal() and not assumes
    if not (may_ask or answers or files or assumes):
        raise click.UsageError(_NOBODY_TO_ASK)
    known, files = given_answers(answers), named(files)
    answer: Any = None
    if may_ask:
        there = {"file": files[0] if len(files) == 1 else shlex.join(files)} if files else {}
        talk = ask_all(Talk(), {**known, **there})
        answers, files, answer = {**known, **talk.said}, talk.files, talk.found
    elif files and known.get("have") != "nothing":
        answer = _contents_of(files, known)
    result: Any = calls.let("result", call("hp.models.start", answers, files=files, found=answer))
    as_study = (given["output"] or "").lower().endswith(".toml")  # then the commands need no options
    calls.let("result", replace(result, as_study=as_study))


def _contents_of(files: Sequence[str], given: Mapping[str, str]) -> FileContents:
    judgement = given.get("judgement", ASKS["judgement"].start(Talk()))
    count_files(judgement, files)
    scale = checked_scale(given["scale"], Talk()) if "scale" in given and judgement == "points" else ""
    return look(judgement, files, scale=scale)


DECLARED = Declaration(
    ("start",),
    """Six questions that lead from what you have to the commands you need.

    In a terminal it asks what no option says; elsewhere the rest is assumed,
    and told. A file is looked at, so that the commands fit it. Nothing is
    computed. -o study.toml writes the study as a file that every command
    reads, so that none needs options; -o start.sh the commands as a script.
    """,
    {
        **_FIELDS,
        "assume_rest": own(flag(), "Ask nothing: assume what no option says, and tell it.", usual=False),
    },
    _start,
    Page(
        "Six questions",
        "What you have, and what you want to know: the answer is what to do, step by step. Leave out what you do "
        "not know.",
        _parts(),
        journey="start",
        live={"assume-rest": "1"},
    ),
    endings=(".sh", ".toml"),
)
command = DECLARED.command()
