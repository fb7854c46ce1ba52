"""Layers of numbers import what is slow to import where they use it, and not when they are imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import humeval_power

PACKAGE = Path(humeval_power.__file__).parent
LAYERS = (
    *("estimation", "simulation", "inference", "scenarios", "checking", "sweep"),
    *("studies", "comparisons", "saying"),
)
SLOW = (
    *("scipy.optimize", "scipy.stats", "scipy.interpolate", "scipy.fft", "scipy.integrate"),
    *("statsmodels", "numba", "numpy.polynomial.legendre"),
)


def imported(body: list[ast.stmt]) -> Iterator[str]:
    """What a module imports when it is imported itself: not in functions, and not for type checkers."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from imported([*node.body, *node.orelse])
        elif isinstance(node, ast.Try | ast.ClassDef | ast.With):
            yield from imported(node.body)


def test_no_layer_of_numbers_imports_an_optimiser_or_distributions_when_it_is_imported() -> None:
    paths = [path for layer in LAYERS for path in sorted((PACKAGE / layer).rglob("*.py"))]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    words = [slow.rpartition(".")[2] for slow in SLOW]
    found = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path, source in sources.items()
        if any(word in source for word in words)  # most need no parser
        for name in imported(ast.parse(source).body)
        if any(name == slow or name.startswith(f"{slow}.") for slow in SLOW)
    ]
    assert len(paths) > 300
    assert not found
