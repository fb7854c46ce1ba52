"""What the forms of a study ask alike: of the ratings, the difference, the systems, the test and the prices."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from humeval_power.interfaces.page.forms.form import Control, Group
from humeval_power.reporting import study

START_PRESET, START_SCALE, START_POINTS = "high", "1:5", "0.6"


def _entries() -> dict[str, tuple[str, str]]:
    """What the entries of the shipped library are about and what they can be used for; nothing more is read,
    since the page begins with this."""
    place = Path(str(study.__file__)).with_name("parameter_library.json")
    entries = json.loads(place.read_text("utf-8"))["entries"]
    return {entry["name"]: (entry["summary"], entry["use"]) for entry in entries}


ENTRIES = {name: summary for name, (summary, _use) in _entries().items()}
SETTINGS = {
    "high": "Careful: workers and items differ much (Card et al. 2020)",
    "low": "Hopeful: workers and items differ little (Card et al. 2020)",
    **{name: summary for name, (summary, use) in _entries().items() if use == "plan"},
}
PRESET = Control(
    "preset",
    "Ratings like those of",
    start=START_PRESET,
    help="A published study whose ratings varied as yours will. The page 'What other studies found' tells each.",
    labels={"": "none of these", **SETTINGS},
)
PARAMETERS = Control(
    "parameters",
    "Or your pilot, fitted",
    help="The parameters that the page 'Fit a pilot' writes of a table of ratings; drop the file here.",
)
VALUES = Control(
    "values", "Or standard deviations", help="Such as sd_worker_slope=0.05,sd_residual=0.2 on [0, 1]."
)
SCALE = Control(
    "scale",
    "Scale that is rated on",
    start=START_SCALE,
    help="Lowest and highest point, such as 1:5 or 0:100. Differences can then be given in its points.",
)
LOWER = Control(
    "lower-is-better",
    "Which end is good",
    labels={"1": "Low ratings are good", "0": "High ratings are good"},
)
NOTE_KNOWN = "Give one of them: how much ratings vary decides how many are needed."


def known(*more: Control, note: str = NOTE_KNOWN) -> Group:
    """Where the variances come from; `more` are other ways to say it."""
    ways = (PRESET, PARAMETERS, VALUES, *more)
    return Group("How ratings vary", ways, note, one_of=tuple(each.option for each in ways))


POINTS = Control(
    "effect-raw",
    "Difference in points of the scale",
    "points",
    (0, 2),
    0.05,
    START_POINTS,
    "How much better the one system is than the other, at the least that would matter.",
)
SHARE = Control(
    "effect",
    "Or on [0, 1]",
    "of the scale",
    (0, 0.5),
    0.005,
    help="The same as a share of the whole scale: 0.1 is 0.4 points of 1 to 5.",
)
LATENT = Control(
    "effect-latent", "Or on the latent scale", "SD of the noise", help="For ordered categories only."
)


def difference() -> Group:
    """The scale, and the effect in one of its units."""
    units = (POINTS, SHARE, LATENT)
    note = "In points of the scale, or as a share of it: one of them."
    return Group(
        "The difference to find", (SCALE, *units), note, one_of=tuple(each.option for each in units)
    )


WORKERS = Control(
    "workers", "Workers", "workers", (2, 60), 1, "25", "Different people who rate. More of them help most."
)
ITEMS = Control(
    "items", "Items", "items", (5, 500), 5, "150", "Texts, documents, conversations ... to rate."
)
PER_ITEM = Control(
    "ratings-per-item",
    "Ratings of each item",
    "for each system",
    (1, 20),
    1,
    "3",
    "How many workers rate an item under a system. Left empty, every worker rates every item.",
)
N_SYSTEMS = Control("n-systems", "Systems", "systems", (2, 12), 1, help="Two, where nothing is given.")
DOCUMENTS = Control(
    "documents",
    "Documents",
    "documents",
    (2, 100),
    1,
    help="Where items are parts of documents: sentences of ten documents are ten things, not a hundred. Left "
    "empty, items stand alone.",
)
ALTERNATIVE = Control(
    "alternative",
    "What to show",
    labels={
        "two-sided": "A difference, in either direction",
        "greater": "B is better than A",
        "non-inferior": "B is not worse by the margin",
        "equivalent": "No difference as large as the margin",
    },
)
TARGET = Control(
    "power", "Power to reach", "", (0.5, 0.99), 0.01, help="Share of studies that find the difference."
)
_GOALS = {
    "pair": "A pair that differs is found",
    "any": "At least one true difference is found",
    "all": "All true differences are found",
    "best": "The best is found above every other",
    "first": "The best has the highest mean",
}
_CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "max-t": "Dunnett or Tukey (joint model)",
    "bh": "False discovery rate (Benjamini-Hochberg)",
    "none": "None",
}
_SYSTEMS = (
    Control("systems", "Their names", help="Such as A,B,C: then their number need not be given."),
    Control(
        "pattern",
        "How they differ",
        labels={
            "one": "One above all others by the difference",
            "steps": "In steps of the difference",
            "extremes": "The best and the worst by the difference, the others between",
        },
    ),
    Control("system-means", "Or their true means", help="On [0, 1], one for each: .5,.5,.55,.6."),
    Control("goal", "What counts as power", labels=_GOALS),
    Control(
        "comparisons",
        "What is compared",
        labels={"all-pairs": "Every pair", "baseline": "Every other system with one"},
    ),
    Control("baseline", "Compared with", help="The system that all others are compared with."),
    Control(
        "model",
        "Model",
        labels={"pairwise": "Each pair by itself", "joint": "All systems together"},
    ),
    Control("correction", "Correction of all tests", labels=_CORRECTIONS),
)
_KIND = (
    Control(
        "family",
        "Ratings are",
        labels={
            "gaussian": "Numbers (1 to 5, 0 to 100)",
            "ordinal": "Ordered categories",
            "binary": "Yes or no",
        },
    ),
    Control(
        "shares",
        "Share of each category",
        help="Worst first, over both systems: .05,.1,.2,.4,.25 for five points; .4,.6 for no and yes.",
    ),
    Control("link"),
    Control(
        "response",
        "In simulations ratings are",
        labels={
            "gaussian": "as the model has them",
            "clipped": "cut to the ends of the scale",
            "likert": "rounded to points",
        },
    ),
    Control("points", "Points of the scale", "points"),
)
_DOCUMENTS = (
    DOCUMENTS,
    Control("items-per-document", "Items of each document", "items"),
)
_DESIGN = (
    Control(
        "paired",
        "Who sees both systems",
        labels={"1": "The same workers", "0": "Other workers for each system"},
    ),
    Control("design", "Design"),
    Control("max-ratings-per-worker", "Most ratings of a worker", "ratings"),
)
_LOSSES = (
    Control("lost", "Ratings that never come", "as a share", (0, 0.5), 0.01),
    Control("quitting", "Workers who quit midway", "as a share", (0, 0.5), 0.01),
    Control("careless", "Careless workers", "as a share", (0, 0.5), 0.01),
    Control("at-random", "Workers who answer at random", "as a share", (0, 0.5), 0.01),
    Control("straight-lining", "Workers with one answer for all", "as a share", (0, 0.5), 0.01),
    Control(
        "exclusion",
        "Left out before the analysis",
        labels={"none": "Nobody", "careless": "The careless, as if known", "suspicious": "The suspicious"},
    ),
)
_TEST = (
    ALTERNATIVE,
    Control("margin-raw", "Margin in points of the scale", "points"),
    Control("margin", "Or margin on [0, 1]", "of the scale"),
    Control("alpha", "Level of the test", "", (0.001, 0.2), 0.001),
    Control("estimator", labels={"reml": "Restricted maximum likelihood", "ml": "Maximum likelihood"}),
    Control("df", "Degrees of freedom"),
    Control(
        "analysis",
        "Analysed",
        labels={"ratings": "All ratings", "differences": "Each worker's and item's difference alone"},
    ),
    Control("compat", "Decide as", labels={"card2020": "Card et al. (2020)"}),
)
_PRICES = (
    Control("cost-per-rating", "Price of a rating", "USD", (0, 2), 0.01),
    Control("pay-per-hour", "Or pay per hour", "USD"),
    Control("seconds-per-rating", "Seconds that a rating takes", "seconds", help="With the pay per hour."),
)
_FURTHER_PRICES = (
    Control("cost-per-worker", "Once for each worker", "USD", help="Qualification, training."),
    Control("cost-per-item", "Once for each item", "USD", help="A reference, for instance."),
    Control("cost-per-document", "Once for each document", "USD"),
    Control("cost-per-output", "Once for each item and system", "USD", help="Generation of the text."),
    Control(
        "rejected",
        "Work that is thrown away",
        "as a share",
        (0, 0.5),
        0.01,
        help="It is paid, and done again.",
    ),
    Control("checks", "Attention checks", "for each rating", help="They are paid like ratings."),
    Control("repeats", "Outputs shown once more", "for each rating", help="They are paid like ratings."),
    Control("fee", "Platform", help="Its fees are added: prolific, mturk and others."),
    Control("fees", "Your own table of fees"),
    Control("fee-share", "The platform's share of the pay", "as a share"),
    Control("units-per-assignment", "Items in one HIT", "items"),
    Control("split-hits", "Publish HITs in copies below the fee's cliff"),
    Control("currency", "Currency", help="Three letters, such as USD or EUR."),
)
_RUN = (
    Control("simulations", "Simulated studies", "studies", help="More of them narrow the interval."),
    Control("seed", "Seed of the random numbers", help="The same seed gives the same numbers."),
    Control("precision", "Simulate until the power is known to +-"),
    Control("method", "How it is computed"),
)


def money(*more: Control, start: str = "") -> tuple[Group, ...]:
    """What a rating costs; `start` is the price of a rating at first."""
    price = tuple(
        replace(each, start=start) if each.option == "cost-per-rating" else each for each in _PRICES
    )
    note = "A price for each rating, or the pay per hour with the seconds that a rating takes."
    return (
        Group("What it costs", (*price, *more), note, one_of=("cost-per-rating", "pay-per-hour")),
        Group("Further costs and fees", _FURTHER_PRICES, folded=True),
    )


SYSTEMS = Group("Several systems", _SYSTEMS, folded=True)
KIND = Group("Kind of ratings", _KIND, folded=True)
IN_DOCUMENTS = Group("Documents", _DOCUMENTS, folded=True)
DESIGN = Group("Who rates what", _DESIGN, folded=True)
LOSSES = Group("What goes wrong", _LOSSES, folded=True)
TEST = Group("The test", _TEST, folded=True)
RUN = Group("The simulation", _RUN, folded=True)


def but(group: Group, *options: str) -> Group:
    """A group without some of its controls."""
    return replace(group, controls=tuple(each for each in group.controls if each.option not in options))
