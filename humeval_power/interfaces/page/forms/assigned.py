"""Forms of what follows from a plan: who rates what, and a rehearsal."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.study_controls import (
    DESIGN,
    IN_DOCUMENTS,
    ITEMS,
    KIND,
    LOSSES,
    N_SYSTEMS,
    PER_ITEM,
    SCALE,
    SYSTEMS,
    WORKERS,
    but,
    difference,
    known,
)

ASSIGN = Form(
    ("assign",),
    "plan",
    "Who rates what",
    "A table that says which worker rates what when, in an order that is fair to the systems.",
    (
        Group(
            "The study",
            (
                Control(
                    "plan", "The sealed plan", help="What the page 'The plan' writes; it says the size."
                ),
                Control("workers", "Or so many workers", "workers"),
                Control("items", "And so many items", "items"),
                Control("ratings-per-item", "Ratings of each item", "for each system"),
                Control("n-systems", "Systems", "systems"),
            ),
            "A plan, or the size of a study without one.",
        ),
        Group(
            "How it is laid out",
            (
                Control(
                    "key",
                    "Workers see codes, not systems",
                    start="1",
                    help="What the codes stand for is then written apart, for you alone. Give a seed of your own: "
                    "it makes the order.",
                ),
                Control("seed", "Seed", help="Any whole number that nobody guesses; keep it with the key."),
                Control("systems", "Names of the systems", help="Such as A,B,C."),
                Control("item-names", "Names of the items", help="A file with one in each line."),
                Control("batch-size", "Most ratings in a batch", "ratings", (5, 200), 5),
                Control(
                    "order",
                    "Outputs of an item are shown",
                    labels={"random": "far apart", "blocked": "one after the other"},
                ),
                Control("replacements", "Spare slots", "slots", help="For workers who drop out."),
                Control("checks", "Attention checks", "as a share", (0, 0.3), 0.01),
                Control("repeats", "Outputs shown once more", "as a share", (0, 0.3), 0.01),
                Control(
                    "replace",
                    "A spare stands in",
                    help="Such as r01=w07, or r01=w07:3 from batch 3 on. It sees the codes of the table that was "
                    "asked for without it.",
                ),
            ),
        ),
        Group(
            "Without a plan",
            (
                Control(
                    "paired",
                    "Who sees all systems",
                    labels={"1": "The same workers", "0": "Other workers for each system"},
                ),
                Control("design"),
                Control("max-ratings-per-worker", "Most that a worker is shown", "ratings"),
                Control("documents", "Documents", "documents"),
                Control("items-per-document", "Items of each document", "items"),
                Control(
                    "documents-together",
                    "A document is given",
                    labels={"1": "as a whole", "0": "item by item"},
                ),
            ),
            folded=True,
        ),
    ),
    next=(
        Next(
            ("simulate",), "Rehearse the study", ("plan",), {"assignment": "table.csv"}, {"key": "key.csv"}
        ),
    ),
)
SIMULATE = Form(
    ("simulate",),
    "plan",
    "Rehearsal",
    "Ratings of nobody: draw a study as it is planned, to try everything that follows before anyone is paid.",
    (
        Group(
            "A planned study",
            (
                Control("plan", "The sealed plan"),
                Control(
                    "assignment", "Who rates what", help="The table that the page 'Who rates what' writes."
                ),
                Control("key", "What its codes stand for"),
                Control("passing", "Careful workers who pass a check", "as a share", (0.5, 1), 0.01),
                Control("seconds", "Seconds for an output", "seconds"),
                Control("look", "Only up to this look"),
                Control("coded", "What a platform gives back: codes, no systems"),
            ),
        ),
        Group(
            "Or a study without a plan",
            (
                *(
                    replace(each, start="", slider=None)
                    for each in (*known().controls, SCALE, WORKERS, ITEMS, PER_ITEM, N_SYSTEMS)
                ),
            ),
            folded=True,
            one_of=known().one_of,
        ),
        Group(
            "The true difference",
            tuple(replace(each, start="", slider=None) for each in but(difference(), "scale").controls),
            "Left empty, it is that of the plan.",
            one_of=difference().one_of,
        ),
        LOSSES,
        but(SYSTEMS, "comparisons", "baseline", "model", "correction"),
        but(KIND, "family"),
        IN_DOCUMENTS,
        DESIGN,
    ),
)
