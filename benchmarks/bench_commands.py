"""Wall time of whole commands, start-up included; the kernels have been compiled before.

python benchmarks/bench_commands.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from studies import machine, print_table, time_of, wait_until_quiet

COMMANDS = (
    "--help",
    "power --preset high --workers 10 --items 100 --effect 0.1",
    "power --preset high --workers 10 --items 100 --ratings-per-item 3 --effect 0.1",
    "surface --preset high,low --workers 3,10 --items 50,100,500 --effect 0.05:0.2:0.05 "
    "--simulations 10000 -o surface",
)


def run(command: str, folder: Path) -> None:
    """One call in a folder of its own."""
    program = Path(sys.executable).with_name("humeval-power")
    folder.mkdir()
    subprocess.run([str(program), *shlex.split(command)], cwd=folder, check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three runs instead of seven")
    runs = 3 if parser.parse_args().quick else 7
    print(machine())
    print(f"\nwhole process, {os.cpu_count()} cores; median of {runs} runs after one that is not counted\n")
    seconds: dict[str, list[float]] = {command: [] for command in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs + 1):
            wait_until_quiet()
            for place, command in enumerate(COMMANDS):
                target = Path(folder, f"{number}-{place}")
                taken = time_of(lambda command=command, target=target: run(command, target))
                if number:
                    seconds[command].append(taken)
    print_table(
        ["humeval-power ...", "s", "longest"],
        [
            [f"`{command}`", f"{statistics.median(values):.2f}", f"{max(values):.2f}"]
            for command, values in seconds.items()
        ],
    )


if __name__ == "__main__":
    main()
