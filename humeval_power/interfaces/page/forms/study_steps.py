"""Where the forms of a study lead to, and what goes along."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Group, Next
from humeval_power.interfaces.page.forms.study_controls import ITEMS, N_SYSTEMS, PER_ITEM, WORKERS

SIZE_OF_STUDY = Group("The size of the study", (WORKERS, ITEMS, PER_ITEM, N_SYSTEMS))
CARRIED = (
    *(
        "preset",
        "parameters",
        "values",
        "scale",
        "lower-is-better",
        "effect-raw",
        "effect",
        "effect-latent",
    ),
    *("n-systems", "systems", "pattern", "system-means", "goal", "comparisons", "baseline", "model"),
    *(
        "correction",
        "system-variances",
        "family",
        "shares",
        "link",
        "lost",
        "quitting",
        "careless",
        "at-random",
    ),
    *("straight-lining", "exclusion", "alternative", "margin", "margin-raw", "alpha", "estimator", "df"),
    *(
        "analysis",
        "cost-per-rating",
        "pay-per-hour",
        "seconds-per-rating",
        "cost-per-worker",
        "cost-per-item",
    ),
    *("cost-per-document", "cost-per-output", "rejected", "checks", "repeats", "fee", "fees", "fee-share"),
    *("units-per-assignment", "split-hits", "currency", "power"),
)
TO_PLAN = Next(
    ("plan",),
    "Find the cheapest design, and seal the plan",
    carries=CARRIED,
    sets={"items": "50:300:25", "max-workers": "40", "cost-per-rating": "0.10"},
)
TO_POWER = Next(("power",), "Power of one size")
TO_MDE = Next(("mde",), "What is the smallest difference that it finds?")
TO_SIZE = Next(("size",), "How many workers are enough?", sets={"find": "workers"})
TO_SURFACE = Next(
    ("surface",),
    "A picture over many sizes",
    carries=tuple(name for name in CARRIED if name not in ("power",)),
    sets={"workers": "5:40:5", "items": "50,100,200"},
)
TO_LOOKS = Next(("looks", "study"), "Look at the ratings before the end")
