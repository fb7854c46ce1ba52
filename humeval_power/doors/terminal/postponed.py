"""Modules that other packages import and hardly ever use, loaded when something of them is asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

# SciPy copies all names of NumPy, and so loads its compiler of Fortran and its test tools: half of its own start.
_POSTPONED = {"numpy.f2py", "numpy.testing"}


class _Postponing:
    """Finds these modules as Python does, to be loaded at the first use."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's specification, None for all others."""
        spec = PathFinder.find_spec(name, path, target) if name in _POSTPONED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone_imports() -> None:
    """For the commands of a terminal: a process that is not ours loads what it wants."""
    if _Postponing not in sys.meta_path:
        sys.meta_path.insert(0, _Postponing)
