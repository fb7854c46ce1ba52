"""The form of the six questions that lead to the commands and the pages that one needs."""

from __future__ import annotations

from humeval_power.interfaces.page.forms.form import Control, Form, Group

START = Form(
    ("start",),
    "start",
    "Six questions",
    "From what you have to the pages and the commands that you need. Nothing is computed yet.",
    (
        Group(
            "1. What is one judgement?",
            (
                Control(
                    "judgement",
                    "One judgement is",
                    start="points",
                    labels={
                        "points": "points that a person gives on a scale",
                        "yes-no": "a yes or no of a person",
                        "preference": "which of two outputs a person prefers",
                        "score": "a number that a metric gives",
                        "correct": "correct or wrong, against what is right",
                        "corpus": "one score for a whole corpus, such as BLEU",
                    },
                ),
                Control("scale", "Scale of the points", help="Such as 1:5 or 0:100."),
            ),
        ),
        Group(
            "2. What is there already?",
            (
                Control(
                    "have",
                    "There is",
                    start="nothing",
                    labels={
                        "nothing": "nothing yet: I am planning",
                        "pilot": "a pilot: a few judgements to plan from",
                        "results": "finished judgements to analyse",
                    },
                ),
                Control("file", "Its file", help="It is looked at, so that all that follows fits it."),
            ),
        ),
        Group(
            "3. What is compared?",
            (
                Control("n-systems", "How many systems", slider=(2, 20), start="2"),
                Control("systems", "Or their names", help="Such as baseline,new,other."),
                Control(
                    "comparisons",
                    "Which are compared",
                    labels={"all-pairs": "every pair", "baseline": "every other one with a baseline"},
                ),
                Control("baseline", "The baseline"),
            ),
        ),
        Group(
            "4. Who judges?",
            (
                Control(
                    "raters",
                    "People who judge",
                    labels={
                        "prolific": "a crowd on Prolific",
                        "mturk": "a crowd on Mechanical Turk",
                        "students": "students or colleagues",
                        "experts": "experts",
                        "unknown": "I don't know yet",
                    },
                ),
                Control("pay-per-hour", "Pay for an hour", "USD"),
                Control("seconds-per-rating", "One judgement takes", "seconds"),
            ),
        ),
        Group(
            "5. Which difference matters?",
            (
                Control("difference", "The smallest that matters"),
                Control("sd", "Spread of the items' own differences of scores"),
                Control("accuracy", "The baseline gets right", "of a hundred"),
            ),
        ),
        Group(
            "6. What limits you?",
            (Control("limit", "The limit", help="budget=500, workers=20, items=100, or nothing."),),
        ),
    ),
    live={"assume-rest": "1"},
)
