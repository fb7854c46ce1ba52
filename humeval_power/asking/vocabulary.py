"""Fields that the commands about comparisons share, each stated once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from humeval_power.asking.options import LARGEST_SEED
from humeval_power.choices import DEFAULT_CONFIDENCE, DEFAULT_SWAPS, Method
from humeval_power.fields import (
    Field,
    flag,
    listed,
    names,
    number_list,
    of_answer,
    own,
    parts_of,
    real,
    shortened,
    text,
    typed_list,
    whole,
    word,
)
from humeval_power.saying.document import Drawn
from humeval_power.saying.numbers import POWER_LABEL
from humeval_power.study import COLUMN, EFFECT_HELP, FIELDS, SYSTEM_NAMES


def systems_typed(rule: str, *, exactly: int | None = None, distinct: bool = False) -> Callable[[str], Any]:
    """What reads the names of systems, two or more or `exactly` so many; it raises ValueError with the rule."""

    def parse(typed: str) -> tuple[str, ...]:
        names = tuple(name for name in parts_of(typed) if name or exactly)
        is_count = len(names) >= 2 if exactly is None else len(names) == exactly and all(names)
        if not is_count or (distinct and len(set(names)) < len(names)):
            raise ValueError(f"{rule}; got {shortened(typed)!r}.")
        return names

    return parse


TWO_OR_MORE = "name two systems or more, A first: A,B"
TWO = "name two systems, A first: A,B"


def _ranked(typed: str) -> tuple[str, ...]:
    """Each name once."""
    once = typed_list(list(dict.fromkeys(parts_of(typed))))
    return tuple(systems_typed("name two systems or more: A,B,C")(once))


def column(of: str, **further: Any) -> Field:
    """The column of something in a table, which is found by its name where it is not said."""
    return own(COLUMN, f"Column of the {of}. [found by name]", f"Column of the {of}", **further)


_LIBRARY = Path(__file__).parents[1] / "studies" / "power" / "parameter_library.json"
_SHIPPED: list[dict[str, Any]] = json.loads(_LIBRARY.read_text("utf-8"))[
    "entries"
]  # without what checks them
ENTRIES = {entry["name"]: str(entry["summary"]) for entry in _SHIPPED}
TO_PLAN_FROM = {
    "high": "Careful: workers and items differ much (Card et al. 2020)",
    "low": "Hopeful: workers and items differ little (Card et al. 2020)",
    **{entry["name"]: ENTRIES[entry["name"]] for entry in _SHIPPED if entry["use"] == "plan"},
}
STANDINGS = {entry["name"]: entry["standing"] for entry in _SHIPPED if entry.get("standing")}
OUTPUT_HELP = "Write to PATH, not to the terminal."
STRICT_HELP = "End with exit code 3 where something is wrong."
SECRET_HELP = "File with a secret, made at random where there is none."
PRESET = replace(
    FIELDS["preset"],
    words={
        "": "none of these",
        "typical": "Typical: as public ratings vary",
        **TO_PLAN_FROM,
    },
)
ALL_PAIRS = own(
    flag(),
    "Test every pair of systems.",
    "Compare every pair",
    page_help="Where there are more than two.",
    usual=False,
    further=True,
)
ALPHA = replace(FIELDS["alpha"], note="")  # of a test without a margin
TARGET = replace(FIELDS["power"], start="0.8")
SEED = of_answer(
    whole(0, largest=LARGEST_SEED),
    "Seed of the random numbers. [fixed, and recorded]",
    "Seed of the random numbers",
    page_help="The same seed gives the same numbers.",
)
CONFIDENCE = own(
    real(0, 1, open="both"),
    "Of the intervals.",
    "Confidence",
    slider=(0.8, 0.99),
    step=0.01,
    usual=DEFAULT_CONFIDENCE,
)
SIMULATIONS = of_answer(
    whole(1, largest=10**15),
    "Simulated studies for each number.",
    "Simulated studies",
    unit="studies",
    page_help="More of them narrow the interval.",
)
JOBS = of_answer(whole(1), "Cores to use; the result does not depend on it. [all]", further=True)
DRAW = own(
    word(Drawn),
    "What the figure shows: power, how far significant estimates exaggerate (type M), or how many have "
    "the wrong sign (type S).",
    "What the figure shows",
    words={"power": POWER_LABEL, "type-m": "Exaggeration (type M)", "type-s": "Wrong signs (type S)"},
    usual="power",
    further=True,
)
METHOD = own(
    word(Method),
    "How the answer is computed.",
    "Answer by",
    note=": at once (exactly or by a formula; the answer says which), by simulation, or both.",
    words={
        "analytic": "formula or enumeration alone",
        "simulate": "simulation alone",
        "both": "both, beside each other",
    },
    usual="both",
)
PAIR = replace(
    FIELDS["systems"],
    kind=names(systems_typed(TWO, exactly=2), "A,B"),
    note=": the two to compare; the effect is B - A.",
    label="Systems A and B",
    page_help="Where there are more than two: both names with a comma between them. The difference is B - A.",
)
SCALE_OF_DATA = replace(FIELDS["scale"], note="[from the data]", start="")
# The fields that say how to read a table of two systems; where no model is fitted, without COLUMNS_OF_MODEL.
COLUMNS_OF_MODEL = ("document", "covariates", "order_column")


def table_of(metavar: str = "RATINGS", field: str = "ratings", **further: Any) -> Field:
    """A table of ratings that is an argument; in brackets where it can be left out."""
    one = FIELDS[field]
    return replace(
        one,
        kind=replace(one.kind, metavar=metavar),
        needed=not metavar.startswith("["),
        page_help="CSV, TSV, Excel, JSON Lines or Parquet.",
        **further,
    )


TABLE: Mapping[str, Field] = {
    name: {"systems": PAIR, "scale": SCALE_OF_DATA}.get(name, one)
    for name, one in FIELDS.items()
    if one.section == "columns" or name in ("systems", "scale", "criterion", "lower_is_better")
}
RATINGS = {name: one for name, one in TABLE.items() if name not in COLUMNS_OF_MODEL}
TWO_SYSTEMS = own(
    replace(SYSTEM_NAMES, metavar="A,B"),
    FIELDS["systems"].help,
    "Systems of one table",
    note=": those of one table, A first. [found by their looks]",
    page_help="Names with commas between, A first. [found by their looks]",
)
SYSTEMS = own(
    names(_ranked, "A,B,..."),
    FIELDS["systems"].help,
    "Systems to rank",
    note=": those to rank. [all]",
    page_help="Names with commas between. [all]",
)
_BELONG = (
    "The column of what items belong to: passage, document, template. Items of one are not independent."
)
CLUSTER = own(
    COLUMN,
    "Column of clusters.",
    "Clusters of items",
    note="of items, such as passage, document or template.",
    page_help=_BELONG,
)
CLUSTER_OR_LINES = replace(
    CLUSTER,
    kind=replace(COLUMN, or_lines=True),
    page_help=f"{_BELONG} For files of lines: a file with a cluster's name a line.",
)
AGREEMENT = own(
    real(),
    "Share of items on which both systems are right or both wrong.",
    "Agreement",
    note="Such as on the validation set.",
    unit="as a share",
    slider=(0.5, 1),
    step=0.005,
    page_help="Share of items on which both are right or both wrong: it decides the power more than "
    "anything else. From a validation set.",
)
GOLD = own(
    text("FILE|COLUMN", or_lines=True),
    "Gold labels.",
    "Gold labels",
    note=": a file with one a line, or a column of the one table.",
    page_help="A file with one for each item, or their column in the one table.",
)
RUN = own(
    COLUMN,
    "Column of the run: generation, prompt, seed.",
    note="Then as 'compare runs test', which has more options.",
    option="run",
)
DROP_MISSING = own(
    flag(),
    "Leave out items without a score of each system.",
    "Leave out items without a score of each system",
    usual=False,
)
ITEM, SYSTEM = column("item"), column("system")
SCORE = own(
    text("NAME", many=True),
    "Score to read, where there are several.",
    "Score to read",
    note=": a column of a table, or a metric of logs; repeatable. [the only one]",
    page_help="Where there are several: a column of a table, or a metric of logs. [the only one]",
    option="score",
)
ONE_SCORE = replace(
    SCORE,
    kind=text("NAME"),
    note=": a column of a table, or a metric of logs. [the only one]",
)
ALTERNATIVE = replace(  # of a test without a margin, of either side
    FIELDS["alternative"],
    kind=word(("two-sided", "greater", "less")),
    note=": a difference in either direction, or only B above (greater) or below (less) A.",
    words={**FIELDS["alternative"].words, "less": "B is worse than A"},
)
ONE_SIDED = replace(
    FIELDS["alternative"],
    kind=word(("two-sided", "greater")),
    note=": a difference in either direction, or B better than A.",
)
COMPARED = own(
    names(systems_typed(TWO_OR_MORE, distinct=True), "A,B"),
    FIELDS["systems"].help,
    "Systems to compare",
    note=": those to compare; the effect is B - A. More than two: all pairs. [all]",
    page_help="Names with commas between; the effect is B - A. More than two: all pairs. [all]",
)
BASELINE = own(
    text("SYSTEM"),
    FIELDS["baseline"].help,
    "Compare all with this system only",
)
LICENCE = own(text("TEXT"), "Licence of the ratings, such as 'CC BY 4.0'.")
SCORE_TABLE: Mapping[str, Field] = {  # as hp.compare.read_scores takes it
    "files": own(
        text("FILE [FILE]", many=True),
        "",
        "Table of scores",
        page_help="One row an item and one column a system; or columns item, system and score; or logs of a "
        "harness or a folder of them.",
        needed=True,
    ),
    "item": ITEM,
    "system": SYSTEM,
    "scores": replace(ONE_SCORE, kind=names(lambda typed: (typed,), "NAME")),
    "systems": SYSTEMS,
    "cluster": CLUSTER_OR_LINES,
    "drop_missing": DROP_MISSING,
}
WITHDRAWN = own(
    text("FILE", many=True),
    "Workers who took their consent back, an id a line: all that they gave is left out; repeatable.",
    "Who withdrew",
    page_help="Workers who took their consent back, an id a line: all that they gave is left out.",
)
PSEUDONYM_SECRET = own(text("FILE"), SECRET_HELP, note=": that of the pseudonyms. [beside the result]")
PARAMETERS_FILE = own(
    text("FILE"),
    FIELDS["parameters"].help,
    "Fit of a pilot",
    page_help="The record of a fit: record.json.",
)
PLAN_FILE = replace(FIELDS["plan"], label="Plan", section="", page_help="The plan.json that was sealed.")
SCORE_MARGIN = own(
    real(),
    FIELDS["margin"].help,
    "Smallest difference that would matter",
    unit="in the metric's units",
    note="In the metric's units.",
)
LOWER_SCORES = own(
    flag(),
    FIELDS["lower_is_better"].help,
    "A lower score is better",
    note=FIELDS["lower_is_better"].note,
    usual=False,
)
ITEM_DIFFERENCES = own(
    real(0, open="low"),
    "SD of the items' differences of two systems, B - A.",
    "SD of the items' differences",
    unit="in the metric's units",
    option="sd-difference",
)
MEAN_OF_A = "Mean score of A."
SAMPLE_SIZE = "Sample size."
SIZE_OF_SAMPLE = own(whole(2), SAMPLE_SIZE)
TRUE_EFFECT = own(real(), EFFECT_HELP)
# Notes of these two, where several commands have them.
MEAN_DIFFERENCE = "of the means, in the metric's units."
ACCURACY_DIFFERENCE = "of accuracy, as a share: 0.02 is two points of a hundred."
RATING_DIFFERENCE = "of the mean ratings, in points."
TEST_ITEMS = ": items in the test set."
LONG_RUN = own(
    listed(number_list(float), "LIST"),
    "True effects for the table of the long run.",
    note="[none, half and all of the effect]",
)
FOLDER = own(text("FOLDER"), "Folder whose files may be used.", usual=".")
TEST_HELP = "The test that is made."
TIE_RULE_HELP = "What is done with ties."
TIE_SHARE = own(real(), "Probability of a tie.", "Ties", usual=0.0)
SCORE_CORRELATION = "Correlation of the automatic score with people."
SCORE_SD = own(real(0, open="low"), "SD of single scores.")
LOOK_HELP = "Number of the look."
HALF_WIDTH_HELP = "Half of the width of an interval."
COMPAT_HELP = "As Card et al. (2020) did."
COMPAT = own(
    word(("card2020",)),
    COMPAT_HELP,
    "Decide as",
    words={"card2020": "Card et al. (2020)"},
    note="Decide by maximum likelihood and t > 1.96; the effect is their coefficient under -1/+1 coding, which is "
    "HALF the difference B - A.",
    further=True,
)
HALF_WIDTH = own(
    real(0, 0.5, open="both"),
    HALF_WIDTH_HELP,
    "Simulate until the power is known to +-",
    note=": the power is simulated until its own is so narrow.",
    further=True,
)
STRICT = own(
    flag(),
    STRICT_HELP,
    "No answer if fits fail",
    note=": more than 1 % of the fits failed.",
    usual=False,
    further=True,
)
METRIC_HELP = "The metric that is compared."
ITEM_SD_HELP = "SD over the items."
MOST_RUNS_HELP = "Most runs."
RESAMPLES = own(
    whole(1),
    "Resamples to draw.",
    "Resamples",
    page_help="10,000 where nothing is said: NLPStatTest's 500 leave a p-value uncertain in its second digit.",
    option="resamples",
)
SWAPS = own(
    whole(1),
    "Random swaps, where not all of them are counted.",
    "Random swaps",
    page_help="10,000 where nothing is said.",
    option="swaps",
    usual=DEFAULT_SWAPS,
)
FLIPS = own(
    whole(1),
    "Random swaps for each simulated p-value that is drawn.",
    "Random swaps for each p-value",
    option="flips",
)
REJECTED_ROWS = FIELDS["rejected_rows"]
PRICES = ("cost_per_rating", "pay_per_hour", "seconds_per_rating")
PRICES_NOTE = "A price for each rating, or the pay per hour with the seconds that a rating takes."
ONE_PRICE = ("cost_per_rating", "pay_per_hour")
FURTHER_PRICES_TITLE = "Further costs and fees"
FURTHER_PRICES = (
    *("cost_per_worker", "cost_per_item", "cost_per_document", "cost_per_output", "rejected", "checks"),
    *("repeats", "fee", "fees", "fee_share", "units_per_assignment", "split_hits", "currency"),
)
