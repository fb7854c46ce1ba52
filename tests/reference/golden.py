"""Where tests find reference values that lie outside this repository."""

import json
from pathlib import Path

import pytest


def shared_golden(shared: Path, name: str) -> dict:
    """One file of reference values, or a skip with the reason."""
    path = shared / "golden" / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"there are no reference values at {path}")
    return json.loads(path.read_text())
