"""What the application is made of, and where the files of its answers lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from humeval_power.interfaces.page.answers import ANSWER, BESIDE

if TYPE_CHECKING:
    from humeval_power.interfaces.page.serving.chosen_folder import Folder
    from humeval_power.interfaces.page.serving.uploads import Uploads
    from humeval_power.interfaces.page.working.workers import Workers


@dataclass(frozen=True, slots=True)
class Parts:
    """Workers, uploads, the folder if any, a private folder for answers, and the token that every form sends."""

    workers: Workers
    uploads: Uploads
    private: Path
    form_token: str
    folder: Folder | None = None

    def folder_of(self, key: str) -> Path:
        """Where the files of an answer are written."""
        return self.private / "answers" / key / ANSWER

    def beside(self, key: str) -> Path:
        """Where those files of it lie that are for whoever asked alone."""
        return self.folder_of(key).with_name(BESIDE)
