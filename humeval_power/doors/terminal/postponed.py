"""What makes a command of a terminal start sooner: modules that hardly anyone uses wait, and the collector."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

# SciPy copies all names of NumPy, and so loads its compiler of Fortran and its test tools: half of its own start.
_POSTPONED = {"numpy.f2py", "numpy.testing"}
# Modules and their classes are objects that stay: looking through them for garbage is a tenth of a start.
_NEW_OBJECTS = (50_000, 20, 100)  # after which the collector looks at the youngest, the young, and all


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


def start_quickly() -> None:
    """For the commands of a terminal: a process that is not ours loads and collects as it wants."""
    gc.set_threshold(*_NEW_OBJECTS)
    if _Postponing not in sys.meta_path:
        sys.meta_path.insert(0, _Postponing)
