"""`humeval-power start`: six questions, and the commands that their answers lead to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

import click

from humeval_power.api.start import start
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.start.asking import ask_all, has_terminal
from humeval_power.interfaces.cli.start.looking import look, named
from humeval_power.interfaces.python_code.expressions import call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed
from humeval_power.reporting.start.checks import count_files
from humeval_power.reporting.start.checks import scale as checked_scale
from humeval_power.reporting.start.filling import given_answers
from humeval_power.reporting.start.found import Found
from humeval_power.reporting.start.questions import (
    ASKS,
    COMPARISONS,
    HAVES,
    JUDGEMENTS,
    RATERS,
    YES_NO,
    Choice,
)
from humeval_power.reporting.start.result import StartResult
from humeval_power.reporting.start.talk import Talk

_NOBODY_TO_ASK = (
    "Nobody can be asked here: this is no terminal. Give the answers as options, such as --have nothing "
    "--judgement points --difference 0.5; what is left out is assumed, and told. 'humeval-power start --help' "
    "lists them."
)


def _values(choices: tuple[Choice, ...]) -> click.Choice[str]:
    return click.Choice([value for value, _ in choices])


def _write_program(typed: Typed, source: Source) -> None:
    """The commands that answers lead to, as a program."""
    typed.refuse(["files"], "are looked at by the command")
    typed.allow("assume_rest")
    said = typed["n_systems"] or typed["systems"]
    answers = {name.replace("_", "-"): typed[name] for name in _ANSWERS if typed[name] is not None}
    if said is not None:
        answers["systems"] = said
    source.let("result", call("hp.models.start", answers))


_ANSWERS = (
    *("judgement", "have", "comparisons", "baseline", "raters", "pay_per_hour", "seconds_per_rating"),
    *("scale", "difference", "sd", "accuracy", "limit"),
)


@click.command("start", cls=Command, program=_write_program)
@click.option("--judgement", type=_values(JUDGEMENTS), help="What one judgement is.")
@click.option("--have", type=_values(HAVES), help="What there is.")
@click.option(
    "--file",
    "files",
    metavar="FILE",
    multiple=True,
    help="The file that there is; it is looked at. Of 'correct' and 'corpus' three: of A, of B, what is right.",
)
@click.option("--n-systems", metavar="NUMBER", help="How many systems are compared. [2]")
@click.option("--systems", metavar="NAMES", help="Or their names: A,B,C,...")
@click.option("--comparisons", type=_values(COMPARISONS), help="Which of several systems are compared.")
@click.option("--baseline", metavar="SYSTEM", help="Compare every other system with this one only.")
@click.option("--raters", type=_values(RATERS), help="Who judges.")
@click.option("--academic", type=_values(YES_NO), help="Whether the account on the platform is academic.")
@click.option("--pay-per-hour", metavar="USD", help="What they get for an hour.")
@click.option("--seconds-per-rating", metavar="NUMBER", help="How long one judgement takes.")
@click.option("--scale", metavar="LOW:HIGH", help="The scale of points. [of the file, else 1:5]")
@click.option(
    "--difference",
    metavar="NUMBER",
    help="The smallest that matters: in points of the scale, in points of a hundred (yes-no, correct), in units of "
    "the score or metric; of 'preference', how many of a hundred prefer the better one. Or unknown.",
)
@click.option("--sd", metavar="NUMBER", help="Of the items' own differences of scores. Or unknown.")
@click.option("--accuracy", metavar="NUMBER", help="How many of a hundred the baseline gets right.")
@click.option(
    "--limit", metavar="WHAT", help="budget=500 or 500, in US dollars; workers=20, items=100 or nothing."
)
@click.option("--assume-rest", is_flag=True, help="Ask nothing: assume what no option says, and tell it.")
@with_result(endings=(".sh", ".toml"))
def command(
    files: tuple[str, ...],
    n_systems: str | None,
    systems: str | None,
    assume_rest: bool,
    **typed: str | None,
) -> StartResult:
    """Six questions that lead from what you have to the commands you need.

    In a terminal it asks what no option says; elsewhere the rest is assumed,
    and told. A file is looked at, so that the commands fit it. Nothing is
    computed. -o study.toml writes the study as a file that every command
    reads, so that none needs options; -o start.sh the commands as a script.
    """
    if n_systems is not None and systems is not None:
        raise click.UsageError("Give --n-systems or --systems, not both.")
    answers = {name.replace("_", "-"): text for name, text in typed.items() if text is not None}
    if (said := n_systems or systems) is not None:
        answers["systems"] = said
    may_ask = has_terminal() and not assume_rest
    if not may_ask and not answers and not files and not assume_rest:
        raise click.UsageError(_NOBODY_TO_ASK)
    given = given_answers(answers)
    files = named(files)
    if may_ask:
        there = {"file": files[0] if len(files) == 1 else shlex.join(files)} if files else {}
        talk = ask_all(Talk(), {**given, **there})
        return _shown(start({**given, **talk.said}, files=talk.files, found=talk.found))
    found = _found(files, given) if files and given.get("have") != "nothing" else None
    return _shown(start(answers, files=files, found=found))


def _shown(found: StartResult) -> StartResult:
    """The commands without options where a study file is written."""
    output = click.get_current_context().params["output"] or ""
    return replace(found, as_study=output.lower().endswith(".toml"))


def _found(files: tuple[str, ...], given: Mapping[str, str]) -> Found:
    judgement = given.get("judgement", ASKS["judgement"].start(Talk()))
    count_files(judgement, files)
    scale = checked_scale(given["scale"], Talk()) if "scale" in given and judgement == "points" else ""
    return look(judgement, files, scale=scale)
