"""Forms of the questions about the size of a study: its power, its smallest difference, its size, surfaces."""

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
    RUN,
    SCALE,
    SYSTEMS,
    TARGET,
    TEST,
    WORKERS,
    but,
    difference,
    known,
    money,
)
from humeval_power.interfaces.page.forms.study_steps import (
    CARRIED,
    SIZE_OF_STUDY,
    TO_LOOKS,
    TO_MDE,
    TO_PLAN,
    TO_POWER,
    TO_SIZE,
    TO_SURFACE,
)

POWER = Form(
    ("power",),
    "plan",
    "Power of a study",
    "How often would a study of this size find a difference of this size? Drag, and the answer moves.",
    (
        known(),
        SIZE_OF_STUDY,
        difference(),
        *money(Control("budget", "What may be spent", "USD")),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        LOSSES,
        TEST,
        RUN,
    ),
    live={"method": "analytic"},
    next=(TO_PLAN, TO_MDE, TO_SIZE, TO_SURFACE, TO_LOOKS),
)
MDE = Form(
    ("mde",),
    "plan",
    "Smallest difference found",
    "Which difference does a study of this size find, with the power that you want?",
    (
        Group("The size of the study", (WORKERS, ITEMS, PER_ITEM, N_SYSTEMS, TARGET, SCALE)),
        known(),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        but(TEST, "margin", "margin-raw", "compat"),
        Group(
            "The true difference, where a margin is sought",
            (
                Control("effect-raw", "In points of the scale", "points"),
                Control("effect", "Or on [0, 1]", "of the scale"),
            ),
            "Only to show that two systems are equivalent, or one not inferior.",
            folded=True,
            one_of=("effect-raw", "effect"),
        ),
        but(RUN, "half-width"),
    ),
    live={"method": "analytic"},
    next=(Next(("power",), "Power of one size", sets={"effect": "0.1"}), TO_SIZE, TO_PLAN),
)
SIZE = Form(
    ("size",),
    "plan",
    "Smallest study",
    "How many workers, items or ratings of each item does it take to find a difference?",
    (
        Group(
            "The study",
            (
                Control(
                    "find",
                    "What to find",
                    start="workers",
                    labels={
                        "workers": "The fewest workers",
                        "items": "The fewest items",
                        "documents": "The fewest documents",
                        "ratings-per-item": "The fewest ratings of each item",
                    },
                ),
                TARGET,
                replace(WORKERS, start=""),
                ITEMS,
                PER_ITEM,
                N_SYSTEMS,
            ),
            "Leave empty what is to be found, and give the others.",
        ),
        difference(),
        known(),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        but(TEST, "compat"),
        but(RUN, "half-width"),
    ),
    live={"method": "analytic"},
    next=(TO_POWER, TO_PLAN),
)
SURFACE = Form(
    ("surface",),
    "plan",
    "Power over many sizes",
    "Power over workers, items and differences: a table and a picture. It is simulated, and takes a while.",
    (
        Group(
            "The sizes",
            (
                Control("workers", "Workers", start="5,10,20,40", help="Several: 5,10,20 or 5:40:5."),
                Control("items", "Items", start="50,100,200", help="Several: 50,100 or 50:200:50."),
                PER_ITEM,
                N_SYSTEMS,
            ),
        ),
        Group(
            "The differences to find",
            (
                SCALE,
                Control("effect-raw", "In points of the scale", start="0.4,0.6", help="Several: 0.2,0.4."),
                Control("effect", "Or on [0, 1]", help="Several: 0.05,0.1 or 0.05:0.2:0.05."),
                Control("effect-latent", "Or on the latent scale", help="For ordered categories only."),
            ),
            "Give one of them.",
            one_of=("effect-raw", "effect", "effect-latent"),
        ),
        Group(
            "The picture",
            (
                Control(
                    "draw",
                    "What it shows",
                    labels={
                        "power": "Power",
                        "type-m": "Exaggeration (type M)",
                        "type-s": "Wrong signs (type S)",
                    },
                ),
                Control(
                    "x",
                    "Along it run",
                    labels={"items": "Items", "effect": "Differences"},
                ),
            ),
        ),
        known(),
        SYSTEMS,
        KIND,
        IN_DOCUMENTS,
        DESIGN,
        TEST,
        but(RUN, "method"),
    ),
    next=(Next(("power",), "Power of one size", carries=tuple(n for n in CARRIED if "effect" not in n)),),
)
