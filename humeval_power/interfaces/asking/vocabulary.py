"""Fields that the commands about comparisons share, each stated once."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.fields import Field, flag, names, shortened, text, whole
from humeval_power.interfaces.cli.numbers import LARGEST_SEED
from humeval_power.study import COLUMN, FIELDS


def _several(typed: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(name.strip() for name in typed.split(",") if name.strip()))
    if len(found) < 2:
        raise ValueError(f"name two systems or more: A,B,C; got {shortened(typed)!r}.")
    return found


ALPHA = FIELDS["alpha"]
SEED = Field("", whole(0, largest=LARGEST_SEED), "Seed of the random numbers. [fixed, and recorded]")
SYSTEMS = Field(
    "",
    names(_several, "A,B,..."),
    "The systems to rank. [all]",
    "Systems to rank",
    page_help="Names with commas between. [all]",
)
CLUSTER = Field(
    "",
    COLUMN,
    "Column of clusters of items: passage, document, template.",
    "Clusters of items",
    page_help="The column of what items belong to: passage, document, template. Items of one are not independent. "
    "For files of lines: a file with a cluster's name a line.",
)
SCORE_TABLE: Mapping[str, Field] = {  # as hp.compare.read_scores takes it
    "files": Field(
        "",
        text("FILE [FILE]", many=True),
        "",
        "Table of scores",
        page_help="One row an item and one column a system; or columns item, system and score; or logs of a "
        "harness or a folder of them.",
    ),
    "item": Field("", COLUMN, "Column of the item. [found by name]", "Column of the item"),
    "system": Field("", COLUMN, "Column of the system. [found by name]", "Column of the system"),
    "scores": Field(
        "",
        names(lambda typed: (typed,), "COLUMN"),
        "Metric of a table with several. [the only one]",
        "Metric",
        page_help="Of a table with several, one.",
        option="score",
    ),
    "systems": SYSTEMS,
    "cluster": CLUSTER,
    "drop_missing": Field(
        "",
        flag(),
        "Leave out items without a score of each system.",
        "Leave out items without a score of each system",
        usual=False,
    ),
}
