"""`humeval-power compare`: systems by a metric's scores of the same items, before and after there are any."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.calls import Caller, TypedValues
from humeval_power.asking.command_groups import OpenGroup
from humeval_power.asking.declared import Calls, CallStep, Declaration, Page, Part, chain
from humeval_power.asking.expressions import Call, call
from humeval_power.asking.form import Next
from humeval_power.asking.output import say
from humeval_power.asking.study_file import ACCURACIES
from humeval_power.asking.vocabulary import (
    ACCURACY_DIFFERENCE,
    ALPHA,
    ALTERNATIVE,
    BASELINE,
    CLUSTER_OR_LINES,
    COMPARED,
    DROP_MISSING,
    ITEM,
    ITEM_DIFFERENCES,
    LOWER_SCORES,
    MEAN_DIFFERENCE,
    RESAMPLES,
    RUN,
    SAMPLE_SIZE,
    SCORE,
    SCORE_MARGIN,
    SCORE_TABLE,
    SIZE_OF_SAMPLE,
    SYSTEM,
    TARGET,
    TEST_HELP,
    TEST_ITEMS,
    TRUE_EFFECT,
    TWO_OR_MORE,
    systems_typed,
)
from humeval_power.choices import (
    ADVISED,
    CORRECTIONS,
    CURVE_SIMULATIONS,
    DEFAULT_RESAMPLES,
    MOST_NEEDED,
    MOST_PRIMER_ITEMS,
    NORMALITY_ALPHA,
    PRIMER_EFFECTS,
    PRIMER_HURT,
    PRIMER_ITEMS,
    PowerBy,
    Procedure,
    Question,
    ScoreCorrection,
)
from humeval_power.choices import QUESTIONS as ASKED_QUESTIONS
from humeval_power.comparisons.questions import QuestionPage, Questions, Subject
from humeval_power.comparisons.runs.ask import test_of_runs
from humeval_power.errors import InputError, Problem
from humeval_power.fields import BETWEEN, listed, names, number_list, own, real, text, whole, word
from humeval_power.studies.power.wording import Wording
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.comparisons.scores.scenario import NormalScores
    from humeval_power.comparisons.scores.score_table import ScoreTable


def _words(scenario: NormalScores) -> list[str]:
    test = "paired t test" if scenario.test == "t" else "Wilcoxon signed-rank test"
    return [
        f"{scenario.n:,} items, differences with SD {scenario.sd:g}",
        f"{test}, {scenario.alternative}, alpha {scenario.alpha:g}",
    ]


WORDING = Wording("compare", _words, verb="scores", ending=" on average", sized="items")


TEST_NAMES = {
    "t": "paired t test",
    "bootstrap-t": "bootstrap-t test",
    "permutation": "permutation test of the mean",
    "bootstrap": "bootstrap test of the mean",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "mcnemar": "McNemar's test",
    "bootstrap-median": "bootstrap test of the median",
    "permutation-median": "permutation test of the median",
    "primer": "the bootstrap primer's p",
}


_READING = {
    "files": own(
        text("FILE [FILE]", many=True),
        "",
        "File of scores",
        page_help="One row an item and one column a system; or columns item, system and score; or two columns of "
        "numbers; or a file for each of two systems with one number a line, A's first; or logs of a harness "
        "or a folder of them.",
        rows=2,
        needed=True,
    ),
    "item": ITEM,
    "system": SYSTEM,
    "scores": SCORE,
    "systems": replace(COMPARED, kind=names(systems_typed(TWO_OR_MORE), "A,B")),
    "dataset": own(
        text("COLUMN"),
        "Column of the data set: count where B is better.",
        "Column of the data set",
        page_help="Counts the data sets on which B is better.",
    ),
    "drop_missing": DROP_MISSING,
    "unit_size": own(
        whole(1), "Items in a unit.", "Items in a unit", unit="items", slider=(1, 50), usual=1
    ),
    "unit_by": own(
        word(("mean", "median")),
        "Score of a unit.",
        "Score of a unit",
        words={"mean": "mean", "median": "median"},
        usual="mean",
    ),
    "shuffle_seed": own(
        whole(0),
        "Shuffle items into units. [adjacent]",
        "Seed to shuffle items into units",
        page_help="Empty: adjacent items.",
    ),
    "cluster": CLUSTER_OR_LINES,
}
_TESTING = {
    "question": own(
        word(ASKED_QUESTIONS),
        "What is asked, decided before the scores are looked at. [asked for]",
        "What is asked",
        start="mean",
        page_help="Decided before the scores are looked at. Recommended: the mean, which is what papers compare.",
        words={
            "": "choose one",
            "mean": "does B have the higher mean score?",
            "median": "is the middle difference other than 0?",
            "pseudomedian": "is the middle of all means of two differences other than 0?",
            "better": "is B better on more than half of the items, however much?",
        },
    ),
    "procedure": own(
        word(Procedure),
        "Test what is asked, or what the data suggest (Zhu et al. 2020; warned of).",
        "Who chooses the question",
        words={
            "question": "you, before looking (recommended)",
            "nlpstattest": "the data, as NLPStatTest does (leave the question empty)",
        },
        usual="question",
    ),
    "test": own(
        replace(word((ADVISED, *TEST_NAMES)), metavar="TEST"),
        TEST_HELP,
        "Test",
        note=f": {', '.join(TEST_NAMES)}; or {ADVISED}, for the question and such data. [the question's own]",
        start=ADVISED,
        page_help="The answer lists every test with how well it suits the question and these scores, and why.",
        words={ADVISED: "the one that is recommended for such scores", **TEST_NAMES},
    ),
    "alternative": ALTERNATIVE,
    "null": own(
        real(),
        "Difference to test against.",
        "Difference to test against",
        page_help="0 asks whether there is any difference.",
        usual=0.0,
    ),
    "alpha": FIELDS["alpha"],
    "effect": own(
        real(),
        TRUE_EFFECT.help,
        "Smallest difference that matters",
        note=", for the power: the smallest that matters. [the observed one]",
        page_help="In the metric's units. Empty takes the observed difference, which only says the p-value again.",
    ),
    "margin": replace(
        SCORE_MARGIN,
        label="Systems count as alike within",
        unit="",
        page_help="In the metric's units: tests for equivalence too, for 'not significant' is not 'alike'.",
    ),
    "correction": own(
        word(ScoreCorrection),
        FIELDS["correction"].help,
        "Correction for many pairs",
        words={name: correction.title for name, correction in CORRECTIONS.items()},
        note="Holm suits every test; Romano and Wolf and the largest t are for means, and find more.",
        usual="holm",
    ),
    "baseline": BASELINE,
    "n_resamples": RESAMPLES,
    "normality_alpha": own(
        BETWEEN, "Level of the test of normality.", "Level of the test of normality", usual=NORMALITY_ALPHA
    ),
    "power_by": own(
        word(PowerBy),
        "Simulate the power by resampling the differences, or from a normal law; or by formula alone.",
        "Simulated by",
        words={
            "bootstrap": "resampling these differences (recommended)",
            "normal": "normal differences with their SD",
            "formula": "nothing: by formula alone",
        },
        usual="bootstrap",
    ),
    "power_sizes": own(
        listed(number_list(int, least=2, most=MOST_NEEDED), "LIST"),
        "Numbers of items, or of clusters, to give the power for: 50:500:50. [1/4 to 4 times those at hand]",
        "Numbers of items",
        page_help="Such as 50:500:50. Empty: a quarter to four times those of the file.",
    ),
    "power": replace(TARGET, start=""),
}


def _scores(given: TypedValues, calls: Calls) -> None:
    if given["run_column"] is not None:
        test_of_runs(given, calls)
        return
    if "-" in given["files"]:
        calls.no_program("standard input is read once")
    options = {name: given.given(name) for name in _TESTING if name != "question"}
    question = (
        _question(given["question"], given["procedure"]) if isinstance(calls, Caller) else given["question"]
    )
    lists = {name: list(given[name] or ()) or None for name in ("scores", "systems")}
    columns = {name: given.given(name) for name in _READING if name != "files" and name not in lists}
    read = call("hp.compare.read_scores", *given["files"], **columns, **lists)
    tables: Any = calls.let("tables", read)
    if isinstance(calls, Caller):
        _announce_work(tables, given, calls)
    calls.let(
        "result",
        call(
            "hp.compare.scores",
            tables,
            question=question,
            **{**options, "power_sizes": list(given["power_sizes"] or ()) or None},
            independent=True if given["dataset"] is not None else None,
            **calls.run(given),
        ),
    )


def _question(question: Question | None, procedure: Procedure) -> Question | None:
    """The question of the user, who is asked in a terminal where it is missing, before any file is read."""
    from humeval_power.comparisons.scores.comparison import checked_question

    if question is not None or procedure != "question" or not sys.stdin.isatty():
        return checked_question(question, procedure)
    say("What is asked? It is decided before the scores are looked at.", err=True)
    for name, words in ASKED_QUESTIONS.items():
        say(f"  {name}: {words}", err=True)
    answer: Question = click.prompt("Question", type=click.Choice(tuple(ASKED_QUESTIONS)), err=True)
    return answer


def _announce_work(tables: Mapping[str, ScoreTable], given: TypedValues, calls: Caller) -> None:
    """Say how long resampling and simulating will take for these tables, or refuse it."""
    from humeval_power.comparisons.scores.power import curve_sizes
    from humeval_power.studies.power.typed import tell_work
    from humeval_power.studies.power.workload import NOTHING, comparison_workload

    n_resamples = given["n_resamples"] or DEFAULT_RESAMPLES
    n_simulations = given["simulations"] or CURVE_SIMULATIONS
    sizes = () if given["power_by"] == "formula" else given["power_sizes"]
    simulated, resampled = NOTHING, NOTHING
    for table in tables.values():
        pairs = math.comb(len(table.systems), 2)
        resampled += comparison_workload("compare", table.n_items, n_simulations=pairs * n_resamples)
        if pairs > 1:
            continue  # there the power of no pair is simulated
        n = table.n_items if table.clusters is None else table.clusters.n_clusters
        for size in curve_sizes(n) if sizes is None else sizes:
            simulated += comparison_workload(
                "compare", size, n_simulations=n_simulations, n_jobs=calls.slots
            )
    tell_work(simulated, n_simulations=n_simulations)
    tell_work(resampled, n_simulations=n_resamples, option="--resamples")


_SD_OF_DIFFERENCES = {"sd-difference": "data_analysis.difference.sd", "effect": "power.difference"}
SCORES = Declaration(
    ("compare", "scores"),
    """Compare systems by a metric's scores of the same items.

    FILE has one row an item and one column a system, or the columns item,
    system, score; or it holds two columns of numbers and no header; or two
    files hold one number a line, A first. --config takes files and options from
    a TOML file.
    """,
    {**_READING, "run_column": RUN, **_TESTING},
    _scores,
    Page(
        "Two or more systems by a metric",
        "Scores of the same items: look at the data, test, say how large the difference is, and what power there "
        "was.",
        (
            Part("The scores", ("files", "systems", "scores", "cluster")),
            Part(
                "Step 1: the data",
                ("unit_size", "unit_by", "shuffle_seed", "normality_alpha", "drop_missing"),
                "Leave this as it is where each item stands for itself. Sentences of one document do not: name "
                "their clusters above, or make a unit of them. What the test of normality says is shown and "
                "decides nothing by itself.",
                folded=True,
            ),
            Part(
                "Step 2: the test",
                ("question", "test", "alternative", "alpha", "null", "n_resamples", "procedure"),
            ),
            Part(
                "Step 3: the size of the effect",
                ("margin",),
                "Every effect size is shown with its interval: the difference itself, Cohen's d, Hedges' g, "
                "Wilcoxon's r, Hodges-Lehmann, and the share of items on which B is better.",
            ),
            Part("Step 4: the power", ("effect", "power", "power_sizes", "power_by", "simulations")),
            Part(
                "More than two systems, or several data sets",
                ("correction", "baseline", "dataset", "item", "system", "seed"),
                folded=True,
            ),
        ),
        (
            Next(
                ("compare", "power"),
                "Power of the next test set",
                ("alternative", "alpha"),
                fills={**_SD_OF_DIFFERENCES, "n": "test.n"},
            ),
            Next(
                ("compare", "size"),
                "Items that the next test set needs",
                ("alternative", "alpha"),
                fills=_SD_OF_DIFFERENCES,
            ),
        ),
        live={"power-by": "formula", "resamples": "1000"},
    ),
    arguments=("files",),
    simulates=True,
)


def _gate(given: TypedValues, calls: Calls) -> None:
    paths = {given[name]: name for name in ("baseline", "candidate")}
    if "-" in paths or len(paths) < 2:
        raise click.UsageError("Name two files, or two folders of logs: the baseline, then the candidate.")
    absent = [path for path in paths if not os.path.exists(path)]
    if absent:
        raise InputError([Problem("There is no such file or folder.", "", place=path) for path in absent])
    read = call(
        "hp.compare.read_scores",
        *paths,
        names=paths,
        scores=list(given["scores"] or ()) or None,
        **{name: given.given(name) for name in ("item", "cluster", "drop_missing")},
    )
    table = call("next", call("iter", Call("values", on=calls.let("tables", read))))
    options = {name: given.given(name) for name in ("margin", "fails", "alpha", "lower_is_better")}
    calls.let("result", call("hp.compare.gate", table, **options))


GATE = Declaration(
    ("compare", "gate"),
    """May a change go in? Ends with 0 where it may, with 3 where not.

    BASELINE and CANDIDATE are logs of a harness or folders of them, or files
    with a number a line, of the same items. The change fails where it is shown
    to be worse by more than --margin; with --fails unproven where it is not
    shown that it is not.
    """,
    {
        "baseline": own(
            text("BASELINE"),
            "",
            "Scores of the baseline",
            page_help="A log of a harness, a folder of logs, or a file with a number a line.",
            needed=True,
        ),
        "candidate": own(
            text("CANDIDATE"),
            "",
            "Scores of the candidate",
            page_help="The same of the same items, after the change.",
            needed=True,
        ),
        "scores": SCORE_TABLE["scores"],
        "margin": replace(SCORE_MARGIN, kind=real(0), label="How much worse is let through", usual=0.0),
        "fails": own(
            word(("worse", "unproven")),
            "Fail where it is shown to be worse by more than the margin, or where it is not shown that it is not.",
            "It fails where it is",
            words={"worse": "shown to be worse", "unproven": "not shown to be as good"},
            usual="worse",
        ),
        "lower_is_better": LOWER_SCORES,
        "alpha": ALPHA,
        "item": ITEM,
        "cluster": CLUSTER_OR_LINES,
        "drop_missing": DROP_MISSING,
    },
    _gate,
    Page(
        "May a change go in?",
        "Scores before and after a change: is it worse by more than you let through?",
        (
            Part("The scores", ("baseline", "candidate", "scores", "cluster")),
            Part("The rule", ("margin", "fails", "alpha", "lower_is_better")),
        ),
        (Next(("compare", "scores"), "The whole comparison", ("cluster",)),),
        is_quick=True,
    ),
    arguments=("baseline", "candidate"),
)
_MEAN = replace(
    TRUE_EFFECT,
    label="Expected difference B - A",
    note=MEAN_DIFFERENCE,
    unit="in the metric's units",
    slider=(0, 0.2),
    step=0.005,
    start="0.02",
    page_help="The mean over items, in the units of the metric.",
    needed=True,
)
_SD = replace(
    ITEM_DIFFERENCES,
    slider=(0.01, 1),
    step=0.01,
    start="0.1",
    page_help="From scores of systems like yours: the page of two systems shows it.",
    needed=True,
)
PROSPECTIVE = chain(
    ("compare", "prospective"),
    """How many items does the comparison need?

    For the paired t test, by formula: differences are taken as normal. With
    --margin for two one-sided t tests of equivalence, where --effect is the true
    difference, 0 at best.
    """,
    CallStep(
        "result",
        "hp.compare.prospective",
        {
            "effect": _MEAN,
            "sd": _SD,
            "power": TARGET,
            "alternative": ALTERNATIVE,
            "alpha": FIELDS["alpha"],
            "margin": replace(
                SCORE_MARGIN,
                label="Show that they are alike within",
                page_help="Asks for equivalence in the place of a difference; the expected difference is then 0 "
                "at best.",
            ),
        },
        "effect",
    ),
    arguments=(),
    page=Page(
        "Items for a comparison by a metric",
        "Before there are scores: how large must the test set be?",
        (
            Part("What is expected", ("effect", "sd")),
            Part("The test", ("power", "alternative", "alpha", "margin")),
        ),
        (
            Next(
                ("compare", "power"),
                "Power with another number of items",
                ("sd-difference", "alternative", "alpha"),
                fills={"n": "n", "effect": "mean"},
            ),
        ),
        is_quick=True,
    ),
)
_CHANGED = {"unit": "items", "slider": (0, 200), "needed": True}
PRIMER = chain(
    ("compare", "primer"),
    """The bootstrap primer's p of counts, exactly.

    Of items scored 0 or 1: how many B helped, and how many it hurt. With the
    picture of the resampled means, and what tests say of the same counts. For
    scores in a file: compare scores FILE --test primer --alternative greater.
    """,
    CallStep(
        "result",
        "hp.compare.primer",
        {
            "n": replace(
                SIZE_OF_SAMPLE,
                kind=whole(1, MOST_PRIMER_ITEMS),
                label="Items in all",
                note=TEST_ITEMS,
                unit="items",
                slider=(50, 5000),
                step=50,
                start="500",
                needed=True,
            ),
            "helped": own(
                whole(0),
                "Items on which B is right and A wrong.",
                "Items helped",
                start="10",
                page_help="B is right and A wrong.",
                **_CHANGED,
            ),
            "hurt": own(
                whole(0),
                "Items on which A is right and B wrong.",
                "Items hurt",
                start="7",
                page_help="A is right and B wrong.",
                **_CHANGED,
            ),
        },
        "n",
    ),
    arguments=(),
    page=Page(
        "The bootstrap primer's p of counts",
        "What Jansen's primer would say of items helped and hurt, exactly, beside what tests say of them.",
        (Part("Counts", ("n", "helped", "hurt")),),
        (
            Next(
                ("accuracy", "test"),
                "Test these counts",
                ("n",),
                fills={"only-b": "n_helped", "only-a": "n_hurt"},
            ),
        ),
        is_quick=True,
    ),
)


def _joined(values: Iterable[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


def _primer_table(given: TypedValues, calls: Calls) -> None:
    ACCURACIES.check(given["effects"])
    n, effects, hurt = (
        None if given.given(name) is None else list(given[name]) for name in ("n", "effects", "hurt")
    )
    sizes = () if n is None else (n,)
    calls.let("result", call("hp.compare.primer_table", *sizes, effects=effects, hurt=hurt))


_SHARES = listed(number_list(float, least=0, most=1), "LIST")
PRIMER_TABLE = Declaration(
    ("compare", "primer-table"),
    """Expected p of the bootstrap primer, exactly.

    By number of items, difference of accuracy and share of items that B gets
    wrong and A right. The primer's p is one-sided and not centred at the null:
    read it as the primer does, not as a test.
    """,
    {
        "n": own(
            listed(number_list(int, least=2, most=MOST_PRIMER_ITEMS), "LIST"),
            SAMPLE_SIZE,
            "Numbers of items",
            note=TEST_ITEMS,
            start="100,500,2000",
            usual=_joined(PRIMER_ITEMS),
        ),
        "effects": own(
            _SHARES,
            TRUE_EFFECT.help,
            "Differences of accuracy",
            note=ACCURACY_DIFFERENCE,
            page_help="Shares: 0.01 is one point of a hundred.",
            usual=_joined(PRIMER_EFFECTS),
            option="effect",
        ),
        "hurt": own(
            _SHARES,
            "Shares of items on which B is wrong and A right.",
            "Shares of items hurt",
            page_help="Items that B gets wrong and A right.",
            usual=_joined(PRIMER_HURT[::2]),
            option="hurt-share",
        ),
    },
    _primer_table,
    Page(
        "A table of the bootstrap primer's p",
        "What Jansen's primer would say, exactly: by number of items, difference of accuracy and items hurt.",
        (Part("The table", ("n", "effects", "hurt")),),
    ),
)
QUESTIONS = Questions(
    "compare",
    WORDING,
    n=replace(
        SIZE_OF_SAMPLE,
        label="Items",
        note=TEST_ITEMS,
        unit="items",
        slider=(10, 5000),
        step=10,
        start="200",
    ),
    effect=replace(
        TRUE_EFFECT,
        label="True difference B - A",
        note=MEAN_DIFFERENCE,
        unit="in the metric's units",
        slider=(0, 0.2),
        step=0.005,
        start="0.02",
    ),
    fields={
        "sd": _SD,
        "test": own(
            word(("t", "wilcoxon")),
            TEST_HELP,
            "Test",
            words={"t": "paired t test (recommended)", "wilcoxon": "Wilcoxon signed-rank test"},
            usual="t",
        ),
        "alternative": ALTERNATIVE,
        "alpha": ALPHA,
    },
    comparison=lambda n, effect, given: call(
        "hp.compare.NormalScores",
        n,
        effect,
        given["sd"],
        **{name: given[name] for name in ("test", "alternative", "alpha")},
    ),
    largest_effect=lambda given: 10.0 * float(given["sd"]),
    page=QuestionPage(
        "a comparison by a metric",
        (Part("The scores", ("sd",)), Part("The test", ("test", "alternative", "alpha"))),
    ),
)


class FileFirst(OpenGroup):
    """A group in which a word that is no command is a file for the command `scores`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `scores` before anything that is neither a command nor an option of the group."""
        if args and args[0] not in self.list_commands(ctx) and args[0] not in ctx.help_option_names:
            args = ["scores", *args]
        return super().parse_args(ctx, args)


SUBJECT = Subject(
    "compare",
    """Compare systems by a metric's scores of the same items.

    `compare FILE --question mean` is short for `compare scores FILE ...`.
    Before there are scores: prospective says how many items are needed.
    """,
    (SCORES, GATE, PROSPECTIVE, PRIMER, PRIMER_TABLE, QUESTIONS),
    group=FileFirst,
)
command = SUBJECT.command()
