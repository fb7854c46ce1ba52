"""Forms of the journey from nothing to a plan."""

from __future__ import annotations

from humeval_power.interfaces.page.forms.form import Control, Form, Group, Next

_ASSUMED = Group(
    "What is known of such ratings",
    (
        Control("preset", "Published setting", start="high"),
        Control("parameters", "Parameters of your pilot"),
        Control(
            "scale", "Scale that you rate on", help="Such as 1:5; effects can then be given in its points."
        ),
    ),
)
POWER = Form(
    ("power",),
    "plan",
    "Power of a study",
    "How often would a study of this size find a difference of this size?",
    (
        Group(
            "The study",
            (
                Control("workers", unit="workers", slider=(2, 100), start="20"),
                Control("items", unit="items", slider=(5, 500), start="100"),
                Control("ratings-per-item", slider=(1, 20)),
                Control("effect", "Difference B - A", "on [0, 1]", (0, 0.3), 0.005, "0.1"),
            ),
        ),
        _ASSUMED,
    ),
    live={"method": "analytic"},
    next=(Next(("plan",), "Find the cheapest design"),),
)
FORMS = (POWER,)
