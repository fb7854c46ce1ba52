"""Sentences about A and B with the systems' names in their place."""

from __future__ import annotations

import re

# An A that follows a small letter or a minus is no article.
_ROLES = re.compile(r"\bB\b|(?<=[a-z,] )A\b|(?<=[-\u2212] )A\b|^A(?= alone)")


def with_names(words: str, systems: tuple[str, str]) -> str:
    """Our own words, which say A and B, about these systems (A first); never words that hold names already.

    Examples
    --------
    >>> with_names("The mean of B - A; B is better than A", ("old", "new"))
    'The mean of new - old; new is better than old'
    """
    return _ROLES.sub(lambda role: systems[role[0] == "B"], words)
