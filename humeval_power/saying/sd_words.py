"""What the standard deviations of a fit or a plan are of, and what is said of those that a table does not tell."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.saying.answer_words import with_names
from humeval_power.saying.numbers import in_words

SD_WORDS = {
    "sd_worker_intercept": "How much workers differ in level",
    "sd_worker_slope": "How much workers differ in B - A",
    "sd_item_intercept": "How much items differ in level",
    "sd_item_slope": "How much items differ in B - A",
    "sd_residual": "The noise of single ratings",
    "sd_worker_item": "How much pairs of a worker and an item differ beyond both",
    "sd_document_intercept": "How much documents differ in level",
    "sd_document_slope": "How much documents differ in B - A",
    "sd_worker": "How much workers differ in level",
    "sd_worker_system": "How much workers differ in what they give a system",
    "sd_item": "How much items differ in level",
    "sd_item_system": "How much items differ in what a system gets on them",
    "sd_document": "How much documents differ in level",
    "sd_document_system": "How much documents differ in what a system gets on them",
}


def sds_in_words(names: Sequence[str], systems: Sequence[str], *, minus: str = "-") -> str:
    """SDs by what they are of, each with its name and what stands behind it, as in 'sd_item (in 2 of 3 fits)'.

    >>> sds_in_words(["sd_item_slope (in 2 of 3 fits)"], ("old", "new"))
    'how much items differ in new - old (sd_item_slope, in 2 of 3 fits)'
    """
    return in_words([_one(name, systems, minus) for name in names])


def _one(name: str, systems: Sequence[str], minus: str) -> str:
    key, _, rest = name.partition(" ")
    if key not in SD_WORDS:
        return name
    words = SD_WORDS[key][0].lower() + SD_WORDS[key][1:]
    if len(systems) == 2:
        words = with_names(words.replace("B - A", f"B {minus} A"), (systems[0], systems[1]))
    more = f", {rest.strip('()')}" if rest else ""
    return f"{words.replace('B - A', 'the difference of two systems')} ({key}{more})"


def zero_words(names: Sequence[str], systems: Sequence[str]) -> str:
    """That these SDs are zero, and what that does not mean."""
    return (
        f"Estimated as exactly zero: {sds_in_words(names, systems)}. That is common in small tables and does not "
        "show that there is no such variation; power planned from a zero is too hopeful."
    )


def apart_words(names: Sequence[str], systems: Sequence[str], known: Sequence[str]) -> str:
    """That a table cannot tell these SDs apart, what is `known` of them, and what that means."""
    also = f" They determine {in_words(known)}." if known else ""
    return (
        f"These ratings cannot tell apart {sds_in_words(names, systems)}.{also} The difference of the systems and "
        "its interval are not affected. Do not plan another number of ratings per item from these SDs."
    )
