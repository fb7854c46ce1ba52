"""Every command's JSON is what it was, and every record says what it is and how it came about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from every_command import COMMANDS, GOLDEN, VOLATILE, are_close


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_still_gives_the_numbers_that_it_gave(name, every_command, golden):
    assert every_command[name]["exit"] == golden[name]["exit"]
    differences = list(_different(golden[name]["record"], every_command[name]["record"], ""))
    assert not differences, "\n".join(differences[:20])


def _different(old: Any, new: Any, path: str):
    """Where two records differ: other names, other words, numbers apart by more than other machines' rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted((set(old) | set(new)) - VOLATILE):
            if key not in new or key not in old:
                yield f"{path}.{key}: only {'before' if key in old else 'now'}"
            else:
                yield from _different(old[key], new[key], f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _different(one, other, f"{path}[{place}]")
    elif old != new and not are_close(old, new):
        yield f"{path}: {old!r} before, {new!r} now"
