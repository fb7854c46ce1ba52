"""Compute the founding papers again, one script for each: make papers.

python examples/papers/make.py             write docs/papers anew
python examples/papers/make.py --check     change nothing; end with 1 where a number that held no longer does
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from paper import HERE, NOT_HERE, PAGES

OWN = ("make", "paper")
HEAD = """# The founding papers, computed again

Each page sets the tables, figures and numbers of a paper beside what this package finds, with the difference and
its reason. `make papers` makes them anew, and fails where a number that held no longer does. Two data sets are not
passed on: their sections say so, and stand as they were last computed where the data are not at hand.

| Page | Numbers | Equal as printed | Within the error said | Differ, with a reason |
|---|---:|---:|---:|---:|
"""


def scripts() -> list[Path]:
    """The scripts of the papers, by name."""
    return sorted(path for path in HERE.glob("*.py") if path.stem not in OWN)


def index() -> str:
    """The page that lists the others, counted from their ledgers."""
    lines = []
    for script in scripts():
        title = (PAGES / f"{script.stem}.md").read_text("utf-8").partition("\n")[0].removeprefix("# ")
        with (PAGES / f"{script.stem}.csv").open(encoding="utf-8", newline="") as file:
            counts = Counter(row["verdict"] for row in csv.DictReader(file))
        shares = " | ".join(f"{counts[verdict]:,}" for verdict in ("equal", "within", "differs"))
        lines.append(f"| [{title}]({script.stem}.md) | {counts.total():,} | {shares} |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    """Run every script, tell how long each took, and name those that failed."""
    parser = argparse.ArgumentParser(description="Compute the founding papers again, one script for each.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; end with 1 where a number moved"
    )
    mode = "--check" if parser.parse_args().check else "--write"
    failed = []
    for script in scripts():
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, script, mode], stdout=subprocess.PIPE, text=True, check=False
        )
        verdict = "FAILED" if done.returncode else "holds"
        print(f"{script.stem:<24}{verdict:>8}{time.perf_counter() - begun:>7.0f} s", flush=True)
        left = [line for line in done.stdout.splitlines() if f": {NOT_HERE}. " in line]
        print("".join(f"  {line}\n" for line in left), end="", flush=True)
        failed += [script.stem] if done.returncode else []
    if failed:
        sys.exit(f"Numbers that do not hold, or scripts that failed: {', '.join(failed)}.")
    if mode == "--write":
        (PAGES / "README.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
