"""What a command says, in the words of the page: options by the labels of their fields, commands as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape, unescape

from humeval_power.study import FIELDS, option_of

# A command as one would type it, which stays, or an option.
_SAID = re.compile(
    r"(?P<command>'humeval-power [^']*'|humeval-power .*)"
    r"|(?P<quote>'?)--(?P<option>[a-z](?:[a-z0-9-]*[a-z0-9])?)(?P=quote)",
    re.DOTALL,
)
_TAG = re.compile(r"(<[^>]*>)")
_AS_IT_IS = re.compile(r"<(/?)(?:pre|code|style|script)\b")


def by_labels(text: str, labels: Mapping[str, str]) -> str:
    """A text with options of the terminal by their labels, those without one by their names."""

    def called(found: re.Match[str]) -> str:
        name = found["option"]
        return found["command"] or f"\u201c{labels.get(name) or name.replace('-', ' ')}\u201d"

    return _SAID.sub(called, text)


def on_page(help: str) -> str:
    """What is said of an option in the words of the page: fields of the study by their labels."""
    labels = {
        option_of(name)[2:]: one.label.removeprefix("Or ") for name, one in FIELDS.items() if one.label
    }
    return re.sub(r"; see \u201c[^\u201d]*\u201d\.", ".", by_labels(help, labels))


def html_by_labels(html: str, labels: Mapping[str, str]) -> str:
    """The same of what stands between the tags, but for code."""
    depth = 0
    parts = _TAG.split(html)
    for place, part in enumerate(parts):
        if place % 2:
            found = _AS_IT_IS.match(part)
            depth += 0 if found is None else -1 if found[1] else 1
        elif not depth and "--" in part:
            parts[place] = escape(by_labels(unescape(part), labels), quote=False)
    return "".join(parts)
