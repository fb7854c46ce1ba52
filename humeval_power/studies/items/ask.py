"""`humeval-power more items`: which items of a pool to rate."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.declared import Calls, Declaration, Page, Part, plain
from humeval_power.asking.expressions import call
from humeval_power.asking.form import Next
from humeval_power.asking.vocabulary import (
    ONE_SCORE,
    SAMPLE_SIZE,
    SCORE_CORRELATION,
    SEED,
    TWO_OR_MORE,
    systems_typed,
)
from humeval_power.choices import LEAST_DRAWN_ITEMS, USUAL_METRIC_CORRELATION, USUAL_POOL_WORKERS
from humeval_power.fields import names, own, real, text, whole
from humeval_power.study import FIELDS


def _choose(given: TypedValues, calls: Calls) -> None:
    if given["outputs"] == "-":
        calls.no_program("standard input is read once")
    systems = plain(given.given("systems"))
    outputs = calls.let(
        "outputs", call("hp.items.read_scored", given["outputs"], score=given["score"], systems=systems)
    )
    picked = parameters = None
    if given["picked"] is not None:
        picked = calls.let("picked", call("hp.items.read_names", given["picked"]))
    if given["parameters"] is not None:
        assumed = calls.let("assumed", call("hp.models.read_assumed", given["parameters"]))
        parameters = calls.attribute(assumed, "parameters")
    options = {name: given.given(name) for name in ("correlation", "workers", "ratings_per_item", "seed")}
    calls.let(
        "result",
        call("hp.items.choose", outputs, given["n"], picked=picked, parameters=parameters, **options),
    )


DECLARED = Declaration(
    ("items",),
    """Which items of a pool to rate, drawn with what a metric says of all.

    OUTPUTS is a table with a row for each output (item, system, and text or
    the column of a metric or both), or a row for each item: a column of texts
    for each system, and scores in columns such as chrf_A, chrf_B. --score names
    the metric. Of two systems items are drawn from strata of the predicted
    difference, in proportion; of several so that the draw is balanced for every
    pair. Items with identical outputs need no rating, and are counted. -o
    chosen.csv is what 'assign --pool' and 'analyze --pool' take: it keeps how
    likely each item was.

    What it wins is shown beforehand: mostly under 6 % of the ratings, up to 35 %
    with a score that correlates 0.7 with people on one item.
    """,
    {
        "outputs": own(
            text("OUTPUTS"),
            "",
            "Outputs of the pool",
            page_help="A row for each output: item, system, text, and a column of scores. Or a row for each item.",
            needed=True,
        ),
        "n": own(
            whole(LEAST_DRAWN_ITEMS),
            SAMPLE_SIZE,
            "Items to rate",
            unit="items",
            slider=(10, 500),
            step=5,
            start="100",
            note=": items to rate.",
        ),
        "score": own(
            text("METRIC"),
            ONE_SCORE.help,
            "Metric",
            note=": a metric, by its column, or by what its columns begin or end with. [drawn at random]",
            page_help="Such as chrf, for the column chrf, or the columns chrf_A and chrf_B.",
        ),
        "systems": replace(
            FIELDS["systems"],
            kind=names(systems_typed(TWO_OR_MORE), "A,B,..."),
            note=": those to compare. [all of the table]",
            label="Systems to compare",
            page_help="Where not all of the table: names with commas between.",
        ),
        "picked": own(
            text("FILE", is_file=True),
            "Instead of a draw: the names of items that you picked, one a line; results are then about them only.",
            "Items that you picked",
            page_help="A file with a name a line. Results are then about these items only.",
            further=True,
        ),
        "correlation": own(
            real(0, 1),
            SCORE_CORRELATION,
            "Correlation of the metric with people on one item",
            slider=(0, 0.9),
            step=0.05,
            usual=USUAL_METRIC_CORRELATION,
            note=", over items; for what the draw wins.",
        ),
        "workers": replace(
            FIELDS["workers"],
            note=", for what the draw wins.",
            usual=USUAL_POOL_WORKERS,
            start="",
        ),
        "ratings_per_item": replace(FIELDS["ratings_per_item"], main=False, start=""),
        "parameters": own(
            text("FILE", is_file=True),
            FIELDS["parameters"].help,
            "How ratings vary",
            note="For what the draw wins. [the published settings high and low]",
            further=True,
        ),
        "seed": SEED,
    },
    _choose,
    Page(
        "Which items to rate",
        "Draw them from a pool with what a metric says of all: the result stays about the pool.",
        (
            Part("The pool", ("outputs", "score", "systems")),
            Part("The draw", ("n", "seed")),
            Part("What it wins", ("correlation", "workers", "ratings_per_item")),
        ),
        (Next(("assign",), "Who rates what when"),),
        journey="plan",
    ),
    arguments=("outputs",),
    endings=(".csv",),
)
command = DECLARED.command()
