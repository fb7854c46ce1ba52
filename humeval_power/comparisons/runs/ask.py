"""`humeval-power compare runs`: scores of repeated generations, and of several prompts or seeds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import click

from humeval_power.asking.calls import ELSEWHERE, TypedValues
from humeval_power.asking.declared import Calls, CallStep, Declaration, Page, Part, chain
from humeval_power.asking.expressions import Call, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.options import link_of
from humeval_power.asking.study_file import EffectRange, any_number
from humeval_power.asking.vocabulary import (
    CLUSTER,
    COMPARED,
    DROP_MISSING,
    ITEM,
    ITEM_SD_HELP,
    MOST_RUNS_HELP,
    ONE_SCORE,
    RUN,
    SCORE_MARGIN,
    SIZE_OF_SAMPLE,
    SYSTEM,
    TRUE_EFFECT,
    TWO_OR_MORE,
    systems_typed,
)
from humeval_power.comparisons.questions import Given, QuestionPage, Questions, Subject
from humeval_power.comparisons.runs.wording import WORDING
from humeval_power.errors import InputError, ParametersError
from humeval_power.fields import MONEY, Field, flag, names, own, real, text, whole, word
from humeval_power.rules import WITH_MARGIN
from humeval_power.runs_parameters import RunsFamily, RunsKind, RunsParameters
from humeval_power.study import COLUMN, FIELDS

_TABLE = {
    "table": own(
        text("TABLE"),
        "",
        "Table, or the log of a harness",
        page_help="A row for each item, system and run, with a score; or a log of lm-evaluation-harness, Inspect, "
        "HELM and others.",
        needed=True,
    ),
    "run": own(
        COLUMN,
        RUN.help,
        "Column of the run",
        note="[found]",
        page_help="Generation, prompt or seed. [found]",
    ),
    "item": ITEM,
    "system": SYSTEM,
    "score": ONE_SCORE,
    "systems": COMPARED,
    "cluster": CLUSTER,
    "drop_missing": DROP_MISSING,
}
_READ = CallStep("table", "hp.runs.read_runs", _TABLE, "table")
_SCORES = Part("The scores", ("table", "systems", "run", "cluster"))
_COLUMNS = Part("Columns", ("item", "system", "score", "drop_missing"), folded=True)
_READ_LINKS = tuple(link_of(name, one) for name, one in _TABLE.items())
_KINDS = {
    "nested": own(
        flag(),
        "Each item has runs of its own: generations.",
        "Each item has runs of its own: generations",
        sets="kind",
    ),
    "crossed": own(
        flag(),
        "All items have the same runs: prompts, seeds.",
        "All items have the same runs: prompts or seeds",
        sets="kind",
    ),
}
_FAMILY = own(
    word(RunsFamily),
    FIELDS["family"].help,
    "What a score is",
    note=": numbers, or right and wrong. [binary if all are 0 or 1]",
    words={"gaussian": "a number", "binary": "right or wrong, 1 or 0"},
)
_RULE = {
    "alternative": FIELDS["alternative"],
    "margin": replace(SCORE_MARGIN, label="Margin"),
    "alpha": FIELDS["alpha"],
}
_DECISION = tuple(_RULE)


def _to_power(counted: str, needs: str) -> Next:
    """To the power of such a comparison, which counts generations or prompts by options of their own."""
    return Next(
        ("runs", "power"),
        "Power of the next comparison",
        _DECISION,
        brings={"pilot": "record.json"},
        fills={"n": "rows.0.n_items", "effect": "rows.0.estimate", counted: "comparisons.0.n_labels"},
        needs=(needs,),
    )


_SPREAD_OF = {"runs": "parameters.sd_run_a", "prompts": "parameters.sd_prompt_slope"}
TEST = chain(
    ("runs", "test"),
    """Compare systems by generations, prompts or seeds.

    TABLE has one row for each item, system and run. Of generations the items
    are the sample; prompts and seeds are a sample too. Written with -o, the
    record (.json) is the pilot that planning reads.
    """,
    _READ,
    CallStep("result", "hp.runs.test", {**_KINDS, "family": _FAMILY, **_RULE}),
    page=Page(
        "Systems by several generations or prompts",
        "Is B better than A, where answers were sampled several times, or under several prompts or seeds?",
        (
            _SCORES,
            Part(
                "What a run is",
                tuple(_KINDS),
                "Leave both empty where the table says it. Prompts and seeds are a sample as items are: with five "
                "of them the answer stays uncertain, however many items there are.",
                one_of=tuple(_KINDS),
            ),
            Part("The test", ("family", *_RULE)),
            _COLUMNS,
        ),
        next=(
            *(_to_power(counted, needs) for counted, needs in _SPREAD_OF.items()),
            Next(
                ("runs", "budget"),
                "Items or runs: what a budget buys",
                _DECISION,
                brings={"pilot": "record.json"},
                sets={"budget": "100", "cost-per-call": "0.01"},
                fills={"effect": "rows.0.estimate"},
            ),
            Next(("runs", "check"), "What the runs of this table are", _READ_LINKS),
        ),
    ),
)
CHECK = chain(
    ("runs", "check"),
    """Say whether runs are nested in items or crossed with them.

    TABLE has one row for each item, system and run: generations of an answer
    are nested in items; prompts and seeds are crossed with them.
    """,
    _READ,
    CallStep("result", "hp.runs.check", {}),
    page=Page(
        "Generations, or prompts?",
        "Whether the runs of a table are nested in items or crossed with them: it decides how they are compared.",
        (_SCORES, _COLUMNS),
        next=(Next(("runs", "test"), "Compare the systems", _READ_LINKS),),
    ),
)
_NUMBER = replace(real(), metavar="NUMBER")


def _sd(help: str, label: str, **further: Any) -> Field:
    """A standard deviation."""
    return own(_NUMBER, help, label, unit="SD", **further)


_DEVIATIONS = {
    "sd_item": _sd(
        ITEM_SD_HELP,
        "Items' true differences",
        note=", their true differences B - A.",
        slider=(0, 2),
        step=0.01,
        start="0.3",
    ),
    "icc": own(
        _NUMBER,
        "Correlation of the true differences of items of a cluster. [0]",
        "Correlation of items of a cluster",
        slider=(0, 1),
        step=0.01,
    ),
    "sd_run": _sd(
        "Nested: SD of single runs of an item, of both systems.",
        "Generations of an item",
        slider=(0, 2),
        step=0.01,
        start="0.4",
    ),
    "sd_run_a": _sd("Nested: the same of A.", "Generations of A, where they differ"),
    "sd_run_b": _sd("Nested: the same of B.", "Generations of B"),
    "sd_prompt_slope": _sd("Crossed: SD of prompts' own differences B - A.", "Prompts' own differences"),
    "sd_residual": _sd("Crossed numbers: SD of single scores.", "Single scores under prompts"),
    "sd_item_level": _sd(
        "Crossed, right and wrong: SD of items' levels. [0]",
        "Right and wrong under prompts: items' levels",
    ),
    "sd_prompt_level": _sd("Crossed, right and wrong: SD of prompts' levels. [0]", "And prompts' levels"),
    "baseline": own(
        _NUMBER,
        "Right and wrong: share that is right, halfway between A and B.",
        "Share that is right",
        page_help="Of right and wrong: halfway between A and B.",
        option="mean-accuracy",
    ),
}
_PARAMETERS = {
    "pilot": own(
        text("FILE"),
        FIELDS["pilot"].help,
        "A pilot's record",
        note=": the record of 'compare runs test', pilot.json.",
        page_help="What 'Systems by several generations or prompts' writes.",
    ),
    "systems": own(
        names(systems_typed(TWO_OR_MORE, distinct=True), "A,B"),
        FIELDS["systems"].help,
        "Its pair of systems",
        note=": the pair of the pilot's, where it has several.",
        page_help="Names with a comma between, where it has several.",
        usual=(),
    ),
    **_KINDS,
    "nested": replace(_KINDS["nested"], start="1"),
    "family": replace(_FAMILY, note=": numbers, or right and wrong. [gaussian]"),
    **_DEVIATIONS,
}
_GENERATIONS, _PROMPTS = whole(1), whole(2)
_COUNTS = {
    "runs": own(
        _GENERATIONS,
        "Nested: runs of each item by each system.",
        "Runs of an item by each system",
        unit="generations",
        slider=(1, 20),
        start="3",
    ),
    "runs_a": own(
        _GENERATIONS, "Nested: runs of each item by A.", "Of A, where they differ", unit="generations"
    ),
    "runs_b": own(_GENERATIONS, "Nested: runs of each item by B.", "Of B", unit="generations"),
    "prompts": own(
        _PROMPTS,
        "Crossed: prompts or seeds, for all items.",
        "Or prompts or seeds for all items",
        unit="prompts",
        slider=(2, 50),
    ),
}
_SIZES = {
    "cluster_size": own(
        real(), "Mean items in a cluster.", "Mean items in a cluster", unit="items", usual=1.0
    ),
    "cluster_cv": own(
        real(),
        "Coefficient of variation of the clusters' sizes.",
        "Variation of the clusters' sizes",
        page_help="SD of the sizes over their mean.",
        usual=0.0,
    ),
}
_PLANNED_RULE = {**_RULE, "margin": replace(_RULE["margin"], kind=_NUMBER)}
_EFFECT = replace(
    TRUE_EFFECT,
    label="True difference B - A",
    note=", in the unit of the scores; of right and wrong a share.",
    unit="in units of the score",
    slider=(0, 0.5),
    step=0.005,
    start="0.1",
    page_help="Of right and wrong, a share.",
)
_NEEDED = {
    ("nested", "gaussian"): ("sd_item", "sd_run"),
    ("nested", "binary"): ("sd_item", "sd_run", "baseline"),
    ("crossed", "gaussian"): ("sd_item", "sd_prompt_slope", "sd_residual"),
    ("crossed", "binary"): ("sd_item", "sd_prompt_slope", "baseline"),
}


def _parameters(given: Given, calls: Calls) -> Any:
    """What scores vary by: the pilot's, changed by what was typed; or what was typed alone."""
    typed = {name: given[name] for name in _DEVIATIONS if name not in _OF_RUNS}
    for name in ("sd_run_a", "sd_run_b"):
        typed[name] = given["sd_run"] if given[name] is None else given[name]
    systems = list(given["systems"]) or None
    options = {"kind": given["kind"], "family": given["family"], **typed}
    with _naming_options():
        if given["pilot"] is not None:
            read = call("hp.runs.read_pilot", given["pilot"], systems=systems, **options)
            return calls.let("parameters", read)
        if systems:
            raise InputError("--systems names a pair of a pilot: give --pilot FILE, or leave it out.")
        _require(given["kind"], given["family"] or "gaussian", typed)
        return calls.let("parameters", call("hp.runs.RunsParameters", **options))


_OF_RUNS = ("sd_run", "sd_run_a", "sd_run_b")


def _require(kind: RunsKind | None, family: RunsFamily, typed: dict[str, Any]) -> None:
    if kind is None:
        raise InputError(
            "Say what the runs are: --nested (generations of each item) or --crossed (the same prompts or seeds "
            "for all items); or give a pilot with --pilot FILE."
        )
    known = {name for name, one in typed.items() if one is not None}
    known |= {"sd_run"} if known >= {"sd_run_a", "sd_run_b"} else set()
    missing = [name for name in _NEEDED[kind, family] if name not in known]
    if missing:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
        raise InputError(
            f"{kind.capitalize()} runs, family {family}, need {listed}; or a pilot with --pilot FILE."
        )


@contextmanager
def _naming_options() -> Iterator[None]:
    """Within it, what is wrong with a parameter is said of the option that gives it."""
    try:
        yield
    except ParametersError as error:
        raise InputError(
            [
                replace(each, place=f"--{(each.column or '').replace('_', '-')}", column=None)
                for each in error.problems
            ]
        ) from None


def _comparison(n: Value, effect: Value, given: Given) -> Call:
    parameters, prompts = given["parameters"], given["prompts"]
    if isinstance(parameters, RunsParameters):  # in a program it is a name
        _check_counts(parameters.kind, given)
    runs = {name: given["runs"] if given[name] is None else given[name] for name in ("runs_a", "runs_b")}
    if prompts is not None:
        runs = dict.fromkeys(runs, prompts)
    rest = {name: given[name] for name in (*_SIZES, *_RULE)}
    return call(
        "hp.runs.runs_scenario",
        parameters,
        call("hp.runs.RunsPlan", n_items=n, **runs, **rest),
        effect=effect,
    )


def _check_counts(kind: RunsKind, given: Given) -> None:
    """Refuse runs of the other kind, and none."""
    both, a, b, prompts = (given[name] for name in _COUNTS)
    if kind == "crossed":
        if prompts is None or any(each is not None for each in (both, a, b)):
            raise InputError(
                "Crossed runs: give --prompts, how many prompts or seeds there are, and no --runs."
            )
    elif prompts is not None or (both is None and None in (a, b)):
        raise InputError("Nested runs: give --runs (or --runs-a and --runs-b), and no --prompts.")


def _effect_range(parameters: RunsParameters) -> EffectRange:
    """Where a true difference can lie."""
    if parameters.family != "binary":
        return any_number({})
    share = parameters.baseline or 0.0
    reach = 2 * min(share, 1 - share)
    return EffectRange(
        -reach,
        reach,
        f"the shares of both systems lie between 0 and 1: around {share:g} the difference is at most {reach:.4g}.",
        "Points of a hundred are hundredths: 2 points are 0.02.",
    )


def _largest_effect(given: Given) -> str:
    if given["alternative"] in WITH_MARGIN:
        raise InputError(
            f"--alternative {given['alternative']}: a smallest effect is that of a difference; leave it out, or "
            "ask 'compare runs power' and 'compare runs size' with --effect 0."
        )
    return "hp.runs.farthest_effect"


def _costed_as(given: Given) -> str:
    parameters: RunsParameters = given["parameters"]
    if parameters.kind == "nested":
        return "runs" if parameters.family == "gaussian" else "runs-answers"
    if parameters.family == "binary":
        return "runs-logit"
    return "runs-unequal" if given["cluster_size"] > 1 else "runs-crossed"


def _most(_given: Given) -> int:
    from humeval_power.comparisons.runs.scenario import MOST_ITEMS

    return MOST_ITEMS


_KIND_PART = Part(
    "What a run is", tuple(_KINDS), "One of them, where no pilot says it.", one_of=tuple(_KINDS)
)
_ASSUMED_PARTS = (
    Part(
        "How scores vary",
        ("pilot", "systems", "family", *(name for name in _DEVIATIONS if name != "icc")),
        "A pilot's record, or these standard deviations.",
    ),
    Part("Clusters of items", (*_SIZES, "icc"), folded=True),
    Part("The test", tuple(_RULE), folded=True),
)
_BUDGET_PARTS = (_KIND_PART, *_ASSUMED_PARTS)
_FOR_BUDGET = (
    *(
        link_of(name, {**_PARAMETERS, **_SIZES, **_PLANNED_RULE}[name])
        for part in _BUDGET_PARTS
        for name in part.fields
    ),
    "effect",
)
QUESTIONS = Questions(
    "runs",
    WORDING,
    n=replace(
        SIZE_OF_SAMPLE,
        label="Items",
        note=": items, answered by both systems.",
        unit="items",
        slider=(10, 2000),
        step=10,
        start="100",
    ),
    effect=_EFFECT,
    fields={**_PARAMETERS, **_COUNTS, **_SIZES, **_PLANNED_RULE},
    before=lambda given, calls: {"parameters": _parameters(given, calls)},
    comparison=_comparison,
    largest_effect=_largest_effect,
    effect_range=lambda given: _effect_range(given["parameters"]),
    costed_as=_costed_as,
    most=_most,
    shows_none=lambda given: given["alternative"] in WITH_MARGIN,
    page=QuestionPage(
        "a comparison over runs",
        (_KIND_PART, Part("The runs", tuple(_COUNTS)), *_ASSUMED_PARTS),
        (Next(("runs", "budget"), "Items or runs: what a budget buys", _FOR_BUDGET),),
    ),
)
_PRICES = {
    "cost_per_call": own(
        MONEY,
        "One answer of one system to one item.",
        "One answer of one system",
        unit="USD",
        start="0.01",
        needed=True,
    ),
    "cost_per_item": own(
        MONEY, FIELDS["cost_per_item"].help, "An item: to write, to grade", unit="USD", usual=Decimal(0)
    ),
    "cost_per_prompt": own(
        MONEY, "Crossed: a prompt to write.", "A prompt to write", unit="USD", usual=Decimal(0)
    ),
    "max_items": own(
        whole(2), "How many items there are at all.", "Items that there are at all", unit="items"
    ),
    "max_runs": own(
        whole(2),
        MOST_RUNS_HELP,
        "Most runs, or prompts, looked at",
        note="of an item, or prompts, looked at. [100]",
        unit="runs",
    ),
}


def _budget(given: TypedValues, calls: Calls) -> None:
    parameters = _parameters(given, calls)
    if isinstance(parameters, RunsParameters):
        _effect_range(parameters).check([given["effect"]])
    plan = {name: given.given(name) for name in (*_SIZES, *_RULE)}
    expression = call(
        "hp.runs.budget",
        parameters,
        call("hp.runs.RunsPlan", n_items=2, runs_a=2, runs_b=2, **plan),
        effect=given["effect"],
        budget=given["budget"],
        **{name: given.given(name) for name in _PRICES},
    )
    calls.let("result", expression)


BUDGET = Declaration(
    ("runs", "budget"),
    """Divide a budget between items and runs, or items and prompts.

    Each item costs its own price and the calls of both systems. What a pilot
    or the options say scores vary by decides which split finds most.
    """,
    {
        "budget": own(
            MONEY, FIELDS["budget"].help, "What there is to spend", unit="USD", start="100", needed=True
        ),
        "effect": replace(_EFFECT, needed=True),
        **_PRICES,
        **_PARAMETERS,
        **_SIZES,
        **_PLANNED_RULE,
    },
    _budget,
    Page(
        "Items, generations or prompts?",
        "How to divide a budget between items and runs, and what one more of each buys.",
        (Part("The budget", ("budget", *_PRICES, "effect")), *_BUDGET_PARTS),
        next=tuple(
            Next(
                ("runs", "power"),
                "Power of the best split",
                _FOR_BUDGET,
                fills={"n": "best.n_items", counted: "best.runs"},
                needs=(needs,),
            )
            for counted, needs in _SPREAD_OF.items()
        ),
        is_quick=True,
    ),
)
SUBJECT = Subject(
    "runs",
    """Compare systems by repeated generations, prompts or seeds.

    Generations are nested in items: more of them make an item's mean precise.
    Prompts and seeds are crossed with items: they are a sample, as raters are.
    """,
    (TEST, CHECK, QUESTIONS, BUDGET),
)
command = SUBJECT.command()


# `--run COLUMN` of `compare scores` and `compare accuracy test`: the same as `compare runs test` of the table.

_TAKEN = {"files", "item", "system", "scores", "systems", "drop_missing", "cluster", "alpha", "run_column"}


def test_of_runs(given: TypedValues, calls: Calls) -> None:
    """Compare the systems of one table by its runs, with what was typed of this command."""
    if len(given["files"]) != 1:
        raise click.UsageError("--run needs one table, with a row for each item, system and run.")
    for parameter in given.context.command.params:
        name = str(parameter.name)
        is_of_means = name == "question" and given[name] == "mean"
        if given.was_stated(name) and name not in {*_TAKEN, *ELSEWHERE, "seed"} and not is_of_means:
            raise click.UsageError(
                f"{parameter.opts[0]} is no option of tests of runs, which compare means: leave it out, or see "
                "'humeval-power compare runs test --help'."
            )
    scores = given["scores"] or (None,)
    if len(scores) > 1:
        raise click.UsageError("--run takes one --score.")
    named = {name: given.given(name) for name in ("item", "system", "cluster", "drop_missing")}
    systems = list(given["systems"] or ()) or None
    read = call(
        "hp.runs.read_runs",
        *given["files"],
        systems=systems,
        **named,
        run=given["run_column"],
        score=scores[0],
    )
    calls.let("result", call("hp.runs.test", calls.let("table", read), alpha=given.given("alpha")))
