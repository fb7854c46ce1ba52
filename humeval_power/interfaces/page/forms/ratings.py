"""Forms of the journey through ratings: what a table holds, what a model says of it, how to tell it."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next

_COLUMNS = Group(
    "Which column is what",
    (
        Control("worker", "Column of workers"),
        Control("item", "Column of items"),
        Control("system", "Column of systems"),
        Control("rating", "Column of ratings"),
        Control("criterion-column", "Column of criteria"),
        Control("document", "Column of documents"),
    ),
    note="Columns are found by their names, such as annotator, doc or score. Say it where that fails.",
    folded=True,
)
_CRITERION = Control("criterion", "Criterion", help="Where the ratings are of several: one of them.")
_SYSTEMS = Control(
    "systems",
    "Systems A and B",
    help="Where there are more than two: both names with a comma between them. The difference is B - A.",
)
_SCALE = Group(
    "The scale",
    (
        Control("scale", "Lowest and highest rating", help="Such as 1:5. [taken from the ratings]"),
        Control(
            "lower-is-better",
            "Direction",
            labels={"1": "lower is better", "0": "higher is better"},
        ),
    ),
)
_FAMILY = Control(
    "family",
    "Ratings are",
    labels={
        "gaussian": "numbers",
        "ordinal": "ordered categories",
        "binary": "yes or no",
    },
)
_TEST = Group(
    "The test",
    (
        _FAMILY,
        Control(
            "alternative",
            "What is to be shown",
            labels={
                "two-sided": "a difference, whichever way",
                "greater": "B is better than A",
                "non-inferior": "B is not worse than A by the margin",
                "equivalent": "no difference larger than the margin",
            },
        ),
        Control("margin", "Margin", "on [0, 1]"),
        Control("margin-raw", "Margin", "points of the scale"),
        Control("alpha", "Level of the test"),
    ),
)
_POWER = Next(
    ("power",),
    "Power of a next study with these variances",
    carries=("scale", "family", "alternative", "margin", "alpha"),
    brings={"parameters": "record.json"},
    sets={"workers": "20", "items": "100", "effect": "0.1"},
)

CHECK = Form(
    ("check",),
    "ratings",
    "Check a table of ratings",
    "What is in it, who rated what, and all that is wrong with it. A row is one rating.",
    (
        Group("The ratings", (Control("file", "File", help="CSV, TSV, Excel, JSON Lines or Parquet."),)),
        _COLUMNS,
        _SCALE,
    ),
    next=(
        Next(("fit",), "Compare two systems by a model"),
        Next(("analyze",), "Analyse the finished study, of any number of systems"),
    ),
)
FIT = Form(
    ("fit",),
    "ratings",
    "Fit a pilot",
    "The difference between two systems, and how much workers and items vary: what a next study is planned from.",
    (
        Group(
            "The ratings",
            (Control("file", "File", help="CSV, TSV, Excel, JSON Lines or Parquet."), _SYSTEMS, _CRITERION),
        ),
        _COLUMNS,
        _SCALE,
        _TEST,
    ),
    next=(
        _POWER,
        Next(("analyze",), "Decide, with workers and items one by one"),
        Next(("check",), "What is in the table"),
    ),
    hides=("strict",),
)
ANALYZE = Form(
    ("analyze",),
    "ratings",
    "Analyse a study",
    "Which system is better, how sure that is and who it rests on: of two systems or many, by several criteria.",
    (
        Group(
            "The ratings",
            (
                Control("file", "File", help="CSV, TSV, Excel, JSON Lines or Parquet."),
                _SYSTEMS,
                _CRITERION,
                Control(
                    "criteria", "Several criteria", help="'all', or their names with commas between them."
                ),
            ),
        ),
        Group(
            "Several systems",
            (
                Control("all-pairs", "Compare every pair", help="Where there are more than two."),
                Control(
                    "baseline", "Baseline", help="The name of the system that the others are compared with."
                ),
                Control(
                    "model",
                    "Model",
                    labels={"pairwise": "each pair by itself", "joint": "all systems together"},
                ),
                Control(
                    "correction",
                    "Correction for several tests",
                    labels={
                        "holm": "Holm",
                        "bonferroni": "Bonferroni",
                        "max-t": "max-t (Dunnett, Tukey)",
                        "bh": "false discovery rate (Benjamini and Hochberg)",
                    },
                ),
            ),
        ),
        Group(
            "The plan",
            (
                Control(
                    "plan",
                    "Plan",
                    help="The plan.json that was sealed before: what differs from it is told.",
                ),
                Control("effect-of-interest", "Smallest difference that would matter", "on [0, 1]"),
                Control(
                    "exclude-if",
                    "Leave out workers by rules",
                    help="Such as seconds=2,same-answer=0.95; the result is shown with and without them. Rules of "
                    "the plan are applied by themselves.",
                ),
            ),
        ),
        _TEST,
        _COLUMNS,
        _SCALE,
    ),
    next=(
        Next(
            ("report",),
            "Write it up: checklists, datasheet, paragraph for the paper",
            carries=("plan", "criterion"),
            brings={"findings": "record.json"},
            sets={"form": "paper"},
        ),
        Next(("fit",), "Variances of two systems, to plan the next study"),
        Next(("check",), "What is in the table"),
    ),
)
