"""What `compare scores` is asked: the question, the test, and what it is asked with."""

from __future__ import annotations

import sys
from typing import get_args

import click

from humeval_power.choices import (
    ADVISED,
    MOST_NEEDED,
    NORMALITY_ALPHA,
    QUESTIONS,
    PowerBy,
    Procedure,
    Question,
    ScoreCorrection,
)
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import Function, alpha_option, decorated
from humeval_power.interfaces.cli.output import say

TEST_NAMES = (
    "t",
    "bootstrap-t",
    "permutation",
    "bootstrap",
    "wilcoxon",
    "sign",
    "mcnemar",
    "bootstrap-median",
    "permutation-median",
    "primer",
)
direction_option = click.option(
    "--direction",
    type=click.Choice(("two-sided", "greater", "less")),
    default="two-sided",
    show_default=True,
    help="Both directions, or only B above (greater) or below (less) A.",
)
_OPTIONS = (
    click.option(
        "--question",
        type=click.Choice(tuple(QUESTIONS)),
        help="What is asked, decided before the scores are looked at. [asked for]",
    ),
    click.option(
        "--procedure",
        type=click.Choice(get_args(Procedure)),
        default="question",
        show_default=True,
        help="Test what is asked, or what the data suggest (Zhu et al. 2020; warned of).",
    ),
    click.option(
        "--test",
        metavar="TEST",
        type=click.Choice((ADVISED, *TEST_NAMES)),
        help=f"The test, of {', '.join(TEST_NAMES)}; or {ADVISED}, for the question and such data. "
        "[the question's own]",
    ),
    direction_option,
    click.option(
        "--null", type=RealNumber(), default=0.0, show_default=True, help="Difference to test against."
    ),
    alpha_option,
    click.option(
        "--effect",
        type=RealNumber(),
        help="Difference that matters, for the power. [the observed one]",
    ),
    click.option("--margin", type=RealNumber(), help="Test equivalence within this margin too."),
    click.option(
        "--correction",
        type=click.Choice(get_args(ScoreCorrection)),
        default="holm",
        show_default=True,
        help="Correction for many pairs.",
    ),
    click.option("--baseline", metavar="SYSTEM", help="Compare every system with this one only."),
    click.option("--resamples", type=WholeNumber(min=1), help="Resamples of bootstrap and permutation."),
    click.option(
        "--normality-alpha",
        type=RealNumber(0, 1, min_open=True, max_open=True),
        default=NORMALITY_ALPHA,
        show_default=True,
        help="Level of the test of normality.",
    ),
    click.option(
        "--power-by",
        type=click.Choice(get_args(PowerBy)),
        default="bootstrap",
        show_default=True,
        help="Simulate the power by resampling the differences, or from a normal law; or by formula alone.",
    ),
    click.option(
        "--power-sizes",
        metavar="LIST",
        callback=number_list(int, least=2, most=MOST_NEEDED),
        help="Numbers of items, or of clusters, to give the power for: 50:500:50. [1/4 to 4 times those at hand]",
    ),
    click.option(
        "--power-target",
        type=RealNumber(0, 1, min_open=True, max_open=True),
        default=0.8,
        show_default=True,
        help="Say how many items reach this power.",
    ),
)


def test_options(command: Function) -> Function:
    """Add what the systems are compared by."""
    return decorated(command, _OPTIONS)


def asked_question(question: Question | None, procedure: Procedure) -> Question | None:
    """The question of the user, asked for in a terminal where it is missing, before any file is read."""
    from humeval_power.planning.compare.pair import checked_question

    if question is not None or procedure != "question" or not sys.stdin.isatty():
        return checked_question(question, procedure)
    say("What is asked? It is decided before the scores are looked at.", err=True)
    for name, words in QUESTIONS.items():
        say(f"  {name}: {words}", err=True)
    answer: Question = click.prompt("Question", type=click.Choice(tuple(QUESTIONS)), err=True)
    return answer
