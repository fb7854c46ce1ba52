"""What happened to a plan after it was sealed: amendments, each with the values before and after."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from typing import Any

_LONGEST_VALUE = 60


@dataclass(frozen=True, slots=True)
class Change:
    """One value of a plan document, as it was and as it became; `path` joins names by full stops."""

    path: str
    old: Any
    new: Any

    def __str__(self) -> str:
        old, new = _shown(self.old, 6), _shown(self.new, 6)
        if old == new:
            old, new = _shown(self.old, 17), _shown(self.new, 17)
        return f"{self.path}: {old} -> {new}"


@dataclass(frozen=True, slots=True)
class Amendment:
    """Changes made on one day for one reason; `checksum_before` is that of the plan they replaced."""

    date: datetime.date
    reason: str
    checksum_before: str
    changes: tuple[Change, ...]


def _shown(value: object, digits: int) -> str:
    text = f"{value:.{digits}g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
