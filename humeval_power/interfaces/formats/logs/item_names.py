"""Names of items in logs that give none, or one to several questions; and the runs of what was samples again."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

_LONGEST = 60  # characters of a question that is its own name
_DIGITS = 8  # of the digest that ends other names


def item_names(samples: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each sample, the same for the same question in every log.

    samples : of each the name that the log gives it, '' for none, and all that tells its question from others.
        A name of several questions is followed by a digest, and without a name the question is one.
    """
    questions: dict[str, set[str]] = defaultdict(set)
    for name, question in samples:
        questions[name].add(question)
    return [_name(name, question, is_one=len(questions[name]) == 1) for name, question in samples]


def run_numbers(keys: Sequence[Hashable]) -> list[str]:
    """Which time each comes, from 1; '' for all where each comes once."""
    count: Counter[Hashable] = Counter()
    numbers = []
    for key in keys:
        count[key] += 1
        numbers.append(str(count[key]))
    return numbers if len(count) < len(keys) else [""] * len(keys)


def canonical(value: object) -> str:
    """A value of JSON as one text, whatever the order of its names."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _name(name: str, question: str, *, is_one: bool) -> str:
    if not name:
        return _short(question)
    return name if is_one else f"{name} {digest_of(question)[:_DIGITS]}"


def _short(question: str) -> str:
    words = " ".join(question.split())
    if words == question and len(words) <= _LONGEST:
        return words
    return f"{words[: _LONGEST - 20].rstrip()}... {digest_of(question)[:_DIGITS]}"
