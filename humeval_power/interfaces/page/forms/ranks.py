"""Forms of leaderboards: the order of systems, and how sure it is."""

from __future__ import annotations

from humeval_power.interfaces.page.forms.form import Control, Form, Group
from humeval_power.interfaces.page.forms.questions import ALPHA

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
FORMS = (BATTLES,)
