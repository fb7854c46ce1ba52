"""`humeval-power compare FILE`: compare systems by a metric's scores of the same items."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.compare.reading import Reading, read_tables
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import (
    alpha_option,
    force_option,
    json_option,
    quiet_option,
    run_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, write_directory
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command

if TYPE_CHECKING:
    from humeval_power.inference.compare.score_table import ScoreTable
    from humeval_power.planning.compare.pair import Request

QUESTIONS = {
    "mean": "does B have the higher mean score?",
    "median": "is the middle difference B - A other than 0?",
    "pseudomedian": "is the middle of all means of two differences other than 0?",
    "better": "is B better on more than half of the items, however much?",
}
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
CORRECTIONS = ("holm", "romano-wolf", "max-t", "bonferroni", "bh", "none")
PAIR_FILES = (
    "compare.json",
    "compare.md",
    "compare.tex",
    "compare.html",
    "histograms.png",
    "histograms.svg",
    "power.png",
    "power.svg",
)
MANY_FILES = (
    "compare.json",
    "compare.md",
    "compare.tex",
    "compare.html",
    "pairs.csv",
    "heat_map.png",
    "heat_map.svg",
)
SETS_FILES = ("compare.json",)


def _names(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and len(names) < 2:
        raise click.BadParameter(f"name two systems or more, A first: A,B; got {text!r}.")
    return names


@click.command("scores", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE [FILE]")
@click.option(
    "--question",
    type=click.Choice(tuple(QUESTIONS)),
    help="What is asked, decided before the scores are looked at. [asked for]",
)
@click.option(
    "--procedure",
    type=click.Choice(("question", "nlpstattest")),
    default="question",
    show_default=True,
    help="Test what is asked, or what the data suggest (Zhu et al. 2020; warned of).",
)
@click.option(
    "--test",
    metavar="TEST",
    type=click.Choice(TEST_NAMES),
    help=f"The test, of {', '.join(TEST_NAMES)}. [the question's own]",
)
@click.option(
    "--direction",
    type=click.Choice(("two-sided", "greater", "less")),
    default="two-sided",
    show_default=True,
    help="Both directions, or only B above (greater) or below (less) A.",
)
@click.option(
    "--null", type=RealNumber(), default=0.0, show_default=True, help="Difference to test against."
)
@alpha_option
@click.option(
    "--effect", type=RealNumber(), help="Difference that matters, for the power. [the observed one]"
)
@click.option("--margin", type=RealNumber(), help="Test equivalence within this margin too.")
@click.option("--item", metavar="COLUMN", help="Column of the item. [found by name]")
@click.option("--system", metavar="COLUMN", help="Column of the system. [found by name]")
@click.option("--score", metavar="COLUMN", multiple=True, help="Metric of a long table; repeatable.")
@click.option(
    "--systems",
    metavar="A,B",
    callback=_names,
    help="The systems to compare; the effect is B - A. More than two: all pairs. [all]",
)
@click.option("--dataset", metavar="COLUMN", help="Column of the data set: count where B is better.")
@click.option("--drop-missing", is_flag=True, help="Leave out items without a score of each system.")
@click.option("--unit-size", type=WholeNumber(min=1), default=1, show_default=True, help="Items in a unit.")
@click.option(
    "--unit-by",
    type=click.Choice(("mean", "median")),
    default="mean",
    show_default=True,
    help="Score of a unit.",
)
@click.option("--shuffle-seed", type=WholeNumber(min=0), help="Shuffle items into units. [adjacent]")
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default="holm",
    show_default=True,
    help="Correction for many pairs.",
)
@click.option("--baseline", metavar="SYSTEM", help="Compare every system with this one only.")
@click.option("--resamples", type=WholeNumber(min=1), help="Resamples of bootstrap and permutation.")
@click.option(
    "--normality-alpha",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    help="Level of the test of normality. [0.05]",
)
@click.option(
    "--power-by",
    type=click.Choice(("bootstrap", "normal")),
    default="bootstrap",
    show_default=True,
    help="Simulate the power by resampling the differences, or from a normal law.",
)
@click.option("--all-tests", is_flag=True, help="List the less preferred and inappropriate tests too.")
@run_options
@json_option
@click.option("-o", "--output", metavar="DIR", help="Write the report and its pictures to DIR.")
@force_option
@quiet_option
def scores_command(
    files: tuple[str, ...],
    question: str | None,
    procedure: str,
    as_json: bool,
    output: str | None,
    force: bool,
    jobs: int | None,
    correction: str,
    baseline: str | None,
    all_tests: bool,
    **given: Any,
) -> None:
    """Compare systems by a metric's scores of the same items.

    FILE has one row an item and one column a system, or the columns item,
    system, score; or it holds two columns of numbers and no header; or two
    files hold one number a line, A first.
    """
    if len(files) > 2:
        raise InputError(f"Name one table, or two files of one column; got {len(files)} files.")
    asked = _asked_question(question, procedure)
    reading = Reading(files, **{name: given.pop(name) for name in Reading.__slots__ if name != "files"})
    request = _request(asked, given)
    names, tables = read_tables(reading)
    kind = "sets" if len(tables) > 1 else "pair" if len(tables[0].systems) == 2 else "many"
    wanted = {"sets": SETS_FILES, "pair": PAIR_FILES, "many": MANY_FILES}[kind]
    if output is not None:
        refuse_to_overwrite([Path(output) / name for name in wanted], force=force)
    from humeval_power.interfaces.cli.compare import answers as compare_answers
    from humeval_power.interfaces.cli.options import default_jobs

    n_jobs, command = jobs or default_jobs(), typed_command()
    _tell_work(tables, request, n_jobs)
    if kind == "pair":
        answer = compare_answers.pair_answer(
            tables[0], request, n_jobs=n_jobs, command=command, everything=all_tests
        )
    elif kind == "many":
        answer = compare_answers.many_answer(
            tables[0],
            request,
            correction=correction,
            baseline=baseline,
            n_jobs=n_jobs,
            command=command,
        )
    else:
        is_metrics = reading.dataset is None
        answer = compare_answers.sets_answer(
            names, tables, request, is_dependent=is_metrics, n_jobs=n_jobs, command=command
        )
    if output is not None:
        made = answer.files()
        write_directory(output, made, force=force)
        note(f"Written to {output}: {', '.join(made)}")
    say(answer.json if as_json else answer.text, nl=not as_json)


def _asked_question(question: str | None, procedure: str) -> str | None:
    """The question of the user, asked for in a terminal where it is missing; None for the procedure that
    chooses by the data."""
    if procedure == "nlpstattest":
        if question is not None:
            raise InputError("The procedure 'nlpstattest' chooses by the data; leave --question out.")
        return None
    if question is not None:
        return question
    listed = [f"--question {name}: {words}" for name, words in QUESTIONS.items()]
    if not sys.stdin.isatty():
        raise InputError("Say what is asked before the scores are looked at. " + " ".join(listed))
    say("What is asked? It is decided before the scores are looked at.", err=True)
    for line in listed:
        say(f"  {line.removeprefix('--question ')}", err=True)
    answer: str = click.prompt("Question", type=click.Choice(tuple(QUESTIONS)), err=True)
    return answer


def _request(question: str | None, given: dict[str, Any]) -> Request:
    from humeval_power.inference.compare.data_analysis import NORMALITY_ALPHA
    from humeval_power.inference.compare.result import DEFAULT_RESAMPLES, TestSettings
    from humeval_power.planning.compare.pair import Request
    from humeval_power.planning.compare.power import CURVE_SIMULATIONS
    from humeval_power.planning.power import DEFAULT_SEED

    settings = TestSettings(
        null=given["null"],
        direction=given["direction"],
        alpha=given["alpha"],
        n_resamples=given["resamples"] or DEFAULT_RESAMPLES,
        seed=DEFAULT_SEED if given["seed"] is None else given["seed"],
    )
    return Request(
        question=question,  # type: ignore[arg-type]
        settings=settings,
        test=given["test"],
        effect=given["effect"],
        margin=given["margin"],
        normality_alpha=given["normality_alpha"] or NORMALITY_ALPHA,
        power_by=given["power_by"],
        n_simulations=given["simulations"] or CURVE_SIMULATIONS,
    )


def _tell_work(tables: list[ScoreTable], request: Request, n_jobs: int) -> None:
    """Say how long resampling and simulating will take for these tables, or refuse it."""
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.planning.compare.power import curve_sizes
    from humeval_power.planning.workload import NOTHING, comparison_workload

    simulated, resampled, n_resamples = NOTHING, NOTHING, request.settings.n_resamples
    for table in tables:
        pairs = math.comb(len(table.systems), 2)
        resampled += comparison_workload("compare", table.n_items, n_simulations=pairs * n_resamples)
        if pairs > 1:
            continue  # there the power of no pair is simulated
        for size in curve_sizes(table.n_items):
            simulated += comparison_workload(
                "compare", size, n_simulations=request.n_simulations, n_jobs=n_jobs
            )
    tell_work(simulated, n_simulations=request.n_simulations)
    tell_work(resampled, n_simulations=n_resamples, option="--resamples")
