"""Forms of the questions that every comparison answers by formula: its power, its smallest effect, its size."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.interfaces.asking.form import Control, Form, Group, Next

ALPHA = Control("alpha", "Level of the test", slider=(0.001, 0.2), step=0.001)
DIRECTION = Control(
    "direction",
    "Direction",
    labels={
        "two-sided": "B better or worse than A (recommended)",
        "greater": "only B better than A",
        "less": "only B worse than A",
    },
)
CLUSTER = Control(
    "cluster",
    "Clusters of items",
    help="The column of what items belong to: passage, document, template. Items of one are not independent.",
)
CLUSTER_OR_LINES = replace(
    CLUSTER, help=f"{CLUSTER.help} For files of lines: a file with a cluster's name a line."
)
TARGET = Control("power", "Power that is aimed at", slider=(0.5, 0.99), step=0.01, start="0.8")
SIMULATED = Group(
    "The simulation",
    (
        Control(
            "method",
            "Answer by",
            labels={
                "analytic": "formula or enumeration alone",
                "simulate": "simulation alone",
                "both": "both, beside each other",
            },
        ),
        Control("simulations", "Simulated studies"),
        Control("seed", "Seed of the random numbers"),
    ),
    folded=True,
)
BY_FORMULA = {"method": "analytic"}


def question_forms(
    family: str,
    *,
    name: str,
    size: Control,
    effect: Control,
    groups: tuple[Group, ...],
    carries: tuple[str, ...],
    after: tuple[Next, ...] = (),
) -> tuple[Form, Form, Form]:
    """Power, detectable effect and size of a family of comparisons, each with the way to the other two.

    groups : what all three ask besides. carries : the options that go from one to the other.
    """
    words = {
        "power": "Power at this size and effect",
        "mde": "Smallest effect that this size finds",
        "size": "Size that finds this effect",
    }
    needs = {"power": ("n", "effect"), "mde": ("n",), "size": ("effect",)}
    finds = {"power": {}, "mde": {"effect": "found.0.effect"}, "size": {"n": "found.n"}}

    def steps(here: str) -> tuple[Next, ...]:
        return tuple(
            Next(
                (family, there),
                words[there],
                (*carries, *(option for option in needs[there] if option in needs[here])),
                fills={option: place for option, place in finds[here].items() if option in needs[there]},
            )
            for there in words
            if there != here
        )

    asks = {
        "power": (
            f"Power of {name}",
            "How often would a comparison of this size find a difference of this size?",
            (size, effect),
        ),
        "mde": (
            f"Smallest effect of {name}",
            "What is the smallest difference that it finds?",
            (size, TARGET),
        ),
        "size": (f"Size of {name}", "How large must it be to find this difference?", (effect, TARGET)),
    }
    first, second, third = (
        Form(
            (family, question),
            "compare",
            title,
            lead,
            (Group("The comparison", own), *groups, SIMULATED),
            live=BY_FORMULA,
            next=(*steps(question), *after),
        )
        for question, (title, lead, own) in asks.items()
    )
    return first, second, third
