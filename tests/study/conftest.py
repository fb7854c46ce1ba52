"""What the tests of rating studies share."""

from __future__ import annotations

import pytest

from humeval_power.inference.study import family_error


@pytest.fixture(autouse=True)
def few_null_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Analyses by the joint model simulate how often max-t errs: 200 studies, of which tests wait for 10."""
    monkeypatch.setattr(family_error, "_N_STUDIES", 10)
