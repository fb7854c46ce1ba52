"""Forms of what other studies found, to plan from."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.study_controls import ENTRIES
from humeval_power.interfaces.page.forms.study_steps import A_STUDY

LIST = Form(
    ("parameters", "list"),
    "plan",
    "What other studies found",
    "How much workers and items differed elsewhere: to plan from, where there is no pilot yet.",
    (
        Group(
            "Where to look",
            (Control("library", "Your own library", help="Beside what comes with the package."),),
        ),
    ),
    next=(Next(("parameters", "show"), "One of them", sets={"entry": "pplm-fluency-gradient"}),),
)
SHOW = Form(
    ("parameters", "show"),
    "plan",
    "One other study",
    "Where these figures come from and what they are worth.",
    (
        Group(
            "The study",
            (
                Control("entry", "Study", start="pplm-fluency-gradient", labels=ENTRIES),
                Control("library", "Your own library"),
            ),
        ),
    ),
    next=(Next(("power",), "Plan from it", ("scale",), {"parameters": "record.json"}, sets=A_STUDY),),
)
