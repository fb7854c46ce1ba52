"""Forms of the bootstrap primer: its p of counts, and a table of it."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next

COUNTS = Form(
    ("compare", "primer"),
    "compare",
    "The bootstrap primer's p of counts",
    "What Jansen's primer would say of items helped and hurt, exactly, beside what tests say of them.",
    (
        Group(
            "Counts",
            (
                Control("n", "Items in all", "items", (50, 5000), 50, "500"),
                Control("helped", "Items helped", "items", (0, 200), 1, "10", "B is right and A wrong."),
                Control("hurt", "Items hurt", "items", (0, 200), 1, "7", "A is right and B wrong."),
            ),
        ),
    ),
    is_quick=True,
    next=(
        Next(
            ("accuracy", "test"),
            "Test these counts",
            carries=("n",),
            fills={"only-b": "n_helped", "only-a": "n_hurt"},
        ),
    ),
)
TABLE = Form(
    ("compare", "primer-table"),
    "compare",
    "A table of the bootstrap primer's p",
    "What Jansen's primer would say, exactly: by number of items, difference of accuracy and items hurt.",
    (
        Group(
            "The table",
            (
                Control("n", "Numbers of items", start="100,500,2000"),
                Control(
                    "effect", "Differences of accuracy", help="Shares: 0.01 is one point of a hundred."
                ),
                Control("hurt", "Shares of items hurt", help="Items that B gets wrong and A right."),
            ),
        ),
    ),
)
FORMS = (COUNTS, TABLE)
