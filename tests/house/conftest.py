"""What the tests of the whole house share: every command, run once."""

from __future__ import annotations

from typing import Any

import pytest
from every_command import run_all


@pytest.fixture(scope="session")
def every_command(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The exit code and the record of every command line of `every_command.COMMANDS`."""
    return run_all(tmp_path_factory.mktemp("commands"))
