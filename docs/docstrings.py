"""Read the package's docstrings for the site: `name : what it is`, with types from the signatures."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SECTION = re.compile(
    r"^(Parameters|Attributes)\n-+\n(.*?)(?=\n\n\w[^\n]*\n-{3,}\n|\Z)", re.DOTALL | re.MULTILINE
)
ENTRY = re.compile(r"^(?P<names>\w[^\n]*?) : (?P<text>[^\n]*(?:\n[ ]+[^\n]*)*)", re.MULTILINE)


class NamesAndWhatTheyAre(Extension):
    """Move what stands after a colon from the place of a type to that of the description."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite the docstring of a function, class or module before it is parsed."""
        del kwargs
        if obj.docstring is not None:
            obj.docstring.value = SECTION.sub(_described, obj.docstring.value)


def _described(section: re.Match[str]) -> str:
    return f"{section[1]}\n{'-' * len(section[1])}\n{ENTRY.sub(_entry, section[2])}"


def _entry(entry: re.Match[str]) -> str:
    names = entry["names"].removesuffix(", ...")
    first, *rest = (line.strip() for line in entry["text"].splitlines())
    new_sentence = rest and rest[0][:1].isupper() and first[-1:] not in ".,;:"
    text = "\n    ".join([first + ("." if new_sentence else ""), *rest])
    return f"{names}\n    {text}"
