"""Sentences on a study that several forms share: its size, its scale, what was left out, who computed it."""

from __future__ import annotations

from humeval_power.reporting.report.facts.record import StudyFacts
from humeval_power.reporting.values import Document, number, part, plain, share, words
from humeval_power.rules import claim
from humeval_power.scales import RatingScale

CARD2020 = "Card et al. (2020), https://aclanthology.org/2020.emnlp-main.745"


def outputs_per_system(facts: StudyFacts) -> str | None:
    """'60', or a sentence where not every item was rated under every system."""
    items, ratings, per_item = facts.n_items, facts.n_ratings, facts.ratings_per_item
    if items is None or ratings is None or not per_item:
        return None
    n_outputs = round(ratings / per_item)
    if n_outputs == max(len(facts.systems), 2) * items:
        return f"{items:.0f}"
    return (
        f"{n_outputs:,} outputs of {facts.all_systems} together, of {items:,.0f} items: not every item was rated "
        f"under {facts.all_systems}."
    )


def size_sentence(facts: StudyFacts) -> str | None:
    """'15 workers gave 1,800 ratings of 60 items, 15 for each item and system.'"""
    workers, items, ratings = facts.n_workers, facts.n_items, facts.n_ratings
    if workers is None or items is None or ratings is None:
        return None
    each = (
        ""
        if facts.ratings_per_item is None
        else f", {_mean(facts.ratings_per_item)} for each item and system"
    )
    return f"{workers:,} workers gave {ratings:,} ratings of {items:,} items{each}."


def _mean(value: float) -> str:
    return f"{value:g}" if value == int(value) else f"{value:.3g} on average"


def scale_size(scale: RatingScale) -> str:
    """The number of points, or 'continuous'."""
    return "continuous" if scale.points is None else str(scale.points)


def scale_values(scale: RatingScale) -> str:
    """'1, 2, 3, 4, 5' for a short scale of whole numbers, else its range."""
    low, high, points = scale.low, scale.high, scale.points
    if points is not None and points <= 11 and float(low).is_integer() and high - low == points - 1:
        return ", ".join(f"{low + step:g}" for step in range(points))
    return f"[{low:g}, {high:g}]"


def interest_sentence(facts: StudyFacts) -> str | None:
    """The power that the collected design had at the difference of interest, and what a significant
    result would be worth; None where no difference of interest was stated."""
    interest = part(facts.record, "power_at_interest")
    effect, fitted = number(interest, "effect"), number(interest, "fitted")
    if effect is None or fitted is None:
        return None
    planned = number(interest, "planned")
    by_plan = "" if planned is None else f" ({share(planned)} with the parameters of the plan)"
    rule = facts.rule
    at, goal = f"the difference of interest, {plain(effect)} on [0, 1]", ""
    if rule is not None and rule.margin is not None:
        at, goal = f"a true difference of {plain(effect)} on [0, 1]", f" to show {claim(rule)}"
    said = (
        f"At {at}, this design and test have a power{goal} of "
        f"{share(fitted)} with the parameters of these ratings{by_plan}."
    )
    type_m, type_s = number(interest, "type_m"), number(interest, "type_s")
    if type_m is not None and type_s is not None:
        said += (
            f" Were that the true difference, a significant result would exaggerate it {type_m:.2f} times on "
            f"average and have the wrong sign with probability {_small(type_s)}."
        )
    return said


def _small(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


def software_words(document: Document) -> str | None:
    """'humeval-power 0.1.0 (python 3.11.7, numpy 2.4.6)' by the versions in the document."""
    versions = part(document, "versions")
    own = words(versions, "humeval-power")
    if own is None:
        return None
    others = ", ".join(
        f"{name} {version}" for name, version in versions.items() if name != "humeval-power" and version
    )
    return f"humeval-power {own}" + (f" ({others})" if others else "")


def command_words(document: Document) -> str | None:
    """The command that made a document, as it was typed."""
    return words(document, "command")
