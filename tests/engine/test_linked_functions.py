"""Functions that only kernels call are parts of these: kept with them, with the same numbers and errors."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MODULE = """
import numpy as np
from humeval_power.kernels.kernel import inner, kernel

@inner
def powers(x, out):
    for k in range(len(out)):
        out[k] = x**k

@inner
def horner(c, x):
    value = 0.0
    for k in range(len(c) - 1, -1, -1):
        value = value * x + c[k]
    return value

@inner
def polynomial(c, x):
    if len(c) == 0:
        raise ValueError("A polynomial needs a coefficient.")
    out = np.empty(len(c))
    powers(x, out)
    value = 0.0
    for k in range(len(c)):
        value += c[k] * out[k]
    return value

@kernel
def both(c, x):
    return polynomial(c, x), horner(c, x)

@kernel
def shared(c, x):
    return polynomial(c, x)
"""
CALLS = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import polynomials
c = np.array([1.0, -2.0, 0.5, 3.0])
results = [*polynomials.both(c, 0.7), polynomials.shared(c, -1.5), *polynomials.both(c.astype(np.float32), 0.5)]
try:
    polynomials.shared(np.empty(0), 1.0)
except ValueError as error:
    results.append(str(error))
compiled = [sum(kernel.compiled.stats.cache_misses.values()) for kernel in (polynomials.both, polynomials.shared)]
print(json.dumps({"results": results, "compiled": compiled}))
"""


def _answers(folder: Path) -> dict[str, list[Any]]:
    done = subprocess.run(
        [sys.executable, "-c", CALLS, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, list[Any]] = json.loads(done.stdout)
    return answers


def test_functions_within_kernels_compute_and_fail_the_same_when_compiled_and_when_kept(
    tmp_path: Path,
) -> None:
    (tmp_path / "polynomials.py").write_text(MODULE)
    fresh, kept = _answers(tmp_path), _answers(tmp_path)
    c = [1.0, -2.0, 0.5, 3.0]
    at = [sum(a * x**k for k, a in enumerate(c)) for x in (0.7, 0.7, -1.5, 0.5, 0.5)]
    *numbers, error = fresh["results"]
    assert max(abs(float(a) - b) for a, b in zip(numbers, at, strict=True)) < 1e-6
    assert error == "A polynomial needs a coefficient."
    assert kept["results"] == fresh["results"]
    assert (fresh["compiled"], kept["compiled"]) == ([2, 1], [0, 0])
    files = {path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*.nb[ci]")}
    assert files == {"polynomials.both", "polynomials.shared"}
