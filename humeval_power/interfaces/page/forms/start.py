"""The six questions as a form of the page: what the terminal asks one after the other, all at once."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group
from humeval_power.reporting.start.questions import (
    COMPARISONS,
    HAVES,
    JUDGEMENTS,
    QUESTIONS,
    RATERS,
    YES_NO,
)
from humeval_power.reporting.start.talk import Talk

_LABELS = {
    "judgement": dict(JUDGEMENTS),
    "have": dict(HAVES),
    "comparisons": dict(COMPARISONS),
    "raters": dict(RATERS),
    "academic": dict(YES_NO),
}
_STARTS = {"judgement": "points", "have": "nothing"}
_OWN_WORDS = {
    "systems": "Or their names",
    "comparisons": "Of several, compare",
    "difference": "The smallest difference that matters",
    "limit": "What limits the study",
    "file": "File",
}
_NOTES = {
    "difference": "In points of the scale, in points of a hundred, or in units of the score; leave it empty if "
    "you do not know.",
    "limit": "Such as 500 (US dollars), workers=20 or items=100.",
    "file": "Bring it below, or name one of the folder. Of right answers and of corpora three: of A, of B, what is "
    "right.",
}


def _group(place: int) -> Group:
    question = QUESTIONS[place]
    asked = [ask for ask in question.asks if ask.option != "amount"]
    controls = [
        Control(
            ask.option,
            _OWN_WORDS.get(ask.option) or ask.text(Talk()),
            start=_STARTS.get(ask.option, ""),
            help=_NOTES.get(ask.option, ""),
            labels=_LABELS.get(ask.option, {}),
        )
        for ask in asked
    ]
    if asked[0].option == "systems":
        controls.insert(0, Control("n-systems", "Their number"))
    return Group(f"{place + 1}. {question.title}", tuple(controls), note=question.why)


START = Form(
    ("start",),
    "start",
    "Six questions",
    "What you have, and what you want to know: the answer is what to do, step by step. Leave out what you do not "
    "know.",
    tuple(_group(place) for place in range(len(QUESTIONS))),
    live={"assume-rest": "1"},
)
