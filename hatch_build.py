"""What the build adds to a wheel or a source archive: the commit that it was made from, where there is one."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "humeval_power/commit.txt"


class Commit(BuildHookInterface):  # type: ignore[type-arg]
    """Put the commit of the checkout into the package; a source archive has it already, and hands it on."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it packs; an editable installation reads its checkout instead."""
        if version == "editable" or Path(self.root, NAME).exists():
            return
        command = ["git", "-C", self.root, "rev-parse", "--verify", "HEAD"]
        try:
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return  # no checkout: nothing is said
        with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
            file.write(found + "\n")
        build_data["force_include"][file.name] = NAME
