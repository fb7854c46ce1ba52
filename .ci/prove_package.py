"""Build wheel and source archive, install them into clean environments, and use what is installed.

    python .ci/prove_package.py [--python PYTHON]... [--lowest]

The wheel is built from the source archive, which is so proved to hold all. Each Python gets an environment with the
wheel and its dependencies, no extra; with --lowest one more, of the first Python, with the lowest versions that
pyproject.toml allows. `use_package.py` is run in each; all must find the same numbers as the first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Other versions of NumPy, SciPy and LLVM round otherwise, and a search may stop an iteration earlier or later; no
# digit that is printed may change.
AGREEMENT = 1e-6


def lowest(folder: Path) -> Path:
    """A file of constraints: each dependency at its lower bound."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    path = folder / "lowest.txt"
    path.write_text("".join(f"{each.replace('>=', '==')}\n" for each in needed))
    return path


def build(folder: Path) -> Path:
    """The wheel, from the source archive."""
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (wheel,) = folder.glob("*.whl")
    (archive,) = folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed:
        others = {name.split("/")[0] for name in packed.namelist()}
    strangers = {name for name in others if not name.startswith("humeval_power")}
    if strangers:
        sys.exit(f"The wheel holds {', '.join(sorted(strangers))}, which is none of the package.")
    print(
        f"{wheel.name} {wheel.stat().st_size:,} bytes, {archive.name} {archive.stat().st_size:,} bytes",
        flush=True,
    )
    return wheel


def used(python: str, wheel: Path, commit: str, folder: Path, *constraints: str) -> dict[str, float]:
    """The numbers that the package finds when it is installed for this Python alone."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    installed = folder / "bin" / "python"
    pip = [str(installed), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    asked = subprocess.run([*pip, str(wheel), *constraints], stderr=subprocess.PIPE, text=True, check=False)
    if asked.returncode:
        sys.exit(f"{python} {' '.join(constraints)}: it cannot be installed there.\n{asked.stderr}")
    words = [
        str(installed),
        "-I",
        str(ROOT / ".ci" / "use_package.py"),
        str(ROOT / "data"),
        commit,
    ]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} {' '.join(constraints)}: it does not work there.")
    numbers: dict[str, float] = json.loads(done.stdout)
    return numbers


def differences(first: dict[str, float], other: dict[str, float]) -> list[str]:
    """Numbers that two environments do not share."""
    if first.keys() != other.keys():
        return [f"{name}: only one has it" for name in sorted(first.keys() ^ other.keys())]
    return [
        f"{name}: {value} and {other[name]}"
        for name, value in first.items()
        if not (value == other[name] or abs(value - other[name]) <= AGREEMENT * max(1.0, abs(value)))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", action="append", help="an interpreter; once for each  [this one]")
    parser.add_argument("--lowest", action="store_true", help="the lowest versions of all dependencies too")
    options = parser.parse_args()
    pythons = options.python or [sys.executable]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked_of = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
        # What is no checkout has no commit to tell.
        commit = subprocess.run(asked_of, capture_output=True, text=True, check=False).stdout.strip()
        wheel = build(folder / "dist")
        first: dict[str, float] = {}
        asked = [(python, ()) for python in pythons]
        if options.lowest:
            asked.append((pythons[0], ("--constraint", str(lowest(folder)))))
        for number, (python, constraints) in enumerate(asked):
            found = used(python, wheel, commit, folder / f"env{number}", *constraints)
            first = first or found
            differing = differences(first, found)
            if differing:
                sys.exit("\n".join([f"{python}: other numbers.", *differing]))
            versions = ", lowest versions" if constraints else ""
            print(f"{python}{versions}: works, the same {len(found)} numbers", flush=True)


if __name__ == "__main__":
    main()
