"""Forms of leaderboards: the order of systems, and how sure it is."""

from __future__ import annotations

from humeval_power.interfaces.page.forms.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, CLUSTER_OR_LINES

BATTLES = Form(
    ("rank", "battles"),
    "compare",
    "A leaderboard of battles",
    "Outputs of two systems at a time, and which one won: strengths, intervals of ranks, the chance of being best.",
    (
        Group(
            "The battles",
            (
                Control(
                    "table",
                    "Table of battles",
                    help="A battle a row: system_a (shown first, or left), system_b, winner (A, B, tie, or the "
                    "name of the system), and perhaps worker or user.",
                ),
                Control("systems", "Systems to rank", help="Names with commas between. [all]"),
                Control(
                    "cluster",
                    "Whose battles go together",
                    help="The column of the user, the worker or the session. [that of the worker]",
                ),
            ),
        ),
        Group(
            "The model",
            (
                Control("ties", "Ties", labels={"davidson": "Davidson", "rao-kupper": "Rao and Kupper"}),
                Control(
                    "position-bias",
                    "What being shown first adds",
                    labels={"1": "estimate it", "0": "leave it out"},
                ),
                ALPHA,
            ),
        ),
    ),
)
SCORES = Form(
    ("rank", "scores"),
    "compare",
    "A leaderboard of scores",
    "Systems by their mean scores on the same items: intervals of ranks, groups that cannot be told apart, the "
    "chance of being best.",
    (
        Group(
            "The scores",
            (
                Control(
                    "files",
                    "Table of scores",
                    help="One row an item and one column a system; or columns item, system and score; or logs of a "
                    "harness or a folder of them.",
                ),
                Control("systems", "Systems to rank", help="Names with commas between. [all]"),
                Control("score", "Metric", help="Of a table with several, one."),
                CLUSTER_OR_LINES,
                Control("lower-is-better", "The smallest mean is the best"),
                Control("drop-missing", "Leave out items without a score of each system"),
                ALPHA,
            ),
        ),
        Group(
            "Columns",
            (Control("item", "Column of the item"), Control("system", "Column of the system")),
            folded=True,
        ),
    ),
    next=(
        Next(
            ("compare", "scores"),
            "Compare them in pairs",
            ("files", "systems", "score", "cluster", "item", "system", "drop-missing", "alpha"),
        ),
    ),
)
FORMS = (SCORES, BATTLES)
