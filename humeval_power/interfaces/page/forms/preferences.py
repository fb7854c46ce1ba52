"""Forms of preferences: which of two outputs is better?"""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, question_forms

_LINK = Control("link", "Scale of strengths", labels={"probit": "probit", "logit": "logit (odds)"})
_SEEN = {"tie-share": "comparisons.0.tie_share", "effect": "comparisons.0.effect"}
TEST = Form(
    ("preference", "test"),
    "compare",
    "Preferences of B over A",
    "Wins, ties and losses: is B preferred? With workers or items that repeat, a model with their variation.",
    (
        Group(
            "Counts",
            (
                Control("wins", "B preferred", "judgements"),
                Control("ties", "No preference", "judgements"),
                Control("losses", "A preferred", "judgements"),
            ),
            "For judgements that stand for themselves: each from another worker on another item.",
        ),
        Group(
            "Or a table",
            (
                Control(
                    "table",
                    "Table of judgements",
                    help="A judgement a row: preference (B, A or tie), worker, item and perhaps position.",
                ),
                Control("systems", "A and B", help="Of a table that names the two systems of each row."),
                _LINK,
                Control(
                    "rejected-rows", "Rows of rejected work", labels={"drop": "leave out", "keep": "keep"}
                ),
            ),
        ),
        Group("The test", (ALPHA,)),
    ),
    is_quick=True,
    next=(
        Next(
            ("preference", "power"),
            "Power of the next study",
            carries=("alpha",),
            fills={**_SEEN, "n": "comparisons.0.n_judgements"},
        ),
        Next(
            ("preference", "size"),
            "Judgements that the next study needs",
            carries=("alpha",),
            fills=_SEEN,
        ),
    ),
)
QUESTIONS = question_forms(
    "preference",
    name="a preference study",
    size=Control("n", "Judgements", "judgements", (10, 2000), 10, "200"),
    effect=Control(
        "effect",
        "Share that prefers B, minus 1/2",
        slider=(0, 0.5),
        step=0.01,
        start="0.1",
        help="0.1 where 60 % prefer B.",
    ),
    groups=(
        Group(
            "Ties",
            (
                Control("tie-share", "Share of ties", "as a share", (0, 0.6), 0.01),
                Control(
                    "ties",
                    "Ties are",
                    labels={
                        "excluded": "left out (recommended)",
                        "split": "counted half to each, cautiously",
                        "kept": "kept as 0 between -1 and +1",
                    },
                ),
            ),
        ),
        Group(
            "Who judges how often",
            (
                Control("workers", "Workers", "workers"),
                Control("items", "Items", "items"),
                Control("judgements-per-item", "Judgements of an item"),
                Control("sd-worker", "SD of workers' preferences", slider=(0, 2), step=0.05),
                Control("sd-item", "SD of items' preferences", slider=(0, 2), step=0.05),
                Control("position-bias", "Bias to what is shown first"),
                _LINK,
            ),
            "Where a worker judges several items, or an item is judged several times, the judgements hang "
            "together, and power is less.",
            folded=True,
        ),
        Group(
            "The test",
            (
                Control(
                    "test",
                    "Sign test",
                    labels={
                        "exact": "exact (recommended)",
                        "mid-p": "mid-p",
                        "asymptotic": "normal distribution",
                    },
                ),
                ALPHA,
            ),
        ),
    ),
    carries=(
        "tie-share",
        "ties",
        "test",
        "workers",
        "items",
        "judgements-per-item",
        "sd-worker",
        "sd-item",
        "position-bias",
        "link",
        "alpha",
    ),
)
FORMS = (TEST, *QUESTIONS)
