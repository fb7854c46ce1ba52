"""Names that a package offers, loaded when they are used: stated once, in the stub beside the module."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a module from the imports of its stub.

    A stub is what type checkers read; `from a.b import c as c` offers `a.b.c`, which is imported when somebody
    asks for it (PEP 562). So importing the package costs nothing.
    """
    tree = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    places = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
        if alias.asname == alias.name
    }

    def load(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = None if places[name] == package else importlib.import_module(places[name])
        if hasattr(module, name):
            return getattr(module, name)
        return importlib.import_module(f"{places[name]}.{name}")

    return load, lambda: sorted(places), sorted(places)
