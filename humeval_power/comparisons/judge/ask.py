"""`humeval-power judge`: what an automatic judge of further items is worth in human ratings, and how good it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.command import Use, needs
from humeval_power.asking.declared import Calls, CallStep, Declaration, Page, Part, chain
from humeval_power.asking.expressions import call
from humeval_power.asking.form import Next
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import (
    BASELINE,
    CLUSTER,
    COMPARED,
    CONFIDENCE,
    FURTHER_PRICES,
    FURTHER_PRICES_TITLE,
    HALF_WIDTH_HELP,
    MOST_RUNS_HELP,
    ONE_PRICE,
    PRICES,
    PRICES_NOTE,
    REJECTED_ROWS,
    SCORE_CORRELATION,
    SCORE_SD,
    SEED,
    SIMULATIONS,
    SIZE_OF_SAMPLE,
    column,
)
from humeval_power.choices import DEFAULT_JUDGE_RUNS, MOST_JUDGE_RUNS, Allocation, LabelOrigin
from humeval_power.comparisons.questions import Subject
from humeval_power.fields import (
    Field,
    flag,
    listed,
    names,
    own,
    parts_of,
    real,
    shortened,
    text,
    whole,
    word,
)
from humeval_power.studies.plan.ask_held import plan_path
from humeval_power.studies.resolve import PRICES as ALL_PRICES
from humeval_power.studies.resolve import (
    assumptions_of,
    cost_model_of,
    effect_of,
    only_setting,
    rule_of,
    source_needed_but_no_pilot,
    warn_beyond,
)
from humeval_power.study import COLUMN, FIELDS, SECTIONS

if TYPE_CHECKING:
    from humeval_power.studies.power.workload import Workload

_MOST_WORKERS = 100  # more would be searched for minutes
_EXTRA = own(
    whole(0),
    "Items scored by the judge alone.",
    "Items scored by the judge alone",
    unit="items",
    slider=(0, 10000),
    step=50,
    start="1000",
    needed=True,
)
_CORRELATION = own(
    real(-1, 1),
    SCORE_CORRELATION,
    "Correlation of the judge with people",
    note=": of the judge, as the description says.",
    slider=(-1, 1),
    step=0.01,
    start="0.7",
    needed=True,
)
_SD = replace(
    SCORE_SD,
    label="SD of the human values",
    note=": of the human values.",
    start="1",
    usual=1.0,
)
MEAN = chain(
    ("judge", "mean"),
    """How precise is a mean of human values with a judge's help?

    The correlation is that of the judge with the human values as they are,
    noise and all. For a comparison the values are differences B - A.
    """,
    CallStep(
        "result",
        "hp.judge.mean",
        {
            "n": replace(
                SIZE_OF_SAMPLE,
                label="Items with a human value",
                note=": items with a human value.",
                unit="items",
                slider=(10, 2000),
                step=10,
                start="100",
                needed=True,
            ),
            "extra": _EXTRA,
            "correlation": _CORRELATION,
            "sd": _SD,
            "sd_judge": own(
                _SD.kind,
                "The same of the judge's. [as humans]",
                "SD of the judge's",
                page_help="Empty: as of people.",
            ),
        },
    ),
    page=Page(
        "A judge beside human values",
        "How precise is a mean of human values with a judge's help, and how many values does the judge save?",
        (
            Part(
                "The values",
                ("n", "extra", "correlation", "sd", "sd_judge"),
                "For a comparison the values are differences B - A.",
            ),
        ),
        (Next(("judge", "study"), "In a study of workers and items", ("extra", "correlation")),),
        is_quick=True,
    ),
)
_SOURCES = {
    "parameters": replace(FIELDS["parameters"], label="Parameters of your pilot"),
    "preset": replace(FIELDS["preset"], label="Published setting", start="high", words={}),
    "allow_not_identified": FIELDS["allow_not_identified"],
    "values": FIELDS["values"],
    "scale": replace(FIELDS["scale"], label="Scale that you rate on", start="", page_help="Such as 1:5."),
    "lower_is_better": replace(
        FIELDS["lower_is_better"],
        label="Direction of the scale",
        words={"1": "lower is better", "0": "higher is better"},
    ),
}
_KNOWN = Part("What is known of such ratings", ("preset", "parameters", "scale", "lower_is_better"))
_EFFECTS = {
    "effect": own(
        real(),
        FIELDS["effect"].help,
        "True difference B - A",
        note="on [0, 1].",
        unit="on [0, 1]",
        slider=(0, 0.3),
        step=0.005,
        start="0.1",
    ),
    "effect_raw": own(real(), FIELDS["effect_raw"].help, "The same in points of the scale"),
}
_RULE = {
    name: FIELDS[name]
    for name in ("estimator", "df", "alternative", "analysis", "margin", "margin_raw", "alpha")
}
_NEEDS = (source_needed_but_no_pilot, needs("--effect or --effect-raw", tuple(_EFFECTS)))


def _assumed(given: TypedValues) -> tuple[Any, dict[str, Any]]:
    """The parameters, and what a study is asked with besides: the effect, the rule, the name of the setting."""
    study = StudyValues.of(given.context)
    effect, assumed = effect_of(study), assumptions_of(study)
    assert effect is not None  # asked for before
    difference = effect.one(assumed.scale)
    warn_beyond(study, assumed, [difference])
    setting, parameters = only_setting(assumed)
    return parameters, {"effect": difference, "rule": rule_of(study), "setting": setting}


def _study(given: TypedValues, calls: Calls) -> None:
    parameters, options = _assumed(given)
    size = {name: given[name] for name in ("workers", "items", "ratings_per_item")}
    judge = {name: given[name] for name in ("extra", "correlation")}
    calls.let("result", call("hp.judge.study", parameters, **size, **judge, **options))


STUDY = Declaration(
    ("judge", "study"),
    """How many human ratings does a judge save in a study of workers and items?

    The correlation is that of the judge's difference on an item with the
    item's true difference. The judge cannot foretell how workers differ, nor
    the noise of their ratings: what those contribute stays.
    """,
    {
        **_SOURCES,
        "workers": replace(FIELDS["workers"], needed=True, start="20"),
        "items": replace(FIELDS["items"], needed=True, start="100"),
        "ratings_per_item": replace(FIELDS["ratings_per_item"], start=""),
        **_EFFECTS,
        "extra": _EXTRA,
        "correlation": _CORRELATION,
        **_RULE,
    },
    _study,
    Page(
        "A judge in a rating study",
        "How many ratings does a judge save where workers rate items?",
        (
            Part("The study", ("workers", "items", "ratings_per_item", *_EFFECTS)),
            Part("The judge", ("extra", "correlation")),
            _KNOWN,
            Part("The test", ("alpha",)),
        ),
        (
            Next(
                ("power",),
                "Power without a judge",
                (
                    "workers",
                    "items",
                    "ratings-per-item",
                    "effect",
                    "preset",
                    "parameters",
                    "scale",
                    "alpha",
                ),
            ),
        ),
        is_quick=True,
    ),
    needs=_NEEDS,
    of_study=True,
)


def _plan(given: TypedValues, calls: Calls) -> None:
    from humeval_power.comparisons.judge.calls import BUDGET_SIMULATIONS, PLAN_SIMULATIONS

    parameters, options = _assumed(given)
    usual = PLAN_SIMULATIONS if given["budget"] is None else BUDGET_SIMULATIONS
    n_simulations = given["simulations"] or usual

    def ahead(work: Workload) -> None:
        from humeval_power.studies.power.typed import tell_work

        tell_work(work, n_simulations=n_simulations, way_out="--no-proof")

    options |= {"ahead": ahead, "costs": cost_model_of(StudyValues.of(given.context))}
    expression = call(
        "hp.judge.plan",
        parameters,
        extra=given["judged_extra"],
        correlation=_one_or_several(given["judge_correlation"]),
        power=given["power"] if given["budget"] is None or given.was_stated("power") else None,
        budget=given["budget"],
        between=given["judges_between"],
        reliability=_one_or_several(given["judge_reliability"]),
        max_runs=given["max_runs"] if given.was_stated("max_runs") else None,
        price_per_score=_one_or_several(given["cost_per_score"] or (0,)),
        workers=(given["min_workers"], given["max_workers"]),
        max_ratings_per_item=given["max_ratings_per_item"],
        max_ratings_per_worker=given["max_ratings_per_worker"],
        n_simulations=0 if given["no_proof"] else n_simulations,
        seed=given["seed"],
        **options,
    )
    calls.let("result", expression)


def _sought(said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
    """A budget buys the most power; who types the power to reach asks what it costs."""
    if "power" in typed:
        return ("budget",)
    return ("power",) if "budget" in {*said, *typed} else ()


def _one_or_several(given: Any) -> Any:
    """A number that is alone as it is."""
    return given[0] if isinstance(given, tuple) and len(given) == 1 else given


PLAN = Declaration(
    ("judge", "plan"),
    """How many human labels does a study with a judge need, and by whom?

    Every number of workers and of ratings of an item is tried; the cheapest
    study that has the power is proved by simulated studies, analysed as
    'judge estimate' analyses them. Beside it: the cheapest without a judge.
    With --budget: raters, items, ratings, judged items, judges and runs that
    have the most power for the amount, and where judges cannot help.
    """,
    {
        **_SOURCES,
        **_EFFECTS,
        "judged_extra": replace(
            FIELDS["judged_extra"],
            help="Most items scored by the judge alone.",
            needed=True,
            option="max-extra",
        ),
        "judge_correlation": replace(
            FIELDS["judge_correlation"],
            needed=True,
            start="0.7",
            option="correlation",
            help=SCORE_CORRELATION,
            note=": of a judge's differences with the items' true ones, but for the noise of its runs; of several "
            "judges one each.",
        ),
        "power": FIELDS["power"],
        "budget": replace(
            FIELDS["budget"],
            note="The most powerful study for it is found, in the place of the cheapest that has the power.",
            page_help="The most powerful study for this amount; empty: the cheapest that has the power.",
        ),
        "cost_per_score": FIELDS["cost_per_score"],
        "judge_reliability": replace(
            FIELDS["judge_reliability"],
            note="Where there is a budget. [1]",
            option="reliability",
        ),
        "judges_between": replace(
            FIELDS["judges_between"],
            note="Where there is a budget.",
            option="between",
        ),
        "max_runs": own(
            whole(1, MOST_JUDGE_RUNS),
            MOST_RUNS_HELP,
            "Most runs of an item",
            note="of a judge on an item, where there is a budget.",
            usual=DEFAULT_JUDGE_RUNS,
        ),
        "min_workers": own(
            whole(2, _MOST_WORKERS), "Fewest workers to try.", "Fewest workers", unit="workers", usual=5
        ),
        "max_workers": replace(
            FIELDS["max_workers"], kind=whole(2, _MOST_WORKERS), slider=None, main=False
        ),
        "max_ratings_per_item": own(
            whole(1),
            "Most ratings of an item under each system.",
            "Most ratings of an item",
            unit="for each system",
            usual=5,
        ),
        "max_ratings_per_worker": FIELDS["max_ratings_per_worker"],
        **{name: FIELDS[name] for name in ALL_PRICES},
        "cost_per_rating": replace(FIELDS["cost_per_rating"], start="0.10"),
        **_RULE,
        "simulations": replace(
            SIMULATIONS,
            label="Simulated studies that prove it",
            page_help="400 where nothing is said, 100 with a budget.",
        ),
        "no_proof": own(
            flag(),
            "Leave out the simulated studies that prove the plan.",
            "Leave the proof out",
            usual=False,
        ),
        "seed": SEED,
    },
    _plan,
    Page(
        "Human labels for a study with a judge",
        "How many human labels does it take, by how many workers, and at what cost? The cheapest study with the "
        "judge, and beside it the cheapest without.",
        (
            Part("The difference to find", tuple(_EFFECTS), one_of=tuple(_EFFECTS)),
            Part("The judge", ("judged_extra", "judge_correlation", "cost_per_score")),
            Part(
                "Several judges and runs",
                ("judge_reliability", "max_runs", "judges_between"),
                "With a budget.",
                folded=True,
            ),
            Part(
                "What is possible",
                (
                    "power",
                    "budget",
                    "min_workers",
                    "max_workers",
                    "max_ratings_per_item",
                    "max_ratings_per_worker",
                ),
            ),
            _KNOWN,
            Part(SECTIONS["cost"].title, PRICES, PRICES_NOTE, one_of=ONE_PRICE),
            Part(FURTHER_PRICES_TITLE, FURTHER_PRICES, folded=True),
            Part("The proof", ("simulations", "no_proof", "seed"), folded=True),
        ),
    ),
    needs=_NEEDS,
    of_study=True,
    use=Use(seeks=_sought),
)
_TABLE = own(
    text("TABLE"),
    "",
    "Table",
    page_help="A row for each rating: item, human, judge, and worker and system.",
    needed=True,
)
_WORKER = column("worker")


def _columns_typed(typed: str) -> tuple[str, ...]:
    """Names of columns with commas between them."""
    names = tuple(name for name in parts_of(typed) if name)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"name columns with commas between them: A,B; got {shortened(typed)!r}.")
    return names


def _words_typed(typed: str) -> dict[str, float]:
    """Words with their numbers: good=1,bad=0."""
    words = {}
    for part in parts_of(typed):
        word, _, number = part.rpartition("=")
        try:
            words[word.strip()] = float(number)
        except ValueError:
            words[word.strip()] = math.nan
        if not word.strip() or not math.isfinite(words[word.strip()]):
            raise ValueError(f"give words with their numbers: good=1,bad=0; got {shortened(typed)!r}.")
    return words


_WORDS_OF = {"type": "object", "additionalProperties": {"type": "number"}}
_READ: Mapping[str, Field] = {
    "human": own(
        names(_columns_typed, "A,B"),
        "Columns of human values; several are several people. [found by name]",
        "Columns of human values",
        page_help="Names with commas between. [found by name]",
    ),
    "judge": own(
        names(_columns_typed, "A,B"),
        "Columns of the judges' scores. [found by name]",
        "Columns of the judges' scores",
        page_help="Names with commas between. [found by name]",
    ),
    "item": column("item"),
    "system": column("system"),
    "worker": _WORKER,
    "cluster": CLUSTER,
    "words": own(
        listed(_words_typed, "A=1,B=0", _WORDS_OF),
        "Numbers of words in these columns. [pass=1,fail=0 and their like]",
        "Numbers of words",
        page_help="good=1,bad=0. [pass and fail, yes and no and their like]",
        further=True,
    ),
    "tuned_on": own(
        COLUMN,
        "Column that marks rows on which the judge was tuned; they are left out.",
        "Rows on which the judge was tuned",
        page_help="A column that marks them: they are left out.",
    ),
    "rejected_rows": REJECTED_ROWS,
}
_DATA: Mapping[str, Field] = {**_READ, "confidence": CONFIDENCE}
_COLUMNS = Part(
    "Columns and words",
    ("human", "judge", "item", "system", "words", "tuned_on"),
    "What is empty is found by its name.",
    folded=True,
)
_DATA_PART = Part("The data", ("table", "rejected_rows", "worker", "cluster"))
_INTERVAL_PART = Part("The interval", ("confidence",))
_SAME_DATA = ("table", "worker", "cluster")
_HOW_WELL = Next(("judge", "agreement"), "How well it agrees with people", _SAME_DATA)


def _table(given: TypedValues, calls: Calls, *further: str) -> Any:
    named = {name: given.given(name) for name in (*_READ, *further)}
    return calls.let("table", call("hp.judge.read_judged", given["table"], **named))


def _names(typed: str | None) -> list[str] | None:
    return None if typed is None else [name.strip() for name in typed.split(",")]


CHECK = chain(
    ("judge", "check"),
    """What does a table of human labels and judges' scores support?

    TABLE has what you have: items, systems, one human or several, one judge
    or several, runs; numbers, or words such as pass and fail; or logs of a
    harness with a grader. Says which questions it can answer and why not the
    others, how good each judge is, what it is worth in labels, and which
    commands now work. It changes nothing.
    """,
    CallStep(
        "result",
        "hp.judge.check",
        {
            "table": replace(
                _TABLE, page_help="What you have: labels, scores of judges, or both.", label="Table"
            ),
            **_READ,
            "labels": own(
                word(LabelOrigin),
                "How labelled outputs were chosen: a random part, or a set apart.",
                "How were the labelled outputs chosen?",
                option="label-origin",
                words={
                    "unknown": "not known: look at the scores",
                    "random": "a random part of all",
                    "apart": "apart: another population, or a balanced set",
                },
                usual="unknown",
            ),
            "half_width": own(
                real(0, open="low"),
                HALF_WIDTH_HELP,
                "Half-width of the interval to reach",
                note=": that for which labels are counted. [half of the present]",
                page_help="Half of the present one, if empty.",
            ),
            "confidence": CONFIDENCE,
        },
        first="table",
    ),
    page=Page(
        "What does a file with a judge support?",
        "Labels of people and scores of judges: which questions they answer, how good each judge is, and "
        "what it is worth in labels.",
        (
            Part("The data", ("table", "labels", "rejected_rows", "worker", "cluster")),
            _COLUMNS,
            Part("What to reach", ("half_width", "confidence")),
        ),
        (Next(("judge", "estimate"), "Estimate with the judge's help"),),
    ),
)


def _sample(given: TypedValues, calls: Calls) -> None:
    named = {name: given.given(name) for name in _SCORED}
    table = calls.let("table", call("hp.judge.read_judged", given["table"], **named, may_lack=True))
    pilot = None
    if given["pilot"] is not None:
        pilot = calls.let("pilot", call("hp.judge.read_judged", given["pilot"], **named))
    expression = call(
        "hp.judge.sample",
        table,
        given["n"],
        systems=_names(given["systems"]),
        allocation=given.given("allocation"),
        pilot=pilot,
        active=given.given("active"),
        seed=given.given("seed"),
    )
    calls.let("result", expression)


_SCORED = ("judge", "item", "system", "words")
SAMPLE = Declaration(
    ("judge", "sample"),
    """Which outputs do people rate? Draw them by a judge's scores of all.

    TABLE has 'item', 'judge' and, for a difference, 'system'. Items are drawn
    with known probabilities, in proportion from strata by the judge's score:
    -o sample.csv has them with stratum and probability. 'assign --item-names'
    takes it as its items, 'judge estimate --sample' as the design.
    """,
    {
        "table": replace(
            _TABLE, page_help="Scores of all outputs: item, judge and, for a difference, system."
        ),
        "n": replace(
            SIZE_OF_SAMPLE,
            kind=whole(1),
            label="Items that people rate",
            note=": items to draw.",
            unit="items",
            needed=True,
        ),
        "systems": own(
            text("A,B"),
            FIELDS["systems"].help,
            "For the difference of these systems",
            note="whose difference B - A the draw is for. [the two that are there]",
            page_help="A,B. [of the two that are there]",
        ),
        "allocation": own(
            word(Allocation),
            "Labels of a stratum: in proportion to its size, or to size times spread in a pilot (Neyman).",
            "Labels of a stratum",
            words={
                "proportional": "in proportion to its size",
                "neyman": "to size times spread (needs a pilot)",
            },
            usual="proportional",
        ),
        "pilot": own(
            text("FILE", is_file=True),
            FIELDS["pilot"].help,
            "Labels and scores of a pilot",
            note=": its labels and scores, for the allocation neyman.",
        ),
        "active": own(
            flag(),
            "Draw item by item, more often where a judge is in doubt whose scores are probabilities of a yes.",
            "Item by item, by the judge's doubt",
            usual=False,
        ),
        **{name: _READ[name] for name in _SCORED},
        "seed": SEED,
    },
    _sample,
    Page(
        "Which outputs people rate",
        "Draw them with known probabilities, by a judge's scores of all.",
        (
            Part("The scores", ("table", "n", "systems")),
            Part("How they are drawn", ("allocation", "pilot", "active", "seed"), folded=True),
            Part("Columns and words", _SCORED, "What is empty is found by its name.", folded=True),
        ),
        (Next(("judge", "estimate"), "Estimate, once people have rated them"),),
    ),
    arguments=("table",),
    endings=(".csv",),
)


def _estimate(given: TypedValues, calls: Calls) -> None:
    expression = call(
        "hp.judge.estimate_table",
        _table(given, calls, "average_workers", "raters_fixed", "sample"),
        systems=_names(given["systems"]),
        baseline=given["baseline"],
        own=_names(given["own"]),
        plan=None
        if given["plan"] is None
        else calls.let("plan", call("hp.plans.read_plan", given["plan"])),
        confidence=given.given("confidence"),
        seed=given.given("seed"),
    )
    calls.let("result", expression)


ESTIMATE = Declaration(
    ("judge", "estimate"),
    """Estimate with a judge's help: from a table of human values and judge scores.

    TABLE has a row for each rating or each output: 'item', 'judge', 'human'
    (blank where no human rated it) and, for a comparison, 'system'. With a
    column of workers the ratings are analysed by the rating model, the judge
    as a covariate of items; without, the ratings of an output are averaged.
    Three systems or more: all pairs, corrected by Holm.
    """,
    {
        "table": replace(
            _TABLE,
            page_help="A row each rating or output: item, judge, human (blank where no human rated it) and, for a "
            "comparison, system.",
        ),
        "systems": replace(COMPARED, kind=text("A,B")),
        "baseline": BASELINE,
        "own": own(text("A,B"), "Systems of the judge's own family."),
        "worker": replace(
            _WORKER,
            page_help="With workers, the ratings are analysed by the rating model. [found by name]",
        ),
        "average_workers": own(
            flag(),
            "Average the ratings of an output, whoever gave them.",
            "Average the ratings of an output instead",
            usual=False,
        ),
        "raters_fixed": own(
            flag(),
            "Claims are about these raters alone, whom the answer names.",
            "Claims are about these raters alone",
            usual=False,
        ),
        "sample": own(
            text("FILE", is_file=True),
            "What 'judge sample' wrote: the items that people rated were drawn so. [a random part of all]",
            "The sample that was drawn",
            page_help="What “Which outputs people rate” wrote; empty: a random part of all.",
        ),
        "plan": own(
            text("PATH", is_file=True),
            FIELDS["plan"].help,
            "Plan with judges",
            note=", with judges: those are used, and no others.",
        ),
        **{name: one for name, one in _DATA.items() if name != "worker"},
        "seed": SEED,
    },
    _estimate,
    Page(
        "An estimate with a judge's help",
        "From finished data: humans rated some outputs, the judge scored all.",
        (
            Part("The data", ("table", "sample", "plan", "systems", "baseline", "rejected_rows")),
            Part(
                "What belongs together",
                ("worker", "average_workers", "raters_fixed", "cluster"),
                "Items of one passage, and ratings of one worker, are alike.",
            ),
            _COLUMNS,
            _INTERVAL_PART,
        ),
        (Next(("judge", "mean"), "How many values the judge saves"), _HOW_WELL),
    ),
    arguments=("table",),
    read_as={"plan": plan_path},
)


def _agreement(given: TypedValues, calls: Calls) -> None:
    options = {"systems": _names(given["systems"]), "confidence": given.given("confidence")}
    calls.let("result", call("hp.judge.agreement", _table(given, calls), **options))


AGREEMENT = Declaration(
    ("judge", "agreement"),
    """How well does a judge agree with people, and people with each other?

    TABLE has 'item', 'human', 'judge' and, where there are several, 'system'.
    With a row for each rating and a 'worker', each worker is left out in turn:
    the mean of the others is the reference for that worker and for the judge.
    With --systems the differences B - A of items are correlated. Without
    workers: sensitivity, specificity, kappa, AC1 and alpha with the labels.
    """,
    {
        "table": _TABLE,
        "systems": own(
            text("A,B"),
            FIELDS["systems"].help,
            "Of the differences of these two systems",
            note="about whose differences B - A they agree. [all outputs]",
            page_help="A,B. [of all]",
        ),
        **_DATA,
    },
    _agreement,
    Page(
        "How well a judge agrees with people",
        "And how well people agree with each other: nobody agrees better with them than they do.",
        (_DATA_PART, _COLUMNS, Part("About what", ("systems",)), _INTERVAL_PART),
        (Next(("judge", "bias"), "Does it prefer its own family?", _SAME_DATA),),
    ),
    arguments=("table",),
)


def _bias(given: TypedValues, calls: Calls) -> None:
    options = {name: given.given(name) for name in ("same_scale", "confidence")}
    calls.let("result", call("hp.judge.bias", _table(given, calls), _names(given["own"]), **options))


BIAS = Declaration(
    ("judge", "bias"),
    """Does a judge prefer the outputs of its own family?

    TABLE has a row for each rating: 'item', 'system', 'human' and 'judge'.
    The judge's scores of its own systems and of others are held against what
    the human values make one expect. Some outputs need two ratings, so that
    their noise is known.
    """,
    {
        "table": _TABLE,
        "own": own(
            text("A,B"),
            "Systems of the judge's own family.",
            "Systems of its own family",
            page_help="Names with commas between.",
            needed=True,
        ),
        "same_scale": own(
            flag(),
            "Judge and humans scored on the same scale.",
            "It scored on the scale of the humans",
            usual=False,
        ),
        **_DATA,
    },
    _bias,
    Page(
        "A judge and its own family",
        "Does a judge score outputs of its own family higher than people make one expect?",
        (_DATA_PART, _COLUMNS, Part("The judge", ("own", "same_scale")), _INTERVAL_PART),
        (_HOW_WELL,),
    ),
    arguments=("table",),
)


def _length(given: TypedValues, calls: Calls) -> None:
    table = _table(given, calls, "length")
    calls.let("result", call("hp.judge.length", table, confidence=given.given("confidence")))


LENGTH = Declaration(
    ("judge", "length"),
    """Does a judge go by how long an output is?

    TABLE has a row for each rating: 'item', 'human', 'judge', 'worker', and a
    column of lengths. Two questions: what length distorts in plain means of
    the judge, and what the judge gives for it among outputs that people value
    alike, which needs 50 outputs that two people rated.
    """,
    {
        "table": _TABLE,
        "length": own(COLUMN, "Column that says how long outputs are.", "Column of lengths", needed=True),
        **_DATA,
    },
    _length,
    Page(
        "A judge and length",
        "Does a judge give longer outputs more than people make one expect?",
        (_DATA_PART, Part("The lengths", ("length",)), _COLUMNS, _INTERVAL_PART),
        (_HOW_WELL,),
    ),
    arguments=("table",),
)


def _position(given: TypedValues, calls: Calls) -> None:
    read = {name: given.given(name) for name in ("systems", "rejected_rows")}
    judged = calls.let("judged", call("hp.preference.read_judgements", given["table"], **read))
    calls.let("result", call("hp.judge.position", judged, confidence=given.given("confidence")))


POSITION = Declaration(
    ("judge", "position"),
    """Does a judge of pairs go by which output it is shown first?

    TABLE has a row for each verdict: 'preference' (B, A or tie), 'item' and
    'position' (which output was shown first, A or B); or system_a and
    system_b, in the order in which they were shown. Pairs that were judged in
    both orders tell it.
    """,
    {
        "table": replace(_TABLE, page_help="A verdict a row: preference (B, A or tie), item and position."),
        "systems": own(
            names(_columns_typed, "A,B"),
            FIELDS["systems"].help,
            "A and B",
            note=": A and B, of a table whose systems change places. [in the order of their names]",
            page_help="Of a table whose systems change places.",
        ),
        "rejected_rows": REJECTED_ROWS,
        "confidence": CONFIDENCE,
    },
    _position,
    Page(
        "A judge and places",
        "Does a judge of pairs go by which output it is shown first?",
        (Part("The verdicts", ("table", "systems", "rejected_rows")), _INTERVAL_PART),
    ),
    arguments=("table",),
)
SUBJECT = Subject(
    "judge",
    """What is an automatic judge worth in human ratings?

    A judge scores many items, humans rate a few: prediction-powered inference
    combines them without trusting the judge. 'mean' is for independent human
    values, 'study' and 'plan' for workers who rate items, 'sample' draws the
    items that they rate, 'estimate' is for finished data; 'check' says what a
    file supports, 'agreement', 'bias', 'length' and 'position' how good the
    judge is.
    """,
    (CHECK, MEAN, STUDY, PLAN, SAMPLE, ESTIMATE, AGREEMENT, BIAS, LENGTH, POSITION),
)
command = SUBJECT.command()
