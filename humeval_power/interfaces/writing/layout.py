"""Where the files of a set are staged, and under which names they come to be."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

STAGING = ".humeval-power.partial"


@dataclass(slots=True)
class Home:
    """A directory in which names appear or change.

    Attributes
    ----------
    moves : the name in the staging folder by the name that it gets in this directory.
    parts : the target of each staged file, by its place in the staging folder.
    """

    path: Path
    moves: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Path] = field(default_factory=dict)

    @property
    def staging(self) -> Path:
        """The folder for what is not finished yet."""
        return self.path / STAGING


def lay_out(targets: Iterable[Path], *, published: Path | None = None) -> dict[Path, Home]:
    """The homes of the targets, in order.

    A folder that is not there yet is staged as a whole and becomes visible in one step. The files of the
    folder `published`, if it is there, are staged beside it and not in it.
    """
    homes: dict[Path, Home] = {}
    for target in targets:
        place = _home_of(target, published)
        home = homes.setdefault(place, Home(place))
        steps = target.relative_to(place).parts
        # what is there already changes file by file; the first step that is missing comes as a whole
        whole = next(
            (n for n in range(1, len(steps)) if not place.joinpath(*steps[:n]).is_dir()), len(steps)
        )
        part = home.moves.setdefault("/".join(steps[:whole]), str(len(home.moves)))
        home.parts["/".join([part, *steps[whole:]])] = target
    return dict(sorted(homes.items()))


def _home_of(target: Path, published: Path | None) -> Path:
    if published is not None and published.is_dir() and target.is_relative_to(published):
        return _outside(published)
    return next(above for above in target.parents if above.is_dir())


def _outside(folder: Path) -> Path:
    """The directory above, or the folder itself where nothing can be moved from there (a volume, say)."""
    above = folder.parent
    same_disk = folder.stat().st_dev == above.stat().st_dev
    return above if same_disk and os.access(above, os.W_OK | os.X_OK) else folder
