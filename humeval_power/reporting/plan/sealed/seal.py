"""The seal of a plan document: its checksum, what differs from it, and the chain of its amendments.

The checksum shows a change that nobody meant to hide. It is no signature: who wants a proof publishes it,
for example in a preregistration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from humeval_power.reporting.plan.history import Change
from humeval_power.safe_text import json_text

PLAN_SCHEMA = "humeval_power/plan/4"
LOOKS_SCHEMA = "humeval_power/looks_plan/1"
SEAL = ("history", "checksum", "sealed")  # the names of a document that are not its content
OPEN = "study."  # what is null there is left out
WHOLE = ("versions",)  # changes of these are listed as one

Values: TypeAlias = dict[str, Any]


def content_of(document: Mapping[str, Any]) -> Values:
    """The document without its seal."""
    return {name: value for name, value in document.items() if name not in SEAL}


def seal(content: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> Values:
    """A document with its history, its checksum and a copy of what was sealed."""
    return {
        **content,
        "history": list(history),
        "checksum": checksum(content, history),
        "sealed": dict(content),
    }


def checksum(content: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256 of content and history as UTF-8 JSON with sorted names and no blanks."""
    whole = {**content, "history": list(history)}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def changes(before: Mapping[str, Any], after: Mapping[str, Any], above: str = "") -> list[Change]:
    """What differs, value by value; a list is one value, and so is a section that comes or goes (null: absent)."""
    found = []
    for name in {**before, **after}:
        path, old, new = f"{above}{name}", before.get(name), after.get(name)
        if isinstance(old, dict) and isinstance(new, dict) and name not in WHOLE:
            found += changes(old, new, f"{path}.")
        elif old != new:
            found.append(Change(path, old, new))
    return found


def value_at(content: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as 'design.n_workers'; None where there is none."""
    value: Any = content
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def is_sealed(document: Mapping[str, Any]) -> bool:
    """Whether the copy, the history and the checksum belong together, whatever became of the content."""
    return bool(document["checksum"] == checksum(document["sealed"], document["history"]))


def chain_holds(content: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether undoing the amendments one by one leads back through the checksums that they state."""
    values: Values = json.loads(json.dumps(content))
    for place in range(len(history) - 1, -1, -1):
        for change in history[place]["changes"]:
            if value_at(values, change["path"]) != change["new"]:
                return False
            _put(values, change["path"], change["old"])
        if history[place]["checksum_before"] != checksum(values, history[:place]):
            return False
    return True


def document_text(document: Mapping[str, Any]) -> str:
    """The document for a file: one value a line, and the sealed copy on a single last line."""
    shown = {name: value for name, value in document.items() if name != "sealed"}
    text = json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    copy = json.dumps(document["sealed"], separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return json_text(f'{text},\n  "sealed": {copy}\n}}\n')


def _put(values: Values, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        values = values[name]
    if value is None and path.startswith(OPEN):
        values.pop(last, None)
    else:
        values[last] = value
